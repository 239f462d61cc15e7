//! The threads of a workload. Each keeps one handle on what is measured: what an engine keeps by session (SQLite's page cache is
//! a connection's) lasts from round to round, as in an application. All threads do a round together. If one fails or panics, the
//! others are stopped ([`start_barrier`](super::start_barrier)), and the round ends with that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use storebench_model::result::Failure;
use storebench_model::store::{Session, Store};

use crate::measure::clock::Clock;
use crate::workload::elapsed::{Elapsed, TimedPart};
use crate::workload::start_barrier::{BarrierGuard, StartBarrier};
use crate::workload::workload_error::WorkloadError;

/// One thread of a workload, with its memory. `H` is its handle on what is measured, `O` the order for a round.
pub(crate) trait Worker<H: ?Sized, O>: Send {
    type Failed: From<WorkloadError> + Send;

    /// Prepares a round, crosses the start barrier, and works. Stops at the first operation that fails or reads what is wrong.
    fn round(
        &mut self,
        handle: &mut H,
        order: O,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, Self::Failed>;
}

/// A thread's worker, which it locks during a round; between rounds the first thread does.
pub fn lock_worker<L>(worker: &Mutex<L>) -> MutexGuard<'_, L> {
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker that no thread holds any more.
pub fn into_worker<L>(worker: Mutex<L>) -> L {
    worker.into_inner().unwrap_or_else(PoisonError::into_inner)
}

pub fn session(store: &dyn Store) -> Result<Box<dyn Session + '_>, WorkloadError> {
    store.session().map_err(WorkloadError::during("opening a session"))
}

/// The calling thread, which is the first, and the others, which wait for orders.
pub(crate) struct WorkerPool<'c, H: ?Sized, L: Worker<H, O>, O> {
    barrier: &'c StartBarrier<'c>,
    clock: &'c Clock,
    worker: &'c Mutex<L>,
    pub handle: Box<H>,
    others: Vec<WorkerThread<O, L::Failed>>,
}

/// Another thread, seen from the first. Dropping it ends the thread.
struct WorkerThread<O, E> {
    orders: SyncSender<O>,
    parts: Receiver<Result<TimedPart, E>>,
}

/// Opens a handle in each thread, does `work` with all of them, and closes them. `first` gets the first thread's handle before
/// the others are opened.
pub fn run<H: ?Sized, L: Worker<H, O>, O: Copy + Send, T>(
    clock: &Clock,
    workers: &[Mutex<L>],
    open: impl Fn() -> Result<Box<H>, L::Failed> + Sync,
    first: impl FnOnce(&mut H) -> Result<(), L::Failed>,
    work: impl FnOnce(&mut WorkerPool<'_, H, L, O>) -> Result<T, L::Failed>,
) -> Result<T, L::Failed> {
    run_at_barrier(&StartBarrier::new(workers.len(), clock), clock, workers, open, first, work)
}

/// [`run`] at a given barrier, for as many threads as there are workers.
pub(crate) fn run_at_barrier<H: ?Sized, L: Worker<H, O>, O: Copy + Send, T>(
    barrier: &StartBarrier<'_>,
    clock: &Clock,
    workers: &[Mutex<L>],
    open: impl Fn() -> Result<Box<H>, L::Failed> + Sync,
    first: impl FnOnce(&mut H) -> Result<(), L::Failed>,
    work: impl FnOnce(&mut WorkerPool<'_, H, L, O>) -> Result<T, L::Failed>,
) -> Result<T, L::Failed> {
    let Some((worker, others)) = workers.split_first() else {
        return Err(WorkloadError::harness("no thread is to work").into());
    };
    thread::scope(|scope| {
        let mut handle = open()?;
        first(&mut handle)?;
        let open = &open;
        let start = |(worker, number)| WorkerThread::start(scope, open, barrier, worker, number);
        let others = others.iter().zip(1..).map(start).collect::<Result<_, _>>()?;
        // Dropping the pool ends the orders, and so the other threads.
        work(&mut WorkerPool { barrier, clock, worker, handle, others })
    })
}

impl<O: Copy + Send, E: From<WorkloadError> + Send> WorkerThread<O, E> {
    fn start<'s, H: ?Sized, L: Worker<H, O, Failed = E>>(
        scope: &'s Scope<'s, '_>,
        open: &'s (impl Fn() -> Result<Box<H>, E> + Sync),
        barrier: &'s StartBarrier<'_>,
        worker: &'s Mutex<L>,
        number: usize,
    ) -> Result<WorkerThread<O, E>, E>
    where
        O: 's,
        E: 's,
    {
        let (orders, order_receiver) = sync_channel::<O>(1);
        let (part_sender, parts) = sync_channel(1);
        let (ready, ready_receiver) = sync_channel(1);
        let serve = move || {
            let mut handle = match catch_panic(open) {
                Ok(handle) => handle,
                Err(error) => return drop(ready.send(Err(error))),
            };
            let mut is_connected = ready.send(Ok(())).is_ok();
            while is_connected && let Ok(order) = order_receiver.recv() {
                is_connected =
                    part_sender.send(run_worker(barrier, worker, number, &mut handle, order)).is_ok();
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, serve)
            .map_err(|error| WorkloadError::harness(format!("starting a thread: {error}")))?;
        ready_receiver.recv().map_err(|_| thread_gone_error())??;
        Ok(WorkerThread { orders, parts })
    }
}

impl<H: ?Sized, L: Worker<H, O>, O: Copy + Send> WorkerPool<'_, H, L, O> {
    /// Does a round on all threads; gives how long it took. The error is that of the thread that failed first.
    pub fn round(&mut self, order: O) -> Result<Elapsed, L::Failed> {
        let parts = self.parts(order)?;
        Ok(Elapsed::from_parts(self.clock, &parts))
    }

    /// Does a round; gives each thread's part.
    pub fn parts(&mut self, order: O) -> Result<Vec<TimedPart>, L::Failed> {
        for thread in &self.others {
            thread.orders.send(order).map_err(|_| thread_gone_error())?;
        }
        let first_part = run_worker(self.barrier, self.worker, 0, &mut self.handle, order);
        let other_parts = self
            .others
            .iter()
            .map(|thread| thread.parts.recv().unwrap_or_else(|_| Err(thread_gone_error().into())));
        let mut parts: Vec<_> = std::iter::once(first_part).chain(other_parts).collect();
        if let Some(first) = self.barrier.first_to_fail() {
            let failed_part = parts.remove(first.min(parts.len() - 1));
            parts.insert(0, failed_part);
        }
        parts.into_iter().collect()
    }
}

/// One thread's part; its failure or panic stops all others.
fn run_worker<H: ?Sized, L: Worker<H, O>, O>(
    barrier: &StartBarrier<'_>,
    worker: &Mutex<L>,
    number: usize,
    handle: &mut H,
    order: O,
) -> Result<TimedPart, L::Failed> {
    let result = catch_panic(|| lock_worker(worker).round(handle, order, barrier.approach(number)));
    if result.is_err() {
        barrier.stop(number);
    }
    result
}

/// A panic in the store or the harness is an error of the work.
fn catch_panic<T, E: From<WorkloadError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.map_or("a thread panicked".into(), |text| format!("a thread panicked: {text}"));
        Err(WorkloadError { failure: Failure::Crashed, message, operation: None }.into())
    })
}

fn thread_gone_error() -> WorkloadError {
    WorkloadError::harness("a thread has ended before its work")
}

#[cfg(test)]
mod tests;
