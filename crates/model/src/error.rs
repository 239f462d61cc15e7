//! Errors that reach a user: one clear line, what to do, and an exit code for each kind.

use std::fmt;
use std::io;
use std::path::Path;

use strum::EnumMessage;

use crate::sanitize::{piece, quoted};
use crate::words::words;

/// The ways in which the program ends, each with its exit code, its meaning in a line of the help, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::EnumMessage)]
#[repr(u8)]
pub enum Exit {
    /// everything was done
    Success = 0,
    /// an error that has no other code
    #[strum(message = "report it if it looks like a bug")]
    Failure = 1,
    /// the command line can't be understood
    #[strum(message = "see the help that the message names")]
    Usage = 2,
    /// an unknown store, or one that this build lacks
    #[strum(message = "see `storebench stores`")]
    UnknownStore = 10,
    /// a value on the command line that can't be used
    #[strum(message = "the message shows a valid one")]
    BadValue = 11,
    /// a study or plan that can't be read or is contradictory
    #[strum(message = "correct the key that the message names")]
    BadPlan = 12,
    /// a folder that is not a run, or a file that is not storebench's
    #[strum(message = "name another folder or file")]
    NotStorebench = 13,
    /// a run in a newer format, or of other engine versions
    #[strum(message = "use that version, or run again")]
    OtherVersion = 14,
    /// no permission
    #[strum(message = "choose a directory of your own")]
    Permission = 15,
    /// the file system is read-only
    #[strum(message = "choose a directory on another disk")]
    ReadOnly = 16,
    /// the disk is full, or too small for any cell
    #[strum(message = "make room, then `--resume`")]
    DiskFull = 17,
    /// another process is using this run
    #[strum(message = "wait for it, or stop it")]
    Busy = 18,
    /// no cell to run, or no result to show
    #[strum(message = "see `--dry-run`")]
    Nothing = 19,
    /// the run ended, but some of its trials failed
    #[strum(message = "see the reasons in the report")]
    TrialsFailed = 20,
    /// compare, merge: the runs have different machines or plans
    #[strum(message = "choose other runs; compare: `--unlike`")]
    Unlike = 21,
    /// compare --fail-above: figures are worse, or cells fail
    #[strum(message = "see which in the comparison")]
    Worse = 22,
    /// doctor: this machine can't run all of the studies
    #[strum(message = "install what is named")]
    Incomplete = 23,
    /// --remote, --url: no connection, or it was lost
    #[strum(message = "correct the address, or `--resume`")]
    Unreachable = 24,
    /// check: a run is incomplete, or was changed
    #[strum(message = "`--resume` it, or measure again")]
    Unsound = 25,
    /// power cuts cost a store more than is known of it
    #[strum(message = "see `storebench crash show`")]
    Danger = 26,
    /// interrupted; finished results are kept
    #[strum(message = "continue with `--resume`")]
    Interrupted = 130,
}

words!(Exit, every);

impl Exit {
    /// Its meaning, in a line of the help.
    pub fn describe(self) -> &'static str {
        self.get_documentation().unwrap_or_default()
    }

    /// What to do, in a few words.
    pub fn advice(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }

    /// The process's exit code.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// An error that ends the program.
#[derive(Debug)]
pub struct Error {
    /// The exit code.
    pub exit: Exit,
    /// The message: what is wrong, where, and what to do.
    pub message: String,
    /// How to go on, for whoever has the run's folder.
    pub advice: Option<String>,
}

/// The result of what can end the program.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of one kind.
    pub fn new(exit: Exit, message: impl Into<String>) -> Error {
        Error { exit, message: message.into(), advice: None }
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
        f.write_str(&self.message)?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
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
pub fn unknown<'a>(noun: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = meant(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |meant| format!(" (did you mean {}?)", piece(meant)));
    let known: Vec<_> = known.into_iter().map(piece).collect();
    format!("there is no {noun} {}{hint}; there are {}", quoted(name), known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
