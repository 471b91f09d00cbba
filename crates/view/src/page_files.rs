//! The files of the viewer's page, as the build found them.

/// A file of the page: its path from the page's root, what it is, and its bytes.
type PageFile = (&'static str, &'static str, &'static [u8]);

// `FILES`, written by build.rs.
include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Whether the program was built with the page: Node was there.
pub const fn is_built() -> bool {
    !FILES.is_empty()
}

/// What a file of the page is, and its bytes.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    let path = if path == "/" { "/index.html" } else { path };
    let own = FILES.iter().find(|(name, _, _)| *name == path)?;
    Some((own.1, own.2))
}
