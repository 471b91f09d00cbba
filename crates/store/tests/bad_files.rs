//! Bad input, as a table for each format: the file, the error variant it must
//! give, and the place that its message must name.

use drapery_store::CacheError;
use drapery_store::mdd::{MddReader, MddWriter};
use drapery_store::npz::{
    NpyArray, NpyError, NpzArchive, NpzError, read_npy, write_npy, write_npz,
};
use drapery_store::obj::{ObjError, read_obj};
use drapery_store::pc2::{Pc2Reader, Pc2Writer};
use glam::Vec3;

/// Fails unless `error` is of the expected variant and its message, with those
/// of its sources, names the place.
fn check<E: std::error::Error>(
    case: &str,
    error: Option<E>,
    is_expected: fn(&E) -> bool,
    place: &str,
) {
    let Some(error) = error else {
        panic!("{case}: read without an error");
    };
    assert!(is_expected(&error), "{case}: {error:?}");
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message += ": ";
        message += &cause.to_string();
        source = cause.source();
    }
    assert!(
        message.contains(place),
        "{case}: {message:?} does not name {place:?}"
    );
    let first = message.chars().next();
    assert!(
        first.is_some_and(|c| !c.is_uppercase()),
        "{case}: {message}"
    );
    assert!(!message.ends_with('.'), "{case}: {message}");
}

/// A bad file, the variant of its error and what the message must name.
macro_rules! case {
    ($name:literal : $bytes:expr => $variant:pat, $place:literal) => {
        ($name, $bytes, |e| matches!(e, $variant), $place)
    };
}

type Case<E> = (&'static str, Vec<u8>, fn(&E) -> bool, &'static str);

/// An array file with this header text and body.
fn npy(header: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    bytes
}

fn described(descr: &str, shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    npy(&header, body)
}

#[test]
fn bad_npy_files() {
    let good = write_npy(&NpyArray::f32([3], vec![1.0, 2.0, 3.0]));
    let cut = |n: usize| good[..n].to_vec();
    let cases: Vec<Case<NpyError>> = vec![
        case!("empty": vec![] => NpyError::Magic, "NUMPY"),
        case!("text": b"hello, this is no array".to_vec() => NpyError::Magic, "NUMPY"),
        case!("cut in the version": cut(7) => NpyError::HeaderTruncated { .. }, "7 bytes"),
        case!("cut in the length": cut(9) => NpyError::HeaderTruncated { .. }, "9 bytes"),
        case!("cut in the header": cut(60) => NpyError::HeaderTruncated { .. }, "60 bytes"),
        case!("cut in the data": cut(good.len() - 1) => NpyError::Length { .. }, "[3]"),
        case!("one byte more": [good.clone(), vec![0]].concat()
            => NpyError::Length { .. }, "13 are present"),
        case!("version 9": [b"\x93NUMPY\x09\x00".to_vec(), cut(60)].concat()
            => NpyError::Version { .. }, "9.0"),
        case!("endless header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec()
            => NpyError::HeaderLength { .. }, "4294967295"),
        case!("no dictionary": npy("[1, 2, 3]", &[]) => NpyError::Header { .. }, "byte 0"),
        case!("no shape": npy("{'descr': '<f4', 'fortran_order': False}", &[])
            => NpyError::Header { .. }, "shape"),
        case!("negative shape": described("<f4", "(-1,)", &[])
            => NpyError::Header { .. }, "byte 51"),
        case!("objects": described("|O", "(1,)", b"\x80\x02N.") => NpyError::Objects, "pickled"),
        case!("complex": described("<c8", "(1,)", &[0; 8]) => NpyError::ElementType { .. }, "<c8"),
        case!("record": npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4])
            => NpyError::ElementType { .. }, "record"),
        case!("no width": described("<f", "(1,)", &[0; 4]) => NpyError::ElementType { .. }, "<f"),
        case!("absurd count": described("<f4", "(1000000000000,)", &[0; 4])
            => NpyError::TooLarge { .. }, "1000000000000"),
        case!("absurd but allowed count": described("<f4", "(1000000000,)", &[0; 4])
            => NpyError::Length { .. }, "1000000000"),
        case!("product beyond 64 bits": described("<f4", "(4294967296, 4294967296)", &[])
            => NpyError::TooLarge { .. }, "4294967296"),
        case!("endless empty strings": described("<U0", "(100000000,)", &[])
            => NpyError::TooLarge { .. }, "strings"),
        case!("half a surrogate pair": described("<U1", "(1,)", &[0x00, 0xd8, 0, 0])
            => NpyError::Character { .. }, "element 0"),
    ];
    for (case, bytes, is_expected, place) in cases {
        let error = match read_npy(&bytes) {
            Ok(_) => None,
            Err(NpzError::Npy(error)) => Some(error),
            Err(other) => panic!("{case}: {other:?}"),
        };
        check(case, error, is_expected, place);
    }
}

/// An archive with one array `weights`, the given file.
fn zipped(array_file: &[u8]) -> Vec<u8> {
    let size = array_file.len() as u32;
    stored_zip("weights.npy", array_file, size, crc32(array_file))
}

/// A zip file of one uncompressed entry whose declared size and checksum may
/// be wrong.
fn stored_zip(name: &str, content: &[u8], declared: u32, crc: u32) -> Vec<u8> {
    let fields = |out: &mut Vec<u8>| {
        out.extend([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]); // version, flags, stored, time, date
        out.extend(crc.to_le_bytes());
        out.extend((content.len() as u32).to_le_bytes());
        out.extend(declared.to_le_bytes());
        out.extend((name.len() as u16).to_le_bytes());
        out.extend([0, 0]); // no extra field
    };
    let mut bytes = b"PK\x03\x04".to_vec();
    fields(&mut bytes);
    bytes.extend(name.as_bytes());
    bytes.extend(content);
    let directory = bytes.len() as u32;
    bytes.extend(b"PK\x01\x02\x14\x00");
    fields(&mut bytes);
    bytes.extend([0; 14]); // comment, disk, attributes, offset of the entry
    bytes.extend(name.as_bytes());
    let directory_size = bytes.len() as u32 - directory;
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend(directory_size.to_le_bytes());
    bytes.extend(directory.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            (c >> 1) ^ (0xedb8_8320 * (c & 1))
        })
    };
    !bytes.iter().fold(!0, step)
}

#[test]
fn bad_npz_files() {
    let array = write_npy(&NpyArray::f32([4], vec![0.25; 4]));
    let sound = zipped(&array);
    assert_eq!(
        NpzArchive::from_bytes(&sound)
            .unwrap()
            .f32("weights")
            .unwrap()
            .1,
        [0.25; 4]
    );

    let good = write_npz(&[("weights", &NpyArray::f32([4], vec![0.25; 4]))]).unwrap();
    let not_finite = write_npy(&NpyArray::f32([2], vec![0.0, f32::NAN]));
    let huge = write_npy(&NpyArray::f64([2], vec![0.0, 1e300]));
    let words = write_npy(&NpyArray::from_text([1], vec!["a".into()]));
    let no_directory = sound[..sound.len() - 22].to_vec();
    let cases: Vec<Case<NpzError>> = vec![
        case!("empty": vec![] => NpzError::Archive(_), "archive"),
        case!("text": b"# not a zip file\n".to_vec() => NpzError::Archive(_), "archive"),
        case!("a bare array": array.clone() => NpzError::Archive(_), "archive"),
        case!("cut at half": good[..good.len() / 2].to_vec() => NpzError::Archive(_), "archive"),
        case!("without its directory": no_directory => NpzError::Archive(_), "archive"),
        case!("cut by one byte": good[..good.len() - 1].to_vec()
            => NpzError::Archive(_), "archive"),
        case!("another name": stored_zip("faces.npy", &array, array.len() as u32, crc32(&array))
            => NpzError::Missing { .. }, "weights; there are faces"),
        case!("size declared too small": stored_zip("weights.npy", &array, 10, crc32(&array))
            => NpzError::Entry { .. }, "weights"),
        case!("size declared too large": stored_zip("weights.npy", &array, 1_000_000, crc32(&array))
            => NpzError::Size { expected: 1_000_000, .. }, "weights"),
        case!("out of proportion": stored_zip("weights.npy", &array, 600 << 20, crc32(&array))
            => NpzError::OverBudget { found: 629_145_600, .. }, "629145600 bytes"),
        case!("wrong checksum": stored_zip("weights.npy", &array, array.len() as u32, 7)
            => NpzError::Entry { .. }, "weights"),
        case!("no array inside": zipped(b"just text")
            => NpzError::Array { error: NpyError::Magic, .. }, "weights"),
        case!("array cut": zipped(&array[..array.len() - 2])
            => NpzError::Array { error: NpyError::Length { .. }, .. }, "weights"),
        case!("objects": zipped(&described("|O", "(1,)", b"\x80\x02N."))
            => NpzError::Array { error: NpyError::Objects, .. }, "weights"),
        case!("NaN": zipped(&not_finite)
            => NpzError::Array { error: NpyError::NotFinite { index: 1, .. }, .. },
            "weights: element 1"),
        case!("huge number": zipped(&huge)
            => NpzError::Array { error: NpyError::NotFinite { index: 1, .. }, .. },
            "weights: element 1"),
        case!("words": zipped(&words)
            => NpzError::Array { error: NpyError::Kind { .. }, .. }, "weights"),
    ];
    for (case, bytes, is_expected, place) in cases {
        let error = NpzArchive::from_bytes(&bytes)
            .and_then(|a| a.f32("weights"))
            .err();
        check(case, error, is_expected, place);
    }
}

#[test]
fn bad_obj_files() {
    let text = |t: &str| t.as_bytes().to_vec();
    let utf16 = |t: &str, bom: &[u8]| {
        let units = t.encode_utf16().flat_map(u16::to_le_bytes);
        [bom.to_vec(), units.collect()].concat()
    };
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let cases: Vec<Case<ObjError>> = vec![
        case!("empty": vec![] => ObjError::Empty { n_lines: 0 }, "0 lines"),
        case!("only comments": text("# a\n# b\n") => ObjError::Empty { n_lines: 2 }, "2 lines"),
        case!("another kind of text": text("{\n\"asset\": {}\n}\n")
            => ObjError::Empty { n_lines: 3 }, "3 lines"),
        case!("UTF-16 with a mark": utf16(triangle, b"\xff\xfe") => ObjError::Utf16, "UTF-16"),
        case!("UTF-16 without": utf16(triangle, b"") => ObjError::Utf16, "UTF-16"),
        case!("binary after text": text("v 0 0 0\n\0\0\x01")
            => ObjError::Binary { line: 2 }, "line 2"),
        case!("binary without zeros": text("v 0 0 0\n\x01\u{7f}\u{1b} 1 2")
            => ObjError::Binary { line: 2 }, "line 2"),
        case!("two coordinates": text("v 0 0 0\nv 1 2\n")
            => ObjError::Count { line: 2, keyword: "v", found: 2, .. }, "line 2"),
        case!("cut in a number": text("v 0 0 0\nv 1 2 3e")
            => ObjError::Number { line: 2, .. }, "3e"),
        case!("decimal comma": text("v 0,5 0 0\n") => ObjError::Number { line: 1, .. }, "0,5"),
        case!("NaN": text("v 0 0 0\n\nv 0 nan 0\n")
            => ObjError::NotFinite { line: 3, .. }, "line 3"),
        case!("infinity": text("v 0 0 0\nvt inf 0\n")
            => ObjError::NotFinite { line: 2, .. }, "inf"),
        case!("huge number": text("v 1e99 0 0\n") => ObjError::NotFinite { line: 1, .. }, "1e99"),
        case!("two corners": text(&format!("{triangle}f 1 2\n"))
            => ObjError::Count { line: 4, keyword: "f", .. }, "line 4"),
        case!("vertex 0": text(&format!("{triangle}f 0 1 2\n"))
            => ObjError::NoSuch { line: 4, index: 0, .. }, "vertex 0"),
        case!("vertex out of range": text(&format!("{triangle}f 1 2 3\nf 1 2 4\n"))
            => ObjError::NoSuch { line: 5, index: 4, count: 3, .. }, "line 5: vertex 4"),
        case!("negative out of range": text(&format!("{triangle}f -1 -2 -4\n"))
            => ObjError::NoSuch { line: 4, index: -4, .. }, "vertex -4"),
        case!("texture out of range": text(&format!("{triangle}vt 0 0\nf 1/1 2/1 3/2\n"))
            => ObjError::NoSuch { line: 5, what: "texture coordinate", index: 2, .. }, "line 5"),
        case!("absurd index": text(&format!("{triangle}f 1 2 4294967297\n"))
            => ObjError::NoSuch { line: 4, .. }, "4294967297"),
        case!("index beyond 64 bits": text(&format!("{triangle}f 1 2 99999999999999999999\n"))
            => ObjError::Index { line: 4, .. }, "line 4"),
        case!("corner of four parts": text(&format!("{triangle}f 1/1/1/1 2 3\n"))
            => ObjError::Index { line: 4, .. }, "1/1/1/1"),
        case!("corner that is a word": text(&format!("{triangle}f a b c\n"))
            => ObjError::Index { line: 4, .. }, "line 4"),
        case!("mixed corners": text(&format!("{triangle}vt 0 0\nf 1/1 2/1 3\n"))
            => ObjError::MixedCorners { line: 5 }, "line 5"),
        case!("point out of range": text(&format!("{triangle}g pin\np 1 9\n"))
            => ObjError::NoSuch { line: 5, index: 9, .. }, "vertex 9"),
        case!("no point": text(&format!("{triangle}g pin\np\n"))
            => ObjError::Count { line: 5, keyword: "p", .. }, "line 5"),
        case!("fault after joined lines": text(&format!("{triangle}f 1 \\\n2 \\\n3\nf 1 2 x\n"))
            => ObjError::Index { line: 7, .. }, "line 7"),
    ];
    for (case, bytes, is_expected, place) in cases {
        check(case, read_obj(&bytes).err(), is_expected, place);
    }
}

/// Two samples of three points.
fn points(sample: usize) -> [Vec3; 3] {
    [0.0, 1.0, 2.0].map(|x| Vec3::new(x, sample as f32, 0.0))
}

fn with(bytes: &[u8], at: usize, patch: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + patch.len()].copy_from_slice(patch);
    bytes
}

#[test]
fn bad_pc2_files() {
    let mut writer = Pc2Writer::new(Vec::new(), 3, 2).unwrap();
    for sample in 0..2 {
        writer.push(&points(sample)).unwrap();
    }
    let good = writer.finish().unwrap();
    let nan = f32::NAN.to_le_bytes();
    let cases: Vec<Case<CacheError>> = vec![
        case!("empty": vec![] => CacheError::Magic, "PC2"),
        case!("another format": b"POINTCACHE3\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_vec()
            => CacheError::Magic, "POINTCACHE2"),
        case!("cut in the header": good[..20].to_vec()
            => CacheError::Header { found: 20, expected: 32 }, "20 bytes"),
        case!("version 2": with(&good, 12, &[2]) => CacheError::Version { found: 2 }, "2"),
        case!("negative points": with(&good, 16, &[0xff; 4])
            => CacheError::Counts { points: -1, .. }, "-1 points"),
        case!("absurd counts": with(&with(&good, 16, &[0xff, 0xff, 0xff, 0x7f]), 28, &[0xff, 0xff, 0xff, 0x7f])
            => CacheError::Length { .. },
            "2147483647 points"),
        case!("samples of nothing": with(&good, 16, &[0; 4])[..32].to_vec()
            => CacheError::Counts { points: 0, .. }, "0 points"),
        case!("NaN start frame": with(&good, 20, &nan)
            => CacheError::HeaderNotFinite { .. }, "start frame"),
        case!("cut in a sample": good[..good.len() - 5].to_vec()
            => CacheError::Length { .. }, "2 samples"),
        case!("bytes after the last sample": [good.clone(), vec![0; 12]].concat()
            => CacheError::Length { .. }, "84 are present"),
        case!("NaN": with(&good, 32 + 36 + 12 + 4, &nan)
            => CacheError::NotFinite { sample: 1, point: 1 }, "sample 1: point 1"),
    ];
    let read_all = |bytes: &[u8]| -> Result<(), CacheError> {
        let cache = Pc2Reader::new(bytes)?;
        (0..cache.n_samples()).try_for_each(|s| cache.sample(s).map(drop))
    };
    read_all(&good).unwrap();
    for (case, bytes, is_expected, place) in cases {
        check(case, read_all(&bytes).err(), is_expected, place);
    }
    let cache = Pc2Reader::new(&good).unwrap();
    check(
        "no such sample",
        cache.sample(2).err(),
        |e| matches!(e, CacheError::NoSuchSample { .. }),
        "sample 2",
    );
}

#[test]
fn bad_mdd_files() {
    let mut writer = MddWriter::new(Vec::new(), 3, &[0.0, 0.5]).unwrap();
    for sample in 0..2 {
        writer.push(&points(sample)).unwrap();
    }
    let good = writer.finish().unwrap();
    let nan = f32::NAN.to_be_bytes();
    let cases: Vec<Case<CacheError>> = vec![
        case!("empty": vec![] => CacheError::Header { found: 0, .. }, "0 bytes"),
        case!("cut in the counts": good[..6].to_vec()
            => CacheError::Header { found: 6, expected: 8 }, "6 bytes"),
        case!("cut in the times": good[..14].to_vec()
            => CacheError::Header { found: 14, expected: 16 }, "14 bytes"),
        case!("little endian": with(&good, 0, &[2, 0, 0, 0, 3, 0, 0, 0])
            => CacheError::Header { .. }, "header"),
        case!("negative samples": with(&good, 0, &[0xff; 4])
            => CacheError::Counts { samples: -1, .. }, "-1 samples"),
        case!("negative points": with(&good, 4, &[0xff; 4])
            => CacheError::Counts { points: -1, .. }, "-1 points"),
        case!("absurd points": with(&good, 4, &[0x7f, 0xff, 0xff, 0xff])
            => CacheError::Length { .. }, "2147483647 points"),
        case!("cut in a sample": good[..good.len() - 1].to_vec()
            => CacheError::Length { .. }, "2 samples"),
        case!("times that run backwards": with(&good, 12, &(-1f32).to_be_bytes())
            => CacheError::Time { sample: 1, .. }, "sample 1"),
        case!("NaN time": with(&good, 8, &nan) => CacheError::Time { sample: 0, .. }, "sample 0"),
        case!("NaN": with(&good, 16 + 24, &nan)
            => CacheError::NotFinite { sample: 0, point: 2 }, "sample 0: point 2"),
    ];
    let read_all = |bytes: &[u8]| -> Result<(), CacheError> {
        let cache = MddReader::new(bytes)?;
        (0..cache.n_samples()).try_for_each(|s| cache.sample(s).map(drop))
    };
    read_all(&good).unwrap();
    for (case, bytes, is_expected, place) in cases {
        check(case, read_all(&bytes).err(), is_expected, place);
    }
}
