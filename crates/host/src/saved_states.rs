//! States of disks that are kept with a run: all writes from an empty disk on, as a compressed log.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use storebench_disk::cut::{BLOCK, Cut, Log, Piece};
use storebench_disk::log::Reader;

use crate::folder::open_kept;
use storebench_core::guard;
use storebench_model::error::{Error, Result};
use storebench_model::read_limited::RationedReader;
use storebench_model::result::KeptState;

/// Keeps a state of a disk that began with a log, without the writes after its cut. Returns the cut of the kept log.
pub fn save(folder: &Path, name: &str, first_log: Log, log: &Log, cut: &Cut) -> Result<Cut> {
    let file = guard::rewrite(folder, name)?;
    let entries = log.entries.iter().take(cut.at).cloned().collect();
    let first = first_log.entries.len();
    let lost = cut.lost.iter().map(|piece| Piece { entry: piece.entry + first, ..*piece }).collect();
    let cut = Cut { at: cut.at + first, lost };
    let out = Box::new(GzEncoder::new(file, Compression::fast()));
    let written = first_log.followed_by(Log { entries }).write(out);
    written.map_err(Error::io("writing", &folder.join(name)))?;
    Ok(cut)
}

/// The largest unpacked state, in bytes: more than is ever recorded.
const MOST_UNPACKED: u64 = 4 << 30;

/// Writes the disk of a kept state to an empty file; the state may come from anybody. Fails like [`open_kept`], and when the file is no
/// log of such a disk, or too long.
pub fn restore(folder: &Path, state: &KeptState, disk: &File) -> io::Result<()> {
    let log = GzDecoder::new(BufReader::new(open_kept(folder, &state.file)?));
    let entries = Reader::open(RationedReader::new(log, MOST_UNPACKED))?;
    disk.set_len(state.disk_bytes)?;
    // Parts that were never written need no zeros, even if a discard covers them.
    let mut written = BTreeSet::new();
    Log::replay_each(entries, &state.cut, |offset, bytes, data| {
        let end = offset.saturating_add(bytes);
        if let Some(data) = data.filter(|_| end <= state.disk_bytes) {
            written.extend(offset / BLOCK..end.div_ceil(BLOCK));
            return disk.write_all_at(data, offset);
        }
        if data.is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it writes beyond the end of its disk"));
        }
        let end = end.min(state.disk_bytes).max(offset);
        let blocks: Vec<u64> = written.range(offset / BLOCK..end.div_ceil(BLOCK)).copied().collect();
        blocks.into_iter().try_for_each(|block| {
            let (from, to) = ((block * BLOCK).max(offset), ((block + 1) * BLOCK).min(end));
            if to - from == BLOCK {
                written.remove(&block);
            }
            disk.write_all_at(&[0; BLOCK as usize][..(to - from) as usize], from)
        })
    })
}

#[cfg(test)]
mod tests {
    use storebench_disk::log::Entry;
    use storebench_disk::request::Request;

    use super::*;

    fn restored(folder: &Path, cut: Cut, disk_bytes: u64) -> io::Result<File> {
        let (file, missing) = ("state.gz".to_owned(), Vec::new());
        let state = KeptState { file, disk_bytes, cut, missing, states_tried: 0, pieces_before: 0 };
        let disk = tempfile::tempfile().unwrap();
        restore(folder, &state, &disk).map(|()| disk)
    }

    #[test]
    fn a_disk_is_restored_as_it_was_cut() {
        let write = |offset: u64, byte: u8| Entry {
            request: Request::write(offset, 4096),
            arrived: 0,
            data: vec![byte; 4096],
        };
        let flush = Entry { request: Request::flush(), arrived: 0, data: Vec::new() };
        let first_log = Log { entries: vec![write(0, 1), flush] };
        let log = Log { entries: vec![write(4096, 2), write(0, 3), write(8192, 4)] };
        let cut = Cut { at: 2, lost: [Piece { entry: 1, from: 0, bytes: 4096 }].into() };
        let folder = tempfile::tempdir().unwrap();
        let cut = save(folder.path(), "state.gz", first_log, &log, &cut).unwrap();
        let disk = restored(folder.path(), cut, 16_384).unwrap();
        let mut bytes = vec![9; 16_384];
        disk.read_exact_at(&mut bytes, 0).unwrap();
        let firsts = [0, 4096, 8192].map(|offset| bytes[offset]);
        // The second write of the first block is missing, and the last came after the cut.
        assert_eq!(firsts, [1, 2, 0]);
    }

    #[test]
    fn a_state_of_others_costs_no_more_than_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |request, data| Entry { request, arrived: 0, data };
        let restored = |entries: Vec<Entry>, disk_bytes: u64| {
            let cut = Cut { at: entries.len(), lost: BTreeSet::new() };
            let (first_log, log) = (Log { entries: Vec::new() }, Log { entries });
            let cut = save(folder.path(), "state.gz", first_log, &log, &cut).unwrap();
            self::restored(folder.path(), cut, disk_bytes)
        };
        let write = |offset: u64| entry(Request::write(offset, 4096), vec![7; 4096]);
        let entries = [write(0), write(8192), entry(Request::discard(100, 1 << 40), Vec::new())];
        let disk = restored(entries.into(), 1 << 40).unwrap();
        let mut bytes = vec![9; 12_288];
        disk.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes[..100] == [7; 100] && bytes[100..].iter().all(|byte| *byte == 0));
        let used_bytes = std::os::unix::fs::MetadataExt::blocks(&disk.metadata().unwrap()) * 512;
        assert!(used_bytes < 1 << 20, "{used_bytes} bytes of a disk of 1 TiB");
        let beyond = restored(vec![write(12_288 - 4095)], 12_288).unwrap_err();
        assert!(beyond.to_string().contains("beyond the end"), "{beyond}");
        restored(vec![entry(Request::discard(u64::MAX, 9), Vec::new())], 12_288).unwrap();
    }
}
