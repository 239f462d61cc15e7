//! What this machine can mount, simulate and limit. What is done there: cases/file_systems.txt, simulated_disks.txt and limits.txt.

use std::fs;
use std::path::Path;

use storebench_core::measure::limit::LimitSupport;
use storebench_host::image::Driver;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::file_system::kind::KINDS;
use storebench_model::error::Exit;
use storebench_model::result::LimitKind;

use crate::cli::support::{Scratch, TINY, assert_complete, is_root, root, skipped, wait_for};

/// Every store that keeps its files itself.
const STORES: &str =
    "berkeleydb,fjall,flat-folder,leveldb,libmdbx,lmdb,nested-folder,redb,rocksdb,sled,sqlite,unqlite";
/// The file systems of every machine on which all tests are to run, and nothing may be skipped.
const EVERYWHERE: [&str; 8] = ["ext2", "ext3", "ext4", "fuse2fs", "xfs", "btrfs", "ntfs", "exfat"];

/// Whether this machine can mount a file system; if it can't, the test says so.
pub fn can_mount(name: &str) -> bool {
    let wanted: FileSystem = name.parse().unwrap();
    let found = Driver::find(&wanted);
    let needed = std::env::var_os("STOREBENCH_TEST_STRICT").is_some() && is_root();
    if let Err(why) = &found
        && needed
        && Path::new("/dev/loop-control").exists()
    {
        assert!(!EVERYWHERE.contains(&wanted.kind().name), "{name}: {why}");
    }
    found.inspect_err(|why| skipped(name, why)).is_ok()
}

/// Whether this machine can simulate a disk under ext4, and cut its power; where it can't, the test says so.
pub fn can_simulate() -> bool {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skipped("a simulated disk", "needs root and /dev/fuse");
        return false;
    }
    can_mount("ext4:4096")
}

/// Whether memory and processor time can be limited here; said if not.
pub fn can_limit(what: &str) -> bool {
    let limits = [(LimitKind::Memory, 64 << 20), (LimitKind::Share, 500_000)].into();
    let held = LimitSupport::detect().decide(&limits, &[], Err("not looked at"));
    held.inspect_err(|why| skipped(what, why)).is_ok()
}

/// The stores that work on every file system: all that keep their files themselves, and PostgreSQL if it is installed.
pub fn residents() -> String {
    let postgres = storebench::STORES.iter().find(|store| store.name == "postgres" && store.open.is_ok());
    match postgres.map(|store| store.missing_need()) {
        Some(None) => format!("{STORES},postgres"),
        why => {
            skipped("postgres", &why.flatten().unwrap_or_else(|| "it is not built in".into()));
            STORES.to_owned()
        }
    }
}

/// The mounts, loop devices and processes that are left of what was in a directory.
pub fn left_of(scratch: &Scratch) -> Vec<String> {
    [mounts_of(scratch), loops_of(scratch), scratch.processes()].concat()
}

fn mounts_of(scratch: &Scratch) -> Vec<String> {
    let path = fs::canonicalize(scratch.path()).unwrap().display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().filter(|line| line.contains(&path)).map(str::to_owned).collect()
}

fn loops_of(scratch: &Scratch) -> Vec<String> {
    let path = fs::canonicalize(scratch.path()).unwrap().display().to_string();
    let loops = fs::read_dir("/sys/block").unwrap().flatten().filter_map(|entry| {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        backing.contains(&path).then(|| format!("{}: {backing}", entry.path().display()))
    });
    loops.collect()
}

/// Fails if anything is left in the directory of stores' files, or of what was mounted there.
#[track_caller]
pub fn assert_gone(scratch: &Scratch) {
    let disk: Vec<_> =
        fs::read_dir(scratch.join("disk")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(disk.is_empty(), "{disk:?} is left");
    // The kernel ends a killed run's trial, which on a busy machine has not yet got so far as to open anything.
    // A loop device goes with the last of its users, which may be a mount that ends with a process.
    wait_for("the end of what is at work there", || {
        scratch.processes().is_empty() && loops_of(scratch).is_empty()
    });
    let left = mounts_of(scratch);
    assert!(left.is_empty(), "{left:#?} is left");
}

pub fn with_disk() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("disk")).unwrap();
    scratch
}

#[test]
fn a_plan_names_file_systems_too_and_what_cannot_be_had_is_left_out_with_what_would_help() {
    let scratch = with_disk();
    let missing = KINDS.iter().find(|kind| Driver::find(&kind.name.parse().unwrap()).is_err());
    let Some(missing) = missing else {
        return skipped("what can't be had", "this machine has every file system");
    };
    let plan = fs::read_to_string(root().join("studies/crud.toml")).unwrap();
    let axis = format!("[axes]\nplace = [\"here\", \"{}\"]", missing.name);
    scratch.write("plan.toml", plan.replacen("[axes]", &axis, 1));
    scratch.storebench(&format!("run plan.toml --store flat-folder {TINY} --at disk")).ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, 1, 1);
    assert_eq!(run.trials[0].cell.location_name(), "here");
    let why = Driver::find(&missing.name.parse().unwrap()).unwrap_err();
    let left = run.header.left_out.iter().find(|left| left.cell.location_name() == missing.name).unwrap();
    // The commands that processes were started with differ.
    let words = |text: &str| text.split("needs none): ").next().unwrap().to_owned();
    assert_eq!(words(&left.reason.to_string()), words(&why));
    let said = scratch
        .storebench(&format!("run plan.toml --place {} --store flat-folder {TINY} --at disk", missing.name));
    said.complains(Exit::Nothing, &[missing.name]);
    assert_gone(&scratch);
}
