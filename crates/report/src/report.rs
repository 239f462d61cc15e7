//! Merged results with everything computed once for all outputs: the matrices, and the blocks of the sections.

use std::sync::OnceLock;

use rayon::prelude::*;
use storebench_figures::data::matrix::{Matrix, matrix};
use storebench_figures::data::merge::Merged;

use crate::section::{Block, Section};
use crate::sections::SECTIONS;
use crate::standings::{Standings, standings};

/// Results with their derived data, for every output of one report.
#[derive(Debug)]
pub struct Report<'m> {
    /// The results.
    pub merged: &'m Merged<'m>,
    matrices: OnceLock<Vec<Option<Matrix>>>,
    readable: OnceLock<Vec<Option<Matrix>>>,
    standings: OnceLock<Vec<Standings>>,
    blocks: Vec<OnceLock<Vec<Block>>>,
}

impl<'m> Report<'m> {
    /// Nothing is computed before it is needed.
    pub fn new(merged: &'m Merged<'m>) -> Report<'m> {
        Report {
            merged,
            matrices: OnceLock::new(),
            readable: OnceLock::new(),
            standings: OnceLock::new(),
            blocks: SECTIONS.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The matrix of each group; `None` if nothing succeeded.
    pub fn matrices(&self) -> &[Option<Matrix>] {
        let build = || self.merged.groups.par_iter().map(|group| matrix(self.merged, group)).collect();
        self.matrices.get_or_init(build)
    }

    /// The matrices with readable settings.
    pub fn readable(&self) -> &[Option<Matrix>] {
        let make_readable =
            |matrix: &Option<Matrix>| Some(matrix.as_ref()?.readable(&self.merged.readable).into_owned());
        self.readable.get_or_init(|| self.matrices().par_iter().map(make_readable).collect())
    }

    /// The standings of each group with any figure.
    pub fn standings(&self) -> &[Standings] {
        self.standings.get_or_init(|| standings(self))
    }

    /// The blocks of a section.
    pub fn blocks(&self, section: &Section) -> &[Block] {
        let index = SECTIONS.iter().position(|other| other.name == section.name);
        let slot = index.and_then(|index| self.blocks.get(index));
        slot.map_or(&[], |slot| slot.get_or_init(|| (section.blocks)(self.merged)))
    }
}
