//! `storebench run`: from the command line to a run folder, and at its end the table of winners.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_core::error::{Error, Exit, Result};
use storebench_core::folder::RunFolder;
use storebench_core::plan;
use storebench_core::runner::parent::Ended;
use storebench_core::runner::progress;
use storebench_core::shown;
use storebench_core::store::StoreDef;

use super::args::RunArgs;
use super::finish::finish;
use super::launch::{self, Launch, go_on};
use super::output::print;
use super::plan::plan;
use super::prepare::{Prepared, prepare};
use super::{files, properties, remote, resume, runs, signals, trace};

/// Runs a study, or resumes a run.
pub fn run(stores: &[StoreDef], args: &RunArgs) -> Result<Exit> {
    let interrupted = signals::listen()?;
    args.properties.ycsb.as_deref().map_or(Ok(()), files::can_write_new)?;
    let (path, ended) = match (&args.board.remote, &args.resume) {
        (Some(host), _) => return remote::run(stores, args, host, &interrupted),
        (None, Some(name)) => go_on_with(stores, &runs::find(name, &args.out)?, &interrupted)?,
        (None, None) => match start(stores, args, &interrupted)? {
            Started::Ran(path, ended) => (path, ended),
            Started::Not(exit) => return Ok(exit),
        },
    };
    let resume_with = go_on(&path);
    finish(stores, &path, ended, args.properties.ycsb.as_deref(), &resume_with)
}

/// The outcome of a run that was to be started.
enum Started {
    /// It has ended; its folder, and how.
    Ran(PathBuf, Ended),
    /// There was none; how the program ends.
    Not(Exit),
}

fn start(stores: &[StoreDef], args: &RunArgs, interrupted: &AtomicBool) -> Result<Started> {
    let texts = properties::texts(&args.properties)?;
    let mut plan = plan(stores, args, &plan::source(args.study())?, &texts)?;
    trace::look(&mut plan, interrupted)?;
    let new_directory = !args.out.exists();
    runs::make_directory("making the runs' directory", &args.out)?;
    let places = launch::places(&plan, &launch::directories(&args.at, &args.out)?)?;
    let launch = Launch::new(stores, &plan, &places, args.hardware.as_deref())?;
    let prepared = prepare(&launch, args.dry_run, interrupted);
    if !matches!(prepared, Ok(Prepared::Ready)) {
        if new_directory {
            // It holds nothing; where it does after all, it stays.
            let _ = std::fs::remove_dir(&args.out);
        }
        return match prepared? {
            Prepared::Listed(text) => print(&text).map(|()| Started::Not(Exit::Success)),
            Prepared::Ready | Prepared::Interrupted => Ok(Started::Not(Exit::Interrupted)),
        };
    }
    let folder = launch.folder(&args.out, &launch::dated(&format!("{}-", plan.name)))?;
    let (path, ended) =
        launch.carry_out_precisely(&[], folder, progress::listener().as_mut(), interrupted)?;
    Ok(Started::Ran(path, ended))
}

/// Resumes a run in its folder.
fn go_on_with(stores: &[StoreDef], path: &Path, interrupted: &AtomicBool) -> Result<(PathBuf, Ended)> {
    let resumed = RunFolder::resume(path)?;
    runs::tell_notes(&resumed.notes);
    if let Some(host) = remote::host_of(&resumed.run.header) {
        let message = format!(
            "{} is a run on {}: resume it there, with --remote {}",
            path.display(),
            shown::piece(&host),
            shown::piece(&host)
        );
        return Err(Error::bad_value(message));
    }
    resume::resume(stores, resumed, progress::listener().as_mut(), interrupted)
}
