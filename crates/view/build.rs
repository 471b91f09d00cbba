//! Builds the viewer's page with Node, where there is one, and embeds it.
//!
//! Without Node, or when the page can't be built, the program is built without it and
//! says so when the viewer is asked for. `DRAPERY_PAGE=off` leaves it out.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let web = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../web");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rerun-if-env-changed=DRAPERY_PAGE");
    for name in [
        "src",
        "index.html",
        "package.json",
        "package-lock.json",
        "vite.config.ts",
        "vite.report.config.ts",
    ] {
        println!("cargo::rerun-if-changed={}", web.join(name).display());
    }
    let page = out.join("page");
    let mut files = Vec::new();
    match build(&web, &page) {
        Ok(()) => collect(&page, &page, &mut files)?,
        Err(why) => println!("cargo::warning=the viewer's page is left out: {why}"),
    }
    files.sort();
    let mut text = String::from("static FILES: &[PageFile] = &[\n");
    for (name, path) in files {
        let kind = match path.extension().and_then(|e| e.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        };
        writeln!(text, "    ({name:?}, {kind:?}, include_bytes!({path:?})),")?;
    }
    text.push_str("];\n");
    fs::write(out.join("page_files.rs"), text)?;
    Ok(())
}

/// Builds the page into a folder.
fn build(web: &Path, page: &Path) -> Result<(), String> {
    if std::env::var("DRAPERY_PAGE").is_ok_and(|v| v == "off") {
        return Err("DRAPERY_PAGE is off".into());
    }
    let lock = fs::read(web.join("package-lock.json")).map_err(|e| e.to_string())?;
    // Packages are installed again when others are wanted.
    let installed = web.join("node_modules/.installed");
    if fs::read(&installed).is_ok_and(|was| was == lock) {
        // They are there.
    } else {
        // Not `ci`, which wants the optional packages of all other systems to be locked.
        let quietly = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline"];
        npm(web, &[&["install"], &quietly[..]].concat())?;
        fs::write(&installed, lock).map_err(|e| e.to_string())?;
    }
    for (script, folder) in [
        ("bundle", page.to_path_buf()),
        ("bundle-report", page.join("report")),
    ] {
        let folder = folder.to_str();
        let folder = folder.ok_or("the build folder's name is not UTF-8")?;
        npm(
            web,
            &["run", script, "--", "--outDir", folder, "--emptyOutDir"],
        )?;
    }
    Ok(())
}

fn npm(web: &Path, args: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let ran = Command::new(program).args(args).current_dir(web).output();
    let ran = ran.map_err(|e| format!("npm can't be run ({e}); install Node 20 or later"))?;
    match ran.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&ran.stderr);
            // After the code of the error comes what it means.
            let words = |l: &&str| l.contains("error") && !l.contains("error code") && l.len() > 12;
            let why = said.lines().find(words).unwrap_or("it does not say why");
            Err(format!("npm {} failed: {why}", args[0]))
        }
    }
}

/// All files below a folder, by their paths from `root` on.
fn collect(
    root: &Path,
    folder: &Path,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            let parts: Vec<_> = path.strip_prefix(root)?.iter().collect();
            let name: Vec<_> = parts.iter().map(|p| p.to_string_lossy()).collect();
            files.push((format!("/{}", name.join("/")), path));
        }
    }
    Ok(())
}
