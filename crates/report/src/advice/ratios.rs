//! Ratios in words: how many times slower, or how much more disk.

use storebench_figures::data::spread;
use storebench_figures::stats::{MIN_BLOCKS, Ratio};
use storebench_model::units::three_digits;

use super::question::Goal;

/// `1.94x slower` for a ratio of at least 1; for a smaller one, the factor by which it is better.
pub fn worse(goal: Goal, ratio: f64) -> String {
    if ratio < 1.0 {
        return better(goal, 1.0 / ratio);
    }
    let times = three_digits(ratio);
    match goal {
        Goal::Speed => format!("{times}x slower"),
        Goal::Space => format!("uses {times}x the disk"),
        Goal::Memory => format!("uses {times}x the memory"),
        Goal::Balance => format!("{times}x worse overall"),
    }
}

/// `1.94x faster`.
pub fn better(goal: Goal, ratio: f64) -> String {
    if ratio < 1.0 {
        return worse(goal, 1.0 / ratio);
    }
    let times = three_digits(ratio);
    match goal {
        Goal::Speed => format!("{times}x faster"),
        Goal::Space => format!("uses {times}x less disk"),
        Goal::Memory => format!("uses {times}x less memory"),
        Goal::Balance => format!("{times}x better overall"),
    }
}

/// An interval after a ratio, ` [1.80, 2.10]`; empty with too few blocks for one, or if it says no more than the ratio.
pub fn interval(ratio: &Ratio) -> String {
    let visible = ratio.ratio.interval.filter(|interval| {
        let is_visible = three_digits(interval.low) != three_digits(interval.high);
        ratio.blocks >= MIN_BLOCKS && is_visible && interval.high <= TOO_WIDE * interval.low
    });
    spread::describe_after(visible, three_digits)
}

/// An interval with ends further apart than this factor says nothing, and would only be long.
const TOO_WIDE: f64 = 1000.0;

/// `measured once`.
pub fn times_measured(trials: usize) -> String {
    format!("measured {}", describe_times(trials))
}

/// `once`.
pub fn describe_times(trials: usize) -> String {
    match trials {
        1 => "once".into(),
        2 => "twice".into(),
        trials => format!("{trials} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_read_in_either_direction() {
        assert_eq!(worse(Goal::Speed, 1.94), "1.94x slower");
        assert_eq!(worse(Goal::Speed, 0.5), "2.00x faster");
        assert_eq!(better(Goal::Memory, 286.0), "uses 286x less memory");
        assert_eq!(better(Goal::Space, 0.5), "uses 2.00x the disk");
    }
}
