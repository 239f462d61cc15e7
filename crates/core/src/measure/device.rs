//! The block device under a location, by its counters in /sys/block: what really reached it, whoever wrote.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use storebench_model::result::Traffic;

/// The block device under a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Its name in /sys/block.
    pub name: String,
    /// Whether others may write to it too.
    pub shared: bool,
    /// Bytes written to it per second, in an idle second before the first trial.
    pub idle_written_bytes_per_s: Option<f64>,
}

impl DeviceSpec {
    /// A device of the trial alone.
    pub fn unshared(name: String) -> DeviceSpec {
        DeviceSpec { name, shared: false, idle_written_bytes_per_s: None }
    }
}

/// The kernel counts sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

/// A block device whose counters can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    pub(super) name: String,
    stat: PathBuf,
}

impl BlockDevice {
    /// The device of this name in /sys/block.
    pub fn open(name: &str) -> io::Result<BlockDevice> {
        let device = BlockDevice { name: name.into(), stat: Path::new("/sys/block").join(name).join("stat") };
        device.traffic()?;
        Ok(device)
    }

    /// Its number, as cgroups name it: `8:0`.
    pub fn number(name: &str) -> Result<String, String> {
        let path = Path::new("/sys/block").join(name).join("dev");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(text.trim().to_owned())
    }

    /// All that it read and wrote since it was attached.
    pub fn traffic(&self) -> io::Result<Traffic> {
        self.counters(parse)
    }

    pub(crate) fn activity(&self) -> io::Result<Activity> {
        self.counters(parse_activity)
    }

    fn counters<T>(&self, parse: fn(&str) -> Option<T>) -> io::Result<T> {
        let fail = |error: String| io::Error::other(format!("{}: {error}", self.stat.display()));
        let text = fs::read_to_string(&self.stat).map_err(|error| fail(error.to_string()))?;
        parse(&text).ok_or_else(|| fail("not the counters of a block device".into()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// The time that requests took from when they came, summed over all, in milliseconds.
    pub waited_ms: u64,
    /// The time in which there was any, in milliseconds.
    pub busy_ms: u64,
}

impl Activity {
    pub fn since(&self, earlier: &Activity) -> Activity {
        Activity {
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            waited_ms: self.waited_ms.saturating_sub(earlier.waited_ms),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
        }
    }
}

/// Reads fields 1, 3, 5, 7, 10 and 11 of a `stat` file.
fn parse_activity(text: &str) -> Option<Activity> {
    let fields = fields(text)?;
    Some(Activity {
        reads: *fields.first()?,
        writes: *fields.get(4)?,
        read_bytes: fields.get(2)? * SECTOR_BYTES,
        written_bytes: fields.get(6)? * SECTOR_BYTES,
        waited_ms: *fields.get(10)?,
        busy_ms: *fields.get(9)?,
    })
}

fn fields(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()
}

/// Reads fields 3, 7 and 16 (since Linux 5.5) of a `stat` file.
fn parse(text: &str) -> Option<Traffic> {
    let fields = fields(text)?;
    Some(Traffic {
        read_bytes: fields.get(2)? * SECTOR_BYTES,
        written_bytes: fields.get(6)? * SECTOR_BYTES,
        flushes: fields.get(15).copied(),
    })
}

/// Hands all that is dirty in the file system of `folder` to its device. Not counted as a sync of the process.
pub fn sync_file_system(folder: &Path) -> io::Result<()> {
    let fail =
        |error: io::Error| io::Error::new(error.kind(), format!("syncing {}: {error}", folder.display()));
    sync(&File::open(folder).map_err(fail)?).map_err(fail)
}

#[cfg(target_os = "linux")]
fn sync(folder: &File) -> io::Result<()> {
    const FUSE: u32 = 0x6573_5546;
    // The kernel does not ask FUSE's daemons to sync, and what they wrote is in the device's cache.
    if rustix::fs::fstatfs(folder)?.f_type as u32 == FUSE {
        rustix::fs::sync();
    }
    crate::kernel::system::sync_file_system(folder)
}

#[cfg(not(target_os = "linux"))]
fn sync(_: &File) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Bytes per second written to each device while this process does nothing for `interval`, or until `interrupted`.
pub fn idle_written_bytes_per_s(
    devices: &[BlockDevice],
    interval: Duration,
    interrupted: &AtomicBool,
) -> io::Result<Vec<f64>> {
    let read_traffic = || devices.iter().map(BlockDevice::traffic).collect::<io::Result<Vec<_>>>();
    let (start, before) = (Instant::now(), read_traffic()?);
    while start.elapsed() < interval && !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(interval.saturating_sub(start.elapsed()).min(Duration::from_millis(50)));
    }
    let (elapsed, after) = (start.elapsed().as_secs_f64(), read_traffic()?);
    let written = after.iter().zip(&before).map(|(after, before)| after.since(before).written_bytes);
    Ok(written.map(|bytes| bytes as f64 / elapsed).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::measure::environment;

    #[test]
    fn fields_are_told_apart() {
        let text = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
        let traffic = parse(text).unwrap();
        assert_eq!((traffic.read_bytes, traffic.written_bytes, traffic.flushes), (1536, 3584, Some(16)));
        let found = parse_activity(text).unwrap();
        assert_eq!([found.reads, found.writes, found.waited_ms, found.busy_ms], [1, 5, 11, 10]);
        assert_eq!([found.read_bytes, found.written_bytes], [1536, 3584]);
        let old = parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.written_bytes, old.flushes), (3584, None));
        assert_eq!((parse(""), parse("1 2 3 4"), parse("a b c d e f g")), (None, None, None));
    }

    #[test]
    fn a_missing_device_is_an_error_that_names_it() {
        let error = BlockDevice::open("no-such-device").unwrap_err();
        assert!(error.to_string().contains("/sys/block/no-such-device/stat"), "{error}");
    }

    /// Where the sources lie on a block device, what is synced must show in its counters.
    #[test]
    fn what_is_synced_reaches_the_device() {
        const BYTES: usize = 1 << 20;
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let location = environment::describe_location("here", folder.path()).unwrap();
        let Some(device) = location.device else {
            return println!("{:?} has no block device here", location.file_system);
        };
        let device = BlockDevice::open(&device).unwrap();
        let before = device.traffic().unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        let bytes: Vec<u8> = (0..BYTES).map(|_| random.u8(..)).collect();
        File::create(folder.path().join("file")).unwrap().write_all(&bytes).unwrap();
        sync_file_system(folder.path()).unwrap();
        let written = device.traffic().unwrap().since(&before).written_bytes;
        assert!(written >= BYTES as u64, "{written}");
    }
}
