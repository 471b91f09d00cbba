//! A contact as the objective sees it: [`Touch`].
//!
//! Whatever meets (a vertex and an obstacle, two edges of cloth), a contact is
//! about one point p(x) = Σ wₖ xₖ of the cloth, or a difference of two, and one
//! direction n, both frozen over a solve:
//!
//! ```text
//! g = n · p − c                                  gap [m]
//! E = k δ² ψ((offset − g) / δ)                   pressure, where g < offset
//! ψ'(s) = s²/2 for s ≤ 1, s − ½ beyond           C²: ψ'' rises to 1
//! ```
//!
//! Friction holds on to an anchor a on the surface by a tangential spring that
//! gives no more than Coulomb's limit, with the normal force N as it was in
//! the last solve:
//!
//! ```text
//! u = (I − n nᵀ)(p − a)
//! E = ½ kₜ |u|²            for |u| ≤ ℓ = μ N / kₜ       sticks
//!     μ N (|u| − ℓ/2)      beyond                       slips
//! ```
//!
//! Both are convex in x, and their Hessians positive semidefinite.

use glam::{DMat3, DVec3};

/// A contact, frozen over a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The vertices it is about; those beyond `n_vertices` are of no account.
    pub vertices: [u32; 4],
    /// w of each.
    pub weights: [f64; 4],
    /// How many vertices count, from 1 to 4.
    pub n_vertices: u8,
    /// n, of unit length.
    pub normal: DVec3,
    /// c [m].
    pub level: f64,
    /// The gap below which it presses [m].
    pub offset: f64,
    /// δ, over which pressure sets in [m].
    pub softness: f64,
    /// k [N/m].
    pub stiffness: f64,
    /// Friction, if there is any.
    pub friction: Option<Friction>,
}

/// The friction of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// a, where p would be had nothing slipped [m].
    pub anchor: DVec3,
    /// kₜ [N/m].
    pub stiffness: f64,
    /// μ N [N].
    pub limit: f64,
}

/// Energy, gradient and Hessian of a contact with respect to p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pressed {
    pub(crate) energy: f64,
    pub(crate) gradient: DVec3,
    pub(crate) hessian: DMat3,
}

impl Touch {
    /// The vertices that count, each with its weight.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let n = usize::from(self.n_vertices);
        let vertices = self.vertices[..n].iter().map(|v| *v as usize);
        vertices.zip(self.weights[..n].iter().copied())
    }

    /// p [m].
    pub(crate) fn point(&self, x: &[DVec3]) -> DVec3 {
        self.parts().map(|(v, w)| x[v] * w).sum()
    }

    /// g [m].
    pub fn gap(&self, x: &[DVec3]) -> f64 {
        self.normal.dot(self.point(x)) - self.level
    }

    /// N [N], how hard it presses.
    pub fn force(&self, x: &[DVec3]) -> f64 {
        pressure(self.stiffness, self.softness, self.offset - self.gap(x))
    }

    /// What it gives the cloth as a whole at `x` [N], friction included.
    pub(crate) fn push(&self, x: &[DVec3]) -> DVec3 {
        let weight: f64 = self.parts().map(|(_, weight)| weight).sum();
        self.pressed(x).gradient * -weight
    }

    /// By how much friction was off at `x` [N], had `limit` [N] been its limit.
    pub(crate) fn misjudged(&self, x: &[DVec3], limit: f64) -> f64 {
        self.friction.map_or(0.0, |friction| {
            let pull = friction.stiffness * self.slip(x, friction.anchor).length();
            (pull.min(limit) - pull.min(friction.limit)).abs()
        })
    }

    /// u [m].
    pub(crate) fn slip(&self, x: &[DVec3], anchor: DVec3) -> DVec3 {
        let away = self.point(x) - anchor;
        away - self.normal * self.normal.dot(away)
    }

    /// The energy alone [J].
    pub(crate) fn energy(&self, x: &[DVec3]) -> f64 {
        let s = (self.offset - self.gap(x)) / self.softness;
        let mut energy = self.stiffness * self.softness * self.softness * height(s);
        if let Some(friction) = &self.friction {
            energy += friction.energy(self.slip(x, friction.anchor).length());
        }
        energy
    }

    /// Energy, gradient and Hessian with respect to p.
    pub(crate) fn pressed(&self, x: &[DVec3]) -> Pressed {
        let s = (self.offset - self.gap(x)) / self.softness;
        let n = self.normal;
        let across = outer(n);
        let mut all = Pressed {
            energy: self.stiffness * self.softness * self.softness * height(s),
            gradient: n * (-self.stiffness * self.softness * slope(s)),
            hessian: across * (self.stiffness * s.clamp(0.0, 1.0)),
        };
        if let Some(friction) = &self.friction {
            let slip = self.slip(x, friction.anchor);
            let length = slip.length();
            all.energy += friction.energy(length);
            let secant = friction.secant(length);
            all.gradient += slip * secant;
            all.hessian += (DMat3::IDENTITY - across) * secant;
            if friction.slips(length) {
                // The force turns with u, and grows with it no more.
                all.hessian -= outer(slip) * (secant / (length * length));
            }
        }
        all
    }
}

impl Friction {
    fn energy(&self, length: f64) -> f64 {
        let reach = self.limit / self.stiffness;
        match self.slips(length) {
            true => self.limit * (length - 0.5 * reach),
            false => 0.5 * self.stiffness * length * length,
        }
    }

    fn slips(&self, length: f64) -> bool {
        length * self.stiffness > self.limit
    }

    /// Force over length [N/m].
    fn secant(&self, length: f64) -> f64 {
        match self.slips(length) {
            true => self.limit / length,
            false => self.stiffness,
        }
    }
}

/// N at a depth below the offset [N].
pub(super) fn pressure(stiffness: f64, softness: f64, depth: f64) -> f64 {
    stiffness * softness * slope(depth / softness)
}

/// ψ.
fn height(s: f64) -> f64 {
    match s {
        s if s <= 0.0 => 0.0,
        s if s <= 1.0 => s * s * s / 6.0,
        s => (s * s - s) / 2.0 + 1.0 / 6.0,
    }
}

/// ψ'.
fn slope(s: f64) -> f64 {
    match s {
        s if s <= 0.0 => 0.0,
        s if s <= 1.0 => s * s / 2.0,
        s => s - 0.5,
    }
}

/// n nᵀ.
fn outer(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two edges of cloth that press on each other and rub.
    fn touch(limit: f64) -> (Touch, Vec<DVec3>) {
        let touch = Touch {
            vertices: [2, 0, 3, 1],
            weights: [0.3, 0.7, -0.6, -0.4],
            n_vertices: 4,
            normal: DVec3::new(0.6, 0.8, 0.0),
            level: 0.001,
            offset: 0.002,
            softness: 0.001,
            stiffness: 400.0,
            friction: Some(Friction {
                anchor: DVec3::new(0.0003, 0.0001, -0.0004),
                stiffness: 250.0,
                limit,
            }),
        };
        let x = vec![
            DVec3::new(0.01, 0.02, 0.03),
            DVec3::new(0.0103, 0.0195, 0.0301),
            DVec3::new(0.011, 0.019, 0.029),
            DVec3::new(0.0104, 0.0193, 0.03),
        ];
        (touch, x)
    }

    #[test]
    fn gradient_and_hessian_are_exact_where_it_sticks_and_where_it_slips() {
        let cases = [0.0, -0.0008, -0.003].map(|shift| [(shift, 1e9), (shift, 0.01)]);
        for (shift, limit) in cases.into_iter().flatten() {
            let (mut touch, x) = touch(limit);
            touch.offset += -0.001 - shift;
            let d = [DVec3::X, DVec3::NEG_Y, DVec3::new(0.2, 0.5, 1.0), DVec3::Z];
            let moved =
                |h: f64| -> Vec<DVec3> { x.iter().zip(&d).map(|(x, d)| *x + *d * h).collect() };
            let at = touch.pressed(&x);
            let along: DVec3 = touch.parts().map(|(v, w)| d[v] * w).sum();
            let (slope, curvature) = (at.gradient.dot(along), along.dot(at.hessian * along));
            let remainder = |h: f64| {
                (touch.energy(&moved(h)) - at.energy - h * slope - 0.5 * h * h * curvature).abs()
            };
            let order = (remainder(2e-4) / remainder(1e-4)).log2();
            // Third order, or exact where it is quadratic.
            assert!(
                order > 2.8 || remainder(2e-4) < 1e-15,
                "{shift}, at most {limit} N: remainder falls as h^{order:.2}"
            );
        }
    }

    #[test]
    fn friction_gives_no_more_than_its_limit() {
        let (touch, mut x) = touch(0.01);
        for v in [0, 2] {
            x[v].z += 0.5;
        }
        let at = touch.pressed(&x);
        let tangential = at.gradient - touch.normal * touch.normal.dot(at.gradient);
        assert!((tangential.length() - 0.01).abs() < 1e-12, "{tangential}");
        assert!(tangential.z > 0.0, "it pulls back");
    }
}
