//! How much of the tests' matrices is walked: a part of each by `make test`, all by `make test-all`.

/// Whether every value of each matrix is asked for: every guarantee, command and mutation.
pub fn is_whole() -> bool {
    std::env::var("STOREBENCH_TESTS").is_ok_and(|tier| tier == "all")
}
