//! Completion scripts and man pages, generated from the arguments.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use storebench_disk::disks;
use storebench_host::machine;
use storebench_host::plan::{self, Plan, STUDIES};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::read_limited;
use storebench_model::store::StoreDef;

use super::args::{Args, study};
use super::files;
use super::output::print;

const PROGRAM: &str = "storebench";
/// The variable by which they ask it.
const COMPLETE_VARIABLE: &str = "STOREBENCH_COMPLETE";

/// The part of a man page that must contain its title, in bytes.
const HEAD: usize = 256;

/// Prints the script by which `shell` asks this program for completions.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        completer
            .write_registration(COMPLETE_VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
            .map_err(Error::io("writing", Path::new("the script")))?;
    }
    if shell == Shell::Zsh {
        // A file of functions that zsh reads at the first question must answer that one, too.
        script.extend(b"[[ ${funcstack[1]-} != _storebench ]] || _clap_dynamic_completer_storebench\n");
    }
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// Answers a shell that asks for completions; `None` if none asks.
pub fn complete(stores: &[StoreDef]) -> Option<ExitCode> {
    let directory = std::env::current_dir().ok();
    let answer = CompleteEnv::with_factory(|| with_names(stores)).var(COMPLETE_VARIABLE);
    match answer.try_complete(std::env::args_os(), directory.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        // Between two words nobody reads a message.
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// The commands, which know the names that they take.
fn with_names(stores: &[StoreDef]) -> Command {
    let studies: Vec<&'static str> = STUDIES.iter().map(|study| study.name).collect();
    let stores: Vec<&'static str> = stores.iter().map(|store| store.name).collect();
    let names = [
        ("run", "study", &studies),
        ("studies", "study", &studies),
        ("stores", "store", &stores),
        ("settings", "store", &stores),
        ("tune", "store", &stores),
        ("run", "store", &stores),
        ("advise", "store", &stores),
        ("disks", "disk", &disks::NAMES.to_vec()),
        ("machines", "machine", &machine::NAMES.to_vec()),
    ];
    let set_names = |command: Command, (subcommand, argument, names): (&str, &str, &Vec<&'static str>)| {
        let parser = PossibleValuesParser::new(names);
        command.mut_subcommand(subcommand, |command| {
            command.mut_arg(argument, |argument| argument.value_parser(parser))
        })
    };
    let is_list = |argument: &Arg| {
        argument.get_value_names().is_some_and(|names| names.iter().any(|name| name.ends_with(",...")))
    };
    let split_list =
        |argument: Arg| if is_list(&argument) { argument.value_delimiter(',') } else { argument };
    names.into_iter().fold(Args::command(), set_names).mut_subcommands(|command| command.mut_args(split_list))
}

/// Writes the man pages to `directory`, which is made if missing. Existing storebench pages are replaced;
/// if any other file has one of their names, nothing is written.
pub fn pages(directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory).map_err(Error::io("making", directory))?;
    let mut command = Args::command()
        .disable_help_subcommand(true)
        .mut_subcommand("run", |run| study::with_workload_options(run, None));
    command.build();
    let mut pages = Vec::new();
    render(&command, &mut pages).map_err(Error::io("writing man pages to", directory))?;
    for study in STUDIES {
        let page = study_command(&plan::find(study.name)?);
        render(&page, &mut pages).map_err(Error::io("writing man pages to", directory))?;
    }
    let pages: Vec<_> = pages.into_iter().map(|(name, text)| (directory.join(name), text)).collect();
    pages.iter().try_for_each(|(path, _)| files::refuse_theirs(path, is_page))?;
    for (path, text) in pages {
        files::replace_by(&path, |part_path| {
            let mut file = File::create_new(part_path).map_err(Error::io("writing", &path))?;
            file.write_all(&text).map_err(Error::io("writing", &path))
        })?;
    }
    Ok(Exit::Success)
}

fn study_command(plan: &Plan) -> Command {
    let mut command = Args::command();
    command.build();
    let run = command.find_subcommand("run").cloned().unwrap_or_default();
    study::with_workload_options(run, Some(plan.workload))
        .mut_arg("study", |study| study.hide(true))
        .display_name(format!("storebench-run-{}", plan.name))
        .override_usage(format!("storebench run {} [OPTIONS]", plan.name))
        .about(plan.title.clone())
}

/// The pages of a command and its subcommands, each with its file name.
fn render(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        render(subcommand, pages)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = with_plain_examples(&with_short_synopsis(&String::from_utf8_lossy(&text), command));
    pages.push((page.get_filename(), text.into_bytes()));
    Ok(())
}

/// A page with the line of usage as its synopsis, instead of a list of all options, which follow below.
fn with_short_synopsis(page: &str, command: &Command) -> String {
    const SYNOPSIS: &str = ".SH SYNOPSIS\n";
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('\\', "\\\\").replace('-', "\\-");
    match page.split_once(SYNOPSIS) {
        Some((before, after)) => {
            let rest = after.find(".SH ").map_or("", |start| &after[start..]);
            format!("{before}{SYNOPSIS}{usage}\n{rest}")
        }
        None => page.to_owned(),
    }
}

/// A page with unfilled examples: the formatter would fill and justify them.
fn with_plain_examples(page: &str) -> String {
    const EXTRA: &str = ".SH EXTRA\n";
    let Some((before, after)) = page.split_once(EXTRA) else { return page.to_owned() };
    let end = after.find("\n.SH ").map_or(after.len(), |end| end + 1);
    let (examples, rest) = after.split_at(end);
    format!("{before}.SH EXAMPLES\n.in 0\n.nf\n{}\n.fi\n.in\n{rest}", examples.trim_end())
}

/// Whether a file is a storebench man page of any version, by its title.
fn is_page(path: &Path) -> bool {
    let is_ours =
        |head: Vec<u8>| String::from_utf8_lossy(&head).lines().any(|line| line.starts_with(".TH storebench"));
    !path.is_symlink() && read_limited::start(path, HEAD).is_ok_and(is_ours)
}
