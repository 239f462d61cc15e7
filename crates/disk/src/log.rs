//! The log of a disk: every request in order of arrival, with what it wrote. The disk's state at any moment can be made from it.

use std::io::{self, ErrorKind, Read, Write};

use crate::request::{Kind, Nanos, Request};

/// A name and a version.
const HEADER: [u8; 8] = *b"sbdisk\x00\x01";
const ENTRY_BYTES: usize = 32;
const MOST_DATA: u64 = 64 << 20;

/// A request and when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The request.
    pub request: Request,
    /// When it arrived, in nanoseconds since the disk was there.
    pub arrived: Nanos,
    /// The bytes that it wrote.
    pub data: Vec<u8>,
}

/// Writes a log.
pub struct Writer {
    out: Box<dyn Write + Send>,
    /// The number of entries so far.
    pub entries: u64,
}

impl Writer {
    /// Begins a log.
    pub fn new(mut out: Box<dyn Write + Send>) -> io::Result<Writer> {
        out.write_all(&HEADER)?;
        Ok(Writer { out, entries: 0 })
    }

    /// Appends a request with the data that it wrote.
    pub fn append(&mut self, request: &Request, arrived: Nanos, data: &[u8]) -> io::Result<()> {
        let data = if request.kind == Kind::Write { data } else { &[] };
        let mut entry = [0; ENTRY_BYTES];
        entry[0] = code(request.kind);
        entry[1] = u8::from(!data.is_empty());
        for (index, word) in [request.at, request.bytes, arrived].into_iter().enumerate() {
            entry[8 + index * 8..16 + index * 8].copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&entry)?;
        self.out.write_all(data)?;
        self.entries += 1;
        Ok(())
    }

    /// Passes on what it has kept back.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Read => b'r',
        Kind::Write => b'w',
        Kind::Discard => b'd',
        Kind::Flush => b'f',
    }
}

/// Reads a log.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
}

impl<R: Read> Reader<R> {
    /// Begins to read. Fails when it is no log of this version, or can't be read.
    pub fn open(mut source: R) -> io::Result<Reader<R>> {
        let mut header = [0; HEADER.len()];
        source.read_exact(&mut header)?;
        match header == HEADER {
            true => Ok(Reader { source }),
            false => Err(io::Error::new(ErrorKind::InvalidData, "this is no log of a simulated disk")),
        }
    }

    fn entry(&mut self) -> io::Result<Option<Entry>> {
        let mut entry = [0; ENTRY_BYTES];
        match self.source.read(&mut entry[..1])? {
            0 => return Ok(None),
            _ => self.source.read_exact(&mut entry[1..])?,
        }
        let kind = match entry[0] {
            b'r' => Kind::Read,
            b'w' => Kind::Write,
            b'd' => Kind::Discard,
            b'f' => Kind::Flush,
            _ => return Err(damage_error()),
        };
        let word = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&entry[8 + index * 8..16 + index * 8]);
            u64::from_le_bytes(bytes)
        };
        let request = Request { kind, at: word(0), bytes: word(1) };
        let data_bytes = if entry[1] == 1 { request.bytes } else { 0 };
        if data_bytes > MOST_DATA {
            return Err(damage_error());
        }
        let mut data = vec![0; data_bytes as usize];
        self.source.read_exact(&mut data)?;
        Ok(Some(Entry { request, arrived: word(2), data }))
    }
}

fn damage_error() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the log of the simulated disk is damaged")
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        self.entry().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Vec<u8> {
        let (mut pipe, out) = io::pipe().unwrap();
        let mut writer = Writer::new(Box::new(out)).unwrap();
        writer.append(&Request::read(4096, 512), 1, &[9; 512]).unwrap();
        writer.append(&Request::write(8192, 3), 3, &[1, 2, 3]).unwrap();
        writer.append(&Request::discard(0, 1 << 40), 5, &[]).unwrap();
        writer.append(&Request::flush(), 6, &[]).unwrap();
        drop(writer);
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let bytes = log();
        let entries: Vec<Entry> = Reader::open(&bytes[..]).unwrap().map(Result::unwrap).collect();
        let expected = [
            (Request::read(4096, 512), 1, Vec::new()),
            (Request::write(8192, 3), 3, vec![1, 2, 3]),
            (Request::discard(0, 1 << 40), 5, Vec::new()),
            (Request::flush(), 6, Vec::new()),
        ];
        assert_eq!(entries, expected.map(|(request, arrived, data)| Entry { request, arrived, data }));
    }

    #[test]
    fn a_log_that_is_cut_off_or_damaged_is_told() {
        let bytes = log();
        for cut in HEADER.len()..bytes.len() {
            let read: Result<Vec<Entry>, io::Error> = Reader::open(&bytes[..cut]).unwrap().collect();
            let entry_count = read.as_ref().map_or(0, Vec::len);
            assert!(read.is_err() || entry_count * ENTRY_BYTES + HEADER.len() <= cut, "{cut}");
        }
        let mut changed = bytes.clone();
        changed[HEADER.len()] = b'x';
        assert!(Reader::open(&changed[..]).unwrap().next().unwrap().is_err());
        changed[7] = 9;
        assert!(Reader::open(&changed[..]).is_err() && Reader::open(&bytes[..3]).is_err());
    }
}
