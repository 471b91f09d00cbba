//! Files and folders that are on disk when a call returns.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::digest;
use super::error::DatasetError;

/// No metadata is longer [byte].
const MAX_METADATA: u64 = 1 << 28;

/// The name of every node's metadata.
pub(super) const METADATA: &str = "zarr.json";

pub(super) fn cannot(what: &'static str, path: &Path) -> impl Fn(io::Error) -> DatasetError {
    move |source| DatasetError::Io {
        what,
        path: path.to_path_buf(),
        source,
    }
}

/// Writes a file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(cannot("write", path))
}

/// Writes a file beside `path` and renames it when it is whole.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    let part = part_of(path);
    let done = write(&part, bytes).and_then(|()| rename(&part, path));
    if done.is_err() {
        // Of no use; failing to remove it changes nothing.
        let _ = fs::remove_file(&part);
    }
    done
}

/// Where what becomes `path` is made.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(path.file_name().unwrap_or_default());
    hidden.push(format!(".{}{PART}", std::process::id()));
    path.with_file_name(hidden)
}

const PART: &str = ".part";

/// Removes what runs that were killed left in a folder.
pub(super) fn clear_parts(folder: &Path) -> Result<(), DatasetError> {
    for entry in fs::read_dir(folder).map_err(cannot("read", folder))? {
        let path = entry.map_err(cannot("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(PART) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes what runs that were killed left beside `path` of what was to become
/// it.
pub(super) fn clear_parts_of(path: &Path) -> Result<(), DatasetError> {
    let folder = folder_of(path);
    let start = format!(
        ".{}.",
        path.file_name().unwrap_or_default().to_string_lossy()
    );
    for entry in fs::read_dir(folder).map_err(cannot("read", folder))? {
        let path = entry.map_err(cannot("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let middle = name.strip_prefix(&start).and_then(|n| n.strip_suffix(PART));
        if middle.is_some_and(|pid| pid.bytes().all(|b| b.is_ascii_digit())) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// The folder that a file or folder is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Waits until nobody else makes anything in the folder of `path`, where that
/// can be known.
pub(super) fn folder_lock(path: &Path) -> Option<File> {
    let folder = File::open(folder_of(path)).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// Removes a file or folder, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), DatasetError> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(cannot("remove", path)),
    }
}

/// Renames within a folder, for good.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), DatasetError> {
    fs::rename(from, to).map_err(cannot("write", to))?;
    sync_folder(folder_of(to))
}

pub(super) fn make_folder(path: &Path) -> Result<(), DatasetError> {
    fs::create_dir_all(path).map_err(cannot("make", path))
}

/// Makes sure that the names in a folder are on disk.
fn sync_folder(path: &Path) -> Result<(), DatasetError> {
    if cfg!(unix) {
        let synced = File::open(path).and_then(|folder| folder.sync_all());
        synced.map_err(cannot("write", path))?;
    }
    Ok(())
}

/// The same of a folder and all below it.
pub(super) fn sync_tree(path: &Path) -> Result<(), DatasetError> {
    for entry in fs::read_dir(path).map_err(cannot("read", path))? {
        let below = entry.map_err(cannot("read", path))?.path();
        if below.is_dir() {
            sync_tree(&below)?;
        }
    }
    sync_folder(path)
}

/// The digests of all files below a folder but its own metadata, by their
/// paths with `/`.
pub(super) fn digests(folder: &Path) -> Result<BTreeMap<String, String>, DatasetError> {
    let mut all = BTreeMap::new();
    visit(folder, "", &mut |name, path| {
        if name != METADATA {
            all.insert(name.to_string(), digest::of_file(path)?);
        }
        Ok(())
    })?;
    Ok(all)
}

fn visit(
    folder: &Path,
    prefix: &str,
    each: &mut dyn FnMut(&str, &Path) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    for entry in fs::read_dir(folder).map_err(cannot("read", folder))? {
        let path = entry.map_err(cannot("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{name}");
        match path.is_dir() {
            true => visit(&path, &format!("{name}/"), each)?,
            false => each(&name, &path)?,
        }
    }
    Ok(())
}

/// Checks that the files below a folder are those that were written.
pub(super) fn check_files(folder: &Path, written: &Value) -> Result<(), DatasetError> {
    let found = digests(folder)?;
    let empty = Map::new();
    let written = written.as_object().unwrap_or(&empty);
    for (name, digest) in written {
        match found.get(name) {
            None => {
                return Err(DatasetError::Files {
                    name: name.clone(),
                    is: "is missing",
                });
            }
            Some(found) if digest.as_str() != Some(found) => {
                return Err(DatasetError::Checksum {
                    what: "file",
                    name: folder.join(name).display().to_string(),
                });
            }
            Some(_) => {}
        }
    }
    match found.keys().find(|name| !written.contains_key(*name)) {
        Some(name) => Err(DatasetError::Files {
            name: name.clone(),
            is: "does not belong there",
        }),
        None => Ok(()),
    }
}

/// Metadata of a group that holds its own digest as `sha256`.
pub(super) fn sealed_group(mut attributes: Value) -> Vec<u8> {
    attributes["sha256"] = digest::BLANK.into();
    digest::seal(&group_text(&attributes)).into_bytes()
}

/// Metadata of a group.
pub(super) fn group(attributes: &Value) -> Vec<u8> {
    group_text(attributes).into_bytes()
}

fn group_text(attributes: &Value) -> String {
    let group = json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": attributes,
    });
    format!("{group:#}\n")
}

/// The attributes of a group.
pub(super) fn attributes(folder: &Path) -> Result<Value, DatasetError> {
    Ok(read_group(folder)?.1)
}

/// The attributes of a group whose digest is right.
pub(super) fn sealed_attributes(folder: &Path) -> Result<Value, DatasetError> {
    let (text, attributes) = read_group(folder)?;
    let digest = attributes["sha256"].as_str().unwrap_or_default();
    if !digest::is_sealed(&text, digest) {
        return Err(DatasetError::Checksum {
            what: "file",
            name: folder.join(METADATA).display().to_string(),
        });
    }
    Ok(attributes)
}

fn read_group(folder: &Path) -> Result<(String, Value), DatasetError> {
    let path = folder.join(METADATA);
    let length = fs::metadata(&path).map_err(cannot("read", &path))?.len();
    if length > MAX_METADATA {
        return Err(DatasetError::Attribute {
            key: "the length",
            expected: "at most 256 MiB",
            path,
        });
    }
    let text = fs::read_to_string(&path).map_err(cannot("read", &path))?;
    let mut group: Value = match serde_json::from_str(&text) {
        Ok(group) => group,
        Err(source) => return Err(DatasetError::Json { path, source }),
    };
    if group["node_type"] != "group" || group["zarr_format"] != 3 {
        return Err(DatasetError::Attribute {
            key: "node_type",
            expected: "that of a Zarr v3 group",
            path,
        });
    }
    let attributes = group["attributes"].take();
    Ok((text, attributes))
}
