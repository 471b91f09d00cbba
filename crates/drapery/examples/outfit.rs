//! Simulates an outfit on the mannequin and counts where its layers cross:
//!
//! ```sh
//! cargo run --release -p drapery --example outfit -- walk 60 skirt:cotton-plain t-shirt:cotton-plain
//! ```
//!
//! Garments are given from the skin outwards, each as KIND, KIND:FABRIC or
//! KIND@TRIANGLES:FABRIC; a name that ends in `.glb` is written.

#![allow(clippy::print_stdout, reason = "it is there to be read")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use drapery::core::{BodyModel, FrameIndex, GarmentAnimator};
use drapery::scene::garment::{DraftConfig, GarmentKind, draft};
use drapery::scene::motion::trim;
use drapery::scene::{builtin, load};
use drapery::sim::{MeshBoxes, self_crossings};
use drapery::{Animation, Layer, RollOut, SimulatedGarment, WearConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let motion = args.next().unwrap_or_else(|| "walk".to_string());
    let n_frames: u32 = args.next().map_or(Ok(2), |n| n.parse())?;
    let mut names: Vec<String> = args.collect();
    if names.is_empty() {
        names = vec![
            "skirt@600".to_string(),
            "poncho@600:wool-worsted".to_string(),
        ];
    }
    let body = builtin::character("mannequin").ok_or("no mannequin")?;
    let shape = vec![0.0; body.shape_parameters().len()];
    let shaped = body.shaped(&shape)?;
    let clip = builtin::clip(&motion).ok_or("no such clip")?;
    let n_frames = n_frames.min(clip.frames().len() as u32);
    let clip = trim(&clip, FrameIndex(0)..FrameIndex(n_frames))?;

    let mut made = Vec::new();
    for name in names.iter().filter(|name| !name.ends_with(".glb")) {
        let (kind, fabric) = match name.split_once(':') {
            Some((kind, fabric)) => (kind, Some(fabric)),
            None => (name.as_str(), None),
        };
        let (kind, n_triangles) = match kind.split_once('@') {
            Some((kind, n)) => (kind, n.parse()?),
            None => (kind, 3000),
        };
        let kind = GarmentKind::named(kind).ok_or("no such garment")?;
        let config = DraftConfig {
            n_triangles,
            ..DraftConfig::default()
        };
        let garment = draft(kind, &body, &shape, &config)?;
        let fabric = fabric.unwrap_or(kind.fabric());
        made.push((garment, load::load_fabric(fabric)?.fabric));
    }
    let layers: Vec<Layer<'_>> = made
        .iter()
        .map(|(garment, fabric)| Layer { garment, fabric })
        .collect();
    let begun = Instant::now();
    let config = WearConfig::default();
    let outfit = SimulatedGarment::outfit(&layers, &body, &shape, clip.frame_rate(), config)?;
    println!(
        "{} vertices, {:?} in {:.2} s",
        outfit.topology().n_vertices(),
        outfit.layering(),
        begun.elapsed().as_secs_f64()
    );
    let mut animation = Animation::new(&body, &shaped, &clip);
    let garments: Vec<_> = made.iter().map(|(garment, _)| garment).collect();
    let ended = animation.wear_outfit(&garments, &outfit, |frame| {
        println!("frame {frame}: {:.2} s", begun.elapsed().as_secs_f64());
        true
    })?;
    assert_eq!(ended, RollOut::Done);
    let mut worst = 0;
    for frame in 0..clip.frames().len() {
        let baked = animation.garments.iter();
        let x: Vec<_> = baked
            .flat_map(|baked| &baked.frames[frame])
            .map(|p| p.as_dvec3())
            .collect();
        let boxes = MeshBoxes::new(outfit.topology(), &x);
        worst = worst.max(self_crossings(&boxes, &x).len());
    }
    println!("at most {worst} crossings in a frame");
    if let Some(path) = names.iter().find(|name| name.ends_with(".glb")) {
        animation.write_glb(&mut BufWriter::new(File::create(path)?))?;
    }
    Ok(())
}
