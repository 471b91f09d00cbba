//! The value of a glTF channel at a time.
//!
//! glTF 2.0, appendix C: steps, straight lines, great arcs for rotations, and
//! Hermite splines. Before the first key and after the last, values hold.

use drapery_store::gltf::{ChannelValues, GltfChannel, Interpolation};
use glam::{DQuat, DVec3};

/// A key that is later than the time asked for by no more than this is taken
/// to be at it [s]. Files round times to f32, by 2 µs after a minute; without
/// this, steps would come a frame late.
const TIME_SLACK: f64 = 2e-5;

/// A value of a channel: between two keys, or at one.
enum At {
    Key(usize),
    /// The keys before and after, the share of the way, the time between [s].
    Between(usize, usize, f64, f64),
}

fn at(channel: &GltfChannel, time: f64) -> At {
    let times = &channel.times;
    let after = times.partition_point(|&t| f64::from(t) <= time + TIME_SLACK);
    if after == 0 {
        return At::Key(0);
    }
    if after == times.len() || channel.interpolation == Interpolation::Step {
        return At::Key(after - 1);
    }
    let (start, end) = (f64::from(times[after - 1]), f64::from(times[after]));
    let share = ((time - start) / (end - start)).max(0.0);
    At::Between(after - 1, after, share, end - start)
}

/// Weights of value, tangent out, next value and tangent in on a Hermite
/// spline over `duration` seconds.
fn hermite(s: f64, duration: f64) -> [f64; 4] {
    let (s2, s3) = (s * s, s * s * s);
    [
        2.0 * s3 - 3.0 * s2 + 1.0,
        duration * (s3 - 2.0 * s2 + s),
        3.0 * s2 - 2.0 * s3,
        duration * (s3 - s2),
    ]
}

/// A translation, 0 for other channels. With splines a key has tangent in, value and tangent out.
pub(super) fn vector_at(channel: &GltfChannel, time: f64) -> DVec3 {
    let ChannelValues::Translation(values) = &channel.values else {
        return DVec3::ZERO;
    };
    let spline = channel.interpolation == Interpolation::CubicSpline;
    let value = |key: usize| values[if spline { 3 * key + 1 } else { key }].as_dvec3();
    match at(channel, time) {
        At::Key(key) => value(key),
        At::Between(a, b, s, duration) if spline => {
            let [p0, m0, p1, m1] = hermite(s, duration);
            value(a) * p0
                + values[3 * a + 2].as_dvec3() * m0
                + value(b) * p1
                + values[3 * b].as_dvec3() * m1
        }
        At::Between(a, b, s, _) => value(a).lerp(value(b), s),
    }
}

/// A rotation of unit length, identity for other channels.
pub(super) fn rotation_at(channel: &GltfChannel, time: f64) -> DQuat {
    let ChannelValues::Rotation(values) = &channel.values else {
        return DQuat::IDENTITY;
    };
    let spline = channel.interpolation == Interpolation::CubicSpline;
    let raw = |at: usize| values[at].as_dquat();
    let value = |key: usize| raw(if spline { 3 * key + 1 } else { key });
    match at(channel, time) {
        At::Key(key) => value(key).normalize(),
        At::Between(a, b, s, duration) if spline => {
            let [p0, m0, p1, m1] = hermite(s, duration);
            let sum = value(a) * p0 + raw(3 * a + 2) * m0 + value(b) * p1 + raw(3 * b) * m1;
            if sum.length_squared() > 1e-12 {
                sum.normalize()
            } else {
                value(a).normalize()
            }
        }
        At::Between(a, b, s, _) => value(a)
            .normalize()
            .slerp(value(b).normalize(), s)
            .normalize(),
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;

    fn translation(interpolation: Interpolation, values: Vec<Vec3>) -> GltfChannel {
        GltfChannel {
            node: 0,
            interpolation,
            times: vec![1.0, 3.0],
            values: ChannelValues::Translation(values),
        }
    }

    #[test]
    fn values_hold_before_the_first_key_and_after_the_last() {
        for interpolation in [Interpolation::Step, Interpolation::Linear] {
            let channel = translation(interpolation, vec![Vec3::X, Vec3::Y]);
            assert_eq!(vector_at(&channel, 0.0), DVec3::X);
            assert_eq!(vector_at(&channel, 5.0), DVec3::Y);
        }
    }

    #[test]
    fn steps_wait_and_lines_run() {
        let steps = translation(Interpolation::Step, vec![Vec3::X, Vec3::Y]);
        assert_eq!(vector_at(&steps, 2.99), DVec3::X);
        assert_eq!(vector_at(&steps, 3.0 - 1e-6), DVec3::Y);
        let line = translation(Interpolation::Linear, vec![Vec3::X, Vec3::Y]);
        assert_eq!(vector_at(&line, 1.5), DVec3::new(0.75, 0.25, 0.0));
    }

    #[test]
    fn a_spline_with_its_own_tangents_is_a_cubic() {
        // x(t) = t³ − 2 t over 1…3: a Hermite spline repeats any cubic.
        let x = |t: f32| t * t * t - 2.0 * t;
        let slope = |t: f32| 3.0 * t * t - 2.0;
        let key = |t: f32| [slope(t), x(t), slope(t)].map(|v| Vec3::new(v, -v, 0.0));
        let channel = translation(Interpolation::CubicSpline, [key(1.0), key(3.0)].concat());
        for t in [1.0, 1.3, 2.0, 2.9, 3.0] {
            let expected = f64::from(x(t));
            assert!((vector_at(&channel, f64::from(t)).x - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn rotations_take_the_short_great_arc_at_even_speed() {
        let end = Quat::from_rotation_y(2.0);
        for end in [end, -end] {
            let channel = GltfChannel {
                values: ChannelValues::Rotation(vec![Quat::IDENTITY, end]),
                ..translation(Interpolation::Linear, vec![])
            };
            let quarter = rotation_at(&channel, 1.5);
            assert!(quarter.angle_between(DQuat::from_rotation_y(0.5)) < 1e-6);
        }
    }
}
