//! [`Shape`]: solids whose distance is a formula.
//!
//! In the shape's own frame, with its axis along +Y. A cylinder or disc of
//! radius R and half height H with its rim rounded by ρ is a smaller one, grown:
//!
//! ```text
//! q = (√(x² + z²) − (R − ρ), |y| − (H − ρ))
//! d = |max(q, 0)| + min(max(q₁, q₂), 0) − ρ
//! ```
//!
//! All shapes are convex, so outside the distance has a continuous gradient, at
//! sharp rims too. Inside it turns where two sides are equally near.

use glam::{DVec2, DVec3};

/// A solid around the origin of its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// All below y = 0.
    Plane,
    /// A ball around the origin.
    Sphere {
        /// Its radius [m].
        radius: f64,
    },
    /// A capped cylinder along Y, its middle at the origin.
    Cylinder {
        /// Its radius [m].
        radius: f64,
        /// From cap to cap [m].
        length: f64,
    },
    /// A flat disc across Y, its middle at the origin.
    Disc {
        /// Its radius, rim included [m].
        radius: f64,
        /// From face to face [m].
        thickness: f64,
        /// The radius of its rounded rim [m]: 0 for a sharp one, at most half
        /// the thickness and the radius.
        rim: f64,
    },
}

/// Why numbers make no shape.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size is not positive or not finite.
    #[error("the {what} is {value} m, it must be above 0 and finite")]
    Size {
        /// Which size.
        what: &'static str,
        /// Its value [m].
        value: f64,
    },
    /// The rim is too round for the disc.
    #[error("the rim has a radius of {rim} m, from 0 to {limit} is possible")]
    Rim {
        /// Its radius [m].
        rim: f64,
        /// The most [m].
        limit: f64,
    },
}

impl Shape {
    /// Refuses sizes that make no solid.
    ///
    /// # Errors
    /// When a size is not above zero, or the rim is too large.
    pub fn check(&self) -> Result<(), ShapeError> {
        let size = |what, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(ShapeError::Size { what, value })
            }
        };
        match *self {
            Self::Plane => Ok(()),
            Self::Sphere { radius } => size("radius", radius),
            Self::Cylinder { radius, length } => {
                size("radius", radius)?;
                size("length", length)
            }
            Self::Disc {
                radius,
                thickness,
                rim,
            } => {
                size("radius", radius)?;
                size("thickness", thickness)?;
                let limit = radius.min(thickness / 2.0);
                if (0.0..=limit).contains(&rim) {
                    Ok(())
                } else {
                    Err(ShapeError::Rim { rim, limit })
                }
            }
        }
    }

    /// The distance from the surface to `p` [m], negative inside, and its
    /// gradient, the unit normal outwards; where that is not unique, one of
    /// several.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        match *self {
            Self::Plane => (p.y, DVec3::Y),
            Self::Sphere { radius } => {
                let length = p.length();
                let normal = if length > 0.0 { p / length } else { DVec3::Y };
                (length - radius, normal)
            }
            Self::Cylinder { radius, length } => drum(p, radius, length / 2.0, 0.0),
            Self::Disc {
                radius,
                thickness,
                rim,
            } => drum(p, radius, thickness / 2.0, rim),
        }
    }
}

/// A cylinder with a rounded rim.
fn drum(p: DVec3, radius: f64, half_height: f64, rim: f64) -> (f64, DVec3) {
    let across = DVec3::new(p.x, 0.0, p.z);
    let r = across.length();
    let radial = if r > 0.0 { across / r } else { DVec3::X };
    let axial = if p.y < 0.0 { DVec3::NEG_Y } else { DVec3::Y };
    let q = DVec2::new(r - (radius - rim), p.y.abs() - (half_height - rim));
    let outside = q.max(DVec2::ZERO);
    let beyond = outside.length();
    if beyond > 0.0 {
        let normal = (radial * outside.x + axial * outside.y) / beyond;
        (beyond - rim, normal)
    } else if q.x > q.y {
        (q.x - rim, radial)
    } else {
        (q.y - rim, axial)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DISC: Shape = Shape::Disc {
        radius: 0.09,
        thickness: 0.02,
        rim: 0.004,
    };
    const SHAPES: [Shape; 5] = [
        Shape::Plane,
        Shape::Sphere { radius: 0.1 },
        Shape::Cylinder {
            radius: 0.05,
            length: 0.3,
        },
        DISC,
        Shape::Disc {
            radius: 0.09,
            thickness: 0.02,
            rim: 0.0,
        },
    ];

    fn point() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-0.2f64..0.2).prop_map(DVec3::from_array)
    }

    #[test]
    fn distances_are_those_of_the_drawing() {
        let cases = [
            (SHAPES[0], [3.0, -0.2, 1.0], -0.2),
            (SHAPES[1], [0.0, 0.3, 0.4], 0.4),
            (SHAPES[1], [0.0, 0.0, 0.0], -0.1),
            // Beside, above, past the rim by (3, 4) cm, and inside by the cap.
            (SHAPES[2], [0.03, 0.1, 0.04], 0.0),
            (SHAPES[2], [0.01, 0.35, 0.0], 0.2),
            (SHAPES[2], [0.08, 0.19, 0.0], 0.05),
            (SHAPES[2], [0.0, -0.14, 0.0], -0.01),
            // The disc: on its face, its rim's middle, and its rounded corner,
            // whose centre is (86, 6) mm and whose radius is 4 mm.
            (DISC, [0.05, 0.01, 0.0], 0.0),
            (DISC, [0.0, 0.002, -0.09], 0.0),
            (DISC, [0.086 + 0.003, 0.006 + 0.004, 0.0], 0.001),
            (DISC, [0.086 + 0.0012, 0.006 + 0.0016, 0.0], -0.002),
        ];
        for (shape, p, expected) in cases {
            let (distance, _) = shape.distance(DVec3::from_array(p));
            assert!(
                (distance - expected).abs() < 1e-15,
                "{shape:?} at {p:?}: {distance}, not {expected}"
            );
        }
    }

    #[test]
    fn shapes_without_size_are_refused() {
        for shape in SHAPES {
            assert_eq!(shape.check(), Ok(()));
        }
        for shape in [
            Shape::Sphere { radius: 0.0 },
            Shape::Cylinder {
                radius: 1.0,
                length: f64::NAN,
            },
            Shape::Disc {
                radius: -1.0,
                thickness: 1.0,
                rim: 0.0,
            },
        ] {
            assert!(matches!(shape.check(), Err(ShapeError::Size { .. })));
        }
        let round = Shape::Disc {
            radius: 0.1,
            thickness: 0.01,
            rim: 0.006,
        };
        assert_eq!(
            round.check(),
            Err(ShapeError::Rim {
                rim: 0.006,
                limit: 0.005
            })
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        /// The foot p − d n lies on the surface, and the normal there is n
        /// again: together they make d the distance to a convex solid.
        #[test]
        fn the_foot_is_on_the_surface_below(p in point(), shape in 0..SHAPES.len()) {
            let shape = SHAPES[shape];
            let (distance, normal) = shape.distance(p);
            prop_assert!((normal.length() - 1.0).abs() < 1e-14);
            let foot = p - normal * distance;
            prop_assert!(shape.distance(foot).0.abs() < 1e-15);
            if distance > 1e-6 {
                prop_assert!(shape.distance(foot + normal * 1e-9).1.distance(normal) < 1e-5);
                // Convex: the solid lies behind the plane at the foot.
                for k in 0..40 {
                    let t = f64::from(k);
                    let q = DVec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()) * 0.15;
                    let (d, n) = shape.distance(q);
                    prop_assert!((q - n * d - foot).dot(normal) <= 1e-14);
                }
            }
        }

        #[test]
        fn outside_the_normal_is_the_continuous_gradient(p in point(), to in point(), shape in 0..SHAPES.len()) {
            let shape = SHAPES[shape];
            let p = p + shape.distance(p).1 * 0.1;
            let (distance, normal) = shape.distance(p);
            prop_assume!(distance > 0.01);
            // Curvature outside is at most 1/d, so turning and remainder are bounded.
            let step = to.normalize_or_zero() * 1e-4;
            let (moved, turned) = shape.distance(p + step);
            prop_assert!(turned.distance(normal) <= 1e-4 / distance * 1.1);
            prop_assert!((moved - distance - normal.dot(step)).abs() <= 1e-8 / distance);
        }
    }
}
