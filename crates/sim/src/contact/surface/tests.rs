//! Points between obstacles, and what is remembered of them.

use drapery_core::Fabric;
use glam::DQuat;

use super::super::obstacle::{Placement, RigidObstacle};
use super::*;
use crate::textbook::{Rectangle, Triangulation};

/// What was solved for last counts, not what was to be solved for next.
#[test]
fn forces_that_were_never_solved_for_are_not_remembered() {
    let sheet = Rectangle::new(0.02, 1, 1, Triangulation::Aligned).unwrap();
    let fabric = Fabric::plain("cotton", 0.2, 600.0, 1e-5);
    let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
    let plane = RigidObstacle::new(Shape::Plane, Placement::IDENTITY).unwrap();
    let obstacles = [Obstacle::from(plane)];
    let settings = SurfaceSettings {
        offset: 1.5e-3,
        friction: 0.5,
    };
    let mut contacts = SurfaceContacts::new(&cloth, 0.03, vec![settings]);
    let at = |y: f64| -> Vec<DVec3> {
        let points = sheet.points.iter();
        points.map(|p| DVec3::new(p.x, y, p.y)).collect()
    };
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
    let sheet = Rectangle::new(0.02, 1, 1, Triangulation::Aligned).unwrap();
    let fabric = Fabric::plain("cotton", 0.2, 600.0, 1e-5);
    let cloth = Cloth::new(&sheet.rest, &fabric, &[]).unwrap();
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
    let settings = SurfaceSettings {
        offset: 1.5e-3,
        friction: 0.5,
    };
    let mut contacts = SurfaceContacts::new(&cloth, 0.03, vec![settings]);
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
