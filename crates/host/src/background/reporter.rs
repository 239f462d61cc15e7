//! Reports from a load to its parent: lines on standard output.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::message::{Message, now_ns};

/// Between two reports of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Counts the work of a load and reports it to the parent.
pub struct Reporter {
    done: AtomicU64,
    requests: AtomicU32,
    out: Mutex<MessageOutput>,
}

struct MessageOutput {
    pipe: Box<dyn Write + Send>,
    counts_per_unit: f64,
}

impl Reporter {
    /// A reporter that writes lines to `pipe`.
    pub fn new(pipe: Box<dyn Write + Send>) -> Reporter {
        let out = Mutex::new(MessageOutput { pipe, counts_per_unit: 1.0 });
        Reporter { done: AtomicU64::new(0), requests: AtomicU32::new(0), out }
    }

    /// Counts progress.
    pub fn add(&self, counts: u64) {
        self.done.fetch_add(counts, Ordering::Relaxed);
    }

    /// Sends a request to the disk. Until it is answered, the load counts as at work.
    pub fn request<T>(&self, request: impl FnOnce() -> T) -> T {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let answer = request();
        self.requests.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    /// The counts so far.
    #[cfg(test)]
    pub fn count(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Reports that preparation is over. From here on progress is reported in `unit`s of `counts_per_unit` counts.
    pub fn send_ready(&self, description: String, unit: &str, counts_per_unit: f64) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.counts_per_unit = counts_per_unit;
        out.write_line(&Message::AtWork { description, unit: unit.into() })?;
        out.progress(self)
    }

    /// Writes a message as a line.
    pub fn send(&self, message: &Message) -> io::Result<()> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).write_line(message)
    }

    /// Starts a thread that reports progress, and exits the process when nobody listens any more.
    pub fn keep_reporting(self: &Arc<Self>) -> io::Result<()> {
        let reporter = Arc::clone(self);
        let report = move || {
            loop {
                thread::sleep(PERIOD);
                let mut out = reporter.out.lock().unwrap_or_else(PoisonError::into_inner);
                if out.progress(&reporter).is_err() {
                    std::process::exit(1);
                }
            }
        };
        thread::Builder::new().name("reporter".into()).spawn(report).map(drop)
    }
}

impl MessageOutput {
    fn progress(&mut self, reporter: &Reporter) -> io::Result<()> {
        let done = reporter.done.load(Ordering::Relaxed) as f64 / self.counts_per_unit;
        let waiting = reporter.requests.load(Ordering::Relaxed) > 0;
        self.write_line(&Message::Progress { at_ns: now_ns(), done, waiting })
    }

    fn write_line(&mut self, message: &Message) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.pipe.write_all(&line)?;
        self.pipe.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;

    #[test]
    fn progress_is_told_in_the_unit_of_the_load_once_it_is_at_work() {
        let (lines, pipe) = io::pipe().unwrap();
        let reporter = Reporter::new(Box::new(pipe));
        reporter.add(3_000);
        reporter.send_ready("spins".into(), "seconds", 1_000.0).unwrap();
        reporter.request(|| reporter.send_ready("writes".into(), "bytes", 1.0)).unwrap();
        drop(reporter);
        let lines = io::BufReader::new(lines).lines();
        let messages: Vec<Message> =
            lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!(messages[0], Message::AtWork { description: "spins".into(), unit: "seconds".into() });
        assert!(matches!(messages[1], Message::Progress { done: 3.0, waiting: false, .. }), "{messages:?}");
        assert!(matches!(messages[3], Message::Progress { waiting: true, .. }), "{messages:?}");
    }
}
