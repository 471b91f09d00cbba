//! Dresses the built-in tube in its sleeve, bends it and writes a `.glb`:
//!
//! ```sh
//! cargo run --release -p drapery --example dress -- sleeve.glb
//! ```

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use drapery::core::BodyModel;
use drapery::scene::builtin;
use drapery::{Animation, RollOut, dress};

fn main() -> Result<(), Box<dyn Error>> {
    let body = builtin::character("tube").ok_or("no tube")?;
    let garment = builtin::garment("sleeve").ok_or("no sleeve")?;
    let clip = builtin::clip("bend").ok_or("no clip")?;

    // A body a little longer than usual.
    let shaped = body.shaped(&[0.5, 0.0])?;
    let animator = dress(&garment, &body, clip.frame_rate())?;
    let mut animation = Animation::new(&body, &shaped, &clip);
    let ended = animation.wear(&garment, &animator, |_frame| true)?;
    assert_eq!(ended, RollOut::Done);

    match std::env::args_os().nth(1) {
        Some(path) => animation.write_glb(&mut BufWriter::new(File::create(path)?))?,
        None => animation.write_glb(&mut std::io::sink())?,
    }

    // At the deepest bend the upper end of the sleeve has come down and forward.
    let end = garment.group("pin-top").ok_or("no pins")?[0] as usize;
    let frames = &animation.garments[0].frames;
    assert!(frames[45][end].y < frames[0][end].y - 0.2);
    assert!(frames[45][end].z > frames[0][end].z + 0.2);
    Ok(())
}
