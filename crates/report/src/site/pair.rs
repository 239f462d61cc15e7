//! The page of two stores: under each guarantee, on each machine, which is better at what.

use indexmap::IndexSet;

use super::facts::{Bout, Duel, Facts};
use super::frame::{NAMED, UP, circumstances, guarantee, link, listed, page, run_link, store_link, td};
use crate::markup::{BREAK, Html, Tag, note, row, small, tag};

/// The page; the meetings have the order in which they are told.
pub fn page_of(stores: &[String; 2], met: &[(&Facts, &Duel)]) -> String {
    let figures: IndexSet<&str> =
        met.iter().flat_map(|(_, duel)| &duel.bouts).map(|bout| bout.figure.as_str()).collect();
    let heads: Vec<&str> = ["guarantee", "machine", "where", "versions"]
        .into_iter()
        .chain(figures.iter().copied())
        .chain(["run"])
        .collect();
    let line = |(run, duel): &(&Facts, &Duel)| {
        let cell = |figure: &&str| match duel.bouts.iter().find(|bout| bout.figure == **figure) {
            Some(bout) => td(outcome(run, duel, bout)),
            None => td(small("not measured of both")),
        };
        let cells: Vec<Tag> = figures.iter().map(cell).collect();
        let versions = Html::joined(duel.versions.iter().map(String::as_str), BREAK);
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
         paired by block, leaves out 1. Of few trials there are only candidates.",
    ));
    page(
        &format!("{a} against {b}"),
        "Where each is better",
        listed("met", "Where they met", says, &heads, met.iter().map(line).collect()),
    )
}

/// The outcome of one figure in words, with the figures, each line a link to the run.
fn outcome(run: &Facts, duel: &Duel, bout: &Bout) -> Html {
    let Bout { ranges: [a, b], won, candidate, close, open, .. } = bout;
    let places = won.iter().chain(candidate).map(Vec::len).sum::<usize>() + close + open;
    let line = |text: Html, at: Option<Tag>| tag("div").with((link(UP, "runs", &run.name, text), at));
    let mut lines = Vec::new();
    for (all, is_candidate) in [(won, false), (candidate, true)] {
        for (store, places_of) in duel.stores.iter().zip(all).filter(|(_, places)| !places.is_empty()) {
            let (text, at) = better(store, places_of, places, is_candidate);
            lines.push(line(text, at));
        }
    }
    let undecided = [(close, "too close to call"), (open, "both are candidates")];
    for (number, words) in undecided.into_iter().filter(|(number, _)| **number > 0) {
        let words =
            if *number == places { words.to_owned() } else { format!("{words} in {number} of {places}") };
        lines.push(line(Html::of(words), None));
    }
    Html::of((lines, small((a, " against ", b))))
}

/// Who is better, by how many times, and where.
fn better(store: &str, won: &[(String, String)], places: usize, is_candidate: bool) -> (Html, Option<Tag>) {
    let candidate = is_candidate.then_some(", the only candidate");
    let name = (tag("b").with(store), candidate);
    match won {
        [(_, times)] if places == 1 => (Html::of((name, ", ", times)), None),
        won => {
            let at: Vec<String> = won.iter().map(|(place, times)| format!("{place}: {times}")).collect();
            let at = (won.len() <= NAMED).then(|| small(at.join("; ")));
            (Html::of((name, format!(" in {} of {places}", won.len()))), at)
        }
    }
}
