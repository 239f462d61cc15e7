//! The table of stores: for each group and position a row for each contestant, with its figures, its standing over all operations, and
//! the cost of a power cut. Verdicts come from [`storebench_figures::judge`]; nothing is tested here.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use storebench_figures::data::danger;
use storebench_figures::data::matrix::{Contest, Figure, Matrix};
use storebench_figures::data::merge::{Group, GroupKey, Merged};
use storebench_figures::data::names::join_parts;
use storebench_figures::judge::combinations::{
    CombinedVerdict, combine_verdicts, contender, is_won_by, leaders, times_worse,
};
use storebench_figures::judge::danger::{dangerous_harms, holds, is_dangerous, is_too_much};
use storebench_figures::judge::standing::{Contender, is_decided, is_far, names_candidates};
use storebench_figures::layout::Position;
use storebench_figures::stats::{Better, Summary, geometric_mean};
use storebench_model::result::{Harm, SPACE};
use storebench_model::store::{Danger, Evidence, Guarantee, Loss, SettingDef};
use storebench_model::units::{exact_bytes, with_commas};

use crate::brief;
use crate::report::Report;

/// Up to this many comparisons the tables of stores come first; beyond it the matrix of winners says more in less room.
const MAX_COMPARISONS: usize = 40;
/// The most rows of a readable table.
const MAX_ROWS: usize = 30;
pub const HEIGHTS: usize = 8;
/// The smallest ratio to the best that the highest bar represents.
const MIN_SPAN: f64 = 4.0;

#[derive(Debug)]
pub struct Standings {
    pub key: GroupKey,
    /// The group's name: `Guarantee power`.
    pub name: String,
    /// The name without that word: `power`.
    pub label: String,
    pub meaning: Option<&'static str>,
    pub figures: Vec<Figure>,
    pub tables: Vec<Table>,
    /// The answers: one for each position if they differ, otherwise one for all.
    pub answers: Vec<(String, Answer)>,
    /// Locations that can't be seen to keep what was synced.
    pub unseen: Vec<String>,
}

impl Standings {
    /// The title of the rows that are not ranked: the risks that no table above has `listed`.
    pub fn risks(&self, rows: &[&Row], listed: &mut BTreeSet<String>) -> String {
        let has_row = |risk: &&Risk| rows.iter().any(|row| row.store == risk.named.store);
        let risks = self.answers.iter().flat_map(|(_, answer)| &answer.riskier).filter(has_row);
        let risks = risks.map(|risk| format!("{}, {}", risk.named.store, risk.describe()));
        let new_risks: Vec<String> = risks.filter(|risk| listed.insert(risk.clone())).collect();
        match new_risks.is_empty() {
            true => "Riskier, not ranked, as above".to_owned(),
            false => format!("Riskier, not ranked: {}", new_risks.join("; ")),
        }
    }

    /// The title of a table: `Guarantee power, 100 records of 1B..1KiB`.
    pub fn title(&self, table: &Table) -> String {
        join_parts([self.name.as_str(), &brief::describe_position(&table.at)])
    }
}

#[derive(Debug)]
pub struct Table {
    pub at: Position,
    /// The ranked ones in the order of their factors, then the riskier ones.
    pub rows: Vec<Row>,
    /// A sentence on contestants whose trials wrote less than their write buffer holds.
    pub unfilled: Option<String>,
}

#[derive(Debug)]
pub struct Row {
    pub store: String,
    pub mark: Mark,
    /// The factor to the best of each operation: the geometric mean. It orders rows, and is no verdict.
    pub times: Option<f64>,
    pub figures: Vec<Option<RowFigure>>,
    /// The cost of a power cut; `None` if unknown.
    pub power_cut: Option<Loss>,
    /// Whether it is not ranked because evidence calls it dangerous.
    pub is_riskier: bool,
}

#[derive(Debug)]
pub struct RowFigure {
    pub figure: Summary,
    /// The height of its bar, from 1 to [`HEIGHTS`], by the logarithm of its ratio to the best; 0 if it is the only one.
    pub height: usize,
    pub wins: bool,
}

/// The standing of a contestant over all operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Best,
    Close,
    /// Neither, or nothing was decided.
    None,
}

/// The recommendation from some comparisons of operations.
#[derive(Debug, Default)]
pub struct Answer {
    /// The one to take, then those tied with it: the safer first, then the smaller. Empty if none is best.
    pub take: Vec<NamedContestant>,
    pub others: Vec<NamedContestant>,
    /// If none is recommended: the contestants that are the best alone, each with its operations.
    pub best_at: Vec<(String, Vec<String>)>,
    /// Whether there are too few trials for a name.
    pub is_open: bool,
    /// Whether one store is compared with itself, and no two of its settings or locations differ for certain.
    pub is_alike: bool,
    /// The number of comparisons that are not judged, as other programs left too few processors, and of all.
    pub not_judged: (usize, usize),
    /// The contestants that surely take more than twice as long as another in each comparison that is not judged.
    pub far: Vec<NamedContestant>,
    /// Comparisons in which the recommended one is the best alone.
    pub alone: usize,
    /// Of these, those in which too few trials make it the only candidate, and no winner.
    pub few: usize,
    /// What a power cut can cost the recommended one, if that is more than the guarantee allows.
    pub risk: Option<Loss>,
    pub riskier: Vec<Risk>,
}

#[derive(Debug)]
pub struct NamedContestant {
    pub store: String,
    /// The factor, if both have figures.
    pub times: Option<f64>,
    /// Comparisons in which it is the best, or tied with it.
    pub won: usize,
}

/// A contestant that a power cut can cost more than the guarantee allows.
#[derive(Debug)]
pub struct Risk {
    pub named: NamedContestant,
    pub loss: Loss,
    /// Why; empty if it is unknown.
    pub why: &'static str,
    /// How often that was seen.
    pub seen: Option<SeenHarm>,
}

/// How often a power cut did harm: `2 of 90 power cuts in this run`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SeenHarm {
    harmed: u64,
    cuts: String,
    /// Seen in this run; otherwise by storebench's authors.
    pub in_this_run: bool,
}

impl Display for SeenHarm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let run = if self.in_this_run { " in this run" } else { "" };
        write!(f, "{} of {}{run}", with_commas(self.harmed), self.cuts)
    }
}

/// The standings of all groups with any figure, in the order of the groups.
pub fn standings(report: &Report<'_>) -> Vec<Standings> {
    let groups = report.merged.groups.iter().zip(report.matrices());
    groups.filter_map(|(group, matrix)| build_standings(report.merged, group, matrix.as_ref()?)).collect()
}

/// Whether the tables are short enough to come first.
pub fn are_short(groups: &[Standings], report: &Report<'_>) -> bool {
    let matrices = report.matrices().iter().flatten();
    let contests = matrices.flat_map(|matrix| &matrix.rows).flat_map(|row| &row.contests);
    let compared = contests.filter(|contest| contest.contenders.len() > 1).count();
    let tables = || groups.iter().flat_map(|group| &group.tables);
    compared <= MAX_COMPARISONS && tables().count() > 0 && tables().all(|table| table.rows.len() <= MAX_ROWS)
}

/// A group's name as a heading, with the machine if there are several.
pub fn heading(merged: &Merged<'_>, key: &GroupKey) -> String {
    let label = label(merged, key);
    if key.asked.is_some() { format!("Guarantee {label}") } else { label }
}

fn label(merged: &Merged<'_>, key: &GroupKey) -> String {
    let has_several = merged.groups.iter().any(|group| group.key.hardware != key.hardware);
    match merged.label(key) {
        label if label.is_empty() => key.hardware.clone(),
        label if has_several => join_parts([key.hardware.as_str(), &label]),
        label => label,
    }
}

/// The meaning of a tier, for newcomers: what an acknowledged write survives.
pub fn describe_guarantee(key: &GroupKey) -> Option<&'static str> {
    Some(match key.tier? {
        Guarantee::None => "may be lost even when the process alone crashes",
        Guarantee::Process => "survives a killed process, but not a power cut",
        Guarantee::Power => "survives a power cut",
        Guarantee::Node => "survives a power cut, and the loss of a machine for good",
    })
}

pub fn trial_time(merged: &Merged<'_>) -> Option<Duration> {
    let trials = merged.runs.iter().flat_map(|run| &run.trials);
    let took_s: f64 = trials.map(|trial| trial.took_s()).sum();
    Duration::try_from_secs_f64(took_s.round().max(1.0)).ok().filter(|_| took_s > 0.0)
}

type Contests<'m> = Vec<(&'m Figure, &'m Contest)>;

fn build_standings(merged: &Merged<'_>, group: &Group<'_>, matrix: &Matrix) -> Option<Standings> {
    let mut figures: Vec<Figure> = Vec::new();
    let mut by_position: IndexMap<Position, Contests<'_>> = IndexMap::new();
    for row in &matrix.rows {
        if !figures.contains(&row.figure) {
            figures.push(row.figure.clone());
        }
        for (column, contest) in matrix.columns.iter().zip(&row.contests) {
            by_position.entry(row.at.merged_with(column)).or_default().push((&row.figure, contest));
        }
    }
    let has_contestants = |contest: &Contest| !contest.contenders.is_empty() || !contest.riskier.is_empty();
    by_position.retain(|_, contests| contests.iter().any(|(_, contest)| has_contestants(contest)));
    if by_position.is_empty() {
        return None;
    }
    let in_memory = group.trials.iter().filter(|entry| danger::is_in_memory(merged, entry));
    let in_memory = in_memory.map(|entry| merged.layout.contestant(&entry.trial.cell)).collect();
    let facts = KnownGroup { merged, group, dangers: find_dangers(merged, group), in_memory };
    let mut each_answer: Vec<Answer> = by_position.values().map(|contests| facts.answer(contests)).collect();
    let all_contests: Contests<'_> = by_position.values().flatten().copied().collect();
    let overall = facts.answer(&all_contests);
    let best_store = overall.take.first().map(|contestant| contestant.store.as_str());
    // Of two sizes one answer covers both where it is among the answers of each: there it is named first, too.
    let covers = |answer: &Answer| match best_store {
        Some(best_store) => answer.take.iter().any(|contestant| contestant.store == best_store),
        None => answer.take.is_empty(),
    };
    let answers_differ = each_answer.len() == 2 && !each_answer.iter().all(covers);
    if each_answer.len() == 2 && !answers_differ {
        for answer in &mut each_answer {
            answer.take.sort_by_key(|named| Some(named.store.as_str()) != best_store);
        }
    }
    let mut unfilled = facts.unfilled();
    let tables = by_position.iter().zip(&each_answer).map(|((position, contests), answer)| Table {
        at: position.clone(),
        rows: facts.rows(&figures, contests, answer),
        unfilled: unfilled.remove(position),
    });
    let tables: Vec<Table> = tables.collect();
    let positions: Vec<&Position> = by_position.keys().collect();
    let title = |position| brief::describe_position(&brief::distinguishing_part(position, &positions, &[]));
    let answers = match answers_differ {
        true => positions.iter().copied().map(title).zip(each_answer).collect(),
        false => vec![(String::new(), overall)],
    };
    Some(Standings {
        key: group.key.clone(),
        name: heading(merged, &group.key),
        label: label(merged, &group.key),
        meaning: describe_guarantee(&group.key),
        figures,
        tables,
        answers,
        unseen: danger::find_unseen_locations(merged, group).into_iter().collect(),
    })
}

/// The cost of an accident for each contestant of a group: the worst of its settings.
fn find_dangers(merged: &Merged<'_>, group: &Group<'_>) -> BTreeMap<String, (String, &'static Danger)> {
    let mut dangers: BTreeMap<String, (String, &'static Danger)> = BTreeMap::new();
    for entry in &group.trials {
        let cell = &entry.trial.cell;
        let Some(measured) = entry.trial.ok() else { continue };
        let Some(danger) = danger::find_danger(merged.stores, cell.store(), measured) else { continue };
        // That a library says it is safe is no evidence without a check.
        let is_library = merged.stores.iter().any(|def| def.name == cell.store() && def.library.is_some());
        let is_checked = measured.cuts().is_some_and(|cuts| holds(cuts, measured.guarantee).is_some());
        if is_library && !is_checked && !is_dangerous(Some(danger), measured.guarantee, true) {
            continue;
        }
        let worst = dangers
            .entry(merged.layout.contestant(cell).into_owned())
            .or_insert_with(|| (cell.store().to_owned(), danger));
        if (danger.power_cut, danger.kill) < (worst.1.power_cut, worst.1.kill) {
            worst.1 = danger;
        }
    }
    dangers
}

struct KnownGroup<'k, 'a> {
    merged: &'k Merged<'a>,
    group: &'k Group<'a>,
    dangers: BTreeMap<String, (String, &'static Danger)>,
    /// The contestants whose files were in memory.
    in_memory: BTreeSet<Cow<'k, str>>,
}

impl KnownGroup<'_, '_> {
    fn name(&self, store: &str) -> String {
        self.merged.readable.name(store).into_owned()
    }

    /// What a power cut can cost a contestant: everything where the files are in memory.
    fn loss(&self, store: &str) -> Option<Loss> {
        match self.in_memory.contains(store) {
            true => Some(Loss::Whole),
            false => self.dangers.get(store).map(|(_, danger)| danger.power_cut),
        }
    }

    /// Whether its contestants are one store, with other settings or in other places.
    fn is_of_one_store(&self) -> bool {
        let stores = self.group.trials.iter().map(|entry| entry.trial.cell.store());
        stores.filter(|store| !self.merged.is_harness(store)).collect::<BTreeSet<_>>().len() == 1
    }

    /// By position the contestants whose trials wrote less than their write buffer holds, in a sentence.
    fn unfilled(&self) -> BTreeMap<Position, String> {
        let mut buffers: BTreeMap<Position, BTreeMap<String, Option<u64>>> = BTreeMap::new();
        for entry in &self.group.trials {
            let cell = &entry.trial.cell;
            let Some(measured) = entry.trial.ok() else { continue };
            let bytes = self.merged.stores.iter().find(|def| def.name == cell.store()).and_then(|def| {
                let written = measured.written?;
                let buffer_bytes = |buffer: &SettingDef| {
                    let setting = measured.settings.iter().find(|setting| setting.name == buffer.name)?;
                    buffer.is_unfilled(&setting.value, &written).then(|| setting.value.parse().ok())?
                };
                def.settings.iter().find_map(buffer_bytes)
            });
            // If one trial filled it, nothing is said.
            let stores = buffers.entry(self.merged.layout.position(cell)).or_default();
            let least = stores.entry(self.name(&self.merged.layout.contestant(cell))).or_insert(bytes);
            *least = (*least).min(bytes);
        }
        let format_store =
            |(store, bytes): (String, Option<u64>)| Some(format!("{store} ({})", exact_bytes(bytes?)));
        let write_line = |(position, stores): (Position, BTreeMap<String, Option<u64>>)| {
            let stores: Vec<String> = stores.into_iter().filter_map(format_store).collect();
            let line = format!(
                "Wrote less than the write buffer holds, so that it was not flushed for being full: {}.",
                stores.join(", ")
            );
            (!stores.is_empty()).then_some((position, line))
        };
        buffers.into_iter().filter_map(write_line).collect()
    }

    /// The answer by the comparisons of operations among some.
    fn answer(&self, contests: &Contests<'_>) -> Answer {
        let select = |is_wanted: fn(&Figure) -> bool| -> Vec<(&Figure, &Contest)> {
            contests.iter().copied().filter(|(figure, _)| is_wanted(figure)).collect()
        };
        let operations = select(Figure::is_of_operations);
        let compared: Vec<_> =
            operations.iter().filter(|(_, contest)| contest.contenders.len() > 1).collect();
        let judged = compared.iter().filter(|(_, contest)| !contest.is_not_judged());
        let judged: Vec<&[Contender]> = judged.map(|(_, contest)| contest.contenders.as_slice()).collect();
        let not_judged = compared.len() - judged.len();
        let mut answer = Answer { not_judged: (not_judged, compared.len()), ..Answer::default() };
        let combined = combine_verdicts(&judged);
        answer.is_open = !judged.is_empty() && combined == CombinedVerdict::Open;
        answer.is_alike = combined == CombinedVerdict::Alike && self.is_of_one_store();
        let space = select(|figure| figure.name == SPACE);
        let mut take = match leaders(&judged).filter(|_| not_judged == 0 && !answer.is_alike) {
            Some((best, close)) => [vec![best], close].concat(),
            None => Vec::new(),
        };
        // Among tied stores the safer is named first, then the smaller; among candidates the one that looks faster.
        let (ranked_by, is_open) = (if answer.is_open { &operations } else { &space }, answer.is_open);
        let sort_key = |store: &&str| {
            let factor = mean_times(ranked_by, store).unwrap_or(f64::INFINITY);
            let kill = self.dangers.get(*store).map(|(_, danger)| danger.kill);
            (self.loss(store).zip(kill).filter(|_| !is_open), factor)
        };
        take.sort_by(|a, b| {
            let (a, b) = (sort_key(a), sort_key(b));
            b.0.cmp(&a.0).then(a.1.total_cmp(&b.1))
        });
        if take.is_empty() {
            answer.best_at = self.best_at(&compared);
        }
        // Without a recommended one there is no factor.
        let best = take.first().copied().unwrap_or_default();
        let count_won = |store: &str| judged.iter().filter(|ranked| is_won_by(ranked, store)).count();
        let clear_wins: Vec<_> =
            judged.iter().filter(|ranked| is_won_by(ranked, best) && is_decided(ranked)).collect();
        answer.alone = clear_wins.len();
        answer.few = clear_wins.iter().filter(|ranked| names_candidates(ranked)).count();
        let tier = self.group.key.tier.unwrap_or(Guarantee::Process);
        let risk = self.dangers.get(best).map(|(_, danger)| danger.power_cut);
        answer.risk = risk.filter(|loss| self.group.key.power_cut.is_none() && is_too_much(*loss, tier));
        let name_contestant = |store: &str| NamedContestant {
            store: self.name(store),
            times: times_slower(&operations, store, best),
            won: count_won(store),
        };
        let ranked = operations.iter().flat_map(|(_, contest)| &contest.contenders);
        let ranked = ranked.map(|contender| contender.store.as_str());
        let others: IndexSet<&str> = ranked.filter(|store| !take.contains(store)).collect();
        let is_far_behind = |store: &&str| {
            compared.iter().all(|(_, contest)| contender(&contest.contenders, store).is_some_and(is_far))
        };
        let far = others.iter().copied().filter(|_| not_judged > 0).filter(is_far_behind);
        answer.far = far.map(&name_contestant).collect();
        answer.take = take.iter().map(|store| name_contestant(store)).collect();
        answer.others = others.iter().map(|store| name_contestant(store)).collect();
        let distance = |other: &NamedContestant| other.times.unwrap_or(f64::INFINITY);
        answer.others.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let riskier = operations.iter().flat_map(|(_, contest)| &contest.riskier);
        let riskier: BTreeSet<&str> = riskier.map(|contender| contender.store.as_str()).collect();
        let describe_risk = |store: &str| {
            let (_, danger) = self.dangers.get(store)?;
            let seen = self.seen_harm(store);
            Some(Risk { named: name_contestant(store), loss: danger.power_cut, why: danger.why, seen })
        };
        answer.riskier = riskier.into_iter().filter_map(describe_risk).collect();
        answer
    }

    /// The contestants that are the best alone, each with its operations.
    fn best_at(&self, compared: &[&(&Figure, &Contest)]) -> Vec<(String, Vec<String>)> {
        let mut winners: IndexMap<String, Vec<String>> = IndexMap::new();
        for (figure, contest) in compared.iter().filter(|(_, contest)| contest.is_decided()) {
            let Some(best) = contest.winners().next() else { continue };
            let operations = winners.entry(self.name(&best.store)).or_default();
            if !operations.contains(&figure.name) {
                operations.push(figure.name.clone());
            }
        }
        let mut winners: Vec<_> = winners.into_iter().collect();
        winners.sort_by_key(|(_, operations)| Reverse(operations.len()));
        winners
    }

    /// How often a power cut did harm: in this run, otherwise as seen by storebench's authors.
    fn seen_harm(&self, contestant: &str) -> Option<SeenHarm> {
        let (store, _) = self.dangers.get(contestant)?;
        let tier = self.group.key.tier.unwrap_or_default();
        let trials = self.group.trials.iter().map(|entry| entry.trial);
        let trials = trials.filter(|trial| self.merged.layout.contestant(&trial.cell) == contestant);
        let (mut harmed, mut states) = (0, 0);
        for cuts in trials.filter_map(|trial| trial.ok()?.cuts()) {
            harmed += dangerous_harms(cuts, tier).values().sum::<u64>();
            states += cuts.states();
        }
        let def = self.merged.stores.iter().find(|def| def.name == store);
        let evidence = def.and_then(|def| Evidence::sum_torn(def.evidence(), tier));
        if harmed > 0 {
            let cuts = format!("{} power cuts", with_commas(states));
            return Some(SeenHarm { harmed, cuts, in_this_run: true });
        }
        let evidence = evidence.filter(|evidence| count_harm(evidence) > 0)?;
        Some(SeenHarm { harmed: count_harm(&evidence), cuts: evidence.cuts(), in_this_run: false })
    }

    fn rows(&self, figures: &[Figure], contests: &Contests<'_>, answer: &Answer) -> Vec<Row> {
        let operations: Vec<_> =
            contests.iter().copied().filter(|(figure, _)| figure.is_of_operations()).collect();
        let mut stores: Vec<(&str, bool)> = Vec::new();
        for (_, contest) in contests {
            let ranked = contest.contenders.iter().map(|contender| (contender, false));
            let riskier = contest.riskier.iter().map(|contender| (contender, true));
            for (contender, is_riskier) in ranked.chain(riskier) {
                if !stores.iter().any(|(store, _)| *store == contender.store) {
                    stores.push((&contender.store, is_riskier));
                }
            }
        }
        let mut rows: Vec<Row> = stores
            .into_iter()
            .map(|(store, is_riskier)| {
                let row_figure = |wanted: &Figure| {
                    let (figure, contest) = contests.iter().find(|(figure, _)| *figure == wanted)?;
                    let contender = find_contender(contest, store)?;
                    Some(RowFigure {
                        figure: contender.figure,
                        height: bar_height(figure, contest, contender),
                        wins: is_won_by(&contest.contenders, store) && contest.contenders.len() > 1,
                    })
                };
                let name = self.name(store);
                // Candidates with too few trials are not tied.
                let mark = match answer.take.iter().position(|contender| contender.store == name) {
                    _ if answer.is_open => Mark::None,
                    Some(0) => Mark::Best,
                    Some(_) => Mark::Close,
                    None => Mark::None,
                };
                Row {
                    mark,
                    times: mean_times(&operations, store),
                    figures: figures.iter().map(row_figure).collect(),
                    power_cut: self.loss(store),
                    store: name,
                    is_riskier,
                }
            })
            .collect();
        let count_missing = |row: &Row| row.figures.iter().filter(|figure| figure.is_none()).count();
        rows.sort_by(|a, b| {
            let key = |row: &Row| (row.is_riskier, count_missing(row));
            let times = |row: &Row| row.times.unwrap_or(f64::INFINITY);
            key(a).cmp(&key(b)).then(times(a).total_cmp(&times(b)))
        });
        rows
    }
}

fn count_harm(evidence: &Evidence) -> u64 {
    let dangers = Harm::ALL.into_iter().filter(|harm| harm.is_danger(evidence.guarantee));
    dangers.map(|harm| evidence.count(harm)).sum()
}

fn find_contender<'c>(contest: &'c Contest, store: &str) -> Option<&'c Contender> {
    contest.contenders.iter().chain(&contest.riskier).find(|contender| contender.store == store)
}

/// The factor of a figure to the best's: paired by block if both have trials in the same blocks, otherwise of the means.
fn times(figure: &Figure, contest: &Contest, contender: &Contender) -> Option<f64> {
    let paired_ratio = match contest.contenders.iter().any(|ranked| ranked.store == contender.store) {
        true => times_worse(&contest.contenders, &contender.store),
        false => contender.times_worse.map(|times| times.ratio.value),
    };
    let best = contest.contenders.first()?.figure.mean.value;
    let mean_ratio = match figure.better {
        Better::Higher => best / contender.figure.mean.value,
        Better::Lower | Better::Neither => contender.figure.mean.value / best,
    };
    paired_ratio.or_else(|| Some(mean_ratio).filter(|times| times.is_finite() && *times > 0.0))
}

fn mean_times(contests: &[(&Figure, &Contest)], store: &str) -> Option<f64> {
    let factor =
        |(figure, contest): &(&Figure, &Contest)| times(figure, contest, find_contender(contest, store)?);
    let factors: Vec<f64> = contests.iter().filter_map(factor).collect();
    geometric_mean(&factors).map(|mean| mean.value)
}

/// The mean factor to another contestant, over the contests in which both have figures.
fn times_slower(contests: &[(&Figure, &Contest)], store: &str, reference: &str) -> Option<f64> {
    let factor = |(figure, contest): &(&Figure, &Contest)| {
        let times_best = |store: &str| times(figure, contest, find_contender(contest, store)?);
        Some(times_best(store)? / times_best(reference)?)
    };
    let factors: Vec<f64> = contests.iter().filter_map(factor).collect();
    geometric_mean(&factors).map(|mean| mean.value)
}

fn bar_height(figure: &Figure, contest: &Contest, contender: &Contender) -> usize {
    let contenders = contest.contenders.iter().chain(&contest.riskier);
    let factors: Vec<f64> = contenders.filter_map(|contender| times(figure, contest, contender)).collect();
    if factors.len() < 2 {
        return 0;
    }
    let least = factors.iter().copied().reduce(f64::min).unwrap_or(1.0);
    let span = (factors.iter().copied().fold(least, f64::max) / least).max(MIN_SPAN).ln();
    let distance = (times(figure, contest, contender).unwrap_or(least) / least).ln();
    1 + (distance / span * (HEIGHTS - 1) as f64).round().clamp(0.0, (HEIGHTS - 1) as f64) as usize
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use storebench_host::run::Run;
    use storebench_model::result::{CutCheck, CutResults, StateFinding, StorageBacking, WrittenRecords};
    use storebench_model::store::{GuaranteeOffer, Library, StoreDef, StoreKind};
    use storebench_model::units::SizeRange;
    use storebench_samples::{Sample, blocks};

    use super::*;
    use crate::terminal::grid::Style;

    const HOLDS: &[GuaranteeOffer] = &[GuaranteeOffer {
        guarantee: Guarantee::Power,
        settings: "as made",
        atomic_replace: true,
        dangers: Danger::NOTHING,
    }];

    const SAFE: &[GuaranteeOffer] = &[GuaranteeOffer { guarantee: Guarantee::Process, ..HOLDS[0] }];

    const RISKY: &[GuaranteeOffer] =
        &[GuaranteeOffer { dangers: &[Danger::new(Loss::Nothing, Loss::Whole, "")], ..HOLDS[0] }];

    const fn def(name: &'static str) -> StoreDef {
        StoreDef {
            offers: HOLDS,
            ..StoreDef::not_built(name, StoreKind::Engine, "a made store", "it is made")
        }
    }

    /// Stores with factors to the first, in five blocks; `lost` states of the first lost acknowledged data.
    fn with_report<R>(times: &[(&'static str, f64)], lost: u64, read: impl Fn(&Report<'_>) -> R) -> R {
        with_report_on(StorageBacking::Disk, times, lost, read)
    }

    fn with_report_on<R>(
        bottom: StorageBacking,
        times: &[(&'static str, f64)],
        lost: u64,
        read: impl Fn(&Report<'_>) -> R,
    ) -> R {
        let block = |number: usize| {
            let sample = |(index, (store, times)): (usize, &(&str, f64))| {
                let noise = [1.0, 1.02, 0.99, 1.01, 1.0][(number + index) % 5];
                Sample::new(store).guarantee("power").ns(100_000.0 * times * noise)
            };
            times.iter().enumerate().map(sample).collect::<Vec<_>>()
        };
        let mut run = blocks("box", &(0..5).map(block).collect::<Vec<_>>());
        run.header.locations[0].bottom = Some(bottom);
        let found = [(StateFinding::Lost, lost), (StateFinding::Held, 40 - lost)].into();
        let cuts = CutResults { found, ..CutResults::default() };
        run.trials[0].measured.as_mut().unwrap().cut_check = Some(CutCheck::Made(Box::new(cuts)));
        let table: Vec<StoreDef> = times.iter().map(|(store, _)| def(store)).collect();
        report_of(&[run], &table, read)
    }

    fn report_of<R>(runs: &[Run], table: &[StoreDef], read: impl Fn(&Report<'_>) -> R) -> R {
        read(&Report::new(&Merged::new(runs, table)))
    }

    fn brief_text(report: &Report<'_>) -> String {
        brief::build_lines(report).all().collect::<Vec<_>>().join("\n")
    }

    fn rows(report: &Report<'_>) -> Vec<(String, Mark, bool)> {
        let table = &report.standings()[0].tables[0];
        table.rows.iter().map(|row| (row.store.clone(), row.mark, row.is_riskier)).collect()
    }

    #[test]
    fn rows_stand_by_their_mean_and_the_best_and_those_too_close_are_marked() {
        let stores = [("lmdb", 1.0), ("sqlite", 3.0), ("redb", 1.001)];
        let marked_rows = with_report(&stores, 0, rows);
        let marked: Vec<_> = marked_rows.iter().map(|(store, mark, _)| (store.as_str(), *mark)).collect();
        assert_eq!(marked, [("lmdb", Mark::Best), ("redb", Mark::Close), ("sqlite", Mark::None)]);
    }

    #[test]
    fn a_dangerous_store_is_never_taken_and_stands_last_with_how_often_it_did_harm() {
        let stores = [("lmdb", 0.5), ("redb", 1.0), ("sqlite", 3.0)];
        let marked_rows = with_report(&stores, 4, rows);
        assert_eq!(marked_rows[0], ("redb".into(), Mark::Best, false));
        assert_eq!(marked_rows[2], ("lmdb".into(), Mark::None, true));
        let lines = with_report(&stores, 4, brief_text);
        assert!(lines.contains("take redb; slower on average: sqlite 3."), "{lines}");
        assert!(lines.contains("lost what was promised, or needs a hand to open: lmdb (4 of 40)"), "{lines}");
        let sentence = "Faster but riskier: lmdb: a power cut can cost";
        assert!(lines.contains(sentence) && !lines.contains("in this run"), "it is said once: {lines}");
        assert!(!with_report(&stores, 0, brief_text).contains("riskier"));
    }

    #[test]
    fn a_power_cut_takes_all_that_is_in_memory_and_the_only_safe_store_is_named() {
        let stores = [("lmdb", 0.5), ("redb", 1.0)];
        let memory = StorageBacking::Memory { what: "tmpfs at /x".into() };
        let costs = with_report_on(memory, &stores, 4, |report| {
            let table = &report.standings()[0].tables[0];
            table.rows.iter().map(|row| (row.power_cut, row.is_riskier)).collect::<Vec<_>>()
        });
        assert_eq!(costs, [(Some(Loss::Whole), false); 2], "none is riskier than the other");
        let runs =
            [blocks("box", &[stores.map(|(store, _)| Sample::new(store).guarantee("power")).to_vec()])];
        let lines = report_of(&runs, &[StoreDef { offers: RISKY, ..def("lmdb") }, def("redb")], brief_text);
        let sentence = "(a write survives a power cut): of the stores with figures only redb is not riskier.";
        assert!(lines.contains(sentence), "{lines}");
        let alone = [StoreDef { offers: RISKY, ..def("lmdb") }, StoreDef { offers: RISKY, ..def("redb") }];
        let risk = report_of(&runs, &alone, |report| report.standings()[0].answers[0].1.risk);
        assert_eq!(risk, Some(Loss::Whole), "no safer one was measured");
    }

    #[test]
    fn the_word_of_a_library_about_power_cuts_is_no_evidence() {
        static LIBRARY: Library = Library { path: PathBuf::new(), sha256: String::new() };
        let runs = [blocks(
            "box",
            &[vec![Sample::new("lmdb").guarantee("power"), Sample::new("redb").guarantee("power")]],
        )];
        let power_cuts = |report: &Report<'_>| {
            let rows = &report.standings()[0].tables[0].rows;
            ["lmdb", "redb"].map(|store| rows.iter().find(|row| row.store == store).unwrap().power_cut)
        };
        let table = [StoreDef { library: Some(&LIBRARY), ..def("lmdb") }, def("redb")];
        assert_eq!(report_of(&runs, &table, power_cuts), [None, Some(Loss::Nothing)]);
        let admits = [StoreDef { library: Some(&LIBRARY), offers: RISKY, ..def("lmdb") }, def("redb")];
        let loss = report_of(&runs, &admits, |report| report.standings()[0].answers[0].1.riskier[0].loss);
        assert_eq!(loss, Loss::Whole, "it says so itself");
    }

    #[test]
    fn a_write_buffer_that_was_never_full_is_named_below_the_table() {
        const BUFFER: &[SettingDef] =
            &[SettingDef::new("page_size", "a size", "4096", "").filled_by_writes()];
        // A made trial reads back a size of 4,096 bytes.
        let unfilled_line = |records: u64, key_bytes: u64| {
            let mut run = storebench_samples::run("box", &[Sample::new("lmdb"), Sample::new("redb")]);
            for trial in &mut run.trials {
                trial.measured.as_mut().unwrap().written =
                    Some(WrittenRecords { records, key_bytes, value_bytes: 100 });
            }
            let table = [StoreDef { settings: BUFFER, ..def("lmdb") }, def("redb")];
            report_of(&[run], &table, |report| report.standings()[0].tables[0].unfilled.clone())
        };
        assert!(unfilled_line(10, 32).is_some_and(|line| line.ends_with("for being full: lmdb (4KiB).")));
        assert_eq!(unfilled_line(10, 1_600), None, "what the buffer keeps for a record counts, too");
    }

    #[test]
    fn of_stores_too_close_to_call_the_safer_is_named_before_the_smaller() {
        const RISKY: &[GuaranteeOffer] =
            &[GuaranteeOffer { dangers: &[Danger::new(Loss::Nothing, Loss::Newest, "")], ..SAFE[0] }];
        let block = |number: usize| {
            let ns = |ns: f64| ns * [1.0, 1.02, 0.99, 1.01, 1.0][number % 5];
            vec![Sample::new("sqlite").ns(ns(1002.0)), Sample::new("redb").ns(ns(1000.0))]
        };
        let runs = [blocks("box", &(0..5).map(block).collect::<Vec<_>>())];
        let names_taken = |sqlite: &'static [GuaranteeOffer], redb: &'static [GuaranteeOffer]| {
            let table =
                [StoreDef { offers: sqlite, ..def("sqlite") }, StoreDef { offers: redb, ..def("redb") }];
            report_of(&runs, &table, |report| {
                let take = &report.standings()[0].answers[0].1.take;
                take.iter().map(|contestant| contestant.store.clone()).collect::<Vec<_>>().join(" ")
            })
        };
        // redb is the smaller.
        assert_eq!(names_taken(SAFE, SAFE), "redb sqlite");
        assert_eq!(names_taken(SAFE, RISKY), "sqlite redb");
    }

    /// The lines of two sizes: at the large one the second store takes so long.
    fn two_sizes(ns: f64) -> (String, Vec<(String, Mark)>) {
        let large = SizeRange { from: 1024, to: 2048 };
        let block = |number: usize| {
            let sample = |store, ns: f64| Sample::new(store).ns(ns + number as f64);
            let small = [sample("lmdb", 1000.0), sample("redb", 3000.0)];
            let large = [sample("lmdb", 9000.0), sample("redb", ns)].map(|sample| sample.size(large));
            small.into_iter().chain(large).collect::<Vec<_>>()
        };
        report_of(&[blocks("box", &(0..5).map(block).collect::<Vec<_>>())], &[], |report| {
            let rows = report.standings()[0].tables.iter().flat_map(|table| &table.rows);
            (brief_text(report), rows.map(|row| (row.store.clone(), row.mark)).collect())
        })
    }

    #[test]
    fn two_sizes_have_one_line_with_one_answer_where_it_holds_at_both() {
        let (lines, _) = two_sizes(3000.0);
        assert!(lines.lines().count() == 3 && lines.contains("1B..1KiB: take lmdb. "), "{lines}");
        assert!(lines.contains("1KiB..2KiB: take redb."), "{lines}");
        let (lines, _) = two_sizes(20_000.0);
        assert!(lines.contains(": take lmdb; slower on average: redb 2."), "{lines}");
        let (lines, mut marks) = two_sizes(9_000.0);
        assert!(lines.contains(": take lmdb") && !lines.contains("take redb"), "{lines}");
        marks[2..].sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(marks[2..], [("lmdb".into(), Mark::Best), ("redb".into(), Mark::Close)]);
    }

    #[test]
    fn of_settings_that_are_not_told_apart_none_is_named_for_being_smaller() {
        let read_brief = |last: f64| {
            let block = |number: usize| {
                let noise = [1.0, 1.02, 0.99, 1.01, 1.0];
                let sample = |mode: &str, ns: f64| {
                    Sample::new("sqlite").setting("sqlite.journal_mode", mode).ns(ns * noise[number % 5])
                };
                vec![sample("DELETE", 1000.0), sample("TRUNCATE", 999.9), sample("PERSIST", last)]
            };
            let is_marked = |report: &Report<'_>| rows(report).iter().any(|(_, mark, _)| *mark != Mark::None);
            report_of(&[blocks("box", &(0..5).map(block).collect::<Vec<_>>())], &[], |report| {
                (brief_text(report), is_marked(report))
            })
        };
        let (lines, is_marked) = read_brief(1000.1);
        let sentence = "): no two are told apart by the time of an operation.";
        assert!(lines.contains(sentence) && !lines.contains("take ") && !is_marked, "{lines}");
        let (lines, is_marked) = read_brief(3000.0);
        assert!(lines.contains(": take sqlite journal_mode=") && is_marked, "{lines}");
    }

    #[test]
    fn the_table_fits_into_80_columns() {
        let stores = [("nested-folder", 1.0), ("berkeleydb", 3.0), ("rocksdb", 9.0)];
        let table = with_report(&stores, 0, |report| {
            crate::terminal::standings::text(report.standings(), Style { width: 80, colour: false })
        });
        let heads = table.lines().find(|line| line.contains("insert")).unwrap();
        for head in ["update", "get", "remove", "disk", "memory", "power cut"] {
            assert!(heads.contains(head), "{table}");
        }
        assert!(table.contains("\n* nested-folder  100 µs▁"), "{table}");
    }
}
