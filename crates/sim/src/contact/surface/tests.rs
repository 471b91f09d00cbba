//! Points between obstacles, and what is remembered of them.

use drapery_core::{Fabric, Topology};
use glam::DQuat;

use super::super::obstacle::{Placement, RigidObstacle};
use super::*;
use crate::textbook::{Rectangle, Triangulation};

/// A square of cloth, and its contacts.
fn square() -> (Rectangle, SurfaceContacts) {
    let sheet = Rectangle::new(0.02, 1, 1, Triangulation::Aligned).unwrap();
    let fabric = Fabric::plain("cotton", 0.2, 600.0, 1e-5);
    let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
    let settings = SurfaceSettings {
        offset: 1.5e-3,
        friction: 0.5,
    };
    let contacts = SurfaceContacts::new(&cloth, 0.03, vec![settings]);
    (sheet, contacts)
}

/// The square level at a height [m].
fn lifted(sheet: &Rectangle, y: f64) -> Vec<DVec3> {
    let points = sheet.points.iter();
    points.map(|p| DVec3::new(p.x, y, p.y)).collect()
}

/// The plane y = 0.
fn plane() -> Obstacle {
    let plane = RigidObstacle::new(Shape::Plane, Placement::IDENTITY);
    plane.unwrap().into()
}

/// What was solved for last counts, not what was to be solved for next.
#[test]
fn forces_that_were_never_solved_for_are_not_remembered() {
    let obstacles = [plane()];
    let (sheet, mut contacts) = square();
    let at = |y: f64| lifted(&sheet, y);
    let (start, end) = (at(1e-3), at(-1e-4));
    contacts.begin(&obstacles, &start, &start, 0.01);
    let forces: Vec<f64> = contacts.touches().iter().map(|t| t.force(&end)).collect();
    // It has ended inside, and is to press harder.
    assert!(contacts.refresh(&obstacles, &[false; 4], &start, &end));
    assert!(contacts.touches()[0].force(&end) > 2.0 * forces[0]);
    contacts.finish(&obstacles, &end);
    let remembered: Vec<f64> = contacts.memory.iter().map(|m| m.force).collect();
    assert_eq!(remembered, forces);
}

/// A sample had one memory, so that of two obstacles one was forgotten
/// with every step, and let go.
#[test]
fn a_point_between_two_obstacles_sticks_to_both() {
    // Between a plane below and one above, 1 mm from either.
    let plane = |rotation: DQuat, y: f64| -> Obstacle {
        let translation = DVec3::Y * y;
        let placement = Placement {
            rotation,
            translation,
        };
        RigidObstacle::new(Shape::Plane, placement).unwrap().into()
    };
    let over = DQuat::from_rotation_x(std::f64::consts::PI);
    let obstacles = [plane(DQuat::IDENTITY, -1e-3), plane(over, 1e-3)];
    let (sheet, mut contacts) = square();
    let at = |x: f64| -> Vec<DVec3> {
        let points = sheet.points.iter();
        points.map(|p| DVec3::new(p.x + x, 0.0, p.y)).collect()
    };
    let held = [false; 4];
    contacts.begin(&obstacles, &at(0.0), &at(0.0), 0.01);
    contacts.refresh(&obstacles, &held, &at(0.0), &at(0.0));
    contacts.finish(&obstacles, &at(0.0));
    // Half of what its friction bears.
    let friction = contacts.touches()[0].friction.unwrap();
    let shift = 0.5 * friction.limit / friction.stiffness;
    contacts.begin(&obstacles, &at(shift), &at(shift), 0.01);
    assert_eq!(contacts.touches().len(), 8);
    for touch in contacts.touches() {
        let friction = touch.friction.unwrap();
        assert!(friction.limit > 0.0);
        let slip = touch.slip(&at(shift), friction.anchor);
        assert!((slip.x - shift).abs() < 1e-12, "{slip} for {shift}");
    }
}

/// A body with a groove along z: its two sides rise by 30°.
fn groove() -> Obstacle {
    let rise = 1.0 / 3f64.sqrt();
    let section = [
        (0.0, 0.0),
        (-1.0, rise),
        (-1.0, -1.0),
        (1.0, -1.0),
        (1.0, rise),
    ];
    let at = |z: f64| section.iter().map(move |(x, y)| DVec3::new(*x, *y, z));
    let points = at(-1.0).chain(at(1.0)).collect::<Vec<_>>();
    let mut triangles = Vec::new();
    for a in 0..5u32 {
        let b = (a + 1) % 5;
        triangles.extend([[a, b, a + 5], [b, b + 5, a + 5]]);
    }
    for ends in [[0, 1, 2], [0, 2, 3], [0, 3, 4]] {
        let [a, b, c] = ends;
        triangles.extend([[a, c, b], [a + 5, b + 5, c + 5]]);
    }
    let topology = Topology::new(points.len() as u32, triangles).unwrap();
    MeshObstacle::new(&topology, points).unwrap().into()
}

/// A point in a crease had one plane, which was exchanged for that of the other side
/// after every solve and made harder each time, without end: armpits cost a dress
/// 40 s a frame.
#[test]
fn a_point_in_a_crease_is_kept_off_both_of_its_sides() {
    let obstacles = [groove()];
    let (_, mut contacts) = square();
    // One corner of the sheet, so far from either side; the others hang above.
    let sides = [1.0, -1.0].map(|side| DVec3::new(-0.5 * side, 0.75f64.sqrt(), 0.0));
    let at = |gaps: [f64; 2]| -> Vec<DVec3> {
        let corner = DVec3::new(gaps[1] - gaps[0], (gaps[0] + gaps[1]) / 3f64.sqrt(), 0.0);
        let others = (1..4).map(|i| DVec3::new(0.02 * f64::from(i), 0.9, 0.1));
        std::iter::once(corner).chain(others).collect()
    };
    let held = [false; 4];
    let start = at([1e-3, 2e-3]);
    contacts.begin(&obstacles, &start, &start, 0.01);
    let first = contacts.touches().to_vec();
    assert_eq!(first.len(), 1);
    assert!(first[0].normal.distance(sides[0]) < 1e-9, "{first:?}");
    // A solve pressed it on its side, and into the other.
    assert!(contacts.refresh(&obstacles, &held, &start, &at([0.8e-3, -0.2e-3])));
    let [one, other] = contacts.touches() else {
        panic!("{} sides", contacts.touches().len());
    };
    assert!(one.normal.distance(sides[0]) < 1e-9);
    assert!(other.normal.distance(sides[1]) < 1e-9);
    assert_eq!(one.stiffness, first[0].stiffness);
    // The next step knows both from the beginning.
    let end = at([1e-3, 1e-3]);
    contacts.refresh(&obstacles, &held, &start, &end);
    contacts.finish(&obstacles, &end);
    contacts.begin(&obstacles, &end, &end, 0.01);
    let mut normals: Vec<DVec3> = contacts.touches().iter().map(|t| t.normal).collect();
    normals.sort_by(|a, b| a.x.total_cmp(&b.x));
    assert_eq!(normals.len(), 2);
    assert!(normals[0].distance(sides[0]) < 1e-9 && normals[1].distance(sides[1]) < 1e-9);
}

/// Where nothing keeps a point out, pressing harder has an end.
#[test]
fn what_presses_in_vain_gets_only_so_hard() {
    let obstacles = [plane()];
    let (sheet, mut contacts) = square();
    let at = |y: f64| lifted(&sheet, y);
    let (start, end, dt) = (at(1e-3), at(-1e-4), 0.01);
    // What was borne in one step is no reason to press without end in the next.
    for _ in 0..10 {
        contacts.begin(&obstacles, &start, &start, dt);
        for _ in 0..20 {
            assert!(contacts.refresh(&obstacles, &[false; 4], &start, &end));
        }
        contacts.finish(&obstacles, &end);
    }
    for (touch, mass) in contacts.touches().iter().zip(&contacts.masses) {
        let (found, expected) = (touch.stiffness, hardest(*mass, dt));
        assert!(
            (found / expected - 1.0).abs() < 1e-12,
            "{found} for {expected}"
        );
    }
}
