//! BVH files that are wrong, the error each must give and the line it must name.

use drapery_store::bvh::{BvhError, read};

/// Twelve lines that make a sound file of one joint; rows follow.
const HEAD: &str = "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 0 0\n\tCHANNELS 3 Xrotation Yrotation Zrotation\n\
                    \tEnd Site\n\t{\n\t\tOFFSET 0 1 0\n\t}\n}\nMOTION\n";

fn with_rows(frames: &str, time: &str, rows: &str) -> String {
    format!("{HEAD}Frames: {frames}\nFrame Time: {time}\n{rows}")
}

/// Joints nested `depth` deep, the root being the first.
fn nested(depth: usize) -> String {
    let mut text = String::from("HIERARCHY\nROOT j\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n");
    for _ in 1..depth {
        text.push_str("JOINT j\n{\nOFFSET 0 0 0\n");
    }
    text.push_str(&"}\n".repeat(depth));
    text.push_str("MOTION\nFrames: 1\nFrame Time: 1\n0\n");
    text
}

#[test]
fn sound_variants_of_the_table_are_taken() {
    let file = read(with_rows("2", "0.1", "1 2 3\n4 5 6\n").as_bytes()).unwrap();
    assert_eq!(file.n_rows(), 2);
    assert_eq!(read(nested(4096).as_bytes()).unwrap().joints.len(), 4096);
    assert_eq!(
        read(with_rows("0", "0.1", "").as_bytes()).unwrap().n_rows(),
        0
    );
}

#[test]
fn every_bad_file_gives_its_error_and_its_line() {
    type Is = fn(&BvhError) -> bool;
    let row = "1 2 3\n";
    let wide: String = {
        let joints = "JOINT j\n{\nOFFSET 0 0 0\n}\n".repeat(4096);
        format!("HIERARCHY\nROOT r\n{{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{joints}}}\n")
    };
    let cases: Vec<(&str, Vec<u8>, Is)> = vec![
        ("empty", Vec::new(), |e| {
            matches!(
                e,
                BvhError::EndsEarly {
                    line: 1,
                    expected: "HIERARCHY"
                }
            )
        }),
        ("another format", b"glTF\x02\0\0\0".to_vec(), |e| {
            matches!(e, BvhError::Unexpected { line: 1, .. })
        }),
        (
            "two bytes a character",
            with_rows("1", "0.1", row)
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
            |e| matches!(e, BvhError::Unexpected { line: 1, .. }),
        ),
        (
            "second root",
            HEAD.replace("MOTION", "ROOT Prop\n{\nOFFSET 0 0 0\n}\nMOTION")
                .into_bytes(),
            |e| matches!(e, BvhError::SecondRoot { line: 11 }),
        ),
        (
            "root inside a root",
            HEAD.replace("\tEnd Site", "\tROOT Prop").into_bytes(),
            |e| matches!(e, BvhError::SecondRoot { line: 6 }),
        ),
        (
            "no name",
            HEAD.replace("ROOT Hips", "ROOT  ").into_bytes(),
            |e| matches!(e, BvhError::NoName { line: 2 }),
        ),
        (
            "no opening brace",
            HEAD.replacen("{\n", "", 1).into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::Unexpected {
                        line: 3,
                        expected: "{",
                        ..
                    }
                )
            },
        ),
        (
            "unclosed at the motion",
            HEAD.replace("\t}\n}\n", "\t}\n").into_bytes(),
            |e| matches!(e, BvhError::Unclosed { line: 2, joint } if joint == "Hips"),
        ),
        (
            "unclosed at the end",
            HEAD.as_bytes()[..HEAD.find("CHANNELS").unwrap()].to_vec(),
            |e| matches!(e, BvhError::Unclosed { line: 2, .. }),
        ),
        (
            "closed twice",
            HEAD.replace("\t}\n}\n", "\t}\n}\n}\n").into_bytes(),
            |e| matches!(e, BvhError::StrayBrace { line: 11 }),
        ),
        (
            "no offset",
            HEAD.replace("\tOFFSET 0 0 0\n", "").into_bytes(),
            |e| matches!(e, BvhError::NoOffset { line: 2, .. }),
        ),
        (
            "two offsets",
            HEAD.replace("\tOFFSET 0 0 0\n", "\tOFFSET 0 0 0\n\tOFFSET 0 0 0\n")
                .into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::Repeated {
                        line: 5,
                        what: "OFFSET",
                        ..
                    }
                )
            },
        ),
        (
            "offset of two numbers",
            HEAD.replace("OFFSET 0 0 0", "OFFSET 0 0").into_bytes(),
            |e| matches!(e, BvhError::Unexpected { line: 4, .. }),
        ),
        (
            "offset that is no number",
            HEAD.replace("OFFSET 0 1 0", "OFFSET 0 1,5 0").into_bytes(),
            |e| matches!(e, BvhError::BadNumber { line: 8, found } if found == "1,5"),
        ),
        (
            "unknown channel",
            HEAD.replace("Yrotation", "Yscale").into_bytes(),
            |e| matches!(e, BvhError::UnknownChannel { line: 5, found } if found == "Yscale"),
        ),
        (
            "channel twice",
            HEAD.replace("Yrotation", "Xrotation").into_bytes(),
            |e| matches!(e, BvhError::RepeatedChannel { line: 5, .. }),
        ),
        (
            "fewer channels than said",
            HEAD.replace("CHANNELS 3", "CHANNELS 4").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::ChannelCount {
                        line: 5,
                        declared: 4,
                        found: 3
                    }
                )
            },
        ),
        (
            "absurd number of channels",
            HEAD.replace("CHANNELS 3", "CHANNELS 18446744073709551615")
                .into_bytes(),
            |e| matches!(e, BvhError::ChannelCount { line: 5, .. }),
        ),
        (
            "no channels",
            HEAD.replace("CHANNELS 3 Xrotation Yrotation Zrotation", "CHANNELS 0")
                .into_bytes(),
            |e| matches!(e, BvhError::NoChannels { line: 11 }),
        ),
        ("nested too deep", nested(4097).into_bytes(), |e| {
            matches!(
                e,
                BvhError::TooDeep {
                    line: 12291,
                    limit: 4096
                }
            )
        }),
        ("too many joints", wide.into_bytes(), |e| {
            matches!(
                e,
                BvhError::TooManyJoints {
                    line: 16386,
                    limit: 4096
                }
            )
        }),
        (
            "no motion",
            HEAD.as_bytes()[..HEAD.len() - 7].to_vec(),
            |e| matches!(e, BvhError::EndsEarly { line: 10, .. }),
        ),
        ("nothing after motion", HEAD.as_bytes().to_vec(), |e| {
            matches!(
                e,
                BvhError::EndsEarly {
                    line: 11,
                    expected: "Frames:"
                }
            )
        }),
        (
            "negative frames",
            with_rows("-1", "0.1", row).into_bytes(),
            |e| matches!(e, BvhError::BadNumber { line: 12, .. }),
        ),
        (
            "absurd frames",
            with_rows("4000000000", "0.1", row).into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::TooFewRows {
                        line: 14,
                        found: 1,
                        declared: 4_000_000_000
                    }
                )
            },
        ),
        (
            "fewer rows than said",
            with_rows("3", "0.1", "1 2 3\n\n4 5 6\n\n\n").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::TooFewRows {
                        line: 16,
                        found: 2,
                        declared: 3
                    }
                )
            },
        ),
        (
            "more rows than said",
            with_rows("1", "0.1", "1 2 3\n4 5 6\n").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::TooManyRows {
                        line: 15,
                        declared: 1
                    }
                )
            },
        ),
        (
            "numbers missing",
            with_rows("2", "0.1", "1 2 3\n4 5\n").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::RowLength {
                        line: 15,
                        found: 2,
                        expected: 3
                    }
                )
            },
        ),
        (
            "numbers too many",
            with_rows("2", "0.1", "1 2 3 4\n4 5 6\n").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::RowLength {
                        line: 14,
                        found: 4,
                        expected: 3
                    }
                )
            },
        ),
        (
            "not a number",
            with_rows("1", "0.1", "1 nan 3\n").into_bytes(),
            |e| matches!(e, BvhError::NotFinite { line: 14, found } if found == "nan"),
        ),
        (
            "not a number, as another program writes it",
            with_rows("1", "0.1", "1 -1.#QNAN 3\n").into_bytes(),
            |e| matches!(e, BvhError::NotFinite { line: 14, .. }),
        ),
        (
            "infinite",
            with_rows("1", "0.1", "1 2 -inf\n").into_bytes(),
            |e| matches!(e, BvhError::NotFinite { line: 14, .. }),
        ),
        (
            "huge",
            with_rows("1", "0.1", "1e300 2 3\n").into_bytes(),
            |e| matches!(e, BvhError::NotFinite { line: 14, .. }),
        ),
        (
            "word in a row",
            with_rows("1", "0.1", "1 two 3\n").into_bytes(),
            |e| matches!(e, BvhError::BadNumber { line: 14, found } if found == "two"),
        ),
        (
            "frame time of zero",
            with_rows("1", "0", row).into_bytes(),
            |e| matches!(e, BvhError::FrameTime { line: 13, value } if *value == 0.0),
        ),
        (
            "no frame time",
            format!("{HEAD}Frames: 1\n1 2 3\n").into_bytes(),
            |e| {
                matches!(
                    e,
                    BvhError::Unexpected {
                        line: 13,
                        expected: "Frame",
                        ..
                    }
                )
            },
        ),
    ];
    for (case, bytes, is) in cases {
        match read(&bytes) {
            Ok(_) => panic!("{case}: was taken"),
            Err(error) => assert!(is(&error), "{case}: {error:?}"),
        }
    }
}

#[test]
fn every_truncation_of_a_file_is_refused_without_a_panic() {
    let whole = with_rows("2", "0.1", "1 2 3\n4 5 60\n");
    // Only cutting the last digit or the last line end leaves a whole file.
    for end in 0..whole.len() - 2 {
        assert!(read(&whole.as_bytes()[..end]).is_err(), "{end}");
    }
}
