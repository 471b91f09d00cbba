//! The way of a string that is pulled taut over a section: [`taut`].
//!
//! It is the part of the convex hull of the section and the string's two ends
//! that goes over the top, from end to end. How far it turns on the way is the
//! angle φ of the capstan, whatever the section looks like.

use glam::DVec2;

/// Points of the way from `start` to `end`, both lower than the top of `section`,
/// that a taut string takes over it at a distance of `room`. All in metres; y
/// is up, and `start` is on the side of greater x.
pub(super) fn taut(section: &[DVec2], room: f64, start: DVec2, end: DVec2) -> Vec<DVec2> {
    // A circle around each point makes room, to a thousandth of it.
    const N_AROUND: u32 = 72;
    let circle = (0..N_AROUND).map(|k| {
        DVec2::from_angle(f64::from(k) / f64::from(N_AROUND) * std::f64::consts::TAU) * room
    });
    let circle: Vec<DVec2> = circle.collect();
    let around = section
        .iter()
        .flat_map(|p| circle.iter().map(move |c| *p + *c));
    let mut points: Vec<DVec2> = around.chain([start, end]).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    // Anticlockwise, the lower half and then the upper one.
    let mut hull: Vec<DVec2> = Vec::new();
    let mut add = |points: &mut dyn Iterator<Item = DVec2>| {
        let base = hull.len();
        for p in points {
            while let [.., a, b] = hull[base..] {
                match (b - a).perp_dot(p - b) > 0.0 {
                    true => break,
                    false => hull.pop(),
                };
            }
            hull.push(p);
        }
        hull.pop();
    };
    add(&mut points.iter().copied());
    add(&mut points.iter().rev().copied());
    let first = hull.iter().position(|p| *p == start);
    hull.rotate_left(first.unwrap_or(0));
    let last = hull.iter().position(|p| *p == end);
    hull.truncate(last.map_or(hull.len(), |last| last + 1));
    hull
}

/// How long a way is [m].
pub(super) fn length(way: &[DVec2]) -> f64 {
    way.windows(2).map(|w| w[0].distance(w[1])).sum()
}

/// The place on a way after `s` metres.
pub(super) fn along(way: &[DVec2], s: f64) -> DVec2 {
    let mut left = s;
    for (i, w) in way.windows(2).enumerate() {
        let piece = w[0].distance(w[1]);
        if left <= piece || i + 2 == way.len() {
            return w[0] + (w[1] - w[0]) * (left / piece);
        }
        left -= piece;
    }
    way[0]
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn over_a_square_a_string_has_four_straight_parts_and_its_corners() {
        let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(DVec2::from);
        let room = 0.1;
        let (start, end) = (DVec2::new(1.1, -3.0), DVec2::new(-1.1, -3.0));
        let way = taut(&square, room, start, end);
        assert_eq!((way[0], way[way.len() - 1]), (start, end));
        // Two legs of 4 m, the top of 2 m and two quarters of a circle.
        let expected = 2.0 * 4.0 + 2.0 + PI * room;
        assert!(
            (length(&way) - expected).abs() < 1e-3 * room,
            "{}",
            length(&way)
        );
        let middle = along(&way, 0.5 * length(&way));
        assert!(middle.distance(DVec2::new(0.0, 1.1)) < 1e-3, "{middle}");
        assert!(along(&way, length(&way)).distance(end) < 1e-12);
    }
}
