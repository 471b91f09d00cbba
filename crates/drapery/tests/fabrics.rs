//! The built-in fabrics in the simulator.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use drapery::scene::fabric::PRESETS;
use drapery::sim::{StripDirection, bending_length};

/// The simulator finds the bending length that the laboratory's formula gives
/// for the rigidity, so that what goes in as a measurement comes out as one.
#[test]
fn strips_of_every_fabric_bend_as_their_rigidity_says() {
    for preset in PRESETS {
        let fabric = preset.fabric();
        for (direction, rigidity) in [
            (StripDirection::Warp, fabric.bending_warp),
            (StripDirection::Weft, fabric.bending_weft),
        ] {
            let expected = (rigidity / (9.81 * fabric.density)).cbrt();
            let found = bending_length(&fabric, direction).unwrap();
            let error = found.length / expected - 1.0;
            assert!(
                error.abs() < 0.015,
                "{} {direction:?}: {found:?}",
                preset.name
            );
        }
    }
}
