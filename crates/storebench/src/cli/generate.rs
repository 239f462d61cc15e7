//! `storebench generate`: writes a workload's data as files.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use storebench_core::workload::shop::files::{self, FilesSpec, GenerateError, GeneratedFiles, Progress};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::sanitize;
use storebench_model::units::{plural, rough_bytes, rough_duration, with_commas};

use super::args::{GenerateArgs, GeneratedWorkload};
use super::output::print;
use super::signals;

/// The time between two progress lines: on a terminal, and elsewhere.
const TERMINAL_INTERVAL: Duration = Duration::from_millis(200);
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Makes the files; [`Exit::BadValue`] if they exist.
pub fn generate(args: &GenerateArgs) -> Result<Exit> {
    let GenerateArgs { workload: GeneratedWorkload::Shop, size, ref out, seed, unsorted, sample, threads } =
        *args;
    let interrupted = signals::listen()?;
    let threads = threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX));
    let spec = FilesSpec { bytes: size, seed, sorted: !unsorted, threads, sample };
    let mut line = ProgressLine::new(&interrupted);
    let started = Instant::now();
    let outcome = files::write(&spec, out, &mut |progress| line.show(progress));
    line.clear();
    match outcome {
        Ok(files) => print(&text(&files, started.elapsed())).map(|()| Exit::Success),
        Err(GenerateError::Interrupted) => {
            Err(Error::new(Exit::Interrupted, "interrupted: what was made so far is deleted again"))
        }
        Err(GenerateError::Exists(path)) => Err(Error::bad_value(format!(
            "{} is there already: name another folder with --out, or delete it",
            path.display()
        ))),
        Err(GenerateError::File(path, error)) => Err(Error::io("writing", Path::new(&path))(error)),
    }
}

fn text(generated: &GeneratedFiles, duration: Duration) -> String {
    let mut text = String::new();
    for (path, bytes) in &generated.files {
        text.push_str(&format!("{:>9}  {}\n", rough_bytes(*bytes as f64), path.display()));
    }
    let bytes: u64 = generated.files.iter().map(|(_, bytes)| bytes).sum();
    let took_s = duration.as_secs_f64().max(1e-9);
    let waiting_share = generated.waited.as_secs_f64() / took_s;
    let bottleneck = if waiting_share > 0.5 { "making rows" } else { "the disk" };
    text.push_str(&format!(
        "{}, {} in {}: {} per second, on disk; {bottleneck} took longest ({:.0} % of the time went by waiting for rows)\n",
        plural(generated.rows, "row"),
        rough_bytes(bytes as f64),
        rough_duration(duration),
        rough_bytes(bytes as f64 / took_s),
        waiting_share * 100.0
    ));
    text
}

struct ProgressLine<'a> {
    interrupted: &'a AtomicBool,
    started: Instant,
    last: Instant,
    is_terminal: bool,
}

impl<'a> ProgressLine<'a> {
    fn new(interrupted: &'a AtomicBool) -> ProgressLine<'a> {
        let now = Instant::now();
        ProgressLine { interrupted, started: now, last: now, is_terminal: std::io::stderr().is_terminal() }
    }

    /// Shows the progress now and then; returns whether to continue.
    fn show(&mut self, progress: Progress) -> bool {
        let period = if self.is_terminal { TERMINAL_INTERVAL } else { LOG_INTERVAL };
        if self.last.elapsed() >= period {
            self.last = Instant::now();
            self.write(&progress_line(progress, self.started.elapsed()));
        }
        !self.interrupted.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        if self.is_terminal {
            self.write("");
        }
    }

    fn write(&self, line: &str) {
        // Standard error may be closed; nothing depends on it.
        let mut out = std::io::stderr();
        let _ = match self.is_terminal {
            true => write!(out, "\r\x1b[K{}", sanitize::plain(line)),
            false => writeln!(out, "{}", sanitize::plain(line)),
        };
        let _ = out.flush();
    }
}

/// The progress, with the remaining time at this pace.
fn progress_line(progress: Progress, elapsed: Duration) -> String {
    let Progress { rows, total_rows: total } = progress;
    let share = rows as f64 / total.max(1) as f64;
    let rest = elapsed.mul_f64((1.0 - share).max(0.0) / share.max(1e-6));
    format!(
        "{} of {} ({:.0} %), {} left",
        with_commas(rows),
        plural(total, "row"),
        share * 100.0,
        rough_duration(rest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_it_is_and_how_long_the_rest_takes() {
        let progress = Progress { rows: 250, total_rows: 1000 };
        let line = progress_line(progress, Duration::from_secs(10));
        assert!(line.starts_with("250 of 1,000 rows (25 %), "), "{line}");
        assert!(line.contains(&rough_duration(Duration::from_secs(30))), "{line}");
    }
}
