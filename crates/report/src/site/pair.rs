//! The page of two stores: at each guarantee, on each machine, which is better at what.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use storebench_core::units::{plural, three_digits};

use super::facts::{FigureOutcome, RunFacts, StorePair};
use super::frame::{
    NAMED, UP, circumstances, guarantee, link, listed, page, run_link, section, store_link, td, types,
};
use crate::data::names::describe_share;
use crate::markup::{BREAK, Html, Tag, list, note, row, small, tag};

/// The page; the meetings are in order.
pub fn pair_page(stores: &[String; 2], met: &[(&RunFacts, &StorePair)]) -> String {
    let figures: IndexSet<&str> =
        met.iter().flat_map(|(_, duel)| &duel.bouts).map(|bout| bout.figure.as_str()).collect();
    let heads: Vec<&str> = ["guarantee", "machine", "where", "versions"]
        .into_iter()
        .chain(figures.iter().copied())
        .chain(["run"])
        .collect();
    let line = |(run, duel): &(&RunFacts, &StorePair)| {
        let cell = |figure: &&str| match duel.bouts.iter().find(|bout| bout.figure == **figure) {
            Some(bout) => td(outcome(run, duel, bout)),
            None => td(small("not measured of both")),
        };
        let cells: Vec<Tag> = figures.iter().map(cell).collect();
        let versions = Html::join(duel.versions.iter().map(String::as_str), BREAK);
        let circumstances = td(circumstances(&duel.conditions));
        row(
            guarantee(&duel.conditions),
            (td(&run.header.hardware), circumstances, td(versions), cells, td(run_link(UP, run))),
        )
    };
    let [a, b] = stores;
    let says = note((
        "A row for each run and guarantee in which both ran: the better store, how many times as good it is, and below it the \
         figures of ",
        store_link(UP, a),
        " against those of ",
        store_link(UP, b),
        ". The two are ranked by themselves, by the rules of every report: one is better where the interval of their ratio, \
         paired by block, leaves out 1. Of few trials, and where other programs took the processors, neither is told.",
    ));
    page(
        &format!("{a} against {b}"),
        "Where each is better",
        (
            describe_machines(stores, met),
            listed("met", "Where they met", says, &heads, met.iter().map(line).collect()),
        ),
    )
}

/// The factors by which each of two is better on a machine.
type Won = [Vec<f64>; 2];

/// The note on results over machines.
const OVER: &str =
    "A store is better on a machine if it is better in some combination there, and the other in none.";

/// A sentence for each guarantee and figure that several machines have; `None` if there are none.
fn describe_machines(stores: &[String; 2], met: &[(&RunFacts, &StorePair)]) -> Option<Tag> {
    let mut all: IndexMap<(&str, &str), BTreeMap<&str, Won>> = IndexMap::new();
    for (run, duel) in met {
        for bout in &duel.bouts {
            let machines = all.entry((guarantee(&duel.conditions), &bout.figure)).or_default();
            let own = machines.entry(&run.header.hardware).or_default();
            for (own, won) in own.iter_mut().zip(&bout.won) {
                own.extend(won.iter().map(|(_, times)| times.unwrap_or(f64::INFINITY)));
            }
        }
    }
    let several = all.into_iter().filter(|(_, machines)| machines.len() > 1);
    let told = several.map(|((guarantee, figure), machines)| {
        format!("{figure}, {guarantee}: {}.", verdict(stores, machines.values().collect()))
    });
    let told = list(told.collect());
    told.map(|told| {
        section("machines", "Over machines", (note(OVER), told, types(met.iter().map(|(run, _)| *run))))
    })
}

/// The number of machines on which each store is better, and the factors.
fn verdict([a, b]: &[String; 2], machines: Vec<&Won>) -> String {
    let is = |own: &Won, [a, b]: [bool; 2]| own[0].is_empty() != a && own[1].is_empty() != b;
    let of = |which: [bool; 2]| machines.iter().filter(|own| is(own, which)).collect::<Vec<_>>();
    let mut stores = [(a, 0, of([true, false])), (b, 1, of([false, true]))];
    stores.sort_by_key(|(_, _, better)| std::cmp::Reverse(better.len()));
    let [(store, place, better), (other, _, worse)] = &stores;
    let mut words = match better.as_slice() {
        [] => format!("neither is better on any of {}", plural(machines.len(), "machine")),
        better => {
            let times =
                || better.iter().flat_map(|own| &own[*place]).copied().filter(|times| times.is_finite());
            let [least, most] =
                [times().reduce(f64::min), times().reduce(f64::max)].map(|end| end.map(three_digits));
            let by = match least.zip(most) {
                Some((least, most)) if least == most => format!(", by {least} times"),
                Some((least, most)) => format!(", by {least} to {most} times"),
                None => String::new(),
            };
            format!("{store} is better {}{by}", describe_share(better.len(), machines.len()))
        }
    };
    let others = [
        (worse.len(), format!("{other} on")),
        (of([true, true]).len(), "each in some combinations on".into()),
        (of([false, false]).len(), "undecided on".into()),
    ];
    for (number, what) in others.into_iter().filter(|(number, _)| *number > 0) {
        words.push_str(&format!("; {what} {number}"));
    }
    words
}

/// The outcome of one figure in words, with the figures, each line linked to the run.
fn outcome(run: &RunFacts, duel: &StorePair, bout: &FigureOutcome) -> Html {
    let FigureOutcome { ranges: [a, b], won, candidate, close, open, .. } = bout;
    let places = won.iter().chain(candidate).map(Vec::len).sum::<usize>() + close + open;
    let line = |text: Html, at: Option<Tag>| tag("div").with((link(UP, "runs", &run.name, text), at));
    let mut lines = Vec::new();
    for (all, is_candidate) in [(won, false), (candidate, true)] {
        for (store, places_of) in duel.stores.iter().zip(all).filter(|(_, places)| !places.is_empty()) {
            let (text, at) = better(store, places_of, places, is_candidate);
            lines.push(line(text, at));
        }
    }
    let undecided = [(close, "too close to call"), (open, "undecided")];
    for (number, words) in undecided.into_iter().filter(|(number, _)| **number > 0) {
        let words =
            if *number == places { words.to_owned() } else { format!("{words} in {number} of {places}") };
        lines.push(line(Html::new(words), None));
    }
    Html::new((lines, small((a, " against ", b))))
}

/// Which is better, by which factor, and where.
fn better(
    store: &str,
    won: &[(String, Option<f64>)],
    places: usize,
    is_candidate: bool,
) -> (Html, Option<Tag>) {
    let shown =
        |times: &Option<f64>| times.map_or_else(String::new, |times| format!("{}x", three_digits(times)));
    let candidate = is_candidate.then_some(", the only candidate");
    let name = (tag("b").with(store), candidate);
    match won {
        [(_, times)] if places == 1 => (Html::new((name, ", ", shown(times))), None),
        won => {
            let at: Vec<String> =
                won.iter().map(|(place, times)| format!("{place}: {}", shown(times))).collect();
            let at = (won.len() <= NAMED).then(|| small(at.join("; ")));
            (Html::new((name, format!(" in {} of {places}", won.len()))), at)
        }
    }
}
