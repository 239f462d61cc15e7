//! What settings are worth: main effects, interactions, and every combination by what it promises; the same as in the terminal.

use storebench_core::units::{rough_ns, three_digits};

use crate::data::effects::{Effects, Interaction, MainEffect, Spot, by_promise, effects, promise_in_words};
use crate::data::merge::Merged;
use crate::data::spread;
use crate::markup::{Html, Tag, column, note, number, row, scroll, table, tag};
use crate::stats::Ratio;

/// A section of its own; nothing where no settings were varied.
pub fn html(merged: &Merged<'_>) -> Html {
    let all = effects(merged);
    if all.is_empty() {
        return Html::default();
    }
    let heading = tag("h2").with("What settings are worth");
    let parts: Vec<_> = all.iter().map(of).collect();
    Html::of(tag("section").attr("id", "effects").attr("tabindex", "-1").with(heading).with(parts))
}

fn of(effects: &Effects) -> Html {
    let title = |text: &str| tag("h3").with(format!("{text}: {}", effects.title));
    let mut html = Html::of(title("Speed against what is promised"));
    html.push(note(
        "Mean latency over all operations, the safest settings first. A star marks the fastest of all that promise as much or more, \
         or what is too close to call with it.",
    ));
    html.push(scroll(spots(effects)));
    html.push(title("Main effects"));
    html.push(note(
        "Mean latency divided by the mean latency at the base value, paired by block, over the combinations that differ in \
         nothing else. Intervals are 95 % for the whole table together.",
    ));
    html.push(scroll(main(effects)));
    if !effects.interactions.is_empty() {
        html.push(title("Interactions of two"));
        html.push(note(
            "Mean latency with both values, divided by what the two effects multiplied would give: 1 where neither value changes \
             the effect of the other. The greatest first.",
        ));
        html.push(scroll(interactions(effects)));
    }
    html
}

fn times(ratio: Option<&Ratio>) -> Tag {
    let Some(ratio) = ratio else { return number("-") };
    let reach = spread::text(ratio.ratio.interval, three_digits)
        .map_or_else(String::new, |reach| format!(" {reach}"));
    number(format!("{} times{reach}", three_digits(ratio.ratio.value)))
}

fn main(effects: &Effects) -> Tag {
    let operations = effects.operations.iter().map(String::as_str).chain(["all"]);
    let heads = ["value", "promises"].into_iter().chain(operations).map(column).collect();
    let one = |effect: &MainEffect| {
        let MainEffect { setting, value, base, promise, .. } = effect;
        let figures: Vec<Tag> = effect.times.iter().map(|ratio| times(ratio.as_ref())).collect();
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
    let heads = ["settings", "promise", "mean latency", "syncs an operation", ""].map(column);
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
    let syncs = spot.syncs_per_operation.map_or("-".into(), three_digits);
    let cells = (
        tag("td").with(promise),
        number(format!("{}{reach}", rough_ns(latency.value))),
        number(syncs),
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
        let html = html(&Merged::new(&runs, &[])).into_string();
        for part in ["id=\"effects\"", "j=W, not D", "0.612 times", "1.5", "the best", "sqlite j=W s=F *"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(super::html(&Merged::new(&[samples::study()], &[])).is_empty());
    }
}
