//! A load on the disk: writes and reads a file next to the store's, a given number of bytes of each per second. Writes go around the file
//! block after block, reads take random blocks. Both bypass the page cache if the file system allows that; otherwise the file is synced
//! and dropped from the cache each second.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::message::LoadStop;
use super::pace::RateLimiter;
use super::reporter::Reporter;
use storebench_core::kernel::system;
use storebench_model::units::exact_bytes;
use storebench_model::words::words;

/// The largest file.
const FILE_BYTES: u64 = 256 << 20;
/// The smallest file: a smaller one would be served from the device's own cache.
const LEAST_FILE_BYTES: u64 = 8 << 20;
/// The alignment of direct reads and writes, in memory and in the file. No file system asks for more.
const ALIGNMENT: usize = 4096;
/// Blocks per second, if that makes blocks of 4 KiB to 256 KiB.
const BLOCKS_PER_S: u64 = 100;
/// How often a file in the page cache is synced and dropped from it.
const SYNC_PERIOD: Duration = Duration::from_secs(1);

/// The size of the file on a disk with `free_bytes` left: an eighth of that, at most 256 MiB, in whole MiB.
pub fn file_bytes(free_bytes: u64) -> u64 {
    (free_bytes / 8).min(FILE_BYTES) >> 20 << 20
}

/// Writes and reads `bytes_per_s` of each. Progress is the bytes of both.
pub fn run(bytes_per_s: u64, folder: &Path, reporter: &Arc<Reporter>) -> Result<Infallible, LoadStop> {
    let path = folder.join("disk");
    let file_bytes = prepare(&path, reporter)?;
    let (file, mode) = open(&path).map_err(LoadStop::failed("opening the file"))?;
    let block = block_bytes(bytes_per_s).min(file_bytes);
    let description = format!(
        "wrote and read {}/s each in blocks of {} in a file of {}, {}",
        exact_bytes(bytes_per_s),
        exact_bytes(block),
        exact_bytes(file_bytes),
        mode.name(),
    );
    reporter.send_ready(description, "bytes", 1.0).map_err(LoadStop::failed("telling the parent"))?;
    let access = Access { mode, block: block as usize, blocks: file_bytes / block, bytes_per_s };
    let (for_writer, writer_reporter) = (file.try_clone(), Arc::clone(reporter));
    let for_writer = for_writer.map_err(LoadStop::failed("opening the file"))?;
    let writer = thread::Builder::new()
        .name("write".into())
        .spawn(move || access.write(&for_writer, &writer_reporter, || true))
        .map_err(LoadStop::failed("starting a thread"))?;
    access.read(&file, reporter, || !writer.is_finished()).map_err(LoadStop::failed("reading"))?;
    Err(LoadStop::Failed(match writer.join() {
        Ok(Err(error)) => format!("writing: {error}"),
        Ok(Ok(())) | Err(_) => "the thread that writes has ended".into(),
    }))
}

fn block_bytes(bytes_per_s: u64) -> u64 {
    let alignment = ALIGNMENT as u64;
    (bytes_per_s / BLOCKS_PER_S / alignment * alignment).clamp(alignment, 256 << 10)
}

/// Fills the file with random bytes, unless an earlier load has; returns its size.
fn prepare(path: &Path, reporter: &Reporter) -> Result<u64, LoadStop> {
    if let Ok(file) = fs::metadata(path) {
        return Ok(file.len());
    }
    let folder = path.parent().unwrap_or(path);
    let space = rustix::fs::statvfs(folder).map_err(LoadStop::failed("asking for free space"))?;
    let bytes = file_bytes(space.f_bavail * space.f_frsize);
    if bytes < LEAST_FILE_BYTES {
        return Err(LoadStop::Unsupported(format!(
            "the disk is too full for a load on it: it needs {} free in {}",
            exact_bytes(LEAST_FILE_BYTES * 8),
            folder.display()
        )));
    }
    let unfinished = path.with_extension("unfinished");
    fill(&unfinished, bytes, reporter)
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(LoadStop::failed("writing the file"))?;
    Ok(bytes)
}

fn fill(path: &Path, bytes: u64, reporter: &Reporter) -> io::Result<()> {
    let mut file = File::create(path)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bytes);
    let mut block = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        random.fill_bytes(&mut block);
        file.write_all(&block)?;
        reporter.add(1 << 20);
    }
    file.sync_data()
}

/// The path on which the file is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantNames)]
enum Mode {
    #[strum(serialize = "direct (past the page cache)")]
    Direct,
    #[strum(serialize = "buffered, synced and dropped from the page cache each second")]
    Buffered,
}

words!(Mode);

/// Opens the file for direct access if that works here, otherwise through the page cache.
fn open(path: &Path) -> io::Result<(File, Mode)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let direct = system::DIRECT.map(|flag| options.clone().custom_flags(flag).open(path));
    // Some file systems open a file for direct access, and refuse to read it.
    if let Some(Ok(file)) = direct
        && file.read_exact_at(AlignedBytes::new(ALIGNMENT).bytes(), 0).is_ok()
    {
        return Ok((file, Mode::Direct));
    }
    Ok((options.open(path)?, Mode::Buffered))
}

#[derive(Clone, Copy)]
struct Access {
    mode: Mode,
    block: usize,
    blocks: u64,
    bytes_per_s: u64,
}

impl Access {
    fn write(self, file: &File, reporter: &Reporter, mut go_on: impl FnMut() -> bool) -> io::Result<()> {
        let mut buffer = AlignedBytes::new(self.block);
        let bytes = buffer.bytes();
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(bytes);
        let mut pace = RateLimiter::new(self.bytes_per_s as f64);
        let (mut number, mut last_sync) = (0_u64, Instant::now());
        while go_on() {
            pace.wait(self.block as f64);
            // No two blocks are alike, so that no layer below can skip one.
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            reporter.request(|| file.write_all_at(bytes, number % self.blocks * self.block as u64))?;
            number += 1;
            reporter.add(self.block as u64);
            if self.mode == Mode::Buffered && last_sync.elapsed() >= SYNC_PERIOD {
                reporter.request(|| file.sync_data())?;
                system::drop_cache(file)?;
                last_sync = Instant::now();
            }
        }
        Ok(())
    }

    fn read(self, file: &File, reporter: &Reporter, mut go_on: impl FnMut() -> bool) -> io::Result<()> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut buffer = AlignedBytes::new(self.block);
        let mut pace = RateLimiter::new(self.bytes_per_s as f64);
        while go_on() {
            pace.wait(self.block as f64);
            let number = random.next_u64() % self.blocks;
            reporter.request(|| file.read_exact_at(buffer.bytes(), number * self.block as u64))?;
            reporter.add(self.block as u64);
        }
        Ok(())
    }
}

/// Bytes at an address that direct access accepts.
struct AlignedBytes {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBytes {
    fn new(len: usize) -> AlignedBytes {
        let memory = vec![0; len + ALIGNMENT];
        let start = (memory.as_ptr() as usize).next_multiple_of(ALIGNMENT) - memory.as_ptr() as usize;
        AlignedBytes { memory, start, len }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_many_in_a_second_and_the_file_leaves_most_of_a_small_disk_free() {
        assert_eq!(block_bytes(64 << 10), 4096);
        assert_eq!(block_bytes(20 << 20), 204 << 10);
        assert_eq!(block_bytes(10 << 30), 256 << 10);
        assert_eq!(AlignedBytes::new(100).bytes().len(), 100);
        assert_eq!(AlignedBytes::new(8192).bytes().as_ptr() as usize % ALIGNMENT, 0);
        assert_eq!(file_bytes(u64::MAX), 256 << 20);
        assert_eq!(file_bytes(100 << 20), 12 << 20);
        assert_eq!(file_bytes(1), 0);
    }

    fn times(mut remaining: i32) -> impl FnMut() -> bool {
        move || {
            remaining -= 1;
            remaining >= 0
        }
    }

    #[test]
    fn both_modes_write_all_over_the_file_and_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        let (reporter, block, blocks) = (Reporter::new(Box::new(io::sink())), 4096, 16);
        for mode in [Mode::Direct, Mode::Buffered] {
            fs::write(&path, vec![0; block * blocks as usize]).unwrap();
            let (file, open_mode) = open(&path).unwrap();
            // Without direct access, the test covers the cached mode twice.
            let reopen = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
            let file = if mode == open_mode { file } else { reopen() };
            let access = Access { mode, block, blocks, bytes_per_s: 1 << 40 };
            access.write(&file, &reporter, times(20)).unwrap();
            let written = fs::read(&path).unwrap();
            let number_of = |block: &[u8]| u64::from_le_bytes(block[..8].try_into().unwrap());
            let numbers: Vec<u64> = written.chunks(block).map(number_of).collect();
            // The twenty blocks went around the file once and a quarter.
            assert_eq!(numbers, [16, 17, 18, 19].into_iter().chain(4..16).collect::<Vec<_>>());
            assert!(written.chunks(block).all(|block| block[8..].iter().any(|byte| *byte != 0)));
            access.read(&file, &reporter, times(50)).unwrap();
        }
        assert_eq!(reporter.count(), 2 * (20 + 50) * block as u64);
    }

    #[test]
    fn the_file_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let reporter = Reporter::new(Box::new(io::sink()));
        fs::write(folder.path().join("unused"), "").unwrap();
        let path = folder.path().join("disk");
        fill(&path, 8 << 20, &reporter).unwrap();
        let written = fs::read(&path).unwrap();
        assert_eq!(prepare(&path, &reporter).unwrap(), 8 << 20);
        assert_eq!(fs::read(&path).unwrap(), written);
        let equal_blocks = written.chunks(4096).filter(|block| *block == &written[..4096]).count();
        assert_eq!((written.len(), equal_blocks), (8 << 20, 1));
    }
}
