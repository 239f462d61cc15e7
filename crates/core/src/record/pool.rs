//! The pool of bytes that values are slices of: random, generated text, or the user's own text.

use std::io::Read;
use std::path::Path;

use storebench_model::cell::Data;
use storebench_model::read_limited::plain_file;
use storebench_model::units::{SizeRange, exact_bytes};

use super::text::TextSource;

/// The most bytes of a user's text.
const OWN_TEXT_BYTES: u64 = 64 << 20;

/// The bytes that values are made from.
#[derive(Debug)]
pub struct Pool {
    /// The kind of bytes that the pool is made of.
    pub(crate) data: Data,
    pub(crate) bytes: Vec<u8>,
}

impl Pool {
    /// A pool made from `seed`, large enough that slices of `size` seldom share much.
    pub fn generate(data: Data, seed: u64, size: SizeRange) -> Pool {
        let mut bytes = vec![0; pool_bytes(data, size) as usize];
        match data {
            Data::Incompressible => fill_random(seed, &mut bytes),
            Data::Compressible => TextSource::new(seed).fill(&mut bytes),
        }
        Pool { data, bytes }
    }

    /// A pool of the files in `directory`, by name, up to 64 MiB. Fails when it can't be read or is too little for records of `size`.
    pub fn from_directory(directory: &Path, size: SizeRange) -> Result<Pool, String> {
        let describe_error = |error: std::io::Error| format!("the text in {}: {error}", directory.display());
        let mut files: Vec<_> = std::fs::read_dir(directory)
            .map_err(describe_error)?
            .collect::<Result<_, _>>()
            .map_err(describe_error)?;
        files.sort_by_key(std::fs::DirEntry::file_name);
        let mut bytes = Vec::new();
        for file in files {
            let path = file.path();
            let remaining_bytes = OWN_TEXT_BYTES - bytes.len() as u64;
            if path.is_file() && remaining_bytes > 0 {
                let result =
                    plain_file(&path).and_then(|file| file.take(remaining_bytes).read_to_end(&mut bytes));
                result.map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        if (bytes.len() as u64) < size.to * 2 {
            let [found, largest, least] = [bytes.len() as u64, size.to, size.to * 2].map(exact_bytes);
            return Err(format!(
                "the files in {} come to {found}, too little for records of up to {largest}: at least {least} are needed, so that \
                 records differ",
                directory.display(),
            ));
        }
        Ok(Pool { data: Data::Compressible, bytes })
    }
}

pub(crate) fn pool_bytes(data: Data, size: SizeRange) -> u64 {
    let least = match data {
        // Every value has its own mask, so that slices of a small pool, which stays in the processor's cache, do.
        Data::Incompressible => 16 << 10,
        Data::Compressible => 1 << 20,
    };
    (size.to * 8).clamp(least, 8 << 20).max(size.to * 2)
}

fn fill_random(seed: u64, out: &mut [u8]) {
    let mut state = seed;
    for chunk in out.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = super::mix(state).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_text_is_used_and_must_be_enough() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.txt"), "world").unwrap();
        std::fs::write(folder.path().join("a.txt"), "hello ").unwrap();
        let pool = Pool::from_directory(folder.path(), SizeRange { from: 1, to: 5 }).unwrap();
        assert_eq!(pool.bytes, b"hello world");
        let error = Pool::from_directory(folder.path(), SizeRange { from: 1, to: 1024 }).unwrap_err();
        assert!(error.contains("at least 2KiB"), "{error}");
        assert!(Pool::from_directory(Path::new("/nonexistent"), SizeRange { from: 1, to: 2 }).is_err());
    }
}
