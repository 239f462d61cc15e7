//! Counts a plan's combinations.

use super::{ALWAYS_CROSSED, Plan};
use storebench_model::axis::Axis;

impl Plan {
    /// The axes in the order in which sentences count them, each with its number of values in this many places.
    pub fn lengths(&self, places: usize) -> Vec<(Axis, usize)> {
        let mut axes = self.workload.def().axes.to_vec();
        axes.sort_by_key(|axis| axis.place_in_id());
        let length = |axis| match axis {
            place if place == Axis::PLACE => places,
            store if store == Axis::STORE => {
                let stores = self.axes.texts(store);
                stores.iter().map(|store| self.count_variants(store)).fold(0, usize::saturating_add)
            }
            axis if self.is_counted_elsewhere(axis) => 1,
            axis => self.axes.values(axis).len(),
        };
        axes.into_iter().map(|axis| (axis, length(axis))).collect()
    }

    /// The number of combinations in this many places, including those that are left out.
    pub fn combinations(&self, places: usize) -> u64 {
        let lengths = self.lengths(places);
        if !self.axes_one_at_a_time {
            return lengths.into_iter().map(|(_, length)| length as u64).fold(1, u64::saturating_mul);
        }
        let length_of = |axis| {
            let counted = lengths.iter().find(|(counted_axis, _)| *counted_axis == axis);
            counted.map_or(1, |(_, length)| *length as u64)
        };
        let other_lengths = lengths.iter().filter(|(axis, _)| !ALWAYS_CROSSED.contains(axis));
        let single_changes =
            other_lengths.map(|(_, length)| (*length as u64).saturating_sub(1)).fold(0, u64::saturating_add);
        let stores = self.axes.values(Axis::STORE).len() as u64;
        let varied = stores.saturating_mul(single_changes);
        length_of(Axis::STORE).saturating_add(varied).saturating_mul(length_of(Axis::GUARANTEE))
    }
}
