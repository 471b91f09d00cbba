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

use std::ffi::OsStr;
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
        Self::of(folder, &["tube", "ring.drapery"])
    }

    fn of(folder: &Path, shown: &[&str]) -> Option<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_drapery"))
            .args(["--json", "view", "--port", "0"])
            .args(shown)
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

/// A stream: vertices, first frame, frames, coefficients, whether there are depths.
const STREAM: usize = 20;
/// A frame: its number, confidence, milliseconds, way of correction, depth and share
/// inside; then positions, coefficients and depths.
const HEAD: usize = 24;

/// The frames of a stream.
fn frames(stream: &[u8]) -> Vec<&[u8]> {
    let [vertices, _, n, coefficients, depths] = numbers(&stream[..STREAM]).try_into().unwrap();
    let depths = if depths == 1 {
        vertices.next_multiple_of(4)
    } else {
        0
    };
    let length = HEAD as u32 + 12 * vertices + 4 * coefficients + depths;
    let frames: Vec<&[u8]> = stream[STREAM..].chunks_exact(length as usize).collect();
    assert_eq!(stream.len(), STREAM + (n * length) as usize);
    frames
}

/// Numbers of a frame.
fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

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
    assert_eq!(numbers(&stream[..STREAM]), [32, 0, 12, 0, 0]);
    for (f, (own, cached)) in (frames(&stream).iter())
        .zip(cache[32..].chunks_exact(12 * 32))
        .enumerate()
    {
        assert_eq!(numbers(&own[..4]), [f as u32]);
        assert!(own[HEAD..] == *cached, "frame {f}");
    }
    let (_, later) = viewer.get("/api/frames?of=simulation&clip=twist@mean&from=5");
    assert!(frames(&later) == frames(&stream)[5..]);
    // A model's stream from a later frame on goes on as if it had begun at the first.
    let (_, whole) = viewer.get("/api/frames?of=ring&clip=twist@mean");
    let (_, later) = viewer.get("/api/frames?of=ring&clip=twist@mean&from=8");
    let head = numbers(&later[..STREAM]);
    assert_eq!([head[0], head[1], head[2], head[4]], [32, 8, 4, 0]);
    assert!(head[3] > 0, "a stable space works with coefficients");
    // Principal components are of length one, over all of the garment.
    let (_, basis) = viewer.get("/api/mesh?of=basis&method=ring");
    assert_eq!(numbers(&basis[..8]), [32, head[3]]);
    assert_eq!(basis.len(), 8 + 4 * 32 * head[3] as usize);
    for vector in floats(&basis[8..]).chunks_exact(32) {
        let length = vector.iter().map(|way| way * way).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
    // The milliseconds that it took differ, and where correction starts from.
    let place = |bytes: &[u8]| floats(&frames(bytes).last().unwrap()[HEAD..HEAD + 12 * 32]);
    let apart = |one: &[u8], other: &[u8]| {
        let places = place(one).into_iter().zip(place(other));
        places.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    assert!(apart(&whole, &later) < 1e-3);
    // Another shape moves the body and the garment.
    let (_, wide) = viewer.get("/api/frames?of=skinning&clip=twist@mean&shape=0,1");
    let (_, own) = viewer.get("/api/frames?of=skinning&clip=twist@mean");
    assert!(apart(&wide, &own) > 1e-3);
    // How deep it is inside the body is looked at when asked: between their ends edges of
    // the ring are inside a tube that has become thicker.
    let plain = viewer.get("/api/frames?of=simulation&clip=twist@mean").1;
    let target = "/api/frames?of=simulation&clip=twist@mean&gauge=1&shape=0,2";
    let (_, gauged) = viewer.get(target);
    assert_eq!(numbers(&gauged[..STREAM])[4], 1);
    assert!(
        frames(&gauged)
            .iter()
            .zip(frames(&plain))
            .all(|(g, p)| g[HEAD..HEAD + 384] == p[HEAD..])
    );
    let frame = frames(&gauged)[0];
    let (deepest, share) = (floats(&frame[16..20])[0], floats(&frame[20..24])[0]);
    assert!(deepest > 2e-3 && share > 0.5, "{deepest} m, {share}");
    let (_, open) = viewer.get("/api/frames?of=simulation&clip=twist@mean&gauge=1");
    assert!(frames(&open).iter().all(|f| floats(&f[20..24])[0] < 0.5));
    // What is simulated now begins like what was simulated before.
    let (_, live) = viewer.get("/api/frames?of=live&clip=twist@mean&garment=ring");
    let (_, blown) = viewer.get("/api/frames?of=live&clip=twist@mean&wind=0,0,10");
    let (_, heavy) = viewer.get("/api/frames?of=live&clip=twist@mean&fabric=leather");
    assert_eq!(frames(&live).len(), 12);
    assert!(apart(&live, &stream) < 0.02, "{}", apart(&live, &stream));
    assert!(apart(&live, &blown) > 1e-4, "{}", apart(&live, &blown));
    assert!(apart(&live, &heavy) > 1e-5, "{}", apart(&live, &heavy));

    for (target, expected) in [
        ("/api/mesh?of=basis&method=skinning", 404),
        ("/api/frames?of=ring&clip=nod", 404),
        ("/api/frames?of=lace&clip=twist@mean", 404),
        ("/api/frames?of=ring&clip=twist@mean&from=12", 400),
        ("/api/frames?of=ring&clip=twist@mean&from=-1", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0,NaN", 400),
        ("/api/frames?of=ring&clip=twist@mean&shape=0,1e9", 400),
        ("/api/mesh?of=garment&garment=../../zarr.json", 404),
        ("/api/frames?of=live&clip=twist@mean&wind=0,0", 400),
        ("/api/frames?of=live&clip=twist@mean&wind=0,0,99", 400),
        ("/api/frames?of=live&clip=twist@mean&wind=0,NaN,0", 400),
        ("/api/frames?of=live&clip=twist@mean&fabric=tin", 404),
        ("/api/frames?of=crowd&clip=twist@mean&method=skinning", 404),
        (
            "/api/frames?of=crowd&clip=twist@mean&method=ring&count=0",
            400,
        ),
        (
            "/api/frames?of=crowd&clip=twist@mean&method=ring&count=99999",
            400,
        ),
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
fn a_crowd_is_streamed_until_nobody_looks() {
    let folder = trained();
    let Some(viewer) = Viewer::open(folder.path()) else {
        return;
    };
    let host = viewer.url.trim_start_matches("http://");
    let host = host.trim_end_matches('/');
    let ask = |method: &str| {
        let mut client = TcpStream::connect(host).unwrap();
        let target = "/api/frames?of=crowd&clip=twist@mean&method=ring&count=100";
        let head =
            format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        client.write_all(head.as_bytes()).unwrap();
        client
    };
    // Sizes of chunks stand between the bytes, which are looked at only for there being
    // more of them than the twelve frames of the clip have.
    let frame = 8 + 100 * 32 * 6;
    let mut client = ask("GET");
    let mut bytes = vec![0; 30 * frame];
    client.read_exact(&mut bytes).unwrap();
    drop(client);
    let at = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let at = at + bytes[at..].windows(2).position(|w| w == b"\r\n").unwrap() + 2;
    assert_eq!(numbers(&bytes[at..at + 12]), [32, 100, 12]);
    // The first character begins at the first frame and is as one by itself: what is sent
    // is relative to the root, in 0.2 mm.
    let first = at + 12 + 100 * 12 + 12 * 8;
    assert_eq!(numbers(&bytes[first..first + 4]), [0]);
    let place = |k: usize| {
        let k = first + 8 + 2 * k;
        2e-4 * f32::from(i16::from_le_bytes(bytes[k..k + 2].try_into().unwrap()))
    };
    let (_, alone) = viewer.get("/api/frames?of=ring&clip=twist@mean&correct=0");
    let alone = floats(&frames(&alone)[0][HEAD..HEAD + 12 * 32]);
    let roots = floats(&bytes[at + 12 + 100 * 12..first]);
    for (k, alone) in alone.iter().enumerate() {
        let root = [roots[0], 0.0, roots[1]][k % 3];
        let off = place(k) + root - alone;
        assert!(off.abs() < 3e-4, "value {k} is off by {off} m");
    }
    // Others begin elsewhere: the second where its own frame says, standing apart.
    let second = at + 12 + 12;
    let phase = numbers(&bytes[second + 8..second + 12])[0] as usize;
    assert!(phase > 0 && phase < 12, "{phase}");
    let target = format!("/api/frames?of=ring&clip=twist@mean&correct=0&from={phase}");
    let (_, alone) = viewer.get(&target);
    let alone = floats(&frames(&alone)[0][HEAD..HEAD + 12 * 32]);
    let off = (0..3 * 32).map(|k| {
        let root = [roots[2 * phase], 0.0, roots[2 * phase + 1]][k % 3];
        (place(96 + k) + root - alone[k]).abs()
    });
    // It has no past yet, where one by itself has some frames.
    let off = off.fold(0.0, f32::max);
    assert!(off < 0.02, "{off} m");
    // The head of a stream without end has an end.
    let mut answer = String::new();
    ask("HEAD").read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn models_and_clips_of_ones_own_are_shown_without_a_dataset() {
    let folder = trained();
    let shown = ["ring.drapery", "-c", "tube", "-m", "bend", "-m", "twist"];
    let Some(viewer) = Viewer::of(folder.path(), &shown) else {
        return;
    };
    let (_, catalog) = viewer.get("/api/catalog");
    let catalog: serde_json::Value = serde_json::from_slice(&catalog).unwrap();
    assert_eq!(catalog["clips"].as_array().unwrap().len(), 2);
    assert_eq!(catalog["clips"][0]["name"], "twist");
    assert_eq!(catalog["clips"][0]["simulated"], false);
    assert_eq!(catalog["garments"][0]["methods"][0]["name"], "skinning");
    assert_eq!(catalog["garments"][0]["methods"][1]["name"], "ring");
    // The same numbers as animate writes.
    let plan = [
        "animate",
        "--model",
        "ring.drapery",
        "-c",
        "tube",
        "-m",
        "bend",
        "--out",
        "bend.pc2",
    ];
    out(folder.path(), 0, &plan);
    let cache = fs::read(folder.path().join("bend.pc2")).unwrap();
    let (_, stream) = viewer.get("/api/frames?of=ring&clip=bend");
    let all = frames(&stream);
    assert_eq!(all.len(), cache[32..].len() / (12 * 32));
    for (f, (own, cached)) in all
        .iter()
        .zip(cache[32..].chunks_exact(12 * 32))
        .enumerate()
    {
        let off = floats(&own[HEAD..HEAD + 12 * 32])
            .into_iter()
            .zip(floats(cached));
        let off = off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-6, "frame {f} is off by {off} m");
    }
    let (status, _) = viewer.get("/api/frames?of=simulation&clip=bend");
    assert_eq!(status, 404);
    let (status, _) = viewer.get("/api/frames?of=live&clip=bend&fabric=denim");
    assert_eq!(status, 200);
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
    watch("viewer.mjs", &viewer.url, &chromium);
}

#[test]
fn a_browser_plays_a_report() {
    let Some(chromium) = std::env::var_os("DRAPERY_CHROMIUM") else {
        println!("skipped: DRAPERY_CHROMIUM names no Chromium");
        return;
    };
    let folder = trained();
    let plan = [
        "eval",
        "ring.drapery",
        "--dataset",
        "tube",
        "--report",
        "r.html",
    ];
    out(folder.path(), 0, &plan);
    let report = folder.path().join("r.html");
    watch("report.mjs", &report.to_string_lossy(), &chromium);
}

/// Runs a script of the page's tests on something, in a browser.
fn watch(script: &str, what: &str, chromium: &OsStr) {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let shots = tempfile::tempdir().unwrap();
    let ran = Command::new("node")
        .arg(web.join("test").join(script))
        .args([OsStr::new(what), chromium, shots.path().as_os_str()])
        .output()
        .unwrap();
    if let Some(keep) = std::env::var_os("DRAPERY_SHOTS") {
        for shot in fs::read_dir(shots.path()).unwrap() {
            let shot = shot.unwrap().path();
            fs::copy(&shot, Path::new(&keep).join(shot.file_name().unwrap())).unwrap();
        }
    }
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}\n{errors}");
    assert!(said.contains("all well"), "{said}");
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
    for (plan, expected) in [
        (&["view", "ring.drapery"][..], "--character"),
        (&["view", "ring.drapery", "-c", "tube"], "--motion"),
        (&["view", "tube", "-c", "tube"], "its own character"),
        (&["view", "tube", "tube"], "one dataset"),
        (
            &["view", "ring.drapery", "-c", "mannequin", "-m", "walk"],
            "skeleton",
        ),
        (&["view", "tube", "-m", "nowhere.bvh"], "nowhere.bvh"),
    ] {
        let why = error(at, 2, plan);
        assert!(
            why.contains(expected) || why.contains("without the viewer's page"),
            "{plan:?}: {why}"
        );
    }
}
