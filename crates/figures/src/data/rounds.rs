//! Figures by round: speed and file size after each of several rounds on one database.

use storebench_model::result::{Measurements, OVERALL, OperationResult, Round};

use super::merge::{Entry, measured};
use crate::column::{MAX, P99, P999};
use crate::stats::trend::Trend;
use crate::stats::{Summary, median, quantile};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Operations per second: of all together, or of the only operation.
    Speed,
    /// Disk space of the files at its end, in bytes.
    Files,
    /// The bytes that the process wrote by system calls.
    Written,
    /// The 99th percentile of latency, in nanoseconds: of all together, or of the only operation.
    P99,
    /// The 99.9th percentile of latency, in nanoseconds: of all together, or of the only operation.
    P999,
    /// The longest latency, in nanoseconds: likewise.
    Longest,
}

impl Figure {
    pub const ALL: [Figure; 6] =
        [Figure::Speed, Figure::Files, Figure::Written, Figure::P99, Figure::P999, Figure::Longest];

    fn value_in(self, round: &Round) -> Option<f64> {
        let operation = || round.operation(OVERALL).or(round.operations.first());
        match self {
            Figure::Speed => operation()?.per_second(),
            Figure::Files => Some(round.disk.allocated_bytes as f64),
            Figure::Written => Some(operation()?.counters.as_ref()?.written_bytes? as f64),
            Figure::P99 => P99.operation_value(operation()?),
            Figure::P999 => P999.operation_value(operation()?),
            Figure::Longest => MAX.operation_value(operation()?),
        }
    }
}

/// The most rounds of a trial; 0 if none has several.
pub fn most_rounds<'e>(entries: impl IntoIterator<Item = &'e Entry<'e>>) -> usize {
    let rounds = |entry: &Entry<'_>| entry.trial.ok().map_or(0, |measured| measured.rounds.len());
    entries.into_iter().map(rounds).max().unwrap_or(0)
}

/// A figure of a round, from 0, in each trial that has it.
pub fn values(entries: &[Entry<'_>], figure: Figure, round: usize) -> Vec<f64> {
    let value_of = |measured: &Measurements| figure.value_in(measured.rounds.get(round)?);
    measured(entries).into_iter().filter_map(|(_, measured)| value_of(measured)).collect()
}

/// The operations of a set's life.
const LIFE_OPERATIONS: [&str; 4] = ["update", "insert", "remove", "scan"];

/// The bytes of values that a set's life had written at the end of a round, from 0; `None` for another workload.
pub fn written_bytes(measured: &Measurements, round: usize) -> Option<f64> {
    let rounds = measured.rounds.get(..=round)?;
    let mut operations = rounds.iter().flat_map(|round| &round.operations).filter(|o| o.operation != OVERALL);
    let is_life = operations.all(|operation| LIFE_OPERATIONS.contains(&operation.operation.as_str()));
    let bytes: u64 = rounds.iter().map(value_bytes).sum();
    (is_life && bytes > 0).then_some(bytes as f64)
}

/// A figure of the last round over that of the first, trial by trial; `None` also if the figure is doubtful.
pub fn last_over_first(entries: &[Entry<'_>], figure: Figure) -> Option<Summary> {
    let ratio_of = |measured: &Measurements| match (figure, measured.rounds.as_slice()) {
        (Figure::Files, _) => measured.disk_growth(),
        (_, [first, .., last]) => {
            Some(figure.value_in(last)? / figure.value_in(first).filter(|first| *first > 0.0)?)
        }
        _ => None,
    };
    let ratios: Vec<f64> = measured(entries).into_iter().filter_map(|(_, m)| ratio_of(m)).collect();
    Summary::from_values(&ratios)
}

/// The last rounds whose trend is reported: as many as a trial considers that goes on until there is none.
pub const LAST: usize = 5;

/// The trend of a figure over the last rounds of trials, as a share of its value in the last one; `None` if no trial has enough.
pub fn trend(trials: &[&Measurements], figure: Figure) -> Option<Trend> {
    let shares_of = |measured: &&Measurements| {
        let last = measured.rounds.last_chunk::<LAST>()?;
        let figures: Vec<f64> = last.iter().filter_map(|round| figure.value_in(round)).collect();
        let unit = figures.last().copied().filter(|unit| *unit > 0.0 && figures.len() == LAST)?;
        Some(figures.into_iter().map(|figure| figure / unit).collect())
    };
    Trend::from_series(&trials.iter().filter_map(shares_of).collect::<Vec<Vec<f64>>>())
}

/// Bytes of values in the last rounds below which logs and unsorted data can explain all growth of the files: as shipped, some
/// engines hold this much before they merge it.
const MIN_WRITTEN_BYTES: u64 = 64 << 20;

/// If closing the store shrinks the files to this share, they were full of data that closing clears away.
const MAX_CLEARED_SHARE: f64 = 0.5;

/// Whether the files grow in the last rounds. They are measured with the store open, including its logs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Growth {
    None,
    /// They grow, but only this number of bytes of values was written, so that logs can explain it.
    Short(u64),
    /// They grow, but only this share of the files remains after the store is closed.
    Cleared(f64),
    /// They double after this number of further rounds, at the present pace.
    Doubles(f64),
}

/// The growth over some trials; `None` if no trial has enough rounds.
pub fn growth(trials: &[&Measurements]) -> Option<Growth> {
    let file_trend = trend(trials, Figure::Files)?;
    if !file_trend.is_told || file_trend.per_step <= 0.0 {
        return Some(Growth::None);
    }
    let long = || trials.iter().filter_map(|m| Some((*m, m.rounds.last_chunk::<LAST>()?)));
    let written: Vec<u64> = long().map(|(_, last)| last.iter().map(value_bytes).sum()).collect();
    let written = quantile(&written, 0.5).unwrap_or(0);
    let left_share = |(measured, last): (&Measurements, &[Round; LAST])| {
        let open_bytes = last.last()?.disk.allocated_bytes;
        Some(measured.known_disk()?.allocated_bytes as f64 / open_bytes.max(1) as f64)
    };
    let left_share =
        median(&long().filter_map(left_share).collect::<Vec<_>>()).map_or(f64::INFINITY, |share| share.value);
    Some(match () {
        () if left_share <= MAX_CLEARED_SHARE => Growth::Cleared(left_share),
        () if written < MIN_WRITTEN_BYTES => Growth::Short(written),
        () => Growth::Doubles(1.0 / file_trend.per_step),
    })
}

/// The growth of rising files, as a share of the bytes of values written meanwhile; `None` if they don't grow, or nothing is written.
pub fn kept_of_written(trials: &[&Measurements], file_trend: Trend) -> Option<f64> {
    let kept_share = |round: &Round| {
        let written = value_bytes(round) as f64;
        (written > 0.0).then(|| file_trend.per_step * round.disk.allocated_bytes as f64 / written)
    };
    let shares: Vec<f64> = trials.iter().filter_map(|measured| kept_share(measured.rounds.last()?)).collect();
    median(&shares).filter(|_| file_trend.is_told && file_trend.per_step > 0.0).map(|share| share.value)
}

fn value_bytes(round: &Round) -> u64 {
    let is_write = |o: &&OperationResult| ["update", "insert"].contains(&o.operation.as_str());
    round.operations.iter().filter(is_write).map(|operation| operation.value_bytes).sum()
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_model::result::{DISK_GROWTH, Warning};
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::data::merge::Merged;

    #[test]
    fn figures_are_by_round_and_their_growth_by_trial() {
        let block = || vec![Sample::new("lmdb").rounds(4), Sample::new("redb")];
        let mut run = blocks("box", &[block(), block(), block()]);
        run.trials.retain(|trial| trial.cell.store() == "lmdb");
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let entries = &merged.groups[0].trials;
        assert_eq!(most_rounds(entries), 4);
        let files = |round| values(entries, Figure::Files, round);
        assert_eq!((files(0), files(3), files(4)), (vec![50_958.0; 3], vec![101_916.0; 3], vec![]));
        let growth = last_over_first(entries, Figure::Files).unwrap();
        assert_eq!((growth.trials, growth.mean.value), (3, 2.0));
        // Each round takes a tenth longer than the one before.
        let speed = last_over_first(entries, Figure::Speed).unwrap().mean.value;
        assert!((speed - 1.0 / 1.3).abs() < 0.01, "{speed}");
    }

    #[test]
    fn what_each_round_adds_is_a_share_of_the_last() {
        let mut run = blocks("box", &[vec![Sample::new("lmdb").rounds(6), Sample::new("redb").rounds(4)]]);
        let trend_of = |run: &Run, store: &str| {
            let mut trials = run.trials.iter().filter(|trial| trial.cell.store() == store);
            trend(&[trials.next().unwrap().measured.as_ref().unwrap()], Figure::Files)
        };
        let files = trend_of(&run, "lmdb").unwrap();
        let last = run.trials[0].measured.as_ref().unwrap().rounds[5].disk.allocated_bytes as f64;
        assert!(files.is_told && (files.per_step - 16_986.0 / last).abs() < 1e-3, "{files:?} {last}");
        assert_eq!(trend_of(&run, "redb"), None, "too few");
        let measured = run.trials[0].measured.as_mut().unwrap();
        let written = value_bytes(&measured.rounds[5]) as f64;
        let kept = kept_of_written(&[measured], files).unwrap();
        assert!((kept / (16_986.0 / written) - 1.0).abs() < 1e-3, "{kept} of {written}");
        measured.rounds.iter_mut().for_each(|round| round.disk.allocated_bytes = 4096);
        assert_eq!(trend_of(&run, "lmdb"), Some(Trend { per_step: 0.0, is_told: false }));
    }

    #[test]
    fn files_that_grow_have_a_pace_only_where_neither_logs_nor_closing_explain_it() {
        let block = || vec![Sample::new("lmdb").rounds(6)];
        let growth = |change: &dyn Fn(&mut Measurements)| {
            let mut run = blocks("box", &[block(), block()]);
            run.trials.iter_mut().filter_map(|trial| trial.measured.as_mut()).for_each(change);
            let trials: Vec<&Measurements> =
                run.trials.iter().filter_map(|trial| trial.measured.as_ref()).collect();
            super::growth(&trials)
        };
        let close = |measured: &mut Measurements, percent: u64| {
            measured.disk.allocated_bytes = measured.rounds[5].disk.allocated_bytes / 100 * percent;
        };
        let write = |measured: &mut Measurements, bytes: u64| {
            for round in &mut measured.rounds {
                round.operations.iter_mut().for_each(|operation| operation.value_bytes = bytes);
            }
        };
        // Five rounds of inserts and updates.
        let Some(Growth::Doubles(rounds)) = growth(&|m| (close(m, 90), write(m, 7 << 20)).0) else {
            panic!("it grows")
        };
        assert!((rounds - 8.0).abs() < 0.01, "{rounds}");
        assert_eq!(growth(&|m| (close(m, 90), write(m, 6 << 20)).0), Some(Growth::Short(60 << 20)));
        let cleared = growth(&|measured| (close(measured, 40), write(measured, 7 << 20)).0);
        assert!(matches!(cleared, Some(Growth::Cleared(share)) if (share - 0.4).abs() < 0.01), "{cleared:?}");
        let steady = |measured: &mut Measurements| {
            measured.rounds.iter_mut().for_each(|round| round.disk.allocated_bytes = 4096)
        };
        assert_eq!(growth(&steady), Some(Growth::None));
        assert_eq!(growth(&|measured| measured.rounds.truncate(4)), None);
    }

    #[test]
    fn bytes_written_add_up_over_the_rounds_of_a_life_alone() {
        let run = blocks("box", &[vec![Sample::new("lmdb").rounds(3)]]);
        let mut measured = run.trials[0].measured.clone().unwrap();
        let each = measured.rounds[0].operations[0].value_bytes as f64;
        let set_operation = |measured: &mut Measurements, name: &str| {
            for round in &mut measured.rounds {
                round.operations.truncate(1);
                round.operations[0].operation = name.into();
            }
        };
        set_operation(&mut measured, "update");
        let written =
            |measured: &Measurements| (0..4).map(|round| written_bytes(measured, round)).collect::<Vec<_>>();
        assert_eq!(written(&measured), [Some(each), Some(2.0 * each), Some(3.0 * each), None]);
        for name in ["read", "remove"] {
            set_operation(&mut measured, name);
            assert_eq!(written(&measured), [None; 4], "{name}");
        }
    }

    #[test]
    fn one_round_has_no_curve_and_what_is_doubted_no_growth() {
        let mut runs = [blocks("box", &[vec![Sample::new("lmdb").rounds(2)], vec![Sample::new("lmdb")]])];
        let warning = Warning { figure: DISK_GROWTH.into(), reason: "in memory".into() };
        runs[0].trials[0].measured.as_mut().unwrap().warnings.push(warning);
        let merged = Merged::new(&runs, &[]);
        let entries = &merged.groups[0].trials;
        assert_eq!(most_rounds(entries), 2);
        assert_eq!(last_over_first(entries, Figure::Files), None);
        assert_eq!(last_over_first(entries, Figure::Speed).unwrap().trials, 1);
        assert_eq!(most_rounds(&entries[1..]), 0);
    }
}
