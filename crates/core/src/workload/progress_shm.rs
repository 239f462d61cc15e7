//! Progress that a trial's process reports to its run, in a file in memory that both have open, so that it costs no disk time.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::kernel::system;

/// The location of N numbers.
#[derive(Debug, Clone, Copy)]
pub struct ProgressSlot<const N: usize>(u64);

impl ProgressSlot<4> {
    /// Records done, records in all, nanoseconds since the first, and which [`ProgressKind`](super::load_progress::ProgressKind).
    pub(crate) const LOADING: ProgressSlot<4> = ProgressSlot(0);
}

impl ProgressSlot<2> {
    /// The step that it is at: which one by the order of [`super::step::Step`], and how many steps were begun.
    pub const STEP: ProgressSlot<2> = ProgressSlot(32);
}

/// A file in memory for progress; `None` if the system has none.
pub fn file() -> Option<File> {
    system::file_in_memory("told").ok()
}

static PROGRESS_FILE: OnceLock<File> = OnceLock::new();

/// From here on a trial's process reports to its standard input, which its run has made for that.
pub fn report_to_input() -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    // The first one stays.
    let _ = PROGRESS_FILE.set(input.into());
    Ok(())
}

/// Reports numbers. The trial goes on even if its run does not read them.
pub fn store_numbers<const N: usize>(slot: ProgressSlot<N>, numbers: [u64; N]) {
    if let Some(file) = PROGRESS_FILE.get() {
        write(file, slot, numbers);
    }
}

pub(super) fn write<const N: usize>(file: &File, ProgressSlot(offset): ProgressSlot<N>, numbers: [u64; N]) {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    let _ = file.write_all_at(&bytes, offset);
}

/// The last report; `None` before the first.
pub fn read<const N: usize>(file: &File, ProgressSlot(offset): ProgressSlot<N>) -> Option<[u64; N]> {
    let mut bytes = [0; 8];
    let mut numbers = [0; N];
    for (offset, number) in (offset..).step_by(8).zip(&mut numbers) {
        file.read_exact_at(&mut bytes, offset).ok()?;
        *number = u64::from_le_bytes(bytes);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reported_last_is_read_from_its_slot() {
        let Some(file) = file() else { return };
        assert_eq!(read(&file, ProgressSlot::STEP), None);
        write(&file, ProgressSlot::STEP, [7, 8]);
        write(&file, ProgressSlot::LOADING, [1, 2, u64::MAX, 1]);
        assert_eq!(
            (read(&file, ProgressSlot::LOADING), read(&file, ProgressSlot::STEP)),
            (Some([1, 2, u64::MAX, 1]), Some([7, 8]))
        );
    }
}
