//! Files are written beside their target and renamed when whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

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
        Ok(())
    })();
    if done.is_err() {
        // The unfinished file is of no use; failing to remove it changes nothing.
        let _ = fs::remove_file(&beside);
    }
    done.with_context(|| format!("cannot write {}", path.display()))
}

/// Makes a folder and those above it.
pub(crate) fn folder(path: &Path) -> anyhow::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
