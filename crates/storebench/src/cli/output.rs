//! Standard output and standard error: text for people, data for programs, and their styles.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::sanitize;
use storebench_report::terminal::Style;
use storebench_report::terminal::grid::wrap;

/// The width that all output fits into.
pub const WIDTH: usize = 80;

/// The style for standard output: the width, from COLUMNS if it is no terminal, and colour if it is one and NO_COLOR is not set.
pub fn style() -> Style {
    let is_terminal = std::io::stdout().is_terminal();
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = if is_terminal { terminal_width() } else { environment_width() };
    let width = width.unwrap_or(100);
    Style { width: width.max(80), colour: is_terminal && !no_colour }
}

fn environment_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// A sentence in lines of [`WIDTH`], indented, with two more columns for all but the first.
pub fn fitted(sentence: &str, indent: usize) -> String {
    let spaces = " ".repeat(indent);
    format!("{spaces}{}", wrap(sentence, WIDTH - indent, &format!("{spaces}  ")))
}

/// Whether standard output carries an export, which other text would spoil.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Reserves standard output for an export to `-`: text for people goes to standard error from now on.
pub fn take_standard_output() {
    IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Writes text for people to standard output, without escape codes except colours, and those only on a terminal. A closed
/// pipe ends the program quietly.
pub fn print(text: &str) -> Result<()> {
    if IS_TAKEN.load(Ordering::Relaxed) {
        print_note(text.trim_end());
        return Ok(());
    }
    if style().colour {
        print_export(sanitize::coloured(text).as_bytes())
    } else {
        print_export(sanitize::plain(text).as_bytes())
    }
}

/// Writes data for other programs to standard output, without escape codes.
pub fn print_data(bytes: &[u8]) -> Result<()> {
    print_export(sanitize::plain(&String::from_utf8_lossy(bytes)).as_bytes())
}

pub fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::new(Exit::Failure, format!("writing JSON: {error}")))?;
    print_data(format!("{text}\n").as_bytes())
}

/// Writes an export to standard output unchanged.
pub fn print_export(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("writing to", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Shows the user a remark that is not part of the answer.
pub fn print_note(text: &str) {
    // Standard error may be closed; nothing depends on it.
    let _ = writeln!(std::io::stderr(), "{}", sanitize::plain(&sanitize::without_users(text)));
}

/// Shows an error in one line.
pub fn complain(message: &str) {
    print_note(&format!("storebench: {}", sanitize::message(message)));
}
