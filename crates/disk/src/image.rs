//! The bytes of a disk, in memory or in a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

use crate::holes::data;

/// The bytes of a disk.
#[derive(Debug)]
pub struct Image {
    file: File,
    /// Its size.
    pub bytes: u64,
}

impl Image {
    /// An empty one in memory.
    pub fn in_memory(bytes: u64) -> io::Result<Image> {
        let file = File::from(memfd_create("storebench-disk", MemfdFlags::CLOEXEC)?);
        file.set_len(bytes)?;
        Ok(Image { file, bytes })
    }

    /// All of a file, in its place.
    pub fn from_file(file: File) -> io::Result<Image> {
        let bytes = file.metadata()?.len();
        Ok(Image { file, bytes })
    }

    /// Copies a file into memory; its holes take none.
    pub(crate) fn copy_of(file: &File) -> io::Result<Image> {
        let copy = Image::in_memory(file.metadata()?.len())?;
        data(file, |offset, bytes| copy.file.write_all_at(bytes, offset))?;
        Ok(copy)
    }

    /// Fills the buffer up to the image's end; returns the number of bytes.
    pub fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let length =
            usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        self.file.read_exact_at(&mut buffer[..length], offset)?;
        Ok(length)
    }

    /// Fills the buffer. Fails beyond the image's end.
    pub(crate) fn read_exact(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// Writes bytes, all of them before its end. Fails with [`io::ErrorKind::StorageFull`] beyond it; the system's.
    pub fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_all_at(bytes, offset)
    }

    /// Gives up bytes, which read as zeros from then on.
    pub fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let bytes = bytes.min(self.bytes.saturating_sub(offset));
        if bytes == 0 {
            return Ok(());
        }
        Ok(fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn bytes_are_written_read_and_given_up() {
        let image = Image::in_memory(8192).unwrap();
        image.write(&[7; 100], 4000).unwrap();
        let mut read = [1; 5000];
        assert_eq!(image.read(&mut read, 4000).unwrap(), 4192);
        assert!(read[..100].iter().all(|byte| *byte == 7) && read[100..4192].iter().all(|byte| *byte == 0));
        assert_eq!(image.read(&mut read, 8192).unwrap(), 0);
        assert_eq!(image.write(&[1; 2], 8191).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(image.write(&[1; 2], u64::MAX).is_err());
        image.discard(4000, 50).unwrap();
        image.discard(8000, 5000).unwrap();
        image.read(&mut read, 4040).unwrap();
        assert_eq!((read[9], read[10]), (0, 7));
    }

    #[test]
    fn a_copy_has_the_same_bytes_and_the_same_holes() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 << 20).unwrap();
        for (offset, byte) in [(0, 1), (5 << 20, 2), ((64 << 20) - 4096, 3)] {
            file.write_all_at(&[byte; 4096], offset).unwrap();
        }
        let copy = Image::copy_of(&file).unwrap();
        let (mut file_bytes, mut copy_bytes) = (vec![0; 64 << 20], vec![0; 64 << 20]);
        file.read_exact_at(&mut file_bytes, 0).unwrap();
        copy.read(&mut copy_bytes, 0).unwrap();
        assert!(file_bytes == copy_bytes);
        assert!(copy.file.metadata().unwrap().blocks() * 512 < 4 << 20);
        let empty = Image::copy_of(&tempfile::tempfile().unwrap()).unwrap();
        assert_eq!(empty.bytes, 0);
    }
}
