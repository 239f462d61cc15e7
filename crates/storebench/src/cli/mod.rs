//! The command line: what a table of stores turns into.

mod advise;
mod args;
mod board;
mod clean;
mod compare;
mod doctor;
mod dry_run;
mod export;
mod files;
mod findings;
mod floor;
mod generate;
mod given;
mod launch;
mod machines;
mod man;
mod properties;
mod remote;
mod report;
mod run;
mod runs;
mod settings;
mod signals;
mod stages;
mod stores;
mod studies;
mod trace;
mod tune;
mod usage;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command, Hidden};
use storebench_core::error::{Error, Exit, Result};
use storebench_core::like::ReadSqlite;
use storebench_core::runner::child;
use storebench_core::shown;
use storebench_core::store::{self, StoreDef};
use storebench_report::files::sql::OpenSqlite;

/// Columns of a terminal that all output fits in.
const WIDTH: usize = 80;

/// Optional features of a program beside measuring, where its build has the code for them ([`crate::EXTRAS`]).
#[derive(Clone, Copy, Default)]
pub struct Extras {
    /// The writer of SQLite files; without it, `report --sqlite` says that this build can't.
    pub sqlite: Option<OpenSqlite>,
    /// The reader of the values of a table in a SQLite file; without it, `advise --like` takes none.
    pub sqlite_values: Option<ReadSqlite>,
}

/// The program: reads the command line, does what it says with these stores, and ends with a documented exit code.
pub fn main(stores: &[StoreDef]) -> ExitCode {
    main_with(stores, Extras::default())
}

/// The same with more than measuring.
pub fn main_with(stores: &[StoreDef], extras: Extras) -> ExitCode {
    store::make_servers_known(stores);
    let matches = match Args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return not_a_command(&error),
    };
    let ended = Args::from_arg_matches(&matches)
        .map_err(|error| usage::explain(&error))
        .and_then(|args| dispatch(stores, extras, args.command));
    match ended {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            complain(&error.message);
            ExitCode::from(error.exit.code())
        }
    }
}

/// The exit for what clap did not make a command of: help, the version, or a mistake.
fn not_a_command(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let exit = match error.kind() {
        DisplayHelp | DisplayVersion => Exit::Success,
        DisplayHelpOnMissingArgumentOrSubcommand => Exit::Usage,
        _ => {
            let error = usage::explain(error);
            complain(&error.message);
            return ExitCode::from(error.exit.code());
        }
    };
    // Printed to where each belongs. A reader that has gone is no error.
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let error = Error::io("writing to", Path::new("standard output"))(error);
            complain(&error.message);
            ExitCode::from(error.exit.code())
        }
        _ => ExitCode::from(exit.code()),
    }
}

fn dispatch(stores: &[StoreDef], extras: Extras, command: Command) -> Result<Exit> {
    if matches!(command, Command::Hidden(_)) {
        storebench_core::lifeline::take_name();
    }
    match command {
        Command::Run(args) => run::run(stores, &args),
        Command::Report(args) => report::report(stores, extras, &args),
        Command::Advise(args) => advise::advise(stores, extras, &args),
        Command::Tune(args) => tune::tune(stores, extras, &args),
        Command::Compare(args) => compare::compare(stores, &args),
        Command::Stores => stores::list(stores),
        Command::Settings { store } => settings::list(stores, store.as_deref()),
        Command::Machines { machine } => machines::list(machine.as_deref()),
        Command::Studies => studies::list(),
        Command::Doctor(args) => doctor::doctor(stores, &args),
        Command::Trace(args) => trace::show(&args),
        Command::Generate(args) => generate::generate(&args),
        Command::Clean { directories } => clean::clean(&directories),
        Command::Completions { shell } => man::completions(stores, shell),
        Command::Man { directory } => man::pages(&directory),
        Command::Hidden(Hidden::Trial { spec, out }) => {
            child::main(stores, &spec, &out)?;
            Ok(Exit::Success)
        }
        Command::Hidden(Hidden::Background { load, folder, parent }) => {
            storebench_core::background::main(load, &folder, parent)
                .map_err(|message| Error::new(Exit::Failure, message))?;
            Ok(Exit::Success)
        }
        Command::Hidden(Hidden::Drop { folder }) => clean::drop_made(stores, &folder),
        Command::Hidden(Hidden::Board { folder }) => board::main(stores, &folder),
    }
}

/// Writes text for people to standard output, without escape codes but for colours, and those only on a terminal. A reader that
/// has gone (a closed pipe) ends the program quietly.
fn print(text: &str) -> Result<()> {
    if report::style().colour { write(&shown::coloured(text)) } else { write(&shown::plain(text)) }
}

/// Writes what other programs read to standard output, without escape codes.
fn print_data(bytes: &[u8]) -> Result<()> {
    write(&shown::plain(&String::from_utf8_lossy(bytes)))
}

fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("writing to", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Tells the user something that is not the answer itself.
fn tell(text: &str) {
    // Standard error may be closed; nothing depends on it.
    let _ = writeln!(std::io::stderr(), "{}", shown::plain(text));
}

/// Says in one line what is wrong.
fn complain(message: &str) {
    tell(&format!("storebench: {}", shown::message(message)));
}
