//! `drapery view`: its server on a real dataset and model, and its page in a real
//! browser.
//!
//! The browser runs where `DRAPERY_CHROMIUM` names a Chromium; `scripts/check` sets it
//! where one can be had.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may unwrap, and say that they were skipped"
)]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::ring::trained;
use common::{error, out};

/// A viewer that is open, and ends with the test.
struct Viewer {
    child: Child,
    url: String,
}

impl Viewer {
    /// None where the program has no page.
    fn open(folder: &Path) -> Option<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_drapery"))
            .args(["--json", "view", "tube", "ring.drapery", "--port", "0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut why = String::new();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut why)
                .unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(2), "{why}");
            assert!(why.contains("without the viewer's page"), "{why}");
            println!("skipped: {why}");
            return None;
        }
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        let url = said["data"]["url"].as_str().unwrap().to_string();
        Some(Self { child, url })
    }

    /// The body of the answer to a request, and its status.
    fn get(&self, target: &str) -> (u16, Vec<u8>) {
        let host = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut client = TcpStream::connect(host).unwrap();
        write!(
            client,
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let status = head[9..12].parse().unwrap();
        let body = &all[end + 4..];
        let is_chunked = head.contains("Transfer-Encoding: chunked");
        (
            status,
            if is_chunked {
                joined(body)
            } else {
                body.to_vec()
            },
        )
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes of all chunks.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let end = chunks.windows(2).position(|w| w == b"\r\n").unwrap();
        let length = std::str::from_utf8(&chunks[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return bytes;
        }
        bytes.extend(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 4 + length..];
    }
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// A frame: its number, confidence, milliseconds, way of correction, positions.
const HEAD: usize = 16;

#[test]
fn what_is_shown_is_what_is_stored_and_what_the_model_makes() {
    let folder = trained();
    let Some(viewer) = Viewer::open(folder.path()) else {
        return;
    };
    let (status, page) = viewer.get("/");
    assert_eq!(status, 200);
    assert!(String::from_utf8_lossy(&page).contains("<title>drapery</title>"));
    let (_, catalog) = viewer.get("/api/catalog");
    let catalog: serde_json::Value = serde_json::from_slice(&catalog).unwrap();
    assert_eq!(catalog["garments"][0]["methods"][1]["name"], "ring");
    assert_eq!(catalog["shape"].as_array().unwrap().len(), 2);
    let (_, mesh) = viewer.get("/api/mesh?of=garment&garment=ring");
    assert_eq!(numbers(&mesh[..8]), [32, 48]);
    assert_eq!(mesh.len(), 8 + 13 * 48);

    // Positions to the bit, against the same sequence as a point cache.
    let plan = [
        "dataset",
        "export",
        "tube",
        "twist@mean",
        "--out",
        "twist.pc2",
    ];
    out(folder.path(), 0, &plan);
    let cache = fs::read(folder.path().join("twist.pc2")).unwrap();
    let (_, stream) = viewer.get("/api/frames?of=simulation&clip=twist@mean&garment=ring");
    let frame = HEAD + 12 * 32;
    assert_eq!(numbers(&stream[..12]), [32, 0, 12]);
    assert_eq!(stream.len(), 12 + 12 * frame);
    for (f, (own, cached)) in (stream[12..].chunks_exact(frame))
        .zip(cache[32..].chunks_exact(12 * 32))
        .enumerate()
    {
        assert_eq!(numbers(&own[..4]), [f as u32]);
        assert!(own[HEAD..] == *cached, "frame {f}");
    }
    // A model's stream from a later frame on goes on as if it had begun at the first.
    let (_, whole) = viewer.get("/api/frames?of=ring&clip=twist@mean");
    let (_, later) = viewer.get("/api/frames?of=ring&clip=twist@mean&from=8");
    assert_eq!(numbers(&later[..12]), [32, 8, 4]);
    // The milliseconds that it took differ, and where correction starts from.
    let place = |bytes: &[u8]| -> Vec<f32> {
        let own = &bytes[bytes.len() - 12 * 32..];
        own.chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    };
    let apart = |one: &[u8], other: &[u8]| {
        let places = place(one).into_iter().zip(place(other));
        places.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(apart(&whole, &later) < 1e-3);
    // Another shape moves the body and the garment.
    let (_, wide) = viewer.get("/api/frames?of=skinning&clip=twist@mean&shape=0,1");
    let (_, own) = viewer.get("/api/frames?of=skinning&clip=twist@mean");
    assert!(apart(&wide, &own) > 1e-3);

    for (target, expected) in [
        ("/api/frames?of=ring&clip=nod", 404),
        ("/api/frames?of=lace&clip=twist@mean", 404),
        ("/api/frames?of=ring&clip=twist@mean&from=12", 400),
        ("/api/frames?of=ring&clip=twist@mean&from=-1", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0,NaN", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0,1e9", 400),
        ("/api/mesh?of=garment&garment=../../zarr.json", 404),
        ("/../Cargo.toml", 404),
    ] {
        let (status, why) = viewer.get(target);
        assert_eq!(
            status,
            expected,
            "{target}: {}",
            String::from_utf8_lossy(&why)
        );
    }
}

#[test]
fn a_browser_shows_it() {
    let Some(chromium) = std::env::var_os("DRAPERY_CHROMIUM") else {
        println!("skipped: DRAPERY_CHROMIUM names no Chromium");
        return;
    };
    let folder = trained();
    let Some(viewer) = Viewer::open(folder.path()) else {
        panic!("there is a browser but no page: it is built where Node is");
    };
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let shots = folder.path().join("shots");
    fs::create_dir(&shots).unwrap();
    let ran = Command::new("node")
        .arg(web.join("test/viewer.mjs"))
        .arg(&viewer.url)
        .arg(chromium)
        .arg(&shots)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}\n{errors}");
    assert!(said.contains("all well"), "{said}");
    if let Some(keep) = std::env::var_os("DRAPERY_SHOTS") {
        for shot in fs::read_dir(&shots).unwrap() {
            let shot = shot.unwrap().path();
            fs::copy(&shot, Path::new(&keep).join(shot.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn what_can_not_be_shown_is_said_before_anything_is_served() {
    let folder = trained();
    let at = folder.path();
    let why = error(at, 2, &["view", "nowhere"]);
    assert!(
        why.contains("nowhere") || why.contains("without the viewer's page"),
        "{why}"
    );
    fs::write(at.join("bad.drapery"), b"no model").unwrap();
    let why = error(at, 2, &["view", "tube", "bad.drapery"]);
    assert!(
        why.contains("bad.drapery") || why.contains("without the viewer's page"),
        "{why}"
    );
}
