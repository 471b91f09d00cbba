//! The mannequin's head: skull and face, with just enough of brow, nose, mouth,
//! chin and ears to tell the front from the back.

use glam::DVec3;

use super::sweep::{Ellipsoid, carve, union};

/// The solids of a head; what there are two of is on the left.
pub(super) struct Head {
    cranium: Ellipsoid,
    face: Ellipsoid,
    jaw: Ellipsoid,
    chin: Ellipsoid,
    nose: Ellipsoid,
    brow: Ellipsoid,
    eye: Ellipsoid,
    mouth: Ellipsoid,
    ear: Ellipsoid,
}

impl Head {
    /// A head 22 cm high, 20 cm long and 15.6 cm wide.
    pub(super) fn new() -> Self {
        Self {
            cranium: Ellipsoid::new([0.0, 1.603, -0.006], [0.078, 0.089, 0.100]),
            face: Ellipsoid::new([0.0, 1.548, 0.026], [0.060, 0.078, 0.064]),
            jaw: Ellipsoid::new([0.0, 1.503, 0.030], [0.047, 0.034, 0.050]),
            chin: Ellipsoid::new([0.0, 1.482, 0.070], [0.019, 0.013, 0.016]),
            nose: Ellipsoid::new([0.0, 1.555, 0.091], [0.011, 0.027, 0.016])
                .leaning([0.0, 1.0, -0.38], [0.0, 0.0, 1.0]),
            brow: Ellipsoid::new([0.024, 1.597, 0.066], [0.032, 0.010, 0.018]),
            eye: Ellipsoid::new([0.031, 1.580, 0.101], [0.017, 0.010, 0.015]),
            mouth: Ellipsoid::new([0.0, 1.515, 0.079], [0.024, 0.008, 0.011]),
            ear: Ellipsoid::new([0.077, 1.572, -0.008], [0.007, 0.028, 0.016])
                .leaning([0.06, 1.0, -0.25], [-0.35, 0.0, 1.0]),
        }
    }

    /// About the distance from the skin [m], negative inside.
    pub(super) fn field(&self, p: DVec3) -> f64 {
        let mut f = union(self.cranium.field(p), self.face.field(p), 0.035);
        if f > 0.08 {
            return f;
        }
        f = union(f, self.jaw.field(p), 0.02);
        f = union(f, self.chin.field(p), 0.018);
        f = union(f, self.brow.field(p), 0.018);
        f = carve(f, self.eye.field(p), 0.016);
        f = union(f, self.nose.field(p), 0.011);
        f = union(f, self.mouth.field(p), 0.012);
        union(f, self.ear.field(p), 0.008)
    }
}
