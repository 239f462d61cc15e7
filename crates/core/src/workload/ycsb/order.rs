//! The records in the order of their keys' bytes, including those yet to be inserted: what a scan must show.

use super::definition::Naming;
use super::name::Name;

#[derive(Debug)]
pub struct Order {
    sorted: Vec<u32>,
    /// Each record's position.
    places: Vec<u32>,
}

impl Order {
    pub fn new(naming: Naming, records: u64) -> Order {
        let named = |record: u32| (naming.name(u64::from(record)), record);
        let mut all: Vec<(Name, u32)> = (0..records as u32).map(named).collect();
        all.sort_unstable_by(|(a, _), (b, _)| a.bytes().cmp(b.bytes()));
        let sorted: Vec<u32> = all.into_iter().map(|(_, record)| record).collect();
        let mut places = vec![0; sorted.len()];
        for (place, record) in (0..).zip(&sorted) {
            places[*record as usize] = place;
        }
        Order { sorted, places }
    }

    pub fn records_from(&self, record: u64) -> impl Iterator<Item = u64> {
        let first = self.places.get(record as usize).map_or(self.sorted.len(), |place| *place as usize);
        self.sorted[first..].iter().map(|record| u64::from(*record))
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
        let keys: Vec<Name> = hashed.records_from(hashed.sorted[0].into()).map(|r| naming.name(r)).collect();
        assert_eq!(keys.len(), 1000);
    }
}
