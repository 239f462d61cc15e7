//! The measurements of a user without rights: on file systems that programs mount by FUSE, also on simulated disks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use storebench::STORES;
use storebench_core::cell::Cache;
use storebench_core::error::Exit;
use storebench_core::result::TrialResult;
use storebench_core::store::Guarantee;
use storebench_host::image::program;
use storebench_host::run::Run;

use crate::cli::support::{
    STOREBENCH, Said, Scratch, TINY, assert_complete, faulty, is_root, missing, said, skipped,
};
use crate::file_systems::{assert_gone, failed, residents};

/// A directory for such a user, with this program in it; `None`, and the reason told, where there can be no such user here. Where the
/// tests are built, that user may not look.
fn for_user(storebench: &Path) -> Option<Scratch> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skipped("a user without rights", "needs root and /dev/fuse");
        return None;
    }
    let lacks =
        ["mke2fs", "fuse2fs", "fusermount3", "setpriv"].into_iter().find(|name| program(name).is_none());
    if let Some(name) = lacks {
        missing("a user without rights", &format!("{name} is not installed"));
        return None;
    }
    let scratch = Scratch::elsewhere();
    fs::copy(storebench, scratch.join("storebench")).unwrap();
    fs::create_dir(scratch.join("disk")).unwrap();
    for folder in [scratch.path().to_owned(), scratch.join("disk")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    Some(scratch)
}

/// Runs a script as that user, with access to the FUSE device as on most machines: in a separate mount namespace, as this
/// machine may keep it for root.
fn as_user(scratch: &Scratch, script: &str) -> Said {
    let opened = "{ [ -e fuse ] || mknod -m 666 fuse c 10 229; } && mount --bind fuse /dev/fuse && \
                  exec timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \"$0\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", opened, script]);
    said(command.current_dir(scratch.path()).stdin(Stdio::null()))
}

fn storebench(scratch: &Scratch, arguments: &str) -> Said {
    as_user(scratch, &format!("./storebench {arguments}"))
}

/// Why the combinations of a place were left out.
fn left_out(run: &Run, place: &str) -> String {
    run.header.left_out.iter().find(|left| left.cell.place() == place).unwrap().reason.to_string()
}

#[test]
fn programs_mount_what_they_can_and_the_rest_says_what_would_help() {
    let Some(scratch) = for_user(Path::new(STOREBENCH)) else { return };
    let stores = residents();
    let study = TINY.replace("--guarantee process", "--guarantee default");
    let command = format!("run crud --store {stores} --place fuse2fs:4096,ext4:4096 {study} --at disk");
    storebench(&scratch, &command).ends(Exit::Success);
    let run = scratch.results();
    // As shipped, the others keep what fuse2fs does not.
    let shipped = |name: &&str| STORES.iter().find(|def| def.name == *name).and_then(|def| def.resolve(None));
    let kept = stores.split(',').filter(|name| shipped(name).is_some_and(|tier| tier < Guarantee::Power));
    assert_complete(&run, kept.count(), 1);
    assert_eq!(failed(&run), [""; 0]);
    let place = run.header.locations.iter().find(|place| place.name == "fuse2fs:4096").unwrap();
    assert_eq!(place.driver.as_deref(), Some("FUSE (fuse2fs)"));
    let reason = left_out(&run, "ext4:4096");
    let words = "mounting ext4 needs root (fuse2fs needs none): ";
    assert!(reason.starts_with(words) && reason.contains("/storebench run crud "), "{reason}");
    assert_gone(&scratch);
}

/// One is named where none was, and syncs reach the disk.
#[test]
fn a_simulated_disk_has_a_file_system_that_is_named_as_what_it_is() {
    let Some(scratch) = for_user(Path::new(STOREBENCH)) else { return };
    let study = TINY.replace("--guarantee process", "--guarantee default,power");
    let said =
        storebench(&scratch, &format!("run crud --store sqlite,flat-folder --disk steady {study} --at disk"))
            .ends(Exit::Success);
    assert!(said.err.contains("without root, the file system is fuse2fs"), "{said}");
    let run = scratch.results();
    assert_complete(&run, 2, 1);
    assert_eq!(failed(&run), [""; 0]);
    for trial in &run.trials {
        assert_eq!((trial.cell.place(), trial.cell.disk()), ("fuse2fs", "steady"));
        let disk = trial.disk.as_ref().unwrap();
        assert!(disk.counts.requests.writes.requests > 0, "{disk:?}");
        // As shipped, it syncs the journal and the database.
        assert!(trial.cell.store() != "sqlite" || disk.counts.requests.flushes > 10, "{disk:?}");
    }
    assert!(left_out(&run, "fuse2fs").contains("a power cut can take what was synced"));
    let place = run.header.locations.iter().find(|place| place.disk() == "steady").unwrap();
    assert_eq!(place.file_system.as_deref(), Some("fuse2fs"));
    let said = storebench(&scratch, "report latest").ends(Exit::Success);
    assert!(said.out.contains("place fuse2fs on simulated steady"), "{said}");
    storebench(&scratch, &format!("run crud --store sqlite --disk steady --place ext4 {TINY} --at disk"))
        .complains(Exit::Nothing, &["needs root (fuse2fs needs none)"]);
    assert_gone(&scratch);
}

/// Warm ones don't: the kernel keeps whole pages that were written.
#[test]
fn cold_reads_reach_the_disk() {
    let Some(scratch) = for_user(Path::new(STOREBENCH)) else { return };
    let study = TINY.replace("--operations 5", "--operations 20 --order get --cache warm,cold");
    let study = study.replace("1B..1KiB", "16KiB..17KiB");
    storebench(&scratch, &format!("run crud --store flat-folder --disk steady {study} --at disk"))
        .ends(Exit::Success);
    let run = scratch.results();
    assert_complete(&run, 2, 1);
    assert_eq!(failed(&run), [""; 0]);
    let of = |cache| run.trials.iter().find(|trial| trial.cell.cache() == cache).unwrap();
    let reads = |trial: &TrialResult| trial.disk.as_ref().unwrap().counts.requests.reads.requests;
    let (warm, cold) = (reads(of(Cache::Warm)), reads(of(Cache::Cold)));
    assert!(cold >= warm + 20, "{warm} reads of the disk warm, {cold} cold");
    let measured = of(Cache::Cold).ok().unwrap();
    assert_eq!(measured.cache_emptied_by.as_deref(), Some("posix_fadvise"));
    assert!(measured.cache_left_warm.as_ref().unwrap().contains("what its program holds itself"));
    assert_gone(&scratch);
}

/// All in one mount namespace, which ends with the script.
#[test]
fn what_a_kill_or_an_interrupt_left_is_given_back() {
    let Some(scratch) = for_user(&faulty()) else { return };
    let study = TINY
        .replace("--operations 5", "--operations 120")
        .replace("--guarantee process", "--guarantee default");
    let script = |signal: &str| {
        format!(
            "./storebench run crud --store dawdles --place fuse2fs --disk steady {study} --at disk & run=$!
             for n in $(seq 300); do grep -q '\"directory\"' storebench-runs/*/trial.json && break; sleep 0.1; done 2>/dev/null
             echo before $(grep -c \"$PWD/disk/storebench-work\" /proc/self/mountinfo)
             kill -{signal} $run; wait $run
             echo after $(grep -c \"$PWD/disk/storebench-work\" /proc/self/mountinfo)
             ./storebench clean disk
             echo cleaned $(grep -c \"$PWD/disk/storebench-work\" /proc/self/mountinfo)
             rm -r storebench-runs"
        )
    };
    // Not INT, which a shell has ignored in its background.
    for (signal, after) in [("KILL", 2), ("TERM", 0)] {
        let said = as_user(&scratch, &script(signal));
        assert!(said.out.contains("before 2\n"), "{said}");
        assert!(said.out.contains(&format!("after {after}\n")), "{said}");
        assert!(said.out.contains("cleaned 0\n"), "{said}");
        assert_gone(&scratch);
    }
}

#[test]
fn what_lacks_for_a_user_is_told_with_what_would_help() {
    let Some(scratch) = for_user(Path::new(STOREBENCH)) else { return };
    // Without access to the device, as in a container that keeps it for root.
    let closed = "mknod -m 600 closed c 10 229 && mount --bind closed /dev/fuse && \
                  exec setpriv --reuid=65534 --regid=65534 --clear-groups ./storebench doctor crud --at disk";
    let mut command = Command::new("unshare");
    let said =
        said(command.args(["--mount", "sh", "-c", closed]).current_dir(scratch.path()).stdin(Stdio::null()));
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("/dev/fuse is closed to this user") && joined.contains("FUSE no"), "{said}");
    let said = storebench(&scratch, "doctor crud --at disk");
    let joined = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("simulated disks ok under fuse2fs alone"), "{said}");
    assert!(joined.contains("fuse2fs ok FUSE (fuse2fs)"), "{said}");
    assert_gone(&scratch);
}
