//! The command line of a program with a table of stores.

mod advise;
mod args;
mod board;
mod check;
mod clean;
mod compare;
mod crash;
mod disks;
mod doctor;
mod dry_run;
mod engine_form;
mod export;
mod extras;
mod files;
mod findings;
mod finish;
mod floor;
mod generate;
mod launch;
mod libraries;
mod machines;
mod man;
mod merge;
mod output;
mod parts;
mod plan;
mod prepare;
mod properties;
mod question;
mod reachability;
mod reference;
mod remote;
mod report;
mod resume;
mod run;
mod runs;
mod settings;
mod signals;
mod site;
mod stages;
mod start;
mod stores;
mod studies;
mod trace;
mod tune;
mod usage;

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command, HiddenCommand, study};
use storebench_host::runner::child;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::library;
use storebench_model::lifeline;
use storebench_model::store::{self, StoreDef};

pub use extras::Extras;
use output::complain;

/// The program: reads the command line, carries it out with these stores, and ends with a documented exit code.
pub fn main(stores: &[StoreDef]) -> ExitCode {
    main_with(stores, Extras::default())
}

/// The program with optional features.
pub fn main_with(stores: &[StoreDef], extras: Extras) -> ExitCode {
    lifeline::receive_child_signals();
    if let Some(begin) = extras.begin {
        begin();
    }
    if let Some(exit) = man::complete(stores) {
        return exit;
    }
    store::make_servers_known(stores);
    let words: Vec<_> = std::env::args_os().collect();
    let matches = match Args::command().try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let study_matches = study::help_command(&words).try_get_matches_from(&words);
            return exit_without_command(&study_matches.err().unwrap_or(error));
        }
        Err(error) => return exit_without_command(&error),
    };
    let outcome = Args::from_arg_matches(&matches)
        .map_err(|error| usage::explain(&error))
        .and_then(|args| dispatch(&libraries::load_libraries(stores, &args)?, extras, args.command));
    match outcome {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(error.exit.code())
        }
    }
}

/// Whether the program accepts these words as a command, the program's name first, or the mistake in them. Nothing is carried out.
pub fn check_words<'w>(words: impl IntoIterator<Item = &'w str>) -> std::result::Result<(), String> {
    let matches = Args::command().try_get_matches_from(words).map_err(|error| error.to_string())?;
    Args::from_arg_matches(&matches).map(drop).map_err(|error| error.to_string())
}

/// The exit if clap returned no command: help, the version, or a mistake.
fn exit_without_command(error: &clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let exit = match error.kind() {
        DisplayHelp | DisplayVersion => Exit::Success,
        DisplayHelpOnMissingArgumentOrSubcommand => Exit::Usage,
        _ => {
            return ExitCode::from(usage::report_error(error).code());
        }
    };
    // Printed to the proper output. A closed pipe is no error.
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let error = Error::io("writing to", Path::new("standard output"))(error);
            complain(&error.to_string());
            ExitCode::from(error.exit.code())
        }
        _ => ExitCode::from(exit.code()),
    }
}

fn dispatch(stores: &[StoreDef], extras: Extras, command: Command) -> Result<Exit> {
    if matches!(command, Command::Hidden(_)) {
        lifeline::set_process_name();
    }
    match command {
        Command::Run(args) => run::run(stores, extras, *args),
        Command::Report(args) => report::report(stores, extras, &args),
        Command::Merge(args) => merge::merge(stores, &args),
        Command::Site(args) => site::build_site(stores, &args),
        Command::Findings(args) => findings::write(stores, &args),
        Command::Check(args) => check::check(stores, &args),
        Command::Advise(args) => advise::advise(stores, extras, &args),
        Command::Tune(args) => tune::tune(stores, extras, &args),
        Command::Compare(args) => compare::compare(stores, &args),
        Command::Stores { store } => stores::list(stores, store.as_deref()),
        Command::Settings { store } => settings::list(stores, store.as_deref()),
        Command::Machines { machine } => machines::list(machine.as_deref()),
        Command::Disks { disk } => disks::list(disk.as_deref()),
        Command::Studies { study } => studies::list(study.as_deref()),
        Command::Crash(command) => crash::run(&command),
        Command::Doctor(args) => doctor::doctor(stores, &args),
        Command::Trace(args) => trace::show(&args),
        Command::Generate(args) => generate::generate(&args),
        Command::Clean { directories } => clean::clean(&directories),
        Command::Completions { shell } => man::completions(shell),
        Command::Man { directory } => man::pages(&directory),
        Command::Hidden(HiddenCommand::Trial { spec, out }) => {
            child::main(stores, remote::client::start_client, &spec, &out)?;
            Ok(Exit::Success)
        }
        Command::Hidden(HiddenCommand::Background { load, folder, parent }) => {
            storebench_host::background::main(load, &folder, parent)
                .map_err(|message| Error::new(Exit::Failure, message))?;
            Ok(Exit::Success)
        }
        Command::Hidden(HiddenCommand::Disk { name: _, folder, parent, order }) => {
            storebench_model::simulated::main(&folder, parent, &order)
                .map_err(|message| Error::new(Exit::Failure, message))?;
            Ok(Exit::Success)
        }
        Command::Hidden(HiddenCommand::Relay { parent, one_way_ns, names }) => {
            storebench_model::server::relay::main(parent, one_way_ns, &names)
                .map_err(|message| Error::new(Exit::Failure, message))?;
            Ok(Exit::Success)
        }
        Command::Hidden(HiddenCommand::Library { path }) => {
            library::answer_probe(&path).map_err(Error::io("telling the stores of", &path))?;
            Ok(Exit::Success)
        }
        Command::Hidden(HiddenCommand::Drop { folder }) => clean::drop_namespace(stores, &folder),
        Command::Hidden(HiddenCommand::Reference { out }) => reference::write(stores, &out),
        Command::Hidden(HiddenCommand::Board { folder }) => board::main(stores, &folder),
    }
}
