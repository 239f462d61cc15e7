//! Where the blocks of an image are on a far larger disk: in extents that lie all over it, as the files of a disk in use do.

/// How an image is spread over a disk.
#[derive(Debug, Clone)]
pub struct Spread {
    extent: u64,
    /// Each extent's place, in extents from the start of the disk.
    slots: Vec<u64>,
}

/// How much further each extent lies than the one before, as a share of the disk: the fractional part of the golden ratio, which
/// spreads any run of extents over the whole disk.
const STEP: f64 = 0.618_033_988_749_895;

impl Spread {
    /// All in bytes.
    pub fn new(image: u64, disk: u64, extent: u64) -> Spread {
        let extent = extent.max(1);
        let (extents, places) = (image.div_ceil(extent).max(1), (disk / extent).max(1));
        let golden = |index: u64| ((index as f64 * STEP).fract() * places as f64) as u64;
        let even = |index: u64| index * places / extents;
        // Close together, two might share a place.
        let slot = |index: u64| if places / 4 > extents { golden(index) } else { even(index) };
        Spread { extent, slots: (0..extents).map(slot).collect() }
    }

    /// The contiguous parts of some bytes of the image: each part's start on the disk and length.
    pub fn parts(&self, offset: u64, bytes: u64) -> Vec<(u64, u64)> {
        let (mut offset, mut remaining, mut parts) = (offset, bytes, Vec::with_capacity(1));
        while remaining > 0 {
            let (index, offset_in_extent) = (offset / self.extent, offset % self.extent);
            let length = remaining.min(self.extent - offset_in_extent);
            let slot = usize::try_from(index).ok().and_then(|index| self.slots.get(index));
            parts.push((slot.copied().unwrap_or_default() * self.extent + offset_in_extent, length));
            offset += length;
            remaining -= length;
        }
        parts
    }

    pub fn end_of(&self, byte: u64) -> u64 {
        (byte / self.extent + 1) * self.extent
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_extents_share_a_place_and_all_are_on_the_disk() {
        for (image, disk) in [(1, 1000), (100, 1000), (240, 1000), (260, 1000), (1000, 1000)] {
            let spread = Spread::new(image << 20, disk << 20, 1 << 20);
            let distinct: BTreeSet<u64> = spread.slots.iter().copied().collect();
            assert_eq!(distinct.len() as u64, image, "{image} on {disk}");
            assert!(distinct.iter().all(|slot| *slot < disk));
        }
    }

    #[test]
    fn a_few_extents_in_a_row_lie_all_over_the_disk() {
        let spread = Spread::new(256 << 20, 250_000_000_000, 8 << 20);
        let places = 250_000_000_000 / (8 << 20);
        for start in 0..16 {
            let neighbours = &spread.slots[start..start + 16];
            let quarters: BTreeSet<u64> = neighbours.iter().map(|slot| slot * 4 / places).collect();
            assert_eq!(quarters.len(), 4, "{neighbours:?}");
        }
    }

    #[test]
    fn a_request_is_split_where_extents_end() {
        let spread = Spread::new(4096, 1 << 30, 1024);
        let place = |index: usize| spread.slots[index] * 1024;
        assert_eq!(spread.parts(10, 100), [(10, 100)]);
        assert_eq!(spread.parts(1000, 1100), [(1000, 24), (place(1), 1024), (place(2), 52)]);
        assert!(spread.parts(5, 0).is_empty());
        assert_eq!(spread.end_of(place(1) + 3), place(1) + 1024);
    }
}
