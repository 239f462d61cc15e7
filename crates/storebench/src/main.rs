//! The command line of storebench.

use std::io::Write;
use std::process::ExitCode;

use storebench_core::crash_writer;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, rest)) if command == "__write" => crash_writer::run(storebench::STORES, rest),
        _ => Err("there are no commands yet".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Where standard error is closed, the exit code has to do.
            let _ = writeln!(std::io::stderr(), "storebench: {message}");
            ExitCode::FAILURE
        }
    }
}
