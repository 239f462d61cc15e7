//! Faults of a disk: requests that fail, caches that are lost, and bits that are flipped.

#[cfg(target_os = "linux")]
use std::io;

use serde::{Deserialize, Serialize};

use crate::request::Kind;
#[cfg(target_os = "linux")]
use crate::{image::Image, request::Request};

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

/// A fault of a disk that is at work.
#[derive(Debug)]
pub struct Faulty {
    fault: Fault,
    seen: u64,
    /// Requests that it has made fail, or bits that it has flipped.
    pub struck: u64,
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

#[cfg(target_os = "linux")]
impl Faulty {
    /// A fault of a disk that begins to work.
    pub fn new(fault: Fault, disk: &Image) -> io::Result<Faulty> {
        let mut struck = 0;
        if let Fault::Flips { bit } = fault {
            let mut byte = [0];
            disk.read_exact(&mut byte, bit / 8)?;
            byte[0] ^= 1 << (bit % 8);
            disk.write(&byte, bit / 8)?;
            struck = 1;
        }
        Ok(Faulty { fault, seen: 0, struck, old_bytes: Vec::new() })
    }

    /// Whether a request fails, decided before it has any effect, and how far it came.
    pub fn fails(&mut self, request: &Request, disk: &Image) -> io::Result<Option<FailedRequest>> {
        let Request { kind, at: offset, bytes } = *request;
        let Fault::Fails { kind: failing_kind, after, lasts, harms } = self.fault else { return Ok(None) };
        if kind == failing_kind {
            self.seen += 1;
            if self.seen > after && (lasts || self.struck == 0) {
                self.struck += 1;
                let mut failed = FailedRequest::default();
                match kind {
                    Kind::Flush if harms => {
                        failed.restored = self.old_bytes.drain(..).rev().collect();
                        failed.restored.iter().try_for_each(|(offset, bytes)| disk.write(bytes, *offset))?;
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
                    disk.read_exact(&mut old, offset)?;
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
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn memory() -> Image {
        Image::in_memory(8192).unwrap()
    }

    fn bytes_of(disk: &Image) -> [u8; 8192] {
        let mut bytes = [0; 8192];
        disk.read_exact(&mut bytes, 0).unwrap();
        bytes
    }

    /// Writes its number from 1 on, with a flush after every second; gives which requests failed.
    fn work(fault: Fault, disk: &Image) -> Vec<(Kind, u8)> {
        let mut faulty = Faulty::new(fault, disk).unwrap();
        let mut failed = Vec::new();
        for number in 1..=6 {
            match faulty.fails(&Request::write(0, 4096), disk).unwrap() {
                Some(FailedRequest { written, .. }) => {
                    disk.write(&vec![number; written as usize], 0).unwrap();
                    failed.push((Kind::Write, number));
                }
                None => disk.write(&[number; 4096], 0).unwrap(),
            }
            if number % 2 == 0 && faulty.fails(&Request::flush(), disk).unwrap().is_some() {
                failed.push((Kind::Flush, number));
            }
        }
        assert_eq!(faulty.struck, failed.len() as u64);
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
        assert_eq!(bytes_of(&disk)[0], 4, "what failed was not written");
        assert_eq!(work(fails(Kind::Flush, 1, false, false), &disk), [(Kind::Flush, 4)]);
        assert_eq!(bytes_of(&disk)[0], 6);
    }

    #[test]
    fn a_short_write_writes_half_and_a_flush_that_fails_loses_what_came_since_the_one_before() {
        let disk = memory();
        work(fails(Kind::Write, 5, false, true), &disk);
        let bytes = bytes_of(&disk);
        assert_eq!((bytes[2047], bytes[2048]), (6, 5));
        assert_eq!(work(fails(Kind::Flush, 2, false, true), &disk), [(Kind::Flush, 6)]);
        assert_eq!(bytes_of(&disk)[0], 4);
    }

    #[test]
    fn a_bit_is_flipped_once() {
        let disk = memory();
        assert_eq!(Faulty::new(Fault::Flips { bit: 8 * 5 + 3 }, &disk).unwrap().struck, 1);
        let bytes = bytes_of(&disk);
        assert_eq!((bytes[5], bytes.iter().filter(|byte| **byte != 0).count()), (8, 1));
    }
}
