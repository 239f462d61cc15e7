//! Keeps states that lose more than the guarantee allows: shrunk to the fewest missing pieces with the same finding, explained, and
//! stored with the run.

use std::collections::BTreeSet;

use storebench_disk::cut::{Cut, Piece};

use super::draw::DrawnState;
use super::{CutChecker, DiskScene};
use crate::location::image::TracePart;
use crate::saved_states;
use crate::stage::Stage;
use storebench_core::measure::extents::{self, FileExtent};
use storebench_model::error::{Error, Result};
use storebench_model::result::{ByteOwner, KeptState, MissingPiece, StateFinding};

/// The most states that are checked to shrink one.
const MOST_TRIED: u64 = 40;

struct ShrinkingState<'c, 'a> {
    check: &'c CutChecker<'a>,
    scene: DiskScene<'c>,
    drawn: &'c DrawnState,
    finding: StateFinding,
    states_tried: u64,
}

impl CutChecker<'_> {
    pub(super) fn keep_state(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        drawn: &DrawnState,
        finding: StateFinding,
    ) -> Result<KeptState> {
        let mut shrinking = ShrinkingState { check: self, scene, drawn, finding, states_tried: 0 };
        let cut = shrinking.shrink(stage)?;
        let states_tried = shrinking.states_tried;
        let missing = self.missing_pieces(stage, scene, &cut)?;
        let file = format!("{}-cut-{}.gz", self.stem, drawn.number);
        let (begin, disk_bytes) =
            self.template.log().map_err(Error::io("reading an image in", stage.work()))?;
        let cut = saved_states::save(self.room.folder, &file, begin, scene.log, &cut)?;
        let pieces_before = drawn.cut.lost.len() as u64;
        Ok(KeptState { file, disk_bytes, cut, missing, states_tried, pieces_before })
    }

    /// Describes the missing pieces by the files that exist without losses, at the cut or at the flush before it.
    fn missing_pieces(
        &self,
        stage: &mut Stage<'_>,
        scene: DiskScene<'_>,
        cut: &Cut,
    ) -> Result<Vec<MissingPiece>> {
        if cut.lost.is_empty() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for moment in [cut.at, scene.log.since_flush(cut.at).start] {
            files.extend(self.find_files(stage, scene, Cut { at: moment, lost: BTreeSet::new() })?);
        }
        let describe_piece = |piece: &Piece| {
            let position = scene.log.position_of(piece);
            let extent =
                files.iter().find(|extent| (extent.at..extent.at + extent.bytes).contains(&position));
            let owner = match extent {
                Some(extent) => {
                    ByteOwner::File { path: extent.path.clone(), from: extent.from + (position - extent.at) }
                }
                None if self.template.is_in_journal(position) => ByteOwner::Journal,
                None => ByteOwner::FileSystem,
            };
            MissingPiece { at: position, bytes: piece.bytes, of: owner }
        };
        Ok(cut.lost.iter().map(describe_piece).collect())
    }

    /// Where the store's files are on the disk in a state; empty if it can't be mounted.
    fn find_files(&self, stage: &mut Stage<'_>, scene: DiskScene<'_>, cut: Cut) -> Result<Vec<FileExtent>> {
        let mut inner = stage.inner();
        let state = self.write_state(&mut inner, &cut)?;
        let traced = TracePart::from_cut(scene.path, &state);
        let files = match self.template.mount_traced(&mut inner, super::NAME, traced)? {
            Ok((folder, _)) => extents::extents_below(&folder).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        inner.release()?;
        Ok(files)
    }
}

impl ShrinkingState<'_, '_> {
    /// First fewer pieces, then an earlier moment.
    fn shrink(&mut self, stage: &mut Stage<'_>) -> Result<Cut> {
        let mut cut = self.drawn.cut.clone();
        let mut parts = 2;
        while !cut.lost.is_empty() && self.states_tried < MOST_TRIED {
            let pieces: Vec<Piece> = cut.lost.iter().copied().collect();
            match self.without_a_part(stage, &cut, &pieces, parts)? {
                Some(lost) => {
                    cut.lost = lost;
                    parts = (parts - 1).max(2);
                }
                None if parts >= pieces.len() => break,
                None => parts = (parts * 2).min(pieces.len()),
            }
        }
        // Acknowledgements are moments of the history's log, not of a recovery's.
        if self.scene.is_recovery { Ok(cut) } else { self.find_earlier(stage, cut) }
    }

    /// The pieces without one of `parts` parts of them, if the finding stays the same.
    fn without_a_part(
        &mut self,
        stage: &mut Stage<'_>,
        cut: &Cut,
        pieces: &[Piece],
        parts: usize,
    ) -> Result<Option<BTreeSet<Piece>>> {
        let part_length = pieces.len().div_ceil(parts);
        for start in (0..pieces.len()).step_by(part_length) {
            let end = (start + part_length).min(pieces.len());
            let lost: BTreeSet<Piece> = pieces[..start].iter().chain(&pieces[end..]).copied().collect();
            if self.is_same(stage, Cut { at: cut.at, lost: lost.clone() })? {
                return Ok(Some(lost));
            }
            if self.states_tried >= MOST_TRIED {
                break;
            }
        }
        Ok(None)
    }

    /// The earliest acknowledgement at which the same pieces suffice, found by halving.
    fn find_earlier(&mut self, stage: &mut Stage<'_>, mut cut: Cut) -> Result<Cut> {
        let last = cut.lost.iter().map(|piece| piece.entry + 1).max().unwrap_or(cut.at);
        let mut moments = self.scene.history.acknowledgements();
        moments.retain(|moment| (last..cut.at).contains(moment));
        moments.dedup();
        let (mut low, mut high) = (0, moments.len());
        while low < high && self.states_tried < MOST_TRIED {
            let middle = (low + high) / 2;
            let earlier = Cut { at: moments[middle], lost: cut.lost.clone() };
            match self.is_same(stage, earlier.clone())? {
                true => (cut, high) = (earlier, middle),
                false => low = middle + 1,
            }
        }
        Ok(cut)
    }

    fn is_same(&mut self, stage: &mut Stage<'_>, cut: Cut) -> Result<bool> {
        self.states_tried += 1;
        let drawn = match self.scene.is_recovery {
            true => DrawnState { cut, ..self.drawn.clone() },
            false => self.scene.history.draw_state(self.drawn.number, cut),
        };
        let found = self.check.check_state(stage, self.scene, &drawn)?;
        Ok(found.report.finding == self.finding)
    }
}
