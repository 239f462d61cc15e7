//! Standard output and standard error: text for people, data for programs, and the style of both.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::shown;
use storebench_report::terminal::Style;
use storebench_report::terminal::grid::wrap;

/// Columns of a terminal that all output fits in.
pub const WIDTH: usize = 80;

/// The style for standard output: its width, which COLUMNS says where it is no terminal, and colour where it is one and
/// NO_COLOR is not set.
pub fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = if terminal { terminal_width() } else { asked_width() };
    let width = width.unwrap_or(100);
    Style { width: width.max(80), colour: terminal && !no_colour }
}

fn asked_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// A sentence in lines of [`WIDTH`], indented, all but the first by two more.
pub fn fitted(sentence: &str, indent: usize) -> String {
    let spaces = " ".repeat(indent);
    format!("{spaces}{}", wrap(sentence, WIDTH - indent, &format!("{spaces}  ")))
}

/// Whether standard output is an export's, which other text would spoil.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Keeps standard output for an export that was asked for by the name `-`: text for people goes to standard error from now on.
pub fn take_standard_output() {
    IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Writes an export to standard output as it is.
pub fn print_export(bytes: &[u8]) -> Result<()> {
    write(bytes)
}

/// Writes text for people to standard output, without escape codes but for colours, and those only on a terminal. A reader that
/// has gone (a closed pipe) ends the program quietly.
pub fn print(text: &str) -> Result<()> {
    if IS_TAKEN.load(Ordering::Relaxed) {
        tell(text.trim_end());
        return Ok(());
    }
    if style().colour {
        write(shown::coloured(text).as_bytes())
    } else {
        write(shown::plain(text).as_bytes())
    }
}

/// Writes what other programs read to standard output, without escape codes.
pub fn print_data(bytes: &[u8]) -> Result<()> {
    write(shown::plain(&String::from_utf8_lossy(bytes)).as_bytes())
}

/// Writes something as JSON that people can read, too.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::new(Exit::Failure, format!("writing JSON: {error}")))?;
    print_data(format!("{text}\n").as_bytes())
}

fn write(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("writing to", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Tells the user something that is not the answer itself.
pub fn tell(text: &str) {
    // Standard error may be closed; nothing depends on it.
    let _ = writeln!(std::io::stderr(), "{}", shown::plain(&shown::without_users(text)));
}

/// Says in one line what is wrong.
pub fn complain(message: &str) {
    tell(&format!("storebench: {}", shown::message(message)));
}
