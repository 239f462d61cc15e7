//! Mounts, from `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use procfs_core::process::MountInfo;

/// Something that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub at: PathBuf,
    /// The kind of file system, such as `ext4`, `fuseblk`.
    pub kind: String,
    /// The device, file or word; empty if there is none.
    pub source: PathBuf,
    /// Options of the mount and of its file system, in order and each once.
    pub options: Vec<String>,
}

/// All mounts that this process sees. Of several at one folder, the last is seen there.
pub fn all() -> io::Result<Vec<Mount>> {
    fs::read("/proc/self/mountinfo").map(|list| parse(&list))
}

/// The last mount at a folder.
pub fn mount_at(folder: &Path) -> io::Result<Option<Mount>> {
    Ok(all()?.into_iter().rfind(|mount| mount.at == folder))
}

/// The mount that holds a path without links: the one with the longest folder, the last of several alike.
pub fn holding(path: &Path) -> io::Result<Option<Mount>> {
    Ok(innermost(all()?, path))
}

fn innermost(mounts: Vec<Mount>, path: &Path) -> Option<Mount> {
    let candidates = mounts.into_iter().filter(|mount| path.starts_with(&mount.at));
    candidates.max_by_key(|mount| mount.at.components().count())
}

/// Parses the kernel's list; lines in another format are left out.
pub fn parse(list: &[u8]) -> Vec<Mount> {
    list.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

/// `procfs_core` takes only text and leaves escapes: bytes beyond ASCII are escaped before it reads, and all are undone afterwards.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut text = String::with_capacity(line.len());
    for byte in line {
        match byte.is_ascii() {
            true => text.push((*byte).into()),
            false => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    let info = MountInfo::from_line(&text).ok()?;
    let mut options: Vec<String> = info
        .mount_options
        .into_iter()
        .chain(info.super_options)
        .map(|(name, value)| value.map_or(name.clone(), |value| format!("{name}={value}")))
        .map(|option| unescape(&option).to_string_lossy().into_owned())
        .filter(|option| !option.is_empty())
        .collect();
    options.sort_unstable();
    options.dedup();
    Some(Mount {
        root: unescape(&info.root).into(),
        at: unescape(&info.mount_point.to_string_lossy()).into(),
        kind: info.fs_type,
        source: info.mount_source.map_or_else(PathBuf::new, |source| unescape(&source).into()),
        options,
    })
}

fn unescape(word: &str) -> OsString {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'\\').then(|| tail.get(..3).and_then(octal)).flatten();
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[3..] } else { tail };
    }
    OsString::from_vec(bytes)
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// A root, a folder with a blank and a backslash in its name, one within it, and one whose name is not UTF-8.
    const LIST: &[u8] = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
        36 1 7:3 /part /mnt/a\\040b\\134c rw,noatime shared:1 master:2 - ext4 /dev/loop\\0403 rw,data=journal\n\
        37 36 0:5 / /mnt/a\\040b\\134c/within rw - tmpfs none rw,size=4k\n\
        not a mount\n\
        38 1 0:6 / /mnt/\xff rw - tmpfs first rw\n\
        39 1 0:7 / /mnt/\xff rw - xfs second rw\n";

    #[test]
    fn a_line_is_read_without_its_escapes() {
        let mount = &parse(LIST)[1];
        let paths = [mount.root.as_path(), mount.at.as_path()];
        assert_eq!(paths, ["/part", r"/mnt/a b\c"].map(Path::new));
        assert_eq!((mount.kind.as_str(), mount.source.as_path()), ("ext4", Path::new("/dev/loop 3")));
        assert_eq!(mount.options, ["data=journal", "noatime", "rw"]);
        assert_eq!(parse(LIST).len(), 5, "{:?}", parse(LIST));
        assert_eq!(parse(LIST)[2].source, Path::new(""));
    }

    #[test]
    fn a_path_is_held_by_the_mount_with_the_longest_folder() {
        let files = [
            ("/mnt/a", "/dev/sda1"),
            (r"/mnt/a b\c", "/dev/loop 3"),
            (r"/mnt/a b\c/file", "/dev/loop 3"),
            (r"/mnt/a b\c/within/file", ""),
        ];
        for (path, source) in files {
            assert_eq!(innermost(parse(LIST), Path::new(path)).unwrap().source, Path::new(source), "{path}");
        }
        let name = std::ffi::OsStr::from_bytes(b"/mnt/\xff");
        let mount = innermost(parse(LIST), &Path::new(name).join("file"));
        assert_eq!(mount.unwrap().kind, "xfs", "the last of two");
        assert_eq!(innermost(Vec::new(), Path::new("/")), None);
    }

    #[test]
    fn the_kernel_s_list_is_read() {
        assert_eq!(mount_at(Path::new("/proc")).unwrap().unwrap().kind, "proc");
        assert_eq!(mount_at(Path::new("/proc/self")).unwrap(), None);
        assert_eq!(holding(Path::new("/proc/self")).unwrap().unwrap().at, Path::new("/proc"));
    }
}
