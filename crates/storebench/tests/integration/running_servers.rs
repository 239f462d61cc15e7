//! Servers that were running before a run and are named by a URL: they are measured, and left as they were.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_core::error::Exit;
use storebench_core::shown::without_user;
use storebench_core::store::sql::SqlValue;
use storebench_core::store::{OpenOptions, Store};
use tempfile::TempDir;

use crate::cli::support::{STOREBENCH, Scratch, Started, assert_complete, contents, outcomes, wait_for};
use crate::conformance::subject::is_installed;
use crate::tier;

/// A server of the test, in the role of one that was running before.
pub struct Running {
    store: Box<dyn Store>,
    pub url: String,
    pub kind: &'static str,
    folder: TempDir,
    /// The folder of its socket.
    socket: PathBuf,
}

pub const KINDS: [&str; 4] = ["postgres", "mariadb", "redis", "etcd"];

/// The servers that can be had here; one with SQL and one without, but for the whole matrix.
fn servers() -> impl Iterator<Item = Running> {
    let is_asked_for = |kind: &&str| tier::is_whole() || ["postgres", "redis"].contains(kind);
    KINDS.into_iter().filter(is_asked_for).filter_map(Running::start)
}

impl Running {
    /// Where it is not installed there is nothing to try.
    pub fn start(kind: &'static str) -> Option<Running> {
        let def = storebench::STORES.iter().find(|store| store.name == kind)?;
        let open = def.open.ok().filter(|_| is_installed(def))?;
        // A socket's path is short.
        let folder = tempfile::tempdir().unwrap();
        let (directory, beside) = (folder.path().join("d"), folder.path().join("b"));
        [&directory, &beside].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        let options = OpenOptions { beside: Some(&beside), ..OpenOptions::new(&directory) };
        let store = open(&options).unwrap();
        let socket = socket_in(&beside);
        let url = url_of(kind, &socket);
        let running = Running { store, url, kind, folder, socket };
        if running.speaks_sql() {
            running.execute("CREATE TABLE theirs (id INTEGER PRIMARY KEY)");
            running.execute("INSERT INTO theirs VALUES (7)");
        } else {
            running.store.session().unwrap().insert(b"theirs", b"7").unwrap();
        }
        Some(running)
    }

    fn speaks_sql(&self) -> bool {
        !matches!(self.kind, "redis" | "etcd")
    }

    fn execute(&self, sql: &str) {
        self.store.sql().unwrap().execute(sql).unwrap();
    }

    fn texts(&self, sql: &str) -> Vec<String> {
        let mut session = self.store.sql().unwrap();
        let statement = session.prepare(sql).unwrap();
        let mut found = Vec::new();
        let see = &mut |row: &[SqlValue<'_>]| match row {
            [SqlValue::Text(text)] => found.push((*text).to_owned()),
            row => panic!("{row:?}"),
        };
        session.query(statement, &[], see).unwrap();
        found
    }

    /// The schemas, or databases, that storebench has made there, or what its keys begin with.
    pub fn made(&self) -> Vec<String> {
        if !self.speaks_sql() {
            let (program, words) = match self.kind {
                "redis" => ("redis-cli", "-s socket --scan --pattern storebench_*"),
                _ => ("etcdctl", "--endpoints=unix://client:0 get --prefix storebench_ --keys-only"),
            };
            // Both find the socket by its name alone.
            let mut scan = Command::new(program);
            scan.args(words.split(' ')).current_dir(&self.socket).env("ETCDCTL_API", "3");
            let said = scan.output().unwrap();
            assert!(said.status.success(), "{said:?}");
            let keys = String::from_utf8_lossy(&said.stdout).into_owned();
            let keys = keys.lines().filter(|key| !key.is_empty());
            let names = keys.map(|key| key.split([':', '/']).next().unwrap().to_owned());
            return names.collect::<BTreeSet<_>>().into_iter().collect();
        }
        let all = self.texts("SELECT CAST(schema_name AS CHAR(100)) FROM information_schema.schemata");
        let all = all.into_iter().map(|name| name.trim().to_owned());
        all.filter(|name| name.starts_with("storebench_")).collect()
    }

    /// Sends its processes a signal by name.
    pub fn signal(&self, name: &str) {
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)) {
                let _ = Command::new("kill").arg(format!("-{name}")).arg(entry.file_name()).status();
            }
        }
    }

    /// Takes its address away, or gives it back.
    pub fn hide(&self, hidden: bool) {
        let away = self.folder.path().join("away");
        let (from, to) = if hidden { (&self.socket, &away) } else { (&away, &self.socket) };
        fs::rename(from, to).unwrap();
    }

    /// Nothing of storebench's is left, and what was there is as it was.
    pub fn assert_as_it_was(&self) {
        assert_eq!(self.made(), [""; 0]);
        if self.speaks_sql() {
            assert_eq!(self.texts("SELECT CAST(id AS CHAR(1)) FROM theirs"), ["7"]);
            assert_eq!(self.store.count().unwrap(), 0, "records of the server's own");
        } else {
            let mut session = self.store.session().unwrap();
            assert!(session.get(b"theirs", &mut |value| assert_eq!(value, b"7")).unwrap());
            assert_eq!(self.store.count().unwrap(), 1, "keys of the server's own");
        }
    }

    /// The advice to a person about what is left there.
    fn told_to_drop(&self) -> &'static str {
        match self.kind {
            "redis" => "drop it yourself, by redis-cli EVAL ",
            "etcd" => "drop it yourself, by etcdctl del --prefix ",
            _ => "drop it yourself, by DROP ",
        }
    }

    fn run(&self, more: &str) -> String {
        format!("run crud --store {0} --url {0}={1} {more}", self.kind, self.url)
    }
}

/// The URL of a store's server whose socket is in this folder.
pub fn url_of(kind: &str, socket: &Path) -> String {
    let folder = socket.display();
    match kind {
        "postgres" => format!("postgresql://storebench@/postgres?host={folder}"),
        "redis" => format!("redis+unix://{folder}/socket"),
        "etcd" => {
            let names = fs::read_dir(socket).unwrap().map(|entry| entry.unwrap().file_name());
            let names = names.map(|name| name.into_string().unwrap());
            let members = names.filter(|name| name.starts_with("client:"));
            let members: BTreeSet<String> = members.map(|name| format!("{folder}/{name}")).collect();
            format!("etcd+unix://{}", members.into_iter().collect::<Vec<_>>().join(","))
        }
        _ => format!("mysql://root@/?socket={folder}/socket"),
    }
}

/// The only folder of a socket.
pub fn socket_in(beside: &Path) -> PathBuf {
    let entries = fs::read_dir(beside).unwrap().map(|entry| entry.unwrap().path());
    let is_socket = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("socket-");
    let [socket] = entries.filter(is_socket).collect::<Vec<_>>().try_into().unwrap();
    socket
}

const SMALL: &str = "--records 20 --record-size 1B..1KiB --data incompressible --guarantee default --operations 5 --trials 2 \
    --timeout 60s";
const LONG: &str = "--records 200000 --record-size 1KiB --data incompressible --guarantee default --operations 200000 --trials 1";

#[test]
fn a_running_server_is_measured_and_left_as_it_was() {
    for server in servers() {
        let scratch = Scratch::new();
        scratch.storebench(&server.run(SMALL)).ends(Exit::Success);
        let run = scratch.results();
        assert_eq!(outcomes(&run), [(server.kind, "ok"), (server.kind, "ok")]);
        let measured = run.trials[0].measured.as_ref().unwrap();
        assert!(
            measured
                .settings
                .iter()
                .any(|setting| setting.name == "url" && setting.value == without_user(&server.url))
        );
        for figure in ["place", "disk", "device"] {
            let told = measured.unknown.iter().find(|unknown| unknown.figure == figure).expect(figure);
            assert!(told.reason.contains("the data are on a running server"), "{}", told.reason);
        }
        assert_eq!((measured.disk.files, measured.known_disk()), (0, None));
        assert!(measured.store_version.bytes().any(|byte| byte.is_ascii_digit()));
        assert!(measured.audit.is_some());
        server.assert_as_it_was();
        scratch.assert_nothing_left();
    }
}

/// Places make no difference to it: one takes part, and the others are reported.
#[test]
fn of_several_places_one_takes_part() {
    let Some(server) = servers().next() else { return };
    let scratch = Scratch::new();
    for place in ["a", "b"] {
        fs::create_dir(scratch.join(place)).unwrap();
    }
    scratch.storebench(&server.run(&format!("{SMALL} --at a=a --at b=b"))).ends(Exit::Success);
    let run = scratch.results();
    assert!(run.trials.iter().all(|trial| trial.cell.place() == "a"));
    assert!(
        run.header.left_out[0].reason.to_string().contains("places don't apply"),
        "{:?}",
        run.header.left_out
    );
}

#[test]
fn what_it_is_set_up_for_is_told_and_another_guarantee_refused() {
    let Some(server) = Running::start("postgres") else { return };
    let refused = |more: &str, words: &[&str]| {
        let scratch = Scratch::new();
        scratch.storebench(&server.run(more)).complains(Exit::BadValue, words);
        server.assert_as_it_was();
    };
    refused(&SMALL.replace("default", "process"), &["give the guarantee power, not process"]);
    refused(&format!("{SMALL} --set postgres.fsync=off"), &["can't be changed on a running server"]);
    let scratch = Scratch::new();
    scratch.storebench(&server.run(&SMALL.replace("default", "none"))).ends(Exit::Success);
    let run = scratch.results();
    let told = &run.trials[0].measured.as_ref().unwrap().settings;
    let commit = told.iter().find(|setting| setting.name == "synchronous_commit").unwrap();
    assert_eq!(commit.value, "off");
}

/// Starts a run, and waits for a trial that is not the rehearsal.
fn in_a_trial(scratch: &Scratch, server: &Running, run: &str) -> Started {
    let before = scratch.runs().len();
    let started = scratch.start(STOREBENCH, run);
    wait_for("a trial that is not the rehearsal", || {
        scratch.runs().len() == before + 1 && !server.made().is_empty()
    });
    started
}

/// Kills a run in such a trial.
fn kill_a_run(scratch: &Scratch, server: &Running) {
    let started = in_a_trial(scratch, server, &server.run(LONG));
    started.signal("KILL");
    drop(started.end());
}

#[test]
fn an_interrupted_run_leaves_nothing_there() {
    for server in servers() {
        let scratch = Scratch::new();
        let started = in_a_trial(&scratch, &server, &server.run(LONG));
        started.signal("INT");
        started.end().ends(Exit::Interrupted);
        server.assert_as_it_was();
        scratch.assert_nothing_left();
    }
}

#[test]
fn what_a_killed_run_made_is_dropped_by_clean_and_by_the_next_start() {
    for server in servers() {
        let scratch = Scratch::new();
        for next in ["clean", &server.run(SMALL)] {
            kill_a_run(&scratch, &server);
            assert_eq!(server.made().len(), 1, "it was killed");
            scratch.storebench(next).ends(Exit::Success);
            server.assert_as_it_was();
            scratch.assert_nothing_left();
        }
    }
}

#[test]
fn what_can_t_be_dropped_is_told_with_what_to_do_about_it() {
    for server in servers() {
        let scratch = Scratch::new();
        kill_a_run(&scratch, &server);
        let [made] = server.made().try_into().unwrap();
        // The server can't be reached for a while.
        server.hide(true);
        let said = scratch.storebench("clean").ends(Exit::Success);
        for words in [made.as_str(), "could not be dropped", server.told_to_drop()] {
            assert!(said.err.contains(words), "{words}\n{said}");
        }
        // Other work goes on.
        let tiny = crate::cli::support::TINY;
        let said = scratch.storebench(&format!("run crud --store flat-folder {tiny}")).ends(Exit::Success);
        assert!(said.err.contains(&made), "{said}");
        server.hide(false);
        scratch.storebench("clean").ends(Exit::Success);
        server.assert_as_it_was();
        scratch.assert_nothing_left();
    }
}

/// It is asked for the first alone; the others are reported likewise.
#[test]
fn many_things_that_a_silent_server_keeps_cost_no_more_than_one() {
    for server in servers() {
        let scratch = Scratch::new();
        kill_a_run(&scratch, &server);
        let is_work =
            |path: &PathBuf| path.file_name().unwrap().to_string_lossy().contains("storebench-work-");
        let work = scratch.contents().into_keys().find(is_work).unwrap();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = server.url.split_once("://").unwrap().0.trim_end_matches("+unix");
        let user = if server.speaks_sql() { "me@" } else { "" };
        let url = format!("{scheme}://{user}{}/x", silent.local_addr().unwrap());
        // No process has such numbers.
        for number in [99_999_991, 99_999_992, 99_999_993] {
            let copy = work.with_file_name(format!("storebench-work-{number}"));
            let mut copies = Command::new("cp");
            assert!(copies.arg("-a").args([&work, &copy]).status().unwrap().success());
            let mut notes = contents(&copy).into_keys().filter(|path| path.ends_with("made-on-server.json"));
            let note = notes.next().unwrap();
            let text = fs::read_to_string(&note).unwrap().replace(&server.url, &url);
            fs::write(&note, text.replace(&server.made()[0][11..19], &number.to_string())).unwrap();
        }
        let said = scratch.storebench("clean").ends(Exit::Success);
        for number in [99_999_991, 99_999_992, 99_999_993] {
            let told = format!("storebench_{number}");
            assert!(
                said.err.lines().any(|line| line.contains(&told) && line.contains("drop it yourself")),
                "{said}"
            );
        }
        silent.set_nonblocking(true).unwrap();
        assert_eq!(std::iter::from_fn(|| silent.accept().ok()).count(), 1, "{said}");
        server.assert_as_it_was();
    }
}

/// Neither one that refuses nor one that takes connections and says nothing.
#[test]
fn a_dead_address_is_told_before_anything_is_made() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (store, begins) in [
        ("postgres", "postgresql://me@"),
        ("mariadb", "mysql://me@"),
        ("redis", "redis://"),
        ("etcd", "etcd://"),
    ] {
        for (port, why) in [
            (closed, "Connection refused"),
            (silent.local_addr().unwrap().port(), "it let nobody in within 10 s"),
        ] {
            let scratch = Scratch::new();
            let url = format!("{begins}127.0.0.1:{port}/x");
            let run = format!("run crud --store {store},flat-folder --url {store}={url} {SMALL}");
            let reached = format!("{store}.url: the server at 127.0.0.1:{port} can't be reached");
            scratch.storebench(&run).complains(Exit::Unreachable, &[reached.as_str(), why]);
            assert_eq!(scratch.contents().len(), 0, "{:?}", scratch.contents().keys());
        }
    }
}

/// Its trials fail, the others run, and what it keeps is reported.
#[test]
fn a_server_that_goes_away_fails_its_trials_and_not_the_run() {
    for server in servers() {
        let scratch = Scratch::new();
        let long = LONG.replace("--trials 1", "--trials 2 --timeout 60s");
        let run = server.run(&long).replace("--store ", "--store flat-folder,");
        let started = in_a_trial(&scratch, &server, &run.replace("200000", "4000"));
        let kind = server.kind;
        server.signal("KILL");
        let said = started.end().ends(Exit::TrialsFailed);
        let run = scratch.results();
        assert_complete(&run, 2, 2);
        for (store, outcome) in outcomes(&run) {
            assert_eq!(outcome, if store == kind { "store" } else { "ok" }, "{:#?}", run.trials);
        }
        assert!(said.err.contains("left for now: ") && said.err.contains("could not be dropped"), "{said}");
        let said = scratch.storebench("clean storebench-runs").ends(Exit::Success);
        assert!(said.err.contains(server.told_to_drop()), "{said}");
        // Cgroups of processes that other tests have killed are anybody's to remove.
        let is_others = |line: &str| line.starts_with("deleted /sys/fs/cgroup/");
        assert!(said.out.lines().all(|line| line == "nothing was deleted" || is_others(line)), "{said}");
    }
}
