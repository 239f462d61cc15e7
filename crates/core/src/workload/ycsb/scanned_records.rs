//! The records that a scan has shown: copied as they come, and compared afterwards with the expected ones.

use super::definition::KeyNaming;
use super::record_key::{MAX_KEY_BYTES, RecordKey};
use super::shared::YcsbContext;
use super::versions::KnownVersions;
use crate::workload::batch::touched;

/// The records of a scan. Its memory is taken once and kept.
pub(crate) struct ScannedRecords {
    bytes: Vec<u8>,
    /// The ends of each key and its value.
    ends: Vec<(usize, usize)>,
    pub value_bytes: u64,
    /// Records beyond the requested length.
    surplus: u64,
    /// The oldest versions that the current record may have.
    floors: Vec<u32>,
}

impl ScannedRecords {
    /// For scans of up to `max_records` records; `largest_value` is in bytes, `slots` are the versions of a record.
    pub fn new(max_records: u64, largest_value: usize, slots: usize) -> ScannedRecords {
        ScannedRecords {
            bytes: touched(max_records * (MAX_KEY_BYTES + largest_value) as u64),
            ends: Vec::with_capacity(max_records as usize),
            value_bytes: 0,
            surplus: 0,
            floors: vec![1; slots],
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        (self.value_bytes, self.surplus) = (0, 0);
    }

    /// Copies a record, as an application does that goes on to use it.
    #[inline(always)]
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        let room = self.bytes.capacity() - self.bytes.len();
        if self.ends.len() == self.ends.capacity() || room < key.len() + value.len() {
            self.surplus += 1;
            return;
        }
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
        self.value_bytes += value.len() as u64;
    }

    /// Checks a scan of `length` records from `first` on. The first `live` records existed before it began; later ones may show.
    /// `reported` is the store's count. The error says what is wrong.
    pub fn check(
        &mut self,
        shared: &YcsbContext<'_>,
        first: u64,
        length: u64,
        live: u64,
        reported: usize,
    ) -> Result<(), String> {
        let ScannedRecords { bytes, ends, surplus, floors, .. } = self;
        let shown = ends.len() as u64 + *surplus;
        if shown != reported as u64 || shown > length {
            return Err(format!("was to show {length} records at most, showed {shown}, and says {reported}"));
        }
        let mut order = shared.order.iter().flat_map(|order| order.records_from(first));
        let mut begin = 0;
        for (key_end, end) in ends.iter().copied() {
            let (key, value) = (&bytes[begin..key_end], &bytes[key_end..end]);
            begin = end;
            let record = loop {
                let next =
                    order.next().ok_or("showed what was never inserted, or not in the order of the keys")?;
                if shared.definition().naming.key(next).bytes() == key {
                    break next;
                }
                if next < live {
                    return Err(format!("did not show record {next}, which was next"));
                }
            };
            if record >= shared.versions.inserted() || !is_right(shared, floors, record, value) {
                return Err(format!("showed record {record} with a value that was not written last"));
            }
        }
        match order.find(|record| *record < live).filter(|_| shown < length) {
            Some(record) => Err(format!("ended before record {record}")),
            None => Ok(()),
        }
    }
}

/// Whether a value is right. With several threads, a version that was replaced before the scan began counts as right: noting all
/// records' versions beforehand would disturb what is measured.
fn is_right(shared: &YcsbContext<'_>, floors: &mut [u32], record: u64, value: &[u8]) -> bool {
    let versions = &shared.versions;
    if versions.is_shared() {
        floors.fill(1);
    } else {
        versions.copy_floors(record, floors);
    }
    shared.fields.is_value(record, &KnownVersions::from_slots(floors, versions.newest(record, floors)), value)
}

/// All records in the order of their keys' bytes, including those yet to be inserted.
#[derive(Debug)]
pub struct KeyOrder {
    records: Vec<u32>,
    positions: Vec<u32>,
}

impl KeyOrder {
    pub fn new(naming: KeyNaming, count: u64) -> KeyOrder {
        let with_name = |record: u32| (naming.key(u64::from(record)), record);
        let mut named_records: Vec<(RecordKey, u32)> = (0..count as u32).map(with_name).collect();
        named_records.sort_unstable_by(|(a, _), (b, _)| a.bytes().cmp(b.bytes()));
        let records: Vec<u32> = named_records.into_iter().map(|(_, record)| record).collect();
        let mut positions = vec![0; records.len()];
        for (position, record) in (0..).zip(&records) {
            positions[*record as usize] = position;
        }
        KeyOrder { records, positions }
    }

    pub fn records_from(&self, record: u64) -> impl Iterator<Item = u64> {
        let first =
            self.positions.get(record as usize).map_or(self.records.len(), |position| *position as usize);
        self.records[first..].iter().map(|record| u64::from(*record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_follow_one_another_by_the_bytes_of_their_keys() {
        let naming = KeyNaming { ordered: true, padding: 0, first: 5 };
        let order = KeyOrder::new(naming, 8);
        // user5 to user12.
        assert_eq!(order.records_from(5).collect::<Vec<_>>(), [5, 6, 7, 0, 1, 2, 3, 4]);
        assert_eq!(order.records_from(3).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(order.records_from(8).count(), 0);
        let hashed = KeyOrder::new(KeyNaming { ordered: false, ..naming }, 1000);
        assert_eq!(hashed.records_from(hashed.records[0].into()).count(), 1000);
    }
}
