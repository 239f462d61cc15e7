//! The servers that tests share, one for each store and guarantee, started when it is first asked for; each subject has a URL there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock, PoisonError};

use storebench_model::store::{Guarantee, OpenOptions, StoreDef};

use crate::running_servers::{socket_in, url_of};

/// As many connections as all tests have at once.
const SESSIONS: usize = 400;

/// The URL of the server that a store shares at a guarantee.
pub fn url(def: &'static StoreDef, tier: Option<Guarantee>) -> &'static str {
    type Shared = BTreeMap<(&'static str, Option<Guarantee>), &'static OnceLock<String>>;
    static SHARED: Mutex<Shared> = Mutex::new(BTreeMap::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let url: &'static OnceLock<String> =
        shared.entry((def.name, tier)).or_insert_with(|| Box::leak(Box::default()));
    drop(shared);
    url.get_or_init(|| start(def, tier))
}

/// Starts a server in a thread that stays until the process ends: a server ends with the thread that started it.
fn start(def: &'static StoreDef, tier: Option<Guarantee>) -> String {
    let (send, started) = channel();
    std::thread::spawn(move || {
        let folder = folder().join(format!("{}-{}", def.name, tier.map_or("shipped", Guarantee::name)));
        let (directory, socket_parent) = (folder.join("d"), folder.join("b"));
        [&directory, &socket_parent].into_iter().for_each(|path| fs::create_dir_all(path).unwrap());
        let options = OpenOptions {
            guarantee: tier,
            sessions: SESSIONS,
            run_folder: Some(&socket_parent),
            ..OpenOptions::new(&directory)
        };
        let _store = def.open.unwrap()(&options).unwrap();
        send.send(url_of(def.name, &socket_in(&socket_parent))).unwrap();
        loop {
            std::thread::park();
        }
    });
    started.recv().expect("the shared server starts")
}

/// The folder of this process's servers. It is deleted when the process ends, or by the next one after a kill.
fn folder() -> &'static Path {
    extern "C" fn clear_own() {
        let _ = fs::remove_dir_all(place().join(std::process::id().to_string()));
    }
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        for entry in fs::read_dir(place()).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(entry.file_name()).exists() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        // SAFETY: the function takes and returns nothing, and may be called when `main` has returned.
        unsafe { libc::atexit(clear_own) };
        place().join(std::process::id().to_string())
    })
}

/// A socket's path is short, and a server's user must reach it.
fn place() -> PathBuf {
    std::env::temp_dir().join("storebench-test-servers")
}
