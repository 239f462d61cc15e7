//! The faults of a round: what happens, and when.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Round;
use crate::cli::support::Started;
use crate::torture::disk::{choose_error, has_strace};

const ENDINGS: [&str; 5] = ["KILL", "TERM", "INT", "HUP", "ABRT"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Parent,
    Trial,
    Server,
    Daemon,
    Load,
    Anyone,
}

#[derive(Debug)]
enum Fault {
    Ends(Target, &'static str),
    /// It does nothing for this number of milliseconds.
    Pauses(Target, u64),
    /// The disk of the stores' files is full for this number of milliseconds.
    Fills(u64),
    /// The server that was running before has no address for this number of milliseconds.
    Hides(u64),
    /// It does nothing for this number of milliseconds.
    ServerPauses(u64),
    ServerEnds,
}

/// Faults, each with its delay in milliseconds.
#[derive(Debug)]
pub struct Weather {
    faults: Vec<(u64, Fault)>,
    /// A system call that fails, how, and when.
    pub injected: Option<(&'static str, &'static str, String)>,
}

#[derive(Debug, Default)]
pub struct Damage {
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
        let period_ms = if round.study.has_servers { 8_000 } else { 3_000 };
        let mut faults: Vec<(u64, Fault)> = Vec::new();
        for _ in 0..random.usize(..4) {
            faults.push((random.u64(..period_ms), Fault::choose(random, round)));
        }
        faults.sort_by_key(|(delay_ms, _)| *delay_ms);
        let injected = (random.u8(..4) == 0 && !round.study.has_servers && has_strace()).then(|| {
            let (call, error) = choose_error(random);
            (call, error, format!("{}{}", random.u32(1..300), ["", "+", "+50"][random.usize(..3)]))
        });
        // A call that fails again and again in the parent has it wait for nobody.
        Weather { faults, injected }
    }

    /// Lets it happen to a run.
    pub fn blow(&self, round: &Round, run: &Started) -> Damage {
        let mut damage = Damage { disturbed: self.injected.is_some(), ..Damage::default() };
        let start = Instant::now();
        for (delay_ms, fault) in &self.faults {
            while start.elapsed() < Duration::from_millis(*delay_ms) && !has_ended(run) {
                damage.parent = parent(round).or(damage.parent);
                std::thread::sleep(Duration::from_millis(20));
            }
            fault.strike(round, run, &mut damage);
        }
        damage.parent = parent(round).or(damage.parent);
        damage
    }
}

impl Fault {
    fn choose(random: &mut fastrand::Rng, round: &Round) -> Fault {
        use Target::{Anyone, Daemon, Load, Parent, Server, Trial};
        let targets = [Parent, Trial, Trial, Server, Daemon, Load, Anyone];
        let target = targets[random.usize(..targets.len())];
        let pause = random.u64(10..800);
        match random.u8(..8) {
            0 | 1 if round.server.is_some() => match random.u8(..3) {
                0 => Fault::Hides(pause * 3),
                1 => Fault::ServerPauses(pause * 3),
                _ => Fault::ServerEnds,
            },
            2 if round.small_disk => Fault::Fills(pause),
            3 | 4 => Fault::Pauses(target, pause),
            _ => Fault::Ends(target, ENDINGS[random.usize(..ENDINGS.len())]),
        }
    }

    fn strike(&self, round: &Round, run: &Started, damage: &mut Damage) {
        let wait = |ms: u64| std::thread::sleep(Duration::from_millis(ms));
        match self {
            Fault::Ends(target, signal) => {
                let processes = target.find(round);
                damage.killed |=
                    processes.iter().any(|process| Some(*process) == parent(round) || *process == run.id());
                damage.disturbed |= !processes.is_empty();
                send_signal(&processes, signal);
            }
            Fault::Pauses(target, ms) => {
                let processes = target.find(round);
                damage.disturbed |= !processes.is_empty();
                send_signal(&processes, "STOP");
                wait(*ms);
                send_signal(&processes, "CONT");
            }
            Fault::Fills(ms) => {
                damage.disturbed = true;
                fill(round, *ms);
            }
            Fault::Hides(ms) => {
                if let Some(server) = round.server.as_ref().filter(|_| !damage.server_ended) {
                    server.hide(true);
                    wait(*ms);
                    server.hide(false);
                }
                damage.disturbed = true;
            }
            Fault::ServerPauses(ms) => {
                if let Some(server) = &round.server {
                    server.signal("STOP");
                    wait(*ms);
                    server.signal("CONT");
                }
                damage.disturbed = true;
            }
            Fault::ServerEnds => {
                if let Some(server) = &round.server {
                    server.signal("KILL");
                }
                (damage.server_ended, damage.disturbed) = (true, true);
            }
        }
    }
}

/// Whether the process of a command line is one that a killed run leaves to `clean`, or what traced the run.
pub fn outlives_a_run(line: &str) -> bool {
    line.starts_with("strace ") || line.starts_with("nsenter ") || Target::Daemon.matches_line(line)
}

impl Target {
    fn find(self, round: &Round) -> Vec<u32> {
        let all = round.scratch.numbered_processes().into_iter();
        all.filter(|(_, line)| self.matches_line(line)).map(|(number, _)| number).collect()
    }

    fn matches_line(self, line: &str) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        match self {
            _ if line.starts_with("strace ") || line.starts_with("nsenter ") => false,
            Target::Parent => has(&[" run "]) && !has(&["__"]),
            Target::Trial => has(&["__trial "]),
            Target::Server => {
                has(&["postgres", "initdb", "mariadb", "mysqld", "redis-server", "etcd"])
                    && !has(&["__", " run "])
            }
            Target::Daemon => has(&["ntfs-3g", "exfat-fuse", "fuse2fs", "__disk "]),
            Target::Load => has(&["__background "]),
            Target::Anyone => true,
        }
    }
}

/// Whether a run has ended, and waits to be looked at.
fn has_ended(run: &Started) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", run.id())).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn parent(round: &Round) -> Option<u32> {
    Target::Parent.find(round).first().copied()
}

pub fn send_signal(processes: &[u32], signal: &str) {
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
