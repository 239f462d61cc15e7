//! A work folder's ledger file. Its first line, the marker, says that the folder is storebench's and which run uses
//! it. Each further line notes a resource that the run holds: it is on the disk before the resource is made, and struck out
//! when it has been released. The run holds the file locked: a lock ends with its process, however that ends, and is visible
//! from other containers, where process numbers mean nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

use serde::{Deserialize, Serialize};

use super::note::Note;
use super::process::start_time;
use storebench_core::guard::{Folder, Lock, try_lock};

pub const NAME: &str = ".storebench-work";
/// More bytes than a ledger ever has: released resources are struck out.
const MOST_BYTES: u64 = 64 << 10;
/// The beginning of every marker.
const MARKER: &str = "{\"pid\":";
/// The beginning of every note.
const NOTE: &str = "{\"held\":";

/// The process that made a work folder.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Owner {
    pid: u32,
    /// The process's start in clock ticks since boot, to recognise a number that was used again.
    started: Option<u64>,
    #[serde(default)]
    life: Life,
}

/// What shows whether the process that made a work folder is alive.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Life {
    /// Its number: versions before locked markers.
    #[default]
    Process,
    /// The lock on the marker.
    Lock,
    /// Nothing: the file system has no locks.
    Unknown,
}

/// The state of a folder, according to its ledger.
#[derive(Debug)]
pub enum LedgerState {
    /// Its run has ended, and left these resources.
    Ended(Leftovers),
    /// A kill left it before anything but its ledger was in it. Locked until this is dropped.
    Unfinished(File),
    /// Its run is alive, or another process is deleting it.
    AtWork,
    /// Unknown: the file system has no locks.
    Unknown,
    /// Its run has ended, and this line, from 1, notes a resource that this version can't release.
    Unreadable(usize),
    NoMarker,
}

/// The resources that a run left when it ended.
#[derive(Debug)]
pub struct Leftovers {
    /// The number of its process.
    pub pid: u32,
    /// Notes of its resources, in the order in which they were taken.
    pub notes: Vec<Note>,
    /// The ledger, locked so that nobody else releases the same.
    _ledger: File,
}

#[derive(Debug)]
pub struct Ledger {
    /// `None` once it is closed.
    file: Option<File>,
    /// The end of each line, the marker's first, in bytes.
    line_ends: Vec<u64>,
}

impl Ledger {
    /// Begins the ledger of a new, empty folder. `None` if another process mistook the folder for one that a kill had left, and deleted
    /// it. If the file can't be written, it may exist.
    pub fn create(folder: &Folder) -> io::Result<Option<Ledger>> {
        let mut file = match folder.make_file(OsStr::new(NAME)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let life = match try_lock(&file)? {
            Lock::Held => return Ok(None),
            Lock::Taken => Life::Lock,
            Lock::Unsupported => Life::Unknown,
        };
        if file.metadata()?.nlink() == 0 {
            return Ok(None);
        }
        let pid = std::process::id();
        let line = json_line(&Owner { pid, started: start_time(pid), life })?;
        file.write_all(&line)?;
        // Completely on the disk before anything else is put into the folder: an incomplete marker is alone, also after a power failure.
        file.sync_all()?;
        // Not every file system syncs folders.
        let _ = folder.handle().sync_all();
        Ok(Some(Ledger { file: Some(file), line_ends: vec![line.len() as u64] }))
    }

    /// Notes a resource that is about to be made. When this returns, the note is on the disk. If it fails, nothing is noted.
    pub fn note(&mut self, note: &Note) -> io::Result<()> {
        let (line, start) = (json_line(note)?, self.end());
        let file = self.file.as_ref().ok_or_else(|| io::Error::other("the ledger is closed"))?;
        // Overwrites bytes that could not be struck out.
        let written = file.set_len(start).and_then(|()| file.write_all_at(&line, start));
        written.and_then(|()| file.sync_data()).inspect_err(|_| {
            let _ = file.set_len(start);
        })?;
        self.line_ends.push(start + line.len() as u64);
        Ok(())
    }

    /// Strikes out the last note: its resource has been released. If that does not reach the disk, the resource is released once
    /// more, which changes nothing.
    pub fn strike_last(&mut self) {
        if self.line_ends.len() > 1 {
            self.line_ends.pop();
            let _ = self.file.as_ref().map(|file| file.set_len(self.end()));
        }
    }

    /// Closes the ledger and ends its lock.
    pub fn close(&mut self) {
        self.file = None;
    }

    fn end(&self) -> u64 {
        self.line_ends.last().copied().unwrap_or_default()
    }
}

fn json_line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a folder's ledger. Fails with [`ErrorKind::NotFound`] if there is none.
pub fn read(folder: &Folder) -> io::Result<LedgerState> {
    let mut file = match folder.file(OsStr::new(NAME)) {
        // The system's errors for links, sockets and folders.
        Err(error) if [libc::ELOOP, libc::ENXIO, libc::EISDIR].map(Some).contains(&error.raw_os_error()) => {
            return Ok(LedgerState::NoMarker);
        }
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Ok(LedgerState::NoMarker);
    }
    let lock = try_lock(&file)?;
    let mut bytes = Vec::new();
    (&mut file).take(MOST_BYTES).read_to_end(&mut bytes)?;
    // Its previous owner has deleted it since.
    let is_gone = file.metadata()?.nlink() == 0;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let marker = lines.next().unwrap_or_default();
    let is_too_long = bytes.len() as u64 == MOST_BYTES;
    let read_leftovers = |owner: &Owner, file: File| match read_notes(lines) {
        Ok(notes) if is_too_long => LedgerState::Unreadable(notes.len() + 1),
        Ok(notes) => LedgerState::Ended(Leftovers { pid: owner.pid, notes, _ledger: file }),
        Err(line) => LedgerState::Unreadable(line),
    };
    Ok(match (serde_json::from_slice::<Owner>(marker), lock) {
        (_, Lock::Held) => LedgerState::AtWork,
        _ if is_gone => LedgerState::AtWork,
        (Ok(owner), Lock::Taken) if owner.life == Life::Lock => read_leftovers(&owner, file),
        (Ok(owner), _) if owner.life == Life::Process => {
            if owner.is_alive() {
                LedgerState::AtWork
            } else {
                read_leftovers(&owner, file)
            }
        }
        (Ok(_), _) => LedgerState::Unknown,
        (Err(_), Lock::Taken) if is_cut_off(&bytes, MARKER) => LedgerState::Unfinished(file),
        (Err(_), _) => LedgerState::NoMarker,
    })
}

/// The notes after the marker. An incomplete last line notes nothing: its resource has not been made. The error is the
/// first line, from 1, that is no note of this version.
fn read_notes<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Note>, usize> {
    let mut notes = Vec::new();
    for (number, line) in (2..).zip(lines) {
        match serde_json::from_slice::<Note>(line) {
            _ if !line.ends_with(b"\n") && is_cut_off(line, NOTE) => {}
            Ok(note) if note.is_sound(NAME) => notes.push(note),
            _ => return Err(number),
        }
    }
    Ok(notes)
}

impl Owner {
    fn is_alive(&self) -> bool {
        match start_time(self.pid) {
            None => std::path::Path::new("/proc").join(self.pid.to_string()).exists(),
            start => start == self.started,
        }
    }
}

/// Whether bytes are an incomplete beginning, or what a power failure makes of one.
fn is_cut_off(bytes: &[u8], beginning: &str) -> bool {
    let length = bytes.len().min(beginning.len());
    bytes[..length] == beginning.as_bytes()[..length] || bytes.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_marker_is_told_from_other_text() {
        for cut in ["", "{", "{\"pid\":", "{\"pid\":123,\"star", "\0\0\0"] {
            assert!(is_cut_off(cut.as_bytes(), MARKER), "{cut:?}");
        }
        for text in ["hello", "{}", "{\"pic\":", "\0\0a"] {
            assert!(!is_cut_off(text.as_bytes(), MARKER), "{text:?}");
        }
    }

    #[test]
    fn every_marker_and_every_note_begins_alike() {
        let owner = Owner { pid: 1, started: None, life: Life::Lock };
        assert!(json_line(&owner).unwrap().starts_with(MARKER.as_bytes()));
        let folder = Note::Folder { name: "trial-1-0".into() };
        for note in [folder, Note::Group { folder: "/sys".into() }, Note::Load { process: None }] {
            assert!(json_line(&note).unwrap().starts_with(NOTE.as_bytes()), "{note:?}");
        }
    }

    #[test]
    fn notes_are_read_up_to_where_a_kill_cut_them_off() {
        let first = Note::Folder { name: "first".into() };
        let second = Note::Load { process: None };
        let text = [json_line(&first).unwrap(), json_line(&second).unwrap()].concat();
        let after_first = json_line(&first).unwrap().len();
        for cut in 0..=text.len() {
            let read = read_notes(text[..cut].split_inclusive(|byte| *byte == b'\n')).unwrap();
            let count = usize::from(cut >= after_first) + usize::from(cut == text.len());
            assert_eq!(read, [first.clone(), second.clone()][..count], "{cut}");
        }
    }

    #[test]
    fn what_is_no_note_is_told_by_its_line() {
        let first = "{\"held\":\"folder\",\"name\":\"a\"}\n";
        for bad in [
            "hello\n",
            "hello",
            "\n",
            "{\"held\":\"time-machine\"}\n",
            "{\"held\":\"folder\",\"name\":\"a\",\"and\":1}\n",
            "{\"held\":\"folder\",\"name\":\"../a\"}\n",
        ] {
            let text = format!("{first}{bad}");
            assert_eq!(read_notes(text.as_bytes().split_inclusive(|byte| *byte == b'\n')), Err(3), "{bad:?}");
        }
    }
}
