//! The builds of the engines that cargo compiles with their crates, as far as the build script and the compiler tell.

use storebench_core::store::StoreBuild;

/// Where they come from.
const SOURCE: &str = "its crate, compiled by cargo";

/// An engine in C, which `cc` compiles; `more` is what it is told besides the optimisation.
pub fn c(more: &str, assertions: Option<bool>) -> StoreBuild {
    let mut flags = optimisation("-O").unwrap_or_default();
    if !more.is_empty() {
        flags = format!("{flags} {more}");
    }
    let flags = flags.trim().to_owned();
    StoreBuild::new(SOURCE, (!flags.is_empty()).then_some(flags), assertions)
}

/// An engine in Rust: cargo's profile decides for all crates alike.
pub fn rust() -> StoreBuild {
    StoreBuild::new(SOURCE, optimisation("opt-level="), Some(cfg!(debug_assertions)))
}

/// LMDB, whose authors' own Makefile leaves its assertions in: a build with them is ranked, too. Its crate takes them out
/// where cargo's profile has none.
pub fn lmdb() -> StoreBuild {
    let assertions = env!("STOREBENCH_BUILD_ASSERTIONS") == "true";
    let more = if assertions { "" } else { "-DNDEBUG" };
    StoreBuild { not_ranked: None, ..c(more, Some(assertions)) }
}

/// The level of optimisation. In other profiles than release, crates have levels of their own, which are not known here.
fn optimisation(flag: &str) -> Option<String> {
    (!cfg!(debug_assertions)).then(|| format!("{flag}{}", env!("STOREBENCH_OPT_LEVEL")))
}
