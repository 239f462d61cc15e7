//! Costs that the tests of whole commands take away, where a test is not about them.

/// The variable that takes them away: words, separated by commas.
pub const VARIABLE: &str = "STOREBENCH_TEST_HOOKS";
/// The word for [`probes_in_a_moment`].
pub const QUICK_PROBES: &str = "quick-probes";

/// The word for [`memory_keeps`].
pub const MEMORY_KEEPS: &str = "memory-keeps";

/// Whether a location is probed with a few bytes, and its device not watched while idle, so that others' writes to it are unknown.
pub fn probes_in_a_moment() -> bool {
    is_set(QUICK_PROBES)
}

/// Whether every place counts as a disk: tests work in memory.
pub fn memory_keeps() -> bool {
    is_set(MEMORY_KEEPS)
}

/// Whether a trial counts as alone on its machine, and a simulated disk as in time, whatever other tests run next to it.
pub fn is_alone() -> bool {
    is_set("alone")
}

fn is_set(hook: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|words| words.split(',').any(|word| word == hook))
}
