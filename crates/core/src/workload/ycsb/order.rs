//! The records in the order of their keys' bytes, including those yet to be inserted: what a scan must show.

use super::definition::Naming;
use super::name::Name;

#[derive(Debug)]
pub struct Order {
    records: Vec<u32>,
    positions: Vec<u32>,
}

impl Order {
    pub fn new(naming: Naming, count: u64) -> Order {
        let with_name = |record: u32| (naming.name(u64::from(record)), record);
        let mut named_records: Vec<(Name, u32)> = (0..count as u32).map(with_name).collect();
        named_records.sort_unstable_by(|(a, _), (b, _)| a.bytes().cmp(b.bytes()));
        let records: Vec<u32> = named_records.into_iter().map(|(_, record)| record).collect();
        let mut positions = vec![0; records.len()];
        for (position, record) in (0..).zip(&records) {
            positions[*record as usize] = position;
        }
        Order { records, positions }
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
        let naming = Naming { ordered: true, padding: 0, first: 5 };
        let order = Order::new(naming, 8);
        // user5 to user12.
        assert_eq!(order.records_from(5).collect::<Vec<_>>(), [5, 6, 7, 0, 1, 2, 3, 4]);
        assert_eq!(order.records_from(3).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(order.records_from(8).count(), 0);
        let hashed = Order::new(Naming { ordered: false, ..naming }, 1000);
        let keys: Vec<Name> = hashed.records_from(hashed.records[0].into()).map(|r| naming.name(r)).collect();
        assert_eq!(keys.len(), 1000);
    }
}
