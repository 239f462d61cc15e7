//! The options of `run` that depend on the study: its workload's axes and parameters.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::table::{self, Workload};
use storebench_host::folder;
use storebench_host::plan::{self, Plan, STUDIES};
use storebench_model::axis::Axis;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::sanitize::piece;

use super::{Args, RunArgs};
use crate::cli::runs;

/// The program's options, with only the options of `run` that apply to the study in `words`; without a study, those of
/// every study. Only for help: the others are hidden, not removed.
pub fn help_command(words: &[OsString]) -> Command {
    let workload = workload(words);
    Args::command().mut_subcommand("run", |run| with_workload_options(run, workload))
}

/// `run` with the options of a workload; without one, the options common to all workloads.
pub fn with_workload_options(run: Command, workload: Option<Workload>) -> Command {
    let is_hidden = |id: &&str| match workload {
        Some(workload) => !has_option(workload, id),
        None => table::all().map(Workload::from_def).any(|workload| !has_option(workload, id)),
    };
    let axes = Axis::as_written().into_iter().map(Axis::name);
    let parameters = Parameters::NAMES.iter().copied().filter(|name| *name != "trace_facts");
    let others = ["like", "clients", "property", "property_files", "each_file"].into_iter();
    let ids = axes.chain(parameters).chain(others);
    ids.filter(is_hidden).fold(run, |run, id| run.mut_arg(id, |option| option.hide(true)))
}

/// Whether a workload has an option of `run`, by clap's name for it.
fn has_option(workload: Workload, id: &str) -> bool {
    match id {
        "like" => workload.def().axes.contains(&Axis::RECORD_SIZE),
        "clients" => workload.def().serve.is_some(),
        "property" | "property_files" | "each_file" => workload.has_parameter("properties"),
        id => workload.has_parameter(id) || workload.def().axes.iter().any(|axis| axis.name() == id),
    }
}

/// Checks that the options of a command line belong to its plan's workload; an error names the first that does not, and who has it.
pub fn check(args: &RunArgs, plan: &Plan) -> Result<()> {
    let like = args.like.iter().map(|_| "like");
    let properties = (!args.properties.is_empty()).then_some("property");
    let axes = args.axes.axes.names_iter().map(|axis| -> &str { axis.name() });
    let mut ids = like.chain(properties).chain(axes).chain(args.how.changes.parameters.names());
    ids.find(|id| !has_option(plan.workload, id)).map_or(Ok(()), |id| {
        let option = match id {
            "property" => "-p or -P".into(),
            id => format!("--{}", id.replace('_', "-")),
        };
        let (study, owner) = (piece(args.study()), owner_of(id));
        let message =
            format!("{option} is an option of {owner}, not of {study}; see storebench run {study} --help");
        Err(Error::new(Exit::Usage, message))
    })
}

/// The studies whose workloads have an option; the workloads, if no shipped study has it.
fn owner_of(id: &str) -> String {
    let is_owner = |name: &&str| plan::find(name).is_ok_and(|plan| has_option(plan.workload, id));
    let studies: Vec<&str> = STUDIES.iter().map(|study| study.name).filter(is_owner).collect();
    let workloads = table::all().filter(|def| has_option(Workload::from_def(def), id)).map(|def| def.name);
    match studies[..] {
        [] => format!("the workload {}", workloads.collect::<Vec<_>>().join(", ")),
        [only] => format!("the study {only}"),
        _ => format!("the studies {}", studies.join(", ")),
    }
}

/// The workload of the study, plan or run in a command line, whatever else is wrong with it.
fn workload(words: &[OsString]) -> Option<Workload> {
    let help = || Arg::new("help").short('h').long("help").action(ArgAction::SetTrue);
    let command = Args::command()
        .ignore_errors(true)
        .mut_subcommand("run", |run| run.disable_help_flag(true).arg(help()));
    let matches = command.try_get_matches_from(words).ok()?;
    let run: &ArgMatches = matches.subcommand_matches("run")?;
    if let Some(study) = run.get_one::<String>("study") {
        return plan::find(study).ok().map(|plan| plan.workload);
    }
    let folder = runs::find(run.get_one::<PathBuf>("resume")?, run.get_one::<PathBuf>("out")?).ok()?;
    folder::read_without_trials(&folder).ok()?.workload()
}
