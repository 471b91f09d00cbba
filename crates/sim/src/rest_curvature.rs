//! Bending measured from a curved rest shape.
//!
//! ```text
//! W = ½ (κ − R κ₀)ᵀ A C (κ − R κ₀) = ½ κᵀ A C κ − Σ_c p_c · f_c + ½ κ₀ᵀ A C κ₀
//! p_c = Σᵢ (A C κ₀)ᵢ꜀ κᵢ
//! ```
//!
//! with κ₀ the curvature at rest in the triangle's axes there, and R the
//! triangle's axes f now. The first term is the flat energy of `bending.rs`;
//! the rest is here. Axes turn by ω when corners move, so ∂f_c = ω × f_c, and
//!
//! ```text
//! ω·t₂ = −(∂e₁·n)/|e₁|,   ω·n = (∂e₁·t₂)/|e₁|,   ω·t₁ = (∂e₂·n + (e₂·t₁) ω·t₂)/(e₂·t₂)
//! ```
//!
//! with e₁, e₂ the edges from the first corner. A rest shape is then free of
//! force however it is turned and carried.

use glam::{DMat3, DVec3};

use crate::bending::{Element, frame, weighted};

/// What a curved rest shape adds to the bending energy.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestCurvature {
    triangles: Vec<[u32; 3]>,
    /// (A C κ₀)ᵢ in the triangle's axes, shape [triangle], i over uu, vv, 2uv.
    moments: Vec<[DVec3; 3]>,
    /// ½ κ₀ᵀ A C κ₀ [J], shape [triangle].
    constants: Vec<f64>,
}

impl RestCurvature {
    /// From the positions at rest [m].
    pub(crate) fn new(triangles: &[[u32; 3]], elements: &[Element], rest: &[DVec3]) -> Self {
        let (mut moments, mut constants) = (Vec::new(), Vec::new());
        for (corners, element) in triangles.iter().zip(elements) {
            let local = frame(corners.map(|v| rest[v as usize])).transpose();
            let kappa = element.curvature(rest).map(|k| local * k);
            let stressed = element.moments(kappa);
            constants.push((0..3).map(|i| 0.5 * kappa[i].dot(stressed[i])).sum());
            moments.push(stressed);
        }
        Self {
            triangles: triangles.to_vec(),
            moments,
            constants,
        }
    }

    /// Adds the `n` triangles of a piece, whose vertices are numbered from
    /// `first` on, to those of `before` triangles; one that is flat at rest
    /// adds nothing to the energy.
    pub(crate) fn append(&mut self, before: usize, other: Option<&Self>, n: usize, first: u32) {
        let to = match other {
            Some(_) => before,
            None => before + n,
        };
        // Some corners, for axes that nothing depends on.
        self.triangles.resize(to, [0; 3]);
        self.moments.resize(to, [DVec3::ZERO; 3]);
        self.constants.resize(to, 0.0);
        if let Some(other) = other {
            let triangles = other.triangles.iter();
            self.triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
            self.moments.extend_from_slice(&other.moments);
            self.constants.extend_from_slice(&other.constants);
        }
    }

    fn corners(&self, triangle: usize, x: &[DVec3]) -> [DVec3; 3] {
        self.triangles[triangle].map(|v| x[v as usize])
    }

    /// What one triangle adds to the energy [J].
    pub(crate) fn energy(&self, triangle: usize, kappa: [DVec3; 3], x: &[DVec3]) -> f64 {
        let axes = frame(self.corners(triangle, x));
        let moments = self.moments[triangle];
        let gained: f64 = (0..3).map(|i| (axes * moments[i]).dot(kappa[i])).sum();
        self.constants[triangle] - gained
    }

    /// Adds the gradient of [`energy`](Self::energy) to `out` [N].
    pub(crate) fn add_gradient(
        &self,
        triangle: usize,
        element: &Element,
        x: &[DVec3],
        out: &mut [DVec3],
    ) {
        let corners = self.corners(triangle, x);
        let axes = frame(corners);
        let moments = self.moments[triangle];
        let turned = moments.map(|m| axes * m);
        for (vertex, row) in element.vertices.iter().zip(&element.rows) {
            out[*vertex as usize] -= weighted(turned, *row);
        }
        // −Σ_c p_c · (ω × f_c) = −ω · Σ_c f_c × p_c.
        let kappa = element.curvature(x);
        let mut torque = DVec3::ZERO;
        for (c, axis) in [axes.x_axis, axes.y_axis, axes.z_axis]
            .into_iter()
            .enumerate()
        {
            let p: DVec3 = kappa.iter().zip(moments).map(|(k, m)| *k * m[c]).sum();
            torque += axis.cross(p);
        }
        let [first, second] = turning(corners, axes, torque);
        let [a, b, c] = self.triangles[triangle];
        out[b as usize] -= first;
        out[c as usize] -= second;
        out[a as usize] += first + second;
    }
}

/// The gradient of ω · torque with respect to the two edges from the first corner.
fn turning([a, b, c]: [DVec3; 3], axes: DMat3, torque: DVec3) -> [DVec3; 2] {
    let (along, across, normal) = (axes.x_axis, axes.y_axis, axes.z_axis);
    let (t1, t2, tn) = (torque.dot(along), torque.dot(across), torque.dot(normal));
    let length = (b - a).length().max(f64::MIN_POSITIVE);
    let (reach, height) = ((c - a).dot(along), (c - a).dot(across));
    // A triangle without area has no axes to speak of.
    let lean = if height.abs() > 1e-12 * length {
        t1 / height
    } else {
        0.0
    };
    let first = across * (tn / length) - normal * ((t2 + lean * reach) / length);
    [first, normal * lean]
}
