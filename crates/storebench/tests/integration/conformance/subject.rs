//! A store under test: an entry of the table, a tier, and a fresh directory.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use storebench_model::server::running::{ServerNamespace, URL};
use storebench_model::store::{
    Capabilities, Guarantee, GuaranteeOffer, OpenOptions, Result, Session, Setting, Store, StoreDef,
    make_servers_known,
};
use tempfile::TempDir;

use super::standing;
use crate::store_library::all_stores;
use crate::{in_memory, tier};

/// Applies `check` to every built store at its guarantees, and reports all that fail. Stores go in parallel, for most of the time goes into
/// waiting for the disk. Stores that are servers have one for all tests at each tier.
pub fn for_each(check: impl Fn(&Subject) + Sync) {
    let subject = |def: &'static StoreDef, tier| match def.server {
        Some(_) => Subject::shared(def, tier),
        None => Subject::new(def, tier),
    };
    for_each_of(|def| tiers(def).into_iter().map(|tier| subject(def, tier)).collect(), check);
}

/// The same with a separate server for each subject.
pub fn for_each_private(check: impl Fn(&Subject) + Sync) {
    for_each_of(|def| tiers(def).into_iter().map(|tier| Subject::new(def, tier)).collect(), check);
}

/// Holds the subjects that each built store makes to `check`, as [`for_each`] does.
pub fn for_each_of(
    subjects: impl Fn(&'static StoreDef) -> Vec<Subject> + Sync,
    check: impl Fn(&Subject) + Sync,
) {
    let built: Vec<_> = chosen().filter(|def| def.open.is_ok() && is_installed(def)).collect();
    assert!(!built.is_empty() || std::env::var_os("STOREBENCH_TEST_STORE").is_some(), "no store is tested");
    let failures: Vec<String> = std::thread::scope(|scope| {
        let (check, subjects) = (&check, &subjects);
        let stores: Vec<_> =
            built.iter().map(|def| scope.spawn(|| failures_of(subjects(def), check))).collect();
        stores.into_iter().flat_map(|store| store.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// Which subjects fail a check, and why.
fn failures_of(subjects: Vec<Subject>, check: &impl Fn(&Subject)) -> Vec<String> {
    let failure = |subject: Subject| {
        let panic = catch_unwind(AssertUnwindSafe(|| check(&subject))).err()?;
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
        Some(format!("{subject}: {text}"))
    };
    subjects.into_iter().filter_map(failure).collect()
}

/// The same for stores that keep what they are given.
pub fn for_each_keeping(check: impl Fn(&Subject) + Sync) {
    for_each(|subject| {
        if subject.can().keeps {
            check(subject);
        }
    });
}

/// The same with separate servers.
pub fn for_each_keeping_privately(check: impl Fn(&Subject) + Sync) {
    for_each_private(|subject| {
        if subject.can().keeps {
            check(subject);
        }
    });
}

/// The entries of the table that are to be tested.
pub fn chosen() -> impl Iterator<Item = &'static StoreDef> {
    let only = std::env::var("STOREBENCH_TEST_STORE").ok();
    if let Some(name) = &only {
        assert!(
            all_stores().iter().any(|def| def.name == *name),
            "STOREBENCH_TEST_STORE: there is no store {name}"
        );
    }
    all_stores().iter().filter(move |def| only.as_deref().is_none_or(|name| name == def.name))
}

/// Whether what a store needs is on this machine; else says what lacks. With `STOREBENCH_TEST_STRICT=1` nothing may lack.
pub fn is_installed(def: &StoreDef) -> bool {
    make_servers_known(all_stores());
    let Some(reason) = def.missing_need() else { return true };
    assert!(std::env::var_os("STOREBENCH_TEST_STRICT").is_none(), "{}: {reason}", def.name);
    let _ = writeln!(std::io::stderr(), "{} is not tested: {reason}", def.name);
    false
}

/// A folder that all tests of a build share, for what servers make once.
fn servers_folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("servers");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    &FOLDER
}

/// As shipped, and the strongest tier on offer; of the whole matrix, every tier.
fn tiers(def: &StoreDef) -> Vec<Option<Guarantee>> {
    let offered = def.offers.iter().map(|offer| offer.guarantee);
    let strongest = offered.clone().max();
    let is_tested = |tier: &Guarantee| tier::is_whole() || (Some(*tier) == strongest && *tier != def.shipped);
    std::iter::once(None).chain(offered.filter(is_tested).map(Some)).collect()
}

pub struct Subject {
    pub def: &'static StoreDef,
    /// The tier that the store is asked for.
    pub tier: Option<Guarantee>,
    pub settings: BTreeMap<String, String>,
    can: Capabilities,
    pub directory: TempDir,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.def.name, self.tier.map_or("as shipped", Guarantee::name))?;
        self.settings.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl Subject {
    pub fn new(def: &'static StoreDef, tier: Option<Guarantee>) -> Subject {
        Subject::with(def, tier, BTreeMap::new())
    }

    /// With settings in addition to the guarantee's settings.
    pub fn with(
        def: &'static StoreDef,
        tier: Option<Guarantee>,
        settings: BTreeMap<String, String>,
    ) -> Subject {
        let directory = in_memory::folder(&format!("{}-", def.name));
        let can = def.capabilities_with(settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        Subject { def, tier, settings, can, directory }
    }

    /// The same with its records on the server that tests share.
    fn shared(def: &'static StoreDef, tier: Option<Guarantee>) -> Subject {
        Subject::with(def, tier, BTreeMap::from([(URL.into(), standing::url(def, tier).into())]))
    }

    /// The same store, tier and settings in another fresh directory.
    pub fn anew(&self) -> Subject {
        Subject::with(self.def, self.tier, self.settings.clone())
    }

    pub fn can(&self) -> &Capabilities {
        &self.can
    }

    /// The tier that it is to give.
    pub fn guarantee(&self) -> Guarantee {
        self.tier.unwrap_or(self.def.shipped)
    }

    pub fn offer(&self) -> &'static GuaranteeOffer {
        self.def.offer(self.guarantee()).expect("the tier is on offer")
    }

    /// `usual` operations, or a tenth of them where each waits for the disk.
    pub fn operations(&self, usual: u64) -> u64 {
        if self.guarantee() == Guarantee::Power { usual.div_ceil(10) } else { usual }
    }

    pub fn open(&self) -> Box<dyn Store> {
        let start = std::time::Instant::now();
        loop {
            match self.open_with(|_| ()) {
                Ok(store) => return store,
                // A child that another test has forked holds all locks until it runs its program.
                Err(error) if error.to_string().contains(" lock") && start.elapsed().as_secs() < 60 => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                Err(error) => panic!("it does not open: {error}"),
            }
        }
    }

    /// Opens it with other options than the suite's usual ones.
    pub fn open_with<'a>(&'a self, change: impl FnOnce(&mut OpenOptions<'a>)) -> Result<Box<dyn Store>> {
        let mut options = OpenOptions {
            guarantee: self.tier,
            settings: &self.settings,
            run_folder: Some(servers_folder()),
            ..OpenOptions::new(self.directory.path())
        };
        change(&mut options);
        self.def.open.unwrap()(&options)
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let Ok(Some(namespace)) = ServerNamespace::read_note(self.directory.path()) else { return };
        let dropped = (self.def.server.unwrap().drop)(&namespace.url, &namespace.name);
        assert!(dropped.is_ok() || std::thread::panicking(), "{self}: {dropped:?}");
    }
}

/// The value of a key, if it is there; and that the visitor is called exactly then, once.
pub fn get(session: &mut dyn Session, key: &[u8]) -> Option<Vec<u8>> {
    let mut seen = Vec::new();
    let found = session
        .get(key, &mut |value| seen.push(value.to_vec()))
        .unwrap_or_else(|error| panic!("get {}: {error}", key.escape_ascii()));
    assert_eq!(seen.len(), usize::from(found), "get {}: how often it visits", key.escape_ascii());
    if let (true, Some(copied)) = (found, session.copied()) {
        assert_eq!(copied, seen[0], "get {}: what it says that it copied", key.escape_ascii());
    }
    seen.pop()
}

/// Holds a key to a value, without printing either in full.
pub fn assert_holds(session: &mut dyn Session, key: &[u8], expected: Option<&[u8]>) {
    let found = get(session, key);
    if found.as_deref() != expected {
        let describe = |value: Option<&[u8]>| match value {
            None => String::from("nothing"),
            Some(value) => format!(
                "{} bytes {}...",
                value.len(),
                value
                    .iter()
                    .take(16)
                    .copied()
                    .flat_map(std::ascii::escape_default)
                    .map(char::from)
                    .collect::<String>()
            ),
        };
        panic!("key {} holds {}, not {}", key.escape_ascii(), describe(found.as_deref()), describe(expected));
    }
}

/// A key of the usual form, spread over the key space.
pub fn key(number: u64) -> Vec<u8> {
    storebench_core::workload::kill::steps::record_key(number).into_bytes()
}

/// `length` bytes that depend on `seed` alone and do not compress.
pub fn value(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut words = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    });
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend(words.next().into_iter().flat_map(u64::to_le_bytes));
    }
    bytes.truncate(length);
    bytes
}

pub fn by_name(settings: Vec<Setting>) -> BTreeMap<String, String> {
    settings.into_iter().map(|setting| (setting.name, setting.value)).collect()
}
