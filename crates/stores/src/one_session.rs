//! Keeps an engine that two threads must not call at once to one thread, at no cost to the timed calls: a session stays in the
//! thread that made it, so while one is open, the store's own calls are for its thread alone; otherwise they take turns.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use storebench_model::store::{Result, StoreError};

#[derive(Default)]
pub struct OneSession {
    /// The thread with the session.
    holder: Mutex<Option<ThreadId>>,
}

/// Held by the open session. Whoever holds it must not be `Send`.
pub struct SessionPass<'a>(&'a OneSession);

/// Held during a call on the store.
pub struct CallTurn<'a>(#[allow(dead_code, reason = "held, not read")] MutexGuard<'a, Option<ThreadId>>);

impl OneSession {
    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails with [`StoreError::Unsupported`] while another session is open.
    pub fn session(&self) -> Result<SessionPass<'_>> {
        let mut holder = self.holder();
        if holder.is_some() {
            return Err(StoreError::Unsupported(
                "this store was opened for one session, and it is in use".into(),
            ));
        }
        *holder = Some(thread::current().id());
        Ok(SessionPass(self))
    }

    /// Waits for its turn. Fails with [`StoreError::Unsupported`] while another thread has a session.
    pub fn wait_turn(&self) -> Result<CallTurn<'_>> {
        let holder = self.holder();
        match *holder {
            Some(thread) if thread != thread::current().id() => {
                Err(StoreError::Unsupported("this store is in use by another thread's session".into()))
            }
            _ => Ok(CallTurn(holder)),
        }
    }
}

impl Drop for SessionPass<'_> {
    fn drop(&mut self) {
        *self.0.holder() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_at_a_time_and_the_store_in_its_thread_alone() {
        let gate = OneSession::default();
        let pass = gate.session().unwrap();
        assert!(gate.session().is_err(), "a second session");
        assert!(gate.wait_turn().is_ok(), "the store's calls in the session's thread");
        let can_other = || thread::scope(|scope| scope.spawn(|| gate.wait_turn().is_ok()).join().unwrap());
        assert!(!can_other(), "the store's calls in another thread");
        drop(pass);
        assert!(can_other(), "after the session");
        assert!(gate.session().is_ok());
    }
}
