//! The faults of a round: what happens, and when.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Round;
use crate::cli::support::Started;
use crate::torture::disk::{CALLS, has_strace};

/// Signals that end a process.
const ENDINGS: [&str; 5] = ["KILL", "TERM", "INT", "HUP", "ABRT"];

/// The processes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Parent,
    Trial,
    Server,
    Daemon,
    Load,
    Anyone,
}

/// A fault.
#[derive(Debug)]
enum Fault {
    Ends(Who, &'static str),
    /// It does nothing for this number of milliseconds.
    Pauses(Who, u64),
    /// The disk of the stores' files is full for this number of milliseconds.
    Fills(u64),
    /// The server that was running before has no address for this number of milliseconds.
    Hides(u64),
    /// It does nothing for this number of milliseconds.
    ServerPauses(u64),
    /// It ends.
    ServerEnds,
}

/// Faults, each with its delay in milliseconds.
#[derive(Debug)]
pub struct Weather {
    faults: Vec<(u64, Fault)>,
    /// A system call that fails, how, and when.
    pub injected: Option<(&'static str, &'static str, String)>,
}

/// The damage that was done.
#[derive(Debug, Default)]
pub struct Blown {
    /// The parent may have been ended by a signal.
    pub killed: bool,
    /// Something was done to a process, or to a disk.
    pub disturbed: bool,
    /// The server that was running before has ended.
    pub server_ended: bool,
    /// The number of the parent, if it was seen.
    pub parent: Option<u32>,
}

impl Weather {
    pub fn choose(random: &mut fastrand::Rng, round: &Round) -> Weather {
        let within = if round.study.has_servers { 8_000 } else { 3_000 };
        let mut faults: Vec<(u64, Fault)> = Vec::new();
        for _ in 0..random.usize(..4) {
            faults.push((random.u64(..within), Fault::choose(random, round)));
        }
        faults.sort_by_key(|(at, _)| *at);
        let injected = (random.u8(..4) == 0 && !round.study.has_servers && has_strace()).then(|| {
            let call = CALLS[random.usize(..CALLS.len())];
            let error = ["EIO", "ENOSPC"][random.usize(..2)];
            (call, error, format!("{}{}", random.u32(1..300), ["", "+", "+50"][random.usize(..3)]))
        });
        // A call that fails again and again in the parent has it wait for nobody.
        Weather { faults, injected }
    }

    /// Lets it happen to a run.
    pub fn blow(&self, round: &Round, run: &Started) -> Blown {
        let mut blown = Blown { disturbed: self.injected.is_some(), ..Blown::default() };
        let start = Instant::now();
        for (at, fault) in &self.faults {
            while start.elapsed() < Duration::from_millis(*at) && !is_over(run) {
                blown.parent = parent(round).or(blown.parent);
                std::thread::sleep(Duration::from_millis(20));
            }
            fault.strike(round, run, &mut blown);
        }
        blown.parent = parent(round).or(blown.parent);
        blown
    }
}

impl Fault {
    fn choose(random: &mut fastrand::Rng, round: &Round) -> Fault {
        let who = [Who::Parent, Who::Trial, Who::Trial, Who::Server, Who::Daemon, Who::Load, Who::Anyone];
        let who = who[random.usize(..who.len())];
        let pause = random.u64(10..800);
        match random.u8(..8) {
            0 | 1 if round.server.is_some() => match random.u8(..3) {
                0 => Fault::Hides(pause * 3),
                1 => Fault::ServerPauses(pause * 3),
                _ => Fault::ServerEnds,
            },
            2 if round.small_disk => Fault::Fills(pause),
            3 | 4 => Fault::Pauses(who, pause),
            _ => Fault::Ends(who, ENDINGS[random.usize(..ENDINGS.len())]),
        }
    }

    fn strike(&self, round: &Round, run: &Started, blown: &mut Blown) {
        let wait = |ms: u64| std::thread::sleep(Duration::from_millis(ms));
        match self {
            Fault::Ends(who, signal) => {
                let found = who.find(round);
                blown.killed |=
                    found.iter().any(|process| Some(*process) == parent(round) || *process == run.id());
                blown.disturbed |= !found.is_empty();
                send(&found, signal);
            }
            Fault::Pauses(who, ms) => {
                let found = who.find(round);
                blown.disturbed |= !found.is_empty();
                send(&found, "STOP");
                wait(*ms);
                send(&found, "CONT");
            }
            Fault::Fills(ms) => {
                blown.disturbed = true;
                fill(round, *ms);
            }
            Fault::Hides(ms) => {
                if let Some(server) = round.server.as_ref().filter(|_| !blown.server_ended) {
                    server.hide(true);
                    wait(*ms);
                    server.hide(false);
                }
                blown.disturbed = true;
            }
            Fault::ServerPauses(ms) => {
                if let Some(server) = &round.server {
                    server.signal("STOP");
                    wait(*ms);
                    server.signal("CONT");
                }
                blown.disturbed = true;
            }
            Fault::ServerEnds => {
                if let Some(server) = &round.server {
                    server.signal("KILL");
                }
                (blown.server_ended, blown.disturbed) = (true, true);
            }
        }
    }
}

/// Whether the process of a command line is one that a killed run leaves to `clean`, or what traced the run.
pub fn outlives_a_run(line: &str) -> bool {
    line.starts_with("strace ") || line.starts_with("nsenter ") || Who::Daemon.is(line)
}

impl Who {
    fn find(self, round: &Round) -> Vec<u32> {
        let all = round.scratch.numbered_processes().into_iter();
        all.filter(|(_, line)| self.is(line)).map(|(number, _)| number).collect()
    }

    fn is(self, line: &str) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        match self {
            _ if line.starts_with("strace ") || line.starts_with("nsenter ") => false,
            Who::Parent => has(&[" run "]) && !has(&["__"]),
            Who::Trial => has(&["__trial "]),
            Who::Server => {
                has(&["postgres", "initdb", "mariadb", "mysqld", "redis-server", "etcd"])
                    && !has(&["__", " run "])
            }
            Who::Daemon => has(&["ntfs-3g", "exfat-fuse", "fuse2fs", "__disk "]),
            Who::Load => has(&["__background "]),
            Who::Anyone => true,
        }
    }
}

/// Whether a run has ended, and waits to be looked at.
fn is_over(run: &Started) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", run.id())).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn parent(round: &Round) -> Option<u32> {
    Who::Parent.find(round).first().copied()
}

/// Signals processes.
pub fn send(processes: &[u32], signal: &str) {
    for process in processes {
        let mut kill = Command::new("kill");
        let _ = kill.arg(format!("-{signal}")).arg(process.to_string()).stderr(Stdio::null()).status();
    }
}

/// Fills the disk of the stores' files for a while.
fn fill(round: &Round, ms: u64) {
    let path = round.scratch.join("disk/filler");
    if let Ok(mut file) = fs::File::create(&path) {
        while file.write_all(&[7; 64 << 10]).is_ok() {}
        while file.write_all(&[7]).is_ok() {}
    }
    std::thread::sleep(Duration::from_millis(ms));
    // A disk without room may not have taken even its name.
    let _ = fs::remove_file(path);
}
