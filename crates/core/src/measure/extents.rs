//! The location of files on their disk, from the file system (the kernel's Documentation/filesystems/fiemap).

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

const EXTENTS_PER_CALL: usize = 64;
/// `FS_IOC_FIEMAP`, `FIEMAP_FLAG_SYNC`, and flags of an extent: the last one; location unknown; not as it is on the disk.
const FIEMAP: libc::c_ulong = 0xc020_660b;
const SYNC: u32 = 1;
const LAST: u32 = 1;
const NOWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x200;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_PER_CALL],
}

/// A part of a file that lies in one piece on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileExtent {
    /// The file's path below the folder that was looked at.
    pub path: String,
    /// The first of its bytes in the file.
    pub from: u64,
    /// The first of its bytes on the disk.
    pub at: u64,
    /// Their number.
    pub bytes: u64,
}

/// The extents of all files below a folder, as far as the file system reports them.
pub fn extents_below(folder: &Path) -> io::Result<Vec<FileExtent>> {
    let mut found = Vec::new();
    collect_extents(folder, folder, &mut found)?;
    Ok(found)
}

fn collect_extents(top: &Path, folder: &Path, found: &mut Vec<FileExtent>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            collect_extents(top, &path, found)?;
        } else if kind.is_file() {
            let name = path.strip_prefix(top).unwrap_or(&path).display().to_string();
            // A file that can't be opened or mapped has no extents.
            let extents = File::open(&path).and_then(|file| read_extents(&file)).unwrap_or_default();
            for Extent { logical, physical, length, flags, .. } in extents {
                if flags & NOWHERE == 0 {
                    found.push(FileExtent { path: name.clone(), from: logical, at: physical, bytes: length });
                }
            }
        }
    }
    Ok(())
}

fn read_extents(file: &File) -> io::Result<Vec<Extent>> {
    let mut extents: Vec<Extent> = Vec::new();
    loop {
        let start = extents.last().map_or(0, |extent| extent.logical + extent.length);
        let mut map = ExtentMap {
            start,
            length: u64::MAX - start,
            flags: SYNC,
            mapped: 0,
            count: EXTENTS_PER_CALL as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS_PER_CALL],
        };
        // SAFETY: the file is open, and the kernel writes at most `count` extents behind the head that it is given.
        let status = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP as _, &raw mut map) };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        let batch = map.extents.get(..map.mapped as usize).unwrap_or_default();
        extents.extend(batch);
        if batch.last().is_none_or(|extent| extent.flags & LAST != 0) {
            return Ok(extents);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_lies_on_its_disk_in_the_order_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("within")).unwrap();
        let path = folder.path().join("within/file");
        fs::write(&path, vec![1; 100_000]).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
        let extents = extents_below(folder.path()).unwrap();
        if extents.is_empty() {
            return eprintln!("skipped: this file system does not say where files lie");
        }
        assert!(extents.iter().all(|extent| extent.path == "within/file" && extent.bytes > 0));
        assert_eq!(extents[0].from, 0);
        assert!(extents.windows(2).all(|pair| pair[0].from + pair[0].bytes <= pair[1].from));
        let last = extents.last().unwrap();
        assert!(last.from + last.bytes >= 100_000);
    }
}
