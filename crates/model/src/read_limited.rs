//! Reads files that others wrote within bounds: the length is known before memory is taken for it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::units::exact_bytes;

/// Opens a plain file. Others, such as a pipe, might never end: the error is [`ErrorKind::Other`].
pub fn plain_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Reads a plain file of at most `max_bytes` bytes; the error for longer ones is [`ErrorKind::FileTooLarge`].
pub fn bytes(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_all(plain_file(path)?, max_bytes)
}

/// Reads an open file of at most `max_bytes` bytes; the error for longer ones is [`ErrorKind::FileTooLarge`].
pub fn read_all(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > max_bytes {
        return Err(too_long(max_bytes));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize)?;
    read_rest(file, max_bytes, &mut bytes)?;
    Ok(bytes)
}

/// Reads text of at most `max_bytes` bytes from a file or a pipe; the error for longer ones is [`ErrorKind::FileTooLarge`].
pub fn text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    read_rest(File::open(path)?, max_bytes, &mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Reads the rest of a source, of at most `max_bytes` bytes; the error for longer ones is [`ErrorKind::FileTooLarge`].
pub fn read_rest(source: impl Read, max_bytes: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    source.take(max_bytes + 1).read_to_end(bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_long(max_bytes)) } else { Ok(()) }
}

/// The error for a file of more bytes.
pub fn too_long(max_bytes: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it is longer than {}", exact_bytes(max_bytes)))
}

/// The first bytes of a plain file, up to `max_bytes`.
pub fn start(path: &Path, max_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    plain_file(path)?.take(max_bytes as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last bytes of a plain file, up to `max_bytes`; none if it can't be read.
pub fn end(path: &Path, max_bytes: u64) -> Vec<u8> {
    plain_file(path).and_then(|file| read_end(file, max_bytes)).unwrap_or_default()
}

/// The last bytes of an open file, at most `max_bytes`.
pub fn read_end(mut file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    let offset = file.metadata()?.len().saturating_sub(max_bytes);
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A source that stops after a number of bytes until it is allowed more, so that each piece is bounded.
pub struct RationedReader<R> {
    source: R,
    remaining: u64,
    max_bytes: u64,
}

impl<R: Read> RationedReader<R> {
    /// A source of pieces of up to `max_bytes` bytes.
    pub fn new(source: R, max_bytes: u64) -> RationedReader<R> {
        RationedReader { source, remaining: max_bytes, max_bytes }
    }

    /// Allows another piece.
    pub fn allow_more(&mut self) {
        self.remaining = self.max_bytes;
    }

    /// The source.
    pub fn into_inner(self) -> R {
        self.source
    }
}

impl<R: Read> Read for RationedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.remaining == 0 {
            let message = format!("more than {} without an end", exact_bytes(self.max_bytes));
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        let room =
            usize::try_from(self.remaining).map_or(buffer.len(), |remaining| remaining.min(buffer.len()));
        let read = self.source.read(&mut buffer[..room])?;
        self.remaining -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_too_long_or_no_file_is_told_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "hello").unwrap();
        assert_eq!(bytes(&path, 5).unwrap(), b"hello");
        assert_eq!(text(&path, 5).unwrap(), "hello");
        assert_eq!((end(&path, 3), end(&path, 9)), (b"llo".to_vec(), b"hello".to_vec()));
        for error in [bytes(&path, 4).unwrap_err(), text(&path, 4).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::FileTooLarge);
            assert_eq!(error.to_string(), "it is longer than 4B");
        }
        File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(bytes(&path, 1 << 30).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(bytes(&path, 1 << 43).is_err(), "no memory is so large");
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(bytes(&pipe, 5).unwrap_err().to_string(), "it is not a file");
        assert_eq!(bytes(folder.path(), 5).unwrap_err().to_string(), "it is not a file");
        assert!(end(&pipe, 5).is_empty());
        assert!(text(Path::new("/dev/zero"), 5).is_err());
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(text(&path, 5).unwrap_err().to_string(), "it is not text in UTF-8");
    }

    #[test]
    fn a_piece_without_an_end_is_an_error_and_each_piece_has_its_own_ration() {
        let mut source = RationedReader::new(&b"aaaabbbbcccc"[..], 5);
        let mut piece = [0; 4];
        source.read_exact(&mut piece).unwrap();
        source.allow_more();
        source.read_exact(&mut piece).unwrap();
        assert_eq!(&piece, b"bbbb");
        let error = source.read_exact(&mut piece).unwrap_err();
        assert_eq!(error.to_string(), "more than 5B without an end");
    }
}
