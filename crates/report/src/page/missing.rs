//! Figures that the page lacks, and warnings about the others.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use storebench_figures::column::COLUMNS;
use storebench_figures::data::builds;
use storebench_figures::data::contention;
use storebench_figures::data::matrix::Matrix;
use storebench_figures::data::merge::Merged;
use storebench_figures::data::saturation;
use storebench_figures::data::scope;
use storebench_figures::data::summary::{self, Lists};
use storebench_figures::judge::standing::ENOUGH_BLOCKS;
use storebench_figures::stats::MIN_BLOCKS;
use storebench_model::axis::table::HERE;
use storebench_model::cell::{Axis, Background, Cache, Cell, Data, Rate, Tuning};
use storebench_model::result::{DISK_GROWTH, Measurements, TrialResult};
use storebench_model::units::{plural, rough_ns, three_digits, with_commas};

use crate::markup::{Html, Tag, p, small, tag, titled};

const LISTED: usize = 40;
const GAPS: usize = 3;

/// The first facts for a reader: how little is behind the figures, and the main gaps.
pub fn first(merged: &Merged<'_>, warnings: &Warnings) -> Html {
    let mut lines: Vec<Html> = summary::unfinished(merged).into_iter().map(Html::new).collect();
    lines.extend(warnings.few.as_ref().map(|few| Html::new((&few.extent, ": a first impression."))));
    if warnings.others > 0 {
        lines.push(Html::new((to_missing(&plural(warnings.others, "warning")), " about these figures.")));
    }
    let alert = (!lines.is_empty()).then(|| p(Html::join(lines, " ")).class("alert soft"));
    let gaps: Vec<&str> = untried_axes(merged).into_iter().map(|(gap, _)| gap).collect();
    let gaps = (!gaps.is_empty()).then(|| {
        let first_gaps = gaps.iter().take(GAPS).copied().collect::<Vec<_>>().join("; ");
        p(("Not measured: ", first_gaps, ". ", to_missing("See all that is missing")))
    });
    Html::new((alert, gaps))
}

fn to_missing(text: &str) -> Tag {
    tag("a").attr("href", "#go=missing").with(text)
}

pub fn html(merged: &Merged<'_>, matrices: &[Option<Matrix>], warnings: &Warnings) -> Html {
    let missing = summary::missing_figures(merged, matrices.iter().flatten());
    let unfinished = summary::unfinished(merged).into_iter().map(|line| p(line).class("alert soft"));
    let unknown = unknown_figures(merged);
    let (nowhere, partly): (Vec<&Unknown<'_>>, Vec<_>) =
        unknown.iter().partition(|unknown| unknown.is_everywhere());
    let describe_all =
        |unknown: Vec<&Unknown<'_>>| unknown.into_iter().map(Unknown::describe).collect::<Vec<_>>();
    Html::new((
        (p(summary::counts(merged)), unfinished.collect::<Vec<_>>()),
        titled("Warnings", warnings.lines.clone()),
        titled("What the figures mean", scope::notes(merged)),
        lists("Failed trials", "trials", &missing.failed),
        lists("Unsupported", "trials", &missing.unsupported),
        (
            lists("Left out", "combinations", &missing.left_out),
            lists("Not run", "combinations", &missing.not_run),
        ),
        titled("Unknown in some trials", describe_all(partly)),
        titled("Not measured in this run", [not_measured(merged), describe_all(nowhere)].concat()),
    ))
}

fn lists(title: &str, unit: &str, lists: &Lists) -> Option<(Tag, Tag)> {
    let mut items: Vec<Html> = lists
        .iter()
        .take(LISTED)
        .map(|(kind, list)| match (list.times, list.example.as_str()) {
            (_, "") => Html::new(kind),
            (1, example) => Html::new((kind, " ", small(("(", example, ")")))),
            (times, example) => {
                let times = format!("({} {unit}; first: {example})", with_commas(times as u64));
                Html::new((kind, " ", small(times)))
            }
        })
        .collect();
    if lists.len() > LISTED {
        let more = with_commas((lists.len() - LISTED) as u64);
        items.push(Html::new(format!("and {more} more kinds, in the data")));
    }
    titled(title, items)
}

fn trials<'a>(merged: &'a Merged<'_>) -> impl Iterator<Item = &'a TrialResult> {
    merged.runs.iter().flat_map(|run| &run.trials)
}

fn measurements<'a>(merged: &'a Merged<'_>) -> impl Iterator<Item = &'a Measurements> {
    trials(merged).filter_map(TrialResult::ok)
}

pub struct Warnings {
    lines: Vec<String>,
    /// Whether there are too few trials to know the scatter of figures.
    few: Option<FewTrials>,
    others: usize,
}

impl Warnings {
    pub fn new(merged: &Merged<'_>) -> Warnings {
        let noise = summary::cut_off(summary::noise_lines(merged), "signs of noise");
        let rest = [
            contention::describe_contention(merged),
            saturation::describe_saturation(merged),
            summary::cut_off(summary::warning_lines(merged), "warnings"),
            builds::not_ranked(merged),
            machine_warnings(merged),
        ]
        .concat();
        let others = noise.len() + rest.len();
        let few = few_trials(merged);
        let few_line = few.as_ref().map(|few| format!("{}: {}", few.extent, few.consequence));
        Warnings { lines: noise.into_iter().chain(rest).chain(few_line).collect(), few, others }
    }
}

/// Cells with fewer trials than an interval needs.
struct FewTrials {
    extent: String,
    consequence: String,
}

fn few_trials(merged: &Merged<'_>) -> Option<FewTrials> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for group in &merged.groups {
        let mut cells: BTreeMap<&Cell, usize> = BTreeMap::new();
        for cell in group.trials.iter().filter(|e| e.trial.ok().is_some()).map(|e| &e.trial.cell) {
            *cells.entry(cell).or_default() += 1;
        }
        cells.into_values().for_each(|trials| *counts.entry(trials).or_default() += 1);
    }
    let cell_count: usize = counts.values().sum();
    let few_count: usize = counts.range(..MIN_BLOCKS).map(|(_, cells)| cells).sum();
    let (fewest, _) = counts.first_key_value()?;
    if few_count == 0 {
        return None;
    }
    let extent = match (*fewest, few_count == cell_count && counts.len() == 1) {
        (1, true) => "One trial of each cell".to_owned(),
        (trials, true) => format!("{trials} trials of each cell"),
        _ => format!(
            "{} of {} cells have fewer than {MIN_BLOCKS} trials",
            with_commas(few_count as u64),
            with_commas(cell_count as u64)
        ),
    };
    let consequence = if *fewest < 2 && few_count == cell_count {
        "how much figures vary is unknown, so that every store is a candidate".to_owned()
    } else {
        format!(
            "with fewer than {ENOUGH_BLOCKS} shared blocks, stores are told apart by how far trials of the same cells lie apart in \
             the whole run"
        )
    };
    Some(FewTrials { extent, consequence })
}

fn machine_warnings(merged: &Merged<'_>) -> Vec<String> {
    let mut warnings: Vec<String> = Vec::new();
    for run in merged.runs {
        let cores = run.header.environment.cores;
        let is_busy = |trial: &&TrialResult| trial.load_1min.is_some_and(|load| load > f64::from(cores));
        let busy = run.trials.iter().filter(is_busy).count();
        if busy > 0 {
            warnings.push(format!(
                "{}: {busy} of {} trials began with a load average above the number of processors ({cores}), which the run itself may have caused",
                run.header.hardware,
                run.trials.len()
            ));
        }
        let creation: Vec<f64> =
            run.trials.iter().filter_map(|trial| trial.file_creation_ns).map(|ns| ns as f64).collect();
        let (low, high) =
            creation.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), ns| (l.min(*ns), h.max(*ns)));
        if high > 5.0 * low {
            warnings.push(format!(
                "{}: making an empty file took from {} to {} before the trials: the file system was not equally fast throughout",
                run.header.hardware,
                rough_ns(low),
                rough_ns(high)
            ));
        }
    }
    let loads = trials(merged).filter_map(|trial| trial.background.as_ref());
    let idle = loads.filter(|load| load.at_work_share < 0.99).count();
    if idle > 0 {
        warnings.push(format!("The background load paused during {idle} trials"));
    }
    let shared = measurements(merged).filter_map(|m| m.device.as_ref()).filter(|device| device.shared);
    let idle_rate = shared.filter_map(|device| device.idle_written_bytes_per_s).reduce(f64::max);
    if let Some(rate) = idle_rate.filter(|rate| *rate > 0.0) {
        warnings.push(format!(
            "The device's traffic is the whole disk's; others wrote up to {} MB/s in the idle intervals before the trials",
            three_digits(rate / 1e6)
        ));
    }
    warnings
}

/// Axes of the runs' workloads with only the default measured: what other values would have shown, and the axis.
fn untried_axes(merged: &Merged<'_>) -> Vec<(&'static str, String)> {
    type Gap = (Axis, fn(&Cell) -> bool, &'static str, &'static str);
    let gaps: [Gap; 8] = [
        (Axis::BACKGROUND, |c| c.background() != Background::None, "figures during a background load", ""),
        (Axis::THREADS, |c| c.threads() > 1, "several threads", ""),
        (Axis::CACHE, |c| c.cache() == Cache::Cold, "reads of data that is not in memory", ": cold"),
        (Axis::RATE, |c| c.rate() != Rate::Closed, "latency at a fixed rate, which shows stalls", ""),
        (Axis::TUNING, |c| c.tuning() == Tuning::Equal, "caches of one size for all engines", ": equal"),
        (Axis::MACHINE, |c| c.machine() != HERE, "figures under the limits of a smaller machine", ""),
        (Axis::DATA, |c| c.data() == Data::Incompressible, "incompressible data", ""),
        (Axis::DATA, |c| c.data() == Data::Compressible, "compressible data", ""),
    ];
    let axes = merged.layout.axes();
    let is_untried = |(axis, is_tried, ..): &Gap| {
        axes.contains(axis) && !trials(merged).any(|trial| is_tried(&trial.cell))
    };
    let untried = gaps.into_iter().filter(is_untried);
    untried.map(|(axis, _, gap, value)| (gap, format!("{axis}{value}"))).collect()
}

fn not_measured(merged: &Merged<'_>) -> Vec<String> {
    let mut lines: Vec<String> =
        untried_axes(merged).into_iter().map(|(gap, axis)| format!("{gap} (axis {axis})")).collect();
    let operations = || measurements(merged).flat_map(|m| &m.operations);
    if !operations().any(|o| !o.series.is_empty()) {
        lines.push("second by second (operations were too short, or not recorded so)".into());
    }
    // A single round is not expected to have figures by round.
    let rounds = measurements(merged).any(|measured| !measured.rounds.is_empty());
    for column in COLUMNS.iter().filter(|column| rounds || column.id != DISK_GROWTH) {
        let is_known = match column.is_of_operation() {
            true => operations().any(|operation| column.operation_value(operation).is_some()),
            false => measurements(merged).any(|measured| column.trial_value(measured).is_some()),
        };
        if !is_known {
            lines.push(format!("{} ({})", column.title, column.id));
        }
    }
    lines
}

/// A figure that is unknown in some or all trials, with the reason.
struct Unknown<'a> {
    figure: &'a str,
    reason: &'a str,
    times: usize,
    /// Trials in which anything was measured.
    trials: usize,
    /// The place of all trials without it, if others are elsewhere.
    place: Option<&'a str>,
}

impl Unknown<'_> {
    fn is_everywhere(&self) -> bool {
        self.times == self.trials
    }

    fn describe(&self) -> String {
        let Unknown { figure, reason, times, trials, place } = self;
        if self.is_everywhere() {
            return format!("{figure}: {reason}");
        }
        let place = place.map_or_else(String::new, |place| format!(" (place {place})"));
        let (times, trials) = (with_commas(*times as u64), with_commas(*trials as u64));
        format!("{figure}: unknown in {times} of {trials} trials{place}: {reason}")
    }
}

fn unknown_figures<'a>(merged: &'a Merged<'_>) -> Vec<Unknown<'a>> {
    let mut counts: IndexMap<(&str, &str), (usize, BTreeSet<&str>)> = IndexMap::new();
    let mut places: BTreeSet<&str> = BTreeSet::new();
    let mut trial_count = 0;
    for trial in trials(merged) {
        let Some(measured) = trial.ok() else { continue };
        trial_count += 1;
        places.insert(trial.cell.location_name());
        for unknown in &measured.unknown {
            let (times, at) = counts.entry((&unknown.figure, &unknown.reason)).or_default();
            *times += 1;
            at.insert(trial.cell.location_name());
        }
    }
    let unknown = |((figure, reason), (times, at)): ((&'a str, &'a str), (usize, BTreeSet<&'a str>))| {
        let place = at.first().copied().filter(|_| at.len() == 1 && places.len() > 1);
        Unknown { figure, reason, times, trials: trial_count, place }
    };
    counts.into_iter().map(unknown).collect()
}

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_samples::{Sample, blocks, run};

    use super::*;

    fn page(run: Run) -> (String, String) {
        let runs = [run];
        let merged = Merged::new(&runs, &[]);
        let warnings = Warnings::new(&merged);
        let (above, below) = (first(&merged, &warnings), html(&merged, &[], &warnings));
        (above.as_str().into(), below.as_str().into())
    }

    #[test]
    fn a_single_trial_is_called_a_first_impression() {
        let mut once = run("box", &[Sample::new("lmdb"), Sample::new("redb")]);
        once.trials[1].load_1min = Some(9.0);
        let (above, _) = page(once);
        assert!(above.contains("One trial of each cell: a first impression."), "{above}");
        assert!(above.contains("<a href=\"#go=missing\">2 warnings</a>"), "{above}");
        assert!(above.contains("Not measured: figures during a background load; several threads; reads"));
    }

    #[test]
    fn cells_with_few_trials_are_counted_one_by_one() {
        let pair = vec![Sample::new("lmdb"), Sample::new("redb")];
        let (above, below) = page(blocks("box", &[pair.clone(), pair.clone(), vec![Sample::new("lmdb")]]));
        for text in [above, below] {
            assert!(text.contains("1 of 2 cells have fewer than 3 trials"), "{text}");
        }
        let (above, _) = page(blocks("box", &[pair.clone(), pair.clone(), pair]));
        assert!(!above.contains("trials"), "{above}");
    }

    #[test]
    fn what_some_trials_know_is_not_called_unmeasured() {
        let mut run = run("box", &[Sample::new("lmdb"), Sample::new("lmdb").place("ssd")]);
        let unknown = |figure: &str| storebench_model::result::UnknownFigure {
            figure: figure.into(),
            reason: "none".into(),
        };
        for trial in &mut run.trials {
            let measured = trial.measured.as_mut().unwrap();
            measured.unknown.push(unknown("syncs"));
            if trial.cell.location_name() == "ssd" {
                measured.unknown.push(unknown("device"));
            }
        }
        let (_, below) = page(run);
        let (_, nowhere) = below.split_once("Not measured in this run").unwrap();
        assert!(below.contains("device: unknown in 1 of 2 trials (place ssd): none"), "{below}");
        assert!(nowhere.contains("syncs: none") && !nowhere.contains("device: "), "{nowhere}");
    }
}
