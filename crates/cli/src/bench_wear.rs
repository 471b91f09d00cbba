//! `drapery bench wear`: how well garments are worn, motion by motion.
//!
//! Every motion and garment make a pair. A pair that is done is written at
//! once; running the command again goes on with those that are missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, FrameIndex};
use drapery::scene::motion::trim;
use serde_json::Value;

use crate::args::{MotionReading, WearBench};
use crate::bench::pool_of;
use crate::say::Say;
use crate::source::Worn;
use crate::stage::warn_of_misfit;
use crate::wear_ledger::{Ledger, PairName};
use crate::wear_pair::{self, Wardrobe};
use crate::wear_table::{ended, failed, table};
use crate::{Answer, source, stop, workers, write};

pub(crate) fn run(plan: &WearBench, say: &Say) -> anyhow::Result<Answer> {
    write::check("--out", &plan.out)?;
    let fabric = source::fabric(&plan.cloth.fabric, say)?;
    let character = source::character(&plan.character, say)?;
    let body = source::shaped(&character, &plan.shape, say)?;
    let abduction = plan.manifest.as_deref().map(abductions).transpose()?;
    let mut garments: Vec<Worn> = Vec::new();
    for name in &plan.garment {
        let worn = source::garment_for(name, plan.pattern, &character, &body, say)?;
        warn_of_misfit(&worn, &character, &body, say);
        garments.push(worn);
    }
    different("garments", garments.iter().map(|w| w.garment.name()))?;
    let mut ledger = Ledger::open(&plan.out, &serde_json::to_value(plan)?)?;
    let mut motions = Vec::new();
    for name in &plan.motion {
        let mut reading: MotionReading = plan.reading.clone();
        if let Some(table) = &abduction {
            reading.arm_abduction_deg = *table
                .get(file_name(name))
                .with_context(|| format!("--manifest has no row for {name}"))?;
        }
        let clip = source::put_and_cleaned(name, &reading, &body, character.skeleton(), say)?;
        motions.push(Motion {
            clip: first_frames(clip, plan.frames)?,
            parted: Mutex::new(None),
        });
    }
    different("motions", motions.iter().map(|motion| motion.clip.name()))?;
    let pairs: Vec<Pair<'_>> = motions
        .iter()
        .flat_map(|motion| garments.iter().map(move |worn| Pair { motion, worn }))
        .collect();
    let todo: Vec<Pair<'_>> = pairs
        .iter()
        .copied()
        .filter(|pair| match ledger.get(&pair.name()) {
            Some(known) => plan.retry && failed(known),
            None => true,
        })
        .collect();
    if todo.len() < pairs.len() {
        say.note(format_args!(
            "{}: {} of {} pairs are there already",
            plan.out.display(),
            pairs.len() - todo.len(),
            pairs.len(),
        ));
    }
    let wardrobe = Wardrobe {
        character: &character,
        body: &body,
        method: plan.method,
        fabric: &fabric,
    };
    let work = Work {
        wardrobe,
        todo,
        part_limbs: plan.reading.part_limbs,
    };
    work.run(&mut ledger, threads(plan), say)?;
    stop::check()?;
    let names = pairs.iter().map(Pair::name);
    let found: Vec<&Value> = names.filter_map(|name| ledger.get(&name)).collect();
    let any_failed = found.iter().any(|pair| failed(pair));
    say.end(table(&found))?;
    Ok(match any_failed {
        true => Answer::No,
        false => Answer::Yes,
    })
}

/// A motion of the plan.
struct Motion {
    clip: Clip,
    /// With its limbs parted, once a pair has asked for that: it takes minutes.
    parted: Mutex<Option<Arc<Clip>>>,
}

/// A garment on a motion.
#[derive(Clone, Copy)]
struct Pair<'a> {
    motion: &'a Motion,
    worn: &'a Worn,
}

impl Pair<'_> {
    fn name(&self) -> PairName {
        PairName {
            clip: self.motion.clip.name().to_string(),
            garment: self.worn.garment.name().to_string(),
        }
    }

    fn n_frames(&self) -> usize {
        self.motion.clip.frames().len()
    }
}

/// How many pairs run at once, and threads each.
struct Threads {
    at_once: usize,
    each: usize,
}

fn threads(plan: &WearBench) -> Threads {
    let all = plan.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let at_once = plan.at_once.map_or(all, usize::from);
    Threads {
        at_once,
        each: (all / at_once).max(1),
    }
}

/// The pairs that are missing.
struct Work<'a> {
    wardrobe: Wardrobe<'a>,
    todo: Vec<Pair<'a>>,
    part_limbs: bool,
}

impl Work<'_> {
    /// Runs pairs and adds them to the ledger as they are done.
    fn run(&self, ledger: &mut Ledger, threads: Threads, say: &Say) -> anyhow::Result<()> {
        let all: usize = self.todo.iter().map(Pair::n_frames).sum();
        let bar = say.progress(all as u64, "frames");
        let (next, start) = (AtomicUsize::new(0), Instant::now());
        // Frames of pairs that are done or given up, and of those under way.
        let gone = AtomicUsize::new(0);
        let ledger = Mutex::new((ledger, 0));
        let worker = || -> anyhow::Result<()> {
            let pool = pool_of(threads.each)?;
            while let Some(pair) = self.todo.get(next.fetch_add(1, Ordering::SeqCst)) {
                let mut counted = 0;
                let each = || {
                    counted += 1;
                    gone.fetch_add(1, Ordering::SeqCst);
                    bar.inc(1);
                };
                let clip = self.clip_of(pair, |remark| {
                    bar.suspend(|| say.note(format_args!("{remark}")));
                })?;
                let run = || wear_pair::run(&self.wardrobe, &clip, pair.worn, each);
                let Some(data) = pool.install(run) else {
                    return Ok(());
                };
                // A pair that failed has no frames left.
                let left = pair.n_frames() - counted;
                bar.inc(left as u64);
                let gone = gone.fetch_add(left, Ordering::SeqCst) + left;
                let remaining = start.elapsed().as_secs_f64() * (all - gone) as f64 / gone as f64;
                let mut guard = ledger.lock().unwrap_or_else(PoisonError::into_inner);
                let (ledger, n_done) = &mut *guard;
                *n_done += 1;
                bar.suspend(|| {
                    say.note(format_args!(
                        "[{n_done}/{}] {}; {} left",
                        self.todo.len(),
                        line(&data),
                        time(remaining)
                    ));
                });
                if say.is_json() {
                    say.result("wear", &data, "")?;
                }
                ledger.add(pair.name(), data)?;
            }
            Ok(())
        };
        let done = workers::together(threads.at_once, worker);
        bar.finish_and_clear();
        done
    }

    /// The clip of a pair, with its limbs parted if that is asked for: by the first pair
    /// that needs it, while others of the same motion wait.
    fn clip_of(&self, pair: &Pair<'_>, say: impl Fn(&str)) -> anyhow::Result<Arc<Clip>> {
        let motion = pair.motion;
        let mut parted = motion.parted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clip) = &*parted {
            return Ok(Arc::clone(clip));
        }
        let clip = match self.part_limbs {
            true => {
                let Wardrobe {
                    character, body, ..
                } = self.wardrobe;
                let (clip, remark) = source::part(&motion.clip, body, character, |_| {})?;
                remark.iter().for_each(|remark| say(remark));
                clip
            }
            false => motion.clip.clone(),
        };
        Ok(Arc::clone(parted.insert(Arc::new(clip))))
    }
}

/// A pair in a line.
fn line(data: &Value) -> String {
    let name = |key: &str| data[key].as_str().unwrap_or("?");
    let mut text = format!("{}, {}: {}", name("clip"), name("garment"), ended(data));
    for (key, unit) in [
        ("frames", " frames"),
        ("s_per_frame", " s a frame"),
        ("penetration_max_mm", " mm deep"),
        ("stretch_p99_percent", " % stretch"),
    ] {
        if let Some(value) = data[key].as_f64() {
            text += &match data[key].is_u64() {
                true => format!(", {value}{unit}"),
                false => format!(", {value:.2}{unit}"),
            };
        }
    }
    text
}

/// Seconds as people say them.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn first_frames(clip: Clip, most: Option<u32>) -> anyhow::Result<Clip> {
    let n_frames = clip.frames().len() as u32;
    match most {
        Some(most) if most < n_frames => {
            let name = clip.name().to_string();
            Ok(trim(&clip, FrameIndex(0)..FrameIndex(most))?.renamed(name))
        }
        _ => Ok(clip),
    }
}

/// Pairs go by names.
fn different<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => bail!("two {what} are called {}; rename one", twice[0]),
        None => Ok(()),
    }
}

fn file_name(path: &str) -> &str {
    Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(path)
}

/// How far arms are turned outwards in each motion file [degrees].
fn abductions(path: &Path) -> anyhow::Result<BTreeMap<String, f64>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse_abductions(&text).with_context(|| format!("in {}", path.display()))
}

fn parse_abductions(text: &str) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut lines = text.lines();
    let heading = lines.next().context("it is empty")?;
    let column = |name: &str| {
        let at = cells(heading).iter().position(|c| c == name);
        at.with_context(|| format!("there is no column {name}"))
    };
    let (file, degrees) = (column("file")?, column("arm_abduction_deg")?);
    let mut table = BTreeMap::new();
    for (number, line) in lines.enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let cells = cells(line);
        let row = || -> Option<(String, f64)> {
            let degrees = cells.get(degrees)?.parse().ok();
            let degrees = degrees.filter(|d: &f64| d.abs() <= 90.0)?;
            Some((cells.get(file)?.to_string(), degrees))
        };
        let (file, degrees) = row().with_context(|| format!("line {} is no row", number + 2))?;
        table.insert(file, degrees);
    }
    Ok(table)
}

/// The cells of a line of CSV; commas between quotes are part of a cell.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    cells.iter().map(|c| c.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_turned_as_the_manifest_says() {
        let text = "id,what,arm_abduction_deg,file\n07_02,\"walk, then stop\",10,07_02.bvh\n\n91_62,walk,0,91_62.bvh\n";
        let table = parse_abductions(text).unwrap();
        assert_eq!(table["07_02.bvh"], 10.0);
        assert_eq!(table["91_62.bvh"], 0.0);
        for bad in ["", "id,file\na,b", "file,arm_abduction_deg\na,ten\n"] {
            assert!(parse_abductions(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn names_must_differ() {
        assert!(different("motions", ["a", "b"].into_iter()).is_ok());
        assert!(different("motions", ["a", "b", "a"].into_iter()).is_err());
    }
}
