//! The parameters of a run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::location::Location;
use crate::plan::Plan;
use storebench_model::cell::{Cell, LocationOnDisk};
use storebench_model::result::TrialResult;
use storebench_model::store::StoreDef;

/// A run that is about to start or to be resumed.
pub struct RunRequest<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// Its cells.
    pub cells: &'a [Cell],
    /// The places by name.
    pub places: &'a BTreeMap<LocationOnDisk, Location>,
    /// Earlier results, when it is resumed.
    pub earlier_results: &'a [TrialResult],
    /// Set by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// No trial begins after this moment except the first, and the trials of the certain blocks.
    pub deadline: Option<Instant>,
    /// The first blocks, without which there would be no answer: they run completely, however late it is.
    pub certain_blocks: u32,
    /// Whether the results are precise enough, if a precision is asked for: blocks are added until they are.
    pub precision_rule: Option<PrecisionRule<'a>>,
    /// Which cells take part in the next block, by index, if cells may be given up; otherwise all do.
    pub continue_rule: Option<ContinueRule<'a>>,
    /// The cells of blocks beyond the plan's trials, if only undecided ones are measured further.
    pub extra_cells: Option<ExtraCells<'a>>,
    /// Blocks of the same cells in earlier runs, whose seeds are used up.
    pub blocks_before: u32,
}

/// Decides whether results are precise enough.
pub type PrecisionRule<'a> = &'a dyn Fn(&[TrialResult]) -> bool;

/// Returns the cells of the next block beyond the plan's trials, by their index in the job and in running order,
/// from the results so far. An empty list ends the run.
pub type ExtraCells<'a> = &'a dyn Fn(&[TrialResult]) -> Vec<usize>;

/// Decides which cells are measured further, from the results so far.
pub type ContinueRule<'a> = &'a dyn Fn(&[TrialResult]) -> Vec<bool>;
