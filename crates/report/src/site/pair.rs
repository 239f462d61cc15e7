//! The page of two stores: at each guarantee, on each machine, which is better at what.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use storebench_figures::data::names::describe_share;
use storebench_model::units::{plural, three_digits};

use super::facts::{FigureOutcome, RunFacts, StorePair};
use super::frame::{
    NAMED, UP, describe_conditions, guarantee, link, page, run_link, section, store_link, table_section, td,
    type_notes,
};
use crate::markup::{BREAK, Html, Tag, list, note, row, small, tag};

pub fn pair_page(stores: &[String; 2], meetings: &[(&RunFacts, &StorePair)]) -> String {
    let figures: IndexSet<&str> =
        meetings.iter().flat_map(|(_, pair)| &pair.outcomes).map(|outcome| outcome.figure.as_str()).collect();
    let heads = ["guarantee", "machine", "where", "versions"].into_iter().chain(figures.iter().copied());
    let heads: Vec<&str> = heads.chain(["run"]).collect();
    let format_row = |(run, pair): &(&RunFacts, &StorePair)| {
        let cell = |figure: &&str| match pair.outcomes.iter().find(|outcome| outcome.figure == **figure) {
            Some(outcome) => td(draw_outcome(run, pair, outcome)),
            None => td(small("not measured of both")),
        };
        let cells: Vec<Tag> = figures.iter().map(cell).collect();
        let versions = Html::join(pair.versions.iter().map(String::as_str), BREAK);
        let conditions = td(describe_conditions(&pair.conditions));
        row(
            guarantee(&pair.conditions),
            (td(&run.header.hardware), conditions, td(versions), cells, td(run_link(UP, run))),
        )
    };
    let [a, b] = stores;
    let explanation = note((
        "A row for each run and guarantee in which both ran: the better store, how many times as good it is, and below it the \
         figures of ",
        store_link(UP, a),
        " against those of ",
        store_link(UP, b),
        ". The two are ranked by themselves, by the rules of every report: one is better where the interval of their ratio, \
         paired by block, leaves out 1. Of few trials, and where other programs took the processors, neither is told.",
    ));
    let rows = meetings.iter().map(format_row).collect();
    let met = table_section("met", "Where they met", explanation, &heads, rows);
    let title = format!("{a} against {b}");
    page(&title, "Where each is better", (describe_machines(stores, meetings), met))
}

type Factors = [Vec<f64>; 2];

const OVER: &str =
    "A store is better on a machine if it is better in some combination there, and the other in none.";

/// A sentence for each guarantee and figure that several machines have; `None` if there are none.
fn describe_machines(stores: &[String; 2], meetings: &[(&RunFacts, &StorePair)]) -> Option<Tag> {
    let mut factors: IndexMap<(&str, &str), BTreeMap<&str, Factors>> = IndexMap::new();
    for (run, pair) in meetings {
        for outcome in &pair.outcomes {
            let machines = factors.entry((guarantee(&pair.conditions), &outcome.figure)).or_default();
            let machine_factors = machines.entry(&run.header.hardware).or_default();
            for (store_factors, won) in machine_factors.iter_mut().zip(&outcome.won) {
                store_factors.extend(won.iter().map(|(_, times)| times.unwrap_or(f64::INFINITY)));
            }
        }
    }
    let several = factors.into_iter().filter(|(_, machines)| machines.len() > 1);
    let sentences = several.map(|((guarantee, figure), machines)| {
        format!("{figure}, {guarantee}: {}.", describe_verdict(stores, machines.values().collect()))
    });
    let sentences = list(sentences.collect());
    sentences.map(|sentences| {
        let runs = meetings.iter().map(|(run, _)| *run);
        section("machines", "Over machines", (note(OVER), sentences, type_notes(runs)))
    })
}

/// The number of machines on which each store is better, and the factors.
fn describe_verdict([a, b]: &[String; 2], machines: Vec<&Factors>) -> String {
    let has_wins =
        |factors: &Factors, [a, b]: [bool; 2]| factors[0].is_empty() != a && factors[1].is_empty() != b;
    let machines_with =
        |wins: [bool; 2]| machines.iter().filter(|factors| has_wins(factors, wins)).collect::<Vec<_>>();
    let mut stores = [(a, 0, machines_with([true, false])), (b, 1, machines_with([false, true]))];
    stores.sort_by_key(|(_, _, better)| std::cmp::Reverse(better.len()));
    let [(store, place, better), (other, _, worse)] = &stores;
    let mut words = match better.as_slice() {
        [] => format!("neither is better on any of {}", plural(machines.len(), "machine")),
        better => {
            let times =
                || better.iter().flat_map(|won| &won[*place]).copied().filter(|times| times.is_finite());
            let [lowest, highest] =
                [times().reduce(f64::min), times().reduce(f64::max)].map(|end| end.map(three_digits));
            let range = match lowest.zip(highest) {
                Some((lowest, highest)) if lowest == highest => format!(", by {lowest} times"),
                Some((lowest, highest)) => format!(", by {lowest} to {highest} times"),
                None => String::new(),
            };
            format!("{store} is better {}{range}", describe_share(better.len(), machines.len()))
        }
    };
    let others = [
        (worse.len(), format!("{other} on")),
        (machines_with([true, true]).len(), "each in some combinations on".into()),
        (machines_with([false, false]).len(), "undecided on".into()),
    ];
    for (number, phrase) in others.into_iter().filter(|(number, _)| *number > 0) {
        words.push_str(&format!("; {phrase} {number}"));
    }
    words
}

/// The outcome of one figure in words, with the figures, each line linked to the run.
fn draw_outcome(run: &RunFacts, pair: &StorePair, outcome: &FigureOutcome) -> Html {
    let FigureOutcome { ranges: [a, b], won, candidate, close, open, .. } = outcome;
    let places = won.iter().chain(candidate).map(Vec::len).sum::<usize>() + close + open;
    let line =
        |text: Html, details: Option<Tag>| tag("div").with((link(UP, "runs", &run.name, text), details));
    let mut lines = Vec::new();
    for (by_store, is_candidate) in [(won, false), (candidate, true)] {
        let stores = pair.stores.iter().zip(by_store);
        for (store, store_places) in stores.filter(|(_, places)| !places.is_empty()) {
            let (text, details) = describe_better(store, store_places, places, is_candidate);
            lines.push(line(text, details));
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

fn describe_better(
    store: &str,
    won: &[(String, Option<f64>)],
    places: usize,
    is_candidate: bool,
) -> (Html, Option<Tag>) {
    let format_factor =
        |times: &Option<f64>| times.map_or_else(String::new, |times| format!("{}x", three_digits(times)));
    let candidate = is_candidate.then_some(", the only candidate");
    let name = (tag("b").with(store), candidate);
    match won {
        [(_, times)] if places == 1 => (Html::new((name, ", ", format_factor(times))), None),
        won => {
            let details: Vec<String> =
                won.iter().map(|(place, times)| format!("{place}: {}", format_factor(times))).collect();
            let details = (won.len() <= NAMED).then(|| small(details.join("; ")));
            (Html::new((name, format!(" in {} of {places}", won.len()))), details)
        }
    }
}
