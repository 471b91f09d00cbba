//! Stretch and shear: an orthotropic St. Venant–Kirchhoff membrane on
//! triangles of constant strain.
//!
//! ```text
//! F = Σₐ xₐ ⊗ ∇Nₐ            3 × 2, world from pattern; columns f_u, f_v
//! E = ½ (FᵀF − I)            Green strain, as (E_uu, E_vv, 2E_uv) = e
//! W = A · w(e)               energy of a triangle, w = ½ eᵀ C e
//! S = ∂w/∂e                  stress resultants
//! ∂W/∂xₐ = A · F S ∇Nₐ
//! ∂²W/∂xₐ∂x_b = A (Bₐᵀ (∂S/∂e) B_b + (∇Nₐ · S ∇N_b) I)
//! ```
//!
//! Under compression S has a negative part, and the second term makes the
//! Hessian indefinite: cloth buckles. [`Membrane::hessian`] leaves that part
//! out, which keeps the Hessian positive semidefinite and changes neither
//! energy nor force: Newton converges to the same minimum.
//!
//! Two things may be added to w. A [`StrainCap`] stiffens the cloth beyond a
//! strain, in the directions d of the threads and of the bias:
//!
//! ```text
//! + Σ_d (r / 6) max(0, dᵀE d − limit)³            C², r = rise of stiffness with strain
//! ```
//!
//! And over a step of length h that began at strain eₙ, damping costs
//!
//! ```text
//! + (β / h) ½ (e − eₙ)ᵀ C (e − eₙ)
//! ```
//!
//! whose gradient is the stress β C ė. Strain does not see rigid motion, so
//! damping slows neither a fall nor a turn.

use std::ops::Range;

use drapery_core::Fabric;
use glam::{DMat2, DMat3, DVec2, DVec3};

use crate::RestShape;

/// Stiffens cloth beyond a strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainCap {
    /// Green strain at which it sets in.
    pub limit: f64,
    /// How much stiffness is added for each hundredth of strain beyond the
    /// limit [N/m].
    pub rise: f64,
}

/// The membrane energy of a cloth.
#[derive(Clone, Debug)]
pub struct Membrane {
    triangles: Vec<[u32; 3]>,
    gradients: Vec<[DVec2; 3]>,
    areas: Vec<f64>,
    /// Of each piece.
    materials: Vec<Material>,
    /// The piece of each triangle.
    piece_of: Vec<u16>,
}

/// What the triangles of a piece have in common.
#[derive(Clone, Copy, Debug)]
struct Material {
    /// C [N/m].
    stiffness: DMat3,
    cap: Option<StrainCap>,
}

/// What damping remembers of the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrainRate<'a> {
    /// β/h of each piece.
    pub(crate) ratios: &'a [f64],
    /// eₙ of each triangle.
    pub(crate) start: &'a [DVec3],
}

/// What a triangle's energy is made of at some positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strained {
    /// f_u and f_v.
    pub(crate) deformation: [DVec3; 2],
    stress: DMat2,
    pub(crate) energy: f64,
    /// e, for [`Membrane::tangent`].
    strain: DVec3,
    ratio: f64,
}

/// The Hessian of one triangle: block (a, b) is
/// c₀ f_u f_uᵀ + c₁ f_u f_vᵀ + c₂ f_v f_uᵀ + c₃ f_v f_vᵀ + c₄ I.
pub(crate) struct Tangent {
    gradients: [DVec2; 3],
    /// ∂S/∂e, times the area.
    material: DMat3,
    /// The positive part of S, times the area.
    stress: DMat2,
}

impl Tangent {
    /// c₀ … c₄ of block (a, b).
    pub(crate) fn coefficients(&self, a: usize, b: usize) -> [f64; 5] {
        let (g, h) = (self.gradients[a], self.gradients[b]);
        let c = |i: usize, j: usize| self.material.col(j)[i];
        [
            g.x * h.x * c(0, 0) + (g.x * h.y + g.y * h.x) * c(0, 2) + g.y * h.y * c(2, 2),
            g.x * h.y * c(0, 1) + g.x * h.x * c(0, 2) + g.y * h.y * c(2, 1) + g.y * h.x * c(2, 2),
            g.y * h.x * c(1, 0) + g.y * h.y * c(1, 2) + g.x * h.x * c(2, 0) + g.x * h.y * c(2, 2),
            g.y * h.y * c(1, 1) + (g.y * h.x + g.x * h.y) * c(1, 2) + g.x * h.x * c(2, 2),
            g.dot(self.stress * h),
        ]
    }
}

impl Membrane {
    /// The membrane of a rest shape made of `fabric`.
    pub fn new(rest: &RestShape, fabric: &Fabric) -> Self {
        let n_triangles = rest.areas().len();
        Self {
            triangles: rest.topology().triangles().to_vec(),
            gradients: (0..n_triangles).map(|t| rest.shape_gradients(t)).collect(),
            areas: rest.areas().to_vec(),
            materials: vec![Material {
                stiffness: fabric.stretch_matrix(),
                cap: None,
            }],
            piece_of: vec![0; n_triangles],
        }
    }

    /// Several as one, the vertices of each numbered after those before.
    pub(crate) fn join<'a>(all: impl Iterator<Item = (&'a Self, u32)>) -> Self {
        let mut joined = Self {
            triangles: Vec::new(),
            gradients: Vec::new(),
            areas: Vec::new(),
            materials: Vec::new(),
            piece_of: Vec::new(),
        };
        for (one, first) in all {
            let piece = joined.materials.len() as u16;
            let triangles = one.triangles.iter();
            joined
                .triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
            joined.gradients.extend_from_slice(&one.gradients);
            joined.areas.extend_from_slice(&one.areas);
            joined.materials.extend_from_slice(&one.materials);
            let pieces = one.piece_of.iter();
            joined.piece_of.extend(pieces.map(|p| p + piece));
        }
        joined
    }

    /// The same with a strain cap.
    #[must_use]
    pub fn with_cap(mut self, cap: Option<StrainCap>) -> Self {
        for material in &mut self.materials {
            material.cap = cap;
        }
        self
    }

    /// The corners of its triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(crate) fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// C of a triangle [N/m].
    pub(crate) fn stiffness(&self, triangle: usize) -> &DMat3 {
        &self.material(triangle).stiffness
    }

    /// Which piece a triangle is of.
    pub(crate) fn piece(&self, triangle: usize) -> usize {
        usize::from(self.piece_of[triangle])
    }

    fn material(&self, triangle: usize) -> &Material {
        &self.materials[self.piece(triangle)]
    }

    fn deformation(&self, triangle: usize, x: &[DVec3]) -> [DVec3; 2] {
        let [a, b, c] = self.triangles[triangle].map(|v| x[v as usize]);
        // The gradients sum to zero, so edges are enough.
        let [_, g, h] = self.gradients[triangle];
        let (p, q) = (b - a, c - a);
        [p * g.x + q * h.x, p * g.y + q * h.y]
    }

    /// Green strain (uu, vv, 2uv) of a triangle at positions `x`.
    pub fn strain(&self, triangle: usize, x: &[DVec3]) -> DVec3 {
        green(self.deformation(triangle, x))
    }

    pub(crate) fn strained(
        &self,
        triangle: usize,
        x: &[DVec3],
        rate: Option<StrainRate<'_>>,
    ) -> Strained {
        let deformation = self.deformation(triangle, x);
        let strain = green(deformation);
        let Material { stiffness, cap } = *self.material(triangle);
        let mut stress = stiffness * strain;
        let mut energy = 0.5 * strain.dot(stress);
        let ratio = rate.map_or(0.0, |rate| rate.ratios[self.piece(triangle)]);
        if let Some(rate) = rate {
            let change = strain - rate.start[triangle];
            let viscous = stiffness * change * ratio;
            energy += 0.5 * change.dot(viscous);
            stress += viscous;
        }
        if let Some(cap) = cap {
            for direction in CAPPED {
                let beyond = direction.dot(strain) - cap.limit;
                if beyond > 0.0 {
                    let rise = 100.0 * cap.rise;
                    energy += rise / 6.0 * beyond.powi(3);
                    stress += direction * (rise / 2.0 * beyond * beyond);
                }
            }
        }
        Strained {
            deformation,
            stress: DMat2::from_cols(
                DVec2::new(stress.x, stress.z),
                DVec2::new(stress.z, stress.y),
            ),
            energy: self.areas[triangle] * energy,
            strain,
            ratio,
        }
    }

    /// The gradient with respect to the three corners [N].
    pub(crate) fn corner_gradients(&self, triangle: usize, at: &Strained) -> [DVec3; 3] {
        let [fu, fv] = at.deformation;
        let [_, g, h] = self.gradients[triangle];
        let corner = |gradient: DVec2| {
            let g = at.stress * gradient * self.areas[triangle];
            fu * g.x + fv * g.y
        };
        let (b, c) = (corner(g), corner(h));
        [-(b + c), b, c]
    }

    pub(crate) fn tangent(
        &self,
        triangle: usize,
        at: &Strained,
        keep: fn(DMat2) -> DMat2,
    ) -> Tangent {
        let area = self.areas[triangle];
        let Material { stiffness, cap } = *self.material(triangle);
        let mut material = stiffness * (1.0 + at.ratio);
        if let Some(cap) = cap {
            for d in CAPPED {
                let beyond = d.dot(at.strain) - cap.limit;
                if beyond > 0.0 {
                    material += outer(d, d) * (100.0 * cap.rise * beyond);
                }
            }
        }
        Tangent {
            gradients: self.gradients[triangle],
            material: material * area,
            stress: keep(at.stress) * area,
        }
    }

    /// The energy of some triangles at positions `x` [J].
    pub(crate) fn energy_of(&self, triangles: Range<usize>, x: &[DVec3]) -> f64 {
        triangles.map(|t| self.strained(t, x, None).energy).sum()
    }

    /// The energy at positions `x` [J].
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        self.energy_of(0..self.triangles.len(), x)
    }

    /// Adds the gradient at `x` to `out` [N]; the force is its negative.
    pub fn add_gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let at = self.strained(triangle, x, None);
            for (vertex, g) in corners.iter().zip(self.corner_gradients(triangle, &at)) {
                out[*vertex as usize] += g;
            }
        }
    }

    /// Gives the 3 × 3 blocks of the Hessian at `x` [N/m], made positive
    /// semidefinite, to `add` as (row vertex, column vertex, block); both
    /// triangles of the matrix, block by block, in a fixed order.
    pub fn hessian(&self, x: &[DVec3], add: impl FnMut(u32, u32, DMat3)) {
        self.blocks(x, None, positive_part, add);
    }

    pub(crate) fn blocks(
        &self,
        x: &[DVec3],
        rate: Option<StrainRate<'_>>,
        keep: fn(DMat2) -> DMat2,
        mut add: impl FnMut(u32, u32, DMat3),
    ) {
        for (triangle, corners) in self.triangles.iter().enumerate() {
            let at = self.strained(triangle, x, rate);
            let tangent = self.tangent(triangle, &at, keep);
            let [u, v] = at.deformation;
            let (uu, uv, vv) = (outer(u, u), outer(u, v), outer(v, v));
            for a in 0..3 {
                for b in 0..3 {
                    let c = tangent.coefficients(a, b);
                    let block = uu * c[0] + uv * c[1] + uv.transpose() * c[2] + vv * c[3];
                    let identity = DMat3::from_diagonal(DVec3::splat(c[4]));
                    add(corners[a], corners[b], block + identity);
                }
            }
        }
    }
}

/// The directions of a strain cap as dᵀE d = · (E_uu, E_vv, 2E_uv): the two
/// threads and the two ways of the bias.
const CAPPED: [DVec3; 4] = [
    DVec3::new(1.0, 0.0, 0.0),
    DVec3::new(0.0, 1.0, 0.0),
    DVec3::new(0.5, 0.5, 0.5),
    DVec3::new(0.5, 0.5, -0.5),
];

fn green([u, v]: [DVec3; 2]) -> DVec3 {
    DVec3::new(
        0.5 * (u.length_squared() - 1.0),
        0.5 * (v.length_squared() - 1.0),
        u.dot(v),
    )
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The positive semidefinite part of a symmetric matrix.
pub(crate) fn positive_part(m: DMat2) -> DMat2 {
    let (a, b, c) = (m.x_axis.x, m.x_axis.y, m.y_axis.y);
    let (mean, half) = ((a + c) / 2.0, (a - c) / 2.0);
    let radius = (half * half + b * b).sqrt();
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
            None,
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
            membrane.blocks(&squeezed, None, keep, |r, c, block| {
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
