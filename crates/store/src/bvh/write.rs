//! [`write`]: [`BvhFile`] to text.

use std::fmt::Write as _;

use super::{BvhFile, BvhWriteError};

/// The text of a BVH file; [`read`](super::read) gives the same numbers back,
/// to the last bit.
///
/// In names, control characters and braces become `_`. A joint without
/// children and without an end site gets an end site at its own place, which
/// other programs ask for; that is the one thing that comes back changed.
///
/// # Errors
/// When the joints are not in depth-first order with one root, the values are
/// not whole rows, or a number is not finite.
pub fn write(file: &BvhFile) -> Result<String, BvhWriteError> {
    check(file)?;
    let mut out = String::from("HIERARCHY\n");
    let mut open: Vec<u32> = Vec::new();
    let n = file.joints.len();
    for (index, joint) in file.joints.iter().enumerate() {
        while open.last().copied() != joint.parent {
            close(&mut out, &mut open);
        }
        let pad = "\t".repeat(open.len());
        let keyword = if joint.parent.is_none() {
            "ROOT"
        } else {
            "JOINT"
        };
        put(
            &mut out,
            format_args!("{pad}{keyword} {}\n{pad}{{\n", plain(&joint.name)),
        );
        let o = joint.offset;
        put(
            &mut out,
            format_args!("{pad}\tOFFSET {} {} {}\n", o.x, o.y, o.z),
        );
        put(
            &mut out,
            format_args!("{pad}\tCHANNELS {}", joint.channels.len()),
        );
        for channel in &joint.channels {
            put(&mut out, format_args!(" {}", channel.keyword()));
        }
        out.push('\n');
        let is_leaf = index + 1 == n || file.joints[index + 1].parent != Some(index as u32);
        if let Some(e) = joint
            .end_site
            .or_else(|| is_leaf.then_some(glam::DVec3::ZERO))
        {
            put(
                &mut out,
                format_args!(
                    "{pad}\tEnd Site\n{pad}\t{{\n{pad}\t\tOFFSET {} {} {}\n{pad}\t}}\n",
                    e.x, e.y, e.z
                ),
            );
        }
        open.push(index as u32);
    }
    while !open.is_empty() {
        close(&mut out, &mut open);
    }
    put(
        &mut out,
        format_args!(
            "MOTION\nFrames: {}\nFrame Time: {}\n",
            file.n_rows(),
            file.frame_time
        ),
    );
    for row in 0..file.n_rows() {
        for (i, value) in file.row(row).iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            put(&mut out, format_args!("{gap}{value}"));
        }
        out.push('\n');
    }
    Ok(out)
}

fn check(file: &BvhFile) -> Result<(), BvhWriteError> {
    // The joints that are open while this one is written: itself and its ancestors.
    let mut open: Vec<u32> = Vec::new();
    for (index, joint) in file.joints.iter().enumerate() {
        let order = BvhWriteError::Order { joint: index };
        match joint.parent {
            None if index == 0 => {}
            Some(parent) => {
                while open.last().is_some_and(|&top| top != parent) {
                    open.pop();
                }
                if open.is_empty() {
                    return Err(order);
                }
            }
            None => return Err(order),
        }
        open.push(index as u32);
        if !joint.offset.is_finite() || joint.end_site.is_some_and(|e| !e.is_finite()) {
            return Err(BvhWriteError::Offset { joint: index });
        }
    }
    let channels = file.n_channels();
    if channels == 0 || !file.values.len().is_multiple_of(channels) {
        return Err(BvhWriteError::Rows {
            values: file.values.len(),
            channels,
        });
    }
    if let Some(index) = file.values.iter().position(|value| !value.is_finite()) {
        return Err(BvhWriteError::NotFinite { index });
    }
    if !(file.frame_time > 0.0 && file.frame_time.is_finite()) {
        return Err(BvhWriteError::FrameTime(file.frame_time));
    }
    Ok(())
}

fn close(out: &mut String, open: &mut Vec<u32>) {
    open.pop();
    put(out, format_args!("{}}}\n", "\t".repeat(open.len())));
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to a string cannot fail");
}

/// A name that the reader takes for one name.
fn plain(name: &str) -> String {
    let name: String = name
        .trim()
        .chars()
        .map(|c| {
            if c.is_control() || c == '{' || c == '}' {
                '_'
            } else {
                c
            }
        })
        .collect();
    if name.is_empty() {
        "_".to_string()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::super::{BvhFile, BvhJoint, Channel, read};
    use super::*;

    /// A tree in depth-first order with random channels, and two rows.
    fn file() -> impl Strategy<Value = BvhFile> {
        let number = || prop_oneof![-1e3..1e3, Just(1e-17), Just(0.0)];
        let joint = (
            "[A-Za-z:. ]{0,6}[A-Za-z]",
            0u32..6,
            [number(), number(), number()],
            proptest::sample::subsequence(Channel::ALL.to_vec(), 0..=6).prop_shuffle(),
        );
        (
            proptest::collection::vec(joint, 1..20),
            1e-3..1.0,
            proptest::collection::vec(number(), 240),
        )
            .prop_map(|(parts, frame_time, numbers)| {
                let mut joints: Vec<BvhJoint> = Vec::new();
                for (index, (name, up, offset, mut channels)) in parts.into_iter().enumerate() {
                    let mut parent = index.checked_sub(1).map(|p| p as u32);
                    for _ in 0..up {
                        parent = parent.map(|p| joints[p as usize].parent.unwrap_or(p));
                    }
                    if index == 0 && channels.is_empty() {
                        channels.push(Channel::YPosition);
                    }
                    joints.push(BvhJoint {
                        name: name.trim().to_string(),
                        parent,
                        offset: DVec3::from_array(offset),
                        channels,
                        end_site: Some(DVec3::from_array(offset) * 0.5),
                    });
                }
                let mut file = BvhFile {
                    joints,
                    frame_time,
                    values: Vec::new(),
                };
                file.values = numbers[..2 * file.n_channels()].to_vec();
                file
            })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_to_the_last_bit(file in file()) {
            let text = write(&file).unwrap();
            prop_assert_eq!(read(text.as_bytes()).unwrap(), file);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(file in file(), at in 0.0..1.0f64, byte in 0u8..=255) {
            let mut bytes = write(&file).unwrap().into_bytes();
            let at = (at * bytes.len() as f64) as usize;
            bytes[at] = byte;
            let _ = read(&bytes);
            bytes.truncate(at);
            let _ = read(&bytes);
        }
    }

    #[test]
    fn joints_out_of_order_are_refused() {
        let joint = |parent| BvhJoint {
            name: "j".to_string(),
            parent,
            offset: DVec3::ZERO,
            channels: vec![Channel::XRotation],
            end_site: None,
        };
        let file = BvhFile {
            joints: [None, Some(0), Some(0), Some(1)].map(joint).to_vec(),
            frame_time: 0.1,
            values: vec![0.0; 4],
        };
        assert_eq!(write(&file), Err(BvhWriteError::Order { joint: 3 }));
    }
}
