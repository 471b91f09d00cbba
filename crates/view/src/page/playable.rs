//! [`PlayableClip`]: a clip of a page that can be turned and played.
//!
//! # Bytes
//! Little endian, in base64; what comes first is a JSON object with the counts.
//!
//! ```text
//! u32 × 3 a triangle of the body, then of the garment
//! u8 a triangle of the body: 1 always hidden, 2 under the garment; up to four bytes
//! f32 × 3 a frame: where its positions count from [m]
//! a frame: i16 × 3 a vertex of the body, then of each garment, in 0.2 mm
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drapery_core::Topology;
use glam::Vec3;
use serde_json::json;

use super::{Page, escaped};
use crate::packed::{STEPS, SkinMarks, in_steps};
use crate::page_files;

/// A body and a garment as several methods have it, frame by frame. Positions are kept
/// to 0.2 mm, as far as 6.5 m from the body's middle.
#[derive(Clone, Debug)]
pub struct PlayableClip {
    frame_rate: f64,
    body: Topology,
    marks: SkinMarks,
    garment: Topology,
    panes: Vec<String>,
    /// Where the positions of each frame count from [m].
    origins: Vec<Vec3>,
    values: Vec<i16>,
}

impl PlayableClip {
    /// A clip without frames of a garment on a body. Panes are named; the first is what
    /// others are compared with.
    pub fn new(frame_rate: f64, body: &Topology, garment: &Topology, panes: &[&str]) -> Self {
        Self {
            frame_rate,
            marks: SkinMarks::new(body),
            body: body.clone(),
            garment: garment.clone(),
            panes: panes.iter().map(|name| (*name).to_string()).collect(),
            origins: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Does not draw triangles of the body that are `hidden`, and cloth that is a little
    /// beneath skin that `is_under` it over that, shape [vertex].
    ///
    /// # Panics
    /// When there is not one flag a triangle and a vertex.
    #[must_use]
    pub fn with_skin(mut self, hidden: Option<&[bool]>, is_under: &[bool]) -> Self {
        self.marks.put_under(&self.body, is_under);
        if let Some(hidden) = hidden {
            self.marks.hide(hidden);
        }
        self
    }

    /// How many frames there are.
    pub const fn len(&self) -> usize {
        self.origins.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// One frame more: the body and the garment of each pane [m].
    ///
    /// # Panics
    /// When there is not one garment a pane and one position a vertex.
    pub fn push(&mut self, skin: &[Vec3], garments: &[&[Vec3]]) {
        assert_eq!(skin.len(), self.body.n_vertices(), "one position a vertex");
        assert_eq!(garments.len(), self.panes.len(), "one garment a pane");
        let origin = skin.iter().sum::<Vec3>() / skin.len().max(1) as f32;
        self.origins.push(origin);
        for positions in core::iter::once(&skin).chain(garments) {
            for p in *positions {
                self.values.extend(in_steps(*p - origin));
            }
        }
        let n_cloth = self.garment.n_vertices() * garments.len();
        let n_values = 3 * (skin.len() + n_cloth) * self.origins.len();
        assert_eq!(self.values.len(), n_values, "one position a vertex");
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for topology in [&self.body, &self.garment] {
            let corners = topology.triangles().iter().flatten();
            bytes.extend(corners.flat_map(|corner| corner.to_le_bytes()));
        }
        bytes.extend(self.marks.bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let origins = self.origins.iter().flat_map(|p| p.to_array());
        bytes.extend(origins.flat_map(f32::to_le_bytes));
        bytes.extend(self.values.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    }

    /// The counts, as JSON that means nothing to HTML. `range` [m] is the end of the bar
    /// of colours.
    fn head(&self, range: f32) -> String {
        let counts = |t: &Topology| [t.n_vertices(), t.triangles().len()];
        let head = json!({
            "frame_rate": self.frame_rate,
            "frames": self.len(),
            "body": counts(&self.body),
            "garment": counts(&self.garment),
            "panes": self.panes,
            "step": 1.0 / STEPS,
            "range": range,
        });
        head.to_string().replace('<', "\\u003c")
    }
}

impl Page {
    /// Adds a clip that can be turned and played, with colours of distances from the
    /// first pane up to `range` [m]. A program that was built without the viewer's page
    /// says so instead.
    #[must_use]
    pub fn playable(mut self, clip: &PlayableClip, range: f32, caption: &str) -> Self {
        let Some((_, script)) = page_files::file("/report/report.js") else {
            return self.paragraph(
                "The clip can't be played here: this program was built without Node, which makes \
                 the player.",
            );
        };
        self.push(&[
            "<figure><div class=\"clip\"><script type=\"application/json\">",
            &clip.head(range),
            "</script><script type=\"text/plain\">",
            &STANDARD.encode(clip.bytes()),
            "</script></div><figcaption>",
            &escaped(caption),
            "</figcaption></figure>\n",
        ]);
        // A script ends where it says so, even within a text.
        let script = String::from_utf8_lossy(script).replace("</script", "<\\/script");
        self.script = script.replace("<!--", "<\\!--");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip() -> PlayableClip {
        let body = Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let garment = Topology::new(3, vec![[0, 1, 2]]).unwrap();
        let names = ["simulation", "</script><b>"];
        let mut clip = PlayableClip::new(30.0, &body, &garment, &names)
            .with_skin(Some(&[true, false]), &[false, true, true, false]);
        let skin = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::ZERO];
        let cloth = [Vec3::X, Vec3::Y, Vec3::new(0.0, 2e-4, 1.0)];
        clip.push(&skin, &[&cloth, &cloth]);
        clip
    }

    #[test]
    fn bytes_are_where_they_are_said_to_be() {
        let bytes = clip().bytes();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!([word(0), word(4), word(20)], [0, 1, 3]);
        assert_eq!([word(24), word(28), word(32)], [0, 1, 2]);
        assert_eq!(bytes[36..40], [3, 0, 0, 0], "marks");
        assert_eq!(f32::from_bits(word(40)), 0.25);
        let value = |k: usize| {
            let at = 52 + 2 * k;
            i16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
        };
        // The first vertex of the body from its middle, and the last of the garment.
        assert_eq!([value(0), value(1), value(2)], [3750, -1250, -1250]);
        assert_eq!([value(18), value(19), value(20)], [-1250, -1249, 3750]);
        assert_eq!(bytes.len(), 52 + 2 * 3 * (4 + 2 * 3));
    }

    #[test]
    fn names_do_not_become_markup() {
        let head = clip().head(0.05);
        assert!(!head.contains('<'), "{head}");
        assert!(head.contains("\\u003c/script>\\u003cb>"), "{head}");
        let read: serde_json::Value = serde_json::from_str(&head).unwrap();
        assert_eq!(read["panes"][1], "</script><b>");
        assert_eq!(read["body"], json!([4, 2]));
        let page = Page::new("t").playable(&clip(), 0.05, "<i>").finish();
        assert!(!page.contains("<b>") && !page.contains("<i>"));
        // Scripts are the head, the bytes and the player, or none without it.
        let n = if page_files::is_built() { 3 } else { 0 };
        assert_eq!(page.matches("<script").count(), n);
        assert_eq!(page.matches("</script").count(), n);
    }
}
