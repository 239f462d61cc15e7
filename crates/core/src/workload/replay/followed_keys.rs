//! Keys whose last write is known, in bounded memory: the first that falls into each slot of a table. Their reads are checked
//! against the last write, others against an earlier one.

const SLOTS: usize = 1 << 14;

/// A removed or never written key.
pub(crate) const ABSENT: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct KeySlot {
    /// The key's hash; 0 if the slot is free.
    key: u64,
    /// The position of its last write, or [`ABSENT`].
    written: u64,
    /// Whether it was read back at the end.
    read_back: bool,
}

#[derive(Debug)]
pub(crate) struct FollowedKeys {
    slots: Vec<KeySlot>,
}

impl FollowedKeys {
    /// Empty. All memory is taken and touched.
    pub fn new() -> FollowedKeys {
        let mut slots = vec![KeySlot { key: 1, written: 1, read_back: true }; SLOTS];
        slots.fill(KeySlot { key: 0, written: ABSENT, read_back: false });
        FollowedKeys { slots }
    }

    fn slot_mut(&mut self, key: u64) -> &mut KeySlot {
        &mut self.slots[key as usize % SLOTS]
    }

    /// The last write of a key. A new key is followed from now on, with `first_version` as its last write, if its slot is free.
    pub(crate) fn follow_key(&mut self, key: u64, first_version: u64) -> Option<u64> {
        let slot = self.slot_mut(key);
        if slot.key == 0 {
            *slot = KeySlot { key, written: first_version, read_back: false };
        }
        (slot.key == key).then_some(slot.written)
    }

    /// Notes a write at a position, or a removal.
    pub fn note_write(&mut self, key: u64, written: u64) {
        let slot = self.slot_mut(key);
        if slot.key == key {
            slot.written = written;
        }
    }

    /// Notes that a key is read back; gives its last write if it is followed and was not read back before.
    pub(crate) fn start_read_back(&mut self, key: u64) -> Option<u64> {
        let slot = self.slot_mut(key);
        let first = slot.key == key && !std::mem::replace(&mut slot.read_back, true);
        first.then_some(slot.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_its_first_key() {
        let mut followed = FollowedKeys::new();
        let (first, second) = (77, 77 + SLOTS as u64);
        assert_eq!(followed.follow_key(first, 0), Some(0));
        assert_eq!(followed.follow_key(second, 0), None);
        followed.note_write(second, 9);
        followed.note_write(first, 5);
        assert_eq!(followed.follow_key(first, 0), Some(5));
        assert_eq!((followed.start_read_back(second), followed.start_read_back(first)), (None, Some(5)));
        assert_eq!(followed.start_read_back(first), None);
    }
}
