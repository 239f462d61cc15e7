//! The folder of a run: `run.json`, `results.jsonl`, logs. Opened before the first trial; every result is appended and
//! synced as it comes; a run that was cut off can be gone on with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::fs::FlockOperation;

use crate::error::{Error, Exit, Result};
use crate::result::{FORMAT_VERSION, Run, RunHeader, TrialResult};

const HEADER: &str = "run.json";
const RESULTS: &str = "results.jsonl";

/// A run's folder, open for writing. Only one process at a time can have it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    results: File,
    _lock: File,
}

impl RunFolder {
    /// Makes a folder called `name` in the directory `runs`, or `name-2` and so on where there is one, and writes the
    /// run's header.
    ///
    /// # Errors
    /// When it can't be made or written; then nothing of it is left.
    pub fn create(runs: &Path, name: &str, header: &RunHeader) -> Result<RunFolder> {
        let path = make_unused(runs, name)?;
        RunFolder::begin(&path, header).inspect_err(|_| {
            // It is ours, and nothing has been put into it but by us a moment ago.
            let _ = fs::remove_dir_all(&path);
        })
    }

    fn begin(path: &Path, header: &RunHeader) -> Result<RunFolder> {
        fs::create_dir(path.join("logs")).map_err(Error::io("making the run folder", path))?;
        let lock = lock(path)?;
        let text = serde_json::to_string_pretty(header)
            .map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
        let results = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path.join(RESULTS))
            .map_err(Error::io("making", &path.join(RESULTS)))?;
        write_synced(&path.join(HEADER), text.as_bytes())
            .map_err(Error::io("writing", &path.join(HEADER)))?;
        sync_directory(path).map_err(Error::io("syncing", path))?;
        Ok(RunFolder { path: path.to_path_buf(), results, _lock: lock })
    }

    /// Opens the folder of a run that is to be gone on with. A last line that was cut off in writing is dropped.
    ///
    /// # Errors
    /// When it is not a run, is of another version, or another process is at work on it.
    pub fn resume(path: &Path) -> Result<(RunFolder, Run)> {
        // Nothing is made in a folder that is no run, and results are read when nobody else can add to them any more.
        read_header(path)?;
        let lock = lock(path)?;
        let run = read(path)?;
        let name = path.join(RESULTS);
        let mut results =
            OpenOptions::new().read(true).append(true).open(&name).map_err(Error::io("opening", &name))?;
        let mut bytes = Vec::new();
        results.read_to_end(&mut bytes).map_err(Error::io("reading", &name))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
        results.set_len(whole as u64).map_err(Error::io("writing", &name))?;
        results.seek(io::SeekFrom::End(0)).map_err(Error::io("writing", &name))?;
        Ok((RunFolder { path: path.to_path_buf(), results, _lock: lock }, run))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one result and syncs it.
    ///
    /// # Errors
    /// When it can't be written; what was written before is kept.
    pub fn append(&mut self, result: &TrialResult) -> Result<()> {
        let mut line =
            serde_json::to_vec(result).map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
        line.push(b'\n');
        let name = self.path.join(RESULTS);
        self.results
            .write_all(&line)
            .and_then(|()| self.results.sync_data())
            .map_err(Error::io("writing", &name))
    }
}

/// Reads a run.
///
/// # Errors
/// [`Exit::NotStorebench`] when it is not one, [`Exit::OtherVersion`] when another version of the format wrote it.
pub fn read(path: &Path) -> Result<Run> {
    let header = read_header(path)?;
    let name = path.join(RESULTS);
    let text = fs::read_to_string(&name).map_err(Error::io("reading", &name))?;
    let lines: Vec<&str> = text.lines().collect();
    let mut trials: Vec<serde_json::Result<TrialResult>> =
        lines.par_iter().map(|line| serde_json::from_str(line)).collect();
    // The last line may have been cut off by a crash.
    if !text.ends_with('\n') {
        trials.pop_if(|last| last.is_err());
    }
    let numbered = trials.into_iter().enumerate().map(|(index, trial)| {
        trial.map_err(|error| {
            let message = format!("{}, line {}: not a result: {error}", name.display(), index + 1);
            Error::new(Exit::NotStorebench, message)
        })
    });
    Ok(Run { header, trials: numbered.collect::<Result<_>>()? })
}

fn read_header(path: &Path) -> Result<RunHeader> {
    let name = path.join(HEADER);
    let text = match fs::read_to_string(&name) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            let message = if path.exists() {
                format!("{} is not a run of storebench: it has no {HEADER}", path.display())
            } else {
                format!(
                    "there is no run {}: name the folder of a run, its name in the directory of the runs, or latest",
                    path.display()
                )
            };
            return Err(Error::new(Exit::NotStorebench, message));
        }
        Err(error) => return Err(Error::io("reading", &name)(error)),
    };
    check_version(&text, &name)?;
    serde_json::from_str(&text).map_err(|error| broken(&name, &error))
}

/// Makes a folder called `name` in `runs`, or `name-2` and so on where there is one.
///
/// # Errors
/// When it can't be made.
pub fn make_unused(runs: &Path, name: &str) -> Result<PathBuf> {
    let names = std::iter::once(name.to_owned()).chain((2..1000).map(|number| format!("{name}-{number}")));
    for path in names.map(|name| runs.join(name)) {
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("making the run folder", &path)(error)),
        }
    }
    let message = format!("{} holds a thousand runs of this second: name another --out", runs.display());
    Err(Error::new(Exit::Failure, message))
}

fn broken(name: &Path, error: &serde_json::Error) -> Error {
    Error::new(Exit::NotStorebench, format!("{} is not the header of a run: {error}", name.display()))
}

fn check_version(text: &str, name: &Path) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
        storebench: String,
    }
    let version: Version = serde_json::from_str(text).map_err(|error| broken(name, &error))?;
    if version.format != FORMAT_VERSION {
        let message = format!(
            "{} was written by storebench {} in format {}, and this one reads format {FORMAT_VERSION}: use that version, or run the study again",
            name.display(),
            version.storebench,
            version.format,
        );
        return Err(Error::new(Exit::OtherVersion, message));
    }
    Ok(())
}

/// Takes the folder for this process, as long as the file is open.
fn lock(path: &Path) -> Result<File> {
    let name = path.join(".lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&name)
        .map_err(Error::io("opening", &name))?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        let message =
            format!("another storebench is at work on {}: wait for it, or stop it first", path.display());
        Error::new(Exit::Busy, message)
    })?;
    Ok(file)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
