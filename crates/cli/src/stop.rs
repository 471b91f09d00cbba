//! Ctrl-C: long work asks now and then whether it should stop.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Starts to listen for Ctrl-C. The second one ends the program at once.
pub(crate) fn listen() {
    // Without a handler Ctrl-C ends the program, which loses nothing either:
    // outputs are renamed into place when whole.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// An error when the user asked to stop.
pub(crate) fn check() -> anyhow::Result<()> {
    if asked() {
        anyhow::bail!("stopped by the user; what was not whole was not kept");
    }
    Ok(())
}
