use std::fs::{self, File};
use std::path::Path;

use storebench_model::axis::device::values::{Io, Pattern, Sync, SyncCall};

use super::*;
use crate::workload::device::fault::DeviceStep;
use storebench_model::result::UnsupportedReason;

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 64;

/// On a disk, if the sources are on one.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

fn run(spec: &Spec, directory: &Path) -> Result<DeviceMeasurements, DeviceError> {
    let prepared = PreparedFile::new(spec, directory)?;
    let measured = prepared.measure(&Clock::new())?;
    prepared.finish()?;
    Ok(measured)
}

/// Runs a spec in a folder, in which nothing may be left, and gives the file's content before and after, too; `None`, and printed,
/// if the location can't do it.
fn measure_contents(spec: &Spec) -> Option<(DeviceMeasurements, [Vec<u8>; 2])> {
    let directory = directory();
    let prepared = PreparedFile::new(spec, directory.path()).unwrap();
    let read = || fs::read(directory.path().join("device.data")).unwrap();
    let before = read();
    let result = prepared.measure(&Clock::new());
    let after = read();
    prepared.finish().unwrap();
    assert!(is_empty(directory.path()), "{spec:?}");
    match result {
        Ok(measured) => Some((measured, [before, after])),
        Err(DeviceError::Unsupported(why)) => {
            println!("skipped: {} {}: {why}", spec.io.name(), spec.pattern.name());
            None
        }
        Err(error) => panic!("{spec:?}: {error}"),
    }
}

fn measure(spec: &Spec) -> Option<DeviceMeasurements> {
    measure_contents(spec).map(|(measured, _)| measured)
}

fn contents(spec: &Spec) -> Option<[Vec<u8>; 2]> {
    measure_contents(spec).map(|(_, contents)| contents)
}

#[test]
fn every_pattern_is_measured_in_every_way_and_leaves_nothing_behind() {
    for pattern in Pattern::ALL {
        for io in Io::ALL.into_iter().filter(|io| pattern.writes() || !io.is_dsync()) {
            for threads in [1, 3] {
                let Some(measured) = measure(&Spec { io, threads, ..Spec::small(pattern) }) else { continue };
                assert_eq!((measured.operations, measured.bytes), (BLOCKS, BLOCKS * BLOCK));
                assert_eq!(measured.latencies.count(), BLOCKS);
                assert!(measured.wall.as_nanos() as u64 * u64::from(threads) >= measured.latencies.sum_ns());
                assert!((0.0..1.0).contains(&measured.harness_share), "{}", measured.harness_share);
                assert_eq!(measured.final_sync.is_some(), pattern.writes());
                assert!(measured.syncs.is_none());
            }
        }
    }
}

#[test]
fn writes_reach_the_blocks_they_are_meant_for_and_reads_change_none() {
    let block = BLOCK as usize;
    let changed = |[before, after]: [Vec<u8>; 2]| -> Vec<usize> {
        assert_eq!((before.len(), after.len()), ((BLOCKS * BLOCK) as usize, (BLOCKS * BLOCK) as usize));
        let pairs = before.chunks(block).zip(after.chunks(block)).zip(0..);
        pairs.filter(|((before, after), _)| before != after).map(|(_, position)| position).collect()
    };
    for io in Io::ALL {
        let amount = Amount::Operations(BLOCKS);
        let positions: Vec<usize> = (0..BLOCKS as usize).collect();
        for pattern in [Pattern::SeqWrite, Pattern::RandWrite] {
            let Some(contents) = contents(&Spec { io, amount, threads: 3, ..Spec::small(pattern) }) else {
                continue;
            };
            assert_eq!(changed(contents), positions, "{} {}", io.name(), pattern.name());
        }
    }
    let ten_operations = Amount::Operations(10);
    let sequential = contents(&Spec { amount: ten_operations, ..Spec::small(Pattern::SeqWrite) }).unwrap();
    assert_eq!(changed(sequential), (0..10).collect::<Vec<_>>());
    let random =
        changed(contents(&Spec { amount: ten_operations, ..Spec::small(Pattern::RandWrite) }).unwrap());
    assert!(random.len() == 10 && random != (0..10).collect::<Vec<_>>(), "{random:?}");
    for pattern in [Pattern::SeqRead, Pattern::RandRead] {
        assert!(changed(contents(&Spec::small(pattern)).unwrap()).is_empty());
    }
}

#[test]
fn what_is_written_is_what_was_made_to_be_written() {
    let [before, after] = contents(&Spec::small(Pattern::SeqWrite)).unwrap();
    let mut state = 3;
    let mut pool = buffer::BlockPool::new(BLOCK as usize, route::split_mix(&mut state));
    for written in after.chunks(BLOCK as usize) {
        pool.advance();
        assert!(written == pool.block());
    }
    for content in [before, after] {
        let compressed = zstd::bulk::compress(&content, 3).unwrap();
        assert!(compressed.len() as f64 > 0.99 * content.len() as f64);
    }
}

#[test]
fn a_sync_follows_each_so_many_writes_of_a_thread() {
    for (sync, expected) in
        [("fsync", 64), ("fdatasync", 64), ("fsync/10", 6), ("fdatasync/64", 1), ("fsync/65", 0)]
    {
        let sync: Sync = sync.parse().unwrap();
        let measured = measure(&Spec { sync, ..Spec::small(Pattern::RandWrite) }).unwrap();
        let syncs = measured.syncs.unwrap();
        assert_eq!((measured.latencies.count(), syncs.count()), (64, expected));
        assert!(measured.latencies.sum_ns() > syncs.sum_ns(), "an operation is a write with its sync");
    }
    // 22, 21 and 21 writes.
    let each = Sync::Each(SyncCall::Fdatasync, 11);
    let measured = measure(&Spec { sync: each, threads: 3, ..Spec::small(Pattern::SeqWrite) }).unwrap();
    assert_eq!(measured.syncs.unwrap().count(), 2 + 1 + 1);
}

#[test]
fn a_duration_ends_it_after_any_number_of_laps() {
    let amount = Amount::Duration(Duration::from_millis(30));
    let measured = measure(&Spec { amount, threads: 2, ..Spec::small(Pattern::RandRead) }).unwrap();
    assert!(measured.wall >= Duration::from_millis(30), "{:?}", measured.wall);
    assert!(measured.operations > BLOCKS, "{}", measured.operations);
}

#[test]
fn warm_is_in_the_page_cache_and_cold_is_not_and_ends_with_the_file() {
    let directory = directory();
    let prepared = PreparedFile::new(&Spec::small(Pattern::RandRead), directory.path()).unwrap();
    prepared.set_cache().unwrap();
    assert_eq!(prepared.target.cached_share(), Some(1.0));
    for amount in [Amount::Operations(1000), Amount::Duration(Duration::from_secs(3600))] {
        for (pattern, threads) in [(Pattern::SeqRead, 3), (Pattern::RandRead, 2)] {
            let cold = Spec { cold: true, amount, threads, ..Spec::small(pattern) };
            let Some(cold) = measure(&cold) else { continue };
            assert_eq!(cold.operations, BLOCKS);
        }
    }
    let half = Spec { cold: true, amount: Amount::Operations(BLOCKS / 2), ..Spec::small(Pattern::SeqRead) };
    if let Some(half) = measure(&half) {
        assert_eq!(half.operations, BLOCKS / 2);
    }
}

#[test]
fn direct_leaves_the_page_cache_alone() {
    for pattern in Pattern::ALL {
        let directory = directory();
        let spec = Spec { io: Io::Direct, ..Spec::small(pattern) };
        let prepared = PreparedFile::new(&spec, directory.path()).unwrap();
        if measure(&spec).is_some() {
            prepared.measure(&Clock::new()).unwrap();
            assert!(prepared.target.cached_share().unwrap() <= 0.01);
        }
    }
}

/// A file in memory can't be read past it: a kernel's tmpfs refuses `O_DIRECT`, or takes it and keeps the file in memory all the same.
#[test]
fn memory_is_no_device() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: there is no /dev/shm");
        return;
    };
    for (io, cold) in [(Io::Direct, false), (Io::DirectDsync, false), (Io::Buffered, true)] {
        let spec = Spec { io, cold, ..Spec::small(Pattern::RandWrite) };
        let result = run(&spec, directory.path());
        let Err(DeviceError::Unsupported(why)) = result else { panic!("{result:?}") };
        println!("{} on tmpfs: {why}", io.name());
        let stays = why == UnsupportedReason::StaysInMemory { percent: 100 };
        assert!(stays || (io.is_direct() && why == UnsupportedReason::DirectRefused), "{why:?}");
        assert!(is_empty(directory.path()));
    }
    assert!(run(&Spec::small(Pattern::RandWrite), directory.path()).is_ok());
    assert!(is_empty(directory.path()));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let directory = directory();
    let read = || Spec::small(Pattern::RandRead);
    let fsync = Sync::Each(SyncCall::Fsync, 1);
    for (spec, expected) in [
        (Spec { block: 0, ..read() }, UnsupportedReason::BlockSize),
        (Spec { block: 1000, ..read() }, UnsupportedReason::BlockSize),
        (Spec { block: 32 << 20, file: 1 << 30, ..read() }, UnsupportedReason::BlockSize),
        (Spec { threads: 65, ..read() }, UnsupportedReason::FileTooSmall { least_bytes: 65 * BLOCK }),
        (Spec { sync: fsync, ..read() }, UnsupportedReason::NothingToSync),
        (Spec { io: Io::Dsync, ..read() }, UnsupportedReason::NothingToSync),
    ] {
        assert_eq!(spec.unsupported(), Some(expected));
        let result = run(&spec, directory.path());
        assert!(matches!(result, Err(DeviceError::Unsupported(why)) if why == expected), "{result:?}");
    }
    assert_eq!(Spec::small(Pattern::SeqWrite).unsupported(), None);
    assert!(is_empty(directory.path()));
}

#[test]
fn a_file_that_does_not_fit_is_not_begun() {
    let directory = directory();
    let error = run(&Spec { file: 1 << 60, ..Spec::small(Pattern::SeqRead) }, directory.path()).unwrap_err();
    assert!(
        matches!(error, DeviceError::NoRoom { needed_bytes, .. } if needed_bytes == 1 << 60),
        "{error:?}"
    );
    assert!(error.is_disk_full() && error.to_string().contains("make room"), "{error}");
    assert!(is_empty(directory.path()));
}

#[test]
fn a_folder_that_cannot_be_written_and_a_file_in_the_way_are_reported_and_stay() {
    let error = run(&Spec::small(Pattern::SeqRead), Path::new("/proc/self")).unwrap_err();
    // A file system of no size does not say that it is full.
    assert!(matches!(error, DeviceError::Io { step: DeviceStep::Make, .. }), "{error:?}");
    assert!(error.to_string().contains("making /proc/self/device.data"), "{error}");
    let error = run(&Spec::small(Pattern::SeqRead), Path::new("/nonexistent")).unwrap_err();
    assert!(error.to_string().contains("opening /nonexistent: "), "{error}");
    let directory = directory();
    let theirs = directory.path().join("device.data");
    fs::write(&theirs, "text").unwrap();
    let error = run(&Spec::small(Pattern::SeqRead), directory.path()).unwrap_err();
    assert!(matches!(error, DeviceError::Io { step: DeviceStep::Make, .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "text");
}

#[test]
fn an_operation_that_fails_is_reported_with_its_offset_in_the_file() {
    let directory = directory();
    let path = directory.path().join("theirs");
    fs::write(&path, vec![1; 10 * BLOCK as usize]).unwrap();
    let clock = Clock::new();
    let run_to_error = |pattern, file: File| {
        let series = Series::new(1).unwrap();
        let spec = Spec { amount: Amount::Operations(20), ..Spec::small(pattern) };
        let workers = [Mutex::new(DeviceWorker::new(&spec, 0, &clock, file, path.clone()).unwrap())];
        let result =
            worker_pool::run(&clock, &workers, || Ok(Box::new(())), |()| Ok(()), |pool| pool.round(&series));
        result.unwrap_err().to_string()
    };
    let short = run_to_error(Pattern::SeqRead, File::open(&path).unwrap());
    assert!(short.contains("reading") && short.contains("theirs at byte 40960: unexpected end"), "{short}");
    let read_only = run_to_error(Pattern::SeqWrite, File::open(&path).unwrap());
    assert!(read_only.contains("writing") && read_only.contains("theirs at byte 0: "), "{read_only}");
}

#[test]
fn a_file_that_is_cut_meanwhile_fails_the_run_and_is_deleted() {
    for threads in [1, 4] {
        let directory = directory();
        let prepared =
            PreparedFile::new(&Spec { threads, ..Spec::small(Pattern::SeqRead) }, directory.path()).unwrap();
        let file = File::options().write(true).open(directory.path().join("device.data")).unwrap();
        file.set_len(BLOCK * 50).unwrap();
        let error = prepared.measure(&Clock::new()).unwrap_err();
        assert!(
            matches!(error, DeviceError::Io { step: DeviceStep::Read, offset: Some(_), .. }),
            "{error:?}"
        );
        drop(prepared);
        assert!(is_empty(directory.path()));
    }
}

#[test]
fn when_writes_are_synced_is_written_as_it_is_read() {
    for text in ["none", "fsync", "fdatasync", "fsync/16", "fdatasync/1000"] {
        assert_eq!(text.parse::<Sync>().unwrap().to_string(), text);
    }
    assert_eq!("fsync/1".parse(), Ok(Sync::Each(SyncCall::Fsync, 1)));
    for text in ["", "fsync/0", "fsync/", "none/3", "sync", "fsync/-1"] {
        assert!(text.parse::<Sync>().unwrap_err().contains("fsync/16"), "{text}");
    }
}
