//! Archives taken apart again, by a reader that knows nothing of the writer.

use std::io::Cursor;

use drapery_core::{FrameRate, Topology};
use glam::Vec3;

use super::*;

/// Data or a group of a file.
#[derive(Clone, Copy, Debug)]
struct Node<'a> {
    file: &'a [u8],
    address: u64,
}

fn u64_at(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().unwrap())
}

impl<'a> Node<'a> {
    fn root(file: &'a [u8]) -> Self {
        assert_eq!(&file[..8], b"Ogawa\xff\x00\x01");
        let address = u64_at(file, 8);
        Self { file, address }
    }

    fn is_data(self) -> bool {
        self.address >> 63 == 1
    }

    fn at(self) -> usize {
        (self.address & !(1 << 63)) as usize
    }

    fn data(self) -> &'a [u8] {
        assert!(self.is_data());
        match self.at() {
            0 => &[],
            at => &self.file[at + 8..at + 8 + u64_at(self.file, at) as usize],
        }
    }

    fn children(self) -> Vec<Self> {
        assert!(!self.is_data());
        let (file, at) = (self.file, self.at());
        let n = if at == 0 {
            0
        } else {
            u64_at(file, at) as usize
        };
        (0..n)
            .map(|i| Node {
                file,
                address: u64_at(file, at + 8 + 8 * i),
            })
            .collect()
    }

    /// The nth child, of nth child, …
    fn go(self, path: &[usize]) -> Self {
        path.iter().fold(self, |node, &i| node.children()[i])
    }

    /// Adds the bytes that it and what is under it take, each thing once.
    fn spans(self, all: &mut Vec<(usize, usize)>) {
        let at = self.at();
        if at == 0 {
            return;
        }
        let length = match self.is_data() {
            true => self.data().len(),
            false => 8 * self.children().len(),
        };
        all.push((at, 8 + length));
        if !self.is_data() {
            self.children().iter().for_each(|child| child.spans(all));
        }
    }

    /// The names and metadata of its child objects, of an object.
    fn objects(self) -> Vec<(String, u8)> {
        let headers = self.children().last().unwrap().data();
        let mut headers = &headers[..headers.len() - 32];
        let mut found = Vec::new();
        while !headers.is_empty() {
            let length = u32::from_le_bytes(headers[..4].try_into().unwrap()) as usize;
            let name = String::from_utf8(headers[4..4 + length].to_vec()).unwrap();
            found.push((name, headers[4 + length]));
            headers = &headers[5 + length..];
        }
        found
    }
}

/// The values of a sample without its key.
fn values<const N: usize>(sample: &[u8]) -> Vec<[u8; N]> {
    let (values, rest) = sample[16..].as_chunks::<N>();
    assert!(rest.is_empty());
    values.to_vec()
}

/// Two triangles of four vertices.
fn square() -> Topology {
    Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

/// A place for each vertex and sample, with a zero that has a sign, and a number that
/// is smaller than normal ones.
fn place(mesh: usize, sample: usize, vertex: usize) -> Vec3 {
    let place = Vec3::new(sample as f32 / 3.0, vertex as f32 - 1.5, mesh as f32);
    match vertex {
        0 => Vec3::new(-0.0, 1e-40, place.z),
        _ => place,
    }
}

fn archive_of(names: &[&str], n_samples: usize) -> Vec<u8> {
    let rate = FrameRate::new(24.0).unwrap();
    let mut archive = AlembicWriter::new(Cursor::new(Vec::new()), rate).unwrap();
    for (m, name) in names.iter().enumerate() {
        let mut mesh = archive.mesh(name, &square()).unwrap();
        for s in 0..n_samples {
            let places: Vec<Vec3> = (0..4).map(|v| place(m, s, v)).collect();
            mesh.push(&places).unwrap();
        }
        mesh.finish().unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn every_byte_of_a_file_belongs_to_one_thing() {
    let file = archive_of(&["body", "shirt"], 300);
    let mut spans = Vec::new();
    Node::root(&file).spans(&mut spans);
    spans.sort_unstable();
    let mut end = 16;
    for (at, length) in spans {
        assert_eq!(at, end, "bytes that nobody names, or that two do");
        end = at + length;
    }
    assert_eq!(end, file.len());
}

#[test]
fn an_archive_begins_as_readers_demand() {
    let file = archive_of(&["body", "shirt"], 5);
    let root = Node::root(&file);
    let kinds: Vec<bool> = root.children().iter().map(|c| c.is_data()).collect();
    assert_eq!(kinds, [true, true, false, true, true, true]);
    assert_eq!(root.go(&[0]).data(), [0; 4]);
    let library = i32::from_le_bytes(root.go(&[1]).data().try_into().unwrap());
    assert!(library >= 9999, "{library} is refused");
    let metadata = std::str::from_utf8(root.go(&[3]).data()).unwrap();
    assert!(metadata.contains("_ai_AlembicVersion=Alembic 1.8.3;"));
    assert!(metadata.starts_with("FramesPerTimeUnit=24;"), "{metadata}");
    let mut times = Vec::new();
    for (n_samples, step) in [(1u32, 1f64), (5, 1.0 / 24.0)] {
        times.extend(n_samples.to_le_bytes());
        times.extend(step.to_le_bytes());
        times.extend(1u32.to_le_bytes());
        times.extend([0; 8]);
    }
    assert_eq!(root.go(&[4]).data(), times);
}

#[test]
fn a_mesh_holds_what_was_pushed_to_the_bit() {
    let (n_samples, names) = (5, ["body", "shirt"]);
    let file = archive_of(&names, n_samples);
    let top = Node::root(&file).go(&[2]);
    // Metadata 6 is that of transforms, 4 of meshes.
    assert_eq!(top.objects(), names.map(|n| (n.to_string(), 6)));
    for (m, name) in names.into_iter().enumerate() {
        let transform = top.go(&[1 + m]);
        assert_eq!(transform.objects(), [(format!("{name}Shape"), 4)]);
        // .xform holds .inherits, which is true.
        assert_eq!(transform.go(&[0, 0, 0, 0]).data()[16..], [1]);
        let mesh = transform.go(&[1]);
        assert_eq!(mesh.objects(), []);
        let geometry = mesh.go(&[0, 0]);
        assert_eq!(geometry.children().len(), 4 + 1);
        let [bounds, positions, indices, counts] = [0, 1, 2, 3].map(|p| geometry.go(&[p]));
        let corners = values::<4>(indices.go(&[0]).data());
        let corners: Vec<i32> = corners.into_iter().map(i32::from_le_bytes).collect();
        assert_eq!(corners, [2, 1, 0, 3, 2, 0], "clockwise");
        assert_eq!(values::<4>(counts.go(&[0]).data()), [3i32.to_le_bytes(); 2]);
        for constant in [indices, counts] {
            assert_eq!(constant.children().len(), 2);
            assert!(constant.go(&[1]).data().is_empty());
        }
        assert_eq!(positions.children().len(), 2 * n_samples);
        assert_eq!(bounds.children().len(), n_samples);
        for s in 0..n_samples {
            let sample = values::<4>(positions.go(&[2 * s]).data());
            let expected = (0..4).flat_map(|v| place(m, s, v).to_array());
            let expected: Vec<[u8; 4]> = expected.map(f32::to_le_bytes).collect();
            assert_eq!(sample, expected);
            assert!(positions.go(&[2 * s + 1]).data().is_empty());
            let sample = values::<8>(bounds.go(&[s]).data());
            let found: Vec<f64> = sample.into_iter().map(f64::from_le_bytes).collect();
            let x = f64::from(s as f32 / 3.0);
            let z = m as f64;
            let expected = [0.0, -0.5, z, x, 1.5, z];
            assert_eq!(found, expected, "sample {s} of {name}");
        }
    }
}

#[test]
fn keys_differ_when_values_do() {
    let file = archive_of(&["body", "shirt"], 3);
    let top = Node::root(&file).go(&[2]);
    let key = |path: &[usize]| &top.go(path).data()[..16];
    let (positions, indices) = ([1, 1, 0, 0, 1], [1, 1, 0, 0, 2]);
    let of = |path: [usize; 5], child| key(&[&path[..], &[child]].concat());
    assert_ne!(of(positions, 0), of(positions, 2));
    assert_ne!(of(positions, 2), of(positions, 4));
    let mut other = indices;
    other[0] = 2;
    assert_eq!(of(indices, 0), of(other, 0));
    // The digests of the top: none of its properties, one of its children.
    let digests = |file: &[u8]| {
        let headers = Node::root(file).go(&[2]).children().pop().unwrap().data();
        headers[headers.len() - 32..].to_vec()
    };
    let one = digests(&file);
    assert_eq!(one[..16], [0; 16]);
    assert_ne!(one[16..], [0; 16]);
    assert_eq!(one, digests(&archive_of(&["body", "shirt"], 3)));
    assert_ne!(one, digests(&archive_of(&["body", "shirt"], 4)));
    assert_ne!(one, digests(&archive_of(&["body", "skirt"], 3)));
}

/// A writer begins where its file stands, and addresses count from there.
#[test]
fn a_file_may_begin_inside_another() {
    let mut out = Cursor::new(b"before".to_vec());
    out.set_position(6);
    let rate = FrameRate::new(24.0).unwrap();
    let mut archive = AlembicWriter::new(out, rate).unwrap();
    let mut mesh = archive.mesh("body", &square()).unwrap();
    let places: Vec<Vec3> = (0..4).map(|v| place(0, 0, v)).collect();
    mesh.push(&places).unwrap();
    mesh.finish().unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    assert_eq!(bytes[6..], archive_of(&["body"], 1));
}

#[test]
fn names_are_made_good_and_different() {
    let file = archive_of(&["a", "a", "a_2", "", "b/c\n", "b_c_", "Jäckchen"], 1);
    let names = Node::root(&file).go(&[2]).objects();
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["a", "a_2", "a_2_2", "mesh", "b_c_", "b_c__2", "Jäckchen"];
    assert_eq!(names, expected);
}

#[test]
fn what_can_not_be_written_is_an_error() {
    let new = || AlembicWriter::new(Cursor::new(Vec::new()), FrameRate::THIRTY).unwrap();
    assert!(matches!(new().finish(), Err(AlembicError::Empty)));

    let mut archive = new();
    let nobody = Topology::new(0, Vec::new()).unwrap();
    let loose = Topology::new(3, Vec::new()).unwrap();
    for (topology, expected) in [(nobody, "vertices"), (loose, "triangles")] {
        let error = archive.mesh("x", &topology).unwrap_err();
        assert!(matches!(error, AlembicError::Nothing { what, .. } if what == expected));
    }
    let mesh = archive.mesh("x", &square()).unwrap();
    assert!(matches!(
        mesh.finish(),
        Err(AlembicError::Nothing {
            what: "samples",
            ..
        })
    ));

    let mut mesh = archive.mesh("x", &square()).unwrap();
    mesh.push(&[Vec3::ZERO; 4]).unwrap();
    assert!(matches!(
        mesh.push(&[Vec3::ZERO; 3]),
        Err(AlembicError::VertexCount {
            sample: 1,
            found: 3,
            expected: 4,
            ..
        })
    ));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let places = [Vec3::ZERO, Vec3::ZERO, Vec3::Y * bad, Vec3::ZERO];
        assert!(matches!(
            mesh.push(&places),
            Err(AlembicError::NotFinite {
                sample: 1,
                vertex: 2,
                ..
            })
        ));
    }
    // A refused sample leaves nothing behind.
    mesh.push(&[Vec3::X; 4]).unwrap();
    mesh.finish().unwrap();

    let mut short = archive.mesh("y", &square()).unwrap();
    short.push(&[Vec3::ZERO; 4]).unwrap();
    assert!(matches!(
        short.finish(),
        Err(AlembicError::SampleCount {
            found: 1,
            expected: 2,
            other,
            ..
        }) if other == "x"
    ));
    // What is not finished is not there, and its name is free.
    let file = archive.finish().unwrap().into_inner();
    let top = Node::root(&file).go(&[2]);
    assert_eq!(top.objects(), [("x".to_string(), 6)]);
    assert_eq!(top.go(&[1, 1, 0, 0, 1]).children().len(), 4);
}

/// A disk that is full after some bytes.
#[derive(Debug)]
struct Full(Cursor<Vec<u8>>, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.1.saturating_sub(self.0.position() as usize);
        self.0.write(&bytes[..bytes.len().min(room)])
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_comes() {
    let write = |room| -> Result<(), AlembicError> {
        let out = Full(Cursor::new(Vec::new()), room);
        let mut archive = AlembicWriter::new(out, FrameRate::new(24.0).unwrap())?;
        let mut mesh = archive.mesh("body", &square())?;
        mesh.push(&[0, 1, 2, 3].map(|v| place(0, 0, v)))?;
        mesh.finish()?;
        archive.finish().map(drop)
    };
    let n_bytes = archive_of(&["body"], 1).len();
    for room in 0..n_bytes {
        assert!(matches!(write(room), Err(AlembicError::Io(_))), "{room}");
    }
    assert!(write(n_bytes).is_ok());
}
