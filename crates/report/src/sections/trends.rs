//! Whether speed and files still rise or fall in the last of many rounds, and when the files will have doubled.

use storebench_figures::column::Unit;
use storebench_figures::data::rounds::{Figure, Growth, LAST, growth, kept_of_written, trend};
use storebench_figures::stats::trend::Trend;
use storebench_model::result::Measurements;

use super::store_rows::{self, Row};
use crate::section::{Cell, Column, ColumnRole, Section, Shape};

pub const SECTION: Section = Section {
    name: "trends",
    title: "Trends over the last five rounds",
    link: "Trends",
    at_end: false,
    shapes: &[&TRENDS],
    blocks: |merged| store_rows::blocks(merged, (&TRENDS, LEGEND), rows),
    ..Section::ABOVE
};

const TRENDS: Shape = Shape {
    name: "trends",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::text("rounds").role(ColumnRole::Line, "rounds"),
        Column::text("speed_trend").role(ColumnRole::Line, "speed"),
        Column::real("speed_a_round", Unit::Share).role(ColumnRole::Line, "a round"),
        Column::text("files_trend").role(ColumnRole::Line, "files"),
        Column::real("files_a_round", Unit::Share).role(ColumnRole::Line, "a round"),
        Column::real("files_of_written", Unit::Share).role(ColumnRole::Line, "of what is written"),
        Column::integer("rounds_until_twice").role(ColumnRole::Line, "twice as large after"),
    ],
};

const LEGEND: &str = "\
a round: by how much operations per second and the space of the files change from one of the last five rounds to the next (the median of \
all slopes), as a share of the last. rises, falls: Kendall's test over the trials together tells that from no trend, at 5 %: so in one of \
twenty cases where there is none. With one trial each of the five must be more than the one before it, or each less. of what is written: what files that rise keep of \
each byte of values. twice as large after: so many more rounds at this \
pace, where the files rise, at least 64 MiB of values were written in the five, and more than half of the files is left when the store is \
closed: otherwise logs, and what is not merged yet, can be what grows.";

fn rows(trials: &[&Measurements]) -> Vec<Row> {
    let long: Vec<&Measurements> =
        trials.iter().copied().filter(|measured| measured.rounds.len() >= LAST).collect();
    let trends = trend(&long, Figure::Speed).zip(trend(&long, Figure::Files));
    trends.map(|(speed, files)| cells(&long, speed, files)).into_iter().collect()
}

fn cells(trials: &[&Measurements], speed: Trend, files: Trend) -> Row {
    let counts = trials.iter().map(|measured| measured.rounds.len());
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    let rounds = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let until_twice = match growth(trials) {
        Some(Growth::Doubles(rounds)) => Cell::count(rounds.ceil() as u64),
        Some(Growth::None | Growth::Short(_) | Growth::Cleared(_)) | None => Cell::none(),
    };
    vec![
        ("trials", Cell::from_count(trials.len())),
        ("rounds", Cell::text(rounds)),
        ("speed_trend", Cell::text(trend_word(speed))),
        ("speed_a_round", Cell::real(speed.per_step)),
        ("files_trend", Cell::text(trend_word(files))),
        ("files_a_round", Cell::real(files.per_step)),
        ("files_of_written", Cell::or_none(kept_of_written(trials, files), Cell::real)),
        ("rounds_until_twice", until_twice),
    ]
}

fn trend_word(trend: Trend) -> &'static str {
    match trend.is_told {
        false => "no trend",
        true if trend.per_step > 0.0 => "rises",
        true => "falls",
    }
}
