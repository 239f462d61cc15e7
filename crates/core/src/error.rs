//! Errors that reach a user: one clear line, what to do, and an exit code for each kind.

use std::fmt;
use std::io;
use std::path::Path;

use crate::shown::{piece, quoted};
use crate::words::words;

/// How the program ends, with an exit code each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray)]
pub enum Exit {
    /// Everything worked.
    Success,
    /// Something failed that has no code.
    Failure,
    /// The command line can't be understood.
    Usage,
    /// A store that storebench does not know, or that this build lacks.
    UnknownStore,
    /// A value on the command line that can't be read or used: of an axis, a size, a count, a duration, a directory.
    BadValue,
    /// A plan that can't be read or does not make sense.
    BadPlan,
    /// A directory that is not storebench's.
    NotStorebench,
    /// A run written in another version of the format, or by other versions of the engines.
    OtherVersion,
    /// The system does not permit it.
    Permission,
    /// The disk is read-only.
    ReadOnly,
    /// The disk is full, or has too little room for any cell.
    DiskFull,
    /// Another process is at work on this run.
    Busy,
    /// No cell is left to run, or no result to show.
    Nothing,
    /// The run ended, and some of its trials failed.
    TrialsFailed,
    /// The runs to compare or merge are of unlike machines or plans.
    Unlike,
    /// A comparison found figures that are worse by more than was allowed.
    Worse,
    /// This machine can't run all of the studies that were asked about.
    Incomplete,
    /// The other machine or a running server can't be reached, or the connection to it is lost.
    Unreachable,
    /// A run is incomplete or was changed, or other programs disturbed it.
    Unsound,
    /// A check of power cuts shows a danger that was not known of the store with these settings.
    Danger,
    /// Interrupted; finished results are kept.
    Interrupted,
}

words!(Exit, every);

impl Exit {
    /// Its meaning, in a line of the help.
    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Success => "everything was done",
            Exit::Failure => "an error that has no other code",
            Exit::Usage => "the command line can't be understood",
            Exit::UnknownStore => "an unknown store, or one that this build lacks",
            Exit::BadValue => "a value on the command line that can't be used",
            Exit::BadPlan => "a study or plan that can't be read or is contradictory",
            Exit::NotStorebench => "a folder that is not a run, or a file that is not storebench's",
            Exit::OtherVersion => "a run in a newer format, or of other engine versions",
            Exit::Permission => "no permission",
            Exit::ReadOnly => "the file system is read-only",
            Exit::DiskFull => "the disk is full, or too small for any cell",
            Exit::Busy => "another process is using this run",
            Exit::Nothing => "no cell to run, or no result to show",
            Exit::TrialsFailed => "the run ended, but some of its trials failed",
            Exit::Unlike => "compare, merge: the runs have different machines or plans",
            Exit::Worse => "compare --fail-above: figures are worse, or cells fail",
            Exit::Incomplete => "doctor: this machine can't run all of the studies",
            Exit::Unreachable => "--remote, --url: no connection, or it was lost",
            Exit::Unsound => "check: a run is incomplete, changed or disturbed",
            Exit::Danger => "power cuts cost a store more than is known of it",
            Exit::Interrupted => "interrupted; finished results are kept",
        }
    }

    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::UnknownStore => 10,
            Exit::BadValue => 11,
            Exit::BadPlan => 12,
            Exit::NotStorebench => 13,
            Exit::OtherVersion => 14,
            Exit::Permission => 15,
            Exit::ReadOnly => 16,
            Exit::DiskFull => 17,
            Exit::Busy => 18,
            Exit::Nothing => 19,
            Exit::TrialsFailed => 20,
            Exit::Unlike => 21,
            Exit::Worse => 22,
            Exit::Incomplete => 23,
            Exit::Unreachable => 24,
            Exit::Unsound => 25,
            Exit::Danger => 26,
            Exit::Interrupted => 130,
        }
    }
}

/// An error that ends the program.
#[derive(Debug)]
pub struct Error {
    /// The exit code.
    pub exit: Exit,
    /// The message: what is wrong, where, and what to do.
    pub message: String,
}

/// The result of what can end the program.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of one kind.
    pub fn new(exit: Exit, message: impl Into<String>) -> Error {
        Error { exit, message: message.into() }
    }

    /// A value that is not allowed.
    pub fn bad_value(message: impl Into<String>) -> Error {
        Error::new(Exit::BadValue, message)
    }

    /// A system error while `doing` something with `path`, with the exit code of its kind; for `map_err`.
    pub fn io(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |error| {
            let (exit, advice) = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    (Exit::Permission, ": choose a directory of your own, or change its permissions")
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    (Exit::ReadOnly, ": choose a directory on a disk that can be written")
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    (Exit::DiskFull, ": make room, or choose another disk")
                }
                _ => (Exit::Failure, ""),
            };
            Error::new(exit, format!("{doing} {}: {error}{advice}", path.display()))
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

const LONGEST_NAME: usize = 100;

/// The candidate that is most like `word`, if any is.
pub fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names are short, and comparing long text with long text takes minutes.
    candidates
        .into_iter()
        .filter(|candidate| word.len().max(candidate.len()) <= LONGEST_NAME)
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// The sentence about an unknown `name`: what was probably meant, and what is known.
pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = meant(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |meant| format!(" (did you mean {}?)", piece(meant)));
    let known: Vec<_> = known.into_iter().map(piece).collect();
    format!("there is no {what} {}{hint}; there are {}", quoted(name), known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_a_code_of_its_own() {
        let mut codes: Vec<_> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Exit::ALL.len());
    }

    #[test]
    fn system_errors_get_the_code_of_their_kind() {
        let exit = |kind: io::ErrorKind| Error::io("writing", Path::new("x"))(kind.into()).exit;
        assert_eq!(exit(io::ErrorKind::PermissionDenied), Exit::Permission);
        assert_eq!(exit(io::ErrorKind::ReadOnlyFilesystem), Exit::ReadOnly);
        assert_eq!(exit(io::ErrorKind::StorageFull), Exit::DiskFull);
        assert_eq!(exit(io::ErrorKind::Other), Exit::Failure);
    }

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(meant("sqllite", ["sqlite", "leveldb"]), Some("sqlite"));
        assert_eq!(meant("mongodb-atlas", ["sqlite", "lmdb"]), None);
    }
}
