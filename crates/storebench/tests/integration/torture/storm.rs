//! Small runs at random over stores, servers, file systems and workloads, while whatever can go wrong does: nothing is left, no result is lost
//! or doubled, and every error says why. A round follows from its seed, but for the moments at which the machine gets there.

mod aftermath;
mod study;
mod weather;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::disk::{ends_as_documented, injection};
use super::tries_for_a_while;
use crate::cli::support::{Said, Scratch, Started, contents, is_root, said, wait_for};
use crate::file_systems::with_disk;
use crate::running_servers::Running;

use study::Study;
use weather::Weather;

#[test]
fn a_storm_loses_no_result_and_leaves_nothing() {
    tries_for_a_while(4, |random| Round::new(random).pass(random));
}

/// A directory with what a run needs, and what it must leave alone.
struct Round {
    scratch: Scratch,
    study: Study,
    /// A server that the study uses and did not start.
    server: Option<Running>,
    /// A process that holds shared memory apart from the machine's.
    namespace: Option<IpcNamespace>,
    /// Whether the stores' files are on a separate small disk.
    small_disk: bool,
}

impl Round {
    fn new(random: &mut fastrand::Rng) -> Round {
        let scratch = with_disk();
        let study = Study::choose(random);
        scratch.write("theirs/letter", "dear reader");
        let lines = (0..50).map(|n| format!("{n},{},key{},{}\n", ["get", "set"][n % 2], n % 7, n % 2 * 30));
        scratch.write("trace.csv", lines.collect::<String>());
        let small_disk = is_root() && !study.has_servers && random.u8(..4) == 0 && {
            let size = format!("size={}m", random.u32(24..64));
            let mut mount = scratch.command("mount", "-t tmpfs -o");
            mount.arg(size).args(["tmpfs", "disk"]).status().unwrap().success()
        };
        scratch.write("disk/mine", "a picture");
        let server = study.running_server.and_then(Running::start);
        let namespace = if is_root() { IpcNamespace::new() } else { None };
        Round { scratch, study, server, namespace, small_disk }
    }

    /// A command, apart from the machine's shared memory.
    fn command(&self, program: &[String], arguments: &str) -> Command {
        let mut command = match &self.namespace {
            Some(namespace) => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--ipc=/proc/{}/ns/ipc", namespace.id())).arg("--").args(program);
                command
            }
            None => {
                let mut command = Command::new(&program[0]);
                command.args(&program[1..]);
                command
            }
        };
        command.args(arguments.split_whitespace()).current_dir(self.scratch.path()).stdin(Stdio::null());
        command
    }

    fn storebench(&self, arguments: &str) -> Said {
        said(&mut self.command(&[self.study.program()], arguments))
    }

    fn arguments(&self) -> String {
        let url = self
            .server
            .as_ref()
            .map_or_else(String::new, |server| format!(" --url {}={}", server.kind, server.url));
        format!("{}{url} --timeout 10m --at disk", self.study.arguments)
    }

    fn pass(self, random: &mut fastrand::Rng) {
        let weather = Weather::choose(random, &self);
        let mut program = vec![self.study.program()];
        if let Some((call, error, when)) = &weather.injected {
            // Signals end it while it waits; while it writes to a file they don't, unless that is asked for.
            let strace = ["strace", "-f", "-I", "2"]
                .into_iter()
                .map(str::to_owned)
                .chain(injection(call, error, when));
            program = strace.chain(program).collect();
        }
        let context = format!("{}\n{weather:#?}", self.arguments());
        let run = Started::new(&mut self.command(&program, &self.arguments()));
        let damage = weather.blow(&self, &run);
        let output = self.wait_for_end(run, damage.killed && weather.injected.is_some(), &context);
        let context = format!("{context}\n{output}");
        // Killed, or as documented; strace can't start what its own error keeps from loading.
        if !damage.killed && output.code != Some(127) {
            ends_as_documented(&output, &context);
        }
        aftermath::check_run(&self, &damage, &output, &context);
        aftermath::resume(&self, &damage, &context);
    }

    /// Waits for the end of a run, which comes whatever has happened to it. What traces a killed one waits for the programs that
    /// have images mounted, which `clean` ends.
    #[track_caller]
    fn wait_for_end(&self, run: Started, is_traced: bool, context: &str) -> Said {
        let tracer = run.id();
        let waiter = std::thread::spawn(move || run.end());
        let start = std::time::Instant::now();
        while !waiter.is_finished() {
            assert!(
                start.elapsed().as_secs() < 600,
                "it does not end\n{context}\n{:#?}",
                self.scratch.numbered_processes()
            );
            if is_traced
                && self.scratch.numbered_processes().iter().all(|(_, line)| weather::outlives_a_run(line))
            {
                weather::send_signal(&[tracer], "TERM");
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        waiter.join().unwrap_or_else(|_| panic!("it panicked\n{context}"))
    }

    /// Files that are none of storebench's.
    fn foreign_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let letters = contents(&self.scratch.join("theirs")).into_iter();
        let picture = self.scratch.join("disk/mine");
        let text = fs::read(&picture).unwrap();
        letters.chain([(picture, text)]).collect()
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        if self.small_disk {
            let mut unmount = self.scratch.command("umount", "-l disk");
            let _ = unmount.status();
        }
    }
}

/// A process with a separate namespace for shared memory.
struct IpcNamespace(Started);

impl IpcNamespace {
    fn new() -> Option<IpcNamespace> {
        let mut command = Command::new("unshare");
        command.args(["--ipc", "sh", "-c", "echo; exec sleep 100000"]).stdin(Stdio::null());
        let status = Command::new("unshare").args(["--ipc", "true"]).stderr(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            return None;
        }
        let namespace = IpcNamespace(Started::new(&mut command));
        let own_namespace = fs::read_link("/proc/self/ns/ipc").unwrap();
        let read_namespace = || fs::read_link(format!("/proc/{}/ns/ipc", namespace.id()));
        wait_for("a namespace", || read_namespace().is_ok_and(|link| link != own_namespace));
        Some(namespace)
    }

    fn id(&self) -> u32 {
        self.0.id()
    }

    fn segments(&self) -> Vec<String> {
        let mut list = Command::new("nsenter");
        list.arg(format!("--ipc=/proc/{}/ns/ipc", self.id())).args(["--", "cat", "/proc/sysvipc/shm"]);
        said(&mut list).out.lines().skip(1).map(str::to_owned).collect()
    }
}
