//! Processes by number and start, so that a reused number is recognised.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use procfs_core::FromRead;
use procfs_core::process::Stat;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

use storebench_model::{lifeline, simulated};

/// The longest that a killed process may take to end.
const LONGEST_END: Duration = Duration::from_secs(5);
/// The arguments that make this program a background load, and the server of a simulated disk.
const WORDS: [&str; 2] = ["__background", simulated::COMMAND];

/// A process that leads a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pid: u32,
    /// Its start in clock ticks since boot, if the system reports it.
    started: Option<u64>,
}

impl Process {
    pub fn from_pid(pid: u32) -> Process {
        Process { pid, started: start_time(pid) }
    }

    /// Ends it with all that it started, if it is alive and certainly the background load or the server of a disk that the process
    /// `parent` started on files in the work folder `work`. Without that certainty, its lifeline ends it. Fails when it may not be ended,
    /// or does not end.
    pub fn end(&self, work: &Path, parent: u32) -> io::Result<()> {
        if !self.is_at_work() || !self.is_child_of(work, parent) {
            return Ok(());
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
        match kill_process_group(pid, Signal::KILL) {
            Err(error) if error != rustix::io::Errno::SRCH => return Err(error.into()),
            _ => {}
        }
        let start = Instant::now();
        while self.is_at_work() {
            if start.elapsed() > LONGEST_END {
                let message = format!("process {} was killed and does not end", self.pid);
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Whether it is still the same process, leads a group, and has not ended.
    fn is_at_work(&self) -> bool {
        stat(self.pid).is_some_and(|stat| {
            Some(stat.starttime) == self.started
                && i64::from(stat.pgrp) == i64::from(self.pid)
                && !matches!(stat.state, 'Z' | 'X')
        })
    }

    /// Whether it belongs to this user, and its command line matches.
    fn is_child_of(&self, work: &Path, parent: u32) -> bool {
        let proc = Path::new("/proc").join(self.pid.to_string());
        let user = fs::metadata(&proc).map(|metadata| metadata.uid()).ok();
        let command_line = fs::read(proc.join("cmdline")).unwrap_or_default();
        let command_line = String::from_utf8_lossy(&command_line);
        let words: Vec<&str> = command_line.split('\0').collect();
        let [lifeline::NAME, word, _name, folder, started_by, ..] = words[..] else { return false };
        let work_name = Path::new(folder).parent().and_then(Path::file_name);
        WORDS.contains(&word)
            && user == Some(rustix::process::geteuid().as_raw())
            && work_name.is_some()
            && work_name == work.file_name()
            && started_by == parent.to_string()
    }
}

/// When the process of this number was started, in clock ticks since boot.
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid).map(|stat| stat.starttime)
}

fn stat(pid: u32) -> Option<Stat> {
    Stat::from_file(format!("/proc/{pid}/stat")).ok()
}
