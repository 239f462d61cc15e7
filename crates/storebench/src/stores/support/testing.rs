//! Helpers of the stores' own tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use storebench_core::store::{Guarantee, OpenOptions, Result, Store, StoreDef, StoreError};
use tempfile::TempDir;

/// A folder that goes when it is dropped.
pub fn new_folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Opens a store with settings, compressing or not.
pub fn open(
    def: &StoreDef,
    directory: &Path,
    guarantee: Option<Guarantee>,
    compression: bool,
    settings: &[(&str, &str)],
) -> Result<Box<dyn Store>> {
    let settings = settings.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect();
    let options = OpenOptions {
        directory,
        guarantee,
        compression,
        cache_bytes: None,
        settings: &settings,
        sessions: 2,
    };
    (def.open.unwrap())(&options)
}

/// A store that opens.
pub fn opened(
    def: &StoreDef,
    folder: &TempDir,
    tier: Option<Guarantee>,
    settings: &[(&str, &str)],
) -> Box<dyn Store> {
    open(def, folder.path(), tier, false, settings).unwrap()
}

/// Why a store does not open.
pub fn refused(
    def: &StoreDef,
    folder: &TempDir,
    tier: Option<Guarantee>,
    settings: &[(&str, &str)],
) -> StoreError {
    match open(def, folder.path(), tier, false, settings) {
        Ok(_) => panic!("{} took {settings:?}", def.name),
        Err(error) => error,
    }
}

/// A setting as the store reads it back.
pub fn setting(store: &dyn Store, name: &str) -> String {
    let settings = store.settings().unwrap();
    settings.into_iter().find(|setting| setting.name == name).expect("the setting is reported").value
}

const VICTIM_STORE: &str = "STOREBENCH_TEST_VICTIM_STORE";
const VICTIM_TIER: &str = "STOREBENCH_TEST_VICTIM_TIER";
const VICTIM_FOLDER: &str = "STOREBENCH_TEST_VICTIM_FOLDER";

/// How many of three records, whose inserts were acknowledged, are there after the process that made them was killed.
pub fn after_kill(def: &StoreDef, tier: Guarantee) -> u64 {
    let folder = new_folder();
    let ready = folder.path().join("ready");
    let store = folder.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stores::support::testing::victim", "--ignored"])
        .env(VICTIM_STORE, def.name)
        .env(VICTIM_TIER, tier.name())
        .env(VICTIM_FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !ready.exists() {
        assert!(victim.try_wait().unwrap().is_none(), "the victim died before its writes");
        std::thread::sleep(Duration::from_millis(5));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    open(def, &store, Some(tier), false, &[]).unwrap().count().unwrap()
}

/// The process that [`after_kill`] kills: writes, says so with a file, and waits.
#[test]
#[ignore = "is run, and killed, by other tests"]
fn victim() {
    let Some(folder) = std::env::var_os(VICTIM_FOLDER).map(PathBuf::from) else { return };
    let name = std::env::var(VICTIM_STORE).unwrap();
    let tier: Guarantee = std::env::var(VICTIM_TIER).unwrap().parse().unwrap();
    let def = crate::STORES.iter().find(|def| def.name == name).unwrap();
    let store = open(def, &folder.join("store"), Some(tier), false, &[]).unwrap();
    let mut session = store.session().unwrap();
    for key in [b"a", b"b", b"c"] {
        session.insert(key, b"value").unwrap();
    }
    std::fs::write(folder.join("ready"), b"").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}
