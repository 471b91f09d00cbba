//! Unit and axes of cloth: [`ClothSpace`], and whether they can be right:
//! [`check_place`].

use drapery_core::Garment;
use drapery_scene::motion::{Axis, LengthUnit};
use glam::{Quat, Vec3};

/// The unit and the up axis of positions in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClothSpace {
    /// What a length of 1 is.
    pub unit: LengthUnit,
    /// Which way is up; +Y, +Z or +X.
    pub up: Axis,
}

impl ClothSpace {
    /// A position in metres, +Y up. Who faces −Y in a +Z up world faces +Z.
    pub fn world(&self, p: Vec3) -> Vec3 {
        let turned = match self.up {
            Axis::PlusZ => Vec3::new(p.x, p.z, -p.y),
            Axis::PlusX => Vec3::new(-p.y, p.x, p.z),
            _ => p,
        };
        match self.unit {
            LengthUnit::Metre => turned,
            unit => turned * unit.metres() as f32,
        }
    }

    /// The rotation in it.
    pub fn turn(&self) -> Quat {
        let facing = match self.up {
            Axis::PlusZ => Axis::MinusY,
            _ => Axis::PlusZ,
        };
        let turn = Axis::standard_from(self.up, facing);
        turn.map_or(Quat::IDENTITY, |q| q.as_quat())
    }
}

/// Why cloth can't be that of a garment on a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The mesh of the garment does not go with the body.
    #[error(
        "the mesh of {garment} is {ratio:.3} times as large as the body; a garment's mesh is in metres"
    )]
    Mesh {
        /// Which garment.
        garment: String,
        /// Its size over that of the body.
        ratio: f32,
    },
    /// The cloth is too large or too small.
    #[error(
        "the first frame of {garment} is {ratio:.4} times as large as its mesh{}",
        suggestion(*likely)
    )]
    Size {
        /// Which garment.
        garment: String,
        /// Its size over that of the mesh.
        ratio: f32,
        /// The option that would be right.
        likely: Option<&'static str>,
    },
    /// The cloth is not where the body is.
    #[error(
        "{percent:.0} % of the first frame of {garment} is where the body is, expected {limit:.0} % or more: \
         the cloth is from {} to {} m, the body from {} to {} m{}",
        words(cloth[0]), words(cloth[1]), words(body[0]), words(body[1]), suggestion(*likely)
    )]
    Place {
        /// Which garment.
        garment: String,
        /// The share of its vertices that are near the body [%].
        percent: f32,
        /// The least share [%].
        limit: f32,
        /// Lowest and highest coordinates of the cloth [m].
        cloth: [Vec3; 2],
        /// Lowest and highest coordinates of the body [m].
        body: [Vec3; 2],
        /// The option that would be right.
        likely: Option<&'static str>,
    },
    /// The vertices are not those of the mesh.
    #[error(
        "edges in the first frame of {garment} are {ratio:.1} times as long as in its mesh (median): \
         its vertices are likely in another order than the mesh's"
    )]
    Order {
        /// Which garment.
        garment: String,
        /// The median ratio.
        ratio: f32,
    },
}

fn suggestion(option: Option<&str>) -> String {
    option.map_or_else(String::new, |o| format!("; it is likely {o}"))
}

fn words(p: Vec3) -> String {
    format!("({:.2} {:.2} {:.2})", p.x, p.y, p.z)
}

/// Cloth may be so many times larger or smaller than its mesh: arms go up and
/// skirts fly, but not by more than this.
const MOST_SIZE: f32 = 2.5;

/// The least share of vertices near the body [%].
const LEAST_NEAR: f32 = 50.0;

/// How far around the body's box that is, as a share of its diagonal.
const NEAR: f32 = 0.15;

/// Edges may be so many times longer or shorter, in the median.
const MOST_EDGE: f32 = 2.0;

/// Checks the first frame of a garment, as it is in the file, against its mesh
/// and the vertices of the body in that frame [m].
///
/// # Errors
/// What can't be right, with the option that most likely is.
pub fn check_place(
    space: ClothSpace,
    cloth: &[Vec3],
    garment: &Garment,
    body: &[Vec3],
) -> Result<(), PlaceError> {
    let name = || garment.name().to_string();
    let world = |space: ClothSpace| cloth.iter().map(move |p| space.world(*p));
    let (mesh_size, body_box) = (size(bounds(garment.mesh().positions())), bounds(body));
    let ratio = mesh_size / size(body_box);
    if !(0.01..=4.0).contains(&ratio) {
        return Err(PlaceError::Mesh {
            garment: name(),
            ratio,
        });
    }
    let positions: Vec<Vec3> = world(space).collect();
    let cloth_box = bounds(&positions);
    let ratio = size(cloth_box) / mesh_size;
    let fits = |ratio: f32| (1.0 / MOST_SIZE..=MOST_SIZE).contains(&ratio);
    if !fits(ratio) {
        let in_units = ratio / space.unit.metres() as f32;
        let units = UNITS.iter().map(|(unit, option)| {
            let ratio = in_units * unit.metres() as f32;
            (ratio.ln().abs(), ratio, *option)
        });
        let best = units.min_by(|a, b| a.0.total_cmp(&b.0));
        return Err(PlaceError::Size {
            garment: name(),
            ratio,
            likely: best.filter(|b| fits(b.1)).map(|b| b.2),
        });
    }
    let margin = Vec3::splat(NEAR * size(body_box));
    let [low, high] = [body_box[0] - margin, body_box[1] + margin];
    let near = |space: ClothSpace| {
        let inside = world(space).filter(|p| p.cmpge(low).all() && p.cmple(high).all());
        100.0 * inside.count() as f32 / cloth.len().max(1) as f32
    };
    let percent = near(space);
    if percent < LEAST_NEAR {
        let ups = UPS.iter().map(|(up, option)| {
            let other = ClothSpace { up: *up, ..space };
            (near(other), *option)
        });
        let best = ups.max_by(|a, b| a.0.total_cmp(&b.0));
        return Err(PlaceError::Place {
            garment: name(),
            percent,
            limit: LEAST_NEAR,
            cloth: cloth_box,
            body: body_box,
            likely: best.filter(|b| b.0 >= LEAST_NEAR).map(|b| b.1),
        });
    }
    let edges = garment.mesh().topology().edges();
    let length = |at: &[Vec3], [a, b]: [u32; 2]| at[a as usize].distance(at[b as usize]);
    let rest = garment.mesh().positions();
    let mut ratios: Vec<f32> = edges
        .iter()
        .map(|e| length(&positions, e.vertices) / length(rest, e.vertices).max(1e-9))
        .collect();
    ratios.sort_by(f32::total_cmp);
    match ratios.get(ratios.len() / 2) {
        Some(&ratio) if !(1.0 / MOST_EDGE..=MOST_EDGE).contains(&ratio) => Err(PlaceError::Order {
            garment: name(),
            ratio,
        }),
        _ => Ok(()),
    }
}

const UNITS: [(LengthUnit, &str); 6] = [
    (LengthUnit::Metre, "--unit m"),
    (LengthUnit::Decimetre, "--unit dm"),
    (LengthUnit::Centimetre, "--unit cm"),
    (LengthUnit::Millimetre, "--unit mm"),
    (LengthUnit::Inch, "--unit in"),
    (LengthUnit::Foot, "--unit ft"),
];

const UPS: [(Axis, &str); 3] = [
    (Axis::PlusY, "--up y"),
    (Axis::PlusZ, "--up z"),
    (Axis::PlusX, "--up x"),
];

fn bounds(points: &[Vec3]) -> [Vec3; 2] {
    let start = [Vec3::splat(f32::INFINITY), Vec3::splat(f32::NEG_INFINITY)];
    points
        .iter()
        .fold(start, |[low, high], p| [low.min(*p), high.max(*p)])
}

fn size([low, high]: [Vec3; 2]) -> f32 {
    low.distance(high).max(1e-9)
}

#[cfg(test)]
mod tests {
    use drapery_core::BodyModel;
    use drapery_scene::builtin;

    use super::*;

    fn space(unit: LengthUnit, up: Axis) -> ClothSpace {
        ClothSpace { unit, up }
    }

    #[test]
    fn axes_turn_as_their_rotation_does_and_metres_keep_their_bits() {
        let p = Vec3::new(0.3, -1.7, 2.9);
        for up in [Axis::PlusY, Axis::PlusZ, Axis::PlusX] {
            let metres = space(LengthUnit::Metre, up);
            assert!(metres.world(p).distance(metres.turn() * p) < 1e-6, "{up}");
            assert_eq!(metres.world(up.vector().as_vec3()), Vec3::Y);
        }
        assert_eq!(space(LengthUnit::Metre, Axis::PlusY).world(p), p);
    }

    #[test]
    fn a_wrong_unit_or_axis_is_named_and_the_right_one_passes() {
        let garment = builtin::garment("sleeve").unwrap();
        let character = builtin::character("tube").unwrap();
        let body = character.shaped(&[0.0, 0.0]).unwrap().rest;
        let rest = garment.mesh().positions();
        let given = space(LengthUnit::Metre, Axis::PlusY);
        assert_eq!(check_place(given, rest, &garment, &body), Ok(()));
        for (unit, option) in UNITS {
            let cloth: Vec<Vec3> = rest.iter().map(|p| *p / unit.metres() as f32).collect();
            let right = space(unit, Axis::PlusY);
            assert_eq!(check_place(right, &cloth, &garment, &body), Ok(()));
            if unit != LengthUnit::Metre {
                let told = check_place(given, &cloth, &garment, &body);
                assert!(
                    matches!(told, Err(PlaceError::Size { likely: Some(o), .. }) if o == option),
                    "{told:?}"
                );
            }
        }
        // Blender's axes.
        let cloth: Vec<Vec3> = rest.iter().map(|p| Vec3::new(p.x, -p.z, p.y)).collect();
        let right = space(LengthUnit::Metre, Axis::PlusZ);
        assert_eq!(check_place(right, &cloth, &garment, &body), Ok(()));
        let told = check_place(given, &cloth, &garment, &body);
        assert!(
            matches!(
                told,
                Err(PlaceError::Place {
                    likely: Some("--up z"),
                    ..
                })
            ),
            "{told:?}"
        );
        let mut shuffled = rest.to_vec();
        let n = shuffled.len();
        for v in 0..n {
            shuffled.swap(v, (7919 * v + 13) % n);
        }
        let told = check_place(given, &shuffled, &garment, &body);
        assert!(matches!(told, Err(PlaceError::Order { .. })), "{told:?}");
    }
}
