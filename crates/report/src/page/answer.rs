//! The answer: for each group in short which store to prefer for what, and folded below it by how much, and where the evidence is.

mod evidence;
mod preferred;
mod short;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use storebench_core::units::grouped;

use self::preferred::Verdict;
use crate::data::matrix::{Contest, Figure, MEMORY, Matrix, Row};
use crate::data::merge::{GroupKey, Merged};
use crate::data::names::and;
use crate::data::standings::{heading, meaning};
use crate::data::why::Why;
use crate::layout::Position;
use crate::markup::{Html, Part, Tag, folded, in_address, list, note, p, tag};

/// Stores too close to call that are named before the rest is only counted.
const NAMED: usize = 3;

/// Combinations that are too close to call and listed before the rest is only counted.
const LISTED: usize = 6;

/// The section's content, folded where an answer stands above it: there is one, and not two.
pub fn below(merged: &Merged<'_>, matrices: &[Option<Matrix>], is_folded: bool) -> Html {
    let all = html(merged, matrices);
    match is_folded {
        true => Html::of(folded("All that was measured for it, operation by operation", all)),
        false => all,
    }
}

/// The section's content: groups in which stores can be compared first.
pub fn html(merged: &Merged<'_>, matrices: &[Option<Matrix>]) -> Html {
    let (mut compared, mut alone) = (Vec::new(), Vec::new());
    for (group, matrix) in merged.groups.iter().zip(matrices) {
        let Some(matrix) = matrix else { continue };
        if is_compared(matrix) {
            compared.push(of_group(merged, &group.key, matrix));
        } else {
            let says = only(matrix, |_| true);
            alone.push((heading(merged, &group.key), ": ", says));
        }
    }
    if compared.is_empty() && alone.is_empty() {
        return Html::of(p("Nothing can be ranked in this run, so there is no answer. See below what ran."));
    }
    let rows = || matrices.iter().flatten().flat_map(|matrix| &matrix.rows);
    let told = !compared.is_empty() && rows().any(|row| row.figure.name == MEMORY);
    let memory = told.then(|| note(merged.memory.note()));
    Html::of((compared, memory, list(alone)))
}

/// Whether two stores have a figure at the same combination.
fn is_compared(matrix: &Matrix) -> bool {
    matrix.rows.iter().flat_map(|row| &row.contests).any(|contest| contest.contenders.len() > 1)
}

/// The words where no two stores can be compared.
fn only(matrix: &Matrix, of: impl Fn(&Row) -> bool) -> Html {
    let contests = matrix.rows.iter().filter(|row| of(row)).flat_map(|row| &row.contests);
    let mut stores: Vec<&str> =
        contests.flat_map(|contest| &contest.contenders).map(|contender| contender.store.as_str()).collect();
    stores.sort_unstable();
    stores.dedup();
    match stores.as_slice() {
        [] if any_contest(matrix, &of, is_saturated) => {
            Html::of("Saturated: nothing kept up with the rate asked for, so no latency is ranked.")
        }
        [] => Html::of("No figures here."),
        _ if any_contest(matrix, &of, Contest::is_not_judged) => {
            Html::of("Not judged: other programs left too few processors.")
        }
        [store] => Html::of(("Only ", strong(*store), " was measured here: nothing to compare.")),
        several => Html::of((
            and(several),
            " were measured here, but never at the same combination: nothing to compare.",
        )),
    }
}

fn any_contest(matrix: &Matrix, of: impl Fn(&Row) -> bool, is: fn(&Contest) -> bool) -> bool {
    matrix.rows.iter().filter(|row| of(row)).flat_map(|row| &row.contests).any(is)
}

/// Whether any figure is missing because the rate asked for was not kept up with.
fn is_saturated(contest: &Contest) -> bool {
    contest.absent.iter().any(|absent| absent.why == Why::Saturated)
}

fn nothing_to_compare(figure: &Figure, matrix: &Matrix) -> Html {
    only(matrix, |row| row.figure == *figure)
}

fn strong(part: impl Part) -> Tag {
    tag("strong").with(part)
}

/// The verdict on each figure of a matrix.
fn verdicts(matrix: &Matrix) -> Vec<Verdict<'_>> {
    let mut rows: IndexMap<&str, Vec<&Row>> = IndexMap::new();
    for row in &matrix.rows {
        rows.entry(&row.figure.name).or_default().push(row);
    }
    rows.values().filter_map(|rows| Some(Verdict::of(&rows.first()?.figure, rows, matrix))).collect()
}

/// An answer's first sentences.
fn lead(matrix: &Matrix, verdicts: &[Verdict<'_>]) -> Html {
    let told = match short::tie(matrix) {
        Some(tie) => [Some(tie), None],
        None => [short::nearest(matrix), Some(short::lead(verdicts))],
    };
    let told = told.into_iter().chain([short::not_judged(matrix)]).flatten();
    Html::joined(told.filter(|sentence| !sentence.is_empty()), " ")
}

fn of_group(merged: &Merged<'_>, key: &GroupKey, matrix: &Matrix) -> Tag {
    let address = address(key);
    let verdicts = verdicts(matrix);
    let lead = lead(matrix, &verdicts);
    let evidence: Vec<Tag> =
        verdicts.iter().map(|verdict| evidence::of_figure(verdict, matrix, &address)).collect();
    tag("section").class("group").with((
        tag("h3").with(heading(merged, key)),
        p(lead).class("lead"),
        meaning(key).map(|meaning| note(format!("An acknowledged write {meaning}."))),
        matrix.dangers.iter().map(|danger| p(danger.clone()).class("alert soft")).collect::<Vec<Tag>>(),
        short::table(&verdicts, matrix, &address),
        folded(
            "Why: how often each is the best, and by how much",
            tag("dl").class("verdicts").with(evidence),
        ),
        close(matrix, &address),
    ))
}

/// The first of some stores, the rest counted.
fn few(stores: &[&str]) -> String {
    let named = stores.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match stores.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The combinations where no store is ahead.
fn close(matrix: &Matrix, address: &str) -> Tag {
    let mut held = 0;
    let mut ties: BTreeMap<(usize, usize), (&Row, &Position, Vec<&str>)> = BTreeMap::new();
    for (number, row) in matrix.rows.iter().enumerate() {
        for (column, (place, contest)) in matrix.columns.iter().zip(&row.contests).enumerate() {
            held += usize::from(contest.contenders.len() > 1 && !contest.is_not_judged());
            let winners: Vec<&str> = contest.winners().map(|winner| winner.store.as_str()).collect();
            if winners.len() > 1 {
                ties.insert((number, column), (row, place, winners));
            }
        }
    }
    if ties.is_empty() {
        return p(format!("Too close to call: none of {} comparisons.", grouped(held as u64)));
    }
    let mut items: Vec<Html> = ties
        .values()
        .take(LISTED)
        .map(|(row, place, winners)| {
            let what = at(&row.figure, &row.at.joined(place));
            let link = link(address, row, Some(place), "evidence");
            Html::of((what, ": ", few(winners), " ", link))
        })
        .collect();
    if ties.len() > LISTED {
        let more = grouped((ties.len() - LISTED) as u64);
        items.push(Html::of(format!("and {more} more, all in the matrix below")));
    }
    let (ties, held) = (grouped(ties.len() as u64), grouped(held as u64));
    folded(format!("Too close to call: {ties} of {held} comparisons"), list(items))
}

/// A figure and where: `insert at 1B..1KiB, 100 records, compressible`.
fn at(figure: &Figure, position: &Position) -> String {
    match position.to_string() {
        position if position.is_empty() => figure.name.clone(),
        position => format!("{} at {position}", figure.name),
    }
}

/// The part of an address that chooses the group.
pub fn address(key: &GroupKey) -> String {
    let mut parts = vec![format!("hardware={}", in_address(&key.hardware))];
    parts.extend(key.guarantee().map(|label| format!("guarantee={}", in_address(&label.to_string()))));
    parts.extend(key.facets.iter().map(|(axis, value)| format!("{}={}", axis.name(), in_address(value))));
    parts.extend((!key.method.is_empty()).then(|| format!("method={}", in_address(&key.method))));
    parts.join("&")
}

/// To one cell of the matrix, or to a row of one figure.
fn link(group: &str, row: &Row, place: Option<&Position>, text: impl Part) -> Tag {
    let (kind, at) = match place {
        Some(place) => ("cell", row.at.joined(place)),
        None => ("mark", row.at.clone()),
    };
    let values = at.values().map(|(_, value)| value.text());
    let parts: Vec<&str> = std::iter::once(row.figure.name.as_str()).chain(values).collect();
    let target = format!("{kind}={}", in_address(&parts.join("|")));
    tag("a").attr("href", format!("#{group}&{target}&go=winners")).with(text)
}

#[cfg(test)]
mod tests;
