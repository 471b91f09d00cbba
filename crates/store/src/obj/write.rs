//! [`write_obj`]: a mesh to text.

use std::fmt::Write;

use super::ObjMesh;

/// How many points stand on a line.
const POINTS_PER_LINE: usize = 16;

/// The text of an OBJ file that reads back as the same mesh: numbers in full,
/// then the groups with their points, then the faces.
///
/// Blanks in group names become `_`, since a blank separates names; two groups
/// of one name would read back as one.
pub fn write_obj(mesh: &ObjMesh) -> String {
    let mut text = String::with_capacity(40 * (mesh.positions.len() + mesh.faces.len()));
    // Writing to a string can't fail.
    let _ = write_to(&mut text, mesh);
    text
}

fn write_to(out: &mut String, mesh: &ObjMesh) -> std::fmt::Result {
    if let Some(name) = &mesh.name {
        let words: Vec<String> = name.split_whitespace().map(word).collect();
        writeln!(out, "o {}", words.join(" "))?;
    }
    for p in &mesh.positions {
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for t in &mesh.texture {
        writeln!(out, "vt {} {}", t.x, t.y)?;
    }
    for group in &mesh.groups {
        writeln!(out, "g {}", word(&group.name))?;
        for points in group.points.chunks(POINTS_PER_LINE) {
            out.push('p');
            for &point in points {
                write!(out, " {}", u64::from(point) + 1)?;
            }
            out.push('\n');
        }
    }
    let mut current = None;
    for face in &mesh.faces {
        if current != Some(face.group) {
            match face.group {
                Some(group) => writeln!(out, "g {}", word(&mesh.groups[group as usize].name))?,
                None => writeln!(out, "g")?,
            }
            current = Some(face.group);
        }
        let [a, b, c] = face.positions.map(|i| u64::from(i) + 1);
        match face.texture {
            Some(texture) => {
                let [s, t, u] = texture.map(|i| u64::from(i) + 1);
                writeln!(out, "f {a}/{s} {b}/{t} {c}/{u}")?;
            }
            None => writeln!(out, "f {a} {b} {c}")?,
        }
    }
    Ok(())
}

/// A name as one word that is not a comment and doesn't join the next line.
fn word(name: &str) -> String {
    let mut word: String = name
        .chars()
        .map(|c| match c.is_whitespace() || c.is_control() {
            true => '_',
            false => c,
        })
        .collect();
    if word.starts_with('#') || word.is_empty() {
        word.insert(0, '_');
    }
    if word.ends_with('\\') {
        word.push('_');
    }
    word
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};
    use proptest::prelude::*;

    use super::super::{ObjFace, ObjGroup, read_obj};
    use super::*;

    fn meshes() -> impl Strategy<Value = ObjMesh> {
        let number = prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO;
        let positions = prop::collection::vec([number, number, number], 1..12);
        let texture = prop::collection::vec([number, number], 1..12);
        let points = prop::collection::vec(prop::collection::vec(any::<u32>(), 0..40), 0..4);
        let faces = prop::collection::vec((any::<[u32; 6]>(), any::<bool>(), any::<u32>()), 0..20);
        let name = prop::option::of("[a-zé]{1,5}( [a-z]{1,3})?");
        (positions, texture, points, faces, name).prop_map(
            |(positions, texture, points, faces, name)| {
                let n = positions.len() as u32;
                let n_texture = texture.len() as u32;
                let n_groups = points.len() as u32;
                let face = |(i, has_texture, group): ([u32; 6], bool, u32)| ObjFace {
                    positions: [i[0] % n, i[1] % n, i[2] % n],
                    texture: has_texture.then_some([
                        i[3] % n_texture,
                        i[4] % n_texture,
                        i[5] % n_texture,
                    ]),
                    group: Some(group % (n_groups + 1)).filter(|&g| g < n_groups),
                };
                let group = |(i, points): (usize, Vec<u32>)| ObjGroup {
                    name: format!("gruppe_ü{i}"),
                    points: points.into_iter().map(|p| p % n).collect(),
                };
                ObjMesh {
                    name,
                    positions: positions.into_iter().map(Vec3::from).collect(),
                    texture: texture.into_iter().map(Vec2::from).collect(),
                    faces: faces.into_iter().map(face).collect(),
                    groups: points.into_iter().enumerate().map(group).collect(),
                }
            },
        )
    }

    proptest! {
        #[test]
        fn a_mesh_reads_back_as_it_was_written(mesh in meshes()) {
            let reading = read_obj(write_obj(&mesh).as_bytes()).unwrap();
            prop_assert_eq!(reading.mesh, mesh);
            prop_assert_eq!(reading.n_split_polygons, 0);
        }

        #[test]
        fn any_bytes_are_a_mesh_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_obj(&bytes);
        }

        #[test]
        fn any_lines_are_a_mesh_or_an_error(
            lines in prop::collection::vec("(v|vt|f|p|g|o|l)( -?[0-9]{1,3}(/-?[0-9])?){0,4}\\\\?", 0..20)
        ) {
            let _ = read_obj(lines.join("\n").as_bytes());
        }
    }

    #[test]
    fn names_that_would_not_read_back_are_changed() {
        for (name, expected) in [
            ("left sleeve", "left_sleeve"),
            ("#1", "_#1"),
            ("", "_"),
            ("back\\", "back\\_"),
            ("two\nlines", "two_lines"),
        ] {
            assert_eq!(word(name), expected);
        }
    }
}
