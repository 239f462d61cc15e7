//! The sentences behind an answer: how often a store was the best, by how much, where it was not, and where that can be seen.

use storebench_core::cell::Axis;
use storebench_core::units::three_digits;

use super::preferred::{By, Part, Spot, Verdict};
use super::{few, link, strong};
use crate::column::Unit;
use crate::data::matrix::{Figure, Matrix, Row};
use crate::judge::place::Contender;
use crate::layout::words;
use crate::markup::{Html, Tag, tag};
use crate::stats::Better;

/// One figure: its parts with their evidence.
pub fn of_figure(verdict: &Verdict<'_>, matrix: &Matrix, address: &str) -> Tag {
    let sentences: Vec<Html> =
        verdict.parts.iter().map(|part| sentence(verdict, part, matrix, address)).collect();
    let sentences = if sentences.is_empty() {
        super::nothing_to_compare(verdict.figure, matrix)
    } else {
        Html::joined(sentences, " ")
    };
    tag("div").with((tag("dt").with(name(verdict.figure)), tag("dd").with(sentences)))
}

/// A figure's name as a heading.
pub fn name(figure: &Figure) -> &str {
    match figure.name.as_str() {
        "space" => "Space",
        "memory" => "Memory",
        other => other,
    }
}

fn sentence(verdict: &Verdict<'_>, part: &Part<'_>, matrix: &Matrix, address: &str) -> Html {
    let figure = verdict.figure;
    let at = match (verdict.by, part.range.as_str()) {
        (_, "") => String::new(),
        (By::Axis(axis), range) if is_of_words(axis, part) => format!(" with {range}"),
        (_, range) => format!(" at {range}"),
    };
    let text = match part.store {
        Some(store) => Html::of((strong(store), at, ": ", of_store(figure, part, store))),
        None => Html::of(("No single winner", at, most_often(part))),
    };
    Html::of((text, " (evidence: ", Html::joined(links(part, matrix, address), ", "), ")."))
}

/// Whether a part's values on an axis are words, and no quantities.
fn is_of_words(axis: Axis, part: &Part<'_>) -> bool {
    let at = part.spots.first().map(|spot| spot.at());
    at.as_ref().and_then(|at| at.value(axis)).is_some_and(|value| words::number(axis, value).is_none())
}

fn most_often(part: &Part<'_>) -> Html {
    Html::of(part.most_often().map(|(store, times)| {
        let often = format!(" most often, in {times} of {} combinations", part.spots.len());
        (": ", strong(store), often)
    }))
}

fn of_store(figure: &Figure, part: &Part<'_>, store: &str) -> String {
    let held = &part.spots;
    let won: Vec<(&Spot<'_>, &Contender)> = held
        .iter()
        .filter_map(|spot| Some((spot, spot.contender(store).filter(|c| c.verdict.wins())?)))
        .collect();
    let alone = won.iter().filter(|(spot, _)| spot.contest.is_decided()).count();
    let mut text = how_often(won.len(), held.len(), alone);
    let rivals = part.rivals();
    if !rivals.is_empty() {
        text.push_str(&format!(" (with {})", few(&rivals)));
    }
    if let Some(figures) = figures(figure, &won) {
        text.push_str(&format!(", {figures}"));
    }
    for more in [next_best(figure, &won), elsewhere(held, store), unmeasured(held, store)] {
        text.extend(more.map(|more| format!("; {more}")));
    }
    text
}

/// Where it can be seen: the rows of the matrix, or the one cell.
fn links(part: &Part<'_>, matrix: &Matrix, address: &str) -> Vec<Tag> {
    let place = matrix.columns.first().filter(|_| matrix.columns.len() == 1);
    let mut rows: Vec<&Row> = Vec::new();
    for spot in &part.spots {
        if !rows.iter().any(|row| row.at == spot.row.at) {
            rows.push(spot.row);
        }
    }
    rows.sort_by_key(|row| &row.at);
    let text = |row: &Row| if row.at.is_empty() { row.figure.name.clone() } else { row.at.to_string() };
    rows.iter().map(|row| link(address, row, place, text(row))).collect()
}

fn how_often(won: usize, held: usize, alone: usize) -> String {
    if held == 1 {
        return if alone == 1 { "the best".into() } else { "too close to call with others".into() };
    }
    match (won, alone) {
        (0, _) => format!("never the best in {held} combinations, and never far from it"),
        (won, alone) if won == held && alone == held => format!("the best in all {held} combinations"),
        (won, alone) if won == alone => format!("the best in {won} of {held} combinations"),
        (won, 0) => format!("too close to call with the best in {won} of {held} combinations"),
        (won, alone) => {
            format!("the best in {alone} of {held} combinations, too close to call in {}", won - alone)
        }
    }
}

/// The range of its figures where it won, in words.
fn figures(figure: &Figure, won: &[(&Spot<'_>, &Contender)]) -> Option<String> {
    let range = figure.range(won.iter().map(|(_, winner)| *winner))?;
    Some(match (figure.unit, figure.name.as_str()) {
        (Unit::Nanoseconds, _) => format!("{range} on average"),
        (_, "space") => format!("{range} bytes on disk per byte of values"),
        (_, "memory") => format!("{range} at the peak"),
        _ => range,
    })
}

/// The distance of the next store, where the best won alone.
fn next_best(figure: &Figure, won: &[(&Spot<'_>, &Contender)]) -> Option<String> {
    let next = won.iter().filter(|(spot, _)| spot.contest.is_decided());
    let next: Vec<(&str, f64)> = next
        .filter_map(|(spot, _)| spot.contest.contenders.get(1))
        .filter_map(|second| Some((second.store.as_str(), second.times_worse?.ratio.value)))
        .collect();
    let (first, _) = next.first()?;
    let low = next.iter().map(|(_, times)| *times).fold(f64::INFINITY, f64::min);
    let high = next.iter().map(|(_, times)| *times).fold(0.0, f64::max);
    let who = if next.iter().all(|(store, _)| store == first) {
        format!("the next best, {},", first)
    } else {
        "the next best".into()
    };
    Some(format!("{who} {} {}", verb(figure), times(figure, low, high)))
}

/// The most that it is behind the best where it did not win, as a factor.
fn elsewhere(held: &[Spot<'_>], store: &str) -> Option<String> {
    let behind = held.iter().filter(|spot| !spot.is_won_by(store));
    let worst = behind.filter_map(|spot| spot.times_worse(store)).reduce(f64::max)?;
    Some(format!("elsewhere up to {}x the best", three_digits(worst)))
}

/// Where others have a figure and it has none.
fn unmeasured(held: &[Spot<'_>], store: &str) -> Option<String> {
    let without = held.iter().filter(|spot| spot.contender(store).is_none()).count();
    (without > 0).then(|| format!("not measured in {without} of them"))
}

fn verb(figure: &Figure) -> &'static str {
    match (figure.unit, figure.better) {
        (Unit::Nanoseconds, _) => "takes",
        (_, Better::Higher) => "needs",
        _ => "uses",
    }
}

fn times(figure: &Figure, low: f64, high: f64) -> String {
    let than = if figure.unit == Unit::Nanoseconds { "as long" } else { "as much" };
    match (three_digits(low), three_digits(high)) {
        (low, high) if low == high => format!("{low}x {than}"),
        (low, high) => format!("{low}x to {high}x {than}"),
    }
}
