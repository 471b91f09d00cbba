//! A small web page in one file: [`Page`].
//!
//! Everything is inside the file: the style is in its head and pictures are
//! embedded, so a page can be mailed or archived as it is. It follows the
//! reader's choice of light or dark and is readable on a phone. There is no
//! script but the one that plays a [`PlayableClip`]. All text is escaped.
//!
//! ```
//! use drapery_view::page::Page;
//!
//! let html = Page::new("A walk")
//!     .paragraph("Skinned garment, 120 frames.")
//!     .table(&["garment", "vertices"], &[vec!["dress".into(), "6262".into()]])
//!     .link("walk.glb", "the animation")
//!     .finish();
//! assert!(html.contains("<td>dress</td>"));
//! ```

mod playable;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

pub use playable::PlayableClip;

/// A web page that is put together from top to bottom.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    /// What plays its clips; empty without any.
    script: String,
}

/// Colours by the reader's choice, one column, tables that scroll by themselves.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#2c2e33;--soft:#6b6f78;--paper:#f6f5f3;--line:#d9d7d2;--link:#2f5f9e}\
@media(prefers-color-scheme:dark){:root{--ink:#e4e3e0;--soft:#a0a3ab;--paper:#1b1c1f;--line:#3a3c42;--link:#8fb4e6}}\
body{margin:0 auto;padding:1rem;max-width:72rem;background:var(--paper);color:var(--ink);\
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2rem}\
p{max-width:46rem}a{color:var(--link)}\
figure{margin:1.5rem 0}img{max-width:100%;height:auto;border-radius:.3rem}\
figcaption{color:var(--soft);font-size:.9rem}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);text-align:left;overflow-wrap:normal}\
th{color:var(--soft);font-weight:600}td.n{text-align:right}\
.clip-stage{position:relative;height:min(60vh,30rem);border:1px solid var(--line);border-radius:.3rem;overflow:hidden}\
.clip-stage canvas{position:absolute;inset:0;width:100%;height:100%;touch-action:none}\
.clip-pane{position:absolute;padding:.3rem .5rem;pointer-events:none;white-space:pre-line;font-size:.9rem;box-sizing:border-box}\
.clip-row{display:flex;flex-wrap:wrap;align-items:center;gap:.6rem;padding:.4rem 0;font-size:.9rem}\
.clip-row [type=range]{flex:1;min-width:6rem}.clip-row button{font:inherit;min-width:2.6rem}\
.clip-bar{width:6rem;height:.7rem}";

impl Page {
    /// An empty page with a title.
    pub fn new(title: &str) -> Self {
        Self {
            title: escaped(title),
            body: String::new(),
            script: String::new(),
        }
    }

    /// Adds a heading.
    #[must_use]
    pub fn heading(mut self, text: &str) -> Self {
        self.push(&["<h2>", &escaped(text), "</h2>\n"]);
        self
    }

    /// Adds a paragraph of plain text.
    #[must_use]
    pub fn paragraph(mut self, text: &str) -> Self {
        self.push(&["<p>", &escaped(text), "</p>\n"]);
        self
    }

    /// Adds a table. Cells that are numbers stand at the right. A row may be
    /// shorter or longer than the headers.
    #[must_use]
    pub fn table(mut self, headers: &[&str], rows: &[Vec<String>]) -> Self {
        self.push(&["<div class=\"wide\"><table>\n<thead><tr>"]);
        for header in headers {
            self.push(&["<th>", &escaped(header), "</th>"]);
        }
        self.push(&["</tr></thead>\n<tbody>\n"]);
        for row in rows {
            self.push(&["<tr>"]);
            for cell in row {
                let open = if cell.trim().parse::<f64>().is_ok() {
                    "<td class=\"n\">"
                } else {
                    "<td>"
                };
                self.push(&[open, &escaped(cell), "</td>"]);
            }
            self.push(&["</tr>\n"]);
        }
        self.push(&["</tbody>\n</table></div>\n"]);
        self
    }

    /// Adds a picture from the bytes of a PNG file, embedded, with a caption
    /// that is also what is read aloud.
    #[must_use]
    pub fn image_png(self, png: &[u8], caption: &str) -> Self {
        self.image("image/png", png, caption)
    }

    /// Adds a drawing from the text of an SVG file, embedded as a picture.
    #[must_use]
    pub fn image_svg(self, svg: &str, caption: &str) -> Self {
        self.image("image/svg+xml", svg.as_bytes(), caption)
    }

    fn image(mut self, kind: &str, bytes: &[u8], caption: &str) -> Self {
        let caption = escaped(caption);
        self.push(&[
            "<figure><img src=\"data:",
            kind,
            ";base64,",
            &STANDARD.encode(bytes),
            "\" alt=\"",
            &caption,
            "\">",
        ]);
        if !caption.is_empty() {
            self.push(&["<figcaption>", &caption, "</figcaption>"]);
        }
        self.push(&["</figure>\n"]);
        self
    }

    /// Adds a link to a file beside the page. The name is taken as a relative
    /// path, whatever it looks like: it can never become a script or another
    /// site.
    #[must_use]
    pub fn link(mut self, file: &str, text: &str) -> Self {
        self.push(&[
            "<p><a href=\"./",
            &path_escaped(file),
            "\">",
            &escaped(text),
            "</a></p>\n",
        ]);
        self
    }

    /// The whole page.
    pub fn finish(self) -> String {
        let Self {
            title,
            mut body,
            script,
        } = self;
        if !script.is_empty() {
            body.push_str("<script>");
            body.push_str(&script);
            body.push_str("</script>\n");
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1>{title}</h1>\n{body}</body>\n</html>\n"
        )
    }

    fn push(&mut self, parts: &[&str]) {
        for part in parts {
            self.body.push_str(part);
        }
    }
}

/// Text that means itself in HTML, within and outside quotes; control
/// characters that HTML does not allow are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// A path in a link: letters, digits and a few signs as they are, all else by
/// its bytes. Slashes stay, `\` becomes one.
fn path_escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            b'\\' => out.push('/'),
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "</title><script>alert('1' & \"2\")</script>\u{0}\u{7}";
    const TAMED: &str =
        "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;";

    #[test]
    fn no_text_becomes_markup() {
        let page = Page::new(NASTY)
            .heading(NASTY)
            .paragraph(NASTY)
            .table(&[NASTY], &[vec![NASTY.to_owned(), "5".to_owned()]])
            .image_png(b"png", NASTY)
            .image_svg("<svg/>", NASTY)
            .link(NASTY, NASTY)
            .finish();
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains('\u{0}') && !page.contains('\u{7}'));
        // Title twice, heading, paragraph, header, cell, link, and alt and caption
        // of both pictures.
        assert_eq!(page.matches(TAMED).count(), 11);
        assert_eq!(page.matches("</title>").count(), 1);
    }

    #[test]
    fn links_stay_beside_the_page() {
        for (file, href) in [
            ("walk.glb", "./walk.glb"),
            ("clips/walk 1.glb", "./clips/walk%201.glb"),
            ("clips\\walk.glb", "./clips/walk.glb"),
            ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
            ("//evil.example/x", ".///evil.example/x"),
            ("\" onclick=\"x", "./%22%20onclick%3D%22x"),
            ("größe?#%.glb", "./gr%C3%B6%C3%9Fe%3F%23%25.glb"),
        ] {
            let page = Page::new("t").link(file, "x").finish();
            assert!(
                page.contains(&format!("<a href=\"{href}\">x</a>")),
                "{file}"
            );
        }
    }

    #[test]
    fn pictures_are_embedded_byte_for_byte() {
        let png: Vec<u8> = (0..=255).collect();
        let page = Page::new("t").image_png(&png, "all bytes").finish();
        let start = page.find("base64,").unwrap() + "base64,".len();
        let length = page[start..].find('"').unwrap();
        let back = STANDARD.decode(&page[start..start + length]).unwrap();
        assert_eq!(back, png);
        assert!(page.contains("alt=\"all bytes\""));
    }

    #[test]
    fn tables_keep_their_cells_in_order() {
        let rows = [
            vec!["dress".to_owned(), "1.5".to_owned()],
            vec!["skirt".to_owned()],
        ];
        let page = Page::new("t")
            .table(&["garment", "mean_cm"], &rows)
            .finish();
        let expected = "<thead><tr><th>garment</th><th>mean_cm</th></tr></thead>\n<tbody>\n\
             <tr><td>dress</td><td class=\"n\">1.5</td></tr>\n<tr><td>skirt</td></tr>\n</tbody>";
        assert!(page.contains(expected), "{page}");
    }

    #[test]
    fn a_page_is_whole_and_asks_for_nothing_from_outside() {
        let page = Page::new("t").paragraph("one").paragraph("two").finish();
        assert!(page.starts_with("<!doctype html>"));
        assert!(page.ends_with("</body>\n</html>\n"));
        assert!(page.contains("prefers-color-scheme:dark"));
        assert!(page.contains("name=\"viewport\""));
        assert!(page.find("one").unwrap() < page.find("two").unwrap());
        for outside in ["http:", "https:", "@import", "url(", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
