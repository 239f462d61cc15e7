//! Measures the time that requests take through FUSE and a loop device to a simulated disk and back: on a disk whose model takes none.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Instant;

use storebench_disk::counts;
use storebench_disk::transit::Transit;

use super::directory::WorkFolder;
use crate::image::LoopDevice;
use storebench_core::error::{Error, Result};
use storebench_core::kernel::system;
use storebench_core::simulated::{DISK, DiskService, ServedDisk, SimulatedDisk, TracePart};

/// The name of its disk and of its image in a work folder.
const NAME: &str = "transit";
/// The size of the disk.
const BYTES: u64 = 4 << 20;
/// The bytes of a request.
const BLOCK: usize = 4096;
/// The number of reads and of writes, after some that are not measured.
const REQUESTS: u64 = 200;
const WARM_UP: u64 = 20;

/// Measures the transit, one request at a time.
///
/// # Errors
/// When no disk can be served in the work folder, or the disk fails.
pub fn measure(work: &mut WorkFolder) -> Result<Transit> {
    let disk = SimulatedDisk::that_takes_no_time(NAME);
    let mut stage = work.stage();
    let (path, image) = stage.file(&format!("{NAME}.image"))?;
    image.set_len(BYTES).map_err(Error::io("making", &path))?;
    let serving = DiskService {
        disk: &disk,
        seed: 0,
        journal: &[],
        image: &image,
        in_memory: true,
        traced: TracePart::default(),
    };
    let at = stage.disk(NAME, |at| ServedDisk::start(serving, at))?;
    let through = || -> io::Result<Transit> {
        let file = File::options().read(true).write(true).open(at.join(DISK))?;
        let device = LoopDevice::attach(&file)?;
        let direct = system::DIRECT.ok_or(io::ErrorKind::Unsupported)?;
        let opened = File::options().read(true).write(true).custom_flags(direct).open(device.path())?;
        let mut buffer = vec![0; 2 * BLOCK];
        let from = buffer.as_ptr().align_offset(BLOCK);
        requests(&opened, &mut buffer[from..from + BLOCK], WARM_UP)?;
        let before = counts::read(&at)?;
        let mut took = requests(&opened, &mut buffer[from..from + BLOCK], REQUESTS)?;
        let late = counts::read(&at)?.since(&before);
        took.sort_unstable();
        let requests = took.len() as u64;
        Ok(Transit {
            requests,
            mean_ns: took.iter().sum::<u64>() / requests.max(1),
            p99_ns: took.get(took.len() * 99 / 100).copied().unwrap_or_default(),
            late_ns_mean: late.requests.late_ns / requests.max(1),
        })
    };
    let transit = through().map_err(Error::io("measuring requests to", &at))?;
    stage.release()?;
    Ok(transit)
}

/// Reads and writes blocks in turn; returns the time of each, in nanoseconds.
fn requests(device: &File, block: &mut [u8], count: u64) -> io::Result<Vec<u64>> {
    let mut took = Vec::with_capacity(2 * count as usize);
    for number in 0..count {
        let at = number * BLOCK as u64;
        let start = Instant::now();
        device.read_exact_at(block, at)?;
        let read = Instant::now();
        device.write_all_at(block, at)?;
        let written = Instant::now();
        took.extend([read - start, written - read].map(|time| time.as_nanos() as u64));
    }
    Ok(took)
}
