//! The sentences of an answer, for terminal and page alike.

use storebench_core::workload::operation::Operation;
use storebench_figures::column::Unit;
use storebench_figures::data::spread;
use storebench_figures::judge::contention::Contention;
use storebench_figures::judge::interim::ALIKE;
use storebench_figures::judge::settings::Verdict;
use storebench_figures::stats::{CONFIDENCE, Estimate, Interval, MIN_BLOCKS, Ratio};
use storebench_model::units::{plural, rough_bytes, three_digits};

use super::search::Change;
use super::worth::ValueWorth;
use super::{Gain, Side, TunedSettings};
use crate::advice::question::Goal;
use crate::advice::ratios::{better, interval};

/// A bound on possible savings beyond this share is not reported.
const LOOSE: f64 = 0.5;

/// `page_size = 8192 (default: 4096)`.
pub fn change(tuned: &TunedSettings, change: &Change) -> String {
    let worth_of_setting = tuned.worth.iter().find(|worth| worth.change.setting == change.setting);
    let default = worth_of_setting.map_or(String::new(), |worth| format!(" (default: {})", worth.default));
    let cost = tuned.worth.iter().find(|worth| worth.change == *change).map_or("", |worth| worth.cost);
    let cost = if cost.is_empty() { String::new() } else { format!("; {cost}") };
    format!("{} = {}{default}{cost}", change.setting, change.value)
}

pub fn leading_line(tuned: &TunedSettings) -> String {
    let (store, version) = &tuned.store;
    match tuned.changes() {
        Some(_) => format!("Change these settings of {store} {version}:"),
        None if tuned.is_open() => {
            format!(
                "Not known whether other settings of {store} {version} are faster: keep the default for now."
            )
        }
        None => format!("Keep the default settings of {store} {version}."),
    }
}

pub fn gain(tuned: &TunedSettings) -> Vec<String> {
    let nothing = || "No value that was tried looked better than the default.".to_owned();
    let mut lines = match (tuned.changes(), &tuned.gain) {
        (None, _) if tuned.contention.is_some() => describe_contention(tuned),
        (Some(gain), _) => describe_gain(tuned, gain),
        (None, gain) => {
            let outcome = gain.as_ref().map_or_else(nothing, describe_no_gain);
            vec![outcome, describe_bound(tuned), describe_too_few(tuned)]
        }
    };
    lines.retain(|line| !line.is_empty());
    lines
}

/// Why nothing is reported if other programs left too few processors.
fn describe_contention(tuned: &TunedSettings) -> Vec<String> {
    let words = |load: &Contention| {
        format!(
            "{}: times say as much of these as of settings. Tune again with nothing else running.",
            load.describe()
        )
    };
    tuned.contention.iter().map(words).collect()
}

fn describe_gain(tuned: &TunedSettings, gain: &Gain) -> Vec<String> {
    let [default, chosen] = &gain.figures;
    let time = |side: &Side| Unit::Nanoseconds.show(side.time_ns);
    let mut lines = Vec::new();
    if let Some(why) = &tuned.default_out {
        lines.push(format!("The default can't be taken: it {why}."));
    }
    lines.push(format!(
        "{}: an operation takes {} instead of {}.",
        faster(&gain.times),
        time(chosen),
        time(default)
    ));
    lines.push(describe_proof(gain));
    let describe = |(operation, ratio): &(Operation, Option<Ratio>)| {
        Some(format!("{} {}", operation.name(), faster(ratio.as_ref()?)))
    };
    let by_operation: Vec<String> = gain.operations.iter().filter_map(describe).collect();
    if by_operation.len() > 1 {
        lines.push(format!("By operation: {}.", by_operation.join(", ")));
    }
    lines.push(format!(
        "{} bytes on disk per byte of values, by default {}; {} of memory at its peak {}, by default {}.",
        three_digits(chosen.space),
        three_digits(default.space),
        rough_bytes(chosen.memory_bytes),
        tuned.memory.describe(),
        rough_bytes(default.memory_bytes),
    ));
    lines.push(describe_safety(tuned));
    lines
}

fn describe_proof(gain: &Gain) -> String {
    let looks = gain.looks;
    let looks = if looks > 1 { format!(", allowing for {looks} interim analyses") } else { String::new() };
    if gain.times.blocks < MIN_BLOCKS {
        return format!(
            "Measured again against the default only {}: an interval needs three. A longer --budget gives it.",
            if gain.times.blocks == 1 { "once" } else { "twice" }
        );
    }
    format!(
        "{:.0} % confidence, from {} fresh pairs of trials that took no part in the choice{looks}.",
        CONFIDENCE * 100.0,
        gain.times.blocks
    )
}

fn describe_no_gain(gain: &Gain) -> String {
    let changes: Vec<String> =
        gain.changes.iter().map(|change| format!("{}={}", change.setting, change.value)).collect();
    let changes = changes.join(" ");
    if let Some(why) = &gain.out {
        return format!("What looked best ({changes}) can't be taken: {why}.");
    }
    let outcome = match Verdict::judge(&gain.times) {
        Verdict::Alike => format!("no difference beyond {:.0} %", ALIKE * 100.0),
        Verdict::Slower => "it is slower".into(),
        _ => "whether it is faster is not known".into(),
    };
    format!(
        "What looked best ({changes}) was measured again: {outcome}, {}. {}",
        times(&gain.times),
        describe_proof(gain)
    )
}

fn describe_bound(tuned: &TunedSettings) -> String {
    let interval =
        |worth: &ValueWorth| worth.times.filter(|times| times.blocks >= MIN_BLOCKS)?.ratio.interval;
    let measured: Vec<Interval> =
        tuned.worth.iter().filter(|worth| worth.out.is_none()).filter_map(interval).collect();
    let lowest = measured.iter().map(|interval| interval.low).min_by(f64::total_cmp);
    match lowest.map(|low| 1.0 - low).filter(|most| *most < LOOSE) {
        Some(most) => {
            let subject = match measured.len() {
                1 => "the one value that was measured saves no".to_owned(),
                several => format!("none of the {several} values that were measured saves"),
            };
            format!(
                "With {:.0} % confidence {subject} more than {:.0} % of the time alone.",
                CONFIDENCE * 100.0,
                (most.max(0.0) * 100.0).ceil()
            )
        }
        None => String::new(),
    }
}

fn describe_too_few(tuned: &TunedSettings) -> String {
    let usable = tuned.worth.iter().filter(|worth| worth.out.is_none());
    let few = usable.filter(|worth| worth.times.is_none_or(|times| times.blocks < MIN_BLOCKS)).count();
    match few {
        0 => String::new(),
        1 => "One value was measured less than three times: a longer --budget may find more.".into(),
        few => format!("{few} values were measured less than three times: a longer --budget may find more."),
    }
}

pub fn describe_safety(tuned: &TunedSettings) -> String {
    let Some(promise) = tuned.promise else { return String::new() };
    let danger = promise.danger.map_or_else(String::new, |danger| format!(" {danger}"));
    let asked = tuned.question.guarantee;
    let more = match promise.guarantee > asked {
        true => format!(", more than you asked for: it does not offer {asked}"),
        false => String::new(),
    };
    let subject = match tuned.changes() {
        Some(_) => "They promise what the default does: guarantee",
        None => "Guarantee",
    };
    format!("{subject} {}{more}.{danger}", promise.guarantee)
}

/// `1.42x faster [1.35, 1.49]`, from a ratio of times.
pub fn faster(times: &Ratio) -> String {
    let turned = Ratio {
        blocks: times.blocks,
        ratio: Estimate {
            value: 1.0 / times.ratio.value,
            interval: times.ratio.interval.map(|i| Interval { low: 1.0 / i.high, high: 1.0 / i.low, ..i }),
        },
    };
    let shown = if turned.ratio.value >= 1.0 { &turned } else { times };
    format!("{}{}", better(Goal::Speed, turned.ratio.value), interval(shown))
}

/// `×0.70 [0.67, 0.74]`: times the default's time.
pub fn times(times: &Ratio) -> String {
    let interval = spread::describe_after(times.ratio.interval, three_digits);
    format!("×{}{interval}", three_digits(times.ratio.value))
}

pub fn worth_words(worth: &ValueWorth) -> &'static str {
    match worth.verdict() {
        _ if worth.out.is_some() => "not taken",
        _ if worth.times.is_none() => "not reached",
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Alike | Verdict::Open if worth.unfilled => "never full",
        Verdict::Alike => "no difference",
        Verdict::Open => "not settled",
    }
}

pub fn mattered(tuned: &TunedSettings) -> Vec<String> {
    let measured: Vec<&ValueWorth> = tuned.worth.iter().filter(|worth| worth.out.is_none()).collect();
    let settings = |is_wanted: &dyn Fn(&[&ValueWorth]) -> bool| -> Vec<String> {
        let groups = measured.chunk_by(|a, b| a.change.setting == b.change.setting);
        groups.filter(|group| is_wanted(group)).map(|group| group[0].change.setting.clone()).collect()
    };
    let has_effect = |group: &[&ValueWorth]| {
        group.iter().any(|worth| matches!(worth.verdict(), Verdict::Faster | Verdict::Slower))
    };
    let is_unfilled = |group: &[&ValueWorth]| !has_effect(group) && group.iter().all(|worth| worth.unfilled);
    let is_alike = |group: &[&ValueWorth]| {
        !is_unfilled(group) && group.iter().all(|worth| worth.verdict() == Verdict::Alike)
    };
    let is_open = |group: &[&ValueWorth]| !has_effect(group) && !is_alike(group) && !is_unfilled(group);
    let line = |title: &str, names: Vec<String>| {
        (!names.is_empty()).then(|| format!("{title}: {}.", names.join(", ")))
    };
    let percent = format!("{:.0} %", ALIKE * 100.0);
    [
        line("Mattered", settings(&has_effect)),
        line(&format!("Made no difference beyond {percent}"), settings(&is_alike)),
        line("Not known", settings(&is_open)),
        line("Could not matter, as the work never filled it", settings(&is_unfilled)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub const WORTH_NOTE: &str = "Each value alone: times the default's mean time of an operation, paired by block; below ×1 is \
    faster. The intervals are 95 % for the whole table together, and allow for every look.";

pub fn not_taken(tuned: &TunedSettings) -> Vec<String> {
    let format_value = |worth: &ValueWorth| {
        let why = worth.out.as_ref()?;
        Some(format!("{}={}: {}", worth.change.setting, worth.change.value, why.trim_end_matches('.')))
    };
    tuned.worth.iter().filter_map(format_value).collect()
}

pub fn describe_tried(tuned: &TunedSettings) -> Vec<String> {
    let tried = &tuned.tried;
    let (size, records) = tuned.records;
    let location = tuned.place.as_ref().map_or_else(String::new, |location| {
        let file_system = location.file_system.as_deref().unwrap_or("unknown file system");
        format!(", in {} ({file_system})", location.path)
    });
    let mut lines = vec![format!(
        "{} and {} in {}, on {}{location}; {} of {}.",
        plural(tried.values, "single value"),
        plural(tried.combinations, "combination"),
        plural(tried.trials, "trial"),
        tuned.hardware,
        plural(records.from, "record"),
        size.describe(),
    )];
    if records.from != tuned.question.records {
        lines.push(format!(
            "You asked for {}; results may differ at that size.",
            plural(tuned.question.records, "record")
        ));
    }
    lines
}

pub fn describe_elsewhere(tuned: &TunedSettings) -> Vec<String> {
    let Some(gain) = tuned.changes() else { return Vec::new() };
    let ends = [(gain.elsewhere.fewer_gets, "fewer"), (gain.elsewhere.more_gets, "more")];
    let describe = |(share, word): (Option<f64>, &str)| {
        let percent = share? * 100.0;
        Some(format!("With {percent:.0} % gets or {word} the default is faster, by the same trials."))
    };
    let mut lines: Vec<String> = ends.into_iter().filter_map(describe).collect();
    let is_mixed = gain.operations.len() > 1 && tuned.question.reads();
    if is_mixed && lines.is_empty() {
        lines.push("With no other share of gets is the default faster, by the same trials.".into());
    }
    lines.extend(gain.elsewhere.records.iter().map(|((size, records), ratio)| {
        let outcome = match Verdict::judge(ratio) {
            Verdict::Faster => "still a gain",
            Verdict::Slower => "a loss",
            Verdict::Alike => "no difference",
            Verdict::Open => "not settled",
        };
        format!(
            "With {} of {}: {outcome}, {}.",
            plural(records.from, "record"),
            size.describe(),
            faster(ratio)
        )
    }));
    if gain.elsewhere.records.is_empty() {
        lines.push(
            "There was no time for other sizes and numbers of records; a longer --budget gives it.".into(),
        );
    }
    lines
}

pub fn settings(tuned: &TunedSettings) -> String {
    if tuned.described.is_empty() { "All as shipped.".into() } else { tuned.described.join("; ") }
}
