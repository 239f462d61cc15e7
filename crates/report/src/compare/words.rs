//! Sentences shared by all outputs of a comparison.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;
use storebench_figures::data::moment::to_the_second;
use storebench_figures::data::noise;
use storebench_figures::data::spread;
use storebench_figures::layout::words;
use storebench_figures::stats::median;
use storebench_figures::stats::unpaired::{LEVEL, MIN_OBSERVATIONS};
use storebench_model::axis::Role;
use storebench_model::cell::{Axis, Cell};
use storebench_model::store::Guarantee;
use storebench_model::units::{plural, three_digits, with_commas};

use super::{BrokenCell, Comparison, FigureChange, Observations, Side, StoreChange, Verdict};
use crate::terminal::grid::one_line;

const MOST_NAMED: usize = 4;

/// Items of a kind that a text lists; the rest is counted.
pub const LISTED: usize = 10;
/// Parts of a difference that are listed; --json has all.
const MOST_PARTS: usize = 4;

/// A ratio as a change: `+12.3 %`; as a factor if percents read badly: `×3.20`.
pub fn relative(ratio: f64) -> String {
    match ratio {
        0.0 => "to none".into(),
        f64::INFINITY => "from none".into(),
        // A change that rounds to zero has no direction.
        _ if (ratio - 1.0).abs() < 0.000_5 => "0.0 %".into(),
        0.1..2.0 => format!("{:+.1} %", (ratio - 1.0) * 100.0),
        _ => format!("×{}", three_digits(ratio)),
    }
}

/// A change with its interval: `+12.3 % [+8.1 %, +16.7 %]`.
pub fn change(figure: &FigureChange) -> String {
    match interval(figure) {
        Some(interval) => format!("{} {interval}", estimate(figure)),
        None => estimate(figure),
    }
}

/// A change without its interval.
pub fn estimate(figure: &FigureChange) -> String {
    figure.change.map_or_else(|| "no ratio".into(), |change| relative(change.ratio.value))
}

/// The interval of a change, or a word if it needs none.
pub fn interval(figure: &FigureChange) -> Option<String> {
    let change = figure.change?;
    if change.constant.is_some() {
        return Some("exact".into());
    }
    spread::text(change.ratio.interval, relative)
}

/// The smallest change that would have been marked: `from +8.1 %`; none if there is none.
pub fn detectable(figure: &FigureChange) -> String {
    match figure.detectable {
        Some(0.0) => "any".into(),
        Some(share) if share < MAX_DETECTABLE => format!("from {}", relative(1.0 + share)),
        Some(_) => format!("none below ×{}", with_commas(MAX_DETECTABLE as u64)),
        None => "none".into(),
    }
}

/// Changes beyond this factor are all shown alike: trials with such a scatter detect none worth mentioning.
const MAX_DETECTABLE: f64 = 1000.0;

/// The figure's name, with its operation: `get p99`, `on disk`.
pub fn name(figure: &FigureChange) -> String {
    match &figure.operation {
        Some(operation) => format!("{operation} {}", figure.title),
        None => figure.title.to_owned(),
    }
}

/// The axes that distinguish cells, except compared ones; and the cells' common values.
pub struct Axes {
    varying: Vec<Axis>,
    /// The common values, in words; empty if none are worth mentioning.
    pub common: Vec<String>,
}

impl Axes {
    pub(crate) fn from_comparison(comparison: &Comparison<'_>) -> Axes {
        let figures = || comparison.figures.iter().chain(&comparison.controls);
        let mut axes = Axes { varying: Vec::new(), common: Vec::new() };
        let mut candidates = comparison.layout.axes().to_vec();
        candidates.retain(|axis| comparison.layout.role(*axis) != Role::Contestant);
        candidates.sort_by_key(|axis| axis.place_in_id());
        for axis in candidates {
            let values: BTreeSet<String> = figures().map(|f| value(axis, &f.cell, f.guarantee)).collect();
            if values.len() > 1 {
                axes.varying.push(axis);
            } else if let Some(figure) = figures().next()
                && figure.cell.value(axis).is_some()
            {
                axes.common.push(value(axis, &figure.cell, figure.guarantee));
            }
        }
        axes
    }

    /// The place of a figure: the values of the axes in which cells differ.
    pub fn describe_cell(&self, figure: &FigureChange) -> String {
        let values = self.varying.iter().map(|axis| value(*axis, &figure.cell, figure.guarantee));
        values.filter(|value| !value.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// A cell's value with enough of the axis' name to be understood; empty without a value.
fn value(axis: Axis, cell: &Cell, tier: Guarantee) -> String {
    let Some(value) = words::value(cell, axis).map(|value| axis.describe(value.text())) else {
        return String::new();
    };
    match axis == Axis::GUARANTEE && cell.guarantee().tier() != Some(tier) {
        true => format!("{value}: {tier}"),
        false => value,
    }
}

/// A side in a line: the user's name for it, what ran, and when.
pub fn side(side: &Side<'_>) -> String {
    let mut labels: Vec<String> = Vec::new();
    for run in side.runs {
        let part = format!("{}, study {}", run.header.hardware, run.header.study);
        if !labels.contains(&part) {
            labels.push(part);
        }
    }
    let mut started: Vec<&str> = side.runs.iter().map(|run| run.header.started.as_str()).collect();
    started.sort_unstable();
    let started: Vec<String> = started.into_iter().map(to_the_second).collect();
    let dates = match started.as_slice() {
        [] => String::new(),
        [only] => format!("; {only}"),
        [first, .., last] => format!("; from {first} to {last}"),
    };
    one_line(&format!("{} ({}{dates})", side.names.join(", "), labels.join("; ")))
}

/// The result of the comparison, in a sentence.
pub fn headline(comparison: &Comparison<'_>) -> String {
    let cells: HashSet<&Cell> = comparison.figures.iter().map(|figure| &figure.cell).collect();
    let (worse, better) = (comparison.count(Verdict::Worse), comparison.count(Verdict::Better));
    let total = comparison.figures.len();
    let counts = format!("{} of {}", plural(total, "figure"), plural(cells.len(), "cell"));
    let mut headline = match total - worse - better {
        0 if total == 0 => "No figure could be compared.".to_owned(),
        rest if rest == total && comparison.tested() + comparison.exact() == 0 => format!(
            "{counts} compared: not known whether any changed; that takes {MIN_OBSERVATIONS} {} on each side.",
            comparison.observations.name()
        ),
        rest if rest == total => format!("{counts} compared: none changed significantly."),
        0 => format!("{counts} compared: {worse} worse, {better} better."),
        rest => {
            format!("{counts} compared: {worse} worse, {better} better, {rest} without a significant change.")
        }
    };
    if !comparison.broken.is_empty() {
        let broken = plural(comparison.broken.len(), "cell");
        headline.push_str(&format!(" Failures: {broken} that BASE measured."));
    }
    headline
}

/// The first lines: what changed, which figures are worse and better, how sure that is, and what to do next.
pub fn first(comparison: &Comparison<'_>) -> Vec<String> {
    let mut lines = vec![headline(comparison)];
    for (word, verdict) in [("Worse", Verdict::Worse), ("Better", Verdict::Better)] {
        let mut stores: IndexMap<&str, Vec<&FigureChange>> = IndexMap::new();
        for figure in comparison.figures.iter().filter(|figure| figure.verdict == verdict) {
            stores.entry(&figure.contestant).or_default().push(figure);
        }
        let format_store = |(store, figures): (&&str, &Vec<&FigureChange>)| {
            let (most, count) = (figures[0], plural(figures.len(), "figure"));
            format!("{store} in {count} ({} {})", name(most), keep_together(estimate(most)))
        };
        let named: Vec<String> = stores.iter().take(MOST_NAMED).map(format_store).collect();
        lines.extend((!named.is_empty()).then(|| format!("{word}, most clearly: {}.", named.join("; "))));
    }
    let is_known = comparison.tested() + comparison.exact() > 0;
    let reach = describe_detectable(comparison).filter(|_| is_known);
    lines.extend(reach.map(|reach| format!("How sure: {reach}")));
    let next_step = match comparison.observations {
        _ if !is_known => Some("run both again with --trials 5 or more"),
        Observations::Trials => Some(
            "several runs of each, alternately (docs/compare.md): a machine that was slower during one run looks like a change",
        ),
        Observations::Runs => None,
    };
    let next_step = next_step.filter(|_| !comparison.figures.is_empty());
    lines.extend(next_step.map(|next_step| format!("Next: {next_step}.")));
    lines
}

/// The rule of decision, and how far the figures can be trusted, each in a sentence or two.
pub fn rules(comparison: &Comparison<'_>) -> Vec<String> {
    let mut rules = decision_rules(comparison);
    if comparison.figures.iter().any(|figure| figure.pairs > 0) {
        rules.push(
            "Requests to a simulated disk are compared block by block: with the same seed both sides did the same work.".into(),
        );
    }
    let few = comparison.count(Verdict::TooFew);
    if comparison.tested() + comparison.exact() > 0 && few > 0 {
        rules.push(format!(
            "{} {} fewer than {MIN_OBSERVATIONS} {} on a side: of those nothing can be claimed.",
            plural(few, "figure"),
            if few == 1 { "has" } else { "have" },
            comparison.observations.name()
        ));
    }
    let no_ratio = comparison.count(Verdict::NoRatio);
    if no_ratio > 0 {
        rules.push(format!("{} zero in a trial, and so no ratio.", figures_are(no_ratio)));
    }
    if comparison.one_sided > 0 {
        rules.push(format!(
            "{} known on one side only, though both ran the cell.",
            figures_are(comparison.one_sided)
        ));
    }
    if comparison.tested() + comparison.exact() > 0 {
        rules.push("Seen: the least change that would be marked if it were the only one, if trials vary as these do.".into());
    }
    rules.push(match comparison.observations {
        Observations::Trials => "Intervals show how trials of one run differ, not how runs differ.".into(),
        Observations::Runs => "One observation is a run, by its mean: intervals show how runs differ.".into(),
    });
    rules
}

/// The rules by which a figure is called worse or better.
fn decision_rules(comparison: &Comparison<'_>) -> Vec<String> {
    let (tested, exact) = (comparison.tested(), comparison.exact());
    let percent = LEVEL * 100.0;
    let unit = comparison.observations.name();
    let mut rules = Vec::new();
    if tested > 0 {
        rules.push(format!(
            "A figure is called worse or better if its change is significant at {percent} % after Holm's correction for \
             {}: if nothing changed, the chance that any is marked is at most {percent} %. Each interval is 95 % for its \
             figure alone: it may exclude no change although the figure is not marked.",
            plural(tested, "figure")
        ));
    }
    if exact > 0 {
        let exact = comparison.figures.iter().filter(|figure| figure.change.is_some_and(|c| c.is_exact()));
        let paired = exact.clone().filter(|figure| figure.pairs > 0).count();
        let parts = [
            (exact.count() - paired, format!("the same in all {unit} of a side")),
            (paired, "in the same ratio in every block".to_owned()),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> =
            parts.map(|(count, condition)| format!("{} {condition}", figures_are(count))).collect();
        rules.push(format!(
            "{}. If the sides differ the change is exact; it is called worse or better \
             if chance alone would bring that about rarely enough, corrected for the number of such figures, which share \
             the {percent} % with the tests.",
            parts.join(", ")
        ));
    }
    let intervals = comparison.figures.iter().filter_map(|figure| figure.change?.ratio.interval);
    if intervals.into_iter().any(|interval| interval.is_range()) {
        rules.push(
            "(a..b) are the least and the greatest ratio of any two observations: two on a side are too few for an interval."
                .into(),
        );
    }
    // If trials failed, more of them would fail, too.
    if tested + exact == 0 && (!comparison.figures.is_empty() || comparison.broken.is_empty()) {
        rules.push(format!(
            "Nothing can be called significant here: that takes at least {MIN_OBSERVATIONS} {unit} of a cell on each side."
        ));
    }
    rules
}

fn figures_are(count: usize) -> String {
    format!("{} {}", plural(count, "figure"), if count == 1 { "is" } else { "are" })
}

/// The size of change that could have been detected: half of the intervals reach no further.
fn describe_detectable(comparison: &Comparison<'_>) -> Option<String> {
    let changes = comparison.figures.iter().filter_map(|figure| figure.change);
    let intervals = changes.filter(|change| change.constant.is_none()).filter_map(|c| c.ratio.interval);
    let mut reaches: Vec<f64> = intervals.map(|interval| (interval.high / interval.low).sqrt()).collect();
    reaches.sort_by(f64::total_cmp);
    let middle = relative(*reaches.get(reaches.len() / 2)?);
    let middle = middle.trim_start_matches('+');
    Some(format!("half of the intervals reach no further than {middle} to either side."))
}

/// Mean latencies by store, and all together.
pub fn stores(comparison: &Comparison<'_>) -> Option<String> {
    let format_store =
        |store: &StoreChange| format!("{} {}", store.store, keep_together(relative(store.ratio)));
    let stores: Vec<String> = comparison.stores.iter().map(format_store).collect();
    (!stores.is_empty()).then(|| {
        format!(
            "Mean latencies of each store, over all its cells and operations: {}. If all stores changed alike, it may be \
             the machine.",
            stores.join(", ")
        )
    })
}

/// The harness's own stores, if both sides ran them.
pub fn controls(comparison: &Comparison<'_>) -> Option<String> {
    let format_store = |store: &StoreChange| {
        let figures = comparison.controls.iter().filter(|figure| figure.contestant == store.store);
        let marked = figures.filter(|figure| figure.is_significant()).count();
        let marked = if marked == 0 { "nothing".into() } else { plural(marked, "figure") };
        format!("{} {} ({marked} significantly)", store.store, keep_together(relative(store.ratio)))
    };
    let stores: Vec<String> = super::by_store(&comparison.controls).iter().map(format_store).collect();
    (!stores.is_empty()).then(|| {
        format!(
            "Mean latencies of the harness's own stores: {}. What changes there is the machine, or storebench.",
            stores.join(", ")
        )
    })
}

/// Text without line ends.
fn keep_together(text: String) -> String {
    text.replace(' ', "\u{a0}")
}

/// The background of the changes: differences between the runs, versions and settings that changed, signs of noise.
pub fn circumstances(comparison: &Comparison<'_>) -> Vec<String> {
    let mut lines: Vec<String> =
        comparison.across.iter().map(|across| format!("across {}", across.describe())).collect();
    for difference in &comparison.differences {
        let kind = if difference.refuses { "unlike" } else { "noted" };
        lines.push(format!(
            "{kind}: {}: {} in BASE, {} in {}",
            difference.what,
            shorten(difference.refuses, &difference.base),
            shorten(difference.refuses, &difference.other),
            if difference.side == "BASE" { "another run of it" } else { "NEW" }
        ));
    }
    let joined = |versions: &BTreeSet<String>| versions.iter().cloned().collect::<Vec<_>>().join(" and ");
    let (same, changed): (Vec<_>, Vec<_>) = comparison.versions.iter().partition(|v| v.base == v.new);
    lines.extend(changed.iter().map(|v| format!("{} {} → {}", v.store, joined(&v.base), joined(&v.new))));
    if !same.is_empty() {
        let same: Vec<String> = same.iter().map(|v| format!("{} {}", v.store, joined(&v.base))).collect();
        lines.push(format!("the same version on both sides: {}", same.join(", ")));
    }
    lines.extend(list_capped(&comparison.settings, "settings", |setting| {
        let value = |value: &Option<String>| value.clone().unwrap_or("unknown".into());
        let cells = plural(setting.cells, "cell");
        format!(
            "setting {}.{}: {} → {} ({cells})",
            setting.store,
            setting.name,
            value(&setting.base),
            value(&setting.new)
        )
    }));
    lines.extend(describe_noise(comparison));
    lines.iter().map(|line| one_line(line)).collect()
}

/// The first parts of a long difference that refuses nothing, such as an engine's flags.
fn shorten(refuses: bool, text: &str) -> String {
    let parts: Vec<&str> = text.split(", ").collect();
    if refuses || parts.len() <= MOST_PARTS {
        return text.to_owned();
    }
    format!("{} and {} more", parts[..MOST_PARTS].join(", "), parts.len() - MOST_PARTS)
}

fn describe_noise(comparison: &Comparison<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (word, side) in [("BASE", &comparison.base), ("NEW", &comparison.new)] {
        let drifts: Vec<_> = side.runs.iter().filter_map(noise::drift).collect();
        match drifts.as_slice() {
            [] => {}
            [drift] if side.runs.len() == 1 => {
                let speed = noise::describe_drift(drift.value);
                lines.push(format!(
                    "drift within {word}: the second half of its blocks was {speed} than the first"
                ));
            }
            several => lines.push(format!(
                "drift within {} of the {} of {word}",
                several.len(),
                plural(side.runs.len(), "run")
            )),
        }
        let outliers: usize = side.runs.iter().map(|run| noise::outliers(run).len()).sum();
        if outliers > 0 {
            lines.push(format!(
                "{} of {word} far off the others of their cells; nothing was dropped",
                plural(outliers, "trial")
            ));
        }
    }
    lines.extend(describe_loads(comparison));
    lines
}

/// No machine has such a load average: the kernel counts its threads.
const MOST_LOAD: f64 = 1e9;

/// The load of the machine, if it was too high or differed: in the median over trials.
fn describe_loads(comparison: &Comparison<'_>) -> Option<String> {
    let load = |side: &Side<'_>| {
        let loads = side.runs.iter().flat_map(|run| &run.trials).filter_map(|trial| trial.load_1min);
        // An impossible load was written by something else, and would distort any mean.
        let loads: Vec<f64> = loads.filter(|load| (0.0..MOST_LOAD).contains(load)).collect();
        median(&loads).map(|median| median.value)
    };
    let (base, new) = (load(&comparison.base)?, load(&comparison.new)?);
    let processors = comparison.base.runs.first()?.header.environment.cores;
    let worth_a_word = base.max(new) > f64::from(processors) || (base - new).abs() > 0.5;
    worth_a_word.then(|| {
        format!(
            "trials began under a load of {base:.1} in BASE and {new:.1} in NEW, on {}: what changed may be that",
            plural(processors as usize, "processor")
        )
    })
}

/// Cells that failed in NEW, and cells of one side only.
pub fn cells(comparison: &Comparison<'_>) -> Vec<String> {
    let mut lines = list_capped(&comparison.broken, "cells that failed in NEW", |broken| {
        let BrokenCell { cell, failed, trials, failed_in_base, reason } = broken;
        let counts = match (*failed, *failed_in_base) {
            (0, _) => return format!("measured in BASE, not possible in NEW: {} ({reason})", cell.id()),
            (_, 0) => format!("{failed} of {trials} trials, none in BASE; "),
            (_, earlier) => format!("{failed} of {trials} trials, {earlier} in BASE; "),
        };
        format!("measured in BASE, failed in NEW: {} ({counts}{reason})", cell.id())
    });
    let one_sided: Vec<_> = comparison.told_as_only().collect();
    lines.extend(list_capped(&one_sided, "cells on one side only", |one_sided| {
        let other = if one_sided.side == "BASE" { "NEW" } else { "BASE" };
        let asked = one_sided.cell.value(Axis::GUARANTEE).map(|_| one_sided.cell.guarantee().tier());
        let tier = match asked.is_none_or(|asked| asked == Some(one_sided.guarantee)) {
            true => String::new(),
            false => format!(" ({})", one_sided.guarantee),
        };
        format!("only in {}: {}{tier}; in {other}: {}", one_sided.side, one_sided.cell.id(), one_sided.other)
    }));
    lines.iter().map(|line| one_line(line)).collect()
}

fn list_capped<T>(items: &[T], kind: &str, format_item: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = items.iter().take(LISTED).map(format_item).collect();
    if items.len() > LISTED {
        lines.push(format!("and {} more {kind}: --json has them all", items.len() - LISTED));
    }
    lines
}
