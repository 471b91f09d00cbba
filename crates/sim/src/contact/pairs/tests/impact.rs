//! Fast cloth never passes through cloth.

use super::*;

/// 20 m/s at 30 steps a second: two thirds of a metre a step.
const SPEED: f64 = 20.0;
const DT: f64 = 1.0 / 30.0;

/// What is thrown.
#[derive(Clone, Copy, Debug)]
enum Thrown {
    /// A small triangle, tip first.
    Needle,
    /// A small triangle, an edge first.
    Edge,
    /// A sheet, flat.
    Flat,
    /// A sheet, turned.
    Turned,
}

/// A sheet at the origin and something that comes from above.
fn thrown(what: Thrown, fabric: &Fabric) -> Stage {
    let mut pieces = Pieces::default();
    pieces.sheet(6, 0.3, |p| DVec3::new(p.x, 0.0, p.y));
    // Off the symmetry of the mesh, 3 cm and up above it.
    let away = DVec3::new(0.013, 0.03, 0.007);
    let upright = |p: DVec2| DVec3::new(p.x, p.y, 0.2 * p.x) + away;
    let triangle = [[0, 1, 2]];
    match what {
        Thrown::Needle => {
            let flat = [(0.0, 0.0), (0.01, 0.05), (-0.01, 0.05)].map(DVec2::from);
            pieces.add(&flat, &triangle, upright);
        }
        Thrown::Edge => {
            let flat = [(-0.03, 0.0), (0.03, 0.0), (0.0, 0.04)].map(DVec2::from);
            pieces.add(&flat, &triangle, upright);
        }
        Thrown::Flat => pieces.sheet(4, 0.2, |p| DVec3::new(p.x, 0.0, p.y) + away),
        Thrown::Turned => pieces.sheet(4, 0.2, |p| {
            DVec3::new(p.x, 0.9 * p.y + 0.2 * p.x + 0.15, 0.4 * p.y) + away
        }),
    }
    let mut stage = pieces.build(fabric, MeshPairs::All);
    for v in 0..stage.x.len() {
        if stage.piece[v] == 1 {
            stage.v[v] = DVec3::new(2.0, -SPEED, 1.0);
        }
    }
    stage
}

#[test]
fn nothing_thrown_at_a_sheet_passes_it() {
    for what in [Thrown::Needle, Thrown::Edge, Thrown::Flat, Thrown::Turned] {
        for is_held in [false, true] {
            let mut stage = thrown(what, &cotton());
            if is_held {
                for v in 0..49 {
                    stage.held[v] = true;
                }
            }
            let before = stage.momentum();
            for step in 0..5 {
                stage.step(DT);
                assert_eq!(
                    stage.n_crossings(),
                    0,
                    "{what:?}, held {is_held}, step {step}"
                );
            }
            let after = stage.momentum();
            assert_eq!(stage.n_clipped, 0, "{what:?}, held {is_held}");
            // It has hit: it was stopped, or took the sheet along.
            let tip = stage
                .of_piece(1)
                .map(|v| stage.x[v].y)
                .fold(f64::MAX, f64::min);
            if is_held {
                assert!(tip > 0.0, "{what:?} is at {tip} m");
            } else {
                assert!(
                    after.distance(before) < 1e-6 * before.length(),
                    "{what:?}: momentum {before} became {after}"
                );
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let with_threads = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        pool.unwrap().install(|| {
            let mut stage = thrown(Thrown::Turned, &cotton());
            stage.step(DT);
            assert!(stage.pairs.touches().len() > 20);
            let touches = stage.pairs.touches().to_vec();
            (stage.x, touches)
        })
    };
    let alone = with_threads(1);
    for n in [2, 4] {
        assert!(with_threads(n) == alone, "{n} threads");
    }
}
