//! `drapery view`: a dataset and models of its garments in the browser.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use drapery::DatasetExhibit;
use drapery::runtime::Model;
use drapery::view::has_viewer_page;
use drapery::view::server::{Server, ServerConfig};
use serde_json::json;

use crate::args::View;
use crate::say::Say;
use crate::stage::read_model;
use crate::{Answer, dataset, stop};

pub(crate) fn run(plan: &View, say: &Say) -> anyhow::Result<Answer> {
    if !has_viewer_page() {
        bail!(
            "this program was built without the viewer's page: install Node 20 or later, then build it again"
        );
    }
    let opened = dataset::open(&plan.dataset)?;
    let title = stem(&plan.dataset);
    let models = (plan.model.iter())
        .map(|path| Ok((stem(path), read_model(path)?)))
        .collect::<anyhow::Result<Vec<(String, Model)>>>()?;
    let exhibit = DatasetExhibit::new(opened, &title, models)
        .with_context(|| format!("cannot show {}", plan.dataset.display()))?;
    let config = ServerConfig {
        address: SocketAddr::new(plan.bind, plan.port),
        ..ServerConfig::DEFAULT
    };
    let server = Server::bind(config, Arc::new(exhibit)).with_context(|| {
        format!(
            "cannot listen on {}; --port 0 takes a free port",
            config.address
        )
    })?;
    let address = server.address()?;
    if !address.ip().is_loopback() {
        say.note(format_args!(
            "{address} can be reached by other machines, who can see all of the dataset"
        ));
    }
    let url = format!("http://{address}/");
    say.result(
        "view",
        json!({ "url": url, "dataset": plan.dataset }),
        format_args!("{url} shows {title}; Ctrl-C ends it"),
    )?;
    server.run(&stop::asked)?;
    Ok(Answer::Yes)
}

/// The name of a file or folder without its ending.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}
