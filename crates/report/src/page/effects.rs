//! What settings are worth: every combination by what it promises, main effects, interactions; the same as in the terminal. The
//! scripts draw the first two where this leaves room for it.

use storebench_core::units::{rough_ns, three_digits};

use crate::data::effects::{
    Effects, Interaction, MainEffect, NOT_YET, Spot, Times, by_promise, effects_for_people, promise_in_words,
};
use crate::data::merge::Merged;
use crate::data::spread;
use crate::markup::{Html, Literal, Tag, column, folded, note, number, row, scroll, table, tag};

/// A section of its own; nothing where no settings were varied. Of several places the first is open.
pub fn html(merged: &Merged<'_>) -> Html {
    let all = effects_for_people(merged);
    if all.is_empty() {
        return Html::default();
    }
    let heading = tag("h2").with("What settings are worth");
    let parts = all.iter().enumerate().map(|(place, one)| match place {
        0 => of(place, one),
        _ => Html::of(folded(&one.place.title, of(place, one))),
    });
    let parts: Vec<Html> = parts.collect();
    Html::of(tag("section").attr("id", "effects").attr("tabindex", "-1").with(heading).with(parts))
}

/// The entry in the page's list of sections, where there is such a section.
pub fn link(merged: &Merged<'_>) -> Html {
    let there =
        merged.cells().any(|cell| cell.settings().next().is_some()) && !effects_for_people(merged).is_empty();
    Html::of(there.then_some(Literal("<li><a href=\"#go=effects\">What settings are worth</a></li>")))
}

/// Room for a chart, by its number in the page's data.
fn chart(number: usize) -> Tag {
    tag("div").class("dots").attr("data-dots", number.to_string())
}

fn of(place: usize, effects: &Effects) -> Html {
    let mut html = Html::of(note(
        "Every combination of settings, the safest first, and how many operations it does in a second. A combination is bold if it is the \
         fastest of all that promise as much or more, or too close to call with it. What stands further down promises less.",
    ));
    html.push(chart(2 * place));
    html.push(folded("Every combination as a table", scroll(spots(effects))));
    html.push(note(
        "What each value does by itself: mean latency divided by that at the base value, paired by block, over the combinations that \
         differ in nothing else. Intervals are 95 % for all values of a column together.",
    ));
    html.push(effects.is_any_open().then(|| note(NOT_YET)));
    html.push(chart(2 * place + 1));
    html.push(folded("Main effects as a table, by operation", scroll(main(effects))));
    if !effects.interactions.is_empty() {
        let says = note(
            "Mean latency with both values, divided by what the two effects multiplied would give: ×1 where neither value changes \
             the effect of the other. The greatest first.",
        );
        html.push(folded("What two settings do together", (says, scroll(interactions(effects)))));
    }
    html
}

fn times(times: Option<&Times>) -> Tag {
    number(times.map_or_else(|| "-".into(), Times::text))
}

fn main(effects: &Effects) -> Tag {
    let operations = effects.operations.iter().map(String::as_str).chain(["all"]);
    let heads = ["value", "promises"].into_iter().chain(operations).map(column).collect();
    let one = |effect: &MainEffect| {
        let MainEffect { setting, value, base, promise, .. } = effect;
        let figures: Vec<Tag> = effect.times.iter().map(|one| times(one.as_ref())).collect();
        row(format!("{setting}={value}, not {base}"), (tag("td").with(*promise), figures))
    };
    table(heads, effects.main.iter().map(one).collect::<Vec<_>>())
}

fn interactions(effects: &Effects) -> Tag {
    let name = |(setting, value): &(String, String)| format!("{setting}={value}");
    let one = |one: &Interaction| {
        row(format!("{} and {}", name(&one.first), name(&one.second)), times(Some(&one.times)))
    };
    table(["values", "times"].map(column).into(), effects.interactions.iter().map(one).collect::<Vec<_>>())
}

fn spots(effects: &Effects) -> Tag {
    let heads = ["settings", "promise", "operations/s", "mean latency", "syncs an operation", ""].map(column);
    let promises = by_promise(&effects.points);
    let all = promises
        .iter()
        .flat_map(|(promise, spots)| spots.iter().map(|spot| (promise_in_words(*promise), *spot)));
    table(heads.into(), all.map(|(promise, spot)| one_spot(&promise, spot)).collect::<Vec<_>>())
}

fn one_spot(promise: &str, spot: &Spot) -> Tag {
    let latency = &spot.latency_ns.mean;
    let reach =
        spread::text(latency.interval, rough_ns).map_or_else(String::new, |reach| format!(" {reach}"));
    let best = if spot.best { " *" } else { "" };
    let or_none = |figure: Option<f64>| number(figure.map_or_else(|| "-".into(), three_digits));
    let cells = (
        tag("td").with(promise),
        or_none(spot.per_second.map(|speed| speed.mean.value)),
        number(format!("{}{reach}", rough_ns(latency.value))),
        or_none(spot.syncs_per_operation),
        tag("td").with(spot.marks.join(", ")),
    );
    row(format!("{}{best}", spot.name), cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::effects::tests::factorial;
    use crate::data::samples;

    #[test]
    fn combinations_effects_and_interactions_stand_in_a_section() {
        let runs = [factorial()];
        let merged = Merged::new(&runs, &[]);
        let html = html(&merged).into_string();
        for part in [
            "id=\"effects\"",
            "data-dots=\"1\"",
            "j=W, not D",
            "×0.612",
            "×1.50",
            "the best",
            "sqlite j=W s=F *",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!link(&merged).is_empty());
        let (runs, none) = ([samples::study()], Html::default());
        let merged = Merged::new(&runs, &[]);
        assert_eq!((super::html(&merged), link(&merged)), (none.clone(), none));
    }
}
