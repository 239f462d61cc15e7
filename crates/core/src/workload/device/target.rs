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

use super::buffer::AlignedBuffer;
use super::fault::{DeviceError, DeviceStep, UnsupportedReason};
use super::spec::Spec;
use super::transfer;
use crate::axis::device::values::SECTOR_BYTES;
use crate::guard::Folder;
use crate::kernel::system;
use crate::measure::page_cache;

const NAME: &str = "device.data";
/// Bytes per call while nothing is measured.
const PIECE_BYTES: usize = 1 << 20;
/// Attempts to drop the file from the cache: pages on their way to the disk stay.
const DROPS: u32 = 20;
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
    path: PathBuf,
    bytes: u64,
    there: bool,
}

impl TargetFile {
    /// Writes and syncs all of the file.
    pub(super) fn lay_out(spec: &Spec, directory: &Path) -> Result<TargetFile, DeviceError> {
        let folder = Folder::open(directory).map_err(failed(DeviceStep::Open, directory))?;
        has_room(spec, &folder)?;
        let path = folder.path().join(NAME);
        let file = folder.make_file(OsStr::new(NAME)).map_err(failed(DeviceStep::Make, &path))?;
        let target = TargetFile { folder, file, path, bytes: spec.file_bytes(), there: true };
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
        for round in 0..DROPS {
            if round > 0 {
                thread::sleep(PAUSE);
            }
            system::drop_cache(&self.file).map_err(self.failed(DeviceStep::Advise))?;
            match self.cached() {
                Some(share) if share > LEFT_IN_CACHE => {}
                _ => return Ok(()),
            }
        }
        let percent = (100.0 * self.cached().unwrap_or(1.0)).ceil().min(100.0) as u8;
        Err(UnsupportedReason::StaysInMemory { percent }.into())
    }

    /// The share of the file in the page cache; `None` if unknown.
    pub(super) fn cached(&self) -> Option<f64> {
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
        let file = match self.folder.file_with(OsStr::new(NAME), flags) {
            Err(error) if spec.io.is_direct() && is_refusal(&error) => {
                return Err(UnsupportedReason::DirectRefused.into());
            }
            other => other.map_err(self.failed(DeviceStep::Open))?,
        };
        if spec.io.is_direct() {
            self.takes_blocks(&file, spec.block)?;
        }
        // As fio does (fadvise_hint): it decides how far the kernel reads ahead.
        system::expect_reads(&file, spec.pattern.is_random()).map_err(self.failed(DeviceStep::Advise))?;
        Ok(file)
    }

    /// Checks that blocks of this size can be read past the page cache.
    fn takes_blocks(&self, file: &File, block: u64) -> Result<(), DeviceError> {
        let mut memory = AlignedBuffer::random(block.max(LARGEST_SECTOR_BYTES) as usize, 0);
        let mut takes =
            |bytes: u64| match rustix::io::pread(file, &mut memory.bytes_mut()[..bytes as usize], 0) {
                Ok(_) => Ok(true),
                Err(Errno::INVAL) => Ok(false),
                Err(error) => Err(self.failed_at(DeviceStep::Read, 0)(error.into())),
            };
        if takes(block)? {
            return Ok(());
        }
        let mut multiple_of = 2 * SECTOR_BYTES;
        while multiple_of <= self.bytes.min(LARGEST_SECTOR_BYTES) {
            if takes(multiple_of)? {
                return Err(UnsupportedReason::BlockUnaligned { multiple_of }.into());
            }
            multiple_of *= 2;
        }
        Err(UnsupportedReason::DirectRefused.into())
    }

    /// Syncs; gives how long that took.
    pub(super) fn sync(&self) -> Result<Duration, DeviceError> {
        let start = Instant::now();
        rustix::fs::fsync(&self.file).map_err(|error| self.failed(DeviceStep::Sync)(error.into()))?;
        Ok(start.elapsed())
    }

    pub(super) fn delete(mut self) -> Result<(), DeviceError> {
        self.there = false;
        self.folder.remove_file(OsStr::new(NAME)).map_err(self.failed(DeviceStep::Delete))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with all of the file, piece by piece.
    fn for_each_piece(
        &self,
        doing: DeviceStep,
        mut action: impl FnMut(&File, &mut [u8], u64) -> io::Result<()>,
    ) -> Result<(), DeviceError> {
        let mut piece = vec![0; PIECE_BYTES];
        for offset in (0..self.bytes).step_by(PIECE_BYTES) {
            let length = (self.bytes - offset).min(PIECE_BYTES as u64) as usize;
            action(&self.file, &mut piece[..length], offset).map_err(self.failed_at(doing, offset))?;
        }
        Ok(())
    }

    fn failed(&self, doing: DeviceStep) -> impl FnOnce(io::Error) -> DeviceError {
        failed(doing, &self.path)
    }

    fn failed_at(&self, doing: DeviceStep, offset: u64) -> impl FnOnce(io::Error) -> DeviceError {
        let path = self.path.clone();
        move |source| DeviceError::Io { doing, path, offset: Some(offset), source }
    }
}

impl Drop for TargetFile {
    fn drop(&mut self) {
        if self.there {
            // Only on the way out of an error, which is reported.
            let _ = self.folder.remove_file(OsStr::new(NAME));
        }
    }
}

fn failed(doing: DeviceStep, path: &Path) -> impl FnOnce(io::Error) -> DeviceError {
    let path = path.to_owned();
    move |source| DeviceError::Io { doing, path, offset: None, source }
}

/// Whether a file system has no `O_DIRECT`.
fn is_refusal(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::OPNOTSUPP))
}

/// Checks that the file fits, if the file system reports free space.
fn has_room(spec: &Spec, folder: &Folder) -> Result<(), DeviceError> {
    let Ok(room) = rustix::fs::fstatvfs(folder.handle()) else { return Ok(()) };
    let (free_bytes, needed_bytes) = (room.f_bavail.saturating_mul(room.f_frsize), spec.file_bytes());
    if room.f_blocks > 0 && free_bytes < needed_bytes {
        return Err(DeviceError::NoRoom { path: folder.path().to_owned(), needed_bytes, free_bytes });
    }
    Ok(())
}
