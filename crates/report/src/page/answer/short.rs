//! An answer in short: a sentence or two for each group, and a small table of which store to prefer for what.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::axis::Role;
use storebench_core::units::{grouped, three_digits};

use super::evidence::{name, range};
use super::preferred::{By, Part, Spot, Verdict, held, nearest_of_all};
use super::{and, at, link, nothing_to_compare};
use crate::column::Unit;
use crate::data::matrix::{Figure, Matrix, Row};
use crate::layout::{Position, words};
use crate::page::markup::{element, escape};

/// Stores too close to call that are named before the rest is only counted.
const NAMED: usize = 3;

/// The store that is nearest to the best over all operations, and how far it ever is behind; `None` where nothing can be
/// compared, or where there is only one combination, of which the table says it all.
pub fn nearest(matrix: &Matrix) -> Option<String> {
    let rows: Vec<&Row> = matrix.rows.iter().filter(|row| row.figure.unit == Unit::Nanoseconds).collect();
    let spots = held(&rows, matrix);
    if spots.len() < 2 {
        return None;
    }
    let nearest = nearest_of_all(&spots)?;
    let furthest = spots.iter().filter_map(|spot| Some((spot, spot.times_worse(nearest.store)?)));
    let (spot, most) = furthest.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let store = element("strong", nearest.store);
    let without = spots.iter().filter(|spot| spot.times_worse(nearest.store).is_none()).count();
    let mut text = match (most <= 1.0, without) {
        (true, 0) => return Some(format!("Over all operations {store} is the best everywhere.")),
        (true, _) => {
            return Some(format!(
                "Over all operations {store} is the best wherever it was measured, which is not so in {without}."
            ));
        }
        _ => format!(
            "Over all operations {store} is nearest to the best: {} times its latency by geometric mean over {} combinations, \
             {} times at most ({})",
            three_digits(nearest.times),
            grouped(nearest.shared as u64),
            three_digits(most),
            escape(&at(&spot.row.figure, &spot.at()))
        ),
    };
    if without > 0 {
        text.push_str(&format!("; not measured in {without}"));
    }
    text.push('.');
    Some(text)
}

/// What each store is best at throughout, what is too close to call, and what no store is best at.
pub fn lead(verdicts: &[Verdict<'_>]) -> String {
    let mut by_store: IndexMap<&str, Vec<String>> = IndexMap::new();
    let (mut close, mut depends, mut none) = (Vec::new(), Vec::new(), Vec::new());
    for verdict in verdicts {
        let task = task(verdict.figure).to_owned();
        match verdict.parts.as_slice() {
            [] => {}
            [part] => match part.store {
                Some(store) if part.is_decided() => by_store.entry(store).or_default().push(task),
                Some(_) => close.push(format!("{}, among {}", escape(&task), escape(&among(part)))),
                None => none.push(task),
            },
            _ => depends.push(task),
        }
    }
    by_store.sort_by_cached_key(|_, tasks| std::cmp::Reverse(tasks.len()));
    let prefer: Vec<String> = by_store
        .iter()
        .map(|(store, tasks)| format!("{} for {}", element("strong", store), escape(&and(tasks))))
        .collect();
    let mut sentences = Vec::new();
    if !prefer.is_empty() {
        sentences.push(format!("Prefer {}.", prefer.join("; ")));
    }
    if !close.is_empty() {
        sentences.push(format!("Too close to call: {}.", close.join("; ")));
    }
    if !depends.is_empty() {
        sentences.push(format!("For {} it depends: see the table.", escape(&and(&depends))));
    }
    if !none.is_empty() {
        sentences.push(format!("No store is best throughout at {}.", escape(&and(&none))));
    }
    sentences.join(" ")
}

fn task(figure: &Figure) -> &str {
    match figure.name.as_str() {
        "space" => "the least space",
        "memory" => "the least memory",
        operation => operation,
    }
}

/// The stores that are too close to call, the rest counted.
fn among(part: &Part<'_>) -> String {
    let all: Vec<&str> = part.store.into_iter().chain(part.rivals()).collect();
    let named = all.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Which store to prefer for what: a row for each figure, over the values of the matrix' rows, such as the record sizes.
pub fn table(verdicts: &[Verdict<'_>], matrix: &Matrix, address: &str) -> String {
    let mut sizes: Vec<Position> = Vec::new();
    for row in &matrix.rows {
        if !sizes.contains(&row.at) {
            sizes.push(row.at.clone());
        }
    }
    let heads: String =
        sizes.iter().map(|size| format!("<th scope=\"col\">{}</th>", escape(&size.to_string()))).collect();
    let rows: String = verdicts.iter().map(|verdict| row(verdict, &sizes, matrix, address)).collect();
    let axes: BTreeSet<_> = sizes.iter().flat_map(Position::axes).collect();
    let head = escape(&axes.into_iter().map(words::heading).collect::<Vec<_>>().join(", "));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Which store for what\"><table class=\"prefer\">\
         <thead><tr><th scope=\"col\">{head}</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn row(verdict: &Verdict<'_>, sizes: &[Position], matrix: &Matrix, address: &str) -> String {
    let places = if verdict.parts.is_empty() {
        format!("<td colspan=\"{}\">{}</td>", sizes.len(), nothing_to_compare(verdict.figure, matrix))
    } else if is_by_row(verdict.by, sizes) {
        by_size(verdict, sizes, address)
    } else {
        let parts: Vec<String> =
            verdict.parts.iter().map(|part| entry(verdict.figure, part, address)).collect();
        format!("<td colspan=\"{}\">{}</td>", sizes.len(), parts.join("<br>"))
    };
    let unit =
        if verdict.figure.name == "space" { " <small>values, of the bytes on disk</small>" } else { "" };
    format!("<tr><th scope=\"row\">{}{unit}</th>{places}</tr>", escape(name(verdict.figure)))
}

/// Whether an answer is split by what the table's columns are.
fn is_by_row(by: By, sizes: &[Position]) -> bool {
    let alone = sizes.iter().flat_map(Position::axes).collect::<BTreeSet<_>>().len() == 1;
    matches!(by, By::Axis(axis) if axis.role() == Role::Row && alone)
}

/// An entry below each size, or below neighbours with the same answer.
fn by_size(verdict: &Verdict<'_>, sizes: &[Position], address: &str) -> String {
    let part_of = |size: &Position| {
        verdict.parts.iter().position(|part| part.spots.iter().any(|spot| spot.row.at == *size))
    };
    let parts: Vec<Option<usize>> = sizes.iter().map(part_of).collect();
    let mut out = String::new();
    let mut at = 0;
    for alike in parts.chunk_by(|a, b| a == b) {
        let here = &sizes[at..at + alike.len()];
        at += alike.len();
        let text = alike[0].map_or_else(
            || "<small>nothing to compare</small>".to_owned(),
            |part| {
                let part = &verdict.parts[part];
                let spots = part.spots.iter().copied().filter(|spot| here.contains(&spot.row.at));
                entry_of(verdict.figure, part, &spots.collect::<Vec<_>>(), address)
            },
        );
        out.push_str(&format!("<td colspan=\"{}\">{text}</td>", alike.len()));
    }
    out
}

fn entry(figure: &Figure, part: &Part<'_>, address: &str) -> String {
    let text = entry_of(figure, part, &part.spots, address);
    if part.range.is_empty() { text } else { format!("{}: {text}", escape(&part.range)) }
}

/// The store, linked to its evidence, with its figures and how often it is the best.
fn entry_of(figure: &Figure, part: &Part<'_>, spots: &[Spot<'_>], address: &str) -> String {
    let Some(store) = part.store else {
        return part.most_often().map_or_else(String::new, |(store, times)| {
            let most = format!("most often {store}, {times} of {}", part.spots.len());
            format!("none throughout <small>{}</small>", escape(&most))
        });
    };
    let won: Vec<&Spot<'_>> = spots.iter().filter(|spot| spot.is_won_by(store)).collect();
    let text = if part.is_decided() { store.to_owned() } else { format!("≈ {}", among(part)) };
    let text = spots.first().map_or_else(|| escape(&text), |spot| link(address, spot.row, None, &text));
    let figures = range(figure, won.iter().filter_map(|spot| spot.contender(store)));
    let often = match spots.len() {
        1 => None,
        all if won.len() == all => Some("throughout".to_owned()),
        all => Some(format!("{} of {all}", won.len())),
    };
    let small: Vec<String> = figures.into_iter().chain(often).collect();
    format!("<strong>{text}</strong> <small>{}</small>", escape(&small.join(", ")))
}
