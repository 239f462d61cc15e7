//! What is mounted where, as the kernel tells it.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Something that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is mounted from: a device, a file, a word.
    pub source: PathBuf,
    /// The kind of file system, such as `ext4`, `fuseblk`.
    pub kind: String,
    /// Its options, sorted.
    pub options: String,
}

/// What is mounted at a folder: the last, where several are.
///
/// # Errors
/// When the kernel's list can't be read.
pub fn at(folder: &Path) -> io::Result<Option<Found>> {
    let list = fs::read("/proc/self/mountinfo")?;
    Ok(list.split(|byte| *byte == b'\n').filter_map(|line| parse(line, folder)).next_back())
}

/// A line of the list, if it is of this folder: number, parent, device, root, folder, options, optional fields, a hyphen, kind,
/// source, the file system's options.
fn parse(line: &[u8], folder: &Path) -> Option<Found> {
    let mut words = line.split(|byte| *byte == b' ');
    if plain(words.nth(4)?) != folder.as_os_str().as_bytes() {
        return None;
    }
    let mount_options = plain(words.next()?);
    let mut words = words.skip_while(|word| *word != b"-").skip(1);
    let kind = String::from_utf8_lossy(words.next()?).into_owned();
    let source = PathBuf::from(std::ffi::OsString::from_vec(plain(words.next()?)));
    let own = plain(words.next().unwrap_or_default());
    let text = [mount_options, own].map(|options| String::from_utf8_lossy(&options).into_owned());
    let mut options: Vec<&str> = text.iter().flat_map(|list| list.split(',')).collect();
    options.retain(|option| !option.is_empty());
    options.sort_unstable();
    options.dedup();
    Some(Found { source, kind, options: options.join(",") })
}

/// A word of the list without its escapes: a blank is `\040`.
fn plain(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'\\').then(|| tail.get(..3).and_then(octal)).flatten();
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let line =
            br"36 35 7:3 / /mnt/a\040b\134c rw,noatime shared:1 master:2 - ext4 /dev/loop3 rw,data=journal";
        let found = parse(line, Path::new(r"/mnt/a b\c")).unwrap();
        assert_eq!((found.source.as_path(), found.kind.as_str()), (Path::new("/dev/loop3"), "ext4"));
        assert_eq!(found.options, "data=journal,noatime,rw");
        assert_eq!(parse(line, Path::new("/mnt/a")), None);
        assert_eq!(parse(b"", Path::new("/mnt")), None);
    }

    #[test]
    fn the_kernel_s_list_is_read() {
        assert_eq!(at(Path::new("/proc")).unwrap().unwrap().kind, "proc");
        assert_eq!(at(Path::new("/proc/self")).unwrap(), None);
    }
}
