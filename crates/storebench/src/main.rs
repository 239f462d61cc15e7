//! The storebench program: the command line over the table of stores.

use std::process::ExitCode;

fn main() -> ExitCode {
    storebench::cli::main_with(&storebench::present(), storebench::EXTRAS)
}
