//! The server: mounts one file by FUSE, and answers each request when the model says that it is due. A separate thread sends
//! replies; it sleeps until shortly before one is due.

mod files;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fuser::{BackgroundSession, Config, Errno, MountOption, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::mount::{UnmountFlags, unmount};

use self::files::Files;
use crate::counts::{Clocks, Counter, Counts, Requests};
use crate::device::{Device, Id};
use crate::estimate::Estimates;
use crate::fault::Faulty;
use crate::image::Image;
use crate::log::Writer;
use crate::names::SOURCE;
use crate::request::{MICROSECOND, Nanos, Request};

/// How long before a reply the thread wakes: longer than the kernel oversleeps.
const WAKE_EARLY: Nanos = 100 * MICROSECOND;

/// How long a file of the disk may stay open: a child process that another thread has just forked holds all open files until it
/// runs its program.
const PATIENCE: Duration = Duration::from_secs(2);

enum Answer {
    Read(ReplyData),
    Write(ReplyWrite),
    Empty(ReplyEmpty),
}

struct PendingRequest {
    request: Request,
    arrived: Nanos,
    answer: Answer,
}

struct State {
    device: Box<dyn Device>,
    open: HashMap<Id, PendingRequest>,
    next: Id,
    /// The latest moment that the device knows: its time only goes forward, whichever thread comes first.
    latest: Nanos,
    counter: Counter,
    estimates: Estimates,
    /// Time spent on estimates, which is not the disk's.
    estimating: Nanos,
    log: Option<Writer>,
    /// The log's last error: later entries are missing.
    log_failed: Option<io::Error>,
    fault: Option<Faulty>,
    is_ending: bool,
}

/// What a disk does besides answering.
#[derive(Default)]
pub struct DiskExtras {
    /// The parts of the disk with the file system's journal, if known: writes there are counted separately.
    pub journal: Vec<(u64, u64)>,
    /// The disks on which times are estimated.
    pub estimates: Estimates,
    /// The log of its requests.
    pub log: Option<Writer>,
    /// Its fault, if it has one.
    pub fault: Option<Faulty>,
}

struct SharedDisk {
    image: Image,
    start: Instant,
    state: Mutex<State>,
    /// Signals something new to wait for.
    changed: Condvar,
}

/// A disk that is mounted. Dropping it unmounts it.
pub struct Server {
    mount_point: PathBuf,
    session: Option<BackgroundSession>,
    replier: Option<JoinHandle<()>>,
    shared: Arc<SharedDisk>,
}

impl Server {
    /// Mounts a disk in an empty folder. Fails when FUSE can't be used, with the system's reason.
    pub fn mount(
        image: Image,
        device: Box<dyn Device>,
        DiskExtras { journal, estimates, log, fault }: DiskExtras,
        mount_point: &Path,
    ) -> io::Result<Server> {
        let counter = Counter::new(journal).map_err(io::Error::other)?;
        let state = State {
            device,
            open: HashMap::new(),
            next: 0,
            latest: 0,
            counter,
            estimates,
            estimating: 0,
            log,
            log_failed: None,
            fault,
            is_ending: false,
        };
        let start = Instant::now();
        let shared = Arc::new(SharedDisk { image, start, state: Mutex::new(state), changed: Condvar::new() });
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(SOURCE.into()),
            MountOption::NoAtime,
            MountOption::NoExec,
            MountOption::NoSuid,
            MountOption::NoDev,
        ];
        let session = fuser::Session::new(Files::new(shared.clone()), mount_point, &config)?.spawn()?;
        let replier = thread::Builder::new().name("replies".into()).spawn({
            let shared = shared.clone();
            move || shared.reply_in_time()
        })?;
        let (mount_point, session, replier) = (mount_point.to_owned(), Some(session), Some(replier));
        Ok(Server { mount_point, session, replier, shared })
    }

    /// Its counts so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// Waits until somebody unmounts it. Fails when it could not be served, or its log not be written.
    pub fn wait(mut self) -> io::Result<Counts> {
        let served = self.session.take().map_or(Ok(()), BackgroundSession::join);
        self.stop();
        served?;
        let mut state = self.shared.state();
        if let Some(log) = &mut state.log {
            log.flush()?;
        }
        let failed = state.log_failed.take();
        drop(state);
        failed.map_or_else(|| Ok(self.shared.counts()), Err)
    }

    fn stop(&mut self) {
        self.shared.state().is_ending = true;
        self.shared.changed.notify_all();
        if let Some(replier) = self.replier.take() {
            // It has nothing to say beyond what it counted.
            let _ = replier.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            if unmount_disk(&self.mount_point) {
                // Its thread has nothing to say that the counts don't.
                let _ = session.join();
            } else {
                // It unmounts by FUSE's own helper, where this user may not.
                drop(session);
            }
        }
        self.stop();
    }
}

/// Unmounts a disk, and waits until nobody has its file open. One that stays open loses its name: no mount is left behind.
fn unmount_disk(mount_point: &Path) -> bool {
    let patient_until = Instant::now() + PATIENCE;
    loop {
        match unmount(mount_point, UnmountFlags::NOFOLLOW) {
            Ok(()) => return true,
            Err(rustix::io::Errno::BUSY) if Instant::now() < patient_until => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(rustix::io::Errno::BUSY) => {
                // Its thread may wait for whoever has the file open.
                let _ = unmount(mount_point, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH);
                return false;
            }
            Err(_) => return false,
        }
    }
}

impl SharedDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Nanos {
        Nanos::try_from(self.start.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
    }

    fn counts(&self) -> Counts {
        let processor = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let processor_ns = processor.tv_sec as u64 * 1_000_000_000 + processor.tv_nsec as u64;
        let mut state = self.state();
        let clocks = self.clocks(&mut state);
        let counts = state.counter.counts(state.device.tally(), processor_ns);
        let logged = state.flush_log();
        let struck = state.fault.as_ref().map(|fault| fault.struck);
        Counts { requests: Requests { clocks, ..counts.requests }, logged, struck, ..counts }
    }

    /// The time here, and on estimated disks.
    fn clocks(&self, state: &mut State) -> Option<Clocks> {
        if state.estimates.is_empty() {
            return None;
        }
        let now = self.now();
        let here_ns = now - state.estimating;
        let on_ns = state.estimates.clocks(here_ns);
        state.estimating += self.now() - now;
        Some(Clocks { here_ns, on_ns })
    }

    /// Whether a write fails by the disk's fault. What is on the disk afterwards is logged as if it had been written.
    fn fails(&self, request: &Request, data: &[u8]) -> bool {
        let mut state = self.state();
        let Some(fault) = &mut state.fault else { return false };
        let failed = match fault.fails(request, &self.image) {
            Ok(None) => return false,
            Ok(Some(failed)) => failed,
            Err(_) => return true,
        };
        let written = &data[..failed.written as usize];
        if !written.is_empty() && self.image.write(written, request.at).is_ok() {
            state.log_request(&Request::write(request.at, failed.written), 0, written);
        }
        for (offset, bytes) in failed.restored {
            state.log_request(&Request::write(offset, bytes.len() as u64), 0, &bytes);
        }
        true
    }

    /// Takes a request. Its bytes are in the image at once: the kernel does not ask for them before it has a reply.
    fn take(&self, request: Request, data: &[u8], answer: Answer, arrived: Nanos) {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        let before = state.device.next_event();
        state.latest = state.latest.max(arrived);
        let arrived = state.latest;
        state.device.arrive(id, &request, arrived);
        let arrival = arrived.saturating_sub(state.estimating);
        state.estimates.add_request(id, request, arrival);
        if state.log.as_ref().is_some_and(|_| state.log_failed.is_none()) {
            state.log_request(&request, arrived, data);
        }
        state.open.insert(id, PendingRequest { request, arrived, answer });
        let after = state.device.next_event();
        drop(state);
        if before != after {
            self.changed.notify_one();
        }
    }

    /// Sends replies when they are due, until the disk is gone.
    fn reply_in_time(&self) {
        let mut due_now: Vec<(PendingRequest, Nanos)> = Vec::new();
        let mut state = self.state();
        while !state.is_ending {
            let now = self.now().max(state.latest);
            state.latest = now;
            while let Some((id, due)) = state.device.take(now) {
                let Some(pending) = state.open.remove(&id) else { continue };
                let first =
                    state.open.values().map(|request| request.arrived).fold(pending.arrived, Nanos::min);
                state.counter.count_request(&pending.request, first, due);
                // Before it is sent: what comes after it may be here at once.
                let sent = now.saturating_sub(state.estimating);
                state.estimates.add_reply(id, sent);
                due_now.push((pending, due));
            }
            if due_now.is_empty() {
                state = self.rest(state, now);
                continue;
            }
            drop(state);
            let late: Vec<Nanos> = due_now.drain(..).map(|pending| self.send(pending)).collect();
            state = self.state();
            late.into_iter().for_each(|late| state.counter.count_reply(late));
        }
    }

    /// Waits until a reply may be due, or for a while.
    fn rest<'a>(&'a self, state: MutexGuard<'a, State>, now: Nanos) -> MutexGuard<'a, State> {
        let Some(wakes) = state.device.next_event() else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let remaining = wakes.saturating_sub(now);
        if remaining > WAKE_EARLY {
            let time = Duration::from_nanos(remaining - WAKE_EARLY);
            let waited = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
            return waited.0;
        }
        drop(state);
        while self.now() < wakes {
            std::hint::spin_loop();
        }
        self.state()
    }

    /// Sends a reply; returns how late that was.
    fn send(&self, (pending, due): (PendingRequest, Nanos)) -> Nanos {
        let PendingRequest { request, answer, .. } = pending;
        match answer {
            Answer::Read(reply) => {
                let mut bytes = vec![0; usize::try_from(request.bytes).unwrap_or_default()];
                match self.image.read(&mut bytes, request.at) {
                    Ok(read) => reply.data(&bytes[..read]),
                    Err(_) => reply.error(Errno::EIO),
                }
            }
            Answer::Write(reply) => reply.written(u32::try_from(request.bytes).unwrap_or(u32::MAX)),
            Answer::Empty(reply) => reply.ok(),
        }
        self.now().saturating_sub(due)
    }
}

impl State {
    /// Flushes the log; returns the number of its entries.
    fn flush_log(&mut self) -> Option<u64> {
        let log = self.log.as_mut()?;
        if let Err(error) = log.flush() {
            self.log_failed.get_or_insert(error);
        }
        self.log_failed.is_none().then_some(log.entries)
    }

    fn log_request(&mut self, request: &Request, arrived: Nanos, data: &[u8]) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.append(request, arrived, data)
        {
            self.log_failed = Some(error);
        }
    }
}

#[cfg(test)]
mod tests;
