//! The lines of `results.jsonl`: those that are results, those that repeat one, and what a crash left after the last.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::de::Error as _;
use serde_json::error::Category;

use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::TrialResult;
use storebench_model::sanitize::plain_json;

/// The longest line, in bytes: a result includes its histograms and series.
const MOST_LINE: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Lines {
    /// The results in file order, each trial once.
    pub(super) trials: Vec<TrialResult>,
    /// Damage, in words that follow the file's name.
    pub(super) notes: Vec<String>,
    /// The length of the file up to the end of its last result, in bytes.
    pub(super) complete_bytes: usize,
    /// Whether the last result lacks the end of its line.
    pub(super) lacks_newline: bool,
    pub(super) tail: FileTail,
}

/// The kind of bytes after the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileTail {
    Nothing,
    /// An incomplete line, or zeros: a crash leaves these, and no result is lost.
    CutOff,
    Damaged,
}

struct Line<'a> {
    bytes: &'a [u8],
    start: usize,
    /// From 1.
    number: usize,
}

impl Line<'_> {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }

    fn is_ended(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// Whether a failing machine may have written this line, rather than a person.
    fn is_damage(&self) -> bool {
        !self.is_ended() || self.bytes.contains(&0) || std::str::from_utf8(self.bytes).is_err()
    }
}

/// Reads the lines of a file of results, whose cells have a value on each of `required_axes`. Else returns the number of a line that is
/// no result and neither the last nor damaged, and why.
pub(super) fn read(bytes: &[u8], required_axes: &[Axis]) -> Result<Lines, (usize, serde_json::Error)> {
    let lines = split_lines(bytes);
    let parse_line = |line: &Line<'_>| {
        if line.bytes.len() > MOST_LINE {
            return Err(serde_json::Error::custom("it is longer than 64 MiB"));
        }
        let trial: TrialResult = serde_json::from_slice(&plain_json(line.bytes))?;
        match required_axes.iter().find(|axis| trial.cell.value(**axis).is_none()) {
            Some(missing) => Err(serde_json::Error::missing_field(missing.name())),
            None => Ok(trial),
        }
    };
    let parsed: Vec<serde_json::Result<TrialResult>> = lines.par_iter().map(parse_line).collect();
    let good_lines = parsed.iter().rposition(Result::is_ok).map_or(0, |last| last + 1);
    let mut rest = lines[good_lines..].iter();
    let mut trials = Vec::new();
    let mut is_cut_off = true;
    for (line, result) in lines.iter().zip(parsed) {
        match result {
            Ok(trial) => trials.push((line.number, trial)),
            Err(error) if trials.len() < good_lines || !rest.clone().all(Line::is_damage) => {
                return Err((line.number, error));
            }
            Err(error) => {
                is_cut_off &= error.classify() == Category::Eof || line.bytes.iter().all(|byte| *byte == 0);
            }
        }
    }
    let complete_bytes = good_lines.checked_sub(1).map_or(0, |last| lines[last].end());
    let tail = match rest.next() {
        None => FileTail::Nothing,
        Some(_) if is_cut_off => FileTail::CutOff,
        Some(_) => FileTail::Damaged,
    };
    let mut notes = Vec::new();
    let trials = keep_first(trials, &mut notes);
    if tail != FileTail::Nothing {
        let count = bytes.len() - complete_bytes;
        notes.push(format!(
            "ends in {count} bytes that are no result: a trial was cut off, and does not count"
        ));
    }
    let lacks_newline = good_lines > 0 && !lines[good_lines - 1].is_ended();
    Ok(Lines { trials, notes, complete_bytes, lacks_newline, tail })
}

/// The lines that hold anything.
fn split_lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let mut start = 0;
    let pieces = bytes.split_inclusive(|byte| *byte == b'\n').enumerate().map(|(index, bytes)| {
        let line = Line { bytes, start, number: index + 1 };
        start += bytes.len();
        line
    });
    pieces.filter(|line| !line.bytes.trim_ascii().is_empty()).collect()
}

/// Keeps the first result of each trial: a repeated line must not count as two measurements.
fn keep_first(trials: Vec<(usize, TrialResult)>, notes: &mut Vec<String>) -> Vec<TrialResult> {
    let mut first_lines: HashMap<(Cell, u32), usize> = HashMap::with_capacity(trials.len());
    let mut repeated: Vec<(usize, usize)> = Vec::new();
    let mut kept = Vec::with_capacity(trials.len());
    for (number, trial) in trials {
        match first_lines.get(&(trial.cell.clone(), trial.block)) {
            Some(first_line) => repeated.push((number, *first_line)),
            None => {
                first_lines.insert((trial.cell.clone(), trial.block), number);
                kept.push(trial);
            }
        }
    }
    if let Some((number, first)) = repeated.first() {
        let suffix = match repeated.len() {
            1 => String::new(),
            2 => "; so does 1 more line".into(),
            count => format!("; so do {} more lines", count - 1),
        };
        notes.push(format!("line {number} repeats the trial of line {first}, and does not count{suffix}"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use storebench_model::result::FORMAT_VERSION;

    const CELL: &str = r#"{"store":"lmdb","record_size":"1B..1KiB","records":"100..500","data":"incompressible","guarantee":"process"}"#;

    /// The measurements of a trial without operations.
    const MEASURED: &str = r#"{"guarantee":"process","store_version":"1.2.3","settings":[],"statistics":[],
        "load":{"records":100,"value_bytes":51200,"store_ns":2000000},"operations":[],"settle_ns":3000000,
        "memory":{"base_bytes":4194304,"peak_above_base_bytes":1024000},"cpu":{"user_ns":5000000,"system_ns":1000000},
        "disk":{"allocated_bytes":50960,"apparent_bytes":60000,"files":3},
        "stored":{"records":100,"key_bytes":3200,"value_bytes":51200}}"#;

    /// `count` lines, each the result of another trial.
    fn text(count: usize) -> Vec<u8> {
        let measured = MEASURED.replace('\n', "");
        let line = |block| {
            format!(
                r#"{{"format":{FORMAT_VERSION},"cell":{CELL},"block":{block},"position":{block},"started":"2025-01-02T03:04:05Z","wall_s":1.5,"load_1min":0.25,"file_creation_ns":25000,"outcome":{{"status":"ok"}},"measured":{measured}}}"#
            )
        };
        (0..count).flat_map(|block| [line(block).as_bytes(), b"\n"].concat()).collect()
    }

    fn blocks_of(lines: &Lines) -> Vec<u32> {
        lines.trials.iter().map(|trial| trial.block).collect()
    }

    #[test]
    fn a_last_line_that_only_lacks_its_end_is_whole() {
        let mut text = text(2);
        text.pop();
        let lines = read(&text, &[]).unwrap();
        assert_eq!((blocks_of(&lines), lines.complete_bytes), (vec![0, 1], text.len()));
        assert_eq!((lines.lacks_newline, lines.tail, lines.notes.len()), (true, FileTail::Nothing, 0));
    }

    #[test]
    fn what_a_crash_left_at_the_end_does_not_count() {
        let good = text(2);
        let half = &good[..good.len() / 3];
        let with_newline = [half, b"\xff\xfe\n\x00\n{"].concat();
        let cases: [(&[u8], FileTail); 7] = [
            (b"", FileTail::Nothing),
            (b"\n \n\r\n", FileTail::Nothing),
            (half, FileTail::CutOff),
            (&[0; 4096], FileTail::CutOff),
            (b"\xff\xfe\xfd", FileTail::Damaged),
            (&with_newline, FileTail::Damaged),
            (b"hello", FileTail::Damaged),
        ];
        for (tail, kind) in cases {
            let lines = read(&[&good, tail].concat(), &[]).unwrap();
            assert_eq!((blocks_of(&lines), lines.complete_bytes), (vec![0, 1], good.len()), "{tail:?}");
            assert_eq!((lines.tail, lines.lacks_newline), (kind, false), "{tail:?}");
            assert_eq!(lines.notes.len(), usize::from(kind != FileTail::Nothing), "{tail:?}");
        }
        assert_eq!(read(b"", &[]).unwrap().complete_bytes, 0);
        assert_eq!(read(half, &[]).unwrap().trials.len(), 0);
    }

    #[test]
    fn what_somebody_wrote_is_an_error_with_its_line() {
        let good = text(1);
        for (text, line) in [
            ([b"\n", &good[..], b"nonsense\n"].concat(), 3),
            ([&good[..], b"\xff\n", &good].concat(), 2),
            (b"nonsense\n".to_vec(), 1),
            ([&good[..], b"\xff\nnonsense\n"].concat(), 2),
        ] {
            assert_eq!(read(&text, &[]).unwrap_err().0, line);
        }
    }

    #[test]
    fn empty_lines_are_none_and_a_trial_that_is_there_twice_counts_once() {
        let bytes = text(3);
        let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap();
        let lines = read(&[b"\n", &bytes[..], b"\n", first, first].concat(), &[]).unwrap();
        assert_eq!(blocks_of(&lines), [0, 1, 2]);
        let note = "line 6 repeats the trial of line 2, and does not count; so does 1 more line";
        assert_eq!(lines.notes, [note]);
        let different =
            String::from_utf8(first.to_vec()).unwrap().replace("\"wall_s\":1.5", "\"wall_s\":9.5");
        let lines = read(&[&bytes[..], different.as_bytes()].concat(), &[]).unwrap();
        assert_eq!((lines.trials.len(), lines.trials[0].wall_s, lines.notes.len()), (3, 1.5, 1));
    }

    #[test]
    fn a_cell_without_an_axis_of_its_workload_is_no_result_and_escape_codes_are_gone() {
        let text = text(1);
        assert_eq!(read(&text, &[Axis::STORE]).unwrap().trials.len(), 1);
        let (line, error) = read(&text, &[Axis::STORE, Axis::PATTERN]).unwrap_err();
        assert_eq!((line, error.to_string().contains("missing field `pattern`")), (1, true), "{error}");
        let text = String::from_utf8(text).unwrap().replace("1.2.3", "\\u001b]0;x\\u0007");
        let lines = read(text.as_bytes(), &[]).unwrap();
        assert_eq!(lines.trials[0].ok().unwrap().store_version, " ]0;x ");
    }
}
