//! The load of others: processors that work neither for this process nor for what it has started. It is the machine's work, less
//! this process's, that of every process that it has waited for (such as trials and servers), and a background load's. Kernel
//! threads' work for them, and that of a user-space file system, counts as others'.

use std::io;
use std::time::{Duration, Instant};

use crate::measure::{children, process, processors};

/// A watch over the load of others.
#[derive(Debug)]
pub struct OtherLoadMeter {
    machine: processors::Snapshot,
    own_cpu: Duration,
    started: Instant,
    load: Option<u32>,
}

impl OtherLoadMeter {
    /// Begins; `load` is the process of a background load, whose work does not count.
    pub fn start(load: Option<u32>) -> io::Result<OtherLoadMeter> {
        let machine = processors::Snapshot::now()?;
        Ok(OtherLoadMeter { machine, own_cpu: own_time(load), started: Instant::now(), load })
    }

    /// The processors that others have kept busy since, on average. What this process has started meanwhile, except the load,
    /// must have been waited for. `None` if the kernel has no figures.
    pub fn processors(&self) -> Option<f64> {
        let machine = processors::Snapshot::now().ok()?.busy_since(&self.machine);
        let wall = self.started.elapsed();
        others_share(machine, own_time(self.load).saturating_sub(self.own_cpu), wall)
    }
}

/// Others' part of a machine's work; `None` if no time has passed.
fn others_share(machine: Duration, own_cpu: Duration, wall: Duration) -> Option<f64> {
    (!wall.is_zero()).then(|| machine.saturating_sub(own_cpu).as_secs_f64() / wall.as_secs_f64())
}

fn own_time(load: Option<u32>) -> Duration {
    let own_cpu = process::cpu();
    let load = load.map(children::cpu_with_children).unwrap_or_default();
    Duration::from_nanos(own_cpu.user_ns + own_cpu.system_ns + load.user_ns + load.system_ns)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn own_work_is_taken_off_that_of_the_machine() {
        let s = Duration::from_secs_f64;
        assert_eq!(others_share(s(5.0), s(2.0), s(2.0)), Some(1.5));
        // Work is counted in ticks, so that there may seem to be less than one's own.
        assert_eq!(others_share(s(1.99), s(2.0), s(2.0)), Some(0.0));
        assert_eq!(others_share(s(0.0), s(0.0), s(0.0)), None);
    }

    #[test]
    fn a_background_load_is_not_among_others() {
        let mut load = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let before = own_time(Some(load.id()));
        while own_time(Some(load.id())).saturating_sub(before) < Duration::from_millis(50) {
            std::thread::sleep(Duration::from_millis(5));
        }
        load.kill().unwrap();
        load.wait().unwrap();
        assert!(OtherLoadMeter::start(None).unwrap().processors().is_none_or(|others| others >= 0.0));
    }
}
