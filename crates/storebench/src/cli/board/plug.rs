//! A check by pulling the plug, on the machine whose power is cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use storebench_core::error::{Error, Exit, Result};
use storebench_core::store::StoreDef;
use storebench_core::workload::cut::plug;
use storebench_core::workload::spec::{Asked, Ended, Spec};

use super::{Out, WATCH};
use crate::cli::remote::wire::{Message, PlugOrder, PlugPart, Word};

/// Does the part that is asked for, and tells what came of it.
///
/// # Errors
/// None of the store's: they are told.
pub fn serve(
    stores: &[StoreDef],
    order: &PlugOrder,
    folder: &Path,
    out: &mut Out,
    words: &Receiver<Word>,
    interrupted: &AtomicBool,
) -> Result<Exit> {
    let own = order.within.as_deref().unwrap_or(folder).join(&order.name);
    let plug = Plug { stores, order, own, words, interrupted };
    let done = match order.part {
        PlugPart::Take => plug.take(out),
        PlugPart::Look { acknowledged } => plug.look(acknowledged, out),
    };
    match done {
        Ok(()) => {
            out.say(&Message::Ended { interrupted: interrupted.load(Ordering::Relaxed), failed: 0 });
            Ok(Exit::Success)
        }
        Err(Error { exit, message }) => {
            out.say(&Message::Failed { exit: exit.code(), message });
            Ok(exit)
        }
    }
}

struct Plug<'a> {
    stores: &'a [StoreDef],
    order: &'a PlugOrder,
    /// The folder of the store.
    own: PathBuf,
    words: &'a Receiver<Word>,
    interrupted: &'a AtomicBool,
}

impl Plug<'_> {
    fn spec(&self) -> Spec {
        let PlugOrder { store, guarantee, settings, .. } = self.order;
        plug::spec(store, *guarantee, settings.clone(), self.own.join("store"))
    }

    /// Takes steps until the power is cut, or nobody wants more.
    fn take(&self, out: &mut Out) -> Result<()> {
        let spec = self.spec();
        for made in [&self.own, &spec.directory] {
            fs::create_dir(made).map_err(Error::io("making", made))?;
        }
        let asked = Asked { stores: self.stores, spec: &spec, reach: None };
        let told = std::cell::RefCell::new(out);
        let opened = |version, settings| {
            let (boot, kernel) = machine();
            told.borrow_mut().say(&Message::Plugged { boot, kernel, version, settings });
            self.next()
        };
        let acknowledged = |steps| {
            told.borrow_mut().say(&Message::Step(steps));
            self.next()
        };
        let taken = plug::take(&asked, |version, settings| opened(version, settings).map(drop), acknowledged);
        self.remove()?;
        taken.map_err(told_as_error)
    }

    /// Waits until the next step may be taken; `false` where none is wanted any more.
    fn next(&self) -> std::result::Result<bool, Ended> {
        loop {
            match self.words.recv_timeout(WATCH) {
                Ok(Word::Next) => return Ok(true),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if !self.interrupted.load(Ordering::Relaxed) => {}
                Err(_) => return Ok(false),
            }
        }
    }

    /// Looks at what is there. It stays where something is wrong.
    fn look(&self, acknowledged: u64, out: &mut Out) -> Result<()> {
        let (boot, _) = machine();
        let spec = self.spec();
        if !spec.directory.exists() {
            out.say(&Message::Looked { boot, found: None });
            return Ok(());
        }
        let asked = Asked { stores: self.stores, spec: &spec, reach: None };
        let looked = plug::look(&asked, acknowledged).map_err(told_as_error)?;
        let is_allowed = looked.finding.is_allowed(self.order.guarantee);
        if is_allowed {
            self.remove()?;
        }
        let kept = (!is_allowed).then(|| self.own.clone());
        out.say(&Message::Looked { boot, found: Some((Box::new(looked), kept)) });
        Ok(())
    }

    fn remove(&self) -> Result<()> {
        plug::remove(&self.own)
    }
}

/// The boot since which this machine runs, and its kernel.
fn machine() -> (String, String) {
    let read = |name: &str| fs::read_to_string(name).unwrap_or_default().trim().to_owned();
    (read("/proc/sys/kernel/random/boot_id"), read("/proc/sys/kernel/osrelease"))
}

fn told_as_error(ended: Ended) -> Error {
    match ended {
        Ended::Failed(stop) => Error::new(Exit::Failure, stop.message),
        Ended::Unsupported(message) => Error::bad_value(message),
    }
}
