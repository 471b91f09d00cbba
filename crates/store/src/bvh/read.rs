//! [`read`]: text to [`BvhFile`], with a stack of open joints instead of
//! recursion.

use glam::DVec3;

use super::lines::{Lines, cut, parse_number};
use super::{BvhError, BvhFile, BvhJoint, Channel, MAX_JOINTS};

/// The content of a BVH file.
///
/// Bytes that are no UTF-8 (names in an old encoding) are replaced.
///
/// # Errors
/// When the bytes are not a whole and sound BVH file; the error names the line.
pub fn read(bytes: &[u8]) -> Result<BvhFile, BvhError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = Lines::new(&text);
    let joints = hierarchy(&mut lines)?;
    let n_channels: usize = joints.iter().map(|joint| joint.channels.len()).sum();
    if n_channels == 0 {
        return Err(BvhError::NoChannels { line: lines.line() });
    }
    let n_rows = labelled_count(&mut lines)?;
    let frame_time = frame_time(&mut lines)?;
    let values = rows(&mut lines, n_channels, n_rows)?;
    Ok(BvhFile {
        joints,
        frame_time,
        values,
    })
}

/// A joint, or its end site, whose brace is open.
struct Open {
    joint: usize,
    line: usize,
    is_end_site: bool,
    has_offset: bool,
    has_channels: bool,
}

/// Reads up to and with the word `MOTION`.
fn hierarchy(lines: &mut Lines<'_>) -> Result<Vec<BvhJoint>, BvhError> {
    lines.expect("HIERARCHY")?;
    lines.expect("ROOT")?;
    let mut joints = Vec::new();
    let mut open = vec![begin_joint(lines, &mut joints, None)?];
    while let Some(depth) = open.len().checked_sub(1) {
        let top = &mut open[depth];
        let name = || joints[top.joint].name.clone();
        let Some(word) = lines.word() else {
            return Err(BvhError::Unclosed {
                line: top.line,
                joint: name(),
            });
        };
        let line = lines.line();
        let repeated = |what| BvhError::Repeated {
            line,
            joint: name(),
            what,
        };
        if word == "}" {
            if !top.has_offset {
                return Err(BvhError::NoOffset {
                    line: top.line,
                    joint: name(),
                });
            }
            open.pop();
        } else if word.eq_ignore_ascii_case("OFFSET") {
            if top.has_offset {
                return Err(repeated("OFFSET"));
            }
            top.has_offset = true;
            let mut offset = DVec3::ZERO;
            for axis in 0..3 {
                offset[axis] = lines.number_here("an offset of three numbers")?;
            }
            if top.is_end_site {
                joints[top.joint].end_site = Some(offset);
            } else {
                joints[top.joint].offset = offset;
            }
        } else if word.eq_ignore_ascii_case("CHANNELS") && !top.is_end_site {
            if top.has_channels {
                return Err(repeated("CHANNELS"));
            }
            top.has_channels = true;
            joints[top.joint].channels = channels(lines, &joints[top.joint].name)?;
        } else if word.eq_ignore_ascii_case("JOINT") && !top.is_end_site {
            if depth + 1 >= MAX_JOINTS {
                return Err(BvhError::TooDeep {
                    line,
                    limit: MAX_JOINTS,
                });
            }
            let parent = top.joint as u32;
            open.push(begin_joint(lines, &mut joints, Some(parent))?);
        } else if word.eq_ignore_ascii_case("End") && !top.is_end_site {
            if joints[top.joint].end_site.is_some() {
                return Err(repeated("End Site"));
            }
            let joint = top.joint;
            // The word `Site`, or whatever a program calls the tip.
            lines.name();
            lines.expect("{")?;
            open.push(Open {
                joint,
                line,
                is_end_site: true,
                has_offset: false,
                has_channels: false,
            });
        } else if word.eq_ignore_ascii_case("ROOT") {
            return Err(BvhError::SecondRoot { line });
        } else if word.eq_ignore_ascii_case("MOTION") {
            return Err(BvhError::Unclosed {
                line: top.line,
                joint: name(),
            });
        } else {
            return Err(lines.unexpected("OFFSET, CHANNELS, JOINT, End Site or }", word));
        }
    }
    match lines.word() {
        Some(word) if word.eq_ignore_ascii_case("MOTION") => Ok(joints),
        Some(word) if word.eq_ignore_ascii_case("ROOT") => {
            Err(BvhError::SecondRoot { line: lines.line() })
        }
        Some("}") => Err(BvhError::StrayBrace { line: lines.line() }),
        Some(word) => Err(lines.unexpected("MOTION", word)),
        None => Err(lines.ends("MOTION")),
    }
}

/// Reads a joint's name and opening brace.
fn begin_joint(
    lines: &mut Lines<'_>,
    joints: &mut Vec<BvhJoint>,
    parent: Option<u32>,
) -> Result<Open, BvhError> {
    let line = lines.line();
    if joints.len() >= MAX_JOINTS {
        return Err(BvhError::TooManyJoints {
            line,
            limit: MAX_JOINTS,
        });
    }
    let name = lines.name();
    if name.is_empty() {
        return Err(BvhError::NoName { line });
    }
    lines.expect("{")?;
    joints.push(BvhJoint {
        name: name.to_string(),
        parent,
        offset: DVec3::ZERO,
        channels: Vec::new(),
        end_site: None,
    });
    Ok(Open {
        joint: joints.len() - 1,
        line,
        is_end_site: false,
        has_offset: false,
        has_channels: false,
    })
}

/// Reads a number of channels and their names, all on one line.
fn channels(lines: &mut Lines<'_>, joint: &str) -> Result<Vec<Channel>, BvhError> {
    let declared = lines.count("a number of channels")?;
    let line = lines.line();
    let mut channels: Vec<Channel> = Vec::new();
    let mut found = 0;
    while let Some(word) = lines.word_here() {
        let channel = Channel::ALL
            .into_iter()
            .find(|channel| channel.keyword().eq_ignore_ascii_case(word))
            .ok_or_else(|| BvhError::UnknownChannel {
                line,
                found: cut(word),
            })?;
        if channels.contains(&channel) {
            return Err(BvhError::RepeatedChannel {
                line,
                joint: joint.to_string(),
                channel: channel.keyword(),
            });
        }
        channels.push(channel);
        found += 1;
    }
    if found as u64 != declared {
        return Err(BvhError::ChannelCount {
            line,
            declared,
            found,
        });
    }
    Ok(channels)
}

/// Reads `Frames: n`.
fn labelled_count(lines: &mut Lines<'_>) -> Result<u64, BvhError> {
    let label = lines.word().ok_or_else(|| lines.ends("Frames:"))?;
    // `Frames:84`, without a space.
    if let Some((label, number)) = label.split_once(':')
        && label.eq_ignore_ascii_case("Frames")
        && !number.is_empty()
    {
        return number.parse().map_err(|_| BvhError::BadNumber {
            line: lines.line(),
            found: cut(number),
        });
    }
    if !label.trim_end_matches(':').eq_ignore_ascii_case("Frames") {
        return Err(lines.unexpected("Frames:", label));
    }
    lines.count("a number of frames")
}

/// Reads `Frame Time: s`.
fn frame_time(lines: &mut Lines<'_>) -> Result<f64, BvhError> {
    lines.expect("Frame")?;
    let label = lines.word().ok_or_else(|| lines.ends("Frame Time:"))?;
    let (label_word, number) = label.split_once(':').unwrap_or((label, ""));
    if !label_word.eq_ignore_ascii_case("Time") {
        return Err(lines.unexpected("Frame Time:", label));
    }
    let value = if number.is_empty() {
        lines.number("a frame time")?
    } else {
        parse_number(number, lines.line())?
    };
    if value <= 0.0 {
        return Err(BvhError::FrameTime {
            line: lines.line(),
            value,
        });
    }
    Ok(value)
}

/// Reads the rows, one a line.
fn rows(lines: &mut Lines<'_>, n_channels: usize, n_rows: u64) -> Result<Vec<f64>, BvhError> {
    let mut values = Vec::new();
    let mut found_rows = 0u64;
    while let Some(text) = lines.whole_line() {
        let line = lines.line();
        if found_rows == n_rows {
            return Err(BvhError::TooManyRows {
                line,
                declared: n_rows,
            });
        }
        let mut found = 0;
        for word in text.split_whitespace() {
            let value = parse_number(word, line)?;
            found += 1;
            if found <= n_channels {
                values.push(value);
            }
        }
        if found != n_channels {
            return Err(BvhError::RowLength {
                line,
                found,
                expected: n_channels,
            });
        }
        found_rows += 1;
    }
    if found_rows < n_rows {
        return Err(BvhError::TooFewRows {
            line: lines.line(),
            found: found_rows as usize,
            declared: n_rows,
        });
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "HIERARCHY\nROOT mixamorig:Hips\n{\n\tOFFSET 0 1e2 -0.5\n\
        \tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
        \tJOINT Left Arm\n\t{\n\t\tOFFSET 1 2 3\n\t\tCHANNELS 1 Yrotation\n\
        \t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 -1 0\n\t\t}\n\t}\n\
        \tJOINT still {\n OFFSET 0 0 1\n}\n}\n\
        MOTION\nFrames: 2\nFrame Time: 0.0333333\n1 2 3 4 5 6 7\n-1 -2 -3 -4 -5 -6 -7e-1\n";

    #[test]
    fn a_small_file_reads_as_it_stands() {
        let file = read(SMALL.as_bytes()).unwrap();
        assert_eq!(file.joints.len(), 3);
        assert_eq!(file.joints[0].name, "mixamorig:Hips");
        assert_eq!(file.joints[0].offset, DVec3::new(0.0, 100.0, -0.5));
        assert_eq!(
            file.joints[0].channels[3..],
            [Channel::ZRotation, Channel::XRotation, Channel::YRotation]
        );
        assert_eq!(file.joints[1].name, "Left Arm");
        assert_eq!(file.joints[1].parent, Some(0));
        assert_eq!(file.joints[1].end_site, Some(DVec3::NEG_Y));
        assert_eq!(file.joints[2].channels, []);
        assert_eq!(file.joints[2].parent, Some(0));
        assert_eq!((file.n_rows(), file.n_channels()), (2, 7));
        assert_eq!(file.row(1), [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -0.7]);
        assert_eq!(file.frame_time, 0.0333333);
    }

    #[test]
    fn line_ends_white_space_and_case_do_not_matter() {
        let expected = read(SMALL.as_bytes()).unwrap();
        for variant in [
            SMALL.replace('\n', "\r\n"),
            SMALL.replace('\n', "\r"),
            SMALL.replace('\n', "  \n\n \t\n"),
            SMALL.replace(' ', "\t ").replace("Left\t Arm", "Left Arm"),
            format!("\u{feff}{}\n\n  \n", SMALL.trim_end()),
            SMALL
                .replace("Frames: ", "FRAMES:")
                .replace("Frame Time: ", "frame time:"),
            SMALL.replace("End Site", "end site"),
        ] {
            assert_eq!(read(variant.as_bytes()).unwrap(), expected, "{variant:?}");
        }
    }
}
