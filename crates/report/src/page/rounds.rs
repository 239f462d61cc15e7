//! Figures by round in the page: speed and disk space of the files after each of several rounds on one database.

use serde::Serialize;
use storebench_figures::data::merge::{Entry, measured};
use storebench_figures::data::rounds::{Figure, most_rounds, values, written_bytes};

use super::cells::Row;
use super::numbers::Figures;

/// The figures of all cells by round; empty if no trial has several.
#[derive(Debug, Serialize)]
pub struct Rounds {
    /// Operations per second.
    speed: Vec<Figures>,
    /// Disk space of the files, in bytes.
    files: Vec<Figures>,
    /// The longest latency, in nanoseconds.
    longest: Vec<Figures>,
    /// The bytes of values written until then; only for a set's life.
    written: Vec<Figures>,
}

impl Rounds {
    pub fn new(rows: &[Row<'_>]) -> Rounds {
        let rounds = most_rounds(rows.iter().flat_map(|row| &row.entries));
        let rounds = if rounds > 1 { rounds } else { 0 };
        let by_round = |figure| {
            (0..rounds).map(|round| collect_figures(rows, |entries| values(entries, figure, round))).collect()
        };
        let written = |round| collect_figures(rows, |entries| values_written(entries, round));
        Rounds {
            speed: by_round(Figure::Speed),
            files: by_round(Figure::Files),
            longest: by_round(Figure::Longest),
            written: (0..rounds).map(written).collect(),
        }
    }
}

fn values_written(entries: &[Entry<'_>], round: usize) -> Vec<f64> {
    measured(entries).into_iter().filter_map(|(_, measured)| written_bytes(measured, round)).collect()
}

fn collect_figures(rows: &[Row<'_>], values: impl Fn(&[Entry<'_>]) -> Vec<f64>) -> Figures {
    let mut figures = Figures::default();
    rows.iter().for_each(|row| figures.push(&values(&row.entries), row.succeeded()));
    figures
}
