//! Splits the arguments into the board's and this machine's.

use std::path::Path;

use storebench_core::workload::parameter::Parameters;
use storebench_host::plan::Plan;
use storebench_model::error::{Error, Result};
use storebench_model::result::RunHeader;
use storebench_model::sanitize::piece;

use crate::cli::args::{LOCAL_OPTIONS, RunArgs};

/// This command line; an error if it is not text that can be sent.
pub fn command() -> Result<Vec<String>> {
    let word = |word: std::ffi::OsString| {
        word.into_string().map_err(|word| {
            Error::bad_value(format!("{}: with --remote, arguments must be UTF-8", word.to_string_lossy()))
        })
    };
    std::env::args_os().map(word).collect()
}

/// Checks that the board's paths are absolute: it has no meaningful working directory.
pub fn check_paths(args: &RunArgs, plan: &Plan) -> Result<()> {
    args.at.iter().try_for_each(|place| check_path("--at", &place.path))?;
    paths(&plan.parameters).try_for_each(|(name, path)| check_path(name, path))?;
    paths(&args.how.changes.parameters).try_for_each(|(name, path)| check_path(&format!("--{name}"), path))
}

/// The parameters that are files or directories.
fn paths(parameters: &Parameters) -> impl Iterator<Item = (&str, &Path)> {
    let files = [("text", &parameters.text), ("trace", &parameters.trace)];
    files.into_iter().filter_map(|(name, path)| Some((name, Path::new(path.as_ref()?))))
}

fn check_path(name: &str, path: &Path) -> Result<()> {
    if path.is_absolute() {
        return Ok(());
    }
    let path = path.display().to_string();
    Err(Error::bad_value(format!(
        "{name} {}: with --remote it is on the other machine: name it in full, like /mnt/sd",
        piece(&path)
    )))
}

/// The arguments of `run` that the board reads too.
pub fn board_arguments(command: &[String]) -> Vec<String> {
    split(command).0
}

/// The host of a remote run, from the command in its header.
pub fn host_of(header: &RunHeader) -> Option<String> {
    let (_, local) = split(&header.command);
    local.into_iter().find_map(|(name, value)| (name == "--remote").then_some(value))
}

/// The arguments after `run` for the board, and this machine's with their values.
fn split(command: &[String]) -> (Vec<String>, Vec<(String, String)>) {
    let (mut board, mut local) = (Vec::new(), Vec::new());
    let mut words = command.iter().skip(1).skip_while(|word| *word != "run").skip(1);
    let mut is_option = true;
    while let Some(word) = words.next() {
        is_option &= word != "--";
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if is_option && LOCAL_OPTIONS.contains(&name) {
            let value = value.map(str::to_owned).or_else(|| words.next().cloned());
            local.push((name.to_owned(), value.unwrap_or_default()));
        } else {
            board.push(word.clone());
        }
    }
    (board, local)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_board_reads_all_but_what_is_ours() {
        let line = "storebench run --remote a@b crud --quick --out=here --at sd=/mnt/sd --remote-program x --remote-dir=/d --trials 2";
        assert_eq!(board_arguments(&words(line)), words("crud --quick --at sd=/mnt/sd --trials 2"));
        assert_eq!(board_arguments(&words("storebench run crud -- --out")), words("crud -- --out"));
    }

    #[test]
    fn a_run_says_whose_it_is() {
        let host = |line: &str| {
            split(&words(line)).1.into_iter().find(|(name, _)| name == "--remote").map(|(_, host)| host)
        };
        assert_eq!(host("storebench run crud --remote=board --quick").as_deref(), Some("board"));
        assert_eq!(host("storebench run crud --quick --remote u@b").as_deref(), Some("u@b"));
        assert_eq!(host("storebench run crud --remote-dir /x"), None);
        assert_eq!(host("storebench run crud"), None);
    }
}
