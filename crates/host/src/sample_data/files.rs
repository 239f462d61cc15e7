//! A folder as data: every regular file in it and below is a value. Links are not followed.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::Sample;
use storebench_model::read_limited;

pub fn sample_folder(folder: &Path, sample: &mut Sample) -> Result<(), String> {
    sample_with(folder, sample, read_limited::start)
}

/// Reads the first bytes of a file, up to the given number.
type Start = fn(&Path, usize) -> std::io::Result<Vec<u8>>;

/// Entries in the folder that can't be read are counted, not an error: among many files a few belong to others.
fn sample_with(folder: &Path, sample: &mut Sample, start: Start) -> Result<(), String> {
    fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            sample.unreadable += 1;
            continue;
        };
        for entry in entries {
            if entry.and_then(|entry| sample_files(&entry, &mut folders, sample, start)).is_err() {
                sample.unreadable += 1;
            }
        }
    }
    Ok(())
}

fn sample_files(
    entry: &DirEntry,
    folders: &mut Vec<PathBuf>,
    sample: &mut Sample,
    start: Start,
) -> std::io::Result<()> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        folders.push(entry.path());
    } else if kind.is_file() {
        let size = entry.metadata()?.len();
        let read = |most| start(&entry.path(), most).map_err(|error| error.to_string());
        sample.add(size, read).map_err(std::io::Error::other)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags, mkdirat, open, openat};

    use super::*;

    /// A folder below another whose path is longer than any that can be opened, whoever asks.
    fn too_deep(folder: &Path) {
        let name = "d".repeat(250);
        let mut current = open(folder, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..20 {
            mkdirat(&current, &name, Mode::from_raw_mode(0o700)).unwrap();
            current = openat(&current, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn what_can_not_be_read_is_left_out_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "secret", "c"] {
            fs::write(folder.path().join(name), vec![b'x'; 1000]).unwrap();
        }
        too_deep(folder.path());
        let mut sample = Sample::new();
        let read_unless_secret: Start = |path, most| match path.ends_with("secret") {
            true => Err(std::io::ErrorKind::PermissionDenied.into()),
            false => read_limited::start(path, most),
        };
        sample_with(folder.path(), &mut sample, read_unless_secret).unwrap();
        let traits = sample.traits().unwrap();
        assert_eq!((traits.count, traits.unreadable), (3, 2));
        assert!(traits.describe().ends_with("Left out: files or folders that can't be read: 2."));
        assert!(sample_folder(&folder.path().join("nowhere"), &mut sample).is_err());
    }
}
