//! Finds the libraries of the stores, and hands what the engines can't be asked for to the code: versions, and how they were
//! built.

#[path = "build/authors.rs"]
mod authors;
#[path = "build/libraries.rs"]
mod libraries;
#[path = "build/native.rs"]
mod native;

use std::error::Error;
use std::{env, fs};

/// The engines that are Rust crates without a version of their own to ask for.
const CRATES: [&str; 3] = ["fjall", "redb", "sled"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    tell_crate_versions();
    tell_profile();
    native::provide()
}

/// Tells the profile of the engines that are crates. Build scripts are compiled alike: where this one has assertions, that of
/// LMDB leaves them in the engine.
fn tell_profile() {
    let optimisation = env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=STOREBENCH_OPT_LEVEL={optimisation}");
    println!("cargo:rustc-env=STOREBENCH_BUILD_ASSERTIONS={}", cfg!(debug_assertions));
}

/// The versions that Cargo resolved.
fn tell_crate_versions() {
    let lock = libraries::root().and_then(|root| {
        let path = root.join("Cargo.lock");
        println!("cargo:rerun-if-changed={}", path.display());
        fs::read_to_string(path).ok()
    });
    for name in CRATES {
        let version = lock.as_deref().and_then(|text| version_in(text, name)).unwrap_or("unknown");
        println!("cargo:rustc-env=STOREBENCH_{}_VERSION={version}", name.to_uppercase());
    }
}

/// The version of a package, from the `name` and `version` lines that a lock file has one after the other.
fn version_in<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| *line != heading);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}
