//! `storebench run`: from the command line to a run folder, and at its end the table of winners.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use storebench_host::folder::RunFolder;
use storebench_host::plan;
use storebench_host::runner::parent::RunEnd;
use storebench_host::runner::progress;
use storebench_host::sample_data::DataTraits;
use storebench_model::axis::Axis;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::RunHeader;
use storebench_model::sanitize;
use storebench_model::store::StoreDef;

use super::args::RunArgs;
use super::extras::Extras;
use super::finish::finish;
use super::launch::{self, Launch, resume_command};
use super::output::print;
use super::prepare::StartOutcome;
use super::start::{Start, start};
use super::{files, parts, properties, question, remote, resume, runs, signals};

pub fn run(stores: &[StoreDef], extras: Extras, mut args: RunArgs) -> Result<Exit> {
    if let Some(name) = &args.like {
        let DataTraits { size, data, .. } = question::likeness(name, extras)?;
        args.axes.axes.set(Axis::RECORD_SIZE, [size]);
        args.axes.axes.set(Axis::DATA, [data]);
    }
    let args = &args;
    args.properties.ycsb.as_deref().map_or(Ok(()), files::check_new_path)?;
    let (path, end) = match (&args.board.remote, &args.resume) {
        (Some(host), _) => return remote::run(stores, args, host, &*signals::listen()?),
        (None, Some(name)) => resume_folder(stores, &runs::find(name, &args.out)?, &*signals::listen()?)?,
        (None, None) => {
            let parameters = Start {
                args,
                source: plan::source(args.study())?,
                texts: &properties::texts(&args.properties)?,
                out: &args.out,
            };
            // Only now, so that a wait for a pipe without another end can be interrupted at once.
            let interrupted = signals::listen()?;
            let run = |launch: Launch<'_>| {
                let earlier = parts::find_earlier(&launch.header, &args.out)?;
                if launch.is_idle && earlier.is_some() {
                    parts::print_idle(&launch.header);
                    return Ok(None);
                }
                if let Some(earlier) = earlier {
                    parts::print_earlier(&earlier);
                    return match parts::is_over(&earlier.run) {
                        true => Ok(Some((
                            earlier.folder.path().to_path_buf(),
                            RunEnd::from_results(&earlier.run.trials),
                        ))),
                        false => resume::resume(stores, earlier, progress::listener().as_mut(), &interrupted)
                            .map(Some),
                    };
                }
                let folder = launch.folder(&args.out, &launch::dated_name(&folder_prefix(&launch.header)))?;
                if launch.is_idle {
                    parts::print_idle(&launch.header);
                    return Ok(None);
                }
                launch.run(&[], folder, progress::listener().as_mut(), &interrupted).map(Some)
            };
            match start(stores, &parameters, &interrupted, run)? {
                StartOutcome::Ran(Some(outcome)) => outcome,
                StartOutcome::Ran(None) => return Ok(Exit::Success),
                StartOutcome::Listed(text, error) => {
                    return print(&text).and_then(|()| error.map_or(Ok(Exit::Success), Err));
                }
                StartOutcome::Interrupted => return Ok(Exit::Interrupted),
            }
        }
    };
    let command = resume_command(&path);
    finish(stores, &path, end, args.properties.ycsb.as_deref(), &command)
}

fn folder_prefix(header: &RunHeader) -> String {
    match &header.shard {
        Some(parts) => format!("{}-{}-", header.study, parts.to_string().replace([' ', '/'], "-")),
        None => format!("{}-", header.study),
    }
}

fn resume_folder(stores: &[StoreDef], path: &Path, interrupted: &AtomicBool) -> Result<(PathBuf, RunEnd)> {
    let resumed = RunFolder::resume(path)?;
    runs::print_notes(&resumed.notes);
    if let Some(host) = remote::host_of(&resumed.run.header) {
        return Err(Error::bad_value(format!(
            "{} is a run on {}: resume it there, with --remote {}",
            path.display(),
            sanitize::piece(&host),
            sanitize::piece(&host)
        )));
    }
    resume::resume(stores, resumed, progress::listener().as_mut(), interrupted)
}
