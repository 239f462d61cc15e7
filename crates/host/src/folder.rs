//! The folder of a run: `run.json`, `results.jsonl`, logs. Opened before the first trial; every result is appended and
//! synced as it comes; a run that was cut off can be resumed.

mod folder_identity;
mod lines;
mod space_reserve;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use self::folder_identity::FolderIdentity;
use self::lines::{FileTail, Lines};
use self::space_reserve::SpaceReserve;
pub use self::space_reserve::{is_full, with_room};
use crate::run::Run;
use storebench_core::guard::{self, Lock, try_lock};
use storebench_model::axis::{Axis, Value};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;
use storebench_model::result::{FORMAT_VERSION, OLDEST_FORMAT, RunHeader, TrialResult, format1};
use storebench_model::sanitize::{piece, plain_json, simplify_message};

const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
const HEADER: &str = "run.json";
const RESULTS: &str = "results.jsonl";
/// The same by gzip, for keeping: it is read where the other is not there, and never added to.
const PACKED: &str = "results.jsonl.gz";
const LOGS: &str = "logs";
/// The longest header, in bytes: it lists the combinations that a plan leaves out.
const MOST_HEADER: u64 = 64 << 20;
/// The longest file of results, in bytes.
const MOST_RESULTS: u64 = 4 << 30;
/// The longest log or kept state, in bytes.
const MOST_KEPT: u64 = 16 << 30;
/// The bytes of a log that are passed on, from its end.
const MOST_LOG: u64 = 1 << 20;
/// The file for bytes after the last result that are more than an incomplete line.
const DAMAGED: &str = "results.damaged";

/// A run's folder, open for writing. Only one process at a time can open it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    results: File,
    whereabouts: FolderIdentity,
    room: SpaceReserve,
    _lock: File,
}

/// A run that is to be resumed.
#[derive(Debug)]
pub struct ResumedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its results so far.
    pub run: Run,
    /// Oddities of its files, in sentences.
    pub notes: Vec<String>,
}

impl RunFolder {
    /// Makes a folder called `name` in the directory `runs`, or `name-2` and so on, with the run's header; if that fails, none remains.
    pub fn create(runs: &Path, name: &str, header: &RunHeader) -> Result<RunFolder> {
        RunFolder::begin_ours(&make_unused(runs, name)?, header)
    }

    fn begin_ours(path: &Path, header: &RunHeader) -> Result<RunFolder> {
        let begin = || {
            fs::create_dir(path.join(LOGS)).map_err(Error::io("making the run folder", path))?;
            let (lock, name) = (lock(path)?, path.join(RESULTS));
            let results = File::options().append(true).create_new(true).open(&name);
            let results = results.map_err(Error::io("making", &name))?;
            write_header(path, header)?;
            RunFolder::open(path, results, lock)
        };
        begin().inspect_err(|_| {
            // Only this process has put anything into it, a moment ago.
            let _ = guard::remove_made(path);
        })
    }

    fn open(path: &Path, results: File, lock: File) -> Result<RunFolder> {
        let whereabouts =
            FolderIdentity::note(path, RESULTS, &results).map_err(Error::io("opening", path))?;
        let room = SpaceReserve::keep(path);
        Ok(RunFolder { path: path.to_path_buf(), results, whereabouts, room, _lock: lock })
    }

    /// Opens the folder of a run that is to be resumed. Of what a crash left after the last result, an incomplete line is dropped,
    /// anything else is kept aside. Fails when it is not a run, is of another version, or another process is at work on it.
    pub fn resume(path: &Path) -> Result<ResumedRun> {
        // Nothing is made in a folder that is no run; results are read once nobody else can add any.
        let mut run = read_without_trials(path)?;
        let lock = lock(path)?;
        let (bytes, lines) = read_lines(path, &run)?;
        // Git keeps no empty folder.
        let logs = path.join(LOGS);
        fs::create_dir_all(&logs).map_err(Error::io("making", &logs))?;
        let mut notes = lines.notes;
        let name = path.join(RESULTS);
        if path.join(PACKED).exists() && !name.exists() {
            let folder = path.display();
            let message = format!("the results in {folder} are packed: unpack them by gunzip {PACKED}");
            return Err(Error::new(Exit::NotStorebench, message));
        }
        if run.header.format < FORMAT_VERSION {
            // A program that reads only the older format must not take the results that follow for such.
            run.header.format = FORMAT_VERSION;
            write_header(path, &run.header)?;
        }
        let results = File::options().read(true).append(true).custom_flags(NOFOLLOW).open(&name);
        let mut results = results.map_err(Error::io("opening", &name))?;
        if lines.tail == FileTail::Damaged {
            let damaged_file = path.join(DAMAGED);
            write_synced(File::options().append(true), &damaged_file, &bytes[lines.complete_bytes..])
                .map_err(Error::io("writing", &damaged_file))?;
            notes.push(format!("what followed the last result is now in {}", damaged_file.display()));
        }
        if lines.tail != FileTail::Nothing {
            results.set_len(lines.complete_bytes as u64).map_err(Error::io("writing", &name))?;
        }
        if lines.lacks_newline {
            with_room(path, || results.write_all(b"\n").map_err(Error::io("writing", &name)))?;
        }
        results.sync_data().map_err(Error::io("writing", &name))?;
        let folder = RunFolder::open(path, results, lock)?;
        run.trials = lines.trials;
        Ok(ResumedRun { folder, run, notes })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder and its results are where they were. Fails with [`Exit::NotStorebench`] and where they are now.
    pub fn check(&self) -> Result<()> {
        self.whereabouts.check()
    }

    /// Each result with the line that holds it, for another machine.
    pub fn results(&self) -> Result<Vec<(TrialResult, String)>> {
        let name = self.path.join(RESULTS);
        let text = read_file(&self.path, RESULTS, MOST_RESULTS).map_err(unreadable(&name))?;
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let read_line = |line: &str| {
            let parsed = serde_json::from_slice(&plain_json(line.as_bytes()));
            let result = parsed.map_err(|error| not_a_result(&name.display().to_string(), &error))?;
            Ok((result, line.to_owned()))
        };
        lines.map(read_line).collect()
    }

    /// Keeps a log that another machine has written. Fails with [`Exit::NotStorebench`] if the name is not a log's.
    pub fn keep_log(&self, name: &str, text: &str) -> Result<()> {
        let number = name.strip_suffix(".log").map(|name| name.strip_suffix("-background").unwrap_or(name));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !number.is_some_and(is_number) {
            return Err(Error::new(Exit::NotStorebench, format!("{} is not the name of a log", piece(name))));
        }
        let path = format!("{LOGS}/{name}");
        let mut file = guard::rewrite(&self.path, &path)?;
        file.write_all(text.as_bytes()).map_err(Error::io("writing", &self.path.join(path)))
    }

    /// Deletes the folder and everything in it: its results are elsewhere.
    pub fn delete(self) -> Result<()> {
        guard::remove_made(&self.path).map_err(Error::io("deleting", &self.path))
    }

    /// Makes a folder with exactly this name, which is free, in a directory that exists. If it can't be written, it is removed again.
    pub fn create_at(path: &Path, header: &RunHeader) -> Result<RunFolder> {
        fs::create_dir(path).map_err(Error::io("making the run folder", path))?;
        RunFolder::begin_ours(path, header)
    }

    /// Keeps the logs and all other files that another run kept of its trials, under their positions in this run. Fails with
    /// [`Exit::NotStorebench`] if one of them is a link, not a file, or too long.
    pub fn keep_logs_of(&self, run: &Path, positions: &HashMap<u64, u64>) -> Result<()> {
        let logs = run.join(LOGS);
        // Git keeps no empty folder.
        let entries = match fs::read_dir(&logs) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(Error::io("reading", &logs))?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::io("reading", &logs))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let end = name.find(['.', '-']).unwrap_or(name.len());
            let Some(position) = name[..end].parse().ok().and_then(|old| positions.get(&old)) else {
                continue;
            };
            let source = open_kept(run, &format!("{LOGS}/{name}")).map_err(unreadable(&entry.path()))?;
            let copy_name = format!("{LOGS}/{}{}", stem(*position), &name[end..]);
            io::copy(&mut source.take(MOST_KEPT), &mut guard::rewrite(&self.path, &copy_name)?)
                .map_err(Error::io("copying", &entry.path()))?;
        }
        Ok(())
    }

    /// Appends results that are already kept elsewhere, and syncs them once.
    pub fn append_all(&mut self, results: &[TrialResult]) -> Result<()> {
        let lines = results.iter().map(line_of).collect::<Result<Vec<_>>>()?;
        if lines.is_empty() { Ok(()) } else { self.append_line(&lines.join("\n")) }
    }

    /// Appends one result and syncs it; if the disk is full, in the room that was reserved for it. Earlier results are always kept.
    pub fn append(&mut self, result: &TrialResult) -> Result<()> {
        self.append_line(&line_of(result)?)
    }

    /// Appends a result that another machine has written as a line.
    pub fn append_line(&mut self, line: &str) -> Result<()> {
        let line = [line.as_bytes(), b"\n"].concat();
        let name = self.path.join(RESULTS);
        let results = &mut self.results;
        let old_length = results.metadata().map_err(Error::io("looking at", &name))?.len();
        let mut append = || {
            let written = results.write_all(&line).and_then(|()| results.sync_data());
            written.inspect_err(|_| {
                // If this fails too, the next reader leaves out the incomplete line.
                let _ = results.set_len(old_length);
            })
        };
        with_room(&self.path, || append().map_err(Error::io("writing", &name)))?;
        self.room.take_again();
        self.check()
    }
}

fn line_of(result: &TrialResult) -> Result<String> {
    serde_json::to_string(result).map_err(|error| Error::new(Exit::Failure, error.to_string()))
}

/// Opens a log or a kept state by its name in results.
pub fn open_kept(path: &Path, name: &str) -> io::Result<File> {
    guard::plain_file(path, name, MOST_KEPT)
}

pub(crate) fn read_file(path: &Path, name: &str, most: u64) -> io::Result<Vec<u8>> {
    read_limited::read_all(guard::plain_file(path, name, most)?, most)
}

/// The beginning of the names of files that are kept of a trial.
fn stem(position: u64) -> String {
    format!("{position:06}")
}

/// The logs of a trial: their names and texts.
pub fn logs(path: &Path, position: u64) -> Vec<(String, String)> {
    let names = [".log", "-background.log"].map(|end| stem(position) + end);
    let read_log = |name: String| {
        let text =
            open_kept(path, &format!("{LOGS}/{name}")).and_then(|log| read_limited::read_end(log, MOST_LOG));
        match text {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            text => Some((name, text.unwrap_or_else(|error| format!("not read: {error}\n").into_bytes()))),
        }
    };
    let logs = names.into_iter().filter_map(read_log);
    logs.map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned())).collect()
}

/// Reads a run. Fails with [`Exit::NotStorebench`] if the folder is no run, [`Exit::OtherVersion`] if another version of the format wrote
/// it.
pub fn read(path: &Path) -> Result<Run> {
    read_with_notes(path).map(|(run, _)| run)
}

/// Reads a run, with notes about damaged files.
pub fn read_with_notes(path: &Path) -> Result<(Run, Vec<String>)> {
    let mut run = read_without_trials(path)?;
    let (_, lines) = read_lines(path, &run)?;
    (run.header.format, run.trials) = (FORMAT_VERSION, lines.trials);
    Ok((run, lines.notes))
}

/// The axes on which each cell of a run has a value: those that are in every id. Empty for another program's workload,
/// and if the plan can't be read.
fn axes_of_every_cell(run: &Run) -> Vec<Axis> {
    let axes = run.workload().map(|workload| workload.def().axes).unwrap_or_default();
    axes.iter().filter(|axis| axis.default_value().is_none()).copied().collect()
}

/// The values that the plan of an older run gives outside its axes, as its cells would have them today.
fn older_axis_values(run: &Run) -> Option<(Axis, Value)> {
    format1::compression_value(run.plan_keys()?.get(Axis::COMPRESSION.name())?.as_str()?)
}

fn read_results(path: &Path) -> io::Result<Vec<u8>> {
    match read_file(path, RESULTS, MOST_RESULTS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = Vec::new();
            let packed = MultiGzDecoder::new(guard::plain_file(path, PACKED, MOST_RESULTS)?);
            read_limited::read_rest(packed, MOST_RESULTS, &mut bytes).map(|()| bytes)
        }
        read => read,
    }
}

fn read_lines(path: &Path, run: &Run) -> Result<(Vec<u8>, Lines)> {
    let name = path.join(RESULTS);
    let bytes = read_results(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let message = format!("{} is not a whole run: it has no {RESULTS}", path.display());
            Error::new(Exit::NotStorebench, message)
        }
        _ => unreadable(&name)(error),
    })?;
    storebench_model::threads::start_threads();
    let mut lines = lines::read(&bytes, &axes_of_every_cell(run))
        .map_err(|(line, error)| not_a_result(&format!("{}, line {line}", name.display()), &error))?;
    lines.notes.iter_mut().for_each(|note| note.insert_str(0, &format!("{} ", name.display())));
    if let Some((axis, value)) = older_axis_values(run) {
        lines.trials.iter_mut().for_each(|trial| trial.cell.set(axis, value.clone()));
    }
    lines.trials.iter_mut().for_each(|trial| trial.format = FORMAT_VERSION);
    Ok((bytes, lines))
}

fn not_a_result(place: &str, error: &serde_json::Error) -> Error {
    let why = simplify_message(&error.to_string());
    Error::new(Exit::NotStorebench, format!("{place}: not a result: {why}"))
}

/// Why a file of a run's folder can't be read.
fn unreadable(name: &Path) -> impl FnOnce(io::Error) -> Error {
    move |error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge => {
            Error::new(Exit::NotStorebench, format!("{} is not a file of a run: {error}", name.display()))
        }
        _ => Error::io("reading", name)(error),
    }
}

/// Reads a run without its trials.
pub fn read_without_trials(path: &Path) -> Result<Run> {
    let name = path.join(HEADER);
    let bytes = match read_file(path, HEADER, MOST_HEADER) {
        Ok(bytes) => bytes,
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
        Err(error) => return Err(unreadable(&name)(error)),
    };
    let text = plain_json(&bytes);
    check_version(&text, &name)?;
    let header: RunHeader = serde_json::from_slice(&text).map_err(|error| broken(&name, &error))?;
    if header.shard.as_ref().is_some_and(|parts| !parts.is_valid()) {
        return Err(broken(&name, &serde::de::Error::custom("it has parts that no plan has")));
    }
    let mut run = Run::new(header, Vec::new());
    run.header.locations.iter_mut().for_each(format1::find_location);
    if let Some((axis, value)) = older_axis_values(&run) {
        run.header.left_out.iter_mut().for_each(|left_out| left_out.cell.set(axis, value.clone()));
    }
    Ok(run)
}

/// Writes a run's header, as a whole or not at all: without one its results are lost.
fn write_header(path: &Path, header: &RunHeader) -> Result<()> {
    let text =
        serde_json::to_string_pretty(header).map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
    let (name, new_file) = (path.join(HEADER), path.join(".run.json"));
    write_synced(File::options().write(true).truncate(true), &new_file, text.as_bytes())
        .and_then(|()| fs::rename(&new_file, &name))
        .and_then(|()| File::open(path)?.sync_all())
        .map_err(Error::io("writing", &name))
}

/// Makes a folder called `name` in `runs`, or `name-2` and so on if that exists.
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
    let (name, why) = (name.display(), simplify_message(&error.to_string()));
    Error::new(Exit::NotStorebench, format!("{name} is not the header of a run: {why}"))
}

fn check_version(text: &[u8], name: &Path) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
        storebench: String,
    }
    let version: Version = serde_json::from_slice(text).map_err(|error| broken(name, &error))?;
    if !(OLDEST_FORMAT..=FORMAT_VERSION).contains(&version.format) {
        let message = format!(
            "{} was written by storebench {} in format {}, and this one reads formats {OLDEST_FORMAT} to {FORMAT_VERSION}: use that version, or run the study again",
            name.display(),
            piece(&version.storebench),
            version.format,
        );
        return Err(Error::new(Exit::OtherVersion, message));
    }
    Ok(())
}

/// Locks the folder for this process, until the file is closed.
fn lock(path: &Path) -> Result<File> {
    let file = guard::open(path, ".lock")?;
    let locked = try_lock(&file).map_err(Error::io("locking", &path.join(".lock")))?;
    let folder = path.display();
    let (exit, message) = match locked {
        Lock::Taken => return Ok(file),
        Lock::Held => (Exit::Busy, format!("another storebench is using {folder}: wait for it, or stop it")),
        Lock::Unsupported => (
            Exit::Failure,
            format!("the file system of {folder} has no locks, which a run needs: name another --out"),
        ),
    };
    Err(Error::new(exit, message))
}

fn write_synced(options: &mut OpenOptions, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = options.create(true).custom_flags(NOFOLLOW).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_long_files_in_a_folder_of_a_run_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        fs::create_dir_all(path_of("part/logs")).unwrap();
        fs::create_dir_all(path_of("merged/logs")).unwrap();
        fs::write(path_of("theirs"), "{}").unwrap();
        let pipe = |name: &str| {
            rustix::fs::mkfifoat(rustix::fs::CWD, path_of(name), rustix::fs::Mode::RWXU).unwrap();
        };
        let assert_refused = |error: Error, cause: &str| {
            assert_eq!(error.exit, Exit::NotStorebench, "{error}");
            assert!(error.message.contains(cause), "{error}");
            for name in ["part/run.json", "part/logs/000001.log"] {
                let _ = fs::remove_file(path_of(name));
            }
        };
        let header_error = || read_without_trials(&path_of("part")).unwrap_err();
        symlink("../theirs", path_of("part/run.json")).unwrap();
        assert_refused(header_error(), "it is a link");
        pipe("part/run.json");
        assert_refused(header_error(), "it is no file");
        File::create(path_of("part/run.json")).unwrap().set_len(MOST_HEADER + 1).unwrap();
        assert_refused(header_error(), "it is longer than 64MiB");

        let results =
            OpenOptions::new().append(true).create(true).open(path_of("merged/results.jsonl")).unwrap();
        let merged = RunFolder::open(&path_of("merged"), results, lock(&path_of("merged")).unwrap()).unwrap();
        let keep_logs = || merged.keep_logs_of(&path_of("part"), &HashMap::from([(1, 7)]));
        symlink("../../theirs", path_of("part/logs/000001.log")).unwrap();
        assert_refused(keep_logs().unwrap_err(), "it is a link");
        pipe("part/logs/000001.log");
        assert_refused(keep_logs().unwrap_err(), "it is no file");
        File::create(path_of("part/logs/000001.log")).unwrap().set_len(MOST_KEPT + 1).unwrap();
        assert_refused(keep_logs().unwrap_err(), "it is longer than 16GiB");
        fs::write(path_of("part/logs/000001.log"), "text").unwrap();
        keep_logs().unwrap();
        assert_eq!(fs::read_to_string(path_of("merged/logs/000007.log")).unwrap(), "text");
        assert_eq!(logs(&path_of("merged"), 7), [("000007.log".to_owned(), "text".to_owned())]);
    }

    #[test]
    fn a_run_of_an_older_format_has_the_newest_once_it_is_resumed() {
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storebench/tests/golden/crud");
        let folder = tempfile::tempdir().unwrap();
        fs::copy(stored.join(HEADER), folder.path().join(HEADER)).unwrap();
        fs::write(folder.path().join(RESULTS), "").unwrap();
        let format = || plain_json(&fs::read(folder.path().join(HEADER)).unwrap()).into_owned();
        let is_first_format = |text: &[u8]| String::from_utf8_lossy(text).contains("\"format\": 1");
        assert!(is_first_format(&format()));
        drop(RunFolder::resume(folder.path()).unwrap());
        let header = read_without_trials(folder.path()).unwrap().header;
        assert!(!is_first_format(&format()) && header.format == FORMAT_VERSION);
    }
}
