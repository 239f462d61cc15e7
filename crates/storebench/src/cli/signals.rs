//! Signals that ask the program to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use storebench_model::error::{Error, Exit, Result};

/// A flag that is set by Ctrl-C and by any other signal to end.
pub fn listen() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| Error::new(Exit::Failure, format!("listening for signals: {error}")))?;
    }
    Ok(interrupted)
}
