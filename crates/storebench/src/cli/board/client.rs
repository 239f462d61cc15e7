//! A client of a trial on another machine: runs some of its threads. When the trial's process is gone, this one exits at once.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storebench_core::guard;
use storebench_core::workload::clients::link::{ClientTask, ClientWire};
use storebench_core::workload::clients::messages::{ClientOrder, ClientReply};
use storebench_core::workload::spec::{Spec, TrialContext, TrialError};
use storebench_model::error::{Exit, Result};
use storebench_model::store::StoreDef;

use super::LineWriter;
use crate::cli::remote::wire::{BoardSignal, Message};

/// How often the client checks that the trial's process is alive.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How often the client reports that it is alive.
const ALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Carries out a task, until the trial's process has no more orders. Errors are sent to that process.
pub fn serve(
    stores: &[StoreDef],
    task: &ClientTask,
    folder: &Path,
    out: LineWriter,
    signals: Receiver<BoardSignal>,
    interrupted: &Arc<AtomicBool>,
) -> Result<Exit> {
    let directory = folder.join(format!("client-{}", std::process::id()));
    let spec = Spec { directory, ..task.spec.clone() };
    exit_when_interrupted(Arc::clone(interrupted), &spec);
    let wire = Arc::new(Pipes { out: Mutex::new(out), signals: Mutex::new(signals) });
    let alive_wire = Arc::clone(&wire);
    std::thread::spawn(move || {
        loop {
            alive_wire.reply(&ClientReply::Alive);
            std::thread::sleep(ALIVE_INTERVAL);
        }
    });
    let context = TrialContext { stores, spec: &spec, reach: None };
    let threads = task.first..task.first + task.sessions;
    let result = match spec.workload.def().serve {
        Some(serve) => serve(&context, threads, wire.as_ref()),
        None => Err(TrialError::harness("its work can't be spread over clients")),
    };
    let reply = match result {
        Ok(()) => return Ok(Exit::Success),
        Err(TrialError::Failed(stop)) => ClientReply::Failed { reason: stop.failure, message: stop.message },
        Err(TrialError::Unsupported(message)) => {
            ClientReply::Failed { reason: storebench_model::result::Failure::Store, message }
        }
    };
    wire.reply(&reply);
    // The trial's process closes the connection when it has the message.
    while wire.next_order().is_some() {}
    Ok(Exit::Failure)
}

/// Ends this process as soon as nobody gives orders any more: a thread may be in a call that does not return.
fn exit_when_interrupted(interrupted: Arc<AtomicBool>, spec: &Spec) {
    let directory = spec.directory.clone();
    std::thread::spawn(move || {
        while !interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(CHECK_INTERVAL);
        }
        // Usually it does not exist: it is needed only while a store is opened.
        let _ = guard::remove_made(&directory);
        std::process::exit(Exit::Interrupted.code().into());
    });
}

/// The two pipes to the trial's process.
struct Pipes {
    out: Mutex<LineWriter>,
    signals: Mutex<Receiver<BoardSignal>>,
}

impl ClientWire for Pipes {
    fn reply(&self, reply: &ClientReply) {
        let message = Message::Client(Box::new(reply.clone()));
        self.out.lock().unwrap_or_else(PoisonError::into_inner).send(&message);
    }

    fn next_order(&self) -> Option<ClientOrder> {
        let signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let BoardSignal::Order(order) = signals.recv().ok()? {
                return Some(*order);
            }
        }
    }
}
