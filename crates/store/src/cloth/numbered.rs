//! Rows of files, ordered by the last number in their names.

use std::path::{Path, PathBuf};

use super::error::ClothError;

/// The OBJ files of a folder, or those whose names fit one with a `*` in it.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, ClothError> {
    let (folder, pattern) = match path.is_dir() {
        true => (path, "*.obj".to_string()),
        false => {
            let name = path.file_name().unwrap_or_default();
            let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
            (
                folder.unwrap_or_else(|| Path::new(".")),
                name.to_string_lossy().into_owned(),
            )
        }
    };
    let unread = |source| ClothError::Io {
        path: folder.into(),
        source,
    };
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() && !name.starts_with('.') && fits(&name, &pattern) {
            let number = last_number(&name);
            let number = number.ok_or_else(|| ClothError::NoNumber { path: path.clone() })?;
            found.push((number, path));
        }
    }
    found.sort();
    for pair in found.windows(2) {
        let [before, after] = [pair[0].0, pair[1].0];
        if after != before + 1 {
            return Err(ClothError::Gap {
                before,
                after,
                path: pair[1].1.clone(),
            });
        }
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Whether a name is the pattern with something in place of its `*`.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.to_lowercase().ends_with(&after.to_lowercase())
        }
        None => name == pattern,
    }
}

/// The last number in a name without its ending.
fn last_number(name: &str) -> Option<u64> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let end = stem.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = stem[..end].rfind(|c: char| !c.is_ascii_digit());
    let start = start.map_or(0, |at| {
        at + stem[at..].chars().next().map_or(1, char::len_utf8)
    });
    stem[start..end].parse().ok().filter(|n| *n < u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_number_and_gaps_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let touch = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        for name in ["a_9.obj", "a_10.obj", "a_8.OBJ", "b_1.obj", "notes.txt"] {
            touch(name);
        }
        let names = |pattern: &str| -> Vec<String> {
            let paths = files(&folder.path().join(pattern)).unwrap();
            let name = |p: PathBuf| p.file_name().unwrap().to_str().unwrap().to_string();
            paths.into_iter().map(name).collect()
        };
        assert_eq!(names("a_*.obj"), ["a_8.OBJ", "a_9.obj", "a_10.obj"]);
        assert!(names("c_*.obj").is_empty());
        let gap = files(folder.path());
        assert!(matches!(
            gap,
            Err(ClothError::Gap {
                before: 1,
                after: 8,
                ..
            })
        ));
        touch("a_x.obj");
        let nameless = files(&folder.path().join("a_*.obj"));
        assert!(matches!(nameless, Err(ClothError::NoNumber { .. })));
        assert_eq!(last_number("skirt2_0042.obj"), Some(42));
        assert_eq!(last_number("é7é.obj"), Some(7));
        assert_eq!(last_number("skirt.obj"), None);
    }
}
