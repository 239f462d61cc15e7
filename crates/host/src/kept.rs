//! States of disks that are kept with a run: all that was written, from an empty disk on, as a compressed log.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use storebench_disk::cut::{Cut, Log, Piece};

use crate::folder::open_kept;
use storebench_core::error::{Error, Result};
use storebench_core::guard;
use storebench_core::result::KeptState;

/// Keeps a state of a disk that began with a log: what comes after its cut is left out. The cut of all that is kept.
pub fn save(folder: &Path, name: &str, begin: Log, log: &Log, cut: &Cut) -> Result<Cut> {
    let file = guard::rewrite(folder, name)?;
    let entries = log.entries().iter().take(cut.at).cloned().map(Ok);
    let lost = cut.lost.iter().map(|piece| Piece { entry: piece.entry + begin.len(), ..*piece }).collect();
    let cut = Cut { at: cut.at + begin.len(), lost };
    let all = Log::of(entries).map(|log| begin.then(log));
    let out = Box::new(GzEncoder::new(file, Compression::fast()));
    all.and_then(|all| all.write(cut.at, out)).map_err(Error::io("writing", &folder.join(name)))?;
    Ok(cut)
}

/// Writes the disk of a kept state to an empty file.
pub fn restore(folder: &Path, kept: &KeptState, disk: &File) -> io::Result<()> {
    let file = open_kept(folder, &kept.file)?;
    let log = Log::first(kept.cut.at, GzDecoder::new(BufReader::new(file)))?;
    disk.set_len(kept.disk_bytes)?;
    log.replay(&kept.cut, |at, bytes, data| match data {
        Some(data) => disk.write_all_at(data, at),
        None => {
            let bytes = bytes.min(kept.disk_bytes.saturating_sub(at));
            disk.write_all_at(&vec![0; usize::try_from(bytes).unwrap_or_default()], at)
        }
    })
}

#[cfg(test)]
mod tests {
    use storebench_disk::log::Entry;
    use storebench_disk::request::Request;

    use super::*;

    #[test]
    fn a_disk_is_restored_as_it_was_cut() {
        let write = |at: u64, byte: u8| {
            Ok(Entry { request: Request::write(at, 4096), arrived: 0, data: vec![byte; 4096] })
        };
        let begin =
            Log::of([write(0, 1), Ok(Entry { request: Request::flush(), arrived: 0, data: Vec::new() })]);
        let log = Log::of([write(4096, 2), write(0, 3), write(8192, 4)]).unwrap();
        let cut = Cut { at: 2, lost: [Piece { entry: 1, from: 0, bytes: 4096 }].into() };
        let folder = tempfile::tempdir().unwrap();
        let cut = save(folder.path(), "state.gz", begin.unwrap(), &log, &cut).unwrap();
        let kept = KeptState {
            file: "state.gz".into(),
            disk_bytes: 16_384,
            cut,
            missing: Vec::new(),
            looks: 0,
            pieces_before: 1,
        };
        let disk = tempfile::tempfile().unwrap();
        restore(folder.path(), &kept, &disk).unwrap();
        let mut bytes = vec![9; 16_384];
        disk.read_exact_at(&mut bytes, 0).unwrap();
        let firsts = [0, 4096, 8192].map(|at| bytes[at]);
        assert_eq!(
            firsts,
            [1, 2, 0],
            "the second write of the first block is missing, and the last came after the cut"
        );
    }
}
