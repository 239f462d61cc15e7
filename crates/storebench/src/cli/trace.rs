//! `storebench trace`: summarises a trace of operations before it is replayed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use storebench_core::trace::{EXACT, Form, Reader, ReaderOptions, Share, Sizes, Summary, TimeUnit};
use storebench_core::workload::replay::parameters::{ReplayParameters, reader_options};
use storebench_host::plan::Plan;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::sanitize;
use storebench_model::units::{plural, rough_bytes, three_digits, with_commas};
use storebench_report::terminal::grid::wrap;

use super::args::TraceArgs;
use super::output::{WIDTH, print, print_json, print_note};
use super::signals;

const INTERRUPTED: &str = "interrupted while the trace was read";

pub fn show(args: &TraceArgs) -> Result<Exit> {
    let interrupted = signals::listen()?;
    let options =
        ReaderOptions { form: args.format, limit: args.limit, unit_ns: args.time_unit.map(TimeUnit::ns) };
    let Some(summary) = read(&args.file, options, &interrupted)? else { return Ok(Exit::Interrupted) };
    if args.json {
        print_json(&summary)?;
    } else {
        print(&text(&summary, &args.file))?;
    }
    Ok(Exit::Success)
}

/// The summary of a trace; `None` if it was interrupted, [`Exit::BadValue`] if it can't be read.
pub fn read(path: &Path, options: ReaderOptions, interrupted: &AtomicBool) -> Result<Option<Summary>> {
    Summary::read(path, options, &|| interrupted.load(Ordering::Relaxed)).map_err(Error::bad_value)
}

/// Summarises the trace that a plan replays, if any, and notes the summary in the plan; an error if it can't be replayed as required.
pub fn read_trace(plan: &mut Plan, interrupted: &AtomicBool) -> Result<()> {
    if !plan.workload.has_parameter("trace_facts") {
        return Ok(());
    }
    let path = plan.parameters.trace.as_ref().map(PathBuf::from);
    let path =
        path.ok_or_else(|| Error::bad_value("a replay needs a trace: name it with --trace FILE".to_owned()))?;
    let path = path
        .canonicalize()
        .map_err(|error| Error::bad_value(format!("the trace {}: {error}", path.display())))?;
    let path_text = path.to_str();
    let path_text =
        path_text.ok_or_else(|| Error::bad_value(format!("{}: its name is not UTF-8", path.display())))?;
    print_note(&format!("reading the trace {path_text}"));
    let Some(summary) = read(&path, reader_options(&plan.parameters), interrupted)? else {
        return Err(Error::new(Exit::Interrupted, INTERRUPTED));
    };
    plan.parameters.trace = Some(path_text.to_owned());
    plan.parameters.trace_facts = Some(summary.facts.clone());
    let work = ReplayParameters::from_parameters(&plan.parameters)
        .ok_or_else(|| Error::new(Exit::Failure, "the trace's facts can't be read back"))?;
    check_times(plan, &work)?;
    print_note(&summarize(&summary));
    if work.loads && summary.read_before_written_keys > 0 {
        print_note(&describe_read_first(&summary));
    }
    describe_ignored(&summary).iter().for_each(|line| print_note(line));
    Ok(())
}

/// Whether the trace can be replayed at its speed, and within the time of trials.
fn check_times(plan: &Plan, work: &ReplayParameters) -> Result<()> {
    let Some(length) = work.duration() else { return Ok(()) };
    if !work.facts.has_times() {
        return Err(Error::bad_value(format!(
            "the trace has no times, so that it can't be played at --speed {}: say --speed max",
            work.speed
        )));
    }
    if length >= plan.timeout.0 {
        return Err(Error::bad_value(format!(
            "at --speed {} the trace lasts {}, and a trial is stopped after {}: give a longer --timeout, a higher --speed, \
             or --limit",
            work.speed,
            seconds(length.as_secs_f64()),
            seconds(plan.timeout.0.as_secs_f64())
        )));
    }
    Ok(())
}

/// The columns that are read but not replayed.
fn describe_ignored(summary: &Summary) -> Option<String> {
    let names: Vec<String> = summary.ignored.iter().map(|name| sanitize::piece(name).into_owned()).collect();
    (!names.is_empty()).then(|| format!("Columns that are not played: {}.", names.join(", ")))
}

/// The replayed trace in a few lines; `storebench trace` shows everything.
fn summarize(summary: &Summary) -> String {
    let mut text = format!(
        "{} on {}; form: {}",
        plural(summary.operations, "operation"),
        describe_count(summary, summary.keys, "key"),
        summary.form
    );
    for share in summary.mix.iter().filter(|share| !share.lost.is_empty()) {
        let played = if share.played_as == "skip" {
            "not played".into()
        } else {
            format!("played as {}", share.played_as)
        };
        text.push_str(&format!(
            "\n{} {}: {played}: {}",
            with_commas(share.count),
            share.operation,
            share.lost
        ));
    }
    text
}

/// Checks that the trace of a resumed run is unchanged; [`Exit::BadValue`] if not.
pub fn check_same(plan: &Plan, interrupted: &AtomicBool) -> Result<()> {
    let Some(work) = ReplayParameters::from_parameters(&plan.parameters) else { return Ok(()) };
    let is_interrupted = || interrupted.load(Ordering::Relaxed);
    let reader = Reader::open(&work.trace, work.reader_options);
    let digest = reader.and_then(|reader| reader.digest(&is_interrupted));
    let Some(digest) = digest.map_err(Error::bad_value)? else {
        return Err(Error::new(Exit::Interrupted, INTERRUPTED));
    };
    if digest == work.facts.sha256 {
        return Ok(());
    }
    let path = work.trace.display();
    Err(Error::bad_value(format!("the trace {path} has changed since the run began: start a new run")))
}

fn text(summary: &Summary, path: &Path) -> String {
    let mut text = head(summary, path);
    text.push_str("\nOperations\n");
    let max_count = summary.mix.iter().map(|share| share.count).max().unwrap_or_default();
    let width = with_commas(max_count).len();
    text.extend(summary.mix.iter().map(|share| operation(share, summary.operations, width)));
    text.push_str(&rate(summary));
    text.push_str(&format!(
        "\n{:<20}{:>9} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "Sizes in bytes", "mean", "min", "p50", "p90", "p99", "max"
    ));
    text.push_str(&sizes("keys", &summary.key_bytes));
    text.push_str(&sizes("values written", &summary.value_bytes));
    text.push_str(&keys(summary));
    text
}

fn head(summary: &Summary, path: &Path) -> String {
    let path = sanitize::plain(&path.display().to_string()).into_owned();
    let span =
        summary.span_s.map_or_else(|| "without times".to_owned(), |span| format!("over {}", seconds(span)));
    let mut text = wrap(
        &format!(
            "{path}: {} on {}, {span}",
            plural(summary.operations, "operation"),
            describe_count(summary, summary.keys, "key")
        ),
        WIDTH,
        "  ",
    );
    let compression = summary.packed_by.map_or_else(String::new, |name| format!(", in {name}"));
    text.push_str(&wrap(
        &format!("Form: {} ({}){compression}", summary.form, summary.form.describe()),
        WIDTH,
        "  ",
    ));
    text.push_str(&format!("SHA-256: {}\n", summary.sha256));
    text.push_str(&describe_ignored(summary).map_or_else(String::new, |line| wrap(&line, WIDTH, "  ")));
    if summary.whole_seconds {
        text.push_str("Times are whole seconds: a replay spreads each second's operations over it.\n");
    }
    let time_note = match summary.went_back {
        0 => String::new(),
        1 => "1 operation has an earlier time than the one before it: the two count as simultaneous."
            .to_owned(),
        many => format!(
            "{} operations have an earlier time than the one before them: they count as simultaneous with it.",
            with_commas(many)
        ),
    };
    text.push_str(&wrap(&time_note, WIDTH, "  "));
    if summary.form == Form::RocksDb {
        text.push_str("Each write of a batch, and each key of a multiget, is one operation.\n");
    }
    text
}

fn operation(share: &Share, operations: u64, width: usize) -> String {
    let percent = share.count as f64 / operations as f64 * 100.0;
    let mut line = format!("  {:<22}{:>width$}  {percent:>5.1} %", share.operation, with_commas(share.count));
    if share.played_as == "skip" {
        line.push_str(&format!("  not played: {}", share.lost));
    } else if !share.lost.is_empty() {
        line.push_str(&format!("  played as {}: {}", share.played_as, share.lost));
    } else if share.played_as != share.operation {
        line.push_str(&format!("  played as {}", share.played_as));
    }
    wrap(&line, WIDTH, "      ")
}

/// Operations per second over time, as a row of bars.
fn rate(summary: &Summary) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (Some(span_s), Some(max_count)) = (summary.span_s, summary.stretches.iter().max()) else {
        return String::new();
    };
    let bar = |count: &u64| match count {
        0 => ' ',
        count => BARS[((count * 8).div_ceil(*max_count).max(1) - 1) as usize],
    };
    let bars: String = summary.stretches.iter().map(bar).collect();
    let mean = summary.operations as f64 / span_s.max(summary.stretch_s);
    let peak = *max_count as f64 / summary.stretch_s;
    format!(
        "\nOperations per second: {} on average, up to {} over {}\n  {bars}\n  (one bar: {})\n",
        rounded(mean),
        rounded(peak),
        seconds(summary.stretch_s),
        seconds(summary.stretch_s)
    )
}

fn sizes(name: &str, sizes: &Sizes) -> String {
    let Sizes { mean, min, p50, p90, p99, max } = sizes;
    format!("  {name:<18}{mean:>9.1} {min:>8} {p50:>8} {p90:>8} {p99:>8} {max:>8}\n")
}

fn keys(summary: &Summary) -> String {
    let skew = &summary.skew;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let zipf = skew.zipf.map_or_else(|| "too few keys".to_owned(), |s| format!("{s:.2}"));
    let mut text = format!(
        "\nKeys\n  Zipf exponent that fits best: {zipf} (0: all alike; YCSB: 0.99)\n  \
         {} of the operations are on the most used 1 % of keys, {} on 10 %\n  \
         {} of the keys have a single operation\n",
        percent(skew.top_1_percent),
        percent(skew.top_10_percent),
        percent(skew.once)
    );
    text.push_str("\nWorking set\n");
    for part in &summary.working_set {
        text.push_str(&format!(
            "  first {:>3} % of the trace: {}, {} of keys and values\n",
            part.share * 100.0,
            describe_count(summary, part.keys, "key"),
            rough_bytes(part.bytes as f64)
        ));
    }
    text.push_str(&wrap(&format!("\n{}", describe_read_first(summary)), WIDTH, ""));
    if summary.counted_one_in > 1 {
        let sample = format!(
            "\nThere are more than {} keys: figures of keys, skew and working set are of one key in {}, chosen by hash.",
            with_commas(EXACT as u64),
            summary.counted_one_in
        );
        text.push_str(&wrap(&sample, WIDTH, ""));
    }
    text
}

/// The keys that the trace reads before it writes them.
fn describe_read_first(summary: &Summary) -> String {
    let operations = describe_count(summary, summary.read_before_written_operations, "operation");
    match summary.read_before_written_keys {
        0 => "The trace writes each key before it reads or removes it: a replay loads nothing first.".into(),
        1 => format!(
            "1 key is read or removed before the trace writes it, in {operations}. A replay loads this key first, unless you say \
             --load nothing."
        ),
        keys => format!(
            "{} are read or removed before the trace writes them, in {operations}. A replay loads these keys first, unless \
             you say --load nothing.",
            describe_count(summary, keys, "key")
        ),
    }
}

/// A number of keys or operations, which may be an estimate.
fn describe_count(summary: &Summary, count: u64, noun: &str) -> String {
    let estimate = if summary.counted_one_in > 1 { "about " } else { "" };
    format!("{estimate}{}", plural(count, noun))
}

fn rounded(rate: f64) -> String {
    if rate >= 1000.0 { with_commas(rate.round() as u64) } else { three_digits(rate) }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        short if short < 1.0 => format!("{} ms", three_digits(short * 1e3)),
        short if short < 600.0 => format!("{} s", three_digits(short)),
        long if long < 7200.0 => format!("{} min", three_digits(long / 60.0)),
        long => format!("{} h", three_digits(long / 3600.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_fits_a_terminal_and_tells_what_is_not_played() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let lines: String = (0..400)
            .map(|n| format!("0x{:04X} {} 0 {} {}\n", n * n % 97, [0, 1, 5, 7][n % 4], n % 30 + 1, n * 1000))
            .collect();
        std::fs::write(&path, lines).unwrap();
        let summary = Summary::read(&path, ReaderOptions::default(), &|| false).unwrap().unwrap();
        let text = text(&summary, Path::new("trace.txt"));
        assert!(text.starts_with("trace.txt: 400 operations on "), "{text}");
        assert!(text.contains("Form: rocksdb (RocksDB's trace_analyzer"), "{text}");
        assert!(text.contains("not played: stores here scan upwards only"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("Operations per second: "), "{text}");
    }
}
