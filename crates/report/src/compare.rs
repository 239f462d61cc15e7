//! Compares two runs, or two sets of runs: what changed, by how much, and how far that can be believed (docs/compare.md). Runs of different
//! times share no blocks: each figure of a cell is a set of observations on either side, which [`storebench_figures::stats::unpaired`] compares.

pub mod across;
mod cells;
mod changes;
pub mod html;
pub mod json;
pub mod markdown;
pub mod run_differences;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod words;

use indexmap::IndexMap;
use serde::Serialize;
use storebench_model::cell::{Axis, Cell};
use storebench_model::store::Guarantee;

use self::across::Across;
pub use self::cells::{BrokenCell, Observations, OneSidedCell, SettingChange, Side};
use self::cells::{Cells, ObservedCell};
use storebench_figures::column::{Better, COLUMNS, Column, Unit};
pub use storebench_figures::judge::change::Verdict;
use storebench_figures::judge::change::{self, ChangedFigure, is_coarse};
use storebench_figures::layout::Layout;
use storebench_figures::stats::unpaired::{self, Change, change_of_ratios, ratio_of_pair};
use storebench_figures::stats::{Summary, geometric_mean};

/// The figures that are compared by default: what an application notices. Throughput is left out as the inverse of the mean latency: a
/// second test of the same figure would only weaken the first.
pub const FIGURES: [&str; 5] =
    ["latency_mean", "latency_p99", "load_time", "disk_allocated", "memory_peak_above_base"];

/// The columns that can be compared: one direction is good.
pub fn comparable() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.better != Better::Neither)
}

/// One figure of one cell, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureChange {
    /// The cell.
    pub cell: Cell,
    /// The name in the ranking: its store's, unless something else is compared.
    #[serde(skip)]
    pub contestant: String,
    /// The tier given, on both sides.
    pub guarantee: Guarantee,
    /// The operation; `None` for figures of whole trials.
    pub operation: Option<String>,
    /// The column's id.
    pub figure: &'static str,
    /// The column's name for people.
    #[serde(skip)]
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The figure in BASE.
    pub base: Summary,
    /// The figure in NEW.
    pub new: Summary,
    /// NEW over BASE; `None` if a value is zero.
    pub change: Option<Change>,
    /// Pairs of trials of one seed, whose ratios show the change; 0 if the sides are compared as they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub pairs: usize,
    /// The chance of such a change if nothing changed, adjusted for the number of figures, so that all hold at once.
    pub p_adjusted: Option<f64>,
    /// Whether both sides together have two values at most, so that it may be constant within a side by chance.
    #[serde(skip)]
    pub is_coarse: bool,
    /// The smallest increase of NEW that would be marked, as a share, given the scatter of these observations; `None` if none could be.
    pub detectable: Option<f64>,
    /// The verdict that the figures allow.
    pub verdict: Verdict,
    /// The smallest change within the interval, as a logarithm: 0 if the interval includes none, or there is no interval.
    pub weight: f64,
}

impl FigureChange {
    /// Whether the change is marked.
    pub fn is_significant(&self) -> bool {
        self.verdict.is_change()
    }

    /// Whether it is worse by more than a share: see [`Verdict::is_worse_by_more_than`].
    pub fn is_worse_by_more_than(&self, share: f64) -> bool {
        self.verdict.is_worse_by_more_than(share, self.weight)
    }

    fn distance(&self) -> f64 {
        self.change.map_or(0.0, |change| change.ratio.value.ln().abs())
    }
}

/// The mean latencies of a store, or of another contestant, together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoreChange {
    /// The store's name.
    pub store: String,
    /// Mean latencies that were measured on both sides: one for each cell and operation.
    pub figures: usize,
    /// The geometric mean of NEW over BASE.
    pub ratio: f64,
}

/// All changes from one side to the other.
#[derive(Debug, Serialize)]
pub struct Comparison<'a> {
    #[serde(skip)]
    pub(crate) base: Side<'a>,
    #[serde(skip)]
    pub(crate) new: Side<'a>,
    #[serde(skip)]
    pub(crate) layout: Layout,
    /// The kind of one observation: a trial or a run.
    pub observations: Observations,
    /// The figures: significant changes first, then by weight, then by size.
    pub figures: Vec<FigureChange>,
    /// The same for the harness's own stores, if both sides ran them: their changes come from the machine or storebench.
    pub(crate) controls: Vec<FigureChange>,
    /// Mean latencies by store.
    pub stores: Vec<StoreChange>,
    /// Cells that BASE measured and NEW can't run, or failed more often.
    pub broken: Vec<BrokenCell>,
    pub(crate) only: Vec<OneSidedCell>,
    /// Figures that only one side has, of cells that both measured.
    pub(crate) one_sided: usize,
    /// The axes across which unequal cells are compared; empty if cells are compared with themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) across: Vec<Across>,
    /// Differences between the runs themselves.
    pub differences: Vec<run_differences::Difference>,
    pub(crate) versions: Vec<run_differences::Versions>,
    pub(crate) settings: Vec<SettingChange>,
}

impl<'a> Comparison<'a> {
    /// Compares the figures of `columns` in all cells that both sides measured; the sides are already narrowed to values `across` an axis.
    pub fn new(
        base: Side<'a>,
        new: Side<'a>,
        columns: &[&'static Column],
        harness: &[&str],
        across: &[Across],
    ) -> Comparison<'a> {
        let one_tier = across.iter().all(|across| across.axis != Axis::GUARANTEE);
        let one_engine = across.iter().all(|across| across.axis != Axis::STORE);
        let cells = Cells::new(base.runs, new.runs, one_tier);
        let layout = Layout::from_runs(base.runs.iter().chain(new.runs));
        let observations = Observations::for_runs(base.runs, new.runs);
        let mut one_sided = 0;
        let mut figures = Vec::new();
        for observed in cells.cells_of_both() {
            for (operation, column) in observed.figures(columns) {
                match figure(&layout, observed, operation, column, observations) {
                    Some(figure) => figures.push(figure),
                    None => one_sided += 1,
                }
            }
        }
        let (mut controls, mut figures): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(|figure| harness.contains(&figure.cell.store()));
        let stores = by_store(&figures);
        judge(&mut controls);
        judge(&mut figures);
        Comparison {
            observations,
            layout,
            stores,
            broken: cells.broken(),
            only: cells.one_sided_cells(),
            one_sided,
            across: across.to_vec(),
            differences: run_differences::differences(base.runs, new.runs, across),
            versions: run_differences::versions(base.runs, new.runs),
            settings: if one_engine { cells.settings() } else { Vec::new() },
            figures,
            controls,
            base,
            new,
        }
    }

    /// Figures that were tested for a significant change.
    pub fn tested(&self) -> usize {
        self.figures.iter().filter(|figure| figure.change.is_some_and(|change| change.p.is_some())).count()
    }

    /// Figures that are constant on both sides, with enough observations to call a difference a change.
    pub fn exact(&self) -> usize {
        self.figures.iter().filter(|figure| figure.change.is_some_and(|change| change.is_exact())).count()
    }

    /// The cells that only one side measured, except those reported as broken.
    pub fn told_as_only(&self) -> impl Iterator<Item = &OneSidedCell> {
        let is_broken = |cell: &OneSidedCell| self.broken.iter().any(|broken| broken.cell == cell.cell);
        self.only.iter().filter(move |cell| cell.side != "BASE" || !is_broken(cell))
    }

    /// Figures with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures.iter().filter(|figure| figure.verdict == verdict).count()
    }

    /// Figures in which a change by this share could go unnoticed, the worst first.
    pub fn blind_to(&self, share: f64) -> Vec<&FigureChange> {
        let detectable = |figure: &FigureChange| figure.detectable.unwrap_or(f64::INFINITY);
        let is_unnoticed = |figure: &&FigureChange| !figure.is_significant() && detectable(figure) > share;
        let mut unnoticed: Vec<&FigureChange> = self.figures.iter().filter(is_unnoticed).collect();
        unnoticed.sort_by(|a, b| detectable(b).total_cmp(&detectable(a)));
        unnoticed
    }

    /// Figures that are worse by more than a share: see [`FigureChange::is_worse_by_more_than`].
    pub fn worse_by_more_than(&self, share: f64) -> Vec<&FigureChange> {
        self.figures.iter().filter(|figure| figure.is_worse_by_more_than(share)).collect()
    }
}

fn figure(
    layout: &Layout,
    observed: &ObservedCell<'_>,
    operation: Option<&str>,
    column: &'static Column,
    observations: Observations,
) -> Option<FigureChange> {
    let [base, new] = observed.values(operation, column, observations);
    // Equal work makes equal requests to a disk: differences between blocks are on both sides.
    let pairs = if column.counts_requests { observed.pairs(operation, column) } else { Vec::new() };
    let ratios: Vec<f64> = pairs.into_iter().map(ratio_of_pair).collect();
    let (change, is_coarse) = match ratios.is_empty() {
        true => (unpaired::change(&base, &new), is_coarse(base.iter().chain(&new))),
        false => (change_of_ratios(&ratios), is_coarse([1.0].iter().chain(&ratios))),
    };
    let weight = change.and_then(|change| change.ratio.interval).map_or(0.0, |interval| {
        // Positive if the interval is above or below 1: the distance of its nearer end.
        interval.low.ln().max(-interval.high.ln()).max(0.0)
    });
    Some(FigureChange {
        cell: observed.cell.clone(),
        contestant: layout.contestant(observed.cell).into_owned(),
        guarantee: observed.tier,
        operation: operation.map(str::to_owned),
        figure: column.id,
        title: column.title,
        unit: column.unit,
        better: column.better,
        base: Summary::from_values(&base)?,
        new: Summary::from_values(&new)?,
        change,
        p_adjusted: None,
        pairs: ratios.len(),
        is_coarse,
        detectable: None,
        verdict: Verdict::Unclear,
        weight,
    })
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Decides on each figure, given their number, and sorts by importance.
fn judge(figures: &mut [FigureChange]) {
    let to_changed = |figure: &FigureChange| ChangedFigure {
        change: figure.change,
        is_coarse: figure.is_coarse,
        better: figure.better,
    };
    let changed: Vec<ChangedFigure> = figures.iter().map(to_changed).collect();
    for (figure, judged) in figures.iter_mut().zip(change::judge(&changed)) {
        figure.verdict = judged.verdict;
        figure.p_adjusted = judged.p_adjusted;
        figure.detectable = judged.detectable;
    }
    figures.sort_by(|a, b| {
        let significant = b.is_significant().cmp(&a.is_significant());
        let weight = b.weight.total_cmp(&a.weight);
        significant.then(weight).then(b.distance().total_cmp(&a.distance()))
    });
}

fn by_store(figures: &[FigureChange]) -> Vec<StoreChange> {
    let mut ratios: IndexMap<&str, Vec<f64>> = IndexMap::new();
    for figure in figures.iter().filter(|figure| figure.figure == storebench_figures::column::MEAN_LATENCY.id)
    {
        let Some(change) = figure.change else { continue };
        ratios.entry(&figure.contestant).or_default().push(change.ratio.value);
    }
    let store_change = |(store, ratios): (&str, Vec<f64>)| {
        let ratio = geometric_mean(&ratios)?.value;
        Some(StoreChange { store: store.to_owned(), figures: ratios.len(), ratio })
    };
    ratios.into_iter().filter_map(store_change).collect()
}
