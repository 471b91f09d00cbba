//! `wrinkle_ratio`: whether there is as much fine curvature as in the simulation.
//!
//! ```text
//! Hᵢ = 1/(4 Aᵢ) Σⱼ (cot αᵢⱼ + cot βᵢⱼ)(xᵢ − xⱼ) · nᵢ
//! W  = Σᵢ A°ᵢ (Hᵢ − (S H)ᵢ)²                  over vertices off the hems
//! wrinkle_ratio = Σₜ Wₜ / Σₜ W*ₜ
//! ```
//!
//! | symbol | meaning                                                          |
//! |--------|------------------------------------------------------------------|
//! | H      | mean curvature [1/m]; that of a cylinder of radius R is 1/2R     |
//! | A, A°  | area of the places nearest to a vertex, as it is and at rest     |
//! | n      | unit normal of a vertex, weighted by area                        |
//! | S      | [`RestSurface::smooth`], over 5 cm                                |
//!
//! 1 is right, 0 is ironed flat; noise raises it too, so read it beside
//! `acceleration_error`. On a hem H is no curvature: there it is the mean of its
//! neighbours' before smoothing, and does not count. Where the simulation is smooth
//! (fine curvature of less than [`SMOOTH`], root mean square) there is no ratio.

use drapery_core::{Topology, vertex_normals};
use glam::{DVec3, Vec3};

use crate::smoothing::{RestSurface, mixed_areas};

/// A simulation has no wrinkles below this [1/m]: waves of 5 cm have it that are
/// four hundredths of a millimetre high.
const SMOOTH: f64 = 0.2;

/// The sums, over frames of many clips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrinkleSums {
    found: f64,
    simulated: f64,
    area: f64,
}

impl WrinkleSums {
    /// One frame, from the wrinkles of the garment and of the simulation, and its
    /// area at rest [m²].
    pub const fn add(&mut self, found: f64, simulated: f64, area: f64) {
        self.found += found;
        self.simulated += simulated;
        self.area += area;
    }

    /// Takes other frames into account.
    pub const fn merge(&mut self, other: &Self) {
        self.add(other.found, other.simulated, other.area);
    }

    /// Found over simulated; none when the simulation has no wrinkles.
    pub fn ratio(&self) -> Option<f64> {
        let least = SMOOTH * SMOOTH * self.area;
        (self.simulated > least).then(|| self.found / self.simulated)
    }
}

/// How wrinkled a garment is at `positions` [m]: W, without a unit.
///
/// # Panics
/// When there is not one position a vertex.
pub fn wrinkles(topology: &Topology, surface: &RestSurface, positions: &[Vec3]) -> f64 {
    let curvature = mean_curvature(topology, surface, positions);
    let smooth = surface.smooth(&curvature);
    let fine = curvature.iter().zip(smooth).zip(surface.areas());
    let fine = fine.map(|((h, s), area)| area * (h - s) * (h - s));
    let off_hem = fine.zip(surface.on_border()).filter(|(_, hem)| !**hem);
    off_hem.map(|(w, _)| w).sum()
}

/// Mean curvature of every vertex [1/m], positive where the surface bulges
/// outwards; on hems the mean of the neighbours'.
fn mean_curvature(topology: &Topology, surface: &RestSurface, positions: &[Vec3]) -> Vec<f64> {
    let n_vertices = positions.len();
    let mut normals = vec![Vec3::Y; n_vertices];
    vertex_normals(topology, positions, &mut normals);
    let mut pull = vec![DVec3::ZERO; n_vertices];
    let mut areas = vec![0.0; n_vertices];
    for corners in topology.triangles() {
        let at = corners.map(|v| positions[v as usize].as_dvec3());
        let double = (at[1] - at[0]).cross(at[2] - at[0]).length();
        let longest = (0..3).map(|i| at[i].distance_squared(at[(i + 1) % 3]));
        // A sliver has cotangents without bound.
        let double = double.max(2e-3 * longest.fold(0.0, f64::max)).max(1e-18);
        let mut cotangents = [0.0; 3];
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            cotangents[i] = (at[j] - at[i]).dot(at[k] - at[i]) / double;
            let side = (at[j] - at[k]) * cotangents[i];
            pull[corners[j] as usize] += side;
            pull[corners[k] as usize] -= side;
        }
        let squares = [0, 1, 2].map(|i| at[i].distance_squared(at[(i + 1) % 3]));
        let shares = mixed_areas(double / 2.0, squares, cotangents);
        for (v, share) in corners.iter().zip(shares) {
            areas[*v as usize] += share;
        }
    }
    let inner = |v: usize| pull[v].dot(normals[v].as_dvec3()) / (4.0 * areas[v].max(1e-12));
    let mut curvature: Vec<f64> = (0..n_vertices).map(inner).collect();
    let on_border = surface.on_border();
    for v in (0..n_vertices).filter(|v| on_border[*v]) {
        let around = surface.around(v).iter().map(|n| *n as usize);
        let (mut sum, mut n) = (0.0, 0u32);
        for next in around.filter(|next| !on_border[*next]) {
            sum += curvature[next];
            n += 1;
        }
        curvature[v] = sum / f64::from(n.max(1));
    }
    curvature
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use drapery_core::{Garment, TriMesh};

    use super::*;
    use crate::smoothing::LENGTH;
    use crate::smoothing::tests::sheet;

    fn waved(garment: &Garment, amplitude: f64, length: f64) -> Vec<Vec3> {
        let k = TAU / length;
        let lift = |p: &Vec3| amplitude * (k * f64::from(p.x)).cos();
        let at = garment.mesh().positions().iter();
        at.map(|p| *p + Vec3::Z * lift(p) as f32).collect()
    }

    #[test]
    fn wrinkles_grow_with_the_square_of_the_amplitude() {
        let sheet = sheet(81, 0.005);
        let topology = sheet.mesh().topology();
        let surface = RestSurface::new(&sheet);
        let (length, a) = (0.08, 2e-4);
        let found = wrinkles(topology, &surface, &waved(&sheet, a, length));
        // Half of the square of ½ a k² t k²/(1 + t k²), over the sheet.
        let k = TAU / length;
        let tk = LENGTH * LENGTH / 4.0 * k * k;
        let inner = (79.0 * 0.005f64).powi(2);
        let expected = inner / 2.0 * (a * k * k / 2.0 * tk / (1.0 + tk)).powi(2);
        assert!((found / expected - 1.0).abs() < 0.06, "{found} {expected}");
        let mut sums = WrinkleSums::default();
        sums.add(
            wrinkles(topology, &surface, &waved(&sheet, 2.0 * a, length)),
            found,
            inner,
        );
        assert!((sums.ratio().unwrap() - 4.0).abs() < 0.02, "{sums:?}");
        assert_eq!(WrinkleSums::default().ratio(), None);
        // A hundredth of a millimetre is no wrinkle to have a ratio to.
        let hardly = wrinkles(topology, &surface, &waved(&sheet, 1e-5, length));
        let mut sums = WrinkleSums::default();
        sums.add(found, hardly, inner);
        assert!(hardly > 0.0 && sums.ratio().is_none(), "{hardly}");
    }

    #[test]
    fn a_wide_cylinder_has_its_curvature_and_no_wrinkles() {
        // 60° of a cylinder of radius 30 cm, rolled from a flat sheet.
        let flat = sheet(33, 0.01);
        let radius = 0.3f32;
        let rolled = |p: &Vec3| {
            let (s, c) = (p.x / radius).sin_cos();
            Vec3::new(radius * s, p.y, radius * c - radius)
        };
        let rolled: Vec<Vec3> = flat.mesh().positions().iter().map(rolled).collect();
        let surface = RestSurface::new(&flat);
        let topology = flat.mesh().topology();
        let curvature = mean_curvature(topology, &surface, &rolled);
        for h in &curvature {
            assert!((h * 2.0 * 0.3 - 1.0).abs() < 0.02, "{h}");
        }
        let smooth = wrinkles(topology, &surface, &rolled);
        // A wave of 1 mm on it is thousands of times as wrinkled.
        let rippled = rolled.iter().zip(waved(&flat, 1e-3, 0.05));
        let rippled: Vec<Vec3> = rippled.map(|(p, w)| *p + Vec3::Z * w.z).collect();
        let folded = wrinkles(topology, &surface, &rippled);
        assert!(smooth < 1e-3 * folded, "{smooth} {folded}");
    }

    #[test]
    fn a_ball_bulges_by_one_over_its_radius_everywhere() {
        // An octahedron divided four times and blown up to a ball of 20 cm.
        let mut positions = vec![
            Vec3::X,
            Vec3::Y,
            Vec3::Z,
            Vec3::NEG_X,
            Vec3::NEG_Y,
            Vec3::NEG_Z,
        ];
        let mut triangles = vec![
            [0u32, 1, 2],
            [1, 3, 2],
            [3, 4, 2],
            [4, 0, 2],
            [1, 0, 5],
            [3, 1, 5],
            [4, 3, 5],
            [0, 4, 5],
        ];
        for _ in 0..4 {
            let mut middles = std::collections::BTreeMap::new();
            let mut next = Vec::new();
            for [a, b, c] in triangles {
                let mut middle = |p: u32, q: u32| {
                    *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                        let sum = positions[p as usize] + positions[q as usize];
                        positions.push(sum.normalize());
                        positions.len() as u32 - 1
                    })
                };
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                next.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            }
            triangles = next;
        }
        let positions: Vec<Vec3> = positions.iter().map(|p| *p * 0.2).collect();
        let mesh = TriMesh::new(positions.clone(), triangles).unwrap();
        let ball = Garment::new("ball".into(), mesh, None, vec![], vec![]).unwrap();
        let surface = RestSurface::new(&ball);
        let curvature = mean_curvature(ball.mesh().topology(), &surface, &positions);
        let sum: f64 = curvature
            .iter()
            .zip(surface.areas())
            .map(|(h, a)| h * a)
            .sum();
        let area: f64 = surface.areas().iter().sum();
        assert!((sum / area * 0.2 - 1.0).abs() < 0.01, "{}", sum / area);
        assert!(wrinkles(ball.mesh().topology(), &surface, &positions) < 0.05);
    }
}
