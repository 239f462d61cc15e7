//! Completion scripts and man pages, generated from the arguments.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use storebench_core::bounded;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::store::StoreDef;
use storebench_disk::disks;
use storebench_host::machine;
use storebench_host::plan::{self, Plan, STUDIES};

use super::args::{Args, study};
use super::files;
use super::output::print;

/// The part of a man page that must contain its title, in bytes.
const HEAD: usize = 256;

/// Prints the completion script for `shell`.
pub fn completions(stores: &[StoreDef], shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    let mut command = Args::command();
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
    for (subcommand, argument, names) in names {
        let known = PossibleValuesParser::new(names);
        let with_names =
            |command: Command| command.mut_arg(argument, |argument| argument.value_parser(known));
        command = command.mut_subcommand(subcommand, with_names);
    }
    clap_complete::generate(shell, &mut command, "storebench", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        // The last value of a list is completed; the others stay.
        let whole = r#" -- "${cur}""#;
        let last = r#" -P "${cur%"${cur##*,}"}" -- "${cur##*,}""#;
        script = script.replace(whole, last);
    }
    print(&script)?;
    Ok(Exit::Success)
}

/// Writes the man pages to `directory`, which is made if missing. Existing storebench pages are replaced;
/// if any other file has one of their names, nothing is written.
pub fn pages(directory: &Path) -> Result<Exit> {
    std::fs::create_dir_all(directory).map_err(Error::io("making", directory))?;
    let mut command = Args::command()
        .disable_help_subcommand(true)
        .mut_subcommand("run", |run| study::of_workload(run, None));
    command.build();
    let mut pages = Vec::new();
    render(&command, &mut pages).map_err(Error::io("writing man pages to", directory))?;
    for study in STUDIES {
        let page = of_study(&plan::find(study.name)?);
        render(&page, &mut pages).map_err(Error::io("writing man pages to", directory))?;
    }
    let pages: Vec<_> = pages.into_iter().map(|(name, text)| (directory.join(name), text)).collect();
    pages.iter().try_for_each(|(path, _)| files::refuse_theirs(path, is_page))?;
    for (path, text) in pages {
        files::replace_by(&path, |beside| {
            let mut file = File::create_new(beside).map_err(Error::io("writing", &path))?;
            file.write_all(&text).map_err(Error::io("writing", &path))
        })?;
    }
    Ok(Exit::Success)
}

/// `run` with a study, as a separate command.
fn of_study(plan: &Plan) -> Command {
    let mut command = Args::command();
    command.build();
    let run = command.find_subcommand("run").cloned().unwrap_or_default();
    study::of_workload(run, Some(plan.workload))
        .mut_arg("study", |study| study.hide(true))
        .display_name(format!("storebench-run-{}", plan.name))
        .override_usage(format!("storebench run {} [OPTIONS]", plan.name))
        .about(plan.title.clone())
}

/// The pages of a command and its subcommands, each with its file name.
fn render(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        render(below, pages)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = with_examples_as_they_are(&with_short_synopsis(&String::from_utf8_lossy(&text), command));
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
fn with_examples_as_they_are(page: &str) -> String {
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
    !path.is_symlink() && bounded::start(path, HEAD).is_ok_and(is_ours)
}
