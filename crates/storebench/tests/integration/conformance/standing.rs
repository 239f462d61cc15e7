//! A server that takes many seconds to start: one for the whole suite, in which each subject has what it makes by a URL.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use storebench_core::lifeline;
use storebench_core::store::StoreDef;

/// The longest time that it may take, beside other tests.
const LONGEST_START: Duration = Duration::from_secs(120);
/// Stores whose servers start slower than this have one for all.
const SLOW_S: f64 = 5.0;

/// The URL of the server that stands for a store's, where the suite has one for all.
pub fn url(def: &StoreDef) -> Option<&'static str> {
    static CASSANDRA: LazyLock<String> = LazyLock::new(start);
    is_slow(def).then(|| CASSANDRA.as_str())
}

/// Whether a store's server starts so slowly that tests start it as seldom as they can.
pub fn is_slow(def: &StoreDef) -> bool {
    def.server.is_some_and(|server| (server.start_s)(&BTreeMap::new()) > SLOW_S)
}

/// Starts it in a thread that stays until the process ends, and with it the server.
fn start() -> String {
    let (send, started) = channel();
    std::thread::spawn(move || {
        let server = cassandra();
        send.send(server.1).unwrap();
        loop {
            std::thread::park();
        }
    });
    started.recv().expect("the standing server starts")
}

/// A server as a user has it, at a port of this machine that is free, and its URL.
fn cassandra() -> (Child, String) {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("standing");
    clear(&parent);
    let folder = parent.join(std::process::id().to_string());
    fs::create_dir_all(&folder).unwrap();
    // Both at once: the second is not the first.
    let free = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    let [port, peers] = free.map(|listener| listener.local_addr().unwrap().port());
    let within = |name: &str| folder.join(name).display().to_string();
    let file = format!(
        "cluster_name: theirs\nnum_tokens: 1\npartitioner: org.apache.cassandra.dht.Murmur3Partitioner\nendpoint_snitch: SimpleSnitch\n\
         seed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n    parameters: [{{seeds: \"127.0.0.1:{peers}\"}}]\n\
         listen_address: 127.0.0.1\nstorage_port: {peers}\nrpc_address: 127.0.0.1\nnative_transport_port: {port}\n\
         data_file_directories: [\"{}\"]\ncommitlog_directory: \"{}\"\nsaved_caches_directory: \"{}\"\nhints_directory: \"{}\"\n\
         commitlog_sync: periodic\ncommitlog_sync_period: 10s\nauto_snapshot: false\nwrite_request_timeout: 60s\nread_request_timeout: 60s\n",
        within("data"),
        within("commitlog"),
        within("caches"),
        within("hints"),
    );
    fs::write(folder.join("cassandra.yaml"), file).unwrap();
    let quiet = "<configuration><root level=\"OFF\"/></configuration>";
    fs::write(folder.join("logback.xml"), quiet).unwrap();
    let mut command = Command::new("cassandra");
    command
        .args(["-f", &format!("-Dcassandra.config=file://{}", within("cassandra.yaml"))])
        .args([format!("-Dlogback.configurationFile={}", within("logback.xml"))])
        .args([
            format!("-Dcassandra.storagedir={}", within("data")),
            format!("-Djava.io.tmpdir={}", within("")),
        ])
        .args([format!("-Djna.tmpdir={}", within(""))])
        .envs([("MAX_HEAP_SIZE", "512M"), ("JVM_EXTRA_OPTS", "-XX:-UsePerfData")])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = lifeline::tie(&mut command).spawn().unwrap();
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(server.try_wait().unwrap().is_none(), "the standing server ended");
        assert!(start.elapsed() < LONGEST_START, "the standing server does not come up");
        std::thread::sleep(Duration::from_millis(50));
    }
    (server, format!("cassandra://127.0.0.1:{port}"))
}

/// Deletes what earlier processes have left, each of which is gone by now.
fn clear(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
