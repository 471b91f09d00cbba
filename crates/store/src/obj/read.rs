//! [`read_obj`]: bytes to a mesh.

use std::collections::HashMap;

use glam::{Vec2, Vec3};

use super::lines::{Lines, decode, words};
use super::{ObjError, ObjFace, ObjGroup, ObjReading};

/// The mesh in the bytes of an OBJ file.
///
/// # Errors
/// When the bytes are not text, a line is malformed, a number is not finite or
/// an index names nothing; the error names the line.
pub fn read_obj(bytes: &[u8]) -> Result<ObjReading, ObjError> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    check_encoding(text)?;
    let mut lines = Lines::new(text);
    let mut reader = Reader::default();
    for (line, content) in &mut lines {
        reader.take(line, &content)?;
    }
    let n_lines = lines.n_taken();
    reader.finish(n_lines)
}

fn check_encoding(text: &[u8]) -> Result<(), ObjError> {
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err(ObjError::Utf16);
    }
    let Some(zero) = text.iter().position(|&b| b == 0) else {
        return Ok(());
    };
    // In UTF-16 of Western text every other byte is zero.
    let start = &text[..text.len().min(64)];
    let zeros = start.iter().filter(|&&b| b == 0).count();
    let same_parity = |parity| {
        let odd = start.iter().skip(parity).step_by(2);
        odd.clone().all(|&b| b == 0) && zeros == odd.count()
    };
    if same_parity(0) || same_parity(1) {
        return Err(ObjError::Utf16);
    }
    Err(ObjError::Binary {
        line: 1 + text[..zero].iter().filter(|&&b| b == b'\n').count(),
    })
}

/// What the lines so far have given.
#[derive(Default)]
struct Reader {
    reading: ObjReading,
    /// Groups by name.
    by_name: HashMap<String, u32>,
    /// What faces and points belong to.
    current: Current,
    /// The largest indices named so far: those ahead of their vertices can
    /// only be checked at the end.
    ahead: [Option<Ahead>; 2],
}

#[derive(Default)]
enum Current {
    #[default]
    Nothing,
    /// An object's name, which becomes a group once it is used.
    Object(String),
    Groups(Vec<u32>),
}

/// The first mention of an index that is not there yet.
#[derive(Clone, Copy)]
struct Ahead {
    line: usize,
    index: u32,
}

/// Which list an index points into.
#[derive(Clone, Copy)]
enum Target {
    Position = 0,
    Texture = 1,
}

impl Target {
    const fn what(self) -> &'static str {
        match self {
            Self::Position => "vertex",
            Self::Texture => "texture coordinate",
        }
    }
}

impl Reader {
    fn take(&mut self, line: usize, content: &[u8]) -> Result<(), ObjError> {
        let mut words = words(content);
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        let mesh = &mut self.reading.mesh;
        match keyword {
            b"v" => {
                let p = numbers(line, "v", words, 3..=7, "3 to 7")?;
                mesh.positions.push(Vec3::new(p[0], p[1], p[2]));
                within(line, mesh.positions.len(), "vertices")?;
            }
            b"vt" => {
                let t = numbers(line, "vt", words, 1..=3, "1 to 3")?;
                mesh.texture.push(Vec2::new(t[0], t[1]));
                within(line, mesh.texture.len(), "texture coordinates")?;
            }
            b"f" | b"fo" => self.face(line, words)?,
            b"p" => self.points(line, words)?,
            b"g" => {
                let names: Vec<String> = words.map(decode).collect();
                let groups = names.into_iter().map(|name| self.group(name));
                self.current = Current::Groups(groups.collect());
            }
            b"o" => {
                let parts: Vec<String> = words.map(decode).collect();
                let name = parts.join(" ");
                if mesh.name.is_none() && !name.is_empty() {
                    mesh.name = Some(name);
                }
                self.current = match parts.is_empty() {
                    true => Current::Nothing,
                    false => Current::Object(parts.join("_")),
                };
            }
            _ if keyword.iter().all(u8::is_ascii_graphic) => self.reading.n_skipped_lines += 1,
            _ => return Err(ObjError::Binary { line }),
        }
        Ok(())
    }

    fn face<'a>(
        &mut self,
        line: usize,
        words: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), ObjError> {
        let mut corners: Vec<(u32, Option<u32>)> = Vec::new();
        for word in words {
            let bad = || ObjError::Index {
                line,
                word: shortened(word),
            };
            let mut parts = word.split(|&b| b == b'/');
            let position = parts.next().and_then(integer).ok_or_else(bad)?;
            let texture = match parts.next() {
                None | Some([]) => None,
                Some(part) => Some(integer(part).ok_or_else(bad)?),
            };
            match parts.next() {
                None | Some([]) => {}
                // Normals are not kept, so the index only has to be one.
                Some(part) => drop(integer(part).ok_or_else(bad)?),
            }
            if parts.next().is_some() {
                return Err(bad());
            }
            let position = self.resolve(line, Target::Position, position)?;
            let texture = match texture {
                Some(index) => Some(self.resolve(line, Target::Texture, index)?),
                None => None,
            };
            corners.push((position, texture));
        }
        if corners.len() < 3 {
            return Err(ObjError::Count {
                line,
                keyword: "f",
                found: corners.len(),
                expected: "3 or more",
            });
        }
        let has_texture = corners[0].1.is_some();
        if corners.iter().any(|c| c.1.is_some() != has_texture) {
            return Err(ObjError::MixedCorners { line });
        }
        let group = self.current_groups().first().copied();
        for pair in corners[1..].windows(2) {
            let fan = [corners[0], pair[0], pair[1]];
            let texture = [fan[0].1, fan[1].1, fan[2].1];
            self.reading.mesh.faces.push(ObjFace {
                positions: fan.map(|c| c.0),
                texture: match texture {
                    [Some(a), Some(b), Some(c)] => Some([a, b, c]),
                    _ => None,
                },
                group,
            });
        }
        self.reading.n_split_polygons += usize::from(corners.len() > 3);
        within(line, self.reading.mesh.faces.len(), "triangles")
    }

    fn points<'a>(
        &mut self,
        line: usize,
        words: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), ObjError> {
        let mut points = Vec::new();
        for word in words {
            let index = integer(word).ok_or_else(|| ObjError::Index {
                line,
                word: shortened(word),
            })?;
            points.push(self.resolve(line, Target::Position, index)?);
        }
        if points.is_empty() {
            return Err(ObjError::Count {
                line,
                keyword: "p",
                found: 0,
                expected: "1 or more",
            });
        }
        let groups = self.current_groups();
        if groups.is_empty() {
            self.reading.n_nameless_points += points.len();
        }
        for group in groups {
            let group = &mut self.reading.mesh.groups[group as usize];
            group.points.extend_from_slice(&points);
        }
        Ok(())
    }

    /// An index from 0 for one of the file, which counts from 1 or, when
    /// negative, back from here.
    fn resolve(&mut self, line: usize, target: Target, index: i64) -> Result<u32, ObjError> {
        let count = self.count(target);
        let absolute = match index {
            1.. => index - 1,
            _ => count as i64 + index,
        };
        match u32::try_from(absolute) {
            Ok(resolved) if index != 0 => {
                let ahead = &mut self.ahead[target as usize];
                if absolute >= count as i64 && ahead.is_none_or(|a| a.index < resolved) {
                    *ahead = Some(Ahead {
                        line,
                        index: resolved,
                    });
                }
                Ok(resolved)
            }
            _ => Err(ObjError::NoSuch {
                line,
                what: target.what(),
                index,
                count,
            }),
        }
    }

    fn count(&self, target: Target) -> usize {
        match target {
            Target::Position => self.reading.mesh.positions.len(),
            Target::Texture => self.reading.mesh.texture.len(),
        }
    }

    fn current_groups(&mut self) -> Vec<u32> {
        match &self.current {
            Current::Nothing => Vec::new(),
            Current::Groups(groups) => groups.clone(),
            Current::Object(name) => {
                let groups = vec![self.group(name.clone())];
                self.current = Current::Groups(groups.clone());
                groups
            }
        }
    }

    fn group(&mut self, name: String) -> u32 {
        let groups = &mut self.reading.mesh.groups;
        *self.by_name.entry(name).or_insert_with_key(|name| {
            groups.push(ObjGroup {
                name: name.clone(),
                points: Vec::new(),
            });
            groups.len() as u32 - 1
        })
    }

    fn finish(self, n_lines: usize) -> Result<ObjReading, ObjError> {
        if self.reading.mesh.positions.is_empty() {
            return Err(ObjError::Empty { n_lines });
        }
        for target in [Target::Position, Target::Texture] {
            let count = self.count(target);
            if let Some(ahead) = self.ahead[target as usize]
                && ahead.index as usize >= count
            {
                return Err(ObjError::NoSuch {
                    line: ahead.line,
                    what: target.what(),
                    index: i64::from(ahead.index) + 1,
                    count,
                });
            }
        }
        Ok(self.reading)
    }
}

/// The numbers of a line, at most seven; those it doesn't have are 0.
fn numbers<'a>(
    line: usize,
    keyword: &'static str,
    words: impl Iterator<Item = &'a [u8]> + Clone,
    allowed: std::ops::RangeInclusive<usize>,
    expected: &'static str,
) -> Result<[f32; 7], ObjError> {
    let found = words.clone().count();
    if !allowed.contains(&found) {
        return Err(ObjError::Count {
            line,
            keyword,
            found,
            expected,
        });
    }
    let mut values = [0.0; 7];
    for (value, word) in values.iter_mut().zip(words) {
        let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
        let number: f32 = number.ok_or_else(|| ObjError::Number {
            line,
            word: shortened(word),
        })?;
        if !number.is_finite() {
            return Err(ObjError::NotFinite {
                line,
                word: shortened(word),
            });
        }
        *value = number;
    }
    Ok(values)
}

fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A word short enough for a message.
fn shortened(word: &[u8]) -> String {
    decode(word).chars().take(40).collect()
}

const fn within(line: usize, count: usize, what: &'static str) -> Result<(), ObjError> {
    match count <= i32::MAX as usize {
        true => Ok(()),
        false => Err(ObjError::TooMany { line, what }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ObjMesh;
    use super::*;

    fn mesh(text: &str) -> ObjMesh {
        read_obj(text.as_bytes()).unwrap().mesh
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";

    #[test]
    fn all_corner_forms_name_the_same_triangle() {
        for corners in [
            "1 2 3",
            "1// 2// 3//",
            "1//9 2//9 3//-1",
            "-4 -3 -2",
            "1/ 2/ 3/",
        ] {
            let mesh = mesh(&format!("{SQUARE}f {corners}\n"));
            assert_eq!(mesh.faces[0].positions, [0, 1, 2], "{corners}");
            assert_eq!(mesh.faces[0].texture, None, "{corners}");
        }
        for corners in ["1/4 2/3 3/2", "1/4/1 2/3/1 3/2/1", "-4/-1 -3/-2 -2/-3"] {
            let mesh = mesh(&format!("{SQUARE}f {corners}\n"));
            assert_eq!(mesh.faces[0].positions, [0, 1, 2], "{corners}");
            assert_eq!(mesh.faces[0].texture, Some([3, 2, 1]), "{corners}");
        }
    }

    #[test]
    fn polygons_become_a_fan() {
        let text = "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\nf 1 2 3 4 5\nf 3 2 1\nf 1 2 3 4\n";
        let reading = read_obj(text.as_bytes()).unwrap();
        let corners: Vec<[u32; 3]> = reading.mesh.faces.iter().map(|f| f.positions).collect();
        let expected = [
            [0, 1, 2],
            [0, 2, 3],
            [0, 3, 4],
            [2, 1, 0],
            [0, 1, 2],
            [0, 2, 3],
        ];
        assert_eq!(corners, expected);
        assert_eq!(reading.n_split_polygons, 2);
    }

    #[test]
    fn groups_take_faces_and_points() {
        let text = format!(
            "{SQUARE}o My Shirt\nf 1 2 3\ng front pin_waist\nf 1 3 4\np 1 -1\ng\nf 2 3 4\np 2\n\
             g pin_waist\np 3 \\\n 2\n"
        );
        let reading = read_obj(text.as_bytes()).unwrap();
        let mesh = &reading.mesh;
        assert_eq!(mesh.name.as_deref(), Some("My Shirt"));
        let groups: Vec<(&str, &[u32])> = mesh
            .groups
            .iter()
            .map(|g| (g.name.as_str(), g.points.as_slice()))
            .collect();
        let expected: [(&str, &[u32]); 3] = [
            ("My_Shirt", &[]),
            ("front", &[0, 3]),
            ("pin_waist", &[0, 3, 2, 1]),
        ];
        assert_eq!(groups, expected);
        let of_faces: Vec<Option<u32>> = mesh.faces.iter().map(|f| f.group).collect();
        assert_eq!(of_faces, [Some(0), Some(1), None]);
        assert_eq!(reading.n_nameless_points, 1);
    }

    #[test]
    fn blender_and_maya_extras_are_skipped() {
        let text = "\u{feff}# Größe\r\nmtllib a.mtl\r\nv 0 0 0 1 0.5 0.5\r\nv 1 0 0 1.0\r\n\
                    v 0 1 0 1 1 1 1\r\nvn 0 0 1\r\nvt 0.5\r\ns off\r\nusemtl x\r\nl 1 2\r\n\
                    f 1//1 2//1 3//1 # done";
        let reading = read_obj(text.as_bytes()).unwrap();
        assert_eq!(reading.mesh.positions.len(), 3);
        assert_eq!(reading.mesh.texture, [Vec2::new(0.5, 0.0)]);
        assert_eq!(reading.n_skipped_lines, 5);
    }

    #[test]
    fn latin_1_names_are_kept() {
        let mut text = b"# caf\xe9\nv 0 0 0\nv 1 0 0\nv 0 1 0\ng \xe4rmel\nf 1 2 3\n".to_vec();
        let reading = read_obj(&text).unwrap();
        assert_eq!(reading.mesh.groups[0].name, "ärmel");
        text.insert(0, 0xfe);
        assert_eq!(read_obj(&text), Err(ObjError::Binary { line: 1 }));
    }

    #[test]
    fn a_vertex_may_come_after_its_face() {
        let mesh = mesh("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n");
        assert_eq!(mesh.faces[0].positions, [0, 1, 2]);
    }
}
