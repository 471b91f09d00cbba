//! `drapery view`: a dataset, models of its garments and clips in the browser.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use drapery::Exhibition;
use drapery::core::BodyModel;
use drapery::runtime::Model;
use drapery::scene::motion::resample;
use drapery::view::has_viewer_page;
use drapery::view::server::{Server, ServerConfig};
use serde_json::json;

use crate::args::View;
use crate::say::Say;
use crate::stage::read_model;
use crate::{Answer, dataset, source, stop};

/// That there is a page, and a port for it on this machine.
pub(crate) fn check(port: u16) -> anyhow::Result<()> {
    has_page()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).with_context(|| cannot_listen(address))?;
    Ok(())
}

fn has_page() -> anyhow::Result<()> {
    if !has_viewer_page() {
        bail!(
            "this program was built without the viewer's page: install Node 20 or later, then build it again"
        );
    }
    Ok(())
}

fn cannot_listen(address: SocketAddr) -> String {
    match address.ip().is_loopback() {
        true => format!("cannot listen on {address}; --port 0 takes a free port"),
        false => format!("cannot listen on {address}; is --bind an address of this machine?"),
    }
}

pub(crate) fn run(plan: &View, say: &Say) -> anyhow::Result<Answer> {
    has_page()?;
    let mut exhibition = open(plan, say)?;
    for name in &plan.motion {
        show_motion(&mut exhibition, name, plan, say)?;
    }
    if exhibition.n_clips() == 0 {
        bail!("there is no clip to be shown; give a --motion");
    }
    let title = exhibition.title().to_string();
    let address = SocketAddr::new(plan.bind, plan.port);
    let config = ServerConfig {
        address,
        ..ServerConfig::DEFAULT
    };
    let server =
        Server::bind(config, Arc::new(exhibition)).with_context(|| cannot_listen(address))?;
    let address = server.address()?;
    if !address.ip().is_loopback() {
        say.note(format_args!(
            "{address} can be reached by other machines, who can see all that is shown"
        ));
    }
    let url = format!("http://{address}/");
    say.result(
        "view",
        json!({ "url": url, "shown": plan.what }),
        format_args!("{url} shows {title}; Ctrl-C ends it"),
    )?;
    server.run(&stop::asked)?;
    Ok(Answer::Yes)
}

/// What is to be shown, without clips of one's own.
fn open(plan: &View, say: &Say) -> anyhow::Result<Exhibition> {
    let is_model = |path: &&PathBuf| path.extension().is_some_and(|e| e == "drapery");
    let (models, folders): (Vec<&PathBuf>, Vec<&PathBuf>) = plan.what.iter().partition(is_model);
    let named = |paths: &[&PathBuf]| {
        let all = paths.iter().map(|path| Ok((stem(path), read_model(path)?)));
        all.collect::<anyhow::Result<Vec<(String, Model)>>>()
    };
    match (&folders[..], &plan.character) {
        ([folder], None) => {
            let opened = dataset::open(folder)?;
            let shown = Exhibition::of_dataset(opened, &stem(folder), named(&models)?);
            shown.with_context(|| format!("cannot show {}", folder.display()))
        }
        ([], Some(name)) => {
            let character = source::character(name, say)?;
            let title = models.iter().map(|path| stem(path)).collect::<Vec<_>>();
            let shown = Exhibition::of_models(character, &title.join(", "), named(&models)?);
            shown.with_context(|| format!("cannot show {} on {name}", title.join(", ")))
        }
        ([], None) => bail!("models are shown with a dataset or on a --character"),
        ([file, ..], _) if file.is_file() => bail!(
            "{}: is neither a dataset's folder nor a .drapery model; motions are given by --motion",
            file.display()
        ),
        ([folder, ..], Some(_)) => bail!(
            "{} has its own character; leave out --character",
            folder.display()
        ),
        ([one, other, ..], None) => bail!(
            "{} and {}: one dataset is shown at a time, and models are .drapery files",
            one.display(),
            other.display()
        ),
    }
}

/// Shows one's own motion, at the frame rate of the others.
fn show_motion(
    exhibition: &mut Exhibition,
    name: &str,
    plan: &View,
    say: &Say,
) -> anyhow::Result<()> {
    let character = exhibition.character();
    let body = character.shaped(exhibition.made_for())?;
    let clip = source::motion_on(name, &plan.reading, &body, character, say)?;
    let (own, rate) = (clip.frame_rate().hz(), exhibition.frame_rate());
    let clip = match own == rate.hz() {
        true => clip,
        false => {
            say.note(format_args!(
                "{}: {own} frames a second, shown at {}",
                clip.name(),
                rate.hz()
            ));
            let shown = clip.name().to_string();
            resample(&clip, rate)?.renamed(shown)
        }
    };
    (exhibition.show(&clip)).with_context(|| format!("cannot show {name}"))
}

/// The name of a file or folder without its ending.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
