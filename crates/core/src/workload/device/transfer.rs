//! Reads and writes whole blocks: continues partial calls, and repeats interrupted ones.

use std::fs::File;
use std::io::{self, ErrorKind};

use rustix::io::Errno;

pub(super) fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let (first, length) = (rustix::io::pread(file, &mut *bytes, offset), bytes.len());
    if first == Ok(length) {
        return Ok(());
    }
    complete(length, ErrorKind::UnexpectedEof, first, |completed| {
        rustix::io::pread(file, &mut bytes[completed..], offset + completed as u64)
    })
}

pub(super) fn write(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let first = rustix::io::pwrite(file, bytes, offset);
    if first == Ok(bytes.len()) {
        return Ok(());
    }
    complete(bytes.len(), ErrorKind::WriteZero, first, |completed| {
        rustix::io::pwrite(file, &bytes[completed..], offset + completed as u64)
    })
}

/// Calls again until all is done; a call that does nothing is the error `no_progress`.
#[cold]
fn complete(
    length: usize,
    no_progress: ErrorKind,
    first: Result<usize, Errno>,
    mut call_again: impl FnMut(usize) -> Result<usize, Errno>,
) -> io::Result<()> {
    let (mut completed, mut result) = (0, first);
    loop {
        match result {
            Ok(0) => return Err(no_progress.into()),
            Ok(bytes) => completed += bytes,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if completed >= length {
            return Ok(());
        }
        result = call_again(completed);
    }
}

/// Syncs, again if interrupted.
pub(super) fn sync(mut call: impl FnMut() -> Result<(), Errno>) -> io::Result<()> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of calls with these answers, and where each after the first began.
    fn answers(results: &[Result<usize, Errno>]) -> (io::Result<()>, Vec<usize>) {
        let mut offsets = Vec::new();
        let mut remaining = results[1..].iter();
        let result = complete(10, ErrorKind::WriteZero, results[0], |completed| {
            offsets.push(completed);
            *remaining.next().expect("no call too many")
        });
        assert_eq!(remaining.len(), 0, "no call too few");
        (result, offsets)
    }

    #[test]
    fn a_short_call_is_completed_and_a_broken_off_one_made_again() {
        for (results, expected) in [
            (vec![Ok(10)], vec![]),
            (vec![Ok(4), Ok(6)], vec![4]),
            (vec![Err(Errno::INTR), Ok(10)], vec![0]),
            (vec![Ok(1), Err(Errno::INTR), Err(Errno::INTR), Ok(2), Ok(7)], vec![1, 1, 1, 3]),
        ] {
            let (result, offsets) = answers(&results);
            result.unwrap();
            assert_eq!(offsets, expected);
        }
    }

    #[test]
    fn what_cannot_be_completed_is_an_error() {
        let (result, _) = answers(&[Ok(4), Ok(0)]);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::WriteZero);
        let (result, _) = answers(&[Ok(4), Err(Errno::NOSPC)]);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn a_sync_that_is_broken_off_is_made_again() {
        let mut answers = [Err(Errno::INTR), Err(Errno::INTR), Ok(())].into_iter();
        sync(|| answers.next().unwrap()).unwrap();
        assert_eq!(answers.len(), 0);
        assert!(sync(|| Err(Errno::IO)).is_err());
    }
}
