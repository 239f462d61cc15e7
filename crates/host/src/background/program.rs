//! Programs that a load needs and a system may lack.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::message::LoadStop;
use storebench_model::lifeline;

/// Whether a program is found in PATH.
pub fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(name)))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Runs a program to its end and hands over each line of its output. It dies with the calling thread. Fails when the program does.
pub fn run(
    name: &str,
    arguments: &[impl AsRef<OsStr>],
    mut handle_line: impl FnMut(&str),
) -> Result<(), LoadStop> {
    let failed = |error: std::io::Error| LoadStop::Failed(format!("running {name}: {error}"));
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = lifeline::tie_to_parent(&mut command).spawn().map_err(failed)?;
    let output = child.stdout.take();
    for text in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
        handle_line(&text.map_err(failed)?);
    }
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(LoadStop::Failed(format!("{name} ended: {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_run_and_judged() {
        assert!(is_installed("sh") && !is_installed("no-such-program-here") && !is_installed("."));
        let mut lines = Vec::new();
        run("sh", &["-c", "echo one; echo two"], |line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["one", "two"]);
        let failed = run("sh", &["-c", "exit 3"], |_| {}).unwrap_err();
        assert!(matches!(&failed, LoadStop::Failed(why) if why.contains('3')), "{failed:?}");
        assert!(run("no-such-program-here", &["x"], |_| {}).is_err());
    }
}
