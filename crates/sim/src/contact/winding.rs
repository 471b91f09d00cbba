//! How often a closed surface is wound around a point.
//!
//! 0 outside and 1 inside; also where the surface crosses itself or is folded
//! over, so that the nearest place of it can't tell: 2 where two parts overlap,
//! −1 in a fold that is turned inside out.

use glam::DVec3;

use super::block::Bounds;
use super::candidates::MeshBoxes;

/// Off the point [m], so that no ray of a vertex passes through others that are
/// in line with it.
const ASIDE: DVec3 = DVec3::new(1.3e-7, 0.7e-7, 1.1e-7);

impl MeshBoxes {
    /// How often the surface, with its vertices at `x` [m] and all of them
    /// within `all`, is wound around `p` [m]: what a ray along an axis leaves
    /// less what it enters.
    pub(crate) fn winding(&self, x: &[DVec3], p: DVec3, all: Bounds) -> i32 {
        let p = p + ASIDE;
        let along = (all.high - all.low).min_position();
        let (mut far, mut winding) = (p, 0);
        // To the nearer end.
        let backwards = p[along] - all.low[along] < all.high[along] - p[along];
        far[along] = match backwards {
            true => all.low[along],
            false => all.high[along],
        };
        let way = Bounds::of_point(p).with(far);
        let [i, j] = [(along + 1) % 3, (along + 2) % 3];
        self.visit_faces(way, 0.0, |t| {
            let ids = self.triangles()[t as usize];
            let corners = ids.map(|v| x[v as usize]);
            // On which side of each edge the ray passes; the same number, but
            // for its sign, for both triangles of an edge.
            let side = |a: usize, b: usize| {
                let (a, b, sign) = match ids[a] < ids[b] {
                    true => (corners[a] - p, corners[b] - p, 1.0),
                    false => (corners[b] - p, corners[a] - p, -1.0),
                };
                sign * (a[i] * b[j] - a[j] * b[i])
            };
            let sides = [side(1, 2), side(2, 0), side(0, 1)];
            let turn = match sides {
                [a, b, c] if a > 0.0 && b > 0.0 && c > 0.0 => 1,
                [a, b, c] if a < 0.0 && b < 0.0 && c < 0.0 => -1,
                _ => return,
            };
            let sum: f64 = sides.iter().sum();
            let at = (0..3).map(|k| sides[k] * corners[k][along]).sum::<f64>() / sum;
            if (at > p[along]) != backwards {
                winding += if backwards { -turn } else { turn };
            }
        });
        winding
    }
}

#[cfg(test)]
mod tests {
    use super::super::obstacle_mesh::MeshObstacle;
    use super::super::test_meshes::sphere;
    use super::*;

    /// A ball of 0.1 m whose upper pole is drawn out through the lower one: a
    /// spike with its inside out.
    fn spiked() -> (MeshBoxes, Vec<DVec3>, MeshObstacle) {
        let (topology, mut x) = sphere(0.1, 24);
        x[0] = DVec3::new(0.0, -0.2, 0.0);
        let boxes = MeshBoxes::new(&topology, &x);
        let mesh = MeshObstacle::new(&topology, x.clone()).unwrap();
        (boxes, x, mesh)
    }

    #[test]
    fn a_surface_is_wound_around_what_it_holds() {
        let (boxes, x, _) = spiked();
        let all = Bounds::of(x.iter().copied());
        let winding = |x_at: f64, y: f64| boxes.winding(&x, DVec3::new(x_at, y, 0.0), all);
        // Beside the cone that the spike is, in the ball and out of it.
        assert_eq!(winding(0.05, 0.0), 1);
        assert_eq!(winding(0.15, 0.0), 0);
        assert_eq!(winding(0.03, -0.15), 0);
        // In it: the ball has a hole there, and outside it less than nothing.
        assert_eq!(winding(0.0, 0.05), 0);
        assert_eq!(winding(0.0, -0.15), -1);
        let (topology, ball) = sphere(0.1, 24);
        let boxes = MeshBoxes::new(&topology, &ball);
        let all = Bounds::of(ball.iter().copied());
        for k in 0..500 {
            let k = f64::from(k);
            let p = DVec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin()) * 0.12;
            // The ball of triangles is smaller than the round one by half a
            // millimetre at most.
            if p.length() < 0.099 || p.length() > 0.1 {
                let expected = i32::from(p.length() < 0.1);
                assert_eq!(boxes.winding(&ball, p, all), expected, "{p}");
            }
        }
    }

    /// What was next to a fold of the body was taken to be far inside it, and
    /// drawn there.
    #[test]
    fn beside_a_fold_that_is_turned_over_is_not_inside() {
        let (_, _, mesh) = spiked();
        let beside = DVec3::new(0.03, -0.15, 0.0);
        let found = mesh.nearest(beside, 1.0).unwrap();
        assert!(found.closest.y < -0.1, "{found:?}");
        assert!(found.distance > 0.01, "{found:?}");
        let again = found.closest + found.normal * found.distance;
        assert!(again.distance(beside) < 1e-12);
        // What is inside is as deep as before.
        let inside = mesh.nearest(DVec3::new(0.08, 0.0, 0.0), 1.0).unwrap();
        assert!((inside.distance + 0.02).abs() < 5e-4, "{inside:?}");
    }
}
