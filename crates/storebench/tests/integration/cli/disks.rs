//! Disks that are full, small or read-only, and directories that belong to others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use storebench_core::error::Exit;
use storebench_host::folder;

use super::plans::OWN;
use super::support::{
    STOREBENCH, Said, Scratch, TINY, assert_complete, contents, faulty, is_root, outcomes, said, skipped,
};
use crate::file_systems::can_mount;

/// A shell script with a disk of its own, in memory, at `$disk`. It is gone when the script has ended, on every way out.
struct DiskScript<'a> {
    scratch: &'a Scratch,
    size: &'a str,
    script: String,
}

impl DiskScript<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new("unshare");
        command.arg("--mount");
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        let mount = format!("disk=$PWD/disk; mkdir -p disk; mount -t tmpfs -o size={} tmpfs disk", self.size);
        command.args(["sh", "-euc", &format!("{mount}; {}", self.script)]);
        command.env("sb", faulty()).env("tiny", TINY).current_dir(self.scratch.path());
        command
    }

    /// `None`, and a word about it, where disks can't be mounted.
    fn run(&self) -> Option<Said> {
        let tried = DiskScript { script: "exit 0".into(), ..*self }.command().status();
        if !tried.is_ok_and(|status| status.success()) {
            skipped("disks that are full or read-only", "needs root, or user namespaces and unshare");
            return None;
        }
        Some(said(&mut self.command()))
    }
}

fn on_a_disk<'a>(scratch: &'a Scratch, size: &'a str, script: &str) -> Option<Said> {
    DiskScript { scratch, size, script: script.to_owned() }.run()
}

const FLAT: &str = "\"$sb\" run crud --store flat-folder $tiny";

#[test]
fn a_read_only_disk_is_told() {
    for (option, words) in [("--out", "making the run folder"), ("--at", "making the work folder")] {
        let scratch = Scratch::new();
        let script = format!("echo mine >disk/notes; mount -o remount,ro disk; {FLAT} {option} disk");
        let Some(said) = on_a_disk(&scratch, "4m", &script) else { return };
        said.complains(
            Exit::ReadOnly,
            &["Read-only file system", "choose a directory on a disk that can be written"],
        );
        assert!(scratch.runs().is_empty(), "{option}: {words}");
    }
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left_on_it() {
    for option in ["--out", "--at"] {
        let scratch = Scratch::new();
        let script = format!(
            "echo mine >disk/notes; cat /dev/zero >disk/filler 2>filled || true; \
             {FLAT} --at . --out . {option} disk || code=$?; ls -A disk >listing; cat disk/notes >>listing; exit $code"
        );
        let script = script.replace(&format!("{} .", option), "");
        let Some(said) = on_a_disk(&scratch, "4m", &script) else { return };
        said.complains(Exit::DiskFull, &[]);
        assert_eq!(fs::read_to_string(scratch.join("listing")).unwrap(), "filler\nnotes\nmine\n", "{option}");
    }
}

#[test]
fn a_disk_without_room_for_the_marker_of_a_work_folder_is_left_as_it_was() {
    let scratch = Scratch::new();
    // Room for one more file or folder: for the work folder, and for nothing in it.
    let script = format!("{FLAT} --at disk || code=$?; ls -A disk >listing; exit $code");
    let Some(said) = on_a_disk(&scratch, "4m,nr_inodes=2", &script) else { return };
    said.complains(Exit::DiskFull, &[".storebench-work", "make room"]);
    assert_eq!(fs::read_to_string(scratch.join("listing")).unwrap(), "");
}

#[test]
fn what_is_mounted_in_a_work_folder_stays() {
    let scratch = Scratch::new();
    let script = "work=disk/storebench-work-1; mkdir -p disk/theirs $work/inner; echo mine >disk/theirs/photo; \
        echo '{\"pid\":4000000000,\"started\":1}' >$work/.storebench-work; mount --bind disk/theirs $work/inner; \
        \"$sb\" clean disk; cp disk/theirs/photo photo";
    let Some(said) = on_a_disk(&scratch, "4m", script) else { return };
    let said = said.ends(Exit::Success);
    for words in ["left ", "another file system is mounted on", "inner", "unmount it first"] {
        assert!(said.err.contains(words), "{words:?} is missing\n{said}");
    }
    assert_eq!(fs::read_to_string(scratch.join("photo")).unwrap(), "mine\n");
}

#[test]
fn a_small_disk_is_no_full_disk() {
    let scratch = Scratch::new();
    let Some(said) = on_a_disk(&scratch, "4m", &format!("{FLAT} --at disk")) else { return };
    said.ends(Exit::Success);
    assert_eq!(outcomes(&scratch.results()), [("flat-folder", "ok")]);
}

#[test]
fn what_a_small_disk_cannot_hold_is_left_out() {
    let scratch = Scratch::new();
    // Small values, but each has a block of its own.
    let script = format!("{FLAT} --records 20,5000 --at disk");
    let Some(said) = on_a_disk(&scratch, "4m", &script.replace("$tiny", "${tiny#--records 20 }")) else {
        return;
    };
    said.ends(Exit::Success);
    let run = scratch.results();
    assert_eq!(outcomes(&run), [("flat-folder", "ok")]);
    let [left_out] = run.header.left_out.as_slice() else { panic!("{:?}", run.header.left_out) };
    assert!(left_out.reason.to_string().contains("MiB of disk, and "), "{left_out:?}");
    let script = format!("{FLAT} --at disk").replace("$tiny", "--records 5000");
    let said = on_a_disk(&scratch, "4m", &script).unwrap();
    said.complains(Exit::DiskFull, &["no cell can run", "are free"]);
}

#[test]
fn a_disk_that_fills_up_in_a_trial_is_one_failed_result() {
    let scratch = Scratch::new();
    let script = "\"$sb\" run crud --store fills,flat-folder,lies $tiny --at disk || code=$?; ls -A disk >listing; exit $code";
    let Some(said) = on_a_disk(&scratch, "4m", script) else { return };
    let said = said.ends(Exit::TrialsFailed);
    assert!(said.err.contains("No space left on device"), "{said}");
    let run = scratch.results();
    let mut found = outcomes(&run);
    found.sort_unstable();
    assert_eq!(found, [("fills", "disk-full"), ("flat-folder", "ok"), ("lies", "wrong-data")]);
    assert_eq!(fs::read_to_string(scratch.join("listing")).unwrap(), "", "the disk is as it was");
}

/// The disk of the image's own, and the one that holds the image.
#[test]
fn a_full_disk_at_an_image_is_named() {
    let scratch = Scratch::new();
    let script = "unset STOREBENCH_TEST_HOOKS; \"$sb\" run crud --store flat-folder --place ext4:4096 $tiny --at disk || code=$?; exit $code";
    if !can_mount("ext4:4096") {
        return;
    }
    let Some(said) = on_a_disk(&scratch, "8m", script) else { return };
    said.complains(Exit::DiskFull, &["the disk that holds the image is full: probing", "make room"]);
    let scratch = Scratch::new();
    let study = TINY.replace("--timeout 60s", "--timeout 600s");
    let said = scratch.faulty(&format!("run crud --store fills,flat-folder --place ext4:4096 {study}"));
    let said = said.ends(Exit::TrialsFailed);
    assert!(said.err.contains("No space left on device"), "{said}");
    let run = scratch.results();
    let mut found = outcomes(&run);
    found.sort_unstable();
    assert_eq!(found, [("fills", "disk-full"), ("flat-folder", "ok")]);
}

#[test]
fn a_store_that_fills_the_disk_of_the_results_is_one_failed_result() {
    let scratch = Scratch::new();
    let script = "\"$sb\" run crud --store fills,flat-folder,lies $tiny --out disk || code=$?; ls -A disk/crud-* >listing; \
        \"$sb\" run --resume disk/crud-* >out 2>again || resumed=$?; echo $resumed >resumed; cp -r disk/crud-* run; exit $code";
    let Some(said) = on_a_disk(&scratch, "4m", script) else { return };
    let said = said.ends(Exit::TrialsFailed);
    assert!(said.err.contains("failed: fills/") && said.err.contains("No space left on device"), "{said}");
    let run = folder::read(&scratch.join("run")).unwrap();
    let mut found = outcomes(&run);
    found.sort_unstable();
    assert_eq!(found, [("fills", "disk-full"), ("flat-folder", "ok"), ("lies", "wrong-data")]);
    let left = fs::read_to_string(scratch.join("listing")).unwrap();
    assert_eq!(
        left, ".lock\nlogs\nreport.html\nresults.jsonl\nrun.json\n",
        "the room that was kept is free again"
    );
    assert_eq!(fs::read_to_string(scratch.join("resumed")).unwrap(), "20\n", "nothing is left to run");
}

#[test]
fn a_store_that_uses_up_the_inodes_of_the_results_is_one_failed_result() {
    let scratch = Scratch::new();
    let study = TINY.replace("--records 20", "--records 400");
    let script = format!(
        "mount -o remount,nr_inodes=150 disk; \
         \"$sb\" run crud --store flat-folder,memory {study} --guarantee default --out disk >out || code=$?; \
         cp -r disk/crud-* run; exit $code"
    );
    let script = script.replace("--guarantee process ", "");
    let Some(said) = on_a_disk(&scratch, "64m", &script) else { return };
    said.ends(Exit::TrialsFailed);
    let run = folder::read(&scratch.join("run")).unwrap();
    let mut found = outcomes(&run);
    found.sort_unstable();
    assert_eq!(found, [("flat-folder", "disk-full"), ("memory", "ok")]);
}

#[test]
fn results_that_cannot_be_saved_end_the_run_which_goes_on_when_there_is_room() {
    let scratch = Scratch::new();
    // Room for some results and not for all.
    let script = "head -c 960k /dev/zero >disk/filler; \
        run=\"run crud --store flat-folder,null,memory --guarantee default --records 20 --record-size 1B..1KiB \
            --data incompressible --operations 5\"; \
        \"$sb\" $run --trials 8 --at . --out disk >out 2>err || code=$?; echo $code >code; \
        cp -r disk/crud-* before; rm disk/filler; \
        \"$sb\" run --resume disk/crud-* >out 2>again; cp -r disk/crud-* after";
    let Some(said) = on_a_disk(&scratch, "1m", script) else { return };
    said.ends(Exit::Success);
    let read = |name: &str| fs::read_to_string(scratch.join(name)).unwrap();
    assert_eq!(read("code").trim(), Exit::DiskFull.code().to_string(), "{}", read("err"));
    let last = read("err").lines().last().unwrap().to_owned();
    for words in
        ["storebench: ", "no storage space", "make room", "resume with: storebench run --resume disk/"]
    {
        assert!(last.contains(words), "{last}");
    }
    let before = folder::read(&scratch.join("before")).unwrap();
    let after = folder::read(&scratch.join("after")).unwrap();
    assert!(!before.trials.is_empty() && before.trials.len() < 24, "{}", before.trials.len());
    assert_eq!(after.trials[..before.trials.len()], before.trials, "what was saved stays");
    assert_complete(&after, 3, 8);
    assert!(!contents(scratch.path()).keys().any(|path| path.to_string_lossy().contains("storebench-work-")));
}

/// A command to which permissions apply, whoever runs the tests: root without its privileges.
fn unprivileged(program: &Path, scratch: &Scratch, arguments: &str) -> Said {
    if !is_root() {
        return said(&mut scratch.command(program, arguments));
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-all", "--inh-caps=-all"]).arg(program).args(arguments.split_whitespace());
    said(command.current_dir(scratch.path()))
}

/// Takes a permission away for as long as it lives.
struct Forbidden<'a> {
    path: &'a Path,
    mode: u32,
}

impl Forbidden<'_> {
    fn new(path: &Path, mode: u32) -> Forbidden<'_> {
        let before = fs::metadata(path).unwrap().permissions().mode();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        Forbidden { path, mode: before }
    }
}

impl Drop for Forbidden<'_> {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.path, fs::Permissions::from_mode(self.mode));
    }
}

#[test]
fn a_directory_of_somebody_else_is_told() {
    let scratch = Scratch::new();
    scratch.write("theirs/notes", "text");
    let theirs = scratch.join("theirs");
    let before = scratch.contents();
    let advice = ["Permission denied", "choose a directory of your own, or change its permissions", "theirs"];
    {
        let _forbidden = Forbidden::new(&theirs, 0o555);
        for option in ["--out theirs", "--at theirs", "--out theirs/runs"] {
            unprivileged(&faulty(), &scratch, &format!("run crud --store flat-folder {TINY} {option}"))
                .complains(Exit::Permission, &advice);
        }
        unprivileged(&faulty(), &scratch, "man theirs").complains(Exit::Permission, &advice);
    }
    let _forbidden = Forbidden::new(&theirs, 0o000);
    unprivileged(&faulty(), &scratch, "report theirs").complains(Exit::Permission, &advice);
    unprivileged(&faulty(), &scratch, "clean theirs").complains(Exit::Permission, &advice);
    drop(_forbidden);
    let mut after = scratch.contents();
    after.remove(&scratch.join("storebench-runs"));
    assert_eq!(after, before);
}

#[test]
fn a_plan_or_a_run_that_may_not_be_read_or_written_is_told() {
    let scratch = Scratch::new();
    let plan = scratch.write("mine.toml", OWN);
    {
        let _forbidden = Forbidden::new(&plan, 0o000);
        unprivileged(&faulty(), &scratch, "run mine.toml")
            .complains(Exit::BadPlan, &["mine.toml", "can't be read", "Permission denied"]);
    }
    scratch.faulty(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let results = scratch.only_run().join("results.jsonl");
    let before = scratch.contents();
    {
        let _forbidden = Forbidden::new(&results, 0o444);
        unprivileged(&faulty(), &scratch, "run --resume latest")
            .complains(Exit::Permission, &["results.jsonl", "Permission denied"]);
        unprivileged(&faulty(), &scratch, "report latest").ends(Exit::Success);
    }
    assert_eq!(scratch.contents(), before);
}

/// What memory can't keep is not measured in it, however it comes about: by what a store does as shipped, behind an overlay, in an image.
#[test]
fn power_is_left_out_where_a_power_cut_takes_all() {
    let scratch = Scratch::new();
    let small = "--records 20 --record-size 100B --data incompressible --operations 5 --trials 1";
    let script = |command: &str| {
        format!(
            "mkdir -p lower merged disk/upper disk/work; \
             mount -t overlay overlay -o lowerdir=lower,upperdir=$PWD/disk/upper,workdir=$PWD/disk/work merged; \
             STOREBENCH_TEST_HOOKS=quick-probes exec {STOREBENCH} {command}"
        )
    };
    let why = "is memory, which a power cut takes with all that was synced";
    for (command, exit) in [
        ("run crud --store lmdb --guarantee power --at disk --dry-run", Exit::Nothing),
        ("run crud --store lmdb --guarantee power --at disk", Exit::Nothing),
        ("run crud --store lmdb,redb --guarantee default --at disk", Exit::Nothing),
        ("run crud --store lmdb --guarantee power --at merged", Exit::Nothing),
        ("run crud --store lmdb --guarantee power --at disk --place ext4", Exit::Nothing),
        ("run crud --store lmdb --guarantee process --at disk", Exit::Success),
    ] {
        let Some(said) = on_a_disk(&scratch, "64m", &script(&format!("{command} {small}"))) else { return };
        let said = said.ends(exit);
        assert_eq!(said.err.contains(why), exit == Exit::Nothing, "{said}");
    }
    for question in
        ["advise --records 50 --size 100B --store lmdb,redb", "tune sqlite --records 50 --size 100B"]
    {
        let asked = script(&format!("{question} --guarantee power --budget 6s --at disk"));
        let Some(said) = on_a_disk(&scratch, "64m", &asked) else { return };
        let said = said.ends(Exit::Nothing);
        assert!(said.err.contains(why), "{said}");
    }
}

/// A file system by FUSE keeps a file that is deleted while it is open, so that its folder is not empty at once.
#[test]
fn nothing_stays_behind_where_deleted_files_are_kept() {
    if Command::new("bindfs").arg("--version").output().is_err() {
        return skipped("work folders on bindfs", "bindfs is not installed");
    }
    let scratch = Scratch::new();
    let script = format!(
        "mkdir -p disk/under over; bindfs disk/under over; trap 'umount over' EXIT; {FLAT} --at over; ls -A over"
    );
    let Some(said) = on_a_disk(&scratch, "64m", &script) else { return };
    let said = said.ends(Exit::Success);
    assert!(!said.out.contains("storebench-work"), "{said}");
}

/// On a file system without shared maps, SQLite with a log and LMDB fail with any setting: that ends no run, in which others do well.
#[test]
fn what_a_place_refuses_is_not_blamed_on_a_setting() {
    if Command::new("bindfs").arg("--version").output().is_err() {
        return skipped("a place without shared maps", "bindfs is not installed");
    }
    let scratch = Scratch::new();
    let run = format!("{STOREBENCH} run crud --store lmdb,flat-folder $tiny --at over");
    let script = |setting: &str| {
        let mount = "mkdir -p disk/under over; bindfs -o direct_io disk/under over; trap 'umount over' EXIT";
        format!("{mount}; {run} {setting}")
    };
    for setting in ["", "--set lmdb.nordahead=true"] {
        let Some(said) = on_a_disk(&scratch, "64m", &script(setting)) else { return };
        said.ends(Exit::TrialsFailed);
    }
    let Some(said) = on_a_disk(&scratch, "64m", &script("--set flat-folder.no_such=1")) else { return };
    said.ends(Exit::BadValue);
}
