//! The sentences of an answer, for terminal and page alike.

use storebench_core::workload::operation::Operation;
use storebench_figures::column::Unit;
use storebench_figures::column::checks::LITTLE_DISK;
use storebench_figures::data::spread;
use storebench_figures::judge::interim::ALIKE;
use storebench_figures::judge::recommendation::gains;
use storebench_figures::judge::{Rule, Verdict};
use storebench_figures::stats::{CONFIDENCE, Interval, MIN_BLOCKS, Ratio, Summary};
use storebench_model::result::LocationInfo;
use storebench_model::store::Guarantee;
use storebench_model::units::{plural, rough_bytes, three_digits, with_commas};

use super::absent::NO_TURN;
use super::answer::Advice;
use super::figures::LITTLE_MEMORY;
use super::question::Goal;
use super::ranking::{Candidate, reasons};
use super::ratios::{describe_times, interval, times_measured, worse};
use super::settling_budget::budget;

pub fn measured(advice: &Advice) -> Vec<String> {
    let (_, size, records) = advice.at;
    let location = advice.place.as_ref().map_or_else(String::new, |location| {
        let device = location.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
        let file_system = location.file_system.as_deref().unwrap_or("unknown file system");
        format!(", in {} ({file_system}{device})", location.path)
    });
    let (ranked, total) = (advice.verdict.ranking.len(), advice.verdict.all().count());
    let trials = advice.verdict.ranking.first().map_or(0, |best| best.speed.trials);
    let stores = plural(total, "store");
    let frequency = match ranked {
        _ if ranked == total => format!("{} each", describe_times(trials)),
        1 => format!("{} for the best", describe_times(trials)),
        _ => format!("{} each for the best {ranked}", describe_times(trials)),
    };
    let mut lines = vec![format!(
        "{stores}, {frequency}, on {}{location}; {} of {}.",
        advice.hardware,
        plural(records.from, "record"),
        size.describe(),
    )];
    if size != advice.question.size {
        lines.push(format!("You asked for records of {}.", advice.question.size.describe()));
    }
    if !advice.otherwise.is_empty() {
        let otherwise: Vec<&str> = advice.otherwise.iter().map(String::as_str).collect();
        lines.push(format!("Not measured as `advise` measures: {}.", otherwise.join(", ")));
    }
    if advice.verdict.out.iter().any(|out| out.why == NO_TURN) {
        lines.push("Unfinished: not every store was measured (see below).".into());
    }
    lines
}

/// The limits of the answer: a number of records other than asked for, cold reads that are mostly not cold.
pub fn cautions(advice: &Advice) -> Vec<String> {
    let contention = advice.verdict.contention.filter(|_| advice.question.goal.is_of_time());
    let contention = contention.map(|load| {
        format!(
            "{}: only a store that is more than twice as fast is told. Ask again with nothing else running.",
            load.describe()
        )
    });
    let at_power = advice.question.guarantee >= Guarantee::Power;
    let unseen = advice.place.as_ref().filter(|_| at_power).and_then(LocationInfo::unseen);
    let cautions = [contention, unseen, describe_other_count(advice), advice.repeated.map(repeated)];
    cautions.into_iter().flatten().collect()
}

/// If other numbers of records were measured than asked for: which, and how to measure the right ones.
fn describe_other_count(advice: &Advice) -> Option<String> {
    let (measured, asked) = (advice.at.2.from, advice.question.records);
    let remedy = match advice.verdict.cost.own_count_s {
        Some(seconds) => format!(" --budget {} would measure {}.", budget(seconds), with_commas(asked)),
        None => String::new(),
    };
    (measured != asked).then(|| {
        format!(
            "Measured with {}, not with your {}: another store may be best there.{remedy}",
            plural(measured, "record"),
            with_commas(asked),
        )
    })
}

fn repeated((reads, records): (u64, u64)) -> String {
    format!(
        "Only partly cold: a trial makes {} of {}, so that many find in memory what an earlier one has read.",
        plural(reads, "read"),
        plural(records, "record"),
    )
}

/// The cost of a kill and of a power cut, in a line.
pub fn describe_danger(advice: &Advice, store: &Candidate) -> String {
    match store.danger {
        Some(danger) if advice.question.mix.writes() => danger.to_string(),
        Some(_) => "Nothing is written in this mix, so an accident can hardly cost anything.".into(),
        None => format!("What an accident can cost {} is not known.", store.store),
    }
}

pub fn costs(advice: &Advice, store: &Candidate) -> Vec<String> {
    let describe = |(operation, latency): &(Operation, Summary)| {
        format!("{} {}", operation.name(), Unit::Nanoseconds.show(latency.mean.value))
    };
    let by_operation = match store.operations.as_slice() {
        [_, _, ..] => format!(": {}", store.operations.iter().map(describe).collect::<Vec<_>>().join(", ")),
        _ => String::new(),
    };
    let mut lines = vec![
        format!("{} an operation{by_operation}.", with_interval(&store.speed, Unit::Nanoseconds)),
        format!(
            "{} bytes on disk per byte of values; {} of memory at its peak, {}.",
            three_digits(store.space.mean.value),
            rough_bytes(store.memory.mean.value),
            advice.memory.describe(),
        ),
    ];
    if promises_more(advice, store) {
        lines.push(format!(
            "Its guarantee is {}, more than you asked for: it does not offer {}.",
            store.guarantee, advice.question.guarantee
        ));
    }
    lines
}

pub(super) fn with_interval(summary: &Summary, unit: Unit) -> String {
    let is_visible = |interval: &Interval| unit.show(interval.low) != unit.show(interval.high);
    let interval =
        summary.mean.interval.filter(|interval| summary.trials >= MIN_BLOCKS && is_visible(interval));
    format!("{}{}", unit.show(summary.mean.value), spread::describe_after(interval, |end| unit.show(end)))
}

/// The title of the first in the ranking: recommended only if trials show that it is the best, or as good.
pub fn leading_words(advice: &Advice) -> &'static str {
    match advice.verdict.ranking.get(1).map(|second| second.verdict) {
        _ if !advice.is_recommendation() => "Measured alone:",
        Some(Verdict::NotJudged(_)) => "Not judged, looked best:",
        Some(Verdict::Candidate(_)) => "Candidate:",
        _ => "Recommended:",
    }
}

/// How certain it is that no other store is better.
pub fn describe_confidence(advice: &Advice) -> String {
    let others = advice.verdict.ranking.get(1..).unwrap_or_default();
    let Some(second) = others.first() else { return describe_only_store(advice) };
    let (goal, cost) = (advice.question.goal, &advice.verdict.cost);
    let ratio = second.times_worse;
    let settled = ratio.is_some_and(|ratio| ratio.blocks >= MIN_BLOCKS);
    let tied = others.iter().filter(|other| matches!(other.verdict, Verdict::Tied(_)));
    let tied: Vec<String> = tied.map(|other| describe_tie(other, goal)).collect();
    if !tied.is_empty() {
        let why = match second.verdict {
            Verdict::Tied(Rule::Clock) => "They take less time than the clock can resolve",
            Verdict::Tied(Rule::Little) => "The difference is too little to matter",
            _ => "They are alike",
        };
        let next_step = match advice.is_clear(ALIKE) {
            true => format!("{why}: choose by safety, disk and ease."),
            false => cost.advice(ratio.as_ref()),
        };
        return format!("Too close to call with {}. {next_step}", tied.join(", "));
    }
    match ratio {
        Some(ratio) if matches!(second.verdict, Verdict::NotJudged(_)) => format!(
            "Not judged, as other programs left too few processors. {} is next: {}{}, {}. Ask again with nothing else running.",
            second.store,
            worse(goal, ratio.ratio.value),
            interval(&ratio),
            times_measured(ratio.blocks),
        ),
        Some(ratio) if settled && second.verdict.rule() == Some(Rule::Interval) => format!(
            "{} is next: {}{} ({:.0} % confidence{}, {} trials of each side by side).",
            second.store,
            worse(goal, ratio.ratio.value),
            interval(&ratio),
            CONFIDENCE * 100.0,
            match advice.verdict.looks {
                1 => String::new(),
                looks => format!(", allowing for {looks} interim analyses"),
            },
            ratio.blocks,
        ),
        Some(ratio) => format!(
            "Not very. {} is next: {}, but {}; an interval needs three. {}",
            second.store,
            worse(goal, ratio.ratio.value),
            times_measured(ratio.blocks),
            cost.advice(Some(&ratio)),
        ),
        None => {
            format!("{} was never measured together with it, so the two can't be compared.", second.store)
        }
    }
}

/// The answer once more in a line: the store, its time, and how sure that is.
pub fn closing(advice: &Advice) -> String {
    let [best, others @ ..] = advice.verdict.ranking.as_slice() else { return String::new() };
    let tied = others.iter().filter(|other| matches!(other.verdict, Verdict::Tied(_)));
    let tied: Vec<String> = tied.map(|other| name(advice, other)).collect();
    let next = |second: &Candidate, ratio: Ratio| {
        format!("{} is next, {}", second.store, worse(advice.question.goal, ratio.ratio.value))
    };
    let certainty = match others.first().map(|second| (second, second.verdict, second.times_worse)) {
        _ if !tied.is_empty() => format!("too close to call with {}", tied.join(", ")),
        None => lacking_rival(advice),
        Some((_, Verdict::NotJudged(_), _)) => {
            "not judged, as other programs left too few processors".to_owned()
        }
        Some((second, Verdict::Worse(Rule::Interval), Some(ratio))) => {
            format!("sure: {}", next(second, ratio))
        }
        Some((second, _, Some(ratio))) => {
            format!("not sure: {}, {}", next(second, ratio), times_measured(ratio.blocks))
        }
        Some((second, _, None)) => format!("not sure: {} was never measured together with it", second.store),
    };
    format!(
        "{} {} {}, {} an operation, guarantee {}; {certainty}.",
        leading_words(advice),
        name(advice, best),
        best.version,
        Unit::Nanoseconds.show(best.speed.mean.value),
        advice.question.guarantee,
    )
}

fn describe_only_store(advice: &Advice) -> String {
    let (verdict, lacking) = (&advice.verdict, lacking_rival(advice));
    match (verdict.given_up.len(), verdict.riskier.len()) {
        (0, 0) => {
            "No other store answers, so nothing was compared: these are its figures, not a recommendation."
                .into()
        }
        (0, _) => format!("Not ranked: {lacking}."),
        _ => format!("Not very: {lacking}. {}", verdict.cost.advice(None)),
    }
}

fn lacking_rival(advice: &Advice) -> String {
    let verdict = &advice.verdict;
    match (verdict.given_up.len(), verdict.riskier.as_slice()) {
        (0, []) => "there is no other answer to compare it with".to_owned(),
        (0, riskier) => {
            let named: Vec<&str> = riskier.iter().map(|store| store.store.as_str()).collect();
            format!("every other store that answers is riskier ({})", named.join(", "))
        }
        _ => "no other store that is as safe was measured as often".to_owned(),
    }
}

/// A store that is too close to call with the best, and the factor by which it seems worse.
fn describe_tie(store: &Candidate, goal: Goal) -> String {
    match store.times_worse {
        Some(ratio) if ratio.blocks >= MIN_BLOCKS => match interval(&ratio) {
            interval if interval.is_empty() => store.store.clone(),
            interval => format!("{} ({}{interval})", store.store, worse(goal, ratio.ratio.value)),
        },
        Some(ratio) => format!("{} ({})", store.store, times_measured(ratio.blocks)),
        None => store.store.clone(),
    }
}

pub(super) fn promises_more(advice: &Advice, store: &Candidate) -> bool {
    store.guarantee > advice.question.guarantee
}

/// A store's name, with its guarantee if that is stronger than asked for.
pub fn name(advice: &Advice, store: &Candidate) -> String {
    match promises_more(advice, store) {
        true => format!("{} ({})", store.store, store.guarantee),
        false => store.store.clone(),
    }
}

pub fn notes(advice: &Advice) -> Vec<String> {
    let ranking = &advice.verdict.ranking;
    let mut lines = Vec::new();
    let stronger = ranking.iter().filter(|store| promises_more(advice, store));
    let stronger: Vec<String> = stronger.map(|store| name(advice, store)).collect();
    if !stronger.is_empty() {
        lines.push(format!(
            "{}: gives more than {}, which it does not offer.",
            stronger.join(", "),
            advice.question.guarantee
        ));
    }
    lines.push(advice.memory.note().to_owned());
    lines.extend(little_memory(advice));
    lines.extend(little_disk(advice));
    lines
}

/// The ratio of a store to the first by the goal; `rank` is its position, from 0, and `tie` the words for too close to call.
pub fn describe_ratio(advice: &Advice, rank: usize, tie: &str) -> String {
    let label = |rank: usize| match advice.verdict.ranking.get(rank)?.verdict {
        Verdict::Tied(_) => Some(tie),
        Verdict::Candidate(_) => Some("candidate"),
        Verdict::NotJudged(_) => Some("not judged"),
        Verdict::Best | Verdict::Worse(_) | Verdict::GivenUp | Verdict::Dangerous => None,
    };
    let times = advice.verdict.ranking.get(rank).and_then(|store| store.times_worse);
    match (times.map(|times| three_digits(times.ratio.value)), label(rank)) {
        // With few trials the first is a candidate, too.
        _ if rank == 0 => label(1).filter(|label| *label != tie).unwrap_or("best").to_owned(),
        (None, _) => "–".to_owned(),
        (Some(times), Some(label)) => format!("{times}x ({label})"),
        (Some(times), None) => format!("{times}x"),
    }
}

fn little_memory(advice: &Advice) -> Option<String> {
    let is_little = |store: &Candidate| store.memory.mean.value < LITTLE_MEMORY;
    let has_little = advice.verdict.ranking.iter().any(is_little);
    has_little.then(|| {
        format!("Memory below {} counts as {0} wherever it is compared.", rough_bytes(LITTLE_MEMORY))
    })
}

fn little_disk(advice: &Advice) -> Option<String> {
    let values = advice.question.values_bytes();
    let is_little = |store: &Candidate| store.space.mean.value * values < LITTLE_DISK;
    let has_little = advice.verdict.ranking.iter().any(is_little);
    has_little.then(|| {
        format!("Room on disk below {} counts as {0} wherever it is compared.", rough_bytes(LITTLE_DISK))
    })
}

/// The figures in which a runner-up is worse, and those in which it is better.
pub fn trade(store: &Candidate) -> String {
    let part = |(goal, ratio): &(Goal, Option<Ratio>)| {
        let ratio = (*ratio)?;
        Some(format!("{}x{} {}", three_digits(ratio.ratio.value), interval(&ratio), goal_noun(*goal)))
    };
    let parts: Vec<String> = store.against_best.iter().filter_map(part).collect();
    let note = match &store.beaten_by {
        None => String::new(),
        Some(other) => format!("; {other} is at least as good in all three"),
    };
    let parts = if parts.is_empty() { "not comparable".into() } else { parts.join(", ") };
    format!("{}: {parts}{note}.", store.store)
}

fn goal_noun(goal: Goal) -> &'static str {
    match goal {
        Goal::Speed => "the time",
        Goal::Space => "the disk",
        Goal::Memory => "the memory",
        Goal::Balance => "all three",
    }
}

/// The riskier stores that are better by the goal: what each gains and risks; and the guarantee at which it is safe, if any.
pub fn riskier(advice: &Advice) -> Vec<String> {
    let better = advice.verdict.riskier.iter().filter(|store| gains(store.times_worse));
    let describe_store = |store: &Candidate| {
        let safe = match advice.safer.contains(&store.store) {
            true => " It is safe with --guarantee power.",
            false => "",
        };
        format!(
            "{}: {}. {}{safe}",
            store.store,
            describe_comparison(advice, store),
            describe_danger(advice, store)
        )
    };
    better.map(describe_store).collect()
}

/// The stores that don't answer, with reasons; also those that are riskier and gain nothing.
pub fn ruled_out(advice: &Advice) -> Vec<String> {
    let describe_store = |store: &Candidate| {
        let cost = store.danger.map_or("the whole store", |danger| danger.power_cut.describe());
        format!("{}: {}, and a power cut can cost {cost}", store.store, describe_comparison(advice, store))
    };
    let no_better =
        advice.verdict.riskier.iter().filter(|store| !gains(store.times_worse)).map(describe_store);
    no_better.chain(reasons(advice.verdict.out.iter().filter(|out| !out.unmeasured))).collect()
}

/// The stores whose only fault is that they were not measured, with reasons.
pub fn not_measured(advice: &Advice) -> Vec<String> {
    reasons(advice.verdict.out.iter().filter(|out| out.unmeasured))
}

/// The ratio of a store to the recommended one, its time, how often that was measured, and the number of records if another.
fn describe_comparison(advice: &Advice, store: &Candidate) -> String {
    let Some(ratio) = store.times_worse else { return "never measured together with it".into() };
    let records = store
        .looked_at
        .map_or_else(String::new, |records| format!(" with {}", plural(records.from, "record")));
    let trials = times_measured(ratio.blocks);
    let times = worse(advice.question.goal, ratio.ratio.value);
    format!("{times} ({}{records}), {trials}", Unit::Nanoseconds.show(store.speed.mean.value))
}

pub fn given_up(advice: &Advice, store: &Candidate) -> String {
    format!("{}: {}", name(advice, store), describe_comparison(advice, store))
}
