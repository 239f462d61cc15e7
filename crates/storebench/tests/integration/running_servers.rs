//! Servers that were running before a run, of the tests' own. What is done with them: cases/running_servers.txt.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_model::store::sql::SqlValue;
use storebench_model::store::{OpenOptions, Store};
use tempfile::TempDir;

use crate::conformance::subject::is_installed;

/// A server of the test, in the role of one that was running before.
pub struct Running {
    store: Box<dyn Store>,
    pub url: String,
    pub kind: &'static str,
    folder: TempDir,
    socket: PathBuf,
}

pub const KINDS: [&str; 4] = ["postgres", "mariadb", "redis", "etcd"];

impl Running {
    /// Where it is not installed there is nothing to try.
    pub fn start(kind: &'static str) -> Option<Running> {
        let def = storebench::STORES.iter().find(|store| store.name == kind)?;
        let open = def.open.ok().filter(|_| is_installed(def))?;
        // A socket's path is short.
        let folder = tempfile::tempdir().unwrap();
        let (directory, socket_parent) = (folder.path().join("d"), folder.path().join("b"));
        [&directory, &socket_parent].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        let options = OpenOptions { run_folder: Some(&socket_parent), ..OpenOptions::new(&directory) };
        let store = open(&options).unwrap();
        let socket = socket_in(&socket_parent);
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
        let visit = &mut |row: &[SqlValue<'_>]| match row {
            [SqlValue::Text(text)] => found.push((*text).to_owned()),
            row => panic!("{row:?}"),
        };
        session.query(statement, &[], visit).unwrap();
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
            let output = scan.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let keys = String::from_utf8_lossy(&output.stdout).into_owned();
            let keys = keys.lines().filter(|key| !key.is_empty());
            let names = keys.map(|key| key.split([':', '/']).next().unwrap().to_owned());
            return names.collect::<BTreeSet<_>>().into_iter().collect();
        }
        let names = self.texts("SELECT CAST(schema_name AS CHAR(100)) FROM information_schema.schemata");
        let names = names.into_iter().map(|name| name.trim().to_owned());
        names.filter(|name| name.starts_with("storebench_")).collect()
    }

    pub fn signal(&self, name: &str) {
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)) {
                let _ = Command::new("kill").arg(format!("-{name}")).arg(entry.file_name()).status();
            }
        }
    }

    /// Takes its address away, or gives it back.
    pub fn hide(&self, is_hidden: bool) {
        let hidden_path = self.folder.path().join("away");
        let (source, target) =
            if is_hidden { (&self.socket, &hidden_path) } else { (&hidden_path, &self.socket) };
        fs::rename(source, target).unwrap();
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
    pub fn told_to_drop(&self) -> &'static str {
        match self.kind {
            "redis" => "drop it yourself, by redis-cli EVAL ",
            "etcd" => "drop it yourself, by etcdctl del --prefix ",
            _ => "drop it yourself, by DROP ",
        }
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
pub fn socket_in(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_socket = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("socket-");
    let [socket] = entries.filter(is_socket).collect::<Vec<_>>().try_into().unwrap();
    socket
}
