//! Shows a run's progress: a bar with the time left on a terminal, a line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::runner::event::{Event, Listener};
use storebench_core::workload::load_progress::LoadProgress;
use storebench_model::result::Outcome;
use storebench_model::sanitize;
use storebench_model::units::{plural, rough_duration, with_commas};

/// The listener that suits standard error.
pub fn listener() -> Box<dyn Listener> {
    if std::io::stderr().is_terminal() {
        Box::new(Bar::new())
    } else {
        Box::new(ProgressLines::new(std::io::stderr()))
    }
}

/// A progress bar.
struct Bar {
    bar: ProgressBar,
    /// The present trial.
    cell: String,
    failed: u64,
}

impl Bar {
    fn new() -> Bar {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {prefix}  {wide_msg}") {
            bar.set_style(style);
        }
        Bar { bar, cell: String::new(), failed: 0 }
    }
}

impl Listener for Bar {
    fn handle_event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { total, done } => {
                self.bar.set_length(*total);
                self.bar.set_position(*done);
                // Indicatif would panic if no thread can be made; then the bar moves only when trials end.
                if std::thread::Builder::new().spawn(|| ()).is_ok() {
                    self.bar.enable_steady_tick(Duration::from_secs(1));
                }
            }
            Event::Extended { by } => self.bar.inc_length(*by),
            Event::TrialStarted { cell, left, .. } => {
                self.bar.set_prefix(left.map(about_left).unwrap_or_default());
                self.cell = sanitize::message(&cell.id());
                self.bar.set_message(self.cell.clone());
            }
            Event::Loading { loading } => {
                let loading =
                    loading.map_or(String::new(), |loading| format!("{}; ", describe_progress(&loading)));
                self.bar.set_message(format!("{loading}{}", self.cell));
            }
            Event::TrialEnded { result } => {
                if let Some(line) = complaint(&result.cell.id(), &result.outcome) {
                    self.failed += 1;
                    self.bar.suspend(|| print_line(&mut std::io::stderr(), &line));
                }
                self.bar.inc(1);
            }
            Event::Left { why } => {
                self.bar.suspend(|| print_line(&mut std::io::stderr(), &left_for_now(why)))
            }
            Event::Ended { .. } => self.bar.finish_and_clear(),
        }
    }
}

/// Lines, for logs and pipes.
struct ProgressLines<W> {
    out: W,
    total: u64,
    done: u64,
    last: Instant,
}

/// The width of a line, in columns: a cell with mixed sizes has a longer name.
const WIDTH: usize = 100;

/// The shortest time between two lines.
const EVERY: Duration = Duration::from_secs(10);

impl<W: Write> ProgressLines<W> {
    fn new(out: W) -> ProgressLines<W> {
        ProgressLines { out, total: 0, done: 0, last: Instant::now() }
    }
}

impl<W: Write> Listener for ProgressLines<W> {
    fn handle_event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { total, done } => (self.total, self.done) = (*total, *done),
            Event::Extended { by } => self.total += by,
            Event::TrialStarted { cell, left, .. } if self.done == 0 || self.last.elapsed() >= EVERY => {
                self.last = Instant::now();
                let left = left.map_or(String::new(), |left| format!(", {}", about_left(left)));
                let line =
                    format!("{} of {} done{left}; now {}", self.done, plural(self.total, "trial"), cell.id());
                print_line(&mut self.out, &sanitize::shorten(&line, WIDTH));
            }
            Event::Loading { loading: Some(loading) } if self.last.elapsed() >= EVERY => {
                self.last = Instant::now();
                print_line(&mut self.out, &describe_progress(loading));
            }
            Event::TrialStarted { .. } | Event::Loading { .. } => {}
            Event::TrialEnded { result } => {
                self.done += 1;
                if let Some(line) = complaint(&result.cell.id(), &result.outcome) {
                    print_line(&mut self.out, &line);
                }
            }
            Event::Left { why } => print_line(&mut self.out, &left_for_now(why)),
            Event::Ended { interrupted } => {
                let ending = if *interrupted { "interrupted" } else { "done" };
                let (done, all) = (with_commas(self.done), plural(self.total, "trial"));
                print_line(&mut self.out, &format!("{ending}: {done} of {all}"));
            }
        }
    }
}

/// Progress that can't be shown is no reason to stop a run.
fn print_line(out: &mut dyn Write, line: &str) {
    let _ = writeln!(out, "{}", sanitize::message(line));
}

fn left_for_now(why: &str) -> String {
    format!("left for now: {why}")
}

/// The time left first, as a terminal cuts long lines.
fn describe_progress(loading: &LoadProgress) -> String {
    let left = loading.time_left().map_or(String::new(), |left| format!("{}, ", about_left(left)));
    let rate = with_commas(loading.rate_per_s().round() as u64);
    let (doing, done, all) = (loading.doing.name(), with_commas(loading.done), with_commas(loading.all));
    format!("{doing}: {left}{done} of {all} at {rate}/s")
}

/// A time left in whole seconds, at least one.
fn about_left(left: Duration) -> String {
    format!("about {} left", rough_duration(Duration::from_secs(left.as_secs().max(1))))
}

fn complaint(cell: &str, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Ok => None,
        Outcome::Failed { message, log, .. } if log.is_empty() => Some(format!("failed: {cell}: {message}")),
        Outcome::Failed { message, log, .. } => Some(format!("failed: {cell}: {message} (log: {log})")),
        Outcome::Unsupported { message } => Some(format!("unsupported: {cell}: {message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_core::workload::load_progress::ProgressKind;
    use storebench_model::cell::Cell;
    use storebench_model::result::TrialResult;

    #[test]
    fn lines_tell_of_the_start_of_failures_and_of_the_end() {
        let mut lines = ProgressLines::new(Vec::new());
        let text = r#"{"store":"sqlite","record_size":"1B..1KiB","records":"100","data":"compressible","guarantee":"power"}"#;
        let cell: Cell = serde_json::from_str(text).unwrap();
        let result = format!(
            r#"{{"format":1,"cell":{text},"block":0,"position":0,"started":"","wall_s":1.0,
            "outcome":{{"status":"failed","reason":"disk-full","message":"the disk is full","log":"logs/1.log"}}}}"#
        );
        let result: TrialResult = serde_json::from_str(&result).unwrap();
        lines.handle_event(&Event::Started { total: 2, done: 0 });
        let left = Some(Duration::from_millis(61_500));
        lines.handle_event(&Event::TrialStarted { cell: &cell, position: 0, left });
        let (doing, took) = (ProgressKind::Loading, Duration::from_secs(10));
        let loading = LoadProgress { doing, done: 12_000, all: 60_000, took };
        lines.handle_event(&Event::Loading { loading: Some(loading) });
        lines.last -= EVERY;
        lines.handle_event(&Event::Loading { loading: Some(loading) });
        lines.handle_event(&Event::Loading { loading: None });
        lines.handle_event(&Event::TrialEnded { result: &result });
        lines.last -= EVERY;
        let mixed = r#"{"store":"sqlite","record_size":"90%:1KiB..10KiB+5%:10KiB..100KiB+5%:1MiB..10MiB","records":"100"}"#;
        let cell: Cell = serde_json::from_str(mixed).unwrap();
        let left = Some(Duration::from_secs(9));
        lines.handle_event(&Event::TrialStarted { cell: &cell, position: 1, left });
        lines.handle_event(&Event::Ended { interrupted: true });
        let expected = "0 of 2 trials done, about 1 min 01 s left; now sqlite/1B..1KiB/100..500/compressible/power\n\
            loading: about 40 s left, 12,000 of 60,000 at 1,200/s\n\
            failed: sqlite/1B..1KiB/100..500/compressible/power: the disk is full (log: logs/1.log)\n\
            1 of 2 trials done, about 9 s left; now sqlite/90%:1KiB..10KiB+5%:10KiB..100KiB+5%:1MiB..10MiB/10...\n\
            interrupted: 1 of 2 trials\n";
        assert_eq!(String::from_utf8(lines.out).unwrap(), expected);
    }
}
