//! `drapery demo`: the whole road so far on what is built in, the mannequin in
//! a dress.

use std::time::Instant;

use anyhow::Context;
use drapery::core::FrameRate;
use drapery::scene::fabric;
use drapery::scene::preflight::{MadeFor, check_garment_made_for};
use drapery::view::page::Page;
use drapery::view::picture::{Image, Size, View, animation_png, sheet};
use serde_json::json;

use crate::args::{Demo, Dressed, Method};
use crate::picture::{Look, contact_sheet, pictures};
use crate::say::Say;
use crate::stage::{Stage, Wearing};
use crate::{Answer, animate, record, stop, write};

const CHARACTER: &str = "mannequin";
/// What is simulated is made of this.
const FABRIC: &str = "cotton-plain";

/// One motion of the dressed mannequin.
struct Act {
    garment: &'static str,
    clip: &'static str,
    method: Method,
    /// Which frames, if not all.
    frames: Option<&'static str>,
}

const fn skinned(clip: &'static str) -> Act {
    Act {
        garment: "dress-a-line",
        clip,
        method: Method::Skinning,
        frames: None,
    }
}

const SKINNED: [Act; 3] = [skinned("walk"), skinned("turn-90"), skinned("dance-waltz")];

/// Two seconds are enough to see what cloth does that skin does not.
const SIMULATED: Act = Act {
    garment: "skirt",
    clip: "walk",
    method: Method::Simulation,
    frames: Some("0..60"),
};

/// What came of an act.
struct Row {
    clip: &'static str,
    method: &'static str,
    n_frames: usize,
    n_vertices: usize,
    frame_ms: f64,
    n_findings: usize,
    file: String,
}

pub(crate) fn run(plan: &Demo, say: &Say) -> anyhow::Result<Answer> {
    write::folder(&plan.out)?;
    let started = Instant::now();
    let look = Look {
        view: View::three_quarter(),
        size: Size::new(270, 360),
        wireframe: false,
        colour: None,
        colour_range: 1.0,
    };
    let fabric = fabric::preset(FABRIC).context("the fabric is built in")?;
    let mut rows = Vec::new();
    let mut film = None;
    let mut sheets = Vec::new();
    let simulated = plan.simulate.then_some(SIMULATED);
    for act in SKINNED.into_iter().chain(simulated) {
        stop::check()?;
        let stage = Stage::load(&act.dressed(), say)?;
        let findings = check_garment_made_for(
            &stage.garments[0],
            Some((&stage.character, &stage.body)),
            MadeFor::Wearer,
        );
        let baking = Instant::now();
        let animation =
            stage.animate_by(Wearing::by(act.method, std::slice::from_ref(&fabric)), say)?;
        let n_frames = animation.clip.frames().len();
        let frame_ms = 1000.0 * baking.elapsed().as_secs_f64() / n_frames as f64;
        let method = act.method.name();
        let file = format!("{}-{}-{method}.glb", act.garment, act.clip);
        animate::glb(&animation, &plan.out.join(&file))?;
        let title = format!("{}, {}, {method}", act.garment, act.clip);
        sheets.push((
            title.clone(),
            contact_sheet(&animation, 0, 6, &look, &title, say)?,
        ));
        // The last of the walks: the simulated one, if there is one.
        if act.clip == "walk" {
            let frames: Vec<usize> = (0..n_frames).step_by(3).collect();
            let images = pictures(&animation, &frames, &look, say)?;
            let rate = FrameRate::new(animation.clip.frame_rate().hz() / 3.0)?;
            film = Some((title.clone(), animation_png(&images, rate)?));
        }
        let n_vertices = stage.garments[0].mesh().positions().len();
        say.note(format_args!(
            "{title}: {n_frames} frames of {n_vertices} vertices, {file}"
        ));
        rows.push(Row {
            clip: act.clip,
            method,
            n_frames,
            n_vertices,
            frame_ms,
            n_findings: findings.len(),
            file,
        });
    }
    let all: Vec<Image> = sheets.iter().map(|(_, image)| image.clone()).collect();
    write::file(
        &plan.out.join("sheet.png"),
        &sheet(&all, 1, &[], "")?.png()?,
    )?;
    if let Some((_, film)) = &film {
        write::file(&plan.out.join("walk.png"), film)?;
    }
    let page = page(&rows, film.as_ref(), &sheets)?;
    write::file(&plan.out.join("index.html"), page.as_bytes())?;
    record::write(
        &plan.out.join("run.json"),
        "demo",
        json!({ "simulate": plan.simulate }),
        &[],
    )?;
    for row in &rows {
        let Row {
            clip,
            method,
            n_frames,
            n_vertices,
            frame_ms,
            n_findings,
            file,
        } = row;
        let data = json!({
            "clip": clip, "method": method, "frames": n_frames, "vertices": n_vertices,
            "frame_ms": frame_ms, "findings": n_findings, "file": file,
        });
        let text = format!(
            "{clip:<12} {method:<11} {n_frames} frames  {n_vertices} vertices  {frame_ms:.3} ms a frame  \
             {n_findings} findings  {file}"
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

impl Act {
    fn dressed(&self) -> Dressed {
        Dressed {
            character: Some(CHARACTER.to_string()),
            garment: vec![self.garment.to_string()],
            motion: Some(self.clip.to_string()),
            frames: self.frames.map(str::to_string),
            ..Dressed::default()
        }
    }
}

fn page(
    rows: &[Row],
    film: Option<&(String, Vec<u8>)>,
    sheets: &[(String, Image)],
) -> anyhow::Result<String> {
    let mut page = Page::new("drapery: a dress on a walking mannequin").paragraph(
        "A person made by code, clothes drafted for her and her motions, all built in. By the \
         method called skinning a garment follows the joints as the body does, with weights taken \
         from the skin beneath it; every other method is compared with that. By simulation it is \
         cloth that hangs, swings and folds. Times are of the machine that made this page, of body \
         and garment, dressing included, files and pictures left out.",
    );
    if let Some((title, film)) = film {
        page = page.image_png(film, &format!("{title}, every third frame"));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.clip.to_string(),
            row.method.to_string(),
            row.n_frames.to_string(),
            row.n_vertices.to_string(),
            format!("{:.3}", row.frame_ms),
            row.n_findings.to_string(),
            row.file.clone(),
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
    for (title, sheet) in sheets {
        page = page.image_png(&sheet.png()?, &format!("{title}, six frames"));
    }
    for Row { file, .. } in rows {
        page = page.link(
            file,
            &format!("{file}: opens in Blender and in glTF viewers"),
        );
    }
    Ok(page.finish())
}
