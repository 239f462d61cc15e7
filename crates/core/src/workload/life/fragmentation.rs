//! The order that age takes away: of records, which a scan passes one after the other, and of files on their disk.

use std::path::Path;

use storebench_model::result::FilePieces;
use storebench_model::store::Session;

use crate::measure::clock::Clock;
use crate::measure::extents::{self, FileExtent};
use crate::record::KEY_BYTES;
use crate::workload::workload_error::WorkloadError;

const SCANS: usize = 3;

/// Scans all records several times; gives each scan's nanoseconds. Fails also when it shows fewer records than it has.
pub fn scans(session: &mut dyn Session, records: u64, clock: &Clock) -> Result<Vec<u64>, WorkloadError> {
    let scan = |_| {
        let (mut bytes, start) = (0, clock.now());
        let found = session.scan(&[0; KEY_BYTES], usize::MAX, &mut |_, value| bytes += value.len());
        let end = clock.now();
        let found = found.map_err(WorkloadError::during("scanning all records"))? as u64;
        if found != records || bytes == 0 {
            let message = format!("a scan of all records showed {found}, but there are {records}");
            return Err(WorkloadError::wrong_data(message));
        }
        Ok(clock.nanoseconds(start, end).max(1))
    };
    (0..SCANS).map(scan).collect()
}

/// The extents of the files below a folder; `None` if the file system does not report them.
pub fn pieces(folder: &Path) -> Option<FilePieces> {
    let file_extents = extents::extents_below(folder).ok().filter(|file_extents| !file_extents.is_empty())?;
    Some(count_pieces(&file_extents))
}

/// Adjacent extents are one piece.
fn count_pieces(file_extents: &[FileExtent]) -> FilePieces {
    let mut pieces = FilePieces::default();
    let mut previous: Option<&FileExtent> = None;
    for extent in file_extents {
        let same_file = previous.is_some_and(|previous| previous.path == extent.path);
        pieces.files += u64::from(!same_file);
        let follows = previous.is_some_and(|previous| previous.at + previous.bytes == extent.at);
        pieces.pieces += u64::from(!(same_file && follows));
        previous = Some(extent);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_that_lie_side_by_side_are_one_piece() {
        let extent =
            |path: &str, from: u64, at: u64, bytes: u64| FileExtent { path: path.into(), from, at, bytes };
        let whole = [extent("a", 0, 4096, 4096), extent("a", 4096, 8192, 4096), extent("b", 0, 12_288, 100)];
        assert_eq!(count_pieces(&whole), FilePieces { files: 2, pieces: 2 });
        let torn =
            [extent("a", 0, 4096, 4096), extent("a", 4096, 40_960, 4096), extent("a", 8192, 8192, 4096)];
        assert_eq!(count_pieces(&torn), FilePieces { files: 1, pieces: 3 });
    }
}
