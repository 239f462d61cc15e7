//! The load of others: the processors that are at work for neither this process nor what it has started.
//!
//! All work of the machine, of which this process's own is taken off, that of every process that it has waited for (a trial and its
//! server are such), and that of a background load that is still there. Work that the kernel does for them on its own threads,
//! and that of a driver of files in user space, counts as that of others.

use std::io;
use std::time::{Duration, Instant};

use crate::measure::processors;
use crate::measure::{children, process};

/// A watch over the load of others.
#[derive(Debug)]
pub struct Watch {
    machine: processors::Snapshot,
    own: Duration,
    at: Instant,
    /// The background load's process.
    load: Option<u32>,
}

impl Watch {
    /// Begins; `load` is the process of a background load, whose work does not count.
    pub fn start(load: Option<u32>) -> io::Result<Watch> {
        Ok(Watch { machine: processors::Snapshot::now()?, own: own(load), at: Instant::now(), load })
    }

    /// The processors that others have kept at work since, on average. What this process has started meanwhile must have been
    /// waited for, but for the load. `None` where the kernel does not tell.
    pub fn processors(&self) -> Option<f64> {
        let machine = processors::Snapshot::now().ok()?.busy_since(&self.machine);
        let took = self.at.elapsed();
        others(machine, own(self.load).saturating_sub(self.own), took)
    }
}

/// The work of others of all that a machine did in a time; `None` where no time has passed.
fn others(machine: Duration, own: Duration, took: Duration) -> Option<f64> {
    (!took.is_zero()).then(|| machine.saturating_sub(own).as_secs_f64() / took.as_secs_f64())
}

/// The work of this process, of those that it has waited for, and of a load.
fn own(load: Option<u32>) -> Duration {
    let own = process::cpu();
    let load = load.map(children::cpu_with_children).unwrap_or_default();
    Duration::from_nanos(own.user_ns + own.system_ns + load.user_ns + load.system_ns)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn own_work_is_taken_off_that_of_the_machine() {
        let s = Duration::from_secs_f64;
        assert_eq!(others(s(5.0), s(2.0), s(2.0)), Some(1.5));
        // Work is counted in ticks, so that there may seem to be less than one's own.
        assert_eq!(others(s(1.99), s(2.0), s(2.0)), Some(0.0));
        assert_eq!(others(s(0.0), s(0.0), s(0.0)), None);
    }

    #[test]
    fn a_background_load_is_not_among_others() {
        let mut load = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let before = own(Some(load.id()));
        while own(Some(load.id())).saturating_sub(before) < Duration::from_millis(50) {
            std::thread::sleep(Duration::from_millis(5));
        }
        load.kill().unwrap();
        load.wait().unwrap();
        assert!(Watch::start(None).unwrap().processors().is_none_or(|others| others >= 0.0));
    }
}
