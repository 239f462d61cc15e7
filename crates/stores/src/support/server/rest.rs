//! A wait until a server has done what it would do by itself in a while of rest.

use std::time::{Duration, Instant};

use storebench_core::store::{Result, StoreError};

use super::kind::Server;

const LONGEST: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(20);

/// Fails also after [`LONGEST`].
pub fn wait_until<S: Server>(
    client: &mut S::Client,
    mut is_done: impl FnMut(&mut S::Client) -> Result<bool>,
) -> Result<()> {
    let start = Instant::now();
    while !is_done(client)? {
        if start.elapsed() > LONGEST {
            let message = format!("{} was not at rest after {} s", S::STORE, LONGEST.as_secs());
            return Err(StoreError::Engine(message));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
