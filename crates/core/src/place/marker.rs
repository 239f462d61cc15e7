//! The marker that says a folder is storebench's, and whose run is at work in it. The run holds it locked: a lock ends with its
//! process, however that ends, and is seen from other containers, where process numbers mean nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use crate::guard::{Folder, Lock, try_lock};

/// The marker's name in its folder.
pub const NAME: &str = ".storebench-work";
/// More than a marker ever holds, in bytes.
const MOST_BYTES: u64 = 4096;
/// How every marker begins.
const BEGINNING: &str = "{\"pid\":";

/// Who made a work folder.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
struct Owner {
    pid: u32,
    /// The process's start in clock ticks since boot, so that a number used again is not taken for it.
    started: Option<u64>,
    #[serde(default)]
    life: Life,
}

/// What tells whether the process that made a work folder is at work.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Life {
    /// Its number: of storebench before it locked markers.
    #[default]
    Process,
    /// The lock on the marker.
    Lock,
    /// Nothing: the file system has no locks.
    Unknown,
}

/// What a marker tells of its folder.
#[derive(Debug)]
pub enum Told {
    /// Its run has ended. The marker stays locked as long as this is kept.
    Ended(File),
    /// A kill left it before anything but its marker was put into it. Locked likewise.
    Unfinished(File),
    /// Its run is at work, or another process is deleting it.
    AtWork,
    /// It can't be told whether its run is at work, as the file system has no locks.
    Unknown,
    /// It is no marker.
    NoMarker,
}

/// Marks a folder that has just been made and is empty, and locks the marker as long as the file is open. `None` when another
/// process took the folder for one that a kill had left, and deleted it.
///
/// # Errors
/// When it can't be written; it may be there.
pub fn write(folder: &Folder) -> io::Result<Option<File>> {
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
    let owner = Owner { pid, started: started(pid), life };
    file.write_all(serde_json::to_string(&owner).unwrap_or_default().as_bytes())?;
    // Whole on the disk before anything else is put beside it: a marker that is not whole stands alone, also after the power
    // has failed.
    file.sync_all()?;
    // Not every file system syncs folders.
    let _ = folder.handle().sync_all();
    Ok(Some(file))
}

/// Reads a folder's marker.
///
/// # Errors
/// [`ErrorKind::NotFound`] when it has none; when it can't be read.
pub fn read(folder: &Folder) -> io::Result<Told> {
    let mut file = match folder.file(OsStr::new(NAME)) {
        // What the system says of links, sockets and folders.
        Err(error) if [libc::ELOOP, libc::ENXIO, libc::EISDIR].map(Some).contains(&error.raw_os_error()) => {
            return Ok(Told::NoMarker);
        }
        other => other?,
    };
    if !file.metadata()?.is_file() {
        return Ok(Told::NoMarker);
    }
    let lock = try_lock(&file)?;
    let mut bytes = Vec::new();
    (&mut file).take(MOST_BYTES).read_to_end(&mut bytes)?;
    // Whoever had it locked before has deleted it since.
    let gone = file.metadata()?.nlink() == 0;
    Ok(match (serde_json::from_slice::<Owner>(&bytes), lock) {
        (_, Lock::Held) => Told::AtWork,
        _ if gone => Told::AtWork,
        (Ok(owner), Lock::Taken) if owner.life == Life::Lock => Told::Ended(file),
        (Ok(owner), _) if owner.life == Life::Process => {
            if owner.is_alive() {
                Told::AtWork
            } else {
                Told::Ended(file)
            }
        }
        (Ok(_), _) => Told::Unknown,
        (Err(_), Lock::Taken) if is_cut_off(&bytes) => Told::Unfinished(file),
        (Err(_), _) => Told::NoMarker,
    })
}

impl Owner {
    fn is_alive(&self) -> bool {
        match started(self.pid) {
            None => std::path::Path::new("/proc").join(self.pid.to_string()).exists(),
            now => now == self.started,
        }
    }
}

/// Whether what can't be read as a marker is the beginning of one, or what a failure of power makes of one.
fn is_cut_off(bytes: &[u8]) -> bool {
    let whole = bytes.len().min(BEGINNING.len());
    bytes[..whole] == BEGINNING.as_bytes()[..whole] || bytes.iter().all(|byte| *byte == 0)
}

fn started(pid: u32) -> Option<u64> {
    procfs::process::Process::new(pid as i32)
        .and_then(|process| process.stat())
        .ok()
        .map(|stat| stat.starttime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_marker_is_told_from_other_text() {
        for cut in ["", "{", "{\"pid\":", "{\"pid\":123,\"star", "\0\0\0"] {
            assert!(is_cut_off(cut.as_bytes()), "{cut:?}");
        }
        for text in ["hello", "{}", "{\"pic\":", "\0\0a"] {
            assert!(!is_cut_off(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn every_marker_begins_alike() {
        let owner = Owner { pid: 1, started: None, life: Life::Lock };
        assert!(serde_json::to_string(&owner).unwrap().starts_with(BEGINNING));
    }
}
