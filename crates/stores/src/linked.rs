//! The builds of linked libraries: what the build script found, and for a shared one, what the file that was loaded holds.

use std::ffi::{CStr, OsStr, c_void};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use storebench_model::store::StoreBuild;

pub struct LinkedLibrary {
    pub source: &'static str,
    /// The compiler's flags; empty if unknown.
    pub flags: &'static str,
    /// `yes` or `no`; empty for a shared library, which is read when it runs.
    pub assertions: &'static str,
    /// Marks that only a library with assertions holds; alternatives are separated by ` or `.
    pub marks: &'static str,
}

/// The build script's facts about a library, by the upper-case name of its feature.
macro_rules! linked {
    ($name:literal) => {
        crate::linked::LinkedLibrary {
            source: env!(concat!("STOREBENCH_", $name, "_SOURCE")),
            flags: env!(concat!("STOREBENCH_", $name, "_FLAGS")),
            assertions: env!(concat!("STOREBENCH_", $name, "_ASSERTIONS")),
            marks: env!(concat!("STOREBENCH_", $name, "_MARKS")),
        }
    };
}
pub(crate) use linked;

impl LinkedLibrary {
    pub fn build(&self, function: *const c_void) -> StoreBuild {
        let flags = (!self.flags.is_empty()).then(|| self.flags.to_owned());
        let assertions = match self.assertions {
            "yes" => Some(true),
            "no" => Some(false),
            _ => file_of(function).and_then(|file| self.has_marks(&file)),
        };
        StoreBuild::new(self.source, flags, assertions)
    }

    /// `None` if the file can't be read.
    fn has_marks(&self, file: &Path) -> Option<bool> {
        let marks: Vec<&[u8]> = self.marks.split(" or ").map(str::as_bytes).collect();
        contains_any(&mut File::open(file).ok()?, &marks).ok()
    }
}

fn file_of(function: *const c_void) -> Option<PathBuf> {
    // SAFETY: all zeroes are a valid value of this structure of pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is only looked up; the structure is ours.
    let status = unsafe { libc::dladdr(function, &raw mut info) };
    if status == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name ends with a zero byte and lives as long as the library is loaded, which this program never ends.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(OsStr::from_bytes(name.to_bytes()).into())
}

/// Reads piece by piece, so that a large library takes no memory.
fn contains_any(input: &mut impl Read, texts: &[&[u8]]) -> std::io::Result<bool> {
    const READ_BYTES: usize = 64 << 10;
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let mut buffer: Vec<u8> = Vec::with_capacity(READ_BYTES + longest);
    loop {
        // The end of the last piece stays, as a text may begin there.
        let overlap = buffer.len().min(longest.saturating_sub(1));
        buffer.drain(..buffer.len() - overlap);
        if input.take(READ_BYTES as u64).read_to_end(&mut buffer)? == 0 {
            return Ok(false);
        }
        if texts.iter().any(|text| buffer.windows(text.len()).any(|window| window == *text)) {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_lies() {
        for offset in [0, 1, (64 << 10) - 3, (64 << 10) - 2, 200_000] {
            let mut bytes = vec![b'_'; offset];
            assert!(!contains_any(&mut bytes.as_slice(), &[b"sync", b"other"]).unwrap(), "{offset}");
            bytes.extend(b"sync");
            bytes.extend([b'_'; 5]);
            assert!(contains_any(&mut bytes.as_slice(), &[b"other", b"sync"]).unwrap(), "after {offset}");
            assert!(!contains_any(&mut bytes.as_slice(), &[b"async"]).unwrap(), "after {offset}");
        }
    }

    #[test]
    fn a_function_is_traced_to_its_file() {
        let program = std::env::current_exe().unwrap();
        let file = file_of(file_of as *const c_void).unwrap();
        assert_eq!(file.file_name(), program.file_name());
    }
}
