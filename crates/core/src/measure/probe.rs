//! Probes of a place: what it costs there to make a file, to sync, to write.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use storebench_model::test_hooks;

/// The measured costs of a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Making and deleting an empty file, in nanoseconds.
    pub file_creation_ns: u64,
    /// Appending 4 KiB to a file and syncing it, in nanoseconds: the median of several, as one may wait for other programs' writes.
    pub sync_ns: u64,
    /// Writing and syncing a large file, in bytes per second.
    pub write_bytes_per_s: f64,
}

/// The time of making an empty file in `folder`, in nanoseconds: the mean of eight, which are deleted again.
pub fn file_creation_ns(folder: &Path) -> io::Result<u64> {
    const FILES: u32 = 8;
    let names: Vec<_> = (0..FILES).map(|number| folder.join(format!("probe-{number}"))).collect();
    let start = Instant::now();
    for name in &names {
        File::create(name)?;
    }
    let elapsed = start.elapsed();
    names.iter().try_for_each(fs::remove_file)?;
    Ok(elapsed.as_nanos() as u64 / u64::from(FILES))
}

/// Probes a location with files in `folder`, which are deleted again. Takes a fraction of a second on most disks, and at most a
/// quarter of the free space.
pub fn probe(folder: &Path) -> io::Result<Probe> {
    const USUAL: (u32, u64) = (16, 32 << 20);
    const QUICK: (u32, u64) = (1, 4096);
    let (syncs, large) = if test_hooks::probes_in_a_moment() { QUICK } else { USUAL };
    let space = rustix::fs::statvfs(folder)?;
    let large = large.min(space.f_bavail.saturating_mul(space.f_frsize) / 4).max(4096) as usize;
    let name = folder.join("probe");
    let mut file = File::create(&name)?;
    let mut sync = || -> io::Result<u64> {
        let start = Instant::now();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        Ok(start.elapsed().as_nanos() as u64)
    };
    let sync_ns = median((0..syncs).map(|_| sync()).collect::<io::Result<_>>()?);
    let start = Instant::now();
    file.write_all(&vec![1; large])?;
    file.sync_data()?;
    let write_bytes_per_s = large as f64 / start.elapsed().as_secs_f64();
    fs::remove_file(&name)?;
    Ok(Probe { file_creation_ns: file_creation_ns(folder)?, sync_ns, write_bytes_per_s })
}

/// The middle one; 0 without values.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_measures_something_and_leaves_nothing_and_a_sync_that_waits_for_others_does_not_count() {
        assert_eq!((median(vec![200, 70_000, 190, 210]), median(vec![7]), median(vec![])), (210, 7, 0));
        let folder = tempfile::tempdir().unwrap();
        let probe = probe(folder.path()).unwrap();
        assert!(probe.file_creation_ns > 0 && probe.sync_ns > 0 && probe.write_bytes_per_s > 0.0);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
