//! Finds the stores' libraries, and passes to the code what engines can't report: versions, and how they were built.

#[path = "build/authors.rs"]
mod authors;
#[path = "build/engines.rs"]
mod engines;
#[path = "build/libraries.rs"]
mod libraries;
#[path = "build/native.rs"]
mod native;

use std::error::Error;
use std::{env, fs};

/// Rust crates that report no version.
const CRATES: [&str; 3] = ["fjall", "redb", "sled"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    tell_crate_versions();
    tell_profile();
    native::provide()
}

/// Passes on the profile of engines that are crates. Build scripts are compiled alike: if this one has assertions, LMDB's leaves
/// them in the engine.
fn tell_profile() {
    let optimisation = env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=STOREBENCH_OPT_LEVEL={optimisation}");
    println!("cargo:rustc-env=STOREBENCH_BUILD_ASSERTIONS={}", cfg!(debug_assertions));
}

fn tell_crate_versions() {
    for name in CRATES {
        let version = locked(name, "version").unwrap_or_else(|_| "unknown".into());
        println!("cargo:rustc-env=STOREBENCH_{}_VERSION={version}", name.to_uppercase());
    }
}

/// A package's version or checksum in Cargo.lock.
fn locked(name: &str, field: &str) -> Result<String, Box<dyn Error>> {
    let path = libraries::root()
        .ok_or("there is no Cargo.lock, which pins the engines' sources")?
        .join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", path.display());
    let lock = fs::read_to_string(path)?;
    let heading = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| *line != heading).take_while(|line| !line.is_empty());
    let value = lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(" = \"")?.strip_suffix('"'));
    Ok(value.ok_or_else(|| format!("Cargo.lock has no {field} of {name}"))?.to_owned())
}
