//! The builds of engines that cargo compiles with their crates, as far as the build script and the compiler know.

use storebench_model::store::StoreBuild;

const SOURCE: &str = "its crate, compiled by cargo";

/// An engine in C, compiled by `cc`; `more_flags` are flags besides the optimisation.
pub fn c(more_flags: &str, assertions: Option<bool>) -> StoreBuild {
    let mut flags = optimisation("-O").unwrap_or_default();
    if !more_flags.is_empty() {
        flags = format!("{flags} {more_flags}");
    }
    let flags = flags.trim().to_owned();
    StoreBuild::new(SOURCE, (!flags.is_empty()).then_some(flags), assertions)
}

/// Cargo's profile decides for all Rust crates.
pub fn rust() -> StoreBuild {
    StoreBuild::new(SOURCE, optimisation("opt-level="), Some(cfg!(debug_assertions)))
}

/// LMDB's Makefile leaves its assertions in: a build with them is ranked, too. Its crate removes them if cargo's profile has none.
pub fn lmdb() -> StoreBuild {
    let assertions = env!("STOREBENCH_BUILD_ASSERTIONS") == "true";
    let more_flags = if assertions { "" } else { "-DNDEBUG" };
    StoreBuild { not_ranked: None, ..c(more_flags, Some(assertions)) }
}

/// In profiles other than release, crates may have other levels, which are not known here.
fn optimisation(flag: &str) -> Option<String> {
    (!cfg!(debug_assertions)).then(|| format!("{flag}{}", env!("STOREBENCH_OPT_LEVEL")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_of_crates_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        let names = ["fjall", "redb", "sled"];
        for def in crate::STORES.iter().filter(|def| names.contains(&def.name) && def.open.is_ok()) {
            let entry = format!("name = \"{}\"\nversion = \"{}\"\n", def.name, (def.version)());
            assert!(lock.contains(&entry), "{entry}");
        }
    }
}
