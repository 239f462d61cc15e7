//! Trials whose sessions are on other machines, which here are this one by ssh, under two names.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use storebench_core::error::Exit;
use storebench_core::result::Outcome;
use storebench_host::run::Run;

use crate::cli::support::{STOREBENCH, Said, Scratch, Started, assert_complete, said, wait_for};
use crate::remote::server::{Server, kill, ssh_of};
use crate::running_servers::Running;

const WORK: &str = "--records 100..1000 --record-size 1B..1KiB --data incompressible --guarantee default --trials 1 \
    --timeout 10m --threads 5 --operations 400";
/// Some seconds of one operation.
const LONG: &str = "--records 200 --record-size 1KiB --data incompressible --guarantee default --trials 1 --timeout 10m \
    --threads 4 --order update --duration 40s";

/// A server, and a machine that has two names.
struct Setup {
    redis: Running,
    ssh: Server,
    scratch: Scratch,
}

impl Setup {
    /// `None` if one of them is not installed.
    fn start() -> Option<Setup> {
        let redis = Running::start("redis")?;
        let scratch = Scratch::new();
        Some(Setup { redis, ssh: Server::start(&scratch)?, scratch })
    }

    fn arguments(&self, more: &str) -> Vec<String> {
        let run = format!("run crud --store redis --url redis={} {more}", self.redis.url);
        run.split_whitespace().map(str::to_owned).collect()
    }

    fn command(&self, more: &str) -> std::process::Command {
        let arguments = self.arguments(more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.ssh.command_of(STOREBENCH, &self.scratch, &arguments)
    }

    fn run(&self, more: &str) -> Said {
        said(&mut self.command(more))
    }

    /// Starts a run, and waits until both clients are at work.
    fn start_long_run(&self) -> Started {
        let started = Started::new(&mut self.command(&format!("{LONG} --clients alpha,beta")));
        wait_for("clients at work", || {
            self.clients().len() == 2 && self.trial().is_some() && !self.redis.made().is_empty()
        });
        // Their sessions are open by then.
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        started
    }

    /// The clients' processes, by their numbers.
    fn clients(&self) -> Vec<u32> {
        let is_client = |line: &str| line.contains("__board") && !line.contains("sh -c");
        let processes = self.scratch.numbered_processes().into_iter();
        processes.filter(|(_, line)| is_client(line)).map(|(number, _)| number).collect()
    }

    fn trial(&self) -> Option<u32> {
        let mut processes = self.scratch.numbered_processes().into_iter();
        processes.find(|(_, line)| line.contains("__trial")).map(|(number, _)| number)
    }

    /// Nothing is left anywhere but the program.
    #[track_caller]
    fn assert_clean(&self) {
        wait_for("the clients to end", || self.clients().is_empty());
        self.scratch.assert_nothing_left();
        let mut folders = self.ssh.names("");
        folders.sort();
        assert_eq!(folders, ["programs", "runs"]);
        assert_eq!((self.ssh.names("programs").len(), self.ssh.names("runs").len()), (1, 0));
        self.redis.assert_as_it_was();
    }
}

fn counts(run: &Run) -> Vec<(String, u64, u64, u64)> {
    let measured = run.trials[0].ok().unwrap_or_else(|| panic!("{:?}", run.trials[0].outcome));
    assert!(measured.audit.is_some());
    let operations = measured.operations.iter();
    operations
        .map(|operation| {
            (operation.operation.clone(), operation.count, operation.value_bytes, measured.stored.value_bytes)
        })
        .collect()
}

#[test]
fn sessions_on_clients_do_what_sessions_here_do() {
    let Some(setup) = Setup::start() else { return };
    setup.run(WORK).ends(Exit::Success);
    let alone = setup.scratch.results();
    fs::remove_dir_all(setup.scratch.only_run()).unwrap();
    let output = setup.run(&format!("{WORK} --clients alpha,beta")).ends(Exit::Success);
    assert!(output.err.contains("copying this program"), "{output}");
    assert!(output.out.contains("The load came from the clients alpha and beta."), "{output}");
    let run = setup.scratch.results();
    assert_complete(&run, 1, 1);
    assert_eq!(counts(&run), counts(&alone));
    assert!(run.header.plan.contains("clients = [\"alpha\", \"beta\"]"), "{}", run.header.plan);
    let clients = &run.trials[0].measured.as_ref().unwrap().clients;
    let sessions: Vec<_> = clients.iter().map(|client| (client.host.as_str(), client.sessions)).collect();
    assert_eq!(sessions, [("alpha", 3), ("beta", 2)]);
    for client in clients {
        // One machine: a wrong clock would start one long before the other.
        assert!(client.late_ns < 1_000_000_000 && client.clock_uncertainty_ns < 100_000_000, "{client:?}");
        let phases: Vec<_> =
            client.phases.iter().map(|phase| (phase.operation.as_str(), phase.count)).collect();
        let count = client.sessions * 80;
        assert_eq!(phases, ["insert", "get", "update", "remove"].map(|operation| (operation, count)));
    }
    // Comparisons report that the load was made elsewhere.
    fs::rename(setup.scratch.only_run(), setup.scratch.join("spread")).unwrap();
    setup.run(WORK).ends(Exit::Success);
    let alone = setup.scratch.only_run();
    let compare = format!("compare {} spread", alone.display());
    assert!(setup.scratch.storebench(&compare).err.contains("clients"), "they differ in their clients");
    setup.assert_clean();
}

#[test]
fn clients_that_can_t_be_had_are_told_before_anything_is_made() {
    let Some(setup) = Setup::start() else { return };
    let assert_refused = |more: &str, exit: Exit, words: &[&str]| {
        let output = setup.run(&format!("{WORK} {more}")).ends(exit);
        let last_line = output.err.lines().last().unwrap();
        assert!(
            last_line.starts_with("storebench: ") && words.iter().all(|word| last_line.contains(word)),
            "{output}"
        );
        assert!(setup.scratch.runs().is_empty());
    };
    assert_refused(
        "--clients no-such-user@alpha",
        Exit::Unreachable,
        &["no-such-user@alpha: ", "Permission denied"],
    );
    assert_refused("--clients alpha,nowhere.invalid", Exit::Unreachable, &["nowhere.invalid: "]);
    assert_refused("--clients=-oProxyCommand=true", Exit::BadValue, &["--clients", "it is not a host"]);
    assert_refused("--clients alpha,beta,alpha", Exit::BadValue, &["clients names alpha twice"]);
    assert_refused("--clients alpha,", Exit::BadValue, &["clients names a host that has no name"]);
    let one_thread = &WORK.replace("--threads 5", "--threads 1");
    let output = setup.run(&format!("{one_thread} --clients alpha,beta"));
    output.complains(Exit::Nothing, &["2 clients can't share 1 thread"]);
    let arguments = "run crud --store flat-folder --threads 2 --clients alpha --quick";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    run_arguments(&setup, &arguments)
        .complains(Exit::Nothing, &["can use a running server alone, and flat-folder is none"]);
    let ycsb = ["run", "ycsb", "--quick", "--clients", "alpha"];
    run_arguments(&setup, &ycsb).complains(
        Exit::BadValue,
        &["the workload ycsb can't be spread over clients", "those that can: crud"],
    );
    setup.scratch.assert_nothing_left();
    setup.redis.assert_as_it_was();
}

fn run_arguments(setup: &Setup, arguments: &[&str]) -> Said {
    said(&mut setup.ssh.command_of(STOREBENCH, &setup.scratch, arguments))
}

/// Of two hosts, one has another version of the program, and the other none that runs.
#[test]
fn a_client_with_another_program_says_so() {
    let Some(setup) = Setup::start() else { return };
    let script = "#!/bin/sh\nfor last; do :; done\ncase \"$last\" in\n\
        *'uname -s'*) for word in Linux \"$(uname -m)\" /nowhere none; do echo \"storebench-on-board:$word\"; done;;\n\
        *__board*) case \"$*\" in *old*) echo '{\"hello\":{\"version\":\"0.0.0\",\"format\":1}}'; cat >/dev/null;;\n\
        *) echo 'sh: programs/storebench: not found' >&2; exit 127;; esac;;\n\
        *) cat >/dev/null; echo storebench-on-board:copied;; esac\n";
    let ssh = setup.scratch.write("bin/ssh", script);
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    for (host, why) in [("old", "it is version 0.0.0, and this is"), ("bare", "not found")] {
        let mut command = setup.command(&format!("{WORK} --clients {host}"));
        let path = format!("{}:{}", ssh.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let output = said(command.env("PATH", path)).ends(Exit::Unreachable);
        assert!(output.err.contains(&format!("{host}: no program runs there: ")), "{output}");
        assert!(output.err.contains(why), "{output}");
    }
    assert!(setup.scratch.runs().is_empty());
}

/// Ends a client of a run by something; what became of its trial.
fn failure(end: impl FnOnce(&Setup)) -> Option<String> {
    let setup = Setup::start()?;
    let started = setup.start_long_run();
    end(&setup);
    started.end().ends(Exit::TrialsFailed);
    let run = setup.scratch.results();
    setup.assert_clean();
    match &run.trials[0].outcome {
        Outcome::Failed { message, .. } => Some(message.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_that_ends_in_a_trial_fails_it_by_its_name() {
    let Some(message) = failure(|setup| kill(&setup.clients()[0].to_string(), "KILL")) else { return };
    let is_one = message.starts_with("the client alpha: ") || message.starts_with("the client beta: ");
    assert!(is_one && message.contains("the connection is lost"), "{message}");
}

#[test]
fn a_lost_connection_to_a_client_fails_the_trial_by_its_name() {
    let cut = |setup: &Setup| kill(&ssh_of(setup.trial().unwrap())[0], "KILL");
    let Some(message) = failure(cut) else { return };
    assert!(message.contains("the client ") && message.contains("the connection is lost"), "{message}");
}

#[test]
fn an_interrupted_run_leaves_no_clients() {
    let Some(setup) = Setup::start() else { return };
    let started = setup.start_long_run();
    started.signal("INT");
    started.end().ends(Exit::Interrupted);
    setup.assert_clean();
    let started = setup.start_long_run();
    started.signal("KILL");
    drop(started.end());
    wait_for("the clients to end", || setup.clients().is_empty());
    setup.scratch.storebench("clean").ends(Exit::Success);
    setup.assert_clean();
}
