//! The studies of a storm: small ones over every workload, store, server and file system that this machine has.

use storebench::STORES;
use storebench_core::axis::file_system::kind::KINDS;

use crate::cli::support::{STOREBENCH, faulty, is_root};
use crate::conformance::subject::is_installed;
use crate::file_systems::can_mount;
use crate::running_servers::KINDS as SERVERS;
use crate::torture::storm_is_asked_for;

/// A small run.
#[derive(Debug)]
pub struct Study {
    /// Whether its stores misbehave.
    misbehaves: bool,
    /// The arguments, without those common to all studies.
    pub arguments: String,
    /// Whether servers take part.
    pub has_servers: bool,
    /// The store whose server was running before, if there is one.
    pub url_of: Option<&'static str>,
}

/// Workloads of records, with the rest of their command line.
const OF_RECORDS: [&str; 3] = [
    "run crud --records 20 --record-size 1B..1KiB --data incompressible --operations 5",
    "run ycsb --workload A --records 20 --operations 5",
    "run replay --trace trace.csv",
];

/// Others, with the stores that each may have.
const OTHERS: [(&str, &[&str]); 3] = [
    ("run sqlite-settings --rows 10 --operations 2", &["sqlite", "postgres", "mariadb"]),
    (
        "run data-size --data-size 16KiB --threads 1 --duration 50ms --machine here --tuning default",
        &["sqlite", "lmdb", "postgres", "mariadb"],
    ),
    ("run filesystems --transactions 2 --statements 10", &["sqlite", "berkeleydb", "postgres", "redis"]),
];

/// The study of a file, which has no store.
const OF_A_FILE: &str = "run device --block-size 4KiB --file-size 1MiB --io buffered --sync none --duration 5ms \
     --pattern rand-read --cache warm";

/// The study of power cuts, which keeps a state of each that broke something.
const OF_CUTS: &str =
    "run crash --cuts 2 --records 20 --record-size 1KiB --operations 5 --place ext4:4096 --guarantee process";

impl Study {
    pub fn choose(random: &mut fastrand::Rng) -> Study {
        let study = |arguments: String| Study {
            misbehaves: false,
            has_servers: SERVERS.iter().any(|server| arguments.contains(server)),
            arguments,
            url_of: None,
        };
        let trials = random.u32(1..3);
        match random.u8(..13) {
            0 => study(format!("{OF_A_FILE} --trials {trials}")),
            12 if is_root() && can_mount("ext4") => {
                let all: Vec<&str> =
                    STORES.iter().filter(|store| store.server.is_none()).map(|store| store.name).collect();
                let torn = ["", " --torn"][random.usize(..2)];
                study(format!("{OF_CUTS}{torn} --store {} --trials {trials}", some_of(random, &all, 2)))
            }
            1..4 => {
                let (workload, stores) = OTHERS[random.usize(..OTHERS.len())];
                let stores = some_of(random, stores, 2);
                let place =
                    if workload.contains("filesystems") { place(random).or(Some("here")) } else { None };
                let place = place.map_or_else(String::new, |place| format!(" --place {place}"));
                study(format!("{workload} --store {stores} --guarantee default{place} --trials {trials}"))
            }
            4 | 5 => {
                // It fills whatever it is put on.
                let (stores, place) = match place(random) {
                    Some(place) => ("fills,flat-folder", format!(" --place {place}")),
                    None => ("flat-folder,memory", String::new()),
                };
                let of_records = OF_RECORDS[0];
                let arguments =
                    format!("{of_records} --store {stores} --guarantee default{place} --trials {trials}");
                Study { misbehaves: true, ..study(arguments) }
            }
            6 => {
                let server = SERVERS[random.usize(..SERVERS.len())];
                let url_of =
                    STORES.iter().find(|store| store.name == server && is_installed(store)).map(|_| server);
                let stores =
                    if url_of.is_some() { format!("{server},flat-folder") } else { "flat-folder".into() };
                let arguments =
                    format!("{} --store {stores} --guarantee default --trials {trials}", OF_RECORDS[0]);
                Study { url_of, has_servers: true, ..study(arguments) }
            }
            _ => {
                let workload = OF_RECORDS[random.usize(..OF_RECORDS.len())];
                let all: Vec<&str> = STORES.iter().map(|store| store.name).collect();
                let stores = some_of(random, &all, 3);
                let load =
                    ["", "", "", " --background none,cpu:1", " --background memory:64MiB"][random.usize(..5)];
                study(format!(
                    "{workload} --store {stores} --guarantee default{}{load} --trials {trials}",
                    in_a_place(random)
                ))
            }
        }
    }

    pub fn program(&self) -> String {
        if self.misbehaves { faulty().display().to_string() } else { STOREBENCH.into() }
    }
}

/// One or more of these stores, as far as they are here, by name.
fn some_of(random: &mut fastrand::Rng, names: &[&str], most: usize) -> String {
    let is_here = |name: &&&str| {
        STORES.iter().any(|store| store.name == **name && store.open.is_ok() && is_installed(store))
    };
    let mut here: Vec<&str> = names.iter().filter(is_here).copied().collect();
    random.shuffle(&mut here);
    here.truncate(random.usize(1..=most));
    here.join(",")
}

/// A file system in an image, or none.
fn place(random: &mut fastrand::Rng) -> Option<&'static str> {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let name = kinds[random.usize(..kinds.len())];
    (is_root() && can_mount(name)).then_some(name)
}

fn in_a_place(random: &mut fastrand::Rng) -> String {
    let place = if random.bool() { place(random) } else { None };
    // A disk whose server is killed blocks mkfs.btrfs on the whole machine: not together with other tests.
    let disks = if storm_is_asked_for() { ["", " --disk steady", " --disk here,sata-ssd"] } else { [""; 3] };
    let disk = disks[random.usize(..3)];
    place.map_or_else(String::new, |place| format!(" --place {place}{disk}"))
}
