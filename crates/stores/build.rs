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

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    // Rust crates that report no version.
    for name in ["fjall", "redb", "sled"] {
        let version = locked(name, "version").unwrap_or_else(|_| "unknown".into());
        println!("cargo:rustc-env=STOREBENCH_{}_VERSION={version}", name.to_uppercase());
    }
    // The profile of engines that are crates: if this script has assertions, LMDB's leaves them in the engine, too.
    println!("cargo:rustc-env=STOREBENCH_OPT_LEVEL={}", env::var("OPT_LEVEL").unwrap_or_default());
    println!("cargo:rustc-env=STOREBENCH_BUILD_ASSERTIONS={}", cfg!(debug_assertions));
    native::provide()
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
