//! A batch of the loader. Its memory is taken once and kept.

/// Value bytes in a batch: so that 500 records of 1 MiB do not take half a gigabyte of the harness.
pub(crate) const BATCH_BYTES: usize = 32 << 20;

pub struct Batch {
    max_records: usize,
    max_bytes: usize,
    values: Vec<u8>,
    keys: Vec<u8>,
    /// The ends of each record's key and value.
    ends: Vec<(usize, usize)>,
}

impl Batch {
    /// For up to `max_records` records with keys and values of up to the given bytes; its memory is resident.
    pub fn new(max_records: usize, key_bytes: usize, largest_value: usize) -> Batch {
        Batch::with_bytes(max_records, BATCH_BYTES, key_bytes, largest_value)
    }

    /// With another bound of value bytes.
    pub(crate) fn with_bytes(
        max_records: usize,
        max_bytes: usize,
        key_bytes: usize,
        largest_value: usize,
    ) -> Batch {
        let bytes = (largest_value * max_records).min(max_bytes + largest_value);
        Batch {
            max_records,
            max_bytes,
            values: touched(bytes as u64),
            keys: Vec::with_capacity(max_records * key_bytes),
            ends: Vec::with_capacity(max_records),
        }
    }

    pub fn clear(&mut self) {
        self.values.clear();
        self.keys.clear();
        self.ends.clear();
    }

    pub fn is_full(&self) -> bool {
        self.ends.len() >= self.max_records || self.values.len() >= self.max_bytes
    }

    /// Adds a record, whose value `append` appends.
    pub fn add(&mut self, key: &[u8], append: impl FnOnce(&mut Vec<u8>)) {
        self.keys.extend_from_slice(key);
        append(&mut self.values);
        self.ends.push((self.keys.len(), self.values.len()));
    }

    pub fn key_bytes(&self) -> u64 {
        self.keys.len() as u64
    }

    pub fn value_bytes(&self) -> u64 {
        self.values.len() as u64
    }

    pub fn records(&self) -> Vec<(&[u8], &[u8])> {
        let starts = std::iter::once(&(0, 0)).chain(&self.ends);
        let record = |(start, end): (&(usize, usize), &(usize, usize))| {
            (&self.keys[start.0..end.0], &self.values[start.1..end.1])
        };
        starts.zip(&self.ends).map(record).collect()
    }
}

/// An empty vector with resident memory.
pub fn touched(capacity: u64) -> Vec<u8> {
    let mut bytes = vec![1; capacity as usize];
    bytes.clear();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_as_they_were_added_until_it_is_full() {
        let mut batch = Batch::new(2, 4, 10);
        batch.add(b"a", |values| values.extend_from_slice(b"one"));
        assert!(!batch.is_full());
        batch.add(b"bc", |_| ());
        assert!(batch.is_full());
        assert_eq!(batch.records(), [(&b"a"[..], &b"one"[..]), (&b"bc"[..], &b""[..])]);
        assert_eq!((batch.key_bytes(), batch.value_bytes()), (3, 3));
        batch.clear();
        assert!(batch.records().is_empty());
    }
}
