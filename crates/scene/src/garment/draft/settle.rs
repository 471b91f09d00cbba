//! Makes room between a garment and the body, and spreads what that costs.
//!
//! A garment is placed a little outside the body already; where it is not, or
//! where the flat faces of a coarse mesh cut a corner, vertices are pushed out
//! and their edges pulled back towards their flat lengths, by turns
//! (projections one after the other, in a fixed order).

use glam::DVec3;

use super::figure::Figure;
use super::sew::Sewn;

/// Vertices are at least this far from the skin [m].
const VERTEX_ROOM: f64 = 0.0045;

/// And middles of edges and faces this far [m].
const FACE_ROOM: f64 = 0.003;

/// What is nearer than this to the wanted room is left [m].
const TOLERANCE: f64 = 4e-4;

/// Panels that stay on one side of the plane of symmetry are so far from it [m].
const SIDE_ROOM: f64 = 0.001;

/// The fewest and the most turns.
const N_TURNS: [usize; 2] = [6, 24];

/// How much of a stretch, and of a compression, is taken back in a turn. Cloth
/// that is too long for its place may stay so: it would only buckle.
const STRETCH_SHARE: f64 = 0.35;
const COMPRESSION_SHARE: f64 = 0.08;

/// Pulls in a turn reach so far [m]: one goes from vertex to vertex.
const PULL_REACH: f64 = 0.12;

/// The fewest and the most pulls in a turn.
const N_PULLS: [usize; 2] = [3, 20];

struct Span {
    ends: [usize; 2],
    rest: f64,
}

/// Pushes the garment out of the body.
pub(super) fn settle(sewn: &mut Sewn, figure: &Figure<'_>) {
    let spans = spans(sewn);
    let longest = spans.iter().map(|s| s.rest).fold(0.0, f64::max);
    let mean = spans.iter().map(|s| s.rest).sum::<f64>() / spans.len().max(1) as f64;
    let n_pulls = ((PULL_REACH / mean) as usize).clamp(N_PULLS[0], N_PULLS[1]);
    for turn in 0..N_TURNS[1] {
        if push(sewn, &spans, figure, longest) && turn >= N_TURNS[0] {
            return;
        }
        for _ in 0..n_pulls {
            pull(&mut sewn.positions, &spans);
        }
    }
    while_inside(sewn, &spans, figure, longest);
}

/// Pushes without pulling, so that the last word is the body's.
fn while_inside(sewn: &mut Sewn, spans: &[Span], figure: &Figure<'_>, longest: f64) {
    for _ in 0..10 {
        if push(sewn, spans, figure, longest) {
            break;
        }
    }
}

fn spans(sewn: &Sewn) -> Vec<Span> {
    let mut sides: Vec<([u32; 2], f64)> = Vec::new();
    for (t, flat) in sewn.triangles.iter().zip(&sewn.pattern) {
        for i in 0..3 {
            let j = (i + 1) % 3;
            let [a, b] = [flat[i], flat[j]].map(|v| sewn.coordinates[v as usize]);
            let ends = [t[i].min(t[j]), t[i].max(t[j])];
            sides.push((ends, a.distance(b)));
        }
    }
    sides.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    sides
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| Span {
            ends: same[0].0.map(|v| v as usize),
            rest: same.iter().map(|s| s.1).sum::<f64>() / same.len() as f64,
        })
        .collect()
}

fn pull(positions: &mut [DVec3], spans: &[Span]) {
    for span in spans {
        let [a, b] = span.ends;
        let along = positions[b] - positions[a];
        let length = along.length();
        if length < 1e-9 {
            continue;
        }
        let excess = length - span.rest;
        let share = if excess > 0.0 {
            STRETCH_SHARE
        } else {
            COMPRESSION_SHARE
        };
        let step = along * (0.5 * share * excess / length);
        positions[a] += step;
        positions[b] -= step;
    }
}

/// Pushes what is too near to the body outwards; true when nothing was.
fn push(sewn: &mut Sewn, spans: &[Span], figure: &Figure<'_>, longest: f64) -> bool {
    let mut is_out = true;
    let look = VERTEX_ROOM + 0.7 * longest;
    let mut room = vec![f64::INFINITY; sewn.positions.len()];
    for (p, room) in sewn.positions.iter_mut().zip(&mut room) {
        let Some((distance, way)) = figure.stand_off(*p, look.max(0.05)) else {
            continue;
        };
        *room = distance;
        if distance < VERTEX_ROOM - TOLERANCE {
            is_out = false;
            *p += way * (VERTEX_ROOM - distance);
            *room = VERTEX_ROOM;
        }
    }
    // A sample is no farther from its nearest corner than this.
    let near = |v: usize, size: f64| room[v] < FACE_ROOM + size;
    for span in spans {
        let [a, b] = span.ends;
        if !near(a, 0.6 * span.rest) && !near(b, 0.6 * span.rest) {
            continue;
        }
        is_out &= lift(&mut sewn.positions, &[a, b], figure, look);
    }
    for t in 0..sewn.triangles.len() {
        let corners = sewn.triangles[t].map(|v| v as usize);
        let size = {
            let [a, b, c] = corners.map(|v| sewn.positions[v]);
            0.7 * a.distance(b).max(b.distance(c)).max(c.distance(a))
        };
        if corners.iter().any(|&v| near(v, size)) {
            is_out &= lift(&mut sewn.positions, &corners, figure, look);
        }
    }
    keep_sides(sewn, figure.middle);
    is_out
}

/// Keeps panels that stay on one side of the plane of symmetry there.
fn keep_sides(sewn: &mut Sewn, middle: f64) {
    for (p, half) in sewn.positions.iter_mut().zip(&sewn.halves) {
        let off = (p.x - middle) * half;
        if *half != 0.0 && off < SIDE_ROOM {
            p.x = middle + half * SIDE_ROOM;
        }
    }
}

/// Moves vertices so that their middle has room; true when it had.
fn lift(positions: &mut [DVec3], of: &[usize], figure: &Figure<'_>, look: f64) -> bool {
    let middle = of.iter().map(|&v| positions[v]).sum::<DVec3>() / of.len() as f64;
    let Some((distance, way)) = figure.stand_off(middle, look.max(0.05)) else {
        return true;
    };
    if distance >= FACE_ROOM - TOLERANCE {
        return true;
    }
    for &v in of {
        positions[v] += way * (FACE_ROOM - distance);
    }
    false
}
