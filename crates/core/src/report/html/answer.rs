//! The answer in sentences: for each group, which store to prefer for what, by how much, and where the evidence is.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::markup::{element, escape, in_address, list};
use crate::report::column::Unit;
use crate::report::matrix::{Contender, Contest, Figure, Matrix, Place, Row};
use crate::report::merge::{GroupKey, GuaranteeLabel, Merged};
use crate::stats::Better;
use crate::units::{SizeRange, grouped, three_digits};

/// Places that are too close to call and listed before the rest is only counted.
const LISTED: usize = 6;

/// The section's content.
pub fn html(merged: &Merged<'_>, matrices: &[Option<Matrix>]) -> String {
    let mut out = String::new();
    for (group, matrix) in merged.groups.iter().zip(matrices) {
        let Some(matrix) = matrix else { continue };
        out.push_str(&of_group(merged, &group.key, matrix));
    }
    if out.is_empty() {
        return "<p>No store competed in this run, so that there is no answer: see below what ran.</p>"
            .into();
    }
    out
}

fn of_group(merged: &Merged<'_>, key: &GroupKey, matrix: &Matrix) -> String {
    let address = address(key);
    let mut rows: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    for row in &matrix.rows {
        rows.entry(&row.figure.name).or_default().push(row);
    }
    let verdicts: Vec<(&Figure, Vec<Stretch<'_>>)> =
        rows.values().filter_map(|rows| Some((&rows.first()?.figure, stretches(rows)))).collect();
    let decided: Vec<String> = verdicts
        .iter()
        .filter(|(_, stretches)| !stretches.is_empty())
        .map(|(figure, stretches)| verdict(figure, stretches, matrix, &address))
        .collect();
    let mut heading = escape(&merged.label(key));
    if merged.groups.iter().any(|group| group.key.hardware != key.hardware) {
        heading = format!("{}, {heading}", escape(&key.hardware));
    }
    let mut out = format!(
        "<section class=\"group\"><h3>Guarantee {heading}</h3><p class=\"lead\">{}</p>",
        lead(&verdicts)
    );
    if let Some(meaning) = meaning(key) {
        out.push_str(&format!("<p class=\"note\">{meaning}</p>"));
    }
    out.push_str(&format!("<dl class=\"verdicts\">{}</dl>", decided.join("")));
    out.push_str(&close(matrix, &address));
    out.push_str("</section>");
    out
}

/// What the tier means, for those who meet the word for the first time.
fn meaning(key: &GroupKey) -> Option<&'static str> {
    use crate::store::Guarantee;
    Some(match key.tier? {
        Guarantee::None => "An acknowledged write may be lost even when the process alone crashes.",
        Guarantee::Process => "An acknowledged write survives a killed process, but not a power cut.",
        Guarantee::Power => "An acknowledged write survives a power cut.",
    })
}

/// Neighbouring record sizes that one store is to be preferred for.
struct Stretch<'a> {
    store: &'a str,
    rows: Vec<&'a Row>,
}

impl<'a> Stretch<'a> {
    /// The places that it won, alone or with others.
    fn won(&self) -> impl Iterator<Item = &'a Contest> {
        let contests = self.rows.iter().flat_map(|row| &row.contests);
        contests.filter(|contest| contest.winners().any(|winner| winner.store == self.store))
    }

    /// Whether it is the best in any place.
    fn wins_alone(&self) -> bool {
        self.won().any(|contest| contest.winners().count() == 1)
    }

    /// The stores that are too close to call with it, those that are so most often first.
    fn rivals(&self) -> Vec<&'a str> {
        let mut tally: IndexMap<&str, usize> = IndexMap::new();
        for winner in self.won().flat_map(Contest::winners).filter(|winner| winner.store != self.store) {
            *tally.entry(&winner.store).or_default() += 1;
        }
        tally.sort_by_cached_key(|_, times| std::cmp::Reverse(*times));
        tally.into_keys().collect()
    }
}

/// For each record size the store that is best, or too close to call with the best, in the most places; of equals the one
/// that is the least times worse over all places.
fn stretches<'a>(rows: &[&'a Row]) -> Vec<Stretch<'a>> {
    let mut all: Vec<Stretch<'a>> = Vec::new();
    for row in rows {
        let Some(store) = preferred(row) else { continue };
        match all.last_mut() {
            Some(last) if last.store == store => last.rows.push(row),
            _ => all.push(Stretch { store, rows: vec![row] }),
        }
    }
    all
}

fn preferred(row: &Row) -> Option<&str> {
    let mut tally: IndexMap<&str, (usize, f64)> = IndexMap::new();
    for contender in row.contests.iter().flat_map(|contest| &contest.contenders) {
        let (wins, worse) = tally.entry(&contender.store).or_default();
        *wins += usize::from(contender.wins);
        *worse += contender.times_worse.map_or(0.0, |ratio| ratio.ratio.value.ln());
    }
    let best = tally.iter().max_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    best.filter(|(_, (wins, _))| *wins > 0).map(|(store, _)| *store)
}

/// The stores' shares of the group in one or two sentences: what each is best at, and what none is.
fn lead(verdicts: &[(&Figure, Vec<Stretch<'_>>)]) -> String {
    let mut by_store: IndexMap<&str, Vec<String>> = IndexMap::new();
    let mut undecided: Vec<String> = Vec::new();
    for (figure, stretches) in verdicts {
        for stretch in stretches {
            let mut what = task(figure).to_owned();
            if stretches.len() > 1 {
                what.push_str(&format!(" ({})", sizes(&stretch.rows)));
            }
            if stretch.wins_alone() {
                by_store.entry(stretch.store).or_default().push(what);
            } else {
                let among: Vec<&str> = std::iter::once(stretch.store).chain(stretch.rivals()).collect();
                undecided.push(format!("{}, among {}", escape(&what), escape(&among.join(", "))));
            }
        }
    }
    by_store.sort_by_cached_key(|_, tasks| std::cmp::Reverse(tasks.len()));
    let parts: Vec<String> = by_store
        .iter()
        .map(|(store, tasks)| format!("<strong>{}</strong> for {}", escape(store), escape(&and(tasks))))
        .collect();
    let mut sentences = Vec::new();
    if !parts.is_empty() {
        sentences.push(format!("Prefer {}.", parts.join("; ")));
    }
    if !undecided.is_empty() {
        sentences.push(format!("Too close to call: {}.", undecided.join("; ")));
    }
    if sentences.is_empty() { "No store has a figure here.".into() } else { sentences.join(" ") }
}

fn task(figure: &Figure) -> &str {
    match figure.name.as_str() {
        "space" => "the least space",
        "memory" => "the least memory",
        operation => operation,
    }
}

fn and(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn sizes(rows: &[&Row]) -> String {
    let range = rows.first().zip(rows.last());
    let range =
        range.map(|(first, last)| SizeRange { from: first.record_size.from, to: last.record_size.to });
    range.map_or_else(String::new, |range| range.to_string())
}

/// One figure: its stores with their evidence.
fn verdict(figure: &Figure, stretches: &[Stretch<'_>], matrix: &Matrix, address: &str) -> String {
    let name = match figure.name.as_str() {
        "space" => "Space",
        "memory" => "Memory",
        other => other,
    };
    let sentences: Vec<String> = stretches
        .iter()
        .map(|stretch| sentence(figure, stretch, stretches.len() > 1, matrix, address))
        .collect();
    format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), sentences.join(" "))
}

fn sentence(
    figure: &Figure,
    stretch: &Stretch<'_>,
    one_of_several: bool,
    matrix: &Matrix,
    address: &str,
) -> String {
    let contests: Vec<&Contest> = stretch.rows.iter().flat_map(|row| &row.contests).collect();
    let held: Vec<&Contest> = contests.iter().copied().filter(|c| !c.contenders.is_empty()).collect();
    let won: Vec<(&Contest, &Contender)> = held
        .iter()
        .filter_map(|contest| {
            Some((*contest, contest.winners().find(|winner| winner.store == stretch.store)?))
        })
        .collect();
    let alone = won.iter().filter(|(contest, _)| contest.winners().count() == 1).count();
    let mut text = element("strong", stretch.store);
    if one_of_several {
        text.push_str(&format!(" at {}", escape(&sizes(&stretch.rows))));
    }
    text.push_str(&format!(": {}", how_often(won.len(), held.len(), alone)));
    let rivals = stretch.rivals();
    if !rivals.is_empty() {
        text.push_str(&format!(" (with {})", escape(&rivals.join(", "))));
    }
    text.push_str(&format!(", {}", figures(figure, &won)));
    if let Some(next) = next_best(figure, &won) {
        text.push_str(&format!("; {next}"));
    }
    if let Some(elsewhere) = elsewhere(figure, &held, stretch.store) {
        text.push_str(&format!("; {elsewhere}"));
    }
    // A stretch has its evidence in several places, unless there is only one.
    let place = matrix.columns.first().filter(|_| matrix.columns.len() == 1);
    let links: Vec<String> =
        stretch.rows.iter().map(|row| link(address, row, place, &row.record_size.to_string())).collect();
    text.push_str(&format!(" (evidence: {}).", links.join(", ")));
    text
}

fn how_often(won: usize, held: usize, alone: usize) -> String {
    if held == 1 {
        return if alone == 1 { "the best".into() } else { "too close to call with others".into() };
    }
    match (won, alone) {
        (won, alone) if won == held && alone == held => format!("the best in all {held} combinations"),
        (won, alone) if won == alone => format!("the best in {won} of {held} combinations"),
        (won, 0) => format!("too close to call with the best in {won} of {held} combinations"),
        (won, alone) => {
            format!("the best in {alone} of {held} combinations, too close to call in {}", won - alone)
        }
    }
}

/// The range of its figures where it won.
fn figures(figure: &Figure, won: &[(&Contest, &Contender)]) -> String {
    let values: Vec<f64> = won.iter().map(|(_, winner)| winner.figure.mean.value).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = match (figure.unit.show(low), figure.unit.show(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    match (figure.unit, figure.name.as_str()) {
        (Unit::Nanoseconds, _) => format!("{range} on average"),
        (_, "space") => format!("values are {range} of what it takes on disk"),
        (_, "memory") => format!("{range} at the peak"),
        _ => range,
    }
}

/// How far the next store is behind, where it won alone.
fn next_best(figure: &Figure, won: &[(&Contest, &Contender)]) -> Option<String> {
    let next = won.iter().filter(|(contest, _)| contest.winners().count() == 1);
    let next: Vec<(&str, f64)> = next
        .filter_map(|(contest, _)| contest.contenders.get(1))
        .filter_map(|second| Some((second.store.as_str(), second.times_worse?.ratio.value)))
        .collect();
    let (first, _) = next.first()?;
    let low = next.iter().map(|(_, times)| *times).fold(f64::INFINITY, f64::min);
    let high = next.iter().map(|(_, times)| *times).fold(0.0, f64::max);
    let who = if next.iter().all(|(store, _)| store == first) {
        format!("the next best, {},", escape(first))
    } else {
        "the next best".into()
    };
    Some(format!("{who} {} {} as much", verb(figure), times(low, high)))
}

/// How far it is behind where it did not win.
fn elsewhere(figure: &Figure, held: &[&Contest], store: &str) -> Option<String> {
    let behind = held.iter().flat_map(|contest| &contest.contenders);
    let behind = behind.filter(|contender| contender.store == store && !contender.wins);
    let worst = behind
        .filter_map(|contender| contender.times_worse)
        .map(|ratio| ratio.ratio.value)
        .reduce(f64::max)?;
    Some(format!("elsewhere it {} up to {} times as much as the best", verb(figure), three_digits(worst)))
}

fn verb(figure: &Figure) -> &'static str {
    match (figure.unit, figure.better) {
        (Unit::Nanoseconds, _) => "takes",
        (_, Better::Higher) => "needs",
        _ => "uses",
    }
}

fn times(low: f64, high: f64) -> String {
    match (three_digits(low), three_digits(high)) {
        (low, high) if low == high => format!("{low} times"),
        (low, high) => format!("{low} to {high} times"),
    }
}

/// The places where no store is ahead.
fn close(matrix: &Matrix, address: &str) -> String {
    let mut held = 0;
    let mut ties: BTreeMap<(usize, usize), (&Row, &Place, Vec<&str>)> = BTreeMap::new();
    for (number, row) in matrix.rows.iter().enumerate() {
        for (column, (place, contest)) in matrix.columns.iter().zip(&row.contests).enumerate() {
            held += usize::from(contest.contenders.len() > 1);
            let winners: Vec<&str> = contest.winners().map(|winner| winner.store.as_str()).collect();
            if winners.len() > 1 {
                ties.insert((number, column), (row, place, winners));
            }
        }
    }
    if ties.is_empty() {
        return format!("<p>Too close to call: none of {held} comparisons.</p>");
    }
    let mut items: Vec<String> = ties
        .values()
        .take(LISTED)
        .map(|(row, place, winners)| {
            let what = format!(
                "{} at {}, {} records, {}: ",
                row.figure.name,
                row.record_size,
                grouped(place.records.from),
                place.data.name()
            );
            let link = link(address, row, Some(place), "evidence");
            format!("{}{} {link}", escape(&what), escape(&winners.join(", ")))
        })
        .collect();
    if ties.len() > LISTED {
        items.push(format!("and {} more, all in the matrix below", grouped((ties.len() - LISTED) as u64)));
    }
    format!(
        "<details><summary>Too close to call: {} of {} comparisons</summary>{}</details>",
        grouped(ties.len() as u64),
        grouped(held as u64),
        list(&items)
    )
}

/// The part of an address that chooses the group.
fn address(key: &GroupKey) -> String {
    let guarantee = GuaranteeLabel(key.asked, key.tier).to_string();
    let mut parts = vec![format!("hardware={}", in_address(&key.hardware))];
    parts.push(format!("guarantee={}", in_address(&guarantee)));
    parts.extend(key.facets.iter().map(|(axis, value)| format!("{}={}", axis.name(), in_address(value))));
    parts.join("&")
}

/// To one place of the matrix, or to the row of one record size.
fn link(group: &str, row: &Row, place: Option<&Place>, text: &str) -> String {
    let size = row.record_size;
    let target = match place {
        Some(place) => {
            let cell = format!("{}|{}|{size}|{}", row.figure.name, place.data.name(), place.records);
            format!("cell={}", in_address(&cell))
        }
        None => format!("mark={}", in_address(&format!("{}|{size}", row.figure.name))),
    };
    format!("<a href=\"#{}&amp;{target}&amp;go=winners\">{}</a>", escape(group), escape(text))
}
