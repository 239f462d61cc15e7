//! Emptying the page cache before the reads of a cold cell, and looking at what it holds.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;

use procfs_core::FromBufRead;
use procfs_core::process::{MMPermissions, MMapPath, MemoryMaps};
use storebench_model::words::words;

use crate::kernel::{mounts, system};

/// The means by which the page cache was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptiedCache {
    method: EmptyingMethod,
    /// Whether a program with its own memory mounts the file system.
    by_program: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
enum EmptyingMethod {
    /// The machine's whole page cache, with names and inodes, by /proc/sys/vm/drop_caches, which takes root.
    DropCaches,
    /// The content of the store's files, by posix_fadvise.
    #[strum(serialize = "posix_fadvise")]
    Advice,
}

words!(EmptyingMethod);

impl EmptiedCache {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        self.method.name()
    }

    /// What a read may need and stays in memory.
    pub(crate) fn left_warm(self) -> Option<&'static str> {
        match (self.method, self.by_program) {
            (EmptyingMethod::DropCaches, false) => None,
            (EmptyingMethod::DropCaches, true) => Some("what the file system's program holds itself"),
            (EmptyingMethod::Advice, false) => Some("names, inodes and other metadata of the file system"),
            (EmptyingMethod::Advice, true) => {
                Some("names, inodes and other metadata of the file system, and what its program holds itself")
            }
        }
    }
}

/// Syncs all that is dirty and empties the page cache of the files below `folder`, which nobody has open. As root, dentries and
/// inodes are dropped, too: opening a file of an unused folder reads them from disk. Without root they stay, and finding the
/// files to advise on warms them. If a program mounts the file system, the cache of its image or device is emptied as well, if
/// this user may open that.
pub fn empty(folder: &Path) -> io::Result<EmptiedCache> {
    super::device::sync_file_system(folder)?;
    let mount = mounts::holding(&folder.canonicalize()?)?.filter(|mount| mount.kind.starts_with("fuse"));
    let by_program = mount.is_some();
    let image = mount.map(|mount| mount.source).filter(|source| source.is_absolute());
    let image = image.and_then(|source| File::open(source).ok());
    image.as_ref().map_or(Ok(()), File::sync_all)?;
    // 1 is the page cache, 2 names and inodes; clean ones alone, hence after the sync.
    if fs::write("/proc/sys/vm/drop_caches", "3").is_ok() {
        return Ok(EmptiedCache { method: EmptyingMethod::DropCaches, by_program });
    }
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path());
            } else {
                system::drop_cache(&File::open(entry.path())?)?;
            }
        }
    }
    if let Some(image) = image {
        system::drop_cache(&image)?;
    }
    Ok(EmptiedCache { method: EmptyingMethod::Advice, by_program })
}

/// Reads this program's code, constants and libraries, so that what follows [`empty`] does not wait for them. No store is open
/// yet. Does nothing if the system does not list mappings.
pub(crate) fn fill_with_program() -> io::Result<()> {
    let maps_file = match File::open("/proc/self/maps") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let maps = MemoryMaps::from_buf_read(BufReader::new(maps_file)).map_err(io::Error::other)?;
    let mut buffer = vec![0; READ_BYTES as usize];
    for map in maps.0.iter().filter(|map| !map.perms.contains(MMPermissions::WRITE)) {
        let MMapPath::Path(path) = &map.pathname else { continue };
        // A file that was replaced meanwhile, or that this user may not read, stays as it is.
        let Ok(file) = File::open(path) else { continue };
        let end = map.offset + (map.address.1 - map.address.0);
        let mut offset = map.offset;
        while offset < end {
            match file.read_at(&mut buffer[..READ_BYTES.min(end - offset) as usize], offset)? {
                0 => break,
                length => offset += length as u64,
            }
        }
    }
    Ok(())
}

const READ_BYTES: u64 = 1 << 20;

const WINDOW_BYTES: u64 = 1 << 30;

/// The bytes of a file in the page cache, in whole pages. The file must be this user's: for others' files the kernel says that
/// all is there. Some file systems map no files, and fail.
pub(crate) fn resident_bytes(file: &File) -> io::Result<u64> {
    let (length, page) = (file.metadata()?.len(), rustix::param::page_size() as u64);
    let mut pages = vec![0_u8; WINDOW_BYTES.min(length).div_ceil(page) as usize];
    let mut resident = 0;
    for start in (0..length).step_by(WINDOW_BYTES as usize) {
        let bytes = WINDOW_BYTES.min(length - start);
        let pages = &mut pages[..bytes.div_ceil(page) as usize];
        fill_resident(file, start, bytes as usize, pages)?;
        resident += pages.iter().filter(|page| **page & 1 == 1).count() as u64;
    }
    Ok(resident * page)
}

/// Fills in which pages of a part are in the page cache, without reading any.
fn fill_resident(file: &File, start: u64, bytes: usize, pages: &mut [u8]) -> io::Result<()> {
    let (fd, start) = (file.as_raw_fd(), start as libc::off_t);
    // SAFETY: a new mapping that nothing reads or writes.
    let mapped = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, fd, start) };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping made above, and a byte for each of its pages.
    let status = unsafe { libc::mincore(mapped, bytes, pages.as_mut_ptr().cast()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping made above, which nothing uses any more.
    unsafe { libc::munmap(mapped, bytes) };
    if status == 0 { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::collections::BTreeSet;
    use std::io::Write;

    #[cfg(target_os = "linux")]
    use procfs_core::process::MemoryMap;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_is_in_the_page_cache_once_it_was_read() {
        let program_path = fs::read_link("/proc/self/exe").unwrap();
        let maps = BufReader::new(File::open("/proc/self/maps").unwrap());
        let maps = MemoryMaps::from_buf_read(maps).unwrap();
        let is_of_program = |map: &&MemoryMap| {
            map.pathname == MMapPath::Path(program_path.clone()) && !map.perms.contains(MMPermissions::WRITE)
        };
        let page = rustix::param::page_size() as u64;
        // A page in which one part ends and the next begins is mapped twice.
        let end_of = |map: &MemoryMap| map.offset + map.address.1 - map.address.0;
        let pages_of = |map: &MemoryMap| map.offset / page..end_of(map) / page;
        let pages: BTreeSet<u64> = maps.0.iter().filter(is_of_program).flat_map(pages_of).collect();
        let program_bytes = pages.len() as u64 * page;
        let program = File::open(&program_path).unwrap();
        // Pages that are in use stay; much of a program never is.
        system::drop_cache(&program).unwrap();
        // Another test may empty the machine's page cache in between.
        let mut tries = (0..20).map(|_| {
            fill_with_program().unwrap();
            resident_bytes(&program).unwrap()
        });
        assert!(program_bytes > 0 && tries.any(|resident| resident >= program_bytes), "{program_bytes}");
    }

    #[test]
    fn what_was_written_is_in_the_page_cache_and_what_is_a_hole_is_not() {
        let page = rustix::param::page_size();
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 0);
        file.write_all(&vec![1; 5 * page + 1]).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 6 * page as u64);
        file.set_len(WINDOW_BYTES + 3 * page as u64).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 6 * page as u64);
    }
}
