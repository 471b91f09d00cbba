//! Scenes written as `.usda`: the text itself, what is refused, and that it is
//! streamed. USD's own reader opens such files in the tests of the program.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::io::{self, Write};

use drapery_core::{FrameRate, JointId, Pose, Skeleton, SkinWeights, Topology};
use drapery_store::moving::{MovingBody, MovingGarment, SceneWriteError};
use drapery_store::usd::{UsdScene, write_usda};
use glam::{Quat, Vec3};

/// A triangle on two joints, and a triangle of cloth.
#[derive(Clone)]
struct Scene {
    rest: Vec<Vec3>,
    joints: Vec<Vec3>,
    topology: Topology,
    skeleton: Skeleton,
    skin: SkinWeights,
    poses: Vec<Pose>,
    cloth: Vec<Vec<Vec3>>,
    colour: [f32; 3],
}

fn scene() -> Scene {
    let rest = vec![Vec3::ZERO, Vec3::new(0.5, 1.5, 0.0), Vec3::Y];
    let joints = vec![Vec3::ZERO, Vec3::new(0.0, 1.0, 0.0)];
    let mut poses = vec![Pose::identity(Vec3::ZERO, 2); 2];
    poses[1].root = Vec3::new(0.0, 0.25, 0.0);
    poses[0].rotations[1] = Quat::from_xyzw(-0.5, 0.5, 0.5, 0.5);
    // A half turn about y, by the quaternion that is farther from the one before.
    poses[1].rotations[1] = Quat::from_xyzw(0.0, -1.0, 0.0, 0.0);
    let parents = vec![None, Some(JointId(0))];
    let names = vec!["hips".to_owned(), "spine:1".to_owned()];
    let rows = [vec![(0, 1.0)], vec![(0, 0.25), (1, 0.75)], vec![(1, 1.0)]];
    Scene {
        topology: Topology::new(3, vec![[0, 1, 2]]).unwrap(),
        skeleton: Skeleton::new(names, parents, joints.clone()).unwrap(),
        skin: SkinWeights::new(2, 2, &rows).unwrap(),
        cloth: vec![rest.clone(), rest.iter().map(|p| *p + Vec3::X).collect()],
        colour: [0.5, 0.25, 1.0],
        rest,
        joints,
        poses,
    }
}

impl Scene {
    fn body(&self) -> MovingBody<'_> {
        MovingBody {
            name: "my body",
            topology: &self.topology,
            rest: &self.rest,
            skeleton: &self.skeleton,
            joints: &self.joints,
            skin: &self.skin,
            frames: &self.poses,
            colour: self.colour,
        }
    }

    fn garment(&self) -> MovingGarment<'_> {
        MovingGarment {
            name: "body",
            topology: &self.topology,
            frames: &self.cloth,
            colour: self.colour,
        }
    }

    fn whole(&self) -> UsdScene<'_> {
        UsdScene {
            frame_rate: FrameRate::new(29.97).unwrap(),
            body: Some(self.body()),
            garments: vec![self.garment()],
        }
    }

    fn write(&self) -> Result<Vec<u8>, SceneWriteError> {
        let mut out = Vec::new();
        write_usda(&self.whole(), &mut out).map(|()| out)
    }
}

#[test]
fn the_text_is_what_usd_reads() {
    let text = String::from_utf8(scene().write().unwrap()).unwrap();
    let written = text.replace(concat!("drapery ", env!("CARGO_PKG_VERSION")), "drapery");
    assert_eq!(written, include_str!("data/scene.usda"), "{text}");
}

#[test]
fn what_does_not_fit_together_is_named() {
    use SceneWriteError as E;
    type Damage = fn(&mut Scene);
    type Expected = fn(&E) -> bool;
    let cases: [(Damage, Expected); 12] = [
        (
            |s| s.poses.clear(),
            |e| matches!(e, E::Nothing { name, what: "frames" } if name == "my body"),
        ),
        (
            |s| s.cloth.clear(),
            |e| matches!(e, E::Nothing { name, what: "frames" } if name == "body"),
        ),
        (
            |s| s.cloth.truncate(1),
            |e| {
                matches!(
                    e,
                    E::FrameCount {
                        found: 1,
                        expected: 2,
                        ..
                    }
                )
            },
        ),
        (
            |s| s.topology = Topology::new(0, Vec::new()).unwrap(),
            |e| {
                matches!(
                    e,
                    E::Nothing {
                        what: "vertices",
                        ..
                    }
                )
            },
        ),
        (
            |s| s.topology = Topology::new(3, Vec::new()).unwrap(),
            |e| {
                matches!(
                    e,
                    E::Nothing {
                        what: "triangles",
                        ..
                    }
                )
            },
        ),
        (
            |s| s.cloth[1].truncate(2),
            |e| matches!(e, E::Length { name, frame: 1, found: 2, expected: 3, .. } if name == "body"),
        ),
        (
            |s| s.cloth[1][2].z = f32::NAN,
            |e| {
                matches!(
                    e,
                    E::NotFinite {
                        frame: 1,
                        what: "vertices",
                        ..
                    }
                )
            },
        ),
        (
            |s| s.rest[0].x = f32::INFINITY,
            |e| {
                matches!(
                    e,
                    E::NotFinite {
                        what: "rest vertices",
                        ..
                    }
                )
            },
        ),
        (
            |s| s.joints.truncate(1),
            |e| {
                matches!(
                    e,
                    E::Length {
                        what: "joints",
                        found: 1,
                        expected: 2,
                        ..
                    }
                )
            },
        ),
        (
            |s| s.poses[1].rotations[1] = Quat::from_xyzw(0.0, 0.0, 0.0, 2.0),
            |e| {
                matches!(
                    e,
                    E::Rotation {
                        frame: 1,
                        joint: 1,
                        ..
                    }
                )
            },
        ),
        (
            // Each is finite, their sum is not.
            |s| {
                s.poses[1].root.y = f32::MAX;
                s.rest[2].y = f32::MAX;
            },
            |e| {
                matches!(
                    e,
                    E::NotFinite {
                        frame: 1,
                        what: "posed vertices",
                        ..
                    }
                )
            },
        ),
        (
            |s| s.colour[1] = 1.5,
            |e| matches!(e, E::Colour { name } if name == "my body"),
        ),
    ];
    for (case, (damage, expected)) in cases.into_iter().enumerate() {
        let mut scene = scene();
        damage(&mut scene);
        let error = scene.write().unwrap_err();
        assert!(expected(&error), "case {case}: {error:?}");
    }
    let mut stray = scene();
    stray.skin = SkinWeights::new(1, 3, &[vec![(2, 1.0)], vec![(0, 1.0)], vec![(1, 1.0)]]).unwrap();
    let error = stray.write().unwrap_err();
    assert!(
        matches!(
            error,
            E::NoSuchJoint {
                joint: 2,
                n_joints: 2,
                ..
            }
        ),
        "{error:?}"
    );
    let nothing = UsdScene {
        frame_rate: FrameRate::new(30.0).unwrap(),
        body: None,
        garments: Vec::new(),
    };
    let empty = write_usda(&nothing, &mut Vec::new());
    assert!(matches!(empty, Err(E::Empty)), "{empty:?}");
}

/// Remembers how much it got at once, and fails when it has got too much.
struct Tap {
    total: usize,
    largest: usize,
    room: usize,
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.total += bytes.len();
        self.largest = self.largest.max(bytes.len());
        match self.total <= self.room {
            true => Ok(bytes.len()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_frame_goes_out_in_pieces_and_a_full_disk_is_said() {
    let n = 20_000;
    let topology = Topology::new(n, (0..n - 2).map(|v| [v, v + 1, v + 2]).collect()).unwrap();
    let frames = [(0..n).map(|v| Vec3::splat(v as f32 / 7.0)).collect()];
    let scene = UsdScene {
        frame_rate: FrameRate::new(30.0).unwrap(),
        body: None,
        garments: vec![MovingGarment {
            name: "cape",
            topology: &topology,
            frames: &frames,
            colour: [0.0; 3],
        }],
    };
    let mut tap = Tap {
        total: 0,
        largest: 0,
        room: usize::MAX,
    };
    write_usda(&scene, &mut tap).unwrap();
    assert!(tap.total > 500_000, "{}", tap.total);
    assert!(tap.largest < 70_000, "{}", tap.largest);
    tap.room = tap.total + 100_000;
    let full = write_usda(&scene, &mut tap);
    assert!(matches!(full, Err(SceneWriteError::Io(_))), "{full:?}");
}
