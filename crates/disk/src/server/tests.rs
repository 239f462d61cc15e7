//! Uses a real mount if this process may make one; otherwise prints the reason.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::*;
use crate::counts::{self, Requests};
use crate::disks::{Disk, shipped};
use crate::fault::Fault;
use crate::fixed::FixedTimes;
use crate::log::Reader;
use crate::names::{COUNTS, DISK};
use crate::request::Kind;

const JOURNAL: [(u64, u64); 1] = [(4096, 8192)];

fn fixed(us: f64) -> Disk {
    Disk {
        fixed: Some(FixedTimes { read_us: us, write_us: us, flush_us: us, at_once: None }),
        ..Disk::default()
    }
}

fn mount_disk(disk: &Disk, bytes: u64) -> Option<(tempfile::TempDir, Server)> {
    mount_with(disk, bytes, |_| extras())
}

fn open_disk(folder: &tempfile::TempDir) -> File {
    File::options().read(true).write(true).open(folder.path().join(DISK)).unwrap()
}

fn extras() -> DiskExtras {
    DiskExtras { journal: JOURNAL.to_vec(), ..DiskExtras::default() }
}

fn mount_with(
    disk: &Disk,
    bytes: u64,
    extras: impl FnOnce(&Image) -> DiskExtras,
) -> Option<(tempfile::TempDir, Server)> {
    let folder = tempfile::tempdir().unwrap();
    let device = disk.device(bytes, 1).unwrap();
    let image = Image::in_memory(bytes).unwrap();
    let extras = extras(&image);
    match Server::mount(image, device, extras, folder.path()) {
        Ok(server) => Some((folder, server)),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[test]
fn what_is_written_is_read_and_counted() {
    let Some((folder, server)) = mount_disk(&fixed(1000.0), 1 << 20) else { return };
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [DISK, COUNTS]);
    assert_eq!(fs::metadata(folder.path().join(DISK)).unwrap().len(), 1 << 20);
    let disk = open_disk(&folder);
    disk.write_all_at(&[7; 8192], 4096).unwrap();
    disk.sync_data().unwrap();
    let mut read = [1; 8192];
    disk.read_exact_at(&mut read, 8192).unwrap();
    assert!(read[..4096] == [7; 4096] && read[4096..] == [0; 4096]);
    assert_eq!(disk.write_at(&[1; 512], 1 << 20).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(disk.read_at(&mut read, 1 << 20).unwrap(), 0);
    drop(disk);
    let counts = counts::read(folder.path()).unwrap();
    let Requests { reads, writes, flushes, .. } = counts.requests;
    assert_eq!((writes.requests, writes.bytes, flushes), (1, 8192, 1), "{counts:?}");
    assert!([1, 2].contains(&reads.requests) && reads.bytes == 8192, "{counts:?}");
    // A millisecond each, one after the other.
    assert_eq!(counts.requests.modelled_ns / 1_000_000, counts.requests.all(), "{counts:?}");
    assert!(counts.processor_ns > 0 && counts.late_ns_p99 > 0);
    let journal = counts.requests.journal.unwrap();
    assert_eq!((journal.requests, journal.bytes), (1, 8192), "it begins there");
    assert_eq!(server.counts().requests.writes, writes);
    drop(server);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it is unmounted");
}

#[test]
fn who_has_a_reply_finds_its_request_counted() {
    let Some((folder, server)) = mount_disk(&fixed(0.0), 1 << 20) else { return };
    let disk = open_disk(&folder);
    for n in 1..=200 {
        disk.write_all_at(&[1; 4096], 0).unwrap();
        disk.sync_data().unwrap();
        let Requests { writes, flushes, .. } = counts::read(folder.path()).unwrap().requests;
        assert_eq!((writes.requests, writes.bytes, flushes), (n, n * 4096, n));
    }
    drop((disk, server));
}

#[test]
fn the_clocks_of_other_disks_say_how_long_the_same_would_take_there() {
    let others =
        ["steady", "sd-a1"].map(|name| (name.to_owned(), shipped(name).unwrap().device(1 << 20, 1).unwrap()));
    let estimates = Estimates::new(others);
    let mounted = mount_with(&shipped("steady").unwrap(), 1 << 20, |_| DiskExtras { estimates, ..extras() });
    let Some((folder, server)) = mounted else { return };
    let disk = open_disk(&folder);
    let clocks = || counts::read(folder.path()).unwrap().requests.clocks.unwrap();
    let before = clocks();
    for n in 0..20 {
        disk.write_all_at(&[1; 4096], n * 4096).unwrap();
        disk.sync_data().unwrap();
    }
    let after = clocks();
    let passed = |name: &str| after.on_ns[name] - before.on_ns[name];
    let here = after.here_ns - before.here_ns;
    // The same disk would have waited for as long, but for the times by which replies were late here.
    assert!((40_000_000..=here).contains(&passed("steady")), "{before:?} {after:?}");
    assert!(passed("sd-a1") > 0 && passed("sd-a1") != passed("steady"), "{before:?} {after:?}");
    drop((disk, server));
}

/// Whether somebody closes the file soon, as a newly forked child does, or never.
fn unmounts_under_an_open_file(closed_after: Option<Duration>) {
    let Some((folder, server)) = mount_disk(&fixed(0.0), 1 << 20) else { return };
    let disk = File::open(folder.path().join(DISK)).unwrap();
    let second_handle = closed_after.map_or_else(|| Some(disk.try_clone().unwrap()), |_| None);
    let closing_thread = thread::spawn(move || {
        thread::sleep(closed_after.unwrap_or_default());
        drop(disk);
    });
    drop(server);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it is unmounted");
    closing_thread.join().unwrap();
    drop(second_handle);
}

#[test]
fn a_file_that_is_open_for_a_moment_or_longer_keeps_no_disk_mounted() {
    [Some(Duration::from_millis(100)), None].into_iter().for_each(unmounts_under_an_open_file);
}

#[test]
fn the_log_has_every_request_in_order_and_ends_with_the_mount() {
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let log = Some(Writer::new(Box::new(File::create(&path).unwrap())).unwrap());
    let mounted = mount_with(&fixed(0.0), 1 << 20, |_| DiskExtras { log, ..extras() });
    let Some((folder, server)) = mounted else { return };
    let disk = open_disk(&folder);
    for n in 0..10 {
        disk.write_all_at(&[n; 512], u64::from(n) * 512).unwrap();
        disk.sync_all().unwrap();
    }
    drop(disk);
    let mount_point = folder.path().to_owned();
    let serving_thread = thread::spawn(move || server.wait());
    unmount_fuse(&mount_point);
    let writes = serving_thread.join().unwrap().unwrap().requests.writes;
    assert_eq!((writes.requests, writes.bytes), (10, 5120));
    let entries: Vec<_> = Reader::open(File::open(&path).unwrap()).unwrap().map(Result::unwrap).collect();
    let kinds: Vec<Kind> = entries.iter().map(|entry| entry.request.kind).collect();
    assert_eq!(kinds, [Kind::Write, Kind::Flush].repeat(10));
    assert!(entries.iter().step_by(2).zip(0..).all(|(entry, n)| entry.data == [n; 512]));
    assert!(entries.is_sorted_by_key(|entry| entry.arrived));
}

fn unmount_fuse(mount_point: &Path) {
    let status = std::process::Command::new("umount").arg(mount_point).status().unwrap();
    assert!(status.success());
}

#[test]
fn many_threads_get_all_that_they_wrote_from_a_disk_that_chooses() {
    let disk = shipped("hdd-7200").unwrap();
    let Some((folder, server)) = mount_disk(&disk, 64 << 20) else { return };
    thread::scope(|scope| {
        for n in 0..8_u8 {
            let folder = &folder;
            scope.spawn(move || {
                let disk = open_disk(folder);
                for turn in 0..4 {
                    let offset = (u64::from(n) * 7 + turn * 2) << 20;
                    disk.write_all_at(&[n + 1; 4096], offset).unwrap();
                    disk.sync_data().unwrap();
                    let mut read = [0; 4096];
                    disk.read_exact_at(&mut read, offset).unwrap();
                    assert_eq!(read, [n + 1; 4096]);
                }
            });
        }
    });
    let counts = server.counts();
    assert_eq!((counts.requests.writes.requests, counts.requests.flushes), (32, 32));
    assert!(counts.requests.tally.seeks > 0 && counts.requests.modelled_ns > 0, "{counts:?}");
}

#[test]
fn a_flush_that_fails_is_told_and_logged_with_what_it_lost() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let out = File::options().write(true).open(log.path()).unwrap();
    let fault = Fault::Fails { kind: Kind::Flush, after: 1, lasts: false, harms: true };
    let mounted_disk = mount_with(&fixed(0.0), 1 << 20, |image| DiskExtras {
        log: Some(Writer::new(Box::new(out)).unwrap()),
        fault: Some(Faulty::new(fault, image).unwrap()),
        ..extras()
    });
    let Some((folder, server)) = mounted_disk else { return };
    let disk = open_disk(&folder);
    for byte in 1..=2 {
        disk.write_all_at(&[byte; 4096], 0).unwrap();
        assert_eq!(disk.sync_data().is_ok(), byte == 1);
    }
    let mut read = [0; 4096];
    disk.read_exact_at(&mut read, 0).unwrap();
    assert_eq!(read, [1; 4096]);
    disk.sync_data().unwrap();
    let counts = server.counts();
    assert_eq!((counts.struck, counts.requests.flushes), (Some(1), 2));
    let entries: Vec<_> =
        Reader::open(File::open(log.path()).unwrap()).unwrap().map(Result::unwrap).collect();
    let writes: Vec<u8> = entries.iter().filter_map(|entry| entry.data.first().copied()).collect();
    assert_eq!(writes, [1, 2, 1], "the log ends with what is on the disk");
}

/// Whether a program is installed and succeeds; else prints the reason.
fn succeeds(program: &str, arguments: &[&std::ffi::OsStr]) -> bool {
    match std::process::Command::new(program).args(arguments).stdout(std::process::Stdio::null()).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("skipped: {program}: {error}");
            false
        }
    }
}

/// Why fuse2fs offers no guarantee `power`. If this fails, a newer one may do more.
#[test]
fn fuse2fs_hands_on_syncs_of_files_that_are_written_and_no_others() {
    let Some((folder, server)) = mount_disk(&fixed(0.0), 32 << 20) else { return };
    let (disk, mount_point) = (folder.path().join(DISK), tempfile::tempdir().unwrap());
    let format = ["-q", "-F", "-t", "ext4", "-O", "^has_journal"].map(std::ffi::OsStr::new);
    let mount = ["-o", "fakeroot"].map(std::ffi::OsStr::new);
    if !succeeds("mke2fs", &[&format[..], &[disk.as_os_str()]].concat())
        || !succeeds("fuse2fs", &[&mount[..], &[disk.as_os_str(), mount_point.path().as_os_str()]].concat())
    {
        return;
    }
    let flushes = |file: &File| {
        let before = server.counts().requests.flushes;
        file.sync_all().unwrap();
        server.counts().requests.flushes - before
    };
    let path = mount_point.path().join("record");
    fs::write(&path, "value").unwrap();
    let written = File::options().write(true).open(&path).unwrap();
    // Before and after its superblock.
    assert_eq!(flushes(&written), 2);
    assert_eq!(flushes(&File::open(mount_point.path()).unwrap()), 0);
    assert_eq!(flushes(&File::open(&path).unwrap()), 0);
    drop(written);
    unmount_fuse(mount_point.path());
}
