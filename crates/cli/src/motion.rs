//! `drapery motion info|edit`.

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, FrameIndex, FrameRate, JointId, Seconds};
use drapery::scene::motion::{
    AfterStop, LengthUnit, blend, bvh_from_clip, change_speed, clean, find_drift, find_jumps,
    footing, insert_stop, mirror, resample, trim, write_clip_npz,
};
use drapery::store::bvh;
use serde_json::json;

use crate::args::{Motion, MotionEdit, MotionReading, Shape};
use crate::record::Input;
use crate::say::Say;
use crate::{Answer, record, source, write};

pub(crate) fn run(command: &Motion, say: &Say) -> anyhow::Result<Answer> {
    match command {
        Motion::Info { motion, reading } => {
            let loaded = source::motion(motion, reading, say)?;
            let clip = &cleaned(loaded.clip, reading, say);
            let feet = footing(clip);
            let jumps = find_jumps(clip);
            let drift = find_drift(clip, clip.skeleton().rest());
            let name_of = |joint: Option<JointId>| match joint {
                Some(joint) => clip.skeleton().names()[joint.index()].as_str(),
                None => "the root's path",
            };
            let data = json!({
                "jumps": jumps.iter().map(|jump| json!({
                    "frame": jump.frame,
                    "joint": jump.joint.map(|_| name_of(jump.joint)),
                    "change": jump.change,
                })).collect::<Vec<_>>(),
                "floor_drift_m": drift.as_ref().map(|d| d.most()),
                "standing_soles_m": drift.as_ref().map(|d| d.standing),
                "standing_frames": drift.as_ref().map(|d| d.n_standing),
                "foot_slide_m": feet.map(|f| f.slide),
                "sole_lowest_m": feet.map(|f| f.lowest),
                "airborne_share": feet.map(|f| f.airborne),
                "frames": clip.frames().len(),
                "frame_rate": clip.frame_rate().hz(),
                "seconds": clip.duration().0,
                "joints": clip.skeleton().len(),
                "joint_names": clip.skeleton().names(),
                "unit_m": loaded.unit_m,
                "up": loaded.up.to_string(),
                "facing": loaded.facing.to_string(),
                "first_row": loaded.first_row,
            });
            let text = format!(
                "{motion}: {} frames at {} Hz ({:.2} s), {} joints, unit {:.6} m, up {}",
                clip.frames().len(),
                clip.frame_rate().hz(),
                clip.duration().0,
                clip.skeleton().len(),
                loaded.unit_m,
                loaded.up,
            );
            let text = match feet {
                Some(feet) => format!(
                    "{text}\nplanted feet slide by at most {:.2} cm, soles come down to {:.1} cm, {:.0} % of the frames in the air",
                    100.0 * feet.slide,
                    100.0 * feet.lowest,
                    100.0 * feet.airborne
                ),
                None => text,
            };
            let mut text = text;
            if let Some(drift) = drift.filter(|d| d.matters()) {
                text += &format!(
                    "\nthe floor is up to {:.1} cm off: soles stand at {:.1} to {:.1} cm; --clean levels it to {:.1} to {:.1}",
                    100.0 * drift.most(),
                    100.0 * drift.standing[0],
                    100.0 * drift.standing[1],
                    100.0 * drift.levelled[0],
                    100.0 * drift.levelled[1]
                );
            }
            for jump in &jumps {
                text += &format!(
                    "\nframe {}: {} jumps ({:.0} {}); --clean mends it",
                    jump.frame,
                    name_of(jump.joint),
                    jump.change,
                    match jump.joint {
                        Some(_) => "rad/s²",
                        None => "m/s²",
                    }
                );
            }
            say.result("motion", data, text)?;
            Ok(Answer::Yes)
        }
        Motion::Edit(plan) => edit(plan, say),
    }
}

/// The clip, cleaned if that was asked for.
fn cleaned(clip: Clip, reading: &MotionReading, say: &Say) -> Clip {
    if !reading.clean {
        return clip;
    }
    let cleaned = clean(&clip, clip.skeleton().rest());
    if let Some(what) = source::cleaning(&cleaned) {
        say.note(format_args!("{}: {what}", clip.name()));
    }
    cleaned.clip
}

/// What the result is written as.
enum Format {
    Bvh,
    Npz,
}

fn edit(plan: &MotionEdit, say: &Say) -> anyhow::Result<Answer> {
    let format = match write::check("--out", &plan.out)?.as_str() {
        "bvh" => Format::Bvh,
        "npz" => Format::Npz,
        _ => bail!(
            "--out {}: a motion is written as .bvh or .npz",
            plan.out.display()
        ),
    };
    if plan.reading.arm_abduction_deg != 0.0 && plan.to.is_none() {
        bail!("--arm-abduction-deg turns arms while retargeting: it needs --to CHARACTER");
    }
    if plan.reading.part_limbs && plan.to.is_none() {
        bail!("--part-limbs parts the limbs of a body: it needs --to CHARACTER");
    }
    let target = match &plan.to {
        Some(name) => {
            let model = source::character(name, say)?;
            let body = source::shaped(&model, &Shape::default(), say)?;
            Some((model, body))
        }
        None => None,
    };
    // Clips that are to be joined are put on the same skeleton first.
    let on_target = |clip: Clip| match &target {
        Some((model, body)) => source::put_on(clip, &plan.reading, body, model.skeleton(), say),
        None => Ok(clip),
    };
    let mut clip = on_target(edited(&plan.motion, plan, say)?)?;
    if let Some(next) = &plan.then {
        let next = source::motion(next, &plan.reading, say)?.clip;
        let next = on_target(cleaned(next, &plan.reading, say))?;
        clip = blend(&clip, &next, Seconds(plan.overlap_secs)).context("--then")?;
    }
    if let Some((model, body)) = &target {
        clip = source::parted(clip, &plan.reading, body, model, say)?;
    }
    if let Some(hz) = plan.resample {
        clip = resample(&clip, FrameRate::new(hz).context("--resample")?)?;
    }
    let bytes = match format {
        Format::Bvh => bvh::write(&bvh_from_clip(&clip, LengthUnit::Metre))?.into_bytes(),
        Format::Npz => write_clip_npz(&clip),
    };
    write::file(&plan.out, &bytes)?;
    let inputs = [Some(&plan.motion), plan.then.as_ref(), plan.to.as_ref()];
    let inputs = inputs.into_iter().flatten().map(|name| Input::of(name));
    let inputs = inputs.collect::<anyhow::Result<Vec<_>>>()?;
    record::write(&record::beside(&plan.out), "motion edit", plan, &inputs)?;
    let data = json!({
        "file": plan.out.to_string_lossy(),
        "clip": clip.name(),
        "frames": clip.frames().len(),
        "frame_rate": clip.frame_rate().hz(),
        "joints": clip.skeleton().len(),
    });
    let text = format!(
        "{}: {} frames at {} Hz, {} joints",
        plan.out.display(),
        clip.frames().len(),
        clip.frame_rate().hz(),
        clip.skeleton().len()
    );
    say.result("motion-file", data, text)?;
    Ok(Answer::Yes)
}

/// The edits that concern one clip alone.
fn edited(motion: &str, plan: &MotionEdit, say: &Say) -> anyhow::Result<Clip> {
    let clip = source::motion(motion, &plan.reading, say)?.clip;
    let mut clip = cleaned(clip, &plan.reading, say);
    if plan.trim.is_some() {
        let range = source::frame_range("--trim", plan.trim.as_deref(), clip.frames().len())?;
        clip = trim(
            &clip,
            FrameIndex(range.start as u32)..FrameIndex(range.end as u32),
        )?;
    }
    if let Some(factor) = plan.speed {
        clip = change_speed(&clip, factor).context("--speed")?;
    }
    if let Some(frame) = plan.stop_at {
        let after = if plan.go_on {
            AfterStop::Continue
        } else {
            AfterStop::End
        };
        let (hold, ease) = (Seconds(plan.hold_secs), Seconds(plan.ease_secs));
        clip = insert_stop(&clip, FrameIndex(frame), hold, ease, after).context("--stop-at")?;
    }
    if plan.mirror {
        let mirrored = mirror(&clip).context("--mirror")?;
        for note in &mirrored.notes {
            say.note(format_args!("{}: {note}", clip.name()));
        }
        clip = mirrored.clip;
    }
    Ok(clip)
}
