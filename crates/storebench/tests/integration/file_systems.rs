//! File systems in images: every store on each that this machine has, and nothing else touched, whatever happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use storebench_core::axis::file_system::FileSystem;
use storebench_core::axis::file_system::kind::KINDS;
use storebench_core::error::Exit;
use storebench_core::result::{Failure, Outcome, TrialResult};
use storebench_host::image::Driver;
use storebench_host::run::Run;

use crate::cli::support::{Scratch, Started, TINY, assert_complete, faulty, is_root, skipped, wait_for};

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

/// The stores that work on every file system: all that keep their files themselves, and PostgreSQL if it is installed.
pub fn residents() -> String {
    let postgres = storebench::STORES.iter().find(|store| store.name == "postgres" && store.open.is_ok());
    match postgres.map(|store| store.lacks()) {
        Some(None) => format!("{STORES},postgres"),
        why => {
            skipped("postgres", &why.flatten().unwrap_or_else(|| "it is not built in".into()));
            STORES.to_owned()
        }
    }
}

/// The mounts, loop devices and processes that are left of what was in a directory.
pub fn left_of(scratch: &Scratch) -> Vec<String> {
    let path = fs::canonicalize(scratch.path()).unwrap().display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts = mounts.lines().filter(|line| line.contains(&path)).map(str::to_owned);
    let loops = fs::read_dir("/sys/block").unwrap().flatten().filter_map(|entry| {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        backing.contains(&path).then(|| format!("{}: {backing}", entry.path().display()))
    });
    mounts.chain(loops).chain(scratch.processes()).collect()
}

/// Fails if anything is left in the directory of stores' files, or of what was mounted there.
#[track_caller]
pub fn assert_gone(scratch: &Scratch) {
    let disk: Vec<_> =
        fs::read_dir(scratch.join("disk")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(disk.is_empty(), "{disk:?} is left");
    // The kernel ends a killed run's trial, which on a busy machine has not yet got so far as to open anything.
    wait_for("processes that are ending", || scratch.processes().is_empty());
    let left = left_of(scratch);
    assert!(left.is_empty(), "{left:#?} is left");
}

pub fn with_disk() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("disk")).unwrap();
    scratch
}

/// Trials that did not end well, in words.
pub fn failed(run: &Run) -> Vec<String> {
    let failed = |trial: &TrialResult| match &trial.outcome {
        Outcome::Ok => None,
        Outcome::Failed { message, .. } | Outcome::Unsupported { message } => {
            Some(format!("{} on {}: {message}", trial.cell.store(), trial.cell.place()))
        }
    };
    run.trials.iter().filter_map(failed).collect()
}

#[test]
fn every_store_lives_on_every_file_system_of_this_machine() {
    let scratch = with_disk();
    let there = |name: &&'static str| can_mount(name);
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).filter(there).collect();
    if names.is_empty() {
        return;
    }
    let (places, stores) = (names.join(","), residents());
    let study = TINY.replace("--guarantee process", "--guarantee default");
    scratch
        .storebench(&format!("run crud --store {stores} --place {places} {study} --at disk"))
        .ends(Exit::Success);
    let run = scratch.results();
    // A store that only offers `power` is left out if a power cut takes what was synced.
    let gives_power = |store: &str| {
        let def = storebench::STORES.iter().find(|def| def.name == store).unwrap();
        def.shipped >= storebench_core::store::Guarantee::Power
    };
    let keeps_power = |name: &str| !["tmpfs", "fuse2fs"].contains(&name);
    let cells = names.iter().flat_map(|name| stores.split(',').map(move |store| (name, store)));
    let cells = cells.filter(|(name, store)| keeps_power(name) || !gives_power(store));
    assert_complete(&run, cells.count(), 1);
    assert_eq!(failed(&run), [""; 0]);
    for place in &run.header.locations {
        assert_eq!(place.image.as_ref().map(FileSystem::to_string).as_deref(), Some(place.name.as_str()));
        let driver = place.driver.as_deref().unwrap();
        assert!(driver.starts_with("kernel (") || driver.starts_with("FUSE ("), "{driver}");
        assert_eq!(place.file_system.as_deref(), Some(place.name.as_str()));
    }
    // The traffic is that of the trial's own loop device.
    let traffic =
        |trial: &&TrialResult| trial.ok().unwrap().device.as_ref().is_some_and(|device| !device.shared);
    let on_loops = run.trials.iter().filter(|trial| trial.cell.place() != "tmpfs");
    if is_root() {
        assert!(on_loops.clone().count() > 0 && on_loops.clone().all(|trial| traffic(&trial)));
    }
    assert_gone(&scratch);
}

#[test]
fn the_largest_and_the_smallest_clusters_and_mount_options_are_had() {
    let scratch = with_disk();
    let wanted =
        ["ext2:1024", "ext4:4096,data=journal,noatime", "xfs:65536", "ntfs:512", "ntfs:65536", "exfat:65536"];
    let names: Vec<&str> = wanted.into_iter().filter(|name| can_mount(name)).collect();
    if names.is_empty() {
        return;
    }
    let places = names.join(",");
    scratch
        .storebench(&format!("run crud --store sqlite,flat-folder --place {places},here {TINY} --at disk"))
        .ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, (names.len() + 1) * 2, 1);
    assert_eq!(failed(&run), [""; 0]);
    if let Some(place) = run.header.locations.iter().find(|place| place.name.contains("noatime")) {
        let options = place.mount_options.as_deref().unwrap();
        assert!(options.contains("noatime") && options.contains("data=journal"), "{options}");
    }
    let said = scratch.storebench("report latest").ends(Exit::Success);
    assert!(names.iter().all(|name| said.out.contains(name)), "{said}");
    assert_gone(&scratch);
}

#[test]
fn a_plan_names_file_systems_too_and_what_cannot_be_had_is_left_out_with_what_would_help() {
    let scratch = with_disk();
    let missing = KINDS.iter().find(|kind| Driver::find(&kind.name.parse().unwrap()).is_err());
    let Some(missing) = missing else {
        return skipped("what can't be had", "this machine has every file system");
    };
    let plan =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/crud.toml")).unwrap();
    let axis = format!("[axes]\nplace = [\"here\", \"{}\"]", missing.name);
    scratch.write("plan.toml", plan.replacen("[axes]", &axis, 1));
    scratch.storebench(&format!("run plan.toml --store flat-folder {TINY} --at disk")).ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, 1, 1);
    assert_eq!(run.trials[0].cell.place(), "here");
    let why = Driver::find(&missing.name.parse().unwrap()).unwrap_err();
    let left = run.header.left_out.iter().find(|left| left.cell.place() == missing.name).unwrap();
    // The commands that processes were started with differ.
    let words = |text: &str| text.split("needs none): ").next().unwrap().to_owned();
    assert_eq!(words(&left.reason.to_string()), words(&why));
    let said = scratch
        .storebench(&format!("run plan.toml --place {} --store flat-folder {TINY} --at disk", missing.name));
    said.complains(Exit::Nothing, &[missing.name]);
    assert_gone(&scratch);
}

/// Starts a run with a slow trial in an image, and waits until that is mounted; where.
pub fn mounted(scratch: &Scratch, place: &str) -> (Started, PathBuf) {
    mounted_for(scratch, place, 1)
}

/// The same with this number of trials.
fn mounted_for(scratch: &Scratch, place: &str, trials: u32) -> (Started, PathBuf) {
    let study = TINY
        .replace("--operations 5", "--operations 120")
        .replace("--trials 1", &format!("--trials {trials}"))
        .replace("--guarantee process", "--guarantee default");
    let run = scratch.start(faulty(), &format!("run crud --store dawdles --place {place} {study} --at disk"));
    let at = || {
        let spec = fs::read_to_string(scratch.runs().last()?.join("trial.json")).ok()?;
        let spec: serde_json::Value = serde_json::from_str(&spec).ok()?;
        PathBuf::from(spec["directory"].as_str()?).parent().map(Path::to_path_buf)
    };
    wait_for("a trial in an image", || at().is_some());
    let at = at().unwrap();
    (run, scratch.path().join(at))
}

/// The daemon of what is mounted at a folder.
fn daemon_of(at: &Path) -> u32 {
    let at = fs::canonicalize(at.parent().unwrap()).unwrap().join(at.file_name().unwrap());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let daemons = processes.filter_map(|entry| {
        let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).into_owned();
        let is_it =
            (line.contains("exfat") || line.contains("ntfs")) && line.contains(&*at.to_string_lossy());
        is_it.then(|| entry.file_name().to_str()?.parse().ok()).flatten()
    });
    let [daemon] = daemons.collect::<Vec<_>>().try_into().unwrap();
    daemon
}

#[test]
fn a_daemon_that_is_killed_under_a_trial_fails_that_trial_alone() {
    for place in ["ntfs:4096", "exfat"] {
        let wanted = place.parse().unwrap();
        if !is_root() || !can_mount(place) || matches!(Driver::find(&wanted), Ok(Driver::Kernel(_))) {
            skipped("a daemon that is killed", place);
            continue;
        }
        let scratch = with_disk();
        let (run, at) = mounted_for(&scratch, place, 2);
        let killed = Command::new("kill").args(["-KILL", &daemon_of(&at).to_string()]).status().unwrap();
        assert!(killed.success());
        run.end().ends(Exit::TrialsFailed);
        let run = scratch.results();
        assert_complete(&run, 1, 2);
        assert_eq!(run.trials[1].outcome, Outcome::Ok);
        let Outcome::Failed { reason: Failure::Harness, message, .. } = &run.trials[0].outcome else {
            panic!("{:?}", run.trials[0].outcome)
        };
        assert!(
            message
                .starts_with("the file system under the store's files has failed, as its program has ended"),
            "{message}"
        );
        assert_gone(&scratch);
    }
}

/// Whatever was not in memory can't be read any more.
#[test]
fn an_image_that_is_lost_under_a_trial_fails_no_other() {
    let place = "ext4:4096";
    if !is_root() || !can_mount(place) {
        return skipped("an image that is lost", "needs root");
    }
    let scratch = with_disk();
    let (run, at) = mounted_for(&scratch, place, 2);
    let image = at.with_file_name(format!("{}.image", at.file_name().unwrap().to_str().unwrap()));
    let device = left_of(&scratch)
        .into_iter()
        .find_map(|line| line.split(' ').find(|word| word.starts_with("/dev/loop")).map(str::to_owned));
    // The kernel lets go of it when nobody uses it any more.
    assert!(Command::new("losetup").arg("-d").arg(device.unwrap()).status().unwrap().success());
    fs::File::options().write(true).open(image).unwrap().set_len(0).unwrap();
    let said = run.end();
    assert!(
        [Exit::Success, Exit::TrialsFailed].map(|exit| Some(i32::from(exit.code()))).contains(&said.code),
        "{said}"
    );
    let run = scratch.results();
    assert_complete(&run, 1, 2);
    assert_eq!(run.trials[1].outcome, Outcome::Ok);
    assert_gone(&scratch);
}

#[test]
fn what_a_kill_left_mounted_is_cleaned() {
    for place in ["ext4:1024", "ntfs:4096", "btrfs", "tmpfs"] {
        if !can_mount(place) {
            continue;
        }
        let scratch = with_disk();
        let (run, _) = mounted(&scratch, place);
        run.signal("KILL");
        run.end();
        assert!(!left_of(&scratch).is_empty(), "a kill leaves the mount");
        scratch.faulty("clean disk").ends(Exit::Success);
        assert_gone(&scratch);
        // Once more, there is nothing to do.
        let said = scratch.faulty("clean disk").ends(Exit::Success);
        assert!(!said.out.contains(&scratch.path().display().to_string()), "{said}");
    }
}

#[test]
fn a_daemon_that_was_killed_too_leaves_nothing() {
    if !is_root()
        || !can_mount("exfat")
        || Driver::find(&"exfat".parse().unwrap()) == Ok(Driver::Kernel("exfat"))
    {
        return skipped("a daemon that is killed", "needs root and exfat-fuse");
    }
    let scratch = with_disk();
    let (run, at) = mounted(&scratch, "exfat");
    run.signal("KILL");
    run.end();
    assert!(Command::new("kill").args(["-KILL", &daemon_of(&at).to_string()]).status().unwrap().success());
    // The trial was sent its end with the run's, and may still be on its way out.
    wait_for("its trial and its daemon to end", || scratch.processes().is_empty());
    scratch.faulty("clean disk").ends(Exit::Success);
    assert_gone(&scratch);
}

#[test]
fn an_interrupted_run_unmounts_what_it_mounted() {
    let place = "ext4:4096";
    if !can_mount(place) {
        return;
    }
    for signal in ["INT", "TERM"] {
        let scratch = with_disk();
        let (run, _) = mounted(&scratch, place);
        run.signal(signal);
        run.end().ends(Exit::Interrupted);
        assert_gone(&scratch);
    }
}

/// Something of others that is mounted until the test ends.
struct Theirs {
    at: PathBuf,
    device: String,
}

impl Theirs {
    /// A file system of theirs on this loop device.
    fn on(scratch: &Scratch, device: &str) -> Theirs {
        let (image, at) = (scratch.join("theirs.image"), scratch.join("theirs"));
        fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
        fs::create_dir(&at).unwrap();
        let sh = |command: &str| {
            let done = Command::new("sh").args(["-c", command]).status().unwrap();
            assert!(done.success(), "{command}");
        };
        sh(&format!("mke2fs -q -F {}", image.display()));
        // Other tests take free devices, too, and give them back.
        wait_for("the loop device", || {
            Command::new("losetup").arg(device).arg(&image).stderr(Stdio::null()).status().unwrap().success()
        });
        sh(&format!("mount {device} {}", at.display()));
        fs::write(at.join("letter"), "dear reader").unwrap();
        Theirs { at, device: device.to_owned() }
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        for (program, what) in [("umount", self.at.as_os_str()), ("losetup", self.device.as_ref())] {
            let option: &[&str] = if program == "losetup" { &["-d"] } else { &[] };
            let _ = Command::new(program).args(option).arg(what).status();
        }
    }
}

#[test]
fn a_loop_device_that_others_use_by_now_is_theirs() {
    if !is_root() || !can_mount("ext4:4096") {
        return skipped("a loop device that was reused", "needs root");
    }
    let scratch = with_disk();
    let (run, at) = mounted(&scratch, "ext4:4096");
    run.signal("KILL");
    run.end();
    let at = fs::canonicalize(at.parent().unwrap()).unwrap().join(at.file_name().unwrap());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mounts.lines().find(|line| line.contains(&*at.to_string_lossy())).unwrap();
    let device = line.split(' ').find(|word| word.starts_with("/dev/loop")).unwrap().to_owned();
    wait_for("its trial to end", || Command::new("umount").arg(&at).status().unwrap().success());
    let theirs = Theirs::on(&scratch, &device);
    scratch.faulty("clean disk").ends(Exit::Success);
    assert_eq!(fs::read_to_string(theirs.at.join("letter")).unwrap(), "dear reader");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(mounts.contains(&*theirs.at.to_string_lossy()));
    assert_eq!(fs::read_dir(scratch.join("disk")).unwrap().count(), 0);
}

#[test]
fn links_in_the_place_of_an_image_and_its_mount_lead_nowhere() {
    if !is_root() || !can_mount("ext4:4096") {
        return skipped("links in the place of an image", "needs root");
    }
    let scratch = with_disk();
    let theirs = scratch.write("theirs/letter", "dear reader");
    let (run, at) = mounted(&scratch, "ext4:4096");
    run.signal("KILL");
    run.end();
    wait_for("its trial to end", || Command::new("umount").arg(&at).status().unwrap().success());
    let work = at.parent().unwrap();
    let image = work.join(format!("{}.image", at.file_name().unwrap().to_str().unwrap()));
    for name in [at.as_path(), &image, &work.join("template")] {
        let removed = if name.is_dir() { fs::remove_dir_all(name) } else { fs::remove_file(name) };
        removed.unwrap();
        std::os::unix::fs::symlink(scratch.join("theirs"), name).unwrap();
    }
    scratch.faulty("clean disk").ends(Exit::Success);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "dear reader");
    assert_gone(&scratch);
}
