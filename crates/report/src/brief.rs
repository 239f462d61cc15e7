//! The first lines of every output: what was measured, what to take at each guarantee, what is riskier, how sure the answer is, what to do next.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use storebench_core::cell::Axis;
use storebench_core::result::Outcome;
use storebench_core::units::{plural, rough_duration, three_digits, with_commas};
use storebench_host::run::Run;

use crate::data::contention;
use crate::data::matrix::Matrix;
use crate::data::merge::Merged;
use crate::data::names::join_with_and;
use crate::data::standings::{Answer, NamedContestant, Risk, Standings, trial_time};
use crate::judge::standing::{ENOUGH_BLOCKS, names_candidates};
use crate::layout::{Position, words};
use crate::report::Report;
use crate::sections;
use crate::terminal::grid::{Style, wrap};

/// The most lines in all, including a study's own answer and a note on a busy machine.
const MOST: usize = 6;
const ANSWERED: usize = 3;

/// The answer where no store can be compared with another.
const ALONE: &str = "Nothing to compare: no two stores are ranked together.";

/// Stores that a line names; the rest is counted.
const NAMED: usize = 4;

/// Positions that the first line names.
const SIZES: usize = 2;

/// Axes that the first line names even if all positions have the same value.
const SIZE: [Axis; 2] = [Axis::RECORDS, Axis::RECORD_SIZE];

/// The trials of the run that is suggested next, if this one has fewer.
const MANY: u32 = 7;

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
    let [decided, few, not_judged, all] = compared(&matrices);
    let own = sections::answers(report);
    let (danger, is_any) = (riskier(report.standings(), &own), all > 0 || !own.is_empty());
    if !is_any && danger.is_none() {
        let trials = || merged.runs.iter().flat_map(|run| &run.trials);
        let failed = trials().filter(|trial| matches!(trial.outcome, Outcome::Failed { .. })).count();
        let all = plural(trials().count(), "trial");
        let failed = (failed > 0).then(|| format!("{} of {all} failed.", with_commas(failed as u64)));
        let first = [Some(measured(report)), failed, Some(ALONE.to_owned())];
        return Lines { first: first.into_iter().flatten().collect(), ..Lines::default() };
    }
    let compared: Vec<&Standings> = report
        .standings()
        .iter()
        .filter(|one| one.answers.iter().any(|(_, answer)| is_compared(answer) || is_left(answer)))
        .collect();
    let crowded = if not_judged > 0 { contention::describe_contention(merged) } else { Vec::new() };
    let mut lines = vec![measured(report)];
    // A study with another question begins with its own answer; next to power cuts, too few trials of speed are not mentioned.
    let has_cuts = !report.blocks(&sections::CUTS).is_empty();
    lines.splice(if own.is_empty() { 0..0 } else { 1..1 }, own.iter().cloned().chain(crowded).take(ANSWERED));
    let is_named = |answer: &Answer| !answer.take.is_empty() && !answer.is_open;
    let is_told = |one: &&&Standings| !has_cuts || one.answers.iter().any(|(_, answer)| is_named(answer));
    let told: Vec<String> =
        compared.iter().filter(is_told).map(|one| answer_group(one, report.standings())).collect();
    let trials = Trials::count(merged.runs);
    let sure = (not_judged == 0 && all > 0).then(|| describe_certainty([decided, few, all], &trials));
    let study = merged.runs.first().map_or("", |run| run.header.study.as_str());
    let next = sure.as_ref().and_then(|_| next(study, &trials, decided < all));
    let last = sure.into_iter().chain(next).collect::<Vec<_>>().join(" ");
    let last = Some(last).filter(|last| !last.is_empty());
    let room = MOST.saturating_sub(lines.len() + danger.iter().chain(&last).count());
    let named = if told.len() > room { room.saturating_sub(1) } else { told.len() };
    lines.extend(told.iter().take(named).cloned());
    if told.len() > named && room > 0 {
        lines.push(format!("And {} more, each below.", told.len() - named));
    }
    Lines { first: lines, danger, last }
}

fn is_compared(answer: &Answer) -> bool {
    answer.not_judged.1 > 0
}

/// Whether all but one are riskier, so that nothing is compared.
fn is_left(answer: &Answer) -> bool {
    answer.not_judged.1 == 0 && answer.others.len() == 1 && !answer.riskier.is_empty()
}

/// What was measured, where, and for how long.
fn measured(report: &Report<'_>) -> String {
    let merged = report.merged;
    let tables = || report.standings().iter().flat_map(|one| &one.tables);
    let mut at: Vec<&Position> = tables().map(|table| &table.at).filter(|at| !at.is_empty()).collect();
    at.sort();
    at.dedup();
    let sizes = match at.len() {
        0 => None,
        1 => Some(describe_position(at[0])),
        2..=SIZES => Some(join_with_and(
            &at.iter()
                .map(|one| describe_position(&distinguishing_part(one, &at, &SIZE)))
                .collect::<Vec<_>>(),
        )),
        many => Some(plural(many, "combination")),
    };
    let is_fewer = merged.runs.iter().any(|run| run.plan().is_some_and(|plan| plan.fewer_records));
    let fewer = is_fewer.then(|| "fewer records than planned, as more did not fit onto the disk".to_owned());
    let took = trial_time(merged).map(|took| format!("{} of trials", rough_duration(took)));
    let records = traces(merged).into_iter().chain(sizes).chain(fewer);
    let parts = records.chain(describe_machine(merged)).chain(took);
    parts.collect::<Vec<_>>().join("; ") + "."
}

/// The traces that were replayed: `app.csv, 400 operations`.
fn traces(merged: &Merged<'_>) -> IndexSet<String> {
    let parameters = merged.runs.iter().filter_map(|run| Some(&run.plan()?.parameters));
    let traces = parameters.filter_map(|own| Some((own.trace.as_ref()?, own.trace_facts.as_ref()?)));
    let name = |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    traces.map(|(path, facts)| format!("{}, {}", name(path), plural(facts.played(), "operation"))).collect()
}

/// A position without the values that all share, except those `kept`.
pub(crate) fn distinguishing_part(at: &Position, all: &[&Position], kept: &[Axis]) -> Position {
    let alike = at.values().filter(|(axis, value)| all.iter().all(|one| one.value(*axis) == Some(value)));
    let alike = alike.filter(|(axis, _)| !kept.contains(axis));
    alike.fold(at.clone(), |rest, (axis, _)| rest.without_axis(axis))
}

/// A position in short words: `100 records of 1B..1KiB, compressible`.
pub(crate) fn describe_position(at: &Position) -> String {
    let size = at.value(Axis::RECORD_SIZE).map(|size| words::short(Axis::RECORD_SIZE, size));
    let records = at.value(Axis::RECORDS).map(|records| (Axis::RECORDS.def().words)(records));
    let (Some(size), Some(records)) = (size, records) else { return words::position_in_full(at) };
    let others = words::position_in_full(&at.without_axis(Axis::RECORD_SIZE).without_axis(Axis::RECORDS));
    if others.is_empty() { format!("{records} of {size}") } else { format!("{records} of {size}, {others}") }
}

/// The machine, and the disk if there is one.
fn describe_machine(merged: &Merged<'_>) -> Option<String> {
    let headers = || merged.runs.iter().map(|run| &run.header);
    let mut machines: Vec<&str> = headers().map(|header| header.hardware.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let mut places: Vec<String> = headers()
        .flat_map(|header| &header.locations)
        .map(|place| {
            let known = [place.file_system.as_deref(), place.device.as_deref()];
            known.into_iter().flatten().collect::<Vec<_>>().join(" on ")
        })
        .collect();
    places.sort();
    places.dedup();
    let at = match (machines.as_slice(), places.as_slice()) {
        ([], _) => return None,
        ([machine], [place]) if !place.is_empty() => format!("{machine}, {place}"),
        ([machine], [] | [_]) => (*machine).to_owned(),
        ([machine], several) => format!("{machine}, {}", plural(several.len(), "location")),
        (several, _) => plural(several.len(), "machine"),
    };
    Some(format!("on {at}"))
}

/// A group's answer in a line: what to take, what is too close to call, how the others compare. Two sizes with different answers have what to
/// take alone; the tables have the rest. Stores that are ranked apart and alone follow.
fn answer_group(one: &Standings, all: &[Standings]) -> String {
    let name = match one.meaning {
        Some(meaning) => format!("{} (a write {meaning})", one.name),
        None => one.name.clone(),
    };
    let answer = match one.answers.as_slice() {
        [(_, answer)] => describe_answer(answer),
        several => {
            let own = several.iter().map(|(at, answer)| format!("{at}: {}", describe_recommendation(answer)));
            own.collect::<Vec<_>>().join(". ")
        }
    };
    let alone = ranked_alone(one, all);
    let apart = match alone.is_empty() {
        true => String::new(),
        false => format!(" Ranked apart, with nothing to compare: {}.", join_with_and(&alone)),
    };
    format!("{name}: {answer}.{apart}")
}

/// The stores next to these that are ranked apart and alone, such as a library next to servers.
fn ranked_alone<'a>(one: &Standings, all: &'a [Standings]) -> Vec<&'a str> {
    let place = one.key.beside_libraries();
    let others = all.iter().filter(|other| other.key != one.key && other.key.beside_libraries() == place);
    let answers = others.flat_map(|other| &other.answers).map(|(_, answer)| answer);
    let alone = answers.filter(|answer| !is_compared(answer) && !is_left(answer));
    let names: IndexSet<&str> =
        alone.flat_map(|answer| &answer.others).map(|named| named.store.as_str()).collect();
    names.into_iter().collect()
}

/// What to take, and what is too close to call with it; else why nothing is taken.
fn describe_recommendation(answer: &Answer) -> String {
    match (answer.take.as_slice(), answer.not_judged) {
        ([], (not_judged, all)) if not_judged > 0 => {
            let far = match answer.far.as_slice() {
                [] => String::new(),
                far => format!("; surely more than twice as slow as another: {}", with_times(far)),
            };
            format!("not judged in {not_judged} of {all} comparisons{far}")
        }
        ([], _) if is_left(answer) => {
            format!("of the stores with figures only {} is not riskier", answer.others[0].store)
        }
        ([], (_, 0)) => "nothing to compare".to_owned(),
        ([], _) if answer.is_alike => "no two are told apart by the time of an operation".to_owned(),
        ([], _) => "no store is the best throughout".to_owned(),
        (take, _) if answer.is_open => format!("too few trials to name one: {}", with_times(take)),
        ([first, close @ ..], (_, all)) => {
            let sure = answer.alone - answer.few;
            let [won, sure, few, of, tied] = [first.won, sure, answer.few, all, first.won - answer.alone]
                .map(|count| with_commas(count as u64));
            let best = match (answer.alone, answer.few) {
                (_, 0) => format!("the best in {sure}"),
                (alone, few_alone) if alone == few_alone => format!("the only candidate in {few}"),
                _ => format!("the best in {sure}, the only candidate in {few}"),
            };
            let often = match () {
                () if answer.alone == all && answer.few == 0 => String::new(),
                () if first.won == all && !close.is_empty() => String::new(),
                () if first.won == 0 => " (near the best on average)".to_owned(),
                () if answer.alone == 0 => {
                    format!(" (too close to call with others in {won} of {of} comparisons)")
                }
                () if first.won == answer.alone => format!(" ({best} of {of} comparisons)"),
                () => format!(" ({best} of {of} comparisons, too close to call in {tied})"),
            };
            let risk = answer.risk.map_or_else(String::new, |loss| format!(", though a power cut {loss}"));
            let close = match close {
                [] => String::new(),
                close => format!("; too close to call: {}", with_times(close)),
            };
            format!("take {}{risk}{often}{close}", first.store)
        }
    }
}

fn describe_answer(answer: &Answer) -> String {
    let mut parts = vec![describe_recommendation(answer)];
    let best_at = answer.best_at.iter().take(NAMED);
    let best_at: Vec<String> =
        best_at.map(|(store, operations)| format!("{store} at {}", join_with_and(operations))).collect();
    parts.extend((!best_at.is_empty()).then(|| format!("best: {}", best_at.join(", "))));
    if let Some(first) = answer.take.first() {
        let mut others: IndexMap<&str, Vec<&NamedContestant>> = IndexMap::new();
        answer.others.iter().for_each(|one| others.entry(compared_with(first, one)).or_default().push(one));
        parts.extend(others.into_iter().map(|(how, all)| format!("{how}: {}", with_times(all))));
    }
    parts.join("; ")
}

/// How a contestant that is not taken compares with the one that is.
fn compared_with(first: &NamedContestant, other: &NamedContestant) -> &'static str {
    match other.times {
        None => "not compared with it",
        Some(times) if times >= 1.0 => "slower on average",
        Some(_) if other.won < first.won => "faster on average, but best or too close in fewer",
        Some(_) => "faster where both have figures",
    }
}

/// The first stores with their factors, the rest counted. The first factor says what it is of.
fn with_times<'n>(all: impl IntoIterator<Item = &'n NamedContestant>) -> String {
    let mut of = " the time";
    let in_words = |one: &NamedContestant| match one.times {
        Some(times) => format!("{} {}x{}", one.store, three_digits(times), mem::take(&mut of)),
        None => one.store.clone(),
    };
    let all: Vec<String> = all.into_iter().map(in_words).collect();
    let named = &all[..all.len().min(NAMED)];
    match all.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The stores that are not ranked: for faster ones the cost of a power cut and how often that was seen, for the others their
/// names. The tables have why. How often is said once, and not if the study's `own` answer said it.
fn riskier(all: &[Standings], own: &[String]) -> Option<String> {
    let is_told = |store: &str, often: &str| {
        let counts = often.split_once(" power cuts").map_or(often, |(counts, _)| counts);
        own.iter().any(|line| line.contains(&format!("{store} ({counts})")))
    };
    let mut told: IndexSet<(&str, &str)> = IndexSet::new();
    let mut faster: IndexMap<(&str, String), Vec<String>> = IndexMap::new();
    let mut others = Vec::new();
    for one in all {
        let at = one.name.strip_prefix("Guarantee ").unwrap_or(&one.name);
        let (mut fast, mut slow) = (IndexSet::new(), IndexSet::new());
        let risks =
            one.answers.iter().flat_map(|(size, answer)| answer.riskier.iter().map(move |risk| (size, risk)));
        for (size, risk) in risks {
            let store = risk.named.store.as_str();
            let at = if size.is_empty() { at.to_owned() } else { format!("{at}, {size}") };
            match risk.named.times.filter(|times| *times < 1.0) {
                Some(times) => {
                    let times_at = faster.entry((store, risk.loss.to_string())).or_default();
                    let often = risk.often.as_deref().filter(|often| !is_told(store, often));
                    let often = often.filter(|often| told.insert((store, *often)));
                    let often = often.map_or_else(String::new, |often| format!(", {often}"));
                    times_at.push(format!("{}x the time at {at}{often}", three_digits(times)));
                    fast.insert(store)
                }
                None => slow.insert(store),
            };
        }
        let slow: Vec<&str> = slow.difference(&fast).copied().collect();
        others.extend((!slow.is_empty()).then(|| format!("{} (at {at})", slow.join(", "))));
    }
    let faster = faster.into_iter();
    let faster = faster
        .map(|((store, loss), times)| format!("{store}: a power cut {loss} ({})", times.join("; ")))
        .collect();
    let told: [(&str, Vec<String>); 2] = [("Faster but riskier", faster), ("Riskier", others)];
    let told = told.into_iter().filter(|(_, stores)| !stores.is_empty());
    let told: Vec<String> = told.map(|(what, stores)| format!("{what}: {}.", stores.join("; "))).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

impl Risk {
    /// The cost of a power cut, why, and how often that was seen.
    pub fn describe(&self) -> String {
        let seen = [self.why].into_iter().chain(self.often.as_deref()).filter(|part| !part.is_empty());
        let seen = seen.collect::<Vec<_>>().join("; ");
        let seen = if seen.is_empty() { String::new() } else { format!(" ({seen})") };
        format!("a power cut {}{seen}", self.loss)
    }
}

/// The numbers of comparisons with a single best store, of those with a single candidate, of those that are not judged, and of
/// all.
fn compared(matrices: &[&Matrix]) -> [usize; 4] {
    let contests = || matrices.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.contests);
    let held = contests().filter(|contest| contest.contenders.len() > 1);
    let single = held.clone().filter(|contest| contest.is_decided());
    let few = single.clone().filter(|contest| names_candidates(&contest.contenders)).count();
    let not_judged = held.clone().filter(|contest| contest.is_not_judged());
    [single.count() - few, few, not_judged.count(), held.count()]
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
fn describe_certainty([decided, few, all]: [usize; 3], trials: &Trials) -> String {
    let trials = match trials {
        Trials { fewest, most, .. } if fewest < most => format!("{fewest} to {most} trials"),
        Trials { most: 1, .. } => "1 trial".to_owned(),
        Trials { most, .. } => format!("{most} trials"),
    };
    let with = format!("with {trials} of each store");
    match (decided, all) {
        (0, _) if trials == "1 trial" => format!("How sure: {with} there are candidates, and no winner."),
        (0, 1) if few == 1 => format!("How sure: {with} there is one candidate, and no winner."),
        (0, 1) => format!("How sure: the best are too close to call {with}."),
        (_, 1) => format!("How sure: one store is best {with}, beyond what trials vary by."),
        _ if few > 0 => {
            let best = if decided == 0 { "none".to_owned() } else { with_commas(decided as u64) };
            let others = match decided + few < all {
                true => "; in the others the best are too close to call",
                false => "",
            };
            format!(
                "How sure: {with} one store is best in {best} of {} comparisons, and the only candidate in {} (fewer than \
                 {ENOUGH_BLOCKS} trials in common){others}.",
                with_commas(all as u64),
                with_commas(few as u64)
            )
        }
        (0, _) => {
            format!("How sure: in none of {} comparisons is one store best, {with}.", with_commas(all as u64))
        }
        _ if decided == all => {
            format!("How sure: in all {} comparisons one store is best, {with}.", with_commas(all as u64))
        }
        _ => format!(
            "How sure: in {} of {} comparisons one store is best, {with}; in the others the best are too close to call.",
            with_commas(decided as u64),
            with_commas(all as u64)
        ),
    }
}

/// The next step, and its time, estimated from this run's trials. Runs behind an answer have a budget instead of a number of trials.
fn next(study: &str, trials: &Trials, is_open: bool) -> Option<String> {
    let advise = "storebench advise answers for your own records";
    match study {
        "advise" | "tune" => {
            let longer = format!("Next: storebench {study} with a longer --budget tells closer ones apart.");
            return is_open.then_some(longer);
        }
        _ if !is_open => return Some(format!("Next: {advise}.")),
        _ => {}
    }
    let more = if trials.most < MANY { MANY } else { trials.most.saturating_mul(2) };
    let all_s = trials.one_of_each_s * f64::from(more);
    let time = Duration::try_from_secs_f64(all_s.round().max(1.0)).map(rough_duration);
    let time = time.map_or_else(|_| String::new(), |time| format!(" takes about {time} and"));
    Some(format!("Next: the same with --trials {more}{time} tells closer stores apart; {advise}."))
}

#[cfg(test)]
mod tests {
    use storebench_core::trace::{Facts, Form};

    use super::*;
    use crate::data::merge::Merged;
    use crate::data::samples::{Sample, blocks};

    fn told(count: usize, second: impl Fn(usize) -> f64) -> String {
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
        let clear = told(5, |number| 200_000.0 + number as f64);
        let lines: Vec<&str> = clear.lines().collect();
        assert!(
            lines[0].starts_with("100 records of 1B..1KiB, incompressible; on box, ext4 on nvme0n1; 2"),
            "{clear}"
        );
        let says = "Guarantee process (a write survives a killed process, but not a power cut): take lmdb; slower on average:";
        assert!(clear.replace("\n  ", " ").contains(says), "{clear}");
        assert!(clear.replace("\n  ", " ").contains("redb 1.99x the time, sqlite 8.93x."), "{clear}");
        let last = "How sure: in all 6 comparisons one store is best, with 5 trials of each store. Next: storebench advise";
        assert!(clear.replace("\n  ", " ").contains(last), "{clear}");
        assert!(clear.lines().all(|line| line.chars().count() <= 100), "{clear}");
        let few = told(4, |number| 200_000.0 + number as f64).replace("\n  ", " ");
        assert!(few.contains("take lmdb (the only candidate in 4 of 4 comparisons); slower"), "{few}");
        let says = "How sure: with 4 trials of each store one store is best in none of 6 comparisons, and the only candidate in 6 (fewer \
            than 5 trials in common). Next: the same with --trials 7 ";
        assert!(few.contains(says), "{few}");
        let open = told(2, |number| 101_000.0 + number as f64).replace("\n  ", " ");
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
        let says = "take sqlite (the best in 2 of 4 comparisons, too close to call in 1); faster on average, but best or too close in \
            fewer: rocksdb 0.904x the time; faster where both have figures: lacks 0.500x the time; slower on average: redb 1.03x the time, \
            lmdb 1.16x; not compared with it: alone";
        assert_eq!(describe_answer(&answer), says);
    }

    #[test]
    fn beside_other_programs_that_is_said_first_and_only_a_quiet_machine_is_asked_for() {
        let block =
            vec![Sample::new("lmdb"), Sample::new("redb").ns(1800.0), Sample::new("sqlite").ns(9000.0)];
        let mut run = blocks("box", &vec![block; 3]);
        run.header.environment.cores = 2;
        run.trials.iter_mut().for_each(|trial| trial.others_processors = Some(1.8));
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let told = text(&Report::new(&merged), Style { width: 200, colour: false });
        assert!(told.starts_with("Not judged") && told.contains("kept 1.80 of 2 processors"), "{told}");
        let says = "not judged in 4 of 4 comparisons; surely more than twice as slow as another: sqlite.";
        assert!(told.contains(says), "not by time: {told}");
        assert!(
            !told.contains("--trials")
                && !told.contains("How sure")
                && !told.contains("take lmdb")
                && !told.contains("Next:"),
            "{told}"
        );
    }

    #[test]
    fn a_library_beside_servers_has_its_place_in_their_line() {
        let block = ["sqlite", "postgres", "redis"].map(|store| Sample::new(store).guarantee("power"));
        let mut run = blocks("box", &vec![block.to_vec(); 3]);
        run.header.stores.iter_mut().for_each(|store| store.server = store.name != "sqlite");
        let merged = Merged::new(std::slice::from_ref(&run), &[]);
        let told = text(&Report::new(&merged), Style { width: 300, colour: false });
        let says = "Guarantee power, client and server (a write survives a power cut): take ";
        assert!(told.contains(says), "{told}");
        assert!(told.contains(". Ranked apart, with nothing to compare: sqlite.\n"), "{told}");
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
        let told = text(&Report::new(&merged), Style { width: 300, colour: false });
        assert!(told.starts_with("app.csv, 1,200 operations; "), "{told}");
    }

    #[test]
    fn a_run_behind_an_answer_takes_a_longer_budget_and_no_number_of_trials() {
        let trials = Trials { fewest: 2, most: 2, one_of_each_s: 3.0 };
        let longer = "Next: storebench advise with a longer --budget tells closer ones apart.";
        assert_eq!(next("advise", &trials, true).as_deref(), Some(longer));
        assert_eq!(next("advise", &trials, false), None);
        assert!(next("crud", &trials, true).is_some_and(|next| next.contains("--trials 7")));
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
        let told = text(&Report::new(&merged), Style { width: 100, colour: false });
        let told = told.replace("\n  ", " ");
        assert!(told.contains("with 3 to 6 trials of each store"), "{told}");
        // One trial of each takes 2 x 1.5 s, whatever the run had.
        assert!(told.contains("--trials 7 takes about 21 s"), "{told}");
    }

    #[test]
    fn where_nothing_is_compared_that_is_said() {
        let told = |run: Run| {
            let merged = Merged::new(std::slice::from_ref(&run), &[]);
            text(&Report::new(&merged), Style { width: 100, colour: false })
        };
        let alone = told(blocks("box", &[vec![Sample::new("lmdb")]]));
        assert!(alone.starts_with("100 records of 1B..1KiB, "), "{alone}");
        let none = told(blocks("box", &[]));
        assert!(none.starts_with("on box, ext4 on nvme0n1.\n"), "{none}");
        assert!([alone, none].iter().all(|told| told.contains("\nNothing to compare: ")));
    }
}
