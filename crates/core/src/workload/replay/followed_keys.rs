//! Keys whose last write is known, in bounded memory: the first that falls into each place of a table. Their reads are checked
//! against the last write, others against an earlier one.

const PLACES: usize = 1 << 14;

/// A removed or never written key.
pub(crate) const ABSENT: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct KeySlot {
    /// The key's hash; 0 if the place is free.
    key: u64,
    /// The position of its last write, or [`ABSENT`].
    written: u64,
    /// Whether it was read back at the end.
    read_back: bool,
}

#[derive(Debug)]
pub(crate) struct FollowedKeys {
    places: Vec<KeySlot>,
}

impl FollowedKeys {
    /// Empty. All memory is taken and touched.
    pub fn new() -> FollowedKeys {
        let mut places = vec![KeySlot { key: 1, written: 1, read_back: true }; PLACES];
        places.fill(KeySlot { key: 0, written: ABSENT, read_back: false });
        FollowedKeys { places }
    }

    fn slot(&mut self, key: u64) -> &mut KeySlot {
        &mut self.places[key as usize % PLACES]
    }

    /// The last write of a key. A new key is followed from now on, with `first_version` as its last write, if its place is free.
    pub(crate) fn last_write(&mut self, key: u64, first_version: u64) -> Option<u64> {
        let place = self.slot(key);
        if place.key == 0 {
            *place = KeySlot { key, written: first_version, read_back: false };
        }
        (place.key == key).then_some(place.written)
    }

    /// Notes a write at a position, or a removal.
    pub fn set(&mut self, key: u64, written: u64) {
        let place = self.slot(key);
        if place.key == key {
            place.written = written;
        }
    }

    /// The last write of a followed key, at the first call only.
    pub(crate) fn once_to_read_back(&mut self, key: u64) -> Option<u64> {
        let place = self.slot(key);
        let first = place.key == key && !std::mem::replace(&mut place.read_back, true);
        first.then_some(place.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_its_first_key() {
        let mut followed = FollowedKeys::new();
        let (first, second) = (77, 77 + PLACES as u64);
        assert_eq!(followed.last_write(first, 0), Some(0));
        assert_eq!(followed.last_write(second, 0), None);
        followed.set(second, 9);
        followed.set(first, 5);
        assert_eq!(followed.last_write(first, 0), Some(5));
        assert_eq!((followed.once_to_read_back(second), followed.once_to_read_back(first)), (None, Some(5)));
        assert_eq!(followed.once_to_read_back(first), None);
    }
}
