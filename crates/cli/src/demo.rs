//! `drapery demo`: the whole road on what is built in. The mannequin in a skinned
//! dress; then another that is simulated, learned and animated, by the same commands
//! that a user would type.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use drapery::core::FrameRate;
use drapery::scene::preflight::{MadeFor, check_garment_made_for};
use drapery::view::page::Page;
use drapery::view::picture::{Image, Size, View, animation_png, sheet};
use serde_json::json;

use crate::args::{Args, Demo, Dressed};
use crate::picture::{Look, contact_sheet, pictures};
use crate::say::Say;
use crate::stage::{Stage, Wearing, correction, read_models};
use crate::{Answer, animate, record, stop, view, write};

const CHARACTER: &str = "mannequin";
const DRESS: &str = "dress-a-line";
/// Motions of the skinned dress.
const SKINNED: [&str; 3] = ["walk", "turn-90", "dance-waltz"];
/// What is learned is shown in this, which no model has seen.
const UNSEEN: &str = "turn-45-right";

/// What models learn from: minutes of work, and enough to see what they do.
const SCENE: &str = "\
# A wool dress on motions that are built in; turn-45-right is never trained on.

[character]
model = \"mannequin\"
shapes = [{ male = -1.0 }]
made_for = { male = -1.0 }

[[garment]]
pattern = \"dress-fitted\"
name = \"dress\"
size = \"XL\"
fabric = \"wool-worsted\"
triangles = 1456

[motion]
clips = [
    { motion = \"walk\", trim = [0, 60] },
    { motion = \"run\", trim = [0, 45] },
    { motion = \"walk-stop\", trim = [40, 100] },
    { motion = \"turn-45\", trim = [20, 80] },
    { motion = \"turn-90\", trim = [20, 90] },
    { motion = \"turn-90-right\", trim = [20, 90] },
    { motion = \"turn-45-right\", trim = [20, 80] },
]
test = [\"turn-45-right\"]
stops = 1
stop_hold = 0.6
";

/// What came of an act.
struct Row {
    clip: &'static str,
    method: String,
    n_frames: usize,
    n_vertices: usize,
    frame_ms: f64,
    n_findings: usize,
    file: String,
}

/// What a demo has so far.
struct Show<'a> {
    out: &'a Path,
    look: Look,
    rows: Vec<Row>,
    film: Option<(String, Vec<u8>)>,
    sheets: Vec<(String, Image)>,
}

pub(crate) fn run(plan: &Demo, say: &Say) -> anyhow::Result<Answer> {
    if plan.view {
        view::check(plan.port)?;
    }
    if plan.out.to_str().is_none() {
        bail!("--out {}: the name is not UTF-8", plan.out.display());
    }
    write::folder(&plan.out)?;
    let started = Instant::now();
    let mut show = Show {
        out: &plan.out,
        look: Look {
            view: View::three_quarter(),
            size: Size::new(270, 360),
            wireframe: false,
            colour: None,
            colour_range: 1.0,
        },
        rows: Vec::new(),
        film: None,
        sheets: Vec::new(),
    };
    for clip in SKINNED {
        let stage = Stage::load(&dressed(Some(DRESS), clip), say)?;
        show.act(&stage, Wearing::Skinned, "skinning", clip, say)?;
    }
    if !plan.quick {
        learn(plan, say)?;
        let models = read_models(&[plan.out.join(MODEL)])?;
        let stage = Stage::load_for(&models, &dressed(None, UNSEEN), say)?;
        let method = models[0].head().method.clone();
        let wearing = Wearing::Models(&models, correction(false));
        show.act(&stage, wearing, &method, UNSEEN, say)?;
    }
    show.finish(plan, say)?;
    say.note(format_args!(
        "done in {:.1} s; open {}",
        started.elapsed().as_secs_f64(),
        plan.out.join("index.html").display()
    ));
    if plan.view {
        let what = [DATASET, MODEL, LINEAR].map(|name| plan.out.join(name));
        let [dataset, model, linear] = what.map(|path| path.to_string_lossy().into_owned());
        let port = plan.port.to_string();
        typed(&["view", &dataset, &model, &linear, "--port", &port], say)?;
    }
    Ok(Answer::Yes)
}

const SCENE_FILE: &str = "dress.toml";
const DATASET: &str = "dress";
const MODEL: &str = "dress.drapery";
const LINEAR: &str = "dress-linear.drapery";
const REPORT: &str = "eval.html";

/// Simulates, trains and evaluates.
fn learn(plan: &Demo, say: &Say) -> anyhow::Result<()> {
    write::file(&plan.out.join(SCENE_FILE), SCENE.as_bytes())?;
    let at = |name: &str| plan.out.join(name).to_string_lossy().into_owned();
    let (scene, dataset, model, linear) = (at(SCENE_FILE), at(DATASET), at(MODEL), at(LINEAR));
    let report = at(REPORT);
    let frames = plan.frames.map(|n| n.to_string());
    let mut simulate = vec!["simulate", &scene, "--out", &dataset];
    if let Some(frames) = &frames {
        simulate.extend(["--frames", frames]);
    }
    typed(&simulate, say)?;
    let dims = ["--dims", "24"];
    let train = ["train", "stable-space", &dataset, "--out", &model];
    typed(&[&train[..], &dims].concat(), say)?;
    let train = ["train", "linear", &dataset, "--out", &linear];
    typed(&[&train[..], &dims].concat(), say)?;
    let eval = ["eval", &model, &linear, "--dataset", &dataset];
    typed(&[&eval[..], &["--report", &report]].concat(), say)
}

/// Runs a command as if it had been typed.
fn typed(words: &[&str], say: &Say) -> anyhow::Result<()> {
    stop::check()?;
    let line = format!("drapery {}", words.join(" "));
    say.note(format_args!("$ {line}"));
    let args = Args::try_parse_from(std::iter::once(&"drapery").chain(words))
        .with_context(|| line.clone())?;
    match crate::run(&args.command, say)? {
        Answer::Yes => Ok(()),
        Answer::No => bail!("{line} did not end well"),
    }
}

fn dressed(garment: Option<&str>, clip: &str) -> Dressed {
    Dressed {
        character: Some(CHARACTER.to_string()),
        garment: garment.map(str::to_string).into_iter().collect(),
        motion: Some(clip.to_string()),
        ..Dressed::default()
    }
}

impl Show<'_> {
    /// One motion of the mannequin: a file, pictures and a row.
    fn act(
        &mut self,
        stage: &Stage,
        wearing: Wearing<'_>,
        method: &str,
        clip: &'static str,
        say: &Say,
    ) -> anyhow::Result<()> {
        stop::check()?;
        let garment = &stage.garments[0];
        let findings = match wearing {
            Wearing::Skinned => check_garment_made_for(
                garment,
                Some((&stage.character, &stage.body)),
                MadeFor::Wearer,
            ),
            _ => Vec::new(),
        };
        let baking = Instant::now();
        let animation = stage.animate_by(wearing, say)?;
        let n_frames = animation.clip.frames().len();
        let frame_ms = 1000.0 * baking.elapsed().as_secs_f64() / n_frames as f64;
        let name = garment.name();
        let file = format!("{name}-{clip}-{method}.glb");
        animate::glb(&animation, &self.out.join(&file))?;
        let title = format!("{name}, {clip}, {method}");
        let sheet = contact_sheet(&animation, 0, 6, &self.look, &title, say)?;
        self.sheets.push((title.clone(), sheet));
        // The walk, until there is something that has learned.
        if clip == "walk" || clip == UNSEEN {
            let frames: Vec<usize> = (0..n_frames).step_by(3).collect();
            let images = pictures(&animation, &frames, &self.look, say)?;
            let rate = FrameRate::new(animation.clip.frame_rate().hz() / 3.0)?;
            self.film = Some((title.clone(), animation_png(&images, rate)?));
        }
        let n_vertices = garment.mesh().positions().len();
        say.note(format_args!(
            "{title}: {n_frames} frames of {n_vertices} vertices, {file}"
        ));
        self.rows.push(Row {
            clip,
            method: method.to_string(),
            n_frames,
            n_vertices,
            frame_ms,
            n_findings: findings.len(),
            file,
        });
        Ok(())
    }

    /// Writes the page and says what there is.
    fn finish(&self, plan: &Demo, say: &Say) -> anyhow::Result<()> {
        let Self {
            rows, film, sheets, ..
        } = self;
        let all: Vec<Image> = sheets.iter().map(|(_, image)| image.clone()).collect();
        write::file(
            &plan.out.join("sheet.png"),
            &sheet(&all, 1, &[], "")?.png()?,
        )?;
        if let Some((_, film)) = film {
            write::file(&plan.out.join("film.png"), film)?;
        }
        let page = page(rows, film.as_ref(), sheets, !plan.quick)?;
        write::file(&plan.out.join("index.html"), page.as_bytes())?;
        record::write(
            &plan.out.join("run.json"),
            "demo",
            json!({ "quick": plan.quick, "frames": plan.frames }),
            &[],
        )?;
        for row in rows {
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
        Ok(())
    }
}

fn page(
    rows: &[Row],
    film: Option<&(String, Vec<u8>)>,
    sheets: &[(String, Image)],
    has_learned: bool,
) -> anyhow::Result<String> {
    let mut page = Page::new("drapery: clothes on a mannequin").paragraph(
        "A person made by code, clothes drafted for her and her motions, all built in. By the \
         method called skinning a garment follows the joints as the body does, with weights taken \
         from the skin beneath it; every other method is compared with that. Times are of the \
         machine that made this page, of body and garment, files and pictures left out.",
    );
    if has_learned {
        page = page
            .paragraph(
                "Another dress was simulated as cloth on six motions and copies of them that stop; \
                 what is seen here is a model that learned from that, in a motion that it never \
                 saw, pushed out of the body where that is needed.",
            )
            .link(
                REPORT,
                "How far it is from the simulation, with a clip to play",
            )
            .link("dress.report.html", "How the simulation went")
            .link(SCENE_FILE, "The scene, to begin your own with");
    }
    if let Some((title, film)) = film {
        page = page.image_png(film, &format!("{title}, every third frame"));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.clip.to_string(),
            row.method.clone(),
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
