//! `storebench report --sqlite, --ycsb`: results for other tools.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use storebench_host::run::Run;
use storebench_model::error::{Error, Exit, Result};
use storebench_report::files::sql::SqlError;
use storebench_report::files::{sql, ycsb};
use storebench_report::report::Report;

use super::extras::Extras;
use super::output::print_note;
use super::{files, signals};

pub fn ycsb_text(runs: &[Run]) -> Result<Vec<u8>> {
    let unusable = |why| Error::new(Exit::NotStorebench, format!("a result can't be used: {why}"));
    ycsb::text(runs).map(String::into_bytes).map_err(unusable)
}

pub fn sqlite(report: &Report<'_>, extras: Extras, path: &Path) -> Result<()> {
    let Some(open) = extras.sqlite else {
        let message =
            "this build can't write SQLite files (--sqlite): build storebench with --features sqlite";
        return Err(Error::new(Exit::Usage, message));
    };
    files::refuse_standard_output("--sqlite", path, "SQLite writes a file; name one")?;
    files::refuse_theirs(path, sql::is_ours)?;
    // An interrupt leaves no incomplete file.
    let interrupted = signals::listen()?;
    files::replace_by(path, |part_path| {
        // Shows the system's error if a file can't be made there, which SQLite does not pass on.
        fs::File::create_new(part_path).map_err(Error::io("writing", path))?;
        let result = open(part_path).and_then(|mut out| sql::write(report, out.as_mut()));
        result.map_err(|error| sqlite_error(path, error))?;
        match interrupted.load(Ordering::Relaxed) {
            true => {
                Err(Error::new(Exit::Interrupted, format!("interrupted; {} was not written", path.display())))
            }
            false => Ok(()),
        }
    })?;
    print_note(&format!("written: {}", path.display()));
    Ok(())
}

fn sqlite_error(path: &Path, error: SqlError) -> Error {
    let (exit, why) = match error {
        SqlError::Full(why) => (Exit::DiskFull, why),
        SqlError::Other(why) => (Exit::Failure, why),
    };
    Error::new(exit, format!("writing {}: {why}", path.display()))
}
