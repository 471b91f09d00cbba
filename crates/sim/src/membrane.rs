//! Stretch and shear: an orthotropic St. Venant–Kirchhoff membrane on
//! triangles of constant strain.
//!
//! ```text
//! F = Σₐ xₐ ⊗ ∇Nₐ            3 × 2, world from pattern
//! E = ½ (FᵀF − I)            Green strain, as (E_uu, E_vv, 2E_uv) = e
//! W = A · ½ eᵀ C e            energy of a triangle
//! S = C e                    stress resultants
//! ∂W/∂xₐ = A · F S ∇Nₐ
//! ∂²W/∂xₐ∂x_b = A (Bₐᵀ C B_b + (∇Nₐ · S ∇N_b) I)
//! ```
//!
//! Under compression S has a negative part, and the second term makes the
//! Hessian indefinite: cloth buckles. [`Membrane::hessian`] leaves that part
//! out, which keeps the Hessian positive semidefinite and changes neither
//! energy nor force: Newton converges to the same minimum.

use drapery_core::Fabric;
use glam::{DMat2, DMat3, DVec2, DVec3};

use crate::RestShape;

/// The membrane energy of a cloth.
#[derive(Clone, Debug)]
pub struct Membrane {
    triangles: Vec<[u32; 3]>,
    gradients: Vec<[DVec2; 3]>,
    areas: Vec<f64>,
    stiffness: DMat3,
}

/// What a triangle's energy is made of at some positions.
struct Strained {
    deformation: [DVec3; 2],
    stress: DMat2,
    energy: f64,
}

impl Membrane {
    /// The membrane of a rest shape made of `fabric`.
    pub fn new(rest: &RestShape, fabric: &Fabric) -> Self {
        let n_triangles = rest.areas().len();
        Self {
            triangles: rest.topology().triangles().to_vec(),
            gradients: (0..n_triangles).map(|t| rest.shape_gradients(t)).collect(),
            areas: rest.areas().to_vec(),
            stiffness: fabric.stretch_matrix(),
        }
    }

    fn strained(&self, triangle: usize, x: &[DVec3]) -> Strained {
        let corners = self.triangles[triangle].map(|v| x[v as usize]);
        let gradients = &self.gradients[triangle];
        let along = |axis: fn(&DVec2) -> f64| -> DVec3 {
            corners
                .iter()
                .zip(gradients)
                .map(|(x, g)| *x * axis(g))
                .sum()
        };
        let (fu, fv) = (along(|g| g.x), along(|g| g.y));
        let strain = DVec3::new(
            0.5 * (fu.length_squared() - 1.0),
            0.5 * (fv.length_squared() - 1.0),
            fu.dot(fv),
        );
        let stress = self.stiffness * strain;
        Strained {
            deformation: [fu, fv],
            stress: DMat2::from_cols(
                DVec2::new(stress.x, stress.z),
                DVec2::new(stress.z, stress.y),
            ),
            energy: self.areas[triangle] * 0.5 * strain.dot(stress),
        }
    }

    /// The energy at positions `x` [J].
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        (0..self.triangles.len())
            .map(|t| self.strained(t, x).energy)
            .sum()
    }

    /// Adds the gradient at `x` to `out` [N]; the force is its negative.
    pub fn add_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let Strained {
                deformation: [fu, fv],
                stress,
                ..
            } = self.strained(triangle, x);
            for (vertex, gradient) in corners.iter().zip(&self.gradients[triangle]) {
                let g = stress * *gradient * self.areas[triangle];
                out[*vertex as usize] += fu * g.x + fv * g.y;
            }
        }
    }

    /// Gives the 3 × 3 blocks of the Hessian at `x` [N/m], made positive
    /// semidefinite, to `add` as (row vertex, column vertex, block); both
    /// triangles of the matrix, block by block, in a fixed order.
    pub fn hessian(&self, x: &[DVec3], add: impl FnMut(u32, u32, DMat3)) {
        self.blocks(x, positive_part, add);
    }

    fn blocks(&self, x: &[DVec3], keep: fn(DMat2) -> DMat2, mut add: impl FnMut(u32, u32, DMat3)) {
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let Strained {
                deformation: [fu, fv],
                stress,
                ..
            } = self.strained(triangle, x);
            let stress = keep(stress);
            let area = self.areas[triangle];
            // Rows of B: how the strain changes with a vertex.
            let rows = self.gradients[triangle].map(|g| [fu * g.x, fv * g.y, fu * g.y + fv * g.x]);
            for a in 0..3 {
                for b in 0..3 {
                    let mut block = DMat3::ZERO;
                    for i in 0..3 {
                        for j in 0..3 {
                            let c = self.stiffness.col(j)[i];
                            if c != 0.0 {
                                block += outer(rows[a][i], rows[b][j]) * c;
                            }
                        }
                    }
                    let gradients = &self.gradients[triangle];
                    let geometric = gradients[a].dot(stress * gradients[b]);
                    block += DMat3::from_diagonal(DVec3::splat(geometric));
                    add(corners[a], corners[b], block * area);
                }
            }
        }
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The positive semidefinite part of a symmetric matrix.
fn positive_part(m: DMat2) -> DMat2 {
    let (a, b, c) = (m.x_axis.x, m.x_axis.y, m.y_axis.y);
    let (mean, half) = ((a + c) / 2.0, (a - c) / 2.0);
    let radius = half.hypot(b);
    let (high, low) = (mean + radius, mean - radius);
    if low >= 0.0 {
        return m;
    }
    if high <= 0.0 {
        return DMat2::ZERO;
    }
    // (M − low I) / (high − low) projects onto the eigenvector of `high`.
    (m - DMat2::from_diagonal(DVec2::splat(low))) * (high / (high - low))
}

#[cfg(test)]
mod tests {
    use drapery_core::Topology;

    use super::*;

    fn triangle(fabric: &Fabric) -> Membrane {
        let topology = Topology::new(3, vec![[0, 1, 2]]).unwrap();
        let corners = vec![[DVec2::ZERO, DVec2::new(0.1, 0.01), DVec2::new(0.03, 0.12)]];
        Membrane::new(&RestShape::from_corners(topology, corners).unwrap(), fabric)
    }

    fn orthotropic() -> Fabric {
        Fabric {
            stretch_weft: 300.0,
            stretch_warp: 900.0,
            stretch_coupling: 120.0,
            shear: 70.0,
            ..Fabric::plain("twill", 0.2, 1.0, 1e-5)
        }
    }

    const BENT: [DVec3; 3] = [
        DVec3::new(0.01, 0.2, -0.03),
        DVec3::new(0.12, 0.23, 0.02),
        DVec3::new(0.03, 0.31, 0.05),
    ];
    const DIRECTION: [DVec3; 3] = [
        DVec3::new(0.3, -0.5, 0.2),
        DVec3::new(-0.7, 0.1, 0.4),
        DVec3::new(0.2, 0.6, -0.9),
    ];

    fn moved(h: f64) -> [DVec3; 3] {
        std::array::from_fn(|i| BENT[i] + DIRECTION[i] * h)
    }

    /// The order at which a remainder falls when h is halved.
    fn order(remainder: impl Fn(f64) -> f64) -> f64 {
        let h = 1e-3;
        (remainder(h) / remainder(h / 2.0)).log2()
    }

    #[test]
    fn the_gradient_is_exact_to_second_order() {
        let membrane = triangle(&orthotropic());
        let mut gradient = [DVec3::ZERO; 3];
        membrane.add_gradient(&BENT, &mut gradient);
        let slope: f64 = gradient
            .iter()
            .zip(&DIRECTION)
            .map(|(g, d)| g.dot(*d))
            .sum();
        let p = order(|h| (membrane.energy(&moved(h)) - membrane.energy(&BENT) - h * slope).abs());
        assert!(
            (1.9..2.1).contains(&p),
            "remainder falls as h^{p:.2}, expected h^2"
        );
    }

    #[test]
    fn the_hessian_is_exact_to_second_order() {
        let membrane = triangle(&orthotropic());
        let mut product = [DVec3::ZERO; 3];
        membrane.blocks(
            &BENT,
            |s| s,
            |row, column, block| {
                product[row as usize] += block * DIRECTION[column as usize];
            },
        );
        let p = order(|h| {
            let mut at = [[DVec3::ZERO; 3]; 2];
            membrane.add_gradient(&moved(h), &mut at[0]);
            membrane.add_gradient(&BENT, &mut at[1]);
            let miss = (0..3).map(|i| (at[0][i] - at[1][i] - product[i] * h).length_squared());
            miss.sum::<f64>().sqrt()
        });
        assert!(
            (1.9..2.1).contains(&p),
            "remainder falls as h^{p:.2}, expected h^2"
        );
    }

    #[test]
    fn rigid_motion_costs_nothing_and_forces_balance() {
        let fabric = orthotropic();
        let membrane = triangle(&fabric);
        let turn = DMat3::from_rotation_x(0.7) * DMat3::from_rotation_y(-1.1);
        let flat = [
            DVec3::ZERO,
            DVec3::new(0.1, 0.01, 0.0),
            DVec3::new(0.03, 0.12, 0.0),
        ];
        let carried = flat.map(|p| turn * p + DVec3::new(1.0, -2.0, 0.5));
        assert!(membrane.energy(&carried).abs() < 1e-20);
        let mut gradient = [DVec3::ZERO; 3];
        membrane.add_gradient(&BENT, &mut gradient);
        let force: DVec3 = gradient.iter().sum();
        let moment: DVec3 = gradient.iter().zip(&BENT).map(|(g, x)| x.cross(*g)).sum();
        assert!(
            force.length() < 1e-12 && moment.length() < 1e-12,
            "{force} {moment}"
        );
        assert!(gradient[0].length() > 1.0);
    }

    #[test]
    fn a_stretched_square_stores_what_the_textbook_says() {
        // ½ Y ε² A with the Green strain ε = (1.1² − 1)/2 along the weft.
        let topology = Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let square = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
        let corners = vec![
            [square[0], square[1], square[2]],
            [square[0], square[2], square[3]],
        ];
        let rest = RestShape::from_corners(topology, corners).unwrap();
        let membrane = Membrane::new(&rest, &orthotropic());
        let x = square.map(|p| DVec3::new(1.1 * p.x, p.y, 0.0));
        let expected = 0.5 * 300.0 * (0.105f64).powi(2);
        assert!((membrane.energy(&x) - expected).abs() < 1e-9);
    }

    #[test]
    fn the_kept_hessian_is_positive_where_the_true_one_is_not() {
        let membrane = triangle(&orthotropic());
        // Squeezed to four fifths, flat: moving a corner out of the plane gains energy.
        let squeezed = [
            DVec3::ZERO,
            DVec3::new(0.08, 0.008, 0.0),
            DVec3::new(0.024, 0.096, 0.0),
        ];
        let curvature = |keep: fn(DMat2) -> DMat2, d: [DVec3; 3]| {
            let mut sum = 0.0;
            membrane.blocks(&squeezed, keep, |r, c, block| {
                sum += d[r as usize].dot(block * d[c as usize]);
            });
            sum
        };
        let out = [DVec3::ZERO, DVec3::ZERO, DVec3::Z];
        assert!(curvature(|s| s, out) < -1.0);
        assert!(curvature(positive_part, out) >= 0.0);
        for d in [out, DIRECTION, [DVec3::X, DVec3::Y, DVec3::Z]] {
            assert!(curvature(positive_part, d) >= -1e-9);
        }
    }
}
