//! Faults of a disk: requests that fail, caches that are lost, and bits that are flipped.

use std::io;

use serde::{Deserialize, Serialize};

use crate::request::Kind;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Requests of one kind fail.
    Fails {
        /// The kind.
        kind: Kind,
        /// Requests of it that go well before.
        after: u64,
        /// Whether all fail from then on, or one.
        lasts: bool,
        /// Whether a failing write has written the first half of its sectors, and a failing flush has lost what was written since
        /// the one before.
        harms: bool,
    },
    /// A bit on the disk is flipped.
    Flips {
        /// Its number, from the first bit of the disk on.
        bit: u64,
    },
}

/// The bytes of a disk that a fault needs to know.
pub trait DiskBytes {
    /// Reads bytes that are there.
    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes bytes.
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()>;
}

/// A fault of a disk that is at work.
#[derive(Debug)]
pub struct Faulty {
    fault: Fault,
    seen: u64,
    struck: u64,
    /// The bytes before each write since the last flush, if the fault can restore them.
    old_bytes: Vec<(u64, Vec<u8>)>,
}

/// The end of a request that has failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedRequest {
    /// The first bytes of it that were written all the same.
    pub written: u64,
    /// Old bytes that are on the disk again, as a cache has lost the writes over them.
    pub restored: Vec<(u64, Vec<u8>)>,
}

const SECTOR: u64 = 512;

impl Faulty {
    /// A fault of a disk that begins to work.
    pub fn new(fault: Fault, disk: &impl DiskBytes) -> io::Result<Faulty> {
        let mut struck = 0;
        if let Fault::Flips { bit } = fault {
            let mut byte = [0];
            disk.read(bit / 8, &mut byte)?;
            byte[0] ^= 1 << (bit % 8);
            disk.write(bit / 8, &byte)?;
            struck = 1;
        }
        Ok(Faulty { fault, seen: 0, struck, old_bytes: Vec::new() })
    }

    /// Requests that it has made fail, or bits that it has flipped.
    pub fn strike_count(&self) -> u64 {
        self.struck
    }

    /// Whether a request fails, decided before it has any effect, and how far it came.
    pub fn fails(
        &mut self,
        kind: Kind,
        offset: u64,
        bytes: u64,
        disk: &impl DiskBytes,
    ) -> io::Result<Option<FailedRequest>> {
        let Fault::Fails { kind: failing_kind, after, lasts, harms } = self.fault else { return Ok(None) };
        if kind == failing_kind {
            self.seen += 1;
            if self.seen > after && (lasts || self.struck == 0) {
                self.struck += 1;
                let mut failed = FailedRequest::default();
                match kind {
                    Kind::Flush if harms => {
                        failed.restored = self.old_bytes.drain(..).rev().collect();
                        failed.restored.iter().try_for_each(|(offset, bytes)| disk.write(*offset, bytes))?;
                    }
                    Kind::Write if harms => failed.written = bytes / 2 / SECTOR * SECTOR,
                    _ => {}
                }
                return Ok(Some(failed));
            }
        }
        if failing_kind == Kind::Flush && harms && self.struck == 0 {
            match kind {
                Kind::Write | Kind::Discard => {
                    let mut old = vec![0; usize::try_from(bytes).unwrap_or_default()];
                    disk.read(offset, &mut old)?;
                    self.old_bytes.push((offset, old));
                }
                Kind::Flush => self.old_bytes.clear(),
                Kind::Read => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    struct Memory(RefCell<Vec<u8>>);

    impl DiskBytes for Memory {
        fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
            bytes.copy_from_slice(&self.0.borrow()[at as usize..][..bytes.len()]);
            Ok(())
        }

        fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
            self.0.borrow_mut()[at as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    fn memory() -> Memory {
        Memory(RefCell::new(vec![0; 8192]))
    }

    /// Writes its number from 1 on, with a flush after every second; gives which requests failed.
    fn work(fault: Fault, disk: &Memory) -> Vec<(Kind, u8)> {
        let mut faulty = Faulty::new(fault, disk).unwrap();
        let mut failed = Vec::new();
        for number in 1..=6 {
            match faulty.fails(Kind::Write, 0, 4096, disk).unwrap() {
                Some(FailedRequest { written, .. }) => {
                    disk.write(0, &vec![number; written as usize]).unwrap();
                    failed.push((Kind::Write, number));
                }
                None => disk.write(0, &[number; 4096]).unwrap(),
            }
            if number % 2 == 0 && faulty.fails(Kind::Flush, 0, 0, disk).unwrap().is_some() {
                failed.push((Kind::Flush, number));
            }
        }
        assert_eq!(faulty.strike_count(), failed.len() as u64);
        failed
    }

    fn fails(kind: Kind, after: u64, lasts: bool, harms: bool) -> Fault {
        Fault::Fails { kind, after, lasts, harms }
    }

    #[test]
    fn one_request_fails_or_all_from_it_on() {
        let disk = memory();
        assert_eq!(work(fails(Kind::Write, 2, false, false), &disk), [(Kind::Write, 3)]);
        let from_fifth = [(Kind::Write, 5), (Kind::Write, 6)];
        assert_eq!(work(fails(Kind::Write, 4, true, false), &disk), from_fifth);
        assert_eq!(disk.0.borrow()[0], 4, "what failed was not written");
        assert_eq!(work(fails(Kind::Flush, 1, false, false), &disk), [(Kind::Flush, 4)]);
        assert_eq!(disk.0.borrow()[0], 6);
    }

    #[test]
    fn a_short_write_writes_half() {
        let disk = memory();
        work(fails(Kind::Write, 5, false, true), &disk);
        let bytes = disk.0.borrow();
        assert_eq!((bytes[2047], bytes[2048]), (6, 5));
    }

    #[test]
    fn a_flush_that_fails_loses_what_came_since_the_one_before() {
        let disk = memory();
        assert_eq!(work(fails(Kind::Flush, 2, false, true), &disk), [(Kind::Flush, 6)]);
        assert_eq!(disk.0.borrow()[0], 4);
    }

    #[test]
    fn a_bit_is_flipped_once() {
        let disk = memory();
        assert_eq!(Faulty::new(Fault::Flips { bit: 8 * 5 + 3 }, &disk).unwrap().strike_count(), 1);
        assert_eq!(disk.0.borrow()[5], 8);
        assert_eq!(disk.0.borrow().iter().filter(|byte| **byte != 0).count(), 1);
    }
}
