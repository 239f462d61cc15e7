//! The first lines of every output: what was measured, what to take at each guarantee, what is riskier, how sure the answer is, what to do next.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use storebench_figures::data::contention;
use storebench_figures::data::matrix::Matrix;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::names::join_with_and;
use storebench_figures::judge::standing::{ENOUGH_BLOCKS, names_candidates};
use storebench_figures::layout::{Position, words};
use storebench_host::run::Run;
use storebench_model::cell::Axis;
use storebench_model::result::Outcome;
use storebench_model::units::{plural, rough_duration, three_digits, with_commas};

use crate::report::Report;
use crate::sections;
use crate::standings::{Answer, NamedContestant, Risk, SeenHarm, Standings, trial_time};
use crate::terminal::grid::{Style, wrap};

/// The most lines in all, including a study's own answer and a note on a busy machine.
const MOST_LINES: usize = 6;
const MOST_ANSWER_LINES: usize = 3;

/// The answer where no store can be compared with another.
const NOTHING_TO_COMPARE: &str = "Nothing to compare: no two stores are ranked together.";

/// Stores that a line names; the rest is counted.
const MOST_NAMED: usize = 4;

/// Positions that the first line names.
const MOST_POSITIONS: usize = 2;

/// Axes that the first line names even if all positions have the same value.
const SIZE_AXES: [Axis; 2] = [Axis::RECORDS, Axis::RECORD_SIZE];

/// The trials of the run that is suggested next, if this one has fewer.
const ENOUGH_TRIALS: u32 = 7;

/// The lines of an answer.
#[derive(Debug, Default)]
pub struct Lines {
    /// What was measured, and what to take.
    pub first: Vec<String>,
    /// The stores that are riskier.
    pub danger: Option<String>,
    /// How sure that is, and what to do next.
    pub last: Option<String>,
}

impl Lines {
    /// All lines, in order.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.first.iter().chain(&self.danger).chain(&self.last).map(String::as_str)
    }
}

/// The lines, each ended, and an empty one.
pub fn text(report: &Report<'_>, style: Style) -> String {
    build_lines(report).all().map(|line| wrap(line, style.width, "  ")).chain(["\n".to_owned()]).collect()
}

/// The lines.
pub fn build_lines(report: &Report<'_>) -> Lines {
    let merged = report.merged;
    let matrices: Vec<&Matrix> = report.readable().iter().flatten().collect();
    let [decided, few, not_judged, comparisons] = count_comparisons(&matrices);
    let answers = sections::answers(report);
    // A study with another question begins with its own answer, which has this run's harm if all its lines are shown.
    let has_harm = !answers.is_empty() && answers.len() <= MOST_ANSWER_LINES;
    let danger = describe_riskier(report.standings(), has_harm);
    let has_answer = comparisons > 0 || !answers.is_empty();
    if !has_answer && danger.is_none() {
        let trials = || merged.runs.iter().flat_map(|run| &run.trials);
        let failed = trials().filter(|trial| matches!(trial.outcome, Outcome::Failed { .. })).count();
        let trial_count = plural(trials().count(), "trial");
        let failed = (failed > 0).then(|| format!("{} of {trial_count} failed.", with_commas(failed as u64)));
        let first = [Some(describe_measured(report)), failed, Some(NOTHING_TO_COMPARE.to_owned())];
        return Lines { first: first.into_iter().flatten().collect(), ..Lines::default() };
    }
    let compared_groups: Vec<&Standings> = report
        .standings()
        .iter()
        .filter(|standings| {
            standings.answers.iter().any(|(_, answer)| is_compared(answer) || has_one_safe(answer))
        })
        .collect();
    let crowded = if not_judged > 0 { contention::describe_contention(merged) } else { Vec::new() };
    let mut lines = vec![describe_measured(report)];
    // Next to power cuts, too few trials of speed are not mentioned.
    let has_cuts = !report.blocks(&sections::CUTS).is_empty();
    lines.splice(
        if answers.is_empty() { 0..0 } else { 1..1 },
        answers.iter().cloned().chain(crowded).take(MOST_ANSWER_LINES),
    );
    let is_named = |answer: &Answer| !answer.take.is_empty() && !answer.is_open;
    let is_shown =
        |standings: &&&Standings| !has_cuts || standings.answers.iter().any(|(_, answer)| is_named(answer));
    let answer_lines: Vec<String> = compared_groups
        .iter()
        .filter(is_shown)
        .map(|standings| answer_group(standings, report.standings()))
        .collect();
    let trials = Trials::count(merged.runs);
    let certainty = (not_judged == 0 && comparisons > 0)
        .then(|| describe_certainty([decided, few, comparisons], &trials));
    let study = merged.runs.first().map_or("", |run| run.header.study.as_str());
    let next_step =
        certainty.as_ref().and_then(|_| describe_next_step(study, &trials, decided < comparisons));
    let last = certainty.into_iter().chain(next_step).collect::<Vec<_>>().join(" ");
    let last = Some(last).filter(|last| !last.is_empty());
    let room = MOST_LINES.saturating_sub(lines.len() + danger.iter().chain(&last).count());
    let shown = if answer_lines.len() > room { room.saturating_sub(1) } else { answer_lines.len() };
    lines.extend(answer_lines.iter().take(shown).cloned());
    if answer_lines.len() > shown && room > 0 {
        lines.push(format!("And {} more, each below.", answer_lines.len() - shown));
    }
    Lines { first: lines, danger, last }
}

fn is_compared(answer: &Answer) -> bool {
    answer.not_judged.1 > 0
}

/// Whether all but one are riskier, so that nothing is compared.
fn has_one_safe(answer: &Answer) -> bool {
    answer.not_judged.1 == 0 && answer.others.len() == 1 && !answer.riskier.is_empty()
}

/// What was measured, where, and for how long.
fn describe_measured(report: &Report<'_>) -> String {
    let merged = report.merged;
    let tables = || report.standings().iter().flat_map(|standings| &standings.tables);
    let mut positions: Vec<&Position> =
        tables().map(|table| &table.at).filter(|position| !position.is_empty()).collect();
    positions.sort();
    positions.dedup();
    let sizes = match positions.len() {
        0 => None,
        1 => Some(describe_position(positions[0])),
        2..=MOST_POSITIONS => Some(join_with_and(
            &positions
                .iter()
                .map(|position| describe_position(&distinguishing_part(position, &positions, &SIZE_AXES)))
                .collect::<Vec<_>>(),
        )),
        count => Some(plural(count, "combination")),
    };
    let is_fewer = merged.runs.iter().any(|run| run.plan().is_some_and(|plan| plan.fewer_records));
    let fewer = is_fewer.then(|| "fewer records than planned, as more did not fit onto the disk".to_owned());
    let time = trial_time(merged).map(|time| format!("{} of trials", rough_duration(time)));
    let records = describe_traces(merged).into_iter().chain(sizes).chain(fewer);
    let parts = records.chain(describe_machine(merged)).chain(time);
    parts.collect::<Vec<_>>().join("; ") + "."
}

/// The traces that were replayed: `app.csv, 400 operations`.
fn describe_traces(merged: &Merged<'_>) -> IndexSet<String> {
    let parameters = merged.runs.iter().filter_map(|run| Some(&run.plan()?.parameters));
    let traces = parameters.filter_map(|values| Some((values.trace.as_ref()?, values.trace_facts.as_ref()?)));
    let name = |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    traces.map(|(path, facts)| format!("{}, {}", name(path), plural(facts.played(), "operation"))).collect()
}

/// A position without the values that all share, except those `kept`.
pub(crate) fn distinguishing_part(position: &Position, positions: &[&Position], kept: &[Axis]) -> Position {
    let common = position
        .values()
        .filter(|(axis, value)| positions.iter().all(|other| other.value(*axis) == Some(value)));
    let common = common.filter(|(axis, _)| !kept.contains(axis));
    common.fold(position.clone(), |remainder, (axis, _)| remainder.without_axis(axis))
}

/// A position in short words: `100 records of 1B..1KiB, compressible`.
pub(crate) fn describe_position(position: &Position) -> String {
    let size = position.value(Axis::RECORD_SIZE).map(|size| words::short(Axis::RECORD_SIZE, size));
    let records = position.value(Axis::RECORDS).map(|records| (Axis::RECORDS.def().words)(records));
    let (Some(size), Some(records)) = (size, records) else { return words::position_in_full(position) };
    let others =
        words::position_in_full(&position.without_axis(Axis::RECORD_SIZE).without_axis(Axis::RECORDS));
    if others.is_empty() { format!("{records} of {size}") } else { format!("{records} of {size}, {others}") }
}

/// The machine, and the disk if there is one.
fn describe_machine(merged: &Merged<'_>) -> Option<String> {
    let headers = || merged.runs.iter().map(|run| &run.header);
    let mut machines: Vec<&str> = headers().map(|header| header.hardware.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut locations: Vec<String> = headers()
        .flat_map(|header| &header.locations)
        .map(|location| {
            let names = [location.file_system.as_deref(), location.device.as_deref()];
            names.into_iter().flatten().collect::<Vec<_>>().join(" on ")
        })
        .collect();
    locations.sort();
    locations.dedup();
    let description = match (machines.as_slice(), locations.as_slice()) {
        ([], _) => return None,
        ([machine], [location]) if !location.is_empty() => format!("{machine}, {location}"),
        ([machine], [] | [_]) => (*machine).to_owned(),
        ([machine], several) => format!("{machine}, {}", plural(several.len(), "location")),
        (several, _) => plural(several.len(), "machine"),
    };
    Some(format!("on {description}"))
}

/// A group's answer in a line: what to take, what is too close to call, how the others compare. Two sizes with different answers have what to
/// take alone; the tables have the rest. Stores that are ranked apart and alone follow.
fn answer_group(standings: &Standings, groups: &[Standings]) -> String {
    let name = match standings.meaning {
        Some(meaning) => format!("{} (a write {meaning})", standings.name),
        None => standings.name.clone(),
    };
    let answer = match standings.answers.as_slice() {
        [(_, answer)] => describe_answer(answer),
        several => {
            let answers =
                several.iter().map(|(sizes, answer)| format!("{sizes}: {}", describe_recommendation(answer)));
            answers.collect::<Vec<_>>().join(". ")
        }
    };
    let alone = ranked_alone(standings, groups);
    let note = match alone.is_empty() {
        true => String::new(),
        false => format!(" Ranked apart, with nothing to compare: {}.", join_with_and(&alone)),
    };
    format!("{name}: {answer}.{note}")
}

/// The stores next to these that are ranked apart and alone, such as a library next to servers.
fn ranked_alone<'a>(standings: &Standings, groups: &'a [Standings]) -> Vec<&'a str> {
    let key = standings.key.without_server_words();
    let others =
        groups.iter().filter(|other| other.key != standings.key && other.key.without_server_words() == key);
    let answers = others.flat_map(|other| &other.answers).map(|(_, answer)| answer);
    let alone = answers.filter(|answer| !is_compared(answer) && !has_one_safe(answer));
    let names: IndexSet<&str> =
        alone.flat_map(|answer| &answer.others).map(|named| named.store.as_str()).collect();
    names.into_iter().collect()
}

/// What to take, and what is too close to call with it; else why nothing is taken.
fn describe_recommendation(answer: &Answer) -> String {
    match (answer.take.as_slice(), answer.not_judged) {
        ([], (not_judged, comparisons)) if not_judged > 0 => {
            let far = match answer.far.as_slice() {
                [] => String::new(),
                far => format!("; surely more than twice as slow as another: {}", name_with_times(far)),
            };
            format!("not judged in {not_judged} of {comparisons} comparisons{far}")
        }
        ([], _) if has_one_safe(answer) => {
            format!("of the stores with figures only {} is not riskier", answer.others[0].store)
        }
        ([], (_, 0)) => "nothing to compare".to_owned(),
        ([], _) if answer.is_alike => "no two are told apart by the time of an operation".to_owned(),
        ([], _) => "no store is the best throughout".to_owned(),
        (take, _) if answer.is_open => format!("too few trials to name one: {}", name_with_times(take)),
        ([first, close @ ..], (_, comparisons)) => {
            let sure = answer.alone - answer.few;
            let [won, sure, few, total, tied] =
                [first.won, sure, answer.few, comparisons, first.won - answer.alone]
                    .map(|count| with_commas(count as u64));
            let best = match (answer.alone, answer.few) {
                (_, 0) => format!("the best in {sure}"),
                (alone, few_alone) if alone == few_alone => format!("the only candidate in {few}"),
                _ => format!("the best in {sure}, the only candidate in {few}"),
            };
            let frequency = match () {
                () if answer.alone == comparisons && answer.few == 0 => String::new(),
                () if first.won == comparisons && !close.is_empty() => String::new(),
                () if first.won == 0 => " (near the best on average)".to_owned(),
                () if answer.alone == 0 => {
                    format!(" (too close to call with others in {won} of {total} comparisons)")
                }
                () if first.won == answer.alone => format!(" ({best} of {total} comparisons)"),
                () => format!(" ({best} of {total} comparisons, too close to call in {tied})"),
            };
            let risk = answer.risk.map_or_else(String::new, |loss| format!(", though a power cut {loss}"));
            let close = match close {
                [] => String::new(),
                close => format!("; too close to call: {}", name_with_times(close)),
            };
            format!("take {}{risk}{frequency}{close}", first.store)
        }
    }
}

fn describe_answer(answer: &Answer) -> String {
    let mut parts = vec![describe_recommendation(answer)];
    let best_at = answer.best_at.iter().take(MOST_NAMED);
    let best_at: Vec<String> =
        best_at.map(|(store, operations)| format!("{store} at {}", join_with_and(operations))).collect();
    parts.extend((!best_at.is_empty()).then(|| format!("best: {}", best_at.join(", "))));
    if let Some(first) = answer.take.first() {
        let mut others: IndexMap<&str, Vec<&NamedContestant>> = IndexMap::new();
        answer.others.iter().for_each(|contestant| {
            others.entry(describe_comparison(first, contestant)).or_default().push(contestant)
        });
        parts.extend(
            others
                .into_iter()
                .map(|(comparison, contestants)| format!("{comparison}: {}", name_with_times(contestants))),
        );
    }
    parts.join("; ")
}

/// How a contestant that is not taken compares with the one that is.
fn describe_comparison(first: &NamedContestant, other: &NamedContestant) -> &'static str {
    match other.times {
        None => "not compared with it",
        Some(times) if times >= 1.0 => "slower on average",
        Some(_) if other.won < first.won => "faster on average, but best or too close in fewer",
        Some(_) => "faster where both have figures",
    }
}

/// The first stores with their factors, the rest counted. The first factor says what it is of.
fn name_with_times<'n>(contestants: impl IntoIterator<Item = &'n NamedContestant>) -> String {
    let mut suffix = " the time";
    let format_contestant = |contestant: &NamedContestant| match contestant.times {
        Some(times) => format!("{} {}x{}", contestant.store, three_digits(times), mem::take(&mut suffix)),
        None => contestant.store.clone(),
    };
    let contestants: Vec<String> = contestants.into_iter().map(format_contestant).collect();
    let shown = &contestants[..contestants.len().min(MOST_NAMED)];
    match contestants.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The stores that are not ranked: for faster ones the cost of a power cut and how often that was seen, for the others their
/// names. The tables have why. How often is said once, and this run's not if the study's own answer `has_harm`.
fn describe_riskier(groups: &[Standings], has_harm: bool) -> Option<String> {
    let mut said: IndexSet<(&str, &SeenHarm)> = IndexSet::new();
    let mut faster: IndexMap<(&str, String), Vec<String>> = IndexMap::new();
    let mut others = Vec::new();
    for standings in groups {
        let guarantee = &standings.label;
        let (mut fast, mut slow) = (IndexSet::new(), IndexSet::new());
        let risks = standings
            .answers
            .iter()
            .flat_map(|(size, answer)| answer.riskier.iter().map(move |risk| (size, risk)));
        for (size, risk) in risks {
            let store = risk.named.store.as_str();
            let guarantee = if size.is_empty() { guarantee.clone() } else { format!("{guarantee}, {size}") };
            match risk.named.times.filter(|times| *times < 1.0) {
                Some(times) => {
                    let descriptions = faster.entry((store, risk.loss.to_string())).or_default();
                    let seen = risk.seen.as_ref().filter(|seen| !(has_harm && seen.in_this_run));
                    let seen = seen.filter(|seen| said.insert((store, *seen)));
                    let often = seen.map_or_else(String::new, |seen| format!(", {seen}"));
                    descriptions.push(format!("{}x the time at {guarantee}{often}", three_digits(times)));
                    fast.insert(store)
                }
                None => slow.insert(store),
            };
        }
        let slow: Vec<&str> = slow.difference(&fast).copied().collect();
        others.extend((!slow.is_empty()).then(|| format!("{} (at {guarantee})", slow.join(", "))));
    }
    let faster = faster.into_iter();
    let faster = faster
        .map(|((store, loss), times)| format!("{store}: a power cut {loss} ({})", times.join("; ")))
        .collect();
    let lines: [(&str, Vec<String>); 2] = [("Faster but riskier", faster), ("Riskier", others)];
    let lines = lines.into_iter().filter(|(_, stores)| !stores.is_empty());
    let lines: Vec<String> =
        lines.map(|(title, stores)| format!("{title}: {}.", stores.join("; "))).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

impl Risk {
    /// The cost of a power cut, why, and how often that was seen.
    pub fn describe(&self) -> String {
        let seen = self.seen.as_ref().map(ToString::to_string).unwrap_or_default();
        let seen =
            [self.why, &seen].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
        format!("a power cut {}{seen}", self.loss)
    }
}

/// The numbers of comparisons with a single best store, of those with a single candidate, of those that are not judged, and of
/// all.
fn count_comparisons(matrices: &[&Matrix]) -> [usize; 4] {
    let contests = || matrices.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.contests);
    let contested = contests().filter(|contest| contest.contenders.len() > 1);
    let decided = contested.clone().filter(|contest| contest.is_decided());
    let few = decided.clone().filter(|contest| names_candidates(&contest.contenders)).count();
    let not_judged = contested.clone().filter(|contest| contest.is_not_judged());
    [decided.count() - few, few, not_judged.count(), contested.count()]
}

/// The trials of the cells of runs.
struct Trials {
    /// The fewest that a cell has, and the most.
    fewest: u32,
    most: u32,
    /// The time of one trial of each cell.
    one_of_each_s: f64,
}

impl Trials {
    fn count(runs: &[Run]) -> Trials {
        let mut cells: BTreeMap<(&str, String), (u32, f64)> = BTreeMap::new();
        for (run, trial) in runs.iter().flat_map(|run| run.trials.iter().map(move |trial| (run, trial))) {
            let (count, took_s) = cells.entry((run.header.hardware.as_str(), trial.cell.id())).or_default();
            *count += 1;
            *took_s += trial.took_s();
        }
        let counts = || cells.values().map(|(count, _)| *count);
        Trials {
            fewest: counts().min().unwrap_or(0),
            most: counts().max().unwrap_or(0),
            one_of_each_s: cells.values().map(|(count, took_s)| took_s / f64::from(*count)).sum(),
        }
    }
}

/// How sure the answer is, from the numbers of comparisons with a single best store, with a single candidate, and of all.
fn describe_certainty([decided, few, comparisons]: [usize; 3], trials: &Trials) -> String {
    let trials = match trials {
        Trials { fewest, most, .. } if fewest < most => format!("{fewest} to {most} trials"),
        Trials { most: 1, .. } => "1 trial".to_owned(),
        Trials { most, .. } => format!("{most} trials"),
    };
    let trials_of_each = format!("with {trials} of each store");
    match (decided, comparisons) {
        (0, _) if trials == "1 trial" => {
            format!("How sure: {trials_of_each} there are candidates, and no winner.")
        }
        (0, 1) if few == 1 => format!("How sure: {trials_of_each} there is one candidate, and no winner."),
        (0, 1) => format!("How sure: the best are too close to call {trials_of_each}."),
        (_, 1) => format!("How sure: one store is best {trials_of_each}, beyond what trials vary by."),
        _ if few > 0 => {
            let best = if decided == 0 { "none".to_owned() } else { with_commas(decided as u64) };
            let others = match decided + few < comparisons {
                true => "; in the others the best are too close to call",
                false => "",
            };
            format!(
                "How sure: {trials_of_each} one store is best in {best} of {} comparisons, and the only candidate in {} (fewer than \
                 {ENOUGH_BLOCKS} trials in common){others}.",
                with_commas(comparisons as u64),
                with_commas(few as u64)
            )
        }
        (0, _) => {
            format!(
                "How sure: in none of {} comparisons is one store best, {trials_of_each}.",
                with_commas(comparisons as u64)
            )
        }
        _ if decided == comparisons => {
            format!(
                "How sure: in all {} comparisons one store is best, {trials_of_each}.",
                with_commas(comparisons as u64)
            )
        }
        _ => format!(
            "How sure: in {} of {} comparisons one store is best, {trials_of_each}; in the others the best are too close to call.",
            with_commas(decided as u64),
            with_commas(comparisons as u64)
        ),
    }
}

/// The next step, and its time, estimated from this run's trials. Runs behind an answer have a budget instead of a number of trials.
fn describe_next_step(study: &str, trials: &Trials, is_open: bool) -> Option<String> {
    let advise = "storebench advise answers for your own records";
    match study {
        "advise" | "tune" => {
            let longer = format!("Next: storebench {study} with a longer --budget tells closer ones apart.");
            return is_open.then_some(longer);
        }
        _ if !is_open => return Some(format!("Next: {advise}.")),
        _ => {}
    }
    let more = if trials.most < ENOUGH_TRIALS { ENOUGH_TRIALS } else { trials.most.saturating_mul(2) };
    let all_s = trials.one_of_each_s * f64::from(more);
    let time = Duration::try_from_secs_f64(all_s.round().max(1.0)).map(rough_duration);
    let time = time.map_or_else(|_| String::new(), |time| format!(" takes about {time} and"));
    Some(format!("Next: the same with --trials {more}{time} tells closer stores apart; {advise}."))
}

#[cfg(test)]
mod tests {
    use storebench_core::trace::{Facts, Form};
    use storebench_figures::data::merge::Merged;
    use storebench_samples::{Sample, blocks};

    use super::*;

    fn format_brief(count: usize, second: impl Fn(usize) -> f64) -> String {
        let block = |number| {
            let noise = [1.0, 1.02, 0.99, 1.01, 1.0][number % 5];
            vec![
                Sample::new("lmdb").ns(100_000.0 * noise),
                Sample::new("redb").ns(second(number)),
                Sample::new("sqlite").ns(900_000.0 / noise),
            ]
        };
        let run = blocks("box", &(0..count).map(block).collect::<Vec<_>>());
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        text(&Report::new(&merged), Style { width: 100, colour: false })
    }

    #[test]
    fn the_first_lines_say_what_to_take_how_sure_that_is_and_what_to_do_next() {
        let clear = format_brief(5, |number| 200_000.0 + number as f64);
        let lines: Vec<&str> = clear.lines().collect();
        assert!(
            lines[0].starts_with("100 records of 1B..1KiB, incompressible; on box, ext4 on nvme0n1; 2"),
            "{clear}"
        );
        let expected = "Guarantee process (a write survives a killed process, but not a power cut): take lmdb; slower on average:";
        assert!(clear.replace("\n  ", " ").contains(expected), "{clear}");
        assert!(clear.replace("\n  ", " ").contains("redb 1.99x the time, sqlite 8.93x."), "{clear}");
        let last = "How sure: in all 6 comparisons one store is best, with 5 trials of each store. Next: storebench advise";
        assert!(clear.replace("\n  ", " ").contains(last), "{clear}");
        assert!(clear.lines().all(|line| line.chars().count() <= 100), "{clear}");
        let few = format_brief(4, |number| 200_000.0 + number as f64).replace("\n  ", " ");
        assert!(few.contains("take lmdb (the only candidate in 4 of 4 comparisons); slower"), "{few}");
        let expected = "How sure: with 4 trials of each store one store is best in none of 6 comparisons, and the only candidate in 6 (fewer \
            than 5 trials in common). Next: the same with --trials 7 ";
        assert!(few.contains(expected), "{few}");
        let open = format_brief(2, |number| 101_000.0 + number as f64).replace("\n  ", " ");
        assert!(
            open.contains("in none of 6 comparisons is one store best, with 2 trials of each store."),
            "{open}"
        );
        // 6 trials of 1.5 s in two blocks.
        assert!(open.contains("--trials 7 takes about 32 s and tells closer stores apart"), "{open}");
    }

    #[test]
    fn a_store_that_is_faster_on_average_but_best_in_fewer_is_not_called_slower() {
        let named = |store: &str, times, won| NamedContestant { store: store.into(), times, won };
        let take = vec![named("sqlite", Some(1.0), 3)];
        let others = vec![
            named("rocksdb", Some(0.904), 1),
            named("lacks", Some(0.5), 3),
            named("redb", Some(1.03), 1),
            named("lmdb", Some(1.16), 0),
            named("alone", None, 0),
        ];
        let answer = Answer { take, others, not_judged: (0, 4), alone: 2, ..Answer::default() };
        let expected = "take sqlite (the best in 2 of 4 comparisons, too close to call in 1); faster on average, but best or too close in \
            fewer: rocksdb 0.904x the time; faster where both have figures: lacks 0.500x the time; slower on average: redb 1.03x the time, \
            lmdb 1.16x; not compared with it: alone";
        assert_eq!(describe_answer(&answer), expected);
    }

    #[test]
    fn beside_other_programs_that_is_said_first_and_only_a_quiet_machine_is_asked_for() {
        let block =
            vec![Sample::new("lmdb"), Sample::new("redb").ns(1800.0), Sample::new("sqlite").ns(9000.0)];
        let mut run = blocks("box", &vec![block; 3]);
        run.header.environment.cores = 2;
        run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(1.8));
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let output = text(&Report::new(&merged), Style { width: 200, colour: false });
        assert!(output.starts_with("Not judged") && output.contains("kept 1.80 of 2 processors"), "{output}");
        let expected = "not judged in 4 of 4 comparisons; surely more than twice as slow as another: sqlite.";
        assert!(output.contains(expected), "not by time: {output}");
        assert!(
            !output.contains("--trials")
                && !output.contains("How sure")
                && !output.contains("take lmdb")
                && !output.contains("Next:"),
            "{output}"
        );
    }

    #[test]
    fn a_library_beside_servers_has_its_place_in_their_line() {
        let block = ["sqlite", "postgres", "redis"].map(|store| Sample::new(store).guarantee("power"));
        let mut run = blocks("box", &vec![block.to_vec(); 3]);
        run.header.stores.iter_mut().for_each(|store| store.server = store.name != "sqlite");
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let output = text(&Report::new(&merged), Style { width: 300, colour: false });
        let expected = "Guarantee power, client and server (a write survives a power cut): take ";
        assert!(output.contains(expected), "{output}");
        assert!(output.contains(". Ranked apart, with nothing to compare: sqlite.\n"), "{output}");
    }

    #[test]
    fn a_replay_names_its_trace_and_how_many_operations_it_has() {
        let mut run = blocks("box", &[vec![Sample::new("lmdb")]]);
        let facts = Facts { get: 1_200, skip: 7, ..Facts::empty(Form::Csv) };
        run.header.plan = format!(
            "format = 1\nname = \"replay\"\ntitle = \"t\"\nworkload = \"replay\"\nseed = 1\nsize_limit = \"1GiB\"\n\
            timeout = \"1m\"\ntrace = \"/home/ada/app.csv\"\ntrace_facts = \"{facts}\"\n[axes]\nstore = [\"lmdb\"]\n\
            data = [\"incompressible\"]\nguarantee = [\"process\"]\n"
        );
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let output = text(&Report::new(&merged), Style { width: 300, colour: false });
        assert!(output.starts_with("app.csv, 1,200 operations; "), "{output}");
    }

    #[test]
    fn a_run_behind_an_answer_takes_a_longer_budget_and_no_number_of_trials() {
        let trials = Trials { fewest: 2, most: 2, one_of_each_s: 3.0 };
        let longer = "Next: storebench advise with a longer --budget tells closer ones apart.";
        assert_eq!(describe_next_step("advise", &trials, true).as_deref(), Some(longer));
        assert_eq!(describe_next_step("advise", &trials, false), None);
        assert!(describe_next_step("crud", &trials, true).is_some_and(|line| line.contains("--trials 7")));
    }

    #[test]
    fn stores_of_which_some_were_measured_more_often_are_told_so() {
        let mut block = |number: usize| {
            let noise = [1.0, 1.02, 0.99, 1.01, 1.0][number % 5];
            vec![Sample::new("lmdb").ns(100_000.0 * noise), Sample::new("redb").ns(101_000.0 / noise)]
        };
        let mut all: Vec<_> = (0..6).map(&mut block).collect();
        all.iter_mut().skip(3).for_each(|block| block.truncate(1));
        let run = blocks("box", &all);
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let output = text(&Report::new(&merged), Style { width: 100, colour: false });
        let output = output.replace("\n  ", " ");
        assert!(output.contains("with 3 to 6 trials of each store"), "{output}");
        // One trial of each takes 2 x 1.5 s, whatever the run had.
        assert!(output.contains("--trials 7 takes about 21 s"), "{output}");
    }

    #[test]
    fn where_nothing_is_compared_that_is_said() {
        let format_brief = |run: Run| {
            let merged = Merged::new(std::slice::from_ref(&run), &[]);
            text(&Report::new(&merged), Style { width: 100, colour: false })
        };
        let alone = format_brief(blocks("box", &[vec![Sample::new("lmdb")]]));
        assert!(alone.starts_with("100 records of 1B..1KiB, "), "{alone}");
        let nothing = format_brief(blocks("box", &[]));
        assert!(nothing.starts_with("on box, ext4 on nvme0n1.\n"), "{nothing}");
        assert!([alone, nothing].iter().all(|brief| brief.contains("\nNothing to compare: ")));
    }
}
