//! `drapery demo`: the whole road so far on what is built in.

use std::time::Instant;

use drapery::core::BodyModel;
use drapery::scene::preflight::check_garment;
use drapery::view::page::Page;
use drapery::view::picture::{Size, View, animation_png};
use serde_json::json;

use crate::args::{Demo, Dressed};
use crate::picture::{Look, contact_sheet, pictures};
use crate::say::Say;
use crate::stage::Stage;
use crate::{Answer, animate, record, stop, write};

pub(crate) fn run(plan: &Demo, say: &Say) -> anyhow::Result<Answer> {
    write::folder(&plan.out)?;
    let started = Instant::now();
    let mut rows = Vec::new();
    let mut films = Vec::new();
    let mut sheets = Vec::new();
    let plain = Look {
        view: View::three_quarter(),
        size: Size::new(270, 360),
        wireframe: false,
        colour: None,
        colour_range: 1.0,
    };
    for clip in drapery::scene::builtin::TUBE_CLIPS {
        stop::check()?;
        // A twist of something round shows in its lines alone.
        let look = Look {
            wireframe: *clip == "twist",
            ..plain
        };
        let stage = Stage::load(&dressed(clip), say)?;
        let findings = check_garment(&stage.garments[0], Some((&stage.character, &stage.body)));
        let baking = Instant::now();
        let animation = stage.animate(say)?;
        let n_frames = animation.clip.frames().len();
        let frame_ms = 1000.0 * baking.elapsed().as_secs_f64() / n_frames as f64;
        let file = format!("sleeve-{clip}.glb");
        animate::glb(&animation, &plan.out.join(&file))?;
        let sheet = contact_sheet(
            &animation,
            0,
            6,
            &look,
            &format!("tube in a sleeve: {clip}"),
            say,
        )?;
        sheets.push((*clip, sheet));
        if *clip == "bend" {
            let frames: Vec<usize> = (0..n_frames).step_by(3).collect();
            let images = pictures(&animation, &frames, &look, say)?;
            let rate = drapery::core::FrameRate::new(animation.clip.frame_rate().hz() / 3.0)?;
            films.push(animation_png(&images, rate)?);
        }
        let n_vertices = stage.garments[0].mesh().positions().len();
        say.note(format_args!(
            "{clip}: {n_frames} frames of {n_vertices} vertices, {file}"
        ));
        rows.push((*clip, n_frames, n_vertices, frame_ms, findings.len(), file));
    }
    let all: Vec<_> = sheets.iter().map(|(_, image)| image.clone()).collect();
    let contact = drapery::view::picture::sheet(&all, 1, &[], "")?;
    write::file(&plan.out.join("sheet.png"), &contact.png()?)?;
    if let Some(film) = films.first() {
        write::file(&plan.out.join("bend.png"), film)?;
    }
    let page = page(&rows, films.first(), &sheets)?;
    write::file(&plan.out.join("index.html"), page.as_bytes())?;
    record::write(
        &plan.out.join("run.json"),
        "demo",
        json!({ "method": "skinning" }),
        &[],
    )?;
    for (clip, frames, vertices, frame_ms, findings, file) in &rows {
        let data = json!({
            "clip": clip, "method": "skinning", "frames": frames, "vertices": vertices,
            "frame_ms": frame_ms, "findings": findings, "file": file,
        });
        let text = format!(
            "{clip:<6} skinning  {frames} frames  {vertices} vertices  {frame_ms:.3} ms a frame  \
             {findings} findings  {file}"
        );
        say.result("demo", data, text)?;
    }
    say.note(format_args!(
        "done in {:.1} s; open {}",
        started.elapsed().as_secs_f64(),
        plan.out.join("index.html").display()
    ));
    Ok(Answer::Yes)
}

/// The tube in its sleeve.
fn dressed(clip: &str) -> Dressed {
    Dressed {
        character: Some("tube".to_string()),
        garment: vec!["sleeve".to_string()],
        motion: Some(clip.to_string()),
        ..Dressed::default()
    }
}

type Row = (&'static str, usize, usize, f64, usize, String);

fn page(
    rows: &[Row],
    film: Option<&Vec<u8>>,
    sheets: &[(&str, drapery::view::picture::Image)],
) -> anyhow::Result<String> {
    let n_joints = drapery::scene::builtin::character("tube").map_or(0, |c| c.skeleton().len());
    let mut page = Page::new("drapery: a sleeve on a bending tube").paragraph(&format!(
        "A character of {n_joints} joints, a sleeve sewn from one panel and three motions, all built in. \
         The sleeve took its skinning weights from the tube beneath it and follows the joints as the \
         tube does: the method called skinning, which every other one is compared with. Times are of \
         the machine that made this page, skinning of body and garment included, files and pictures \
         left out."
    ));
    if let Some(film) = film {
        page = page.image_png(film, "bend, every third frame");
    }
    let cells = rows
        .iter()
        .map(|(clip, frames, vertices, frame_ms, findings, file)| {
            vec![
                (*clip).to_string(),
                "skinning".to_string(),
                frames.to_string(),
                vertices.to_string(),
                format!("{frame_ms:.3}"),
                findings.to_string(),
                file.clone(),
            ]
        });
    let headers = [
        "clip",
        "method",
        "frames",
        "vertices",
        "ms a frame",
        "pre-flight findings",
        "file",
    ];
    page = page.table(&headers, &cells.collect::<Vec<_>>());
    for (clip, sheet) in sheets {
        page = page.image_png(&sheet.png()?, &format!("{clip}, six frames"));
    }
    for (_, _, _, _, _, file) in rows {
        page = page.link(
            file,
            &format!("{file}: opens in Blender and in glTF viewers"),
        );
    }
    Ok(page.finish())
}
