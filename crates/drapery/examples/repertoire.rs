//! Draws five frames of motions of the repertoire, a row each, on one sheet:
//!
//! ```sh
//! cargo run --release -p drapery --example repertoire -- sheet.png 90 5 walk run kick
//! ```
//!
//! The numbers are the side that it is seen from (0 the front, 90 the left)
//! and the frames of each; without names the sheet has all motions.

use std::error::Error;

use drapery::core::{BodyModel, PoseVelocity};
use drapery::scene::builtin;
use drapery::scene::motion::repertoire;
use drapery::view::picture::{Camera, Options, Scene, SceneMesh, Size, View, render, sheet};

/// Width and height of a picture [pixels].
const SIZE: (u32, u32) = (120, 150);

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, or: f32| args.get(i).map_or(Ok(or), |a| a.parse::<f32>());
    let (azimuth, n) = (number(1, 60.0)?, number(2, 5.0)? as usize);
    let named: Vec<&str> = args.iter().skip(3).map(String::as_str).collect();
    let names = match (named.is_empty(), args.is_empty()) {
        (false, _) => named,
        (true, false) => repertoire::NAMES.to_vec(),
        // Without arguments nothing is written, and one motion is enough.
        (true, true) => vec!["walk"],
    };
    let body = builtin::character("mannequin").ok_or("no mannequin")?;
    let shaped = body.shaped(&vec![0.0; body.shape_parameters().len()])?;
    let still = PoseVelocity::zero(body.skeleton().len());
    let size = Size::new(SIZE.0, SIZE.1);
    let mut view = View::from_azimuth(azimuth.to_radians());
    view.elevation = 0.12;
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for name in names {
        let clip = repertoire::clip(name)?;
        let last = clip.frames().len() - 1;
        let mut shown = Vec::new();
        for i in 0..n {
            // Not evenly, or all would show one phase of a step.
            let share = (i as f32 + 0.4 * (i % 2) as f32) / (n - 1).max(1) as f32;
            let pose = &clip.frames()[(share.min(1.0) * last as f32) as usize];
            let mut posed = body.room();
            body.pose(&shaped, pose, &still, &mut posed)?;
            shown.push((posed.vertices, pose.root));
        }
        let seen: Vec<_> = shown
            .iter()
            .map(|(p, root)| (p.as_slice(), *root))
            .collect();
        let cameras = Camera::following(&seen, view, size);
        for (i, ((points, _), camera)) in shown.iter().zip(&cameras).enumerate() {
            let scene = Scene::on_floor().with(SceneMesh::body(body.topology(), points));
            images.push(render(&scene, camera, &Options::of_size(size))?);
            labels.push(if i == 0 {
                name.to_string()
            } else {
                String::new()
            });
        }
    }
    let rows = images.len().div_ceil(n);
    // Motions side by side, so that the sheet is no strip.
    let columns = if rows > 8 { 3 * n } else { n };
    let png = sheet(&images, columns, &labels, "")?.png()?;
    assert!(png.len() > 1000, "a sheet of {} pictures", images.len());
    if let Some(path) = args.first() {
        std::fs::write(path, png)?;
    }
    Ok(())
}
