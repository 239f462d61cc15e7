//! The file: made, laid out, brought into or out of the page cache, opened as it is to be measured, deleted.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::fs::OFlags;
use rustix::io::Errno;
use storebench_model::axis::device::values::SECTOR_BYTES;

use super::buffer::AlignedBuffer;
use storebench_model::result::UnsupportedReason;

use super::fault::{DeviceError, DeviceStep};
use super::spec::Spec;
use super::transfer;
use crate::guard::Folder;
use crate::kernel::system;
use crate::measure::page_cache;

const NAME: &str = "device.data";
/// Bytes per call while nothing is measured.
const PIECE_BYTES: usize = 1 << 20;
/// Attempts to drop the file from the cache: pages on their way to the disk stay.
const MAX_DROPS: u32 = 20;
/// Between attempts.
const PAUSE: Duration = Duration::from_millis(25);
/// The share of the file that may stay in the page cache.
const LEFT_IN_CACHE: f64 = 0.01;
/// The largest block that is tried to learn what `O_DIRECT` takes.
const LARGEST_SECTOR_BYTES: u64 = 64 << 10;

/// A file of random content, deleted on drop.
#[derive(Debug)]
pub(super) struct TargetFile {
    folder: Folder,
    file: File,
    pub(super) path: PathBuf,
    bytes: u64,
    exists: bool,
}

impl TargetFile {
    /// Writes and syncs all of the file.
    pub(super) fn lay_out(spec: &Spec, directory: &Path) -> Result<TargetFile, DeviceError> {
        let folder = Folder::open(directory).map_err(io_error(DeviceStep::Open, directory))?;
        check_room(spec, &folder)?;
        let path = folder.path().join(NAME);
        let file = folder.make_file(OsStr::new(NAME)).map_err(io_error(DeviceStep::Make, &path))?;
        let target = TargetFile { folder, file, path, bytes: spec.file_bytes(), exists: true };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(spec.seed);
        target.for_each_piece(DeviceStep::LayOut, |file, piece, offset| {
            random.fill_bytes(piece);
            transfer::write(file, piece, offset)
        })?;
        target.sync()?;
        Ok(target)
    }

    /// Brings the file into the page cache, or out of it. Fails when it stays there.
    pub(super) fn set_cache(&self, warm: bool) -> Result<(), DeviceError> {
        if warm {
            return self.for_each_piece(DeviceStep::Read, transfer::read);
        }
        for attempt in 0..MAX_DROPS {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            system::drop_cache(&self.file).map_err(self.io_error(DeviceStep::Advise))?;
            match self.cached_share() {
                Some(share) if share > LEFT_IN_CACHE => {}
                _ => return Ok(()),
            }
        }
        let percent = (100.0 * self.cached_share().unwrap_or(1.0)).ceil().min(100.0) as u8;
        Err(UnsupportedReason::StaysInMemory { percent }.into())
    }

    /// The share of the file in the page cache; `None` if unknown.
    pub(super) fn cached_share(&self) -> Option<f64> {
        let resident = page_cache::resident_bytes(&self.file).ok()?;
        Some((resident as f64 / self.bytes as f64).min(1.0))
    }

    /// Opens the file for measuring. Fails when the file system does not support that at this block size.
    pub(super) fn open(&self, spec: &Spec) -> Result<File, DeviceError> {
        let mut flags = OFlags::empty();
        if spec.io.is_direct() {
            flags |= OFlags::from_bits_retain(system::DIRECT.ok_or(UnsupportedReason::DirectRefused)? as _);
        }
        flags.set(OFlags::DSYNC, spec.io.is_dsync());
        let file = match self.folder.open_file(OsStr::new(NAME), flags, 0) {
            Err(error) if spec.io.is_direct() && is_refusal(&error) => {
                return Err(UnsupportedReason::DirectRefused.into());
            }
            result => result.map_err(self.io_error(DeviceStep::Open))?,
        };
        if spec.io.is_direct() {
            self.check_block_size(&file, spec.block)?;
        }
        // As fio does (fadvise_hint): it decides how far the kernel reads ahead.
        system::expect_reads(&file, spec.pattern.is_random()).map_err(self.io_error(DeviceStep::Advise))?;
        Ok(file)
    }

    /// Checks that blocks of this size can be read past the page cache.
    fn check_block_size(&self, file: &File, block: u64) -> Result<(), DeviceError> {
        let mut memory = AlignedBuffer::random(block.max(LARGEST_SECTOR_BYTES) as usize, 0);
        let mut can_read =
            |bytes: u64| match rustix::io::pread(file, &mut memory.bytes_mut()[..bytes as usize], 0) {
                Ok(_) => Ok(true),
                Err(Errno::INVAL) => Ok(false),
                Err(error) => Err(self.io_error_at(DeviceStep::Read, 0)(error.into())),
            };
        if can_read(block)? {
            return Ok(());
        }
        let mut multiple_of = 2 * SECTOR_BYTES;
        while multiple_of <= self.bytes.min(LARGEST_SECTOR_BYTES) {
            if can_read(multiple_of)? {
                return Err(UnsupportedReason::BlockUnaligned { multiple_of }.into());
            }
            multiple_of *= 2;
        }
        Err(UnsupportedReason::DirectRefused.into())
    }

    /// Syncs; gives how long that took.
    pub(super) fn sync(&self) -> Result<Duration, DeviceError> {
        let start = Instant::now();
        rustix::fs::fsync(&self.file).map_err(|error| self.io_error(DeviceStep::Sync)(error.into()))?;
        Ok(start.elapsed())
    }

    pub(super) fn delete(mut self) -> Result<(), DeviceError> {
        self.exists = false;
        self.folder.remove_file(OsStr::new(NAME)).map_err(self.io_error(DeviceStep::Delete))
    }

    /// Does something with all of the file, piece by piece.
    fn for_each_piece(
        &self,
        step: DeviceStep,
        mut action: impl FnMut(&File, &mut [u8], u64) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        let mut piece = vec![0; PIECE_BYTES];
        for offset in (0..self.bytes).step_by(PIECE_BYTES) {
            let length = (self.bytes - offset).min(PIECE_BYTES as u64) as usize;
            action(&self.file, &mut piece[..length], offset).map_err(self.io_error_at(step, offset))?;
        }
        Ok(())
    }

    fn io_error(&self, step: DeviceStep) -> impl FnOnce(io::Error) -> DeviceError {
        io_error(step, &self.path)
    }

    fn io_error_at(&self, step: DeviceStep, offset: u64) -> impl FnOnce(io::Error) -> DeviceError {
        let path = self.path.clone();
        move |source| DeviceError::Io { step, path, offset: Some(offset), source }
    }
}

impl Drop for TargetFile {
    fn drop(&mut self) {
        if self.exists {
            // Only on the way out of an error, which is reported.
            let _ = self.folder.remove_file(OsStr::new(NAME));
        }
    }
}

fn io_error(step: DeviceStep, path: &Path) -> impl FnOnce(io::Error) -> DeviceError {
    let path = path.to_owned();
    move |source| DeviceError::Io { step, path, offset: None, source }
}

/// Whether a file system has no `O_DIRECT`.
fn is_refusal(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::OPNOTSUPP))
}

/// Checks that the file fits, if the file system reports free space.
fn check_room(spec: &Spec, folder: &Folder) -> Result<(), DeviceError> {
    let Ok(stats) = rustix::fs::fstatvfs(folder.handle()) else { return Ok(()) };
    let (free_bytes, needed_bytes) = (stats.f_bavail.saturating_mul(stats.f_frsize), spec.file_bytes());
    if stats.f_blocks > 0 && free_bytes < needed_bytes {
        return Err(DeviceError::NoRoom { path: folder.path().to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}
