//! The states of each store after power cuts.

use std::borrow::Cow;

use indexmap::IndexMap;
use storebench_figures::column::Unit;
use storebench_figures::data::matrix::by_position;
use storebench_figures::data::merge::{Group, Merged};
use storebench_figures::data::names::join_parts;
use storebench_figures::judge::danger::{
    CONFIDENCE, control_counts, dangerous_harms, holds, is_sound, loss_bound, lost_nothing, share_interval,
};
use storebench_figures::stats::{Interval, quantile};
use storebench_model::result::{BadState, Control, CutCheck, CutResults, Phase, StateFinding};
use storebench_model::store::Guarantee;
use storebench_model::units::{plural, rough_ns, three_digits, with_commas};

use super::store_rows::head_cells;
use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Visibility};
use crate::standings::heading;

/// The section.
pub const SECTION: Section = Section {
    name: "cuts",
    title: "Power cuts: states of the disk that a cut can leave, and what each store has in them",
    link: "Power cuts",
    shapes: &[&CUTS],
    blocks,
    ..Section::ABOVE
};

const CUTS: Shape = Shape {
    name: "cuts",
    columns: &[
        Column::text("hardware"),
        Column::text("title").role(ColumnRole::Group, ""),
        Column::text("store").role(ColumnRole::Line, ""),
        Column::integer("trials"),
        Column::integer("steps"),
        Column::integer("requests"),
        Column::integer("flushes"),
        Column::real("whole", Unit::Bytes),
        Column::integer("sessions"),
        Column::text("guarantee"),
        Column::text("holds").role(ColumnRole::Line, "holds"),
        Column::integer("states").role(ColumnRole::Line, "states"),
        Column::integer("held").role(ColumnRole::Line, "all there"),
        Column::integer("lost").role(ColumnRole::Line, "newest lost"),
        Column::integer("hole").role(ColumnRole::Line, "hole"),
        Column::integer("resurrected").role(ColumnRole::Line, "removed is back"),
        Column::integer("torn").role(ColumnRole::Line, "torn value"),
        Column::integer("wrong").role(ColumnRole::Line, "wrong"),
        Column::integer("refused").role(ColumnRole::Line, "not opened"),
        Column::integer("unusable").role(ColumnRole::Line, "unusable"),
        Column::integer("unsound").role(ColumnRole::Line, "own check fails"),
        Column::integer("no_space").role(ColumnRole::Line, "no space"),
        Column::integer("hung").role(ColumnRole::Line, "hung"),
        Column::integer("crashed").role(ColumnRole::Line, "crashed"),
        Column::integer("file_system").role(ColumnRole::Line, "not mounted"),
        // States in which the engine's own check found no fault.
        Column::integer("verified"),
        // The newest lost steps and their time, in the median and the 99th percentile.
        Column::integer("lost_steps_p50"),
        Column::integer("lost_steps_p99"),
        Column::real("lost_p50", Unit::Nanoseconds),
        Column::real("lost_p99", Unit::Nanoseconds),
        Column::real("open_p50", Unit::Nanoseconds),
        Column::real("open_most", Unit::Nanoseconds),
        // States by the part of the history of the cut, and how many of them lost something.
        Column::integer("creating"),
        Column::integer("creating_not_held"),
        Column::integer("settling"),
        Column::integer("settling_not_held"),
        Column::integer("recovering"),
        Column::integer("recovering_not_held"),
        Column::integer("control_no_flush"),
        Column::integer("control_no_flush_caught"),
        Column::integer("control_last_flush"),
        Column::integer("control_last_flush_caught"),
        Column::integer("control_early"),
        Column::integer("control_early_caught"),
        Column::integer("control_in_place"),
        Column::integer("control_in_place_caught"),
        Column::text("not_made"),
    ],
};

const MOST_PIECES: usize = 3;
/// The bytes that a disk which tears blocks writes at once.
const TORN_BYTES: u64 = 512;

/// The states of one store, and why some trials have none.
#[derive(Debug, Default)]
struct CheckedStates {
    cuts: CutResults,
    trials: usize,
    /// Why others have none.
    not_made: Option<String>,
    /// The tier that it is checked against: the one asked for, otherwise the one given.
    tier: Option<Guarantee>,
    /// States that lost more than that allows, with the positions of their trials.
    bad: Vec<(u64, BadState)>,
}

impl CheckedStates {
    /// The states cut in a part of the history, and how many of them lost something.
    fn phase(&self, phase: Phase) -> (u64, u64) {
        self.cuts.phases.get(&phase).map_or((0, 0), |states| (states.states, states.caught))
    }

    fn add(&mut self, position: u64, check: &CutCheck) {
        let results = match check {
            CutCheck::NotMade { reason } => {
                self.not_made = Some(reason.clone());
                return;
            }
            CutCheck::Made(results) => results,
        };
        self.trials += 1;
        let sums = &mut self.cuts;
        sums.steps += results.steps;
        sums.requests += results.requests;
        sums.flushes += results.flushes;
        sums.whole_bytes = results.whole_bytes;
        for (counts, additions) in
            [(&mut sums.found, &results.found), (&mut sums.unacknowledged, &results.unacknowledged)]
        {
            additions.iter().for_each(|(finding, states)| *counts.entry(*finding).or_default() += states);
        }
        sums.sessions = results.sessions;
        results.phases.iter().for_each(|(phase, states)| sums.phases.entry(*phase).or_default().add(*states));
        for (control, states) in &results.controls {
            sums.controls.entry(*control).or_default().add(*states);
        }
        sums.open_ns.extend(&results.open_ns);
        sums.verified += results.verified;
        self.bad.extend(results.bad.iter().map(|bad| (position, bad.clone())));
        sums.lost_steps.extend(&results.lost_steps);
        sums.lost_ns.extend(&results.lost_ns);
    }
}

/// The states of a group's stores, in the order of its tables; disks that tear blocks are separate.
fn checked_states(merged: &Merged<'_>, group: &Group<'_>) -> Vec<(String, CheckedStates)> {
    let mut by_store: IndexMap<(Cow<'_, str>, u64), CheckedStates> = IndexMap::new();
    for (store, entries) in by_position(&merged.layout, group).into_values().flatten() {
        let checks = entries
            .iter()
            .filter_map(|entry| Some((entry.trial.position, entry.trial.ok()?.cut_check.as_ref()?)));
        for (position, check) in checks {
            let whole_bytes = match check {
                CutCheck::Made(results) => results.whole_bytes,
                CutCheck::NotMade { .. } => 0,
            };
            let states = by_store.entry((store.clone(), whole_bytes)).or_default();
            states.tier = group.key.asked.and_then(|asked| asked.tier()).or(group.key.tier);
            states.add(position, check);
        }
    }
    by_store.into_iter().map(|((store, _), states)| (store.into_owned(), states)).collect()
}

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let (mut table, mut notes) = (Table::new(&CUTS), Vec::new());
    for group in &merged.groups {
        let title = join_parts([group.key.hardware.as_str(), &merged.label(&group.key)]);
        for (store, checked) in checked_states(merged, group) {
            let name = merged.readable.name(&store);
            let is_torn = checked.cuts.whole_bytes == TORN_BYTES;
            let name = if is_torn { format!("{name}, torn") } else { name.into_owned() };
            let head = head_cells(group, Cell::text(&title), Cell::store(&store, name.clone()));
            table.push(Visibility::Always, head.into_iter().chain(row(&checked)));
            let bad = checked.bad.iter().filter_map(|(trial, bad)| describe_bad_state(&name, *trial, bad));
            notes.extend(sentence(&name, &checked).into_iter().chain(bad).map(Block::Note));
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    let legend = "Each store took its steps (inserts, updates, removals, batches) on a disk that logs what is asked of it. A state has all that was \
         written before the last flush, and of the rest each block of 4 KiB or not (torn: each sector of 512 bytes). all there: every acknowledged step, and the store takes new records; \
         newest lost: the last acknowledged steps are missing, and nothing before them; hole: something is missing, and something newer is there; \
         torn value: one that is empty, cut short or pieced together; wrong: a value that no step wrote; holds: whether no state shows a danger: at power one in which \
         anything acknowledged is lost or the store needs a hand to open, unless it was still created; at process the latter, and a loss of more than the newest that is no hole and no torn value. \
         How much is lost of what is not synced depends on when the kernel writes back: here early; on a machine that is not short of memory \
         half a minute may pass. An interval is that of cuts of the histories that were recorded here: another recording, in which the kernel wrote at other moments, can have a share outside it.";
    vec![Block::Table(table), Block::fold("In words", FoldState::Part(0), notes), Block::Note(legend.into())]
}

/// The losses of each group's stores, in a line for each.
pub fn answer(merged: &Merged<'_>) -> Vec<String> {
    let answer_group = |group| {
        let (mut kept, mut unpromised, mut beyond, mut broken, mut unknown) =
            (vec![], vec![], vec![], vec![], vec![]);
        for (store, CheckedStates { cuts, tier, .. }) in checked_states(merged, group) {
            let harmed = tier.map_or(0, |tier| dangerous_harms(&cuts, tier).values().sum());
            // A state that could not be mounted says nothing about the store.
            let mounted = cuts.states() - cuts.count(StateFinding::FileSystem);
            let lost = mounted - cuts.count(StateFinding::Held);
            let with_share = |states: u64| {
                let [states, all] = [states, cuts.states()].map(with_commas);
                format!("{} ({states} of {all})", merged.readable.name(&store))
            };
            match tier.and_then(|tier| holds(&cuts, tier).map(|holds| (holds, tier))) {
                None => unknown.push(with_share(lost)),
                Some((false, tier)) if tier >= Guarantee::Power => broken.push(with_share(harmed)),
                Some((false, _)) => beyond.push(with_share(harmed)),
                Some((true, _)) if lost > 0 => unpromised.push(with_share(lost)),
                Some((true, _)) => kept.push(with_share(lost)),
            }
        }
        let lines = [
            ("lost what was promised, or needs a hand to open", broken),
            ("lost more than the newest writes, has wrong data, or needs a hand to open", beyond),
            ("lost only what was not promised", unpromised),
            ("lost nothing", kept),
            ("not known", unknown),
        ];
        let lines = lines.into_iter().filter(|(_, stores)| !stores.is_empty());
        let lines: Vec<String> =
            lines.map(|(title, stores)| format!("{title}: {}", stores.join(", "))).collect();
        let guarantee = heading(merged, &group.key).replacen("Guarantee", "guarantee", 1);
        (!lines.is_empty()).then(|| format!("After power cuts, {guarantee}: {}.", lines.join("; ")))
    };
    merged.groups.iter().filter_map(answer_group).collect()
}

fn row(checked: &CheckedStates) -> Vec<(&'static str, Cell)> {
    let cuts = &checked.cuts;
    let findings =
        StateFinding::ALL.map(|finding| (finding.name(), Cell::whole_unless_0(cuts.count(finding))));
    let count_quantile = |values: &[u64], share: f64| Cell::or_none(quantile(values, share), Cell::count);
    let [creating, _, settling, recovering] = Phase::ALL.map(|phase| checked.phase(phase));
    let holds = checked.tier.and_then(|tier| holds(cuts, tier)).map(|holds| if holds { "yes" } else { "no" });
    let others = [
        ("sessions", Cell::count(cuts.sessions)),
        ("guarantee", Cell::or_none(checked.tier, |tier| Cell::text(tier.to_string()))),
        ("holds", Cell::or_none(holds, Cell::text)),
        ("open_p50", Cell::quantile(&cuts.open_ns, 0.5)),
        ("open_most", Cell::quantile(&cuts.open_ns, 1.0)),
        ("creating", Cell::count(creating.0)),
        ("creating_not_held", Cell::count(creating.1)),
        ("settling", Cell::count(settling.0)),
        ("settling_not_held", Cell::count(settling.1)),
        ("recovering", Cell::count(recovering.0)),
        ("recovering_not_held", Cell::count(recovering.1)),
        ("trials", Cell::from_count(checked.trials)),
        ("steps", Cell::count(cuts.steps)),
        ("requests", Cell::count(cuts.requests)),
        ("flushes", Cell::count(cuts.flushes)),
        ("whole", Cell::real(cuts.whole_bytes as f64)),
        ("states", Cell::count(cuts.states())),
        ("verified", Cell::count(cuts.verified)),
        ("lost_steps_p50", count_quantile(&cuts.lost_steps, 0.5)),
        ("lost_steps_p99", count_quantile(&cuts.lost_steps, 0.99)),
        ("lost_p50", Cell::quantile(&cuts.lost_ns, 0.5)),
        ("lost_p99", Cell::quantile(&cuts.lost_ns, 0.99)),
        ("not_made", Cell::or_none(checked.not_made.as_deref(), Cell::text)),
    ];
    let control_columns = [
        (Control::NoFlush, ["control_no_flush", "control_no_flush_caught"]),
        (Control::LastFlush, ["control_last_flush", "control_last_flush_caught"]),
        (Control::EarlyAcknowledgement, ["control_early", "control_early_caught"]),
        (Control::InPlace, ["control_in_place", "control_in_place_caught"]),
    ];
    let controls = control_columns.into_iter().flat_map(|(kind, [states, caught])| {
        let (state_count, caught_count) = control_counts(cuts, kind);
        [(states, Cell::count(state_count)), (caught, Cell::count(caught_count))]
    });
    findings.into_iter().chain(others).chain(controls).collect()
}

/// A store in a sentence or two: its losses, and whether the check would have detected them.
fn sentence(store: &str, checked: &CheckedStates) -> Option<String> {
    let cuts = &checked.cuts;
    let states = cuts.states();
    if states == 0 {
        return checked.not_made.as_ref().map(|why| format!("{store}: no state was looked at: {why}"));
    }
    let result = match loss_bound(&checked.cuts) {
        Some(most) => format!(
            "nothing acknowledged was lost in {}: at most {} % of such cuts lose anything ({:.0} % confidence)",
            plural(states, "state"),
            three_digits(most * 100.0),
            CONFIDENCE * 100.0
        ),
        None if lost_nothing(&checked.cuts) => {
            format!("nothing acknowledged was lost in {}", plural(states, "state"))
        }
        None => {
            let kinds = StateFinding::ALL
                .into_iter()
                .filter(|kind| *kind != StateFinding::Held && cuts.count(*kind) > 0);
            let kinds: Vec<String> = kinds
                .map(|kind| format!("{} in {}", kind.describe(), describe_share(cuts.count(kind), states)))
                .collect();
            let median = quantile(&cuts.lost_steps, 0.5).zip(quantile(&cuts.lost_ns, 0.5));
            let lost = median.map_or(String::new(), |(steps, ns)| {
                // From the first lost acknowledgement to the last: zero for a single one.
                let time = if ns > 0 { format!(" or {}", rough_ns(ns as f64)) } else { String::new() };
                format!("; where the newest is lost, {}{time} in the median", plural(steps, "step"))
            });
            format!("of {}, {}{lost}", plural(states, "state"), kinds.join(", "))
        }
    };
    let format_control = |kind: Control| {
        let (states, caught) = control_counts(&checked.cuts, kind);
        (states > 0).then(|| format!("{caught} of {states} where {}", kind.describe()))
    };
    let controls: Vec<String> = Control::ALL.into_iter().filter_map(format_control).collect();
    let checks = match (controls.is_empty(), is_sound(&checked.cuts)) {
        (true, _) => ". Nothing checked this check".to_owned(),
        (false, true) => format!(". The check saw {}", controls.join(", ")),
        (false, false) => format!(". It saw too little to count: {}", controls.join(", ")),
    };
    let own_check = match cuts.verified {
        0 => String::new(),
        verified => format!(". Its own check found no fault in {verified} of them"),
    };
    Some(format!("{store}: {result}{own_check}{}{checks}.", describe_phases(checked)))
}

/// A number of states with the interval of their share, as in `4 (5.48 % [1.51, 13.4])`.
fn describe_share(states: u64, total: u64) -> String {
    let Interval { low, high, .. } = share_interval(states, total);
    let [share, low, high] =
        [states as f64 / total as f64, low, high].map(|share| three_digits(share * 100.0));
    format!("{states} ({share} % [{low}, {high}])")
}

fn describe_phases(checked: &CheckedStates) -> String {
    let describe_phase = |phase: Phase| match checked.phase(phase) {
        (0, _) => None,
        (states, 0) => Some(format!("{states} came when it {}", phase.describe())),
        (states, not_held) => {
            Some(format!("{states} came when it {} ({not_held} not all there)", phase.describe()))
        }
    };
    let phases: Vec<String> = Phase::ALL.into_iter().filter_map(describe_phase).collect();
    if phases.is_empty() { String::new() } else { format!(". Of the cuts, {}", phases.join(", ")) }
}

/// A state with a forbidden loss: what must be missing for it, and where to see it.
fn describe_bad_state(store: &str, trial: u64, bad: &BadState) -> Option<String> {
    let kept = bad.kept.as_ref()?;
    let missing: Vec<String> = kept.missing.iter().take(MOST_PIECES).map(ToString::to_string).collect();
    let more = kept.missing.len().saturating_sub(MOST_PIECES);
    let missing = match (missing.len(), more) {
        (0, _) => "Nothing that the disk was asked to write is missing".to_owned(),
        (_, 0) => format!("Missing: {}", missing.join("; ")),
        (_, more) => format!("Missing: {}; and {}", missing.join("; "), plural(more, "piece")),
    };
    Some(format!(
        "{store}, {} in state {}: {}. {missing}. See storebench crash show.",
        bad.finding.describe(),
        bad.name(trial),
        bad.message,
    ))
}

#[cfg(test)]
mod tests {
    use storebench_model::result::Harm;

    use super::*;

    #[test]
    fn what_broke_before_anything_was_acknowledged_stays_so_over_several_trials() {
        let refused = |states| [(StateFinding::Refused, states)].into_iter().collect();
        let results = CutResults { found: refused(2), unacknowledged: refused(2), ..CutResults::default() };
        let mut states = CheckedStates::default();
        (0..2).for_each(|position| states.add(position, &CutCheck::Made(Box::new(results.clone()))));
        assert_eq!(states.cuts.harms(Guarantee::Power), [(Harm::Created, 4)].into());
    }
}
