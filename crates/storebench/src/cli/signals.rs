//! Signals that ask the program to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use storebench_core::error::{Error, Exit, Result};

/// A flag that Ctrl-C sets, and whatever else asks the program to end.
pub fn listen() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| Error::new(Exit::Failure, format!("listening for signals: {error}")))?;
    }
    Ok(interrupted)
}
