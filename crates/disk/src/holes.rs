//! Files with holes, which take no room on the disk and read as zeros.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, seek};

const READ_AT_ONCE: u64 = 1 << 20;

/// Reports each part of a file that is no hole: its position, and the bytes.
pub fn data(file: &File, mut handle_data: impl FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut buffer = vec![0; READ_AT_ONCE as usize];
    let mut offset = 0;
    while offset < length {
        let start = match seek(file, SeekFrom::Data(offset)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(rustix::io::Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = seek(file, SeekFrom::Hole(start))?.min(length);
        offset = start;
        while offset < end {
            let chunk = (end - offset).min(READ_AT_ONCE) as usize;
            file.read_exact_at(&mut buffer[..chunk], offset)?;
            handle_data(offset, &buffer[..chunk])?;
            offset += chunk as u64;
        }
    }
    Ok(())
}
