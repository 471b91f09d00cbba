//! Air around cloth: [`Wind`].
//!
//! Air that moves past a triangle at w − v presses on it along its normal and
//! drags it along its surface:
//!
//! ```text
//! f = ½ ρ A [ C_n |(w − v)·n| (n nᵀ) + C_t |w − v| (I − n nᵀ) ] (w − v)
//! ```
//!
//! Across the wind, the pressure on a slanted triangle is its lift. The matrix
//! in brackets is frozen at the start of a step and the velocity v is that of
//! its end, so that air never pushes cloth faster than itself however long the
//! step: each vertex has a [`Spring`] towards where the wind would carry it.

use glam::{DMat3, DVec3};

use crate::{Cloth, Spring};

/// Air, at rest or moving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wind {
    /// w [m/s].
    pub velocity: DVec3,
    /// ρ [kg/m³].
    pub density: f64,
    /// C_n, pressure across the surface.
    pub pressure: f64,
    /// C_t, friction along the surface.
    pub friction: f64,
}

impl Wind {
    /// Air of 20 °C moving at `velocity` [m/s] past flat plates: pressure 1.2
    /// as for a square plate across the flow, and friction 0.02, a rough
    /// surface's.
    pub const fn blowing(velocity: DVec3) -> Self {
        Self {
            velocity,
            density: 1.204,
            pressure: 1.2,
            friction: 0.02,
        }
    }

    /// Adds the springs of a step of length `dt` [s] from positions `x` [m] and
    /// velocities `v` [m/s].
    pub(crate) fn add_springs(
        &self,
        cloth: &Cloth,
        x: &[DVec3],
        v: &[DVec3],
        dt: f64,
        springs: &mut Vec<Spring>,
    ) {
        let mut resistance = vec![DMat3::ZERO; x.len()];
        for corners in cloth.membrane().triangles() {
            let [a, b, c] = corners.map(|i| x[i as usize]);
            let across = (b - a).cross(c - a);
            let Some(normal) = across.try_normalize() else {
                continue;
            };
            let moving = corners.iter().map(|i| v[*i as usize]).sum::<DVec3>() / 3.0;
            let past = self.velocity - moving;
            let pressing =
                DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
            let share = 0.5 * self.density * (0.5 * across.length()) / 3.0;
            let matrix = pressing * (self.pressure * past.dot(normal).abs())
                + (DMat3::IDENTITY - pressing) * (self.friction * past.length());
            for i in corners {
                resistance[*i as usize] += matrix * share;
            }
        }
        springs.extend(
            resistance
                .into_iter()
                .enumerate()
                .map(|(vertex, matrix)| Spring {
                    vertex: vertex as u32,
                    stiffness: matrix * (1.0 / dt),
                    target: x[vertex] + self.velocity * dt,
                }),
        );
    }
}
