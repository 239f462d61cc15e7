//! The job of a run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::place::Place;
use crate::plan::Plan;
use storebench_core::cell::Cell;
use storebench_core::result::TrialResult;
use storebench_core::store::StoreDef;

/// A run that is about to start or to be resumed.
pub struct Job<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// Its cells.
    pub cells: &'a [Cell],
    /// Where the places are, by name.
    pub places: &'a BTreeMap<String, Place>,
    /// Earlier results, when it is resumed.
    pub done: &'a [TrialResult],
    /// Set by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// After this moment no trial is begun but the first, and those of the certain blocks.
    pub until: Option<Instant>,
    /// The first blocks, without which there would be no answer: they are run whole, however late it is.
    pub certain_blocks: u32,
    /// Whether the results so far are precise enough, where a precision is asked for: blocks are added until they are.
    pub enough: Option<Enough<'a>>,
    /// Which cells take part in the next block, at the cells' places, where some may be given up; else all do.
    pub goes_on: Option<GoesOn<'a>>,
    /// The cells of blocks beyond the plan's trials, where only what is undecided is measured further.
    pub beyond: Option<Beyond<'a>>,
    /// Blocks of the same cells in earlier runs, whose seeds are taken.
    pub blocks_before: u32,
}

/// Says whether results are precise enough.
pub type Enough<'a> = &'a dyn Fn(&[TrialResult]) -> bool;

/// Names the cells of the next block beyond the plan's trials, by their places among the job's and in the order in which they are to
/// run, by the results so far. None ends the run.
pub type Beyond<'a> = &'a dyn Fn(&[TrialResult]) -> Vec<usize>;

/// Says which cells are measured further, by the results so far.
pub type GoesOn<'a> = &'a dyn Fn(&[TrialResult]) -> Vec<bool>;
