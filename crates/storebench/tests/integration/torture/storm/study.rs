//! The studies of a storm: small ones over every workload, store, server and file system that this machine has.

use storebench::STORES;
use storebench_model::axis::file_system::kind::KINDS;

use crate::cli::support::{STOREBENCH, faulty, is_root};
use crate::conformance::subject::is_installed;
use crate::file_systems::can_mount;
use crate::running_servers::KINDS as SERVERS;
use crate::torture::storm_is_asked_for;

#[derive(Debug)]
pub struct Study {
    /// Whether its stores misbehave.
    misbehaves: bool,
    /// The arguments, without those common to all studies.
    pub arguments: String,
    pub has_servers: bool,
    /// The store whose server was running before, if there is one.
    pub running_server: Option<&'static str>,
}

/// Workloads of records, with the rest of their command line.
const RECORD_WORKLOADS: [&str; 3] = [
    "run crud --records 20 --record-size 1B..1KiB --data incompressible --operations 5",
    "run ycsb --workload A --records 20 --operations 5",
    "run replay --trace trace.csv",
];

/// Others, with the stores that each may have.
const OTHER_WORKLOADS: [(&str, &[&str]); 3] = [
    ("run sqlite-settings --rows 10 --operations 2", &["sqlite", "postgres", "mariadb"]),
    (
        "run data-size --data-size 16KiB --threads 1 --duration 50ms --machine here --tuning default",
        &["sqlite", "lmdb", "postgres", "mariadb"],
    ),
    ("run filesystems --transactions 2 --statements 10", &["sqlite", "berkeleydb", "postgres", "redis"]),
];

/// The study of a file, which has no store.
const DEVICE_STUDY: &str = "run device --block-size 4KiB --file-size 1MiB --io buffered --sync none --duration 5ms \
     --pattern rand-read --cache warm";

/// The study of power cuts, which keeps a state of each that broke something.
const CRASH_STUDY: &str =
    "run crash --cuts 2 --records 20 --record-size 1KiB --operations 5 --place ext4:4096 --guarantee process";

impl Study {
    pub fn choose(random: &mut fastrand::Rng) -> Study {
        let study = |arguments: String| Study {
            misbehaves: false,
            has_servers: SERVERS.iter().any(|server| arguments.contains(server)),
            arguments,
            running_server: None,
        };
        let trials = random.u32(1..3);
        match random.u8(..13) {
            0 => study(format!("{DEVICE_STUDY} --trials {trials}")),
            12 if is_root() && can_mount("ext4") => {
                let names: Vec<&str> =
                    STORES.iter().filter(|store| store.server.is_none()).map(|store| store.name).collect();
                let torn = ["", " --torn"][random.usize(..2)];
                study(format!(
                    "{CRASH_STUDY}{torn} --store {} --trials {trials}",
                    choose_stores(random, &names, 2)
                ))
            }
            1..4 => {
                let (workload, stores) = OTHER_WORKLOADS[random.usize(..OTHER_WORKLOADS.len())];
                let stores = choose_stores(random, stores, 2);
                let place = if workload.contains("filesystems") {
                    random_place(random).or(Some("here"))
                } else {
                    None
                };
                let place = place.map_or_else(String::new, |place| format!(" --place {place}"));
                study(format!("{workload} --store {stores} --guarantee default{place} --trials {trials}"))
            }
            4 | 5 => {
                // It fills whatever it is put on.
                let (stores, place) = match random_place(random) {
                    Some(place) => ("fills,flat-folder", format!(" --place {place}")),
                    None => ("flat-folder,memory", String::new()),
                };
                let workload = RECORD_WORKLOADS[0];
                let arguments =
                    format!("{workload} --store {stores} --guarantee default{place} --trials {trials}");
                Study { misbehaves: true, ..study(arguments) }
            }
            6 => {
                let server = SERVERS[random.usize(..SERVERS.len())];
                let running_server =
                    STORES.iter().find(|store| store.name == server && is_installed(store)).map(|_| server);
                let stores = if running_server.is_some() {
                    format!("{server},flat-folder")
                } else {
                    "flat-folder".into()
                };
                let arguments =
                    format!("{} --store {stores} --guarantee default --trials {trials}", RECORD_WORKLOADS[0]);
                Study { running_server, has_servers: true, ..study(arguments) }
            }
            _ => {
                let workload = RECORD_WORKLOADS[random.usize(..RECORD_WORKLOADS.len())];
                let names: Vec<&str> = STORES.iter().map(|store| store.name).collect();
                let stores = choose_stores(random, &names, 3);
                let load =
                    ["", "", "", " --background none,cpu:1", " --background memory:64MiB"][random.usize(..5)];
                study(format!(
                    "{workload} --store {stores} --guarantee default{}{load} --trials {trials}",
                    place_option(random)
                ))
            }
        }
    }

    pub fn program(&self) -> String {
        if self.misbehaves { faulty().display().to_string() } else { STOREBENCH.into() }
    }
}

/// One or more of these stores, as far as they are here, by name.
fn choose_stores(random: &mut fastrand::Rng, names: &[&str], most: usize) -> String {
    let is_available = |name: &&&str| {
        STORES.iter().any(|store| store.name == **name && store.open.is_ok() && is_installed(store))
    };
    let mut available: Vec<&str> = names.iter().filter(is_available).copied().collect();
    random.shuffle(&mut available);
    available.truncate(random.usize(1..=most));
    available.join(",")
}

/// A file system in an image, or none.
fn random_place(random: &mut fastrand::Rng) -> Option<&'static str> {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let name = kinds[random.usize(..kinds.len())];
    (is_root() && can_mount(name)).then_some(name)
}

fn place_option(random: &mut fastrand::Rng) -> String {
    let place = if random.bool() { random_place(random) } else { None };
    // A disk whose server is killed blocks mkfs.btrfs on the whole machine: not together with other tests.
    let disks = if storm_is_asked_for() { ["", " --disk steady", " --disk here,sata-ssd"] } else { [""; 3] };
    let disk = disks[random.usize(..3)];
    place.map_or_else(String::new, |place| format!(" --place {place}{disk}"))
}
