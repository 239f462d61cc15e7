//! Round by round: speed and the space of the files after each of several runs on one database.

use serde::Serialize;

use super::cells::Row;
use super::numbers::Figures;
use crate::data::rounds::{Figure, most, values};

/// The figures of all cells, round by round; empty where no trial has several.
#[derive(Debug, Serialize)]
pub struct Rounds {
    /// Operations per second.
    speed: Vec<Figures>,
    /// The space of the files on disk, in bytes.
    files: Vec<Figures>,
}

impl Rounds {
    /// Takes them from all trials.
    pub fn new(rows: &[Row<'_>]) -> Rounds {
        let rounds = most(rows.iter().flat_map(|row| &row.entries));
        let rounds = if rounds > 1 { rounds } else { 0 };
        let of = |figure| (0..rounds).map(|round| figures(rows, figure, round)).collect();
        Rounds { speed: of(Figure::Speed), files: of(Figure::Files) }
    }
}

fn figures(rows: &[Row<'_>], figure: Figure, round: usize) -> Figures {
    let mut figures = Figures::default();
    rows.iter().for_each(|row| figures.push(&values(&row.entries, figure, round), row.succeeded()));
    figures
}
