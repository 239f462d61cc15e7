//! The files that the kernel sees: the disk, and its counts.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, WriteFlags,
};

use super::{Answer, SharedDisk};
use crate::names::{COUNTS, DISK};
use crate::request::Request;

/// How long the kernel may cache a file's attributes.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// Requests that the kernel may have under way: more than any disk's queue holds.
const UNDER_WAY: u16 = 256;

const FOLDER: INodeNo = INodeNo::ROOT;
const DISK_FILE: INodeNo = INodeNo(2);
const COUNTS_FILE: INodeNo = INodeNo(3);

pub struct Files {
    shared: Arc<SharedDisk>,
    /// The counts when their file was opened.
    open_counts: Mutex<HashMap<u64, Vec<u8>>>,
    next: AtomicU64,
}

impl Files {
    pub fn new(shared: Arc<SharedDisk>) -> Files {
        Files { shared, open_counts: Mutex::default(), next: AtomicU64::new(1) }
    }

    fn attributes(&self, file: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match file {
            FOLDER => (FileType::Directory, 0o700, 0),
            DISK_FILE => (FileType::RegularFile, 0o600, self.shared.image.bytes),
            COUNTS_FILE => (FileType::RegularFile, 0o400, 0),
            _ => return None,
        };
        Some(FileAttr {
            ino: file,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn locked_handles(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<u8>>> {
        self.open_counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Filesystem for Files {
    fn init(&mut self, _request: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        // Requests that a loop device makes at once must arrive at once; an older kernel sends them one by one.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(UNDER_WAY);
        let _ = config.set_congestion_threshold(UNDER_WAY);
        Ok(())
    }

    fn lookup(&self, _request: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let file = match name.to_str() {
            Some(DISK) if parent == FOLDER => DISK_FILE,
            Some(COUNTS) if parent == FOLDER => COUNTS_FILE,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(file) {
            Some(attributes) => reply.entry(&KNOWN_FOR, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &fuser::Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(file) {
            Some(attributes) => reply.attr(&KNOWN_FOR, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _request: &fuser::Request, file: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        if file == COUNTS_FILE {
            let text = serde_json::to_vec(&self.shared.counts()).unwrap_or_default();
            self.locked_handles().insert(handle, text);
        }
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(handle), flags);
    }

    fn release(
        &self,
        _request: &fuser::Request,
        _file: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.locked_handles().remove(&handle.0);
        reply.ok();
    }

    fn read(
        &self,
        _request: &fuser::Request,
        file: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrived = self.shared.now();
        if file == DISK_FILE {
            let bytes = self.shared.image.bytes.saturating_sub(offset).min(u64::from(size));
            let request = Request::read(offset, bytes);
            return match self.shared.fails(&request, &[]) {
                false => self.shared.take(request, &[], Answer::Read(reply), arrived),
                true => reply.error(Errno::EIO),
            };
        }
        let open_counts = self.locked_handles();
        let text = open_counts.get(&handle.0).map(Vec::as_slice).unwrap_or_default();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        let end = start.saturating_add(size as usize).min(text.len());
        reply.data(&text[start..end]);
    }

    fn write(
        &self,
        _request: &fuser::Request,
        file: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrived = self.shared.now();
        if file != DISK_FILE {
            return reply.error(Errno::EACCES);
        }
        let request = Request::write(offset, data.len() as u64);
        if self.shared.fails(&request, data) {
            return reply.error(Errno::EIO);
        }
        match self.shared.image.write(data, offset) {
            Ok(()) => self.shared.take(request, data, Answer::Write(reply), arrived),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => reply.error(Errno::ENOSPC),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn flush(
        &self,
        _request: &fuser::Request,
        _file: INodeNo,
        _handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        // About a closed descriptor, not the disk.
        reply.ok();
    }

    fn fsync(
        &self,
        _request: &fuser::Request,
        file: INodeNo,
        _handle: FileHandle,
        _data_only: bool,
        reply: ReplyEmpty,
    ) {
        let arrived = self.shared.now();
        match file == DISK_FILE {
            true if self.shared.fails(&Request::flush(), &[]) => reply.error(Errno::EIO),
            true => self.shared.take(Request::flush(), &[], Answer::Empty(reply), arrived),
            false => reply.ok(),
        }
    }

    fn fallocate(
        &self,
        _request: &fuser::Request,
        file: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let arrived = self.shared.now();
        if file != DISK_FILE {
            return reply.error(Errno::EACCES);
        }
        if mode & (PUNCH_HOLE | ZERO_RANGE) == 0 {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let request = Request::discard(offset, length);
        if self.shared.fails(&request, &[]) {
            return reply.error(Errno::EIO);
        }
        match self.shared.image.discard(offset, length) {
            Ok(()) => self.shared.take(request, &[], Answer::Empty(reply), arrived),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn readdir(
        &self,
        _request: &fuser::Request,
        file: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if file != FOLDER {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (FOLDER, FileType::Directory, "."),
            (FOLDER, FileType::Directory, ".."),
            (DISK_FILE, FileType::RegularFile, DISK),
            (COUNTS_FILE, FileType::RegularFile, COUNTS),
        ];
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (file, kind, name)) in (1..).zip(entries).skip(skipped) {
            if reply.add(file, index, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}

// From the kernel's include/uapi/linux/falloc.h.
const PUNCH_HOLE: i32 = 0x02;
const ZERO_RANGE: i32 = 0x10;
