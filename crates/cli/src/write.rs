//! Files are written beside their target and renamed when whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes several files, all of them or none: they are renamed into place
/// when the last one is whole.
pub(crate) fn files(
    paths: &[PathBuf],
    bytes: impl Fn(usize) -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<()> {
    let parts = paths
        .iter()
        .map(|p| beside(p))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let done = (|| -> anyhow::Result<()> {
        for (i, part) in parts.iter().enumerate() {
            fs::write(part, bytes(i)?)
                .with_context(|| format!("cannot write {}", paths[i].display()))?;
        }
        for (part, path) in parts.iter().zip(paths) {
            fs::rename(part, path).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    })();
    if done.is_err() {
        for part in &parts {
            // Unfinished files are of no use; failing to remove one changes nothing.
            let _ = fs::remove_file(part);
        }
    }
    done
}

/// Writes `bytes` to `path`, whole or not at all.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    stream(path, |file| {
        use std::io::Write;
        file.write_all(bytes)?;
        Ok(())
    })
}

/// Lets `fill` write to a file that becomes `path` when it is whole.
pub(crate) fn stream(
    path: &Path,
    fill: impl FnOnce(&mut fs::File) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let beside = beside(path)?;
    let done = (|| -> anyhow::Result<()> {
        let mut file = fs::File::create(&beside)?;
        fill(&mut file)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        clear_left(path);
        Ok(())
    })();
    if done.is_err() {
        // The unfinished file is of no use; failing to remove it changes nothing.
        let _ = fs::remove_file(&beside);
    }
    done.with_context(|| format!("cannot write {}", path.display()))
}

/// Checks before any work that a file can be written to `path` one day: its
/// folder is there and it is no folder itself. Returns its ending in lower case.
/// `option` gave the path.
pub(crate) fn check(option: &str, path: &Path) -> anyhow::Result<String> {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => anyhow::bail!("{option} {}: names no file", path.display()),
    };
    anyhow::ensure!(
        folder.is_dir(),
        "{option} {}: there is no folder {}",
        path.display(),
        folder.display()
    );
    anyhow::ensure!(!path.is_dir(), "{option} {}: is a folder", path.display());
    Ok(path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default())
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !path.is_file(),
        "--out {}: is a file, not a folder",
        path.display()
    );
    fs::create_dir_all(path).with_context(|| format!("cannot make folder {}", path.display()))
}

fn beside(path: &Path) -> anyhow::Result<PathBuf> {
    let name = path
        .file_name()
        .with_context(|| format!("{} names no file", path.display()))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Removes what killed programs left of the same file. Only where it can be told that
/// a program is no more; failing to remove one changes nothing.
fn clear_left(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let programs = Path::new("/proc");
    let Some(parts) = fs::read_dir(folder).ok().filter(|_| programs.is_dir()) else {
        return;
    };
    let before = format!(".{}.", name.to_string_lossy());
    for part in parts.flatten() {
        let part = part.file_name();
        let part = part.to_string_lossy();
        let program = part
            .strip_prefix(&before)
            .and_then(|p| p.strip_suffix(".part"));
        if let Some(program) = program.filter(|p| p.parse::<u32>().is_ok())
            && !programs.join(program).exists()
        {
            let _ = fs::remove_file(folder.join(&*part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_program_left_is_cleared_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Numbers of programs end far below this.
        let (dead, living) = (".a.json.4000000000.part", ".a.json.1.part");
        let other = ".b.json.4000000000.part";
        for name in [dead, living, other] {
            fs::write(at(name), "half").unwrap();
        }
        file(&at("a.json"), b"whole").unwrap();
        assert_eq!(fs::read(at("a.json")).unwrap(), b"whole");
        assert!(!at(dead).exists());
        assert!(at(living).exists() && at(other).exists());
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        file(&path, b"old").unwrap();
        let failed = stream(&path, |f| {
            use std::io::Write;
            f.write_all(b"half")?;
            anyhow::bail!("no more")
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
