//! Costs that the tests of whole commands take away, where a test is not about them.

/// The variable that takes them away: words, separated by commas.
pub const VARIABLE: &str = "STOREBENCH_TEST_HOOKS";
/// The word for [`probes_in_a_moment`].
pub const QUICK_PROBES: &str = "quick-probes";

/// Whether a place is probed with a few bytes, and its device is not watched while nothing runs: what others write to the device is then
/// unknown in the results.
pub fn probes_in_a_moment() -> bool {
    std::env::var(VARIABLE).is_ok_and(|words| words.split(',').any(|word| word == QUICK_PROBES))
}
