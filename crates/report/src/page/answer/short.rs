//! An answer in short: a sentence or two for each group, and a small table of which store to prefer for what.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use storebench_core::units::{grouped, three_digits};

use super::evidence::name;
use super::preferred::{By, Part, Spot, Verdict, held, ranked};
use super::{at, few, link, nothing_to_compare, strong};
use crate::column::{PEAK_WITH_PAGE_CACHE, Unit};
use crate::data::matrix::{Figure, MEMORY, Matrix, Row};
use crate::data::names::and;
use crate::judge::combinations::{Preferred, Together, most_often, nearest_of_all, together};
use crate::layout::{Position, words};
use crate::markup::{BREAK, Html, Tag, column, row as table_row, scroll, small, table as html_table, tag};

/// The words where no comparison has a single winner: then no store is best at anything.
pub fn tie(matrix: &Matrix) -> Option<Html> {
    let spots = held(&matrix.rows.iter().collect::<Vec<_>>(), matrix);
    let all = grouped(spots.len() as u64);
    match together(&ranked(&spots)) {
        _ if spots.is_empty() => return None,
        Together::Decided => return None,
        Together::Open => {
            return Some(Html::of("No store is named: too few trials to say how far apart they are."));
        }
        Together::Alike => {
            let says = match spots.len() {
                1 => "A tie: no two can be told apart in the one comparison.".to_owned(),
                _ => format!("A tie: no two can be told apart in any of {all} comparisons."),
            };
            return Some(Html::of(says));
        }
        Together::Close => {}
    }
    let says = match spots.len() {
        1 => "No single winner: the best are too close to call.".to_owned(),
        _ => format!("No single winner: in each of {all} comparisons the best are too close to call."),
    };
    let often = most_often(&ranked(&spots)).map(|(store, times)| match times == spots.len() {
        true => Html::of((" ", strong(store), " is among them in all.")),
        false => Html::of((
            " ",
            strong(store),
            format!(" is among them most often, in {}.", grouped(times as u64)),
        )),
    });
    Some(Html::of((says, often)))
}

/// The comparisons of which nothing is said, as other programs left too few processors; `None` where there are none.
pub fn not_judged(matrix: &Matrix) -> Option<Html> {
    let contests = || matrix.rows.iter().flat_map(|row| &row.contests);
    let number = contests().filter(|contest| contest.is_not_judged()).count();
    let all = contests().filter(|contest| contest.contenders.len() > 1).count();
    let (number, all) = (grouped(number as u64), grouped(all as u64));
    let why = "as other programs left too few processors";
    (number != "0").then(|| Html::of(format!("Not judged: {number} of {all} comparisons, {why}.")))
}

/// The store that is best overall, and how far it ever is behind; `None` where nothing can be
/// compared, where there is only one combination, of which the table says it all, and where all are too close to call.
pub fn nearest(matrix: &Matrix) -> Option<Html> {
    let rows: Vec<&Row> = matrix.rows.iter().filter(|row| row.figure.unit == Unit::Nanoseconds).collect();
    let spots = held(&rows, matrix);
    if spots.len() < 2 || spots.iter().all(|spot| spot.contest.winners().count() > 1) {
        return None;
    }
    let nearest = nearest_of_all(&ranked(&spots))?;
    let furthest = spots.iter().filter_map(|spot| Some((spot, spot.times_worse(nearest.store)?)));
    let (spot, most) = furthest.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let without = spots.iter().filter(|spot| spot.times_worse(nearest.store).is_none()).count();
    let tied = spots.iter().any(|spot| spot.is_won_by(nearest.store) && spot.contest.winners().count() > 1);
    let says = match (most <= 1.0, without) {
        (true, 0) if tied => " is the best or too close to call everywhere".to_owned(),
        (true, 0) => " is the best everywhere".to_owned(),
        (true, _) => format!(" is the best wherever it was measured; not measured in {without} combinations"),
        _ => {
            let won = spots.iter().filter(|spot| spot.is_won_by(nearest.store)).count();
            let shared = match nearest.shared == spots.len() {
                true => String::new(),
                false => format!(" over the {} that all have", grouped(nearest.shared as u64)),
            };
            let mut text = format!(
                " is the best or tied in {} of {} comparisons, {}x the best latency on average{shared}, at worst {}x ({})",
                grouped(won as u64),
                grouped(spots.len() as u64),
                three_digits(nearest.times),
                three_digits(most),
                at(&spot.row.figure, &spot.at())
            );
            let next = nearest.next.map(|(store, times)| format!("; next {store}, {}x", three_digits(times)));
            text.extend(next);
            if without > 0 { format!("{text}; not measured in {without}") } else { text }
        }
    };
    Some(Html::of((strong(nearest.store), says, ".")))
}

/// The tasks that each store is best at throughout, those that are too close to call, and those that no store is best at.
pub fn lead(verdicts: &[Verdict<'_>]) -> Html {
    let mut by_store: IndexMap<&str, Vec<String>> = IndexMap::new();
    let (mut close, mut depends, mut none) = (Vec::new(), Vec::new(), Vec::new());
    // Without the page cache that a store lives from, the least memory is no reason to prefer it.
    let has_basis = |figure: &Figure| figure.name != MEMORY || figure.column == PEAK_WITH_PAGE_CACHE.id;
    for verdict in verdicts.iter().filter(|verdict| has_basis(verdict.figure)) {
        let task = task(verdict.figure).to_owned();
        match verdict.parts.as_slice() {
            [] => {}
            [part] => match part.store.zip(part.why()) {
                Some((store, Preferred::Surely)) => by_store.entry(store).or_default().push(task),
                Some((_, Preferred::InPart)) => depends.push(task),
                Some((_, Preferred::Tied)) => close.push(task),
                None => none.push(task),
            },
            _ => depends.push(task),
        }
    }
    by_store.sort_by_cached_key(|_, tasks| std::cmp::Reverse(tasks.len()));
    let prefer: Vec<_> =
        by_store.iter().map(|(store, tasks)| (strong(*store), " for ", and(tasks))).collect();
    let mut sentences = Vec::new();
    if !prefer.is_empty() {
        sentences.push(Html::of(("Prefer ", Html::joined(prefer, "; "), ".")));
    }
    if !close.is_empty() {
        sentences.push(Html::of(("Too close to call: ", and(&close), ".")));
    }
    if !depends.is_empty() {
        sentences.push(Html::of(("It depends for ", and(&depends), ": see the table.")));
    }
    if !none.is_empty() {
        sentences.push(Html::of(("No single winner for ", and(&none), ".")));
    }
    Html::joined(sentences, " ")
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
    few(&all)
}

/// Which store to prefer for what: a row for each figure, over the values of the matrix' rows, such as the record sizes.
pub fn table(verdicts: &[Verdict<'_>], matrix: &Matrix, address: &str) -> Tag {
    let mut sizes: Vec<Position> = Vec::new();
    for row in &matrix.rows {
        if !sizes.contains(&row.at) {
            sizes.push(row.at.clone());
        }
    }
    let axes: BTreeSet<_> = sizes.iter().flat_map(Position::axes).collect();
    let head = axes.into_iter().map(words::heading).collect::<Vec<_>>().join(", ");
    let heads = std::iter::once(head).chain(sizes.iter().map(Position::to_string)).map(column).collect();
    let rows: Vec<Tag> = verdicts.iter().map(|verdict| row(verdict, &sizes, matrix, address)).collect();
    let scroll = scroll(html_table(heads, rows).class("prefer"));
    scroll.attr("tabindex", "0").attr("role", "region").attr("aria-label", "Which store for what")
}

fn row(verdict: &Verdict<'_>, sizes: &[Position], matrix: &Matrix, address: &str) -> Tag {
    let figure = verdict.figure;
    let places = if verdict.parts.is_empty() {
        vec![wide(sizes.len(), nothing_to_compare(figure, matrix))]
    } else if is_by_row(verdict.by, sizes) {
        by_size(verdict, sizes, address)
    } else {
        let parts = verdict.parts.iter().map(|part| entry(figure, part, address));
        vec![wide(sizes.len(), Html::joined(parts, BREAK))]
    };
    let unit = (figure.name == "space").then(|| (" ", small("bytes on disk per byte of values")));
    table_row((name(figure), unit), places)
}

/// A cell below so many heads.
fn wide(columns: usize, content: Html) -> Tag {
    tag("td").attr("colspan", columns.to_string()).with(content)
}

/// Whether an answer is split by what the table's columns are.
fn is_by_row(by: By, sizes: &[Position]) -> bool {
    let axes: BTreeSet<_> = sizes.iter().flat_map(Position::axes).collect();
    matches!(by, By::Axis(axis) if axes.len() == 1 && axes.contains(&axis))
}

/// An entry below each size, or below neighbours with the same answer.
fn by_size(verdict: &Verdict<'_>, sizes: &[Position], address: &str) -> Vec<Tag> {
    let part_of = |size: &Position| {
        verdict.parts.iter().position(|part| part.spots.iter().any(|spot| spot.row.at == *size))
    };
    let parts: Vec<Option<usize>> = sizes.iter().map(part_of).collect();
    let mut out = Vec::new();
    let mut at = 0;
    for alike in parts.chunk_by(|a, b| a == b) {
        let here = &sizes[at..at + alike.len()];
        at += alike.len();
        let text = alike[0].map_or_else(
            || Html::of(small("nothing to compare")),
            |part| {
                let part = &verdict.parts[part];
                let spots = part.spots.iter().copied().filter(|spot| here.contains(&spot.row.at));
                entry_of(verdict.figure, part, &spots.collect::<Vec<_>>(), address)
            },
        );
        out.push(wide(alike.len(), text));
    }
    out
}

fn entry(figure: &Figure, part: &Part<'_>, address: &str) -> Html {
    let text = entry_of(figure, part, &part.spots, address);
    if part.range.is_empty() { text } else { Html::of((&part.range, ": ", text)) }
}

/// The store, linked to its evidence, with its figures and how often it is the best.
fn entry_of(figure: &Figure, part: &Part<'_>, spots: &[Spot<'_>], address: &str) -> Html {
    let Some(store) = part.store else {
        return Html::of(part.most_often().map(|(store, times)| {
            let most = format!("most often {store}, {times} of {}", part.spots.len());
            ("no single winner ", small(most))
        }));
    };
    let won: Vec<&Spot<'_>> = spots.iter().filter(|spot| spot.is_won_by(store)).collect();
    let text = match part.why() {
        Some(Preferred::Tied) => format!("≈ {}", among(part)),
        _ => store.to_owned(),
    };
    let text = match spots.first() {
        Some(spot) => Html::of(link(address, spot.row, None, text)),
        None => Html::of(text),
    };
    let figures = figure.range(won.iter().filter_map(|spot| spot.contender(store)));
    let alone = won.iter().filter(|spot| spot.contest.is_decided()).count();
    let often = match spots.len() {
        1 => None,
        all if alone == all => Some("throughout".to_owned()),
        all if won.len() == all => Some(format!("alone in {alone} of {all}")),
        all => Some(format!("{} of {all}", won.len())),
    };
    let figures: Vec<String> = figures.into_iter().chain(often).collect();
    Html::of((strong(text), " ", small(figures.join(", "))))
}
