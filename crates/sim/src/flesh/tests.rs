//! Two balls that are pushed together.

use super::*;
use crate::contact::test_meshes::sphere;

const RADIUS: f64 = 0.06;

/// Two balls as one body, their centres `apart` [m].
fn balls(apart: f64) -> (Topology, Vec<DVec3>) {
    ball_and(1.0, apart)
}

/// The same where the second is so much larger.
fn ball_and(larger: f64, apart: f64) -> (Topology, Vec<DVec3>) {
    let (one, x) = sphere(RADIUS, 24);
    let n = x.len() as u32;
    let both = one.triangles().iter().copied();
    let both = both.chain(one.triangles().iter().map(|t| t.map(|v| v + n)));
    let topology = Topology::new(2 * n, both.collect()).unwrap();
    let half = DVec3::new(0.5 * apart, 0.0, 0.0);
    let left = x.iter().map(|p| *p - half);
    let right = x.iter().map(|p| larger * *p + half);
    (topology, left.chain(right).collect())
}

/// At rest they are far enough apart to meet, and no strangers.
fn flesh() -> Flesh {
    let (topology, rest) = balls(0.28);
    let config = FleshConfig {
        strange: 0.5,
        ..FleshConfig::DEFAULT
    };
    Flesh::new(&topology, &rest, config)
}

/// Parts that are absent as soon as one has sunk into the other.
const THIN: FleshConfig = FleshConfig {
    thick: f64::INFINITY,
    ..FleshConfig::DEFAULT
};

/// How far each vertex is outside the other ball, as the balls are meant.
fn outside_other(x: &[DVec3], apart: f64) -> Vec<f64> {
    let half = DVec3::new(0.5 * apart, 0.0, 0.0);
    let n = x.len() / 2;
    let other = |v: usize| if v < n { half } else { -half };
    (0..x.len())
        .map(|v| x[v].distance(other(v)) - RADIUS)
        .collect()
}

#[test]
fn a_body_that_does_not_touch_itself_gives_no_way() {
    let mut flesh = flesh();
    for apart in [0.28, 0.2, 2.0 * RADIUS + 6e-3] {
        let (_, x) = balls(apart);
        let felt = flesh.feel(&x);
        assert!(felt.back.iter().all(|b| *b == 0.0), "{apart}");
        assert!(!felt.inside.contains(&true) && !felt.absent.contains(&true));
    }
}

#[test]
fn what_is_inside_another_part_is_found() {
    let mut flesh = flesh();
    for apart in [0.115, 0.1, 0.07] {
        let (_, x) = balls(apart);
        let felt = flesh.feel(&x);
        let mut n_inside = 0;
        for (v, outside) in outside_other(&x, apart).into_iter().enumerate() {
            // The ball of triangles is within the round one, by h²/8r.
            if outside.abs() > 1e-3 {
                assert_eq!(felt.inside[v], outside < 0.0, "{apart} {v}: {outside}");
            }
            n_inside += usize::from(felt.inside[v]);
        }
        assert!(n_inside > 10, "{n_inside}");
    }
}

/// Two balls that are pushed together leave room for cloth in the middle,
/// where a plane between them passes through neither.
#[test]
fn parts_that_overlap_leave_room_between_them() {
    let mut flesh = flesh();
    let n = balls(0.1).1.len() / 2;
    for overlap in [-0.003, 0.0, 0.002, 0.01, 0.03] {
        let apart = 2.0 * RADIUS - overlap;
        let (_, mut x) = balls(apart);
        let felt = flesh.feel(&x);
        flesh.give_way(&mut x, &felt.back);
        let left = x[..n].iter().map(|p| p.x).fold(f64::MIN, f64::max);
        let right = x[n..].iter().map(|p| p.x).fold(f64::MAX, f64::min);
        let room = FleshConfig::DEFAULT.room;
        assert!(right - left > 0.85 * room, "{overlap}: {}", right - left);
        assert!(right - left < 4.0 * room, "{overlap}: {}", right - left);
        // Triangles are not mirrored.
        assert!((right + left).abs() < 5e-4, "{}", right + left);
    }
}

#[test]
fn a_body_that_moves_gives_way_without_a_jump() {
    let mut flesh = flesh();
    let step = 2e-4;
    let mut before: Option<Vec<f64>> = None;
    for k in 0..100 {
        let (_, x) = balls(2.0 * RADIUS + 0.008 - step * f64::from(k));
        let back = flesh.feel(&x).back;
        if let Some(before) = before {
            let jump = back.iter().zip(&before).map(|(a, b)| (a - b).abs());
            let jump = jump.fold(0.0, f64::max);
            // From inside, a ball of triangles is a corner at every edge:
            // what is nearest changes there, by the depth times its angle.
            assert!(jump < 0.002, "{k}: {jump}");
        }
        before = Some(back);
    }
    assert!(before.unwrap().iter().any(|b| *b > 0.01));
}

/// Where edges enter the other ball is on both balls.
#[test]
fn the_rim_is_where_the_surfaces_meet() {
    let mut flesh = flesh();
    let apart = 0.1;
    let (_, x) = balls(apart);
    let rim = flesh.feel(&x).rim;
    assert!(rim.len() > 10, "{}", rim.len());
    let half = DVec3::new(0.5 * apart, 0.0, 0.0);
    for p in rim {
        for centre in [half, -half] {
            let off = p.distance(centre) - RADIUS;
            // The ball of triangles is within the round one, and an edge is
            // halved four times.
            assert!(off.abs() < 2e-3, "{p}: {off}");
        }
    }
}

/// Vertices that are next to one another go back alike, though only one of
/// them is inside.
#[test]
fn what_goes_back_has_no_steps() {
    let mut flesh = flesh();
    for overlap in [0.005, 0.02, 0.04] {
        let (topology, x) = balls(2.0 * RADIUS - overlap);
        let felt = flesh.feel(&x);
        let mut n_moved = 0;
        for edge in topology.edges() {
            let [a, b] = edge.vertices.map(|v| v as usize);
            let step = (felt.back[a] - felt.back[b]).abs();
            let slope = step / x[a].distance(x[b]);
            n_moved += u32::from(step > 1e-4);
            // Most next to the vertices that are inside.
            assert!(slope <= 2.5, "{overlap}: {slope}");
        }
        assert!(n_moved > 50, "{n_moved}");
        // Far from the overlap nothing is seen to move.
        for (v, outside) in outside_other(&x, 2.0 * RADIUS - overlap).iter().enumerate() {
            assert!(*outside < FAR || felt.back[v] <= SEEN, "{outside}");
        }
    }
}

#[test]
fn of_two_strangers_the_thinner_one_is_absent() {
    let (topology, rest) = ball_and(1.5, 0.6);
    let mut flesh = Flesh::new(&topology, &rest, THIN);
    let (_, x) = ball_and(1.5, 2.5 * RADIUS - 0.02);
    let felt = flesh.feel(&x);
    let n = x.len() / 2;
    assert!(felt.absent[..n].contains(&true));
    assert!(!felt.absent[n..].contains(&true));
    assert!(felt.inside[n..].contains(&true));
    // Neither makes a hollow where it is deep in the other.
    let deepest = (0..n).max_by(|a, b| x[*a].x.total_cmp(&x[*b].x)).unwrap();
    assert!(felt.back[deepest] < 0.01, "{}", felt.back[deepest]);
}

#[test]
fn strangers_are_absent_where_they_have_sunk_into_one_another() {
    let (topology, rest) = balls(0.6);
    let mut flesh = Flesh::new(&topology, &rest, THIN);
    let (_, x) = balls(2.0 * RADIUS - 0.004);
    let touching = flesh.feel(&x);
    assert!(touching.back.iter().any(|b| *b > 0.0), "a touch gives way");
    assert!(!touching.absent.contains(&true));
    let (_, x) = balls(2.0 * RADIUS - 0.02);
    let sunk = flesh.feel(&x);
    for (v, absent) in sunk.absent.iter().enumerate() {
        // The near half of each ball, and not its far end.
        if x[v].x.abs() < 0.06 {
            assert!(absent, "{}", x[v]);
        }
        if x[v].x.abs() > 0.105 {
            assert!(!absent, "{}", x[v]);
        }
    }
    let deepest = (0..x.len()).min_by(|a, b| x[*a].x.abs().total_cmp(&x[*b].x.abs()));
    assert!(sunk.inside[deepest.unwrap()]);
    // What cloth is still within stays absent, wherever it is.
    let (_, x) = balls(0.6);
    let mut occupied = vec![false; x.len()];
    occupied[7] = true;
    let felt = flesh.feel_worn(&x, &occupied);
    let n = x.len() / 2;
    for (v, absent) in felt.absent[..n].iter().enumerate() {
        let away = x[v].distance(x[7]);
        assert!(*absent || away > 0.06, "{away}");
        assert!(!absent || away < AROUND, "{away}");
    }
    assert!(!felt.absent[n..].contains(&true), "the other ball is there");
    assert!(!flesh.feel(&x).absent.contains(&true));
}

#[test]
fn strangers_that_are_thick_give_way_until_one_is_half_through() {
    let (topology, rest) = balls(0.6);
    let mut flesh = Flesh::new(&topology, &rest, FleshConfig::DEFAULT);
    for overlap in [0.004, 0.02, 0.04] {
        let felt = flesh.feel(&balls(2.0 * RADIUS - overlap).1);
        let farthest = felt.back.iter().copied().fold(0.0, f64::max);
        assert!(farthest >= 0.5 * overlap, "{overlap}: {farthest}");
        assert!(!felt.absent.contains(&true), "{overlap}");
    }
    let felt = flesh.feel(&balls(2.0 * RADIUS - 0.07).1);
    assert!(felt.absent.contains(&true));
}

/// Two balls grown into one another, as toes are, are not in a third that passes by.
#[test]
fn what_is_in_its_own_part_is_in_no_stranger() {
    let (topology, rest) = toes(0.6);
    let mut flesh = Flesh::new(&topology, &rest, THIN);
    let felt = flesh.feel(&rest);
    let n_inside = felt.inside.iter().filter(|i| **i).count();
    assert!(n_inside > 10, "{n_inside}");
    for gap in [0.05, 0.02, 0.01] {
        let felt = flesh.feel(&toes(2.0 * RADIUS + gap).1);
        assert!(!felt.absent.contains(&true), "{gap}");
        assert!(felt.back.iter().all(|b| *b <= SEEN), "{gap}");
    }
    let sunk = flesh.feel(&toes(2.0 * RADIUS - 0.02).1);
    assert!(sunk.absent.contains(&true));
}

/// Two balls that have grown into one another, and a third that is so far away [m].
fn toes(apart: f64) -> (Topology, Vec<DVec3>) {
    let (one, x) = sphere(RADIUS, 24);
    let n = x.len() as u32;
    let copies = (0..3).flat_map(|k| one.triangles().iter().map(move |t| t.map(|v| v + k * n)));
    let topology = Topology::new(3 * n, copies.collect()).unwrap();
    let centres = [-1.5 * RADIUS, 0.0, apart].map(|along| DVec3::X * along);
    let vertices = centres.iter().flat_map(|c| x.iter().map(move |p| *p + *c));
    (topology, vertices.collect())
}
