//! Makes an image: a sparse file, formatted once; each trial gets a copy.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{SeekFrom as Sparse, seek};
use rustix::io::Errno;

use super::{STANDARD_INPUT, program, run};
use storebench_core::kernel::system;
use storebench_model::axis::file_system::FileSystem;

/// Formats a new file of `bytes` bytes, which storebench has just made. The program gets the open file, so that it can't format another
/// one that has its name by then. If the program fails, the error has its output.
pub fn format(file_system: &FileSystem, file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(bytes)?;
    let Some(tool) = file_system.kind().format else { return Ok(()) };
    let program = program(tool.program).ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command.args((file_system.kind().arguments)(file_system.cluster)).arg(STANDARD_INPUT);
    let start = Instant::now();
    loop {
        match run(&mut command, tool.program, file.try_clone()?.into()) {
            Err(error) if is_of_another_mount(&error) && start.elapsed() < LONGEST_WAIT => {
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

/// The longest wait for another user's dead mount: its owner usually unmounts it soon.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Whether mkfs.btrfs failed at a dead mount elsewhere, or at a loop device that vanished: it checks all of them.
fn is_of_another_mount(error: &io::Error) -> bool {
    let message = error.to_string();
    ["Transport endpoint is not connected", "cannot check mount status"]
        .iter()
        .any(|words| message.contains(words))
}

/// Copies an image into an empty file: sharing its blocks if the file system can, otherwise the data without the holes.
pub fn copy(mut source: &File, mut target: &File) -> io::Result<()> {
    if system::share_blocks(source, target).is_ok() {
        return Ok(());
    }
    let bytes = source.metadata()?.len();
    target.set_len(bytes)?;
    let mut offset = 0;
    while let Some((start, end)) = next_data(source, offset, bytes)? {
        source.seek(SeekFrom::Start(start))?;
        target.seek(SeekFrom::Start(start))?;
        copy_exactly(&mut source, &mut target, end - start)?;
        offset = end;
    }
    Ok(())
}

/// The range of the next data; on a file system that doesn't report holes, everything is data.
fn next_data(file: &File, offset: u64, bytes: u64) -> io::Result<Option<(u64, u64)>> {
    if offset >= bytes {
        return Ok(None);
    }
    match seek(file, Sparse::Data(offset)) {
        Ok(start) => Ok(Some((start, seek(file, Sparse::Hole(start))?))),
        Err(Errno::NXIO) => Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Some((offset, bytes))),
        Err(error) => Err(error.into()),
    }
}

fn copy_exactly(source: &mut impl Read, target: &mut impl Write, bytes: u64) -> io::Result<()> {
    let copied = io::copy(&mut source.take(bytes), target)?;
    if copied == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_copy_has_the_same_bytes_and_no_more_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| new_file(&folder.path().join(name)));
        first.set_len(64 << 20).unwrap();
        for offset in [0, 5 << 20, (64 << 20) - 4096] {
            (&first).seek(SeekFrom::Start(offset)).unwrap();
            (&first).write_all(&[7; 4096]).unwrap();
        }
        copy(&first, &second).unwrap();
        let read = |name| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("first") == read("second"));
        assert!(second.metadata().unwrap().blocks() <= first.metadata().unwrap().blocks() + 16);
    }

    fn has_mke2fs() -> bool {
        let found = program("mke2fs").is_some();
        if !found {
            eprintln!("skipped: mke2fs is not installed");
        }
        found
    }

    fn new_file(path: &std::path::Path) -> File {
        File::options().read(true).write(true).create_new(true).open(path).unwrap()
    }

    #[test]
    fn what_cannot_be_formatted_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let file = new_file(&path);
        if !has_mke2fs() {
            return;
        }
        let file_system: FileSystem = "ext4:1024".parse().unwrap();
        let error = format(&file_system, &file, 1024).unwrap_err().to_string();
        assert!(error.starts_with("mke2fs failed (exit status: "), "{error}");
        format(&file_system, &file, 32 << 20).unwrap();
        assert!(std::fs::read(&path).unwrap()[1024..].iter().any(|byte| *byte != 0));
    }

    #[test]
    fn what_has_taken_the_image_s_name_is_not_formatted() {
        let folder = tempfile::tempdir().unwrap();
        let [path, moved, theirs] = ["image", "moved", "theirs"].map(|name| folder.path().join(name));
        let file = new_file(&path);
        if !has_mke2fs() {
            return;
        }
        std::fs::write(&theirs, vec![7; 32 << 20]).unwrap();
        std::fs::rename(&path, &moved).unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        format(&"ext4".parse().unwrap(), &file, 32 << 20).unwrap();
        assert!(std::fs::read(&theirs).unwrap().iter().all(|byte| *byte == 7));
        assert!(std::fs::read(&moved).unwrap().iter().any(|byte| *byte != 0));
    }
}
