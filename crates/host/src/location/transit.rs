//! Measures the time that requests take through FUSE and a loop device to a simulated disk and back: on a disk whose model takes none.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Instant;

use storebench_disk::counts;
use storebench_disk::transit::Transit;

use super::directory::WorkFolder;
use crate::image::LoopDevice;
use storebench_core::kernel::system;
use storebench_model::error::{Error, Result};
use storebench_model::simulated::{DISK, DiskService, ServedDisk, SimulatedDisk, TracePart};

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
pub fn measure(work: &mut WorkFolder) -> Result<Transit> {
    let disk = SimulatedDisk::without_delay(NAME);
    let mut stage = work.stage();
    let (path, image) = stage.file(&format!("{NAME}.image"))?;
    image.set_len(BYTES).map_err(Error::io("making", &path))?;
    let traced = TracePart::default();
    let serving = DiskService { disk: &disk, seed: 0, journal: &[], image: &image, in_memory: true, traced };
    let mount_point = stage.disk(NAME, |folder| ServedDisk::start(serving, folder))?;
    let measure_requests = || -> io::Result<Transit> {
        let file = File::options().read(true).write(true).open(mount_point.join(DISK))?;
        let device = LoopDevice::attach(&file)?;
        let direct = system::DIRECT.ok_or(io::ErrorKind::Unsupported)?;
        let loop_file = File::options().read(true).write(true).custom_flags(direct).open(device.path())?;
        let mut buffer = vec![0; 2 * BLOCK];
        let start = buffer.as_ptr().align_offset(BLOCK);
        time_requests(&loop_file, &mut buffer[start..start + BLOCK], WARM_UP)?;
        let before = counts::read(&mount_point)?;
        let mut times = time_requests(&loop_file, &mut buffer[start..start + BLOCK], REQUESTS)?;
        let counts_since = counts::read(&mount_point)?.since(&before);
        times.sort_unstable();
        let requests = times.len() as u64;
        Ok(Transit {
            requests,
            mean_ns: times.iter().sum::<u64>() / requests.max(1),
            p99_ns: times.get(times.len() * 99 / 100).copied().unwrap_or_default(),
            late_ns_mean: counts_since.requests.late_ns / requests.max(1),
        })
    };
    let transit = measure_requests().map_err(Error::io("measuring requests to", &mount_point))?;
    stage.release()?;
    Ok(transit)
}

/// Reads and writes blocks in turn; returns the time of each, in nanoseconds.
fn time_requests(device: &File, block: &mut [u8], count: u64) -> io::Result<Vec<u64>> {
    let mut times = Vec::with_capacity(2 * count as usize);
    for number in 0..count {
        let offset = number * BLOCK as u64;
        let start = Instant::now();
        device.read_exact_at(block, offset)?;
        let read = Instant::now();
        device.write_all_at(block, offset)?;
        let written = Instant::now();
        times.extend([read - start, written - read].map(|time| time.as_nanos() as u64));
    }
    Ok(times)
}
