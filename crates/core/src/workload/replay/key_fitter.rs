//! Keys as a store takes them: the trace's bytes; for a key that is too long, or no name for a file, a hash replaces what does not fit.

use xxhash_rust::xxh3::xxh3_128;

use storebench_model::store::Capabilities;

const HASH_BYTES: usize = 32;
/// Bytes of the shortest key that names a file in every layout of folders.
const LEAST_NAME: usize = 5;

#[derive(Debug, Clone)]
pub(crate) struct KeyFitter {
    max_bytes: usize,
    any_byte: bool,
    fitted: Vec<u8>,
    /// Keys that did not fit.
    pub changed_keys: u64,
}

impl KeyFitter {
    /// For keys of up to `longest` bytes. Takes all the memory that it will need.
    pub fn new(capabilities: &Capabilities, longest: usize) -> KeyFitter {
        let max_bytes = capabilities.max_key_bytes.min(longest.max(HASH_BYTES));
        let mut fitted = vec![1; max_bytes];
        fitted.clear();
        KeyFitter { max_bytes, any_byte: capabilities.any_byte_in_keys, fitted, changed_keys: 0 }
    }

    pub fn fit_key<'k>(&'k mut self, key: &'k [u8]) -> &'k [u8] {
        let is_fitting = !key.is_empty() && key.len() <= self.max_bytes && (self.any_byte || is_name(key));
        if is_fitting {
            return key;
        }
        self.changed_keys += 1;
        self.fitted.clear();
        // A common beginning stays common.
        let prefix = if self.any_byte { key.len().min(self.max_bytes - HASH_BYTES) } else { 0 };
        self.fitted.extend_from_slice(&key[..prefix]);
        let hash = xxh3_128(key);
        for digit in (0..HASH_BYTES).rev() {
            let nibble = (hash >> (4 * digit) & 0xf) as usize;
            self.fitted.push(b"0123456789abcdef"[nibble]);
        }
        &self.fitted
    }

    /// The start of a scan as the store takes it: no fitting key of the trace lies between this and the trace's start.
    pub fn fit_scan_start<'k>(&'k mut self, key: &'k [u8]) -> &'k [u8] {
        if !key.is_empty() && key.len() <= self.max_bytes {
            return key;
        }
        self.changed_keys += 1;
        self.fitted.clear();
        self.fitted.extend_from_slice(key.get(..self.max_bytes).unwrap_or(b"\0"));
        if let Some(last) = self.fitted.iter().rposition(|byte| *byte < 255).filter(|_| !key.is_empty()) {
            // Among keys no longer than this, the next one after a longer start is the next one after its beginning.
            self.fitted.truncate(last + 1);
            self.fitted[last] += 1;
        }
        &self.fitted
    }
}

/// Whether a key names a file in every layout of folders.
fn is_name(key: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_graphic() && *byte != b'/';
    key.len() >= LEAST_NAME && key.iter().all(plain) && !key.contains(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitter(max_key_bytes: usize, any_byte_in_keys: bool) -> KeyFitter {
        KeyFitter::new(&Capabilities { max_key_bytes, any_byte_in_keys, ..Capabilities::DEFAULT }, 1000)
    }

    #[test]
    fn what_fits_stays_and_what_does_not_stays_different() {
        let mut lmdb = fitter(511, true);
        assert_eq!(lmdb.fit_key(b"a\0b"), b"a\0b");
        assert_eq!(lmdb.fit_key(&[7; 511]), [7; 511]);
        assert_eq!(lmdb.changed_keys, 0);
        let long = lmdb.fit_key(&[7; 512]).to_vec();
        assert_eq!((long.len(), &long[..479]), (511, &[7; 479][..]));
        assert_ne!(long, lmdb.fit_key(&[7; 513]));
        assert_eq!(lmdb.fit_key(b"").len(), HASH_BYTES);
        assert_eq!(lmdb.changed_keys, 3);
        assert_eq!(lmdb.fit_scan_start(b"a"), b"a");
        assert_eq!(lmdb.fit_scan_start(b""), [0]);
        let key_after = lmdb.fit_scan_start(&[7; 512]).to_vec();
        assert_eq!(key_after, [&[7; 510][..], &[8]].concat());
        let longer_start = [&[7; 300][..], &[255; 300]].concat();
        assert_eq!(lmdb.fit_scan_start(&longer_start), [&[7; 299][..], &[8]].concat());
        let mut folder = fitter(255, false);
        assert_eq!(folder.fit_key(b"user:12"), b"user:12");
        for bad in [&b"a/b/c"[..], b"ab", b"..", b"a\0bcdef", b".storebench-tmp-x"] {
            let name = folder.fit_key(bad).to_vec();
            assert!(name.len() == HASH_BYTES && is_name(&name), "{bad:?}");
        }
    }
}
