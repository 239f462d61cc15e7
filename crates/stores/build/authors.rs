//! RocksDB as its authors build it: nothing is linked, and the program loads their library when it runs.

use std::env;
use std::process::Command;

use crate::libraries::{ROCKSDB, Result, root};

pub fn are_wanted() -> bool {
    println!("cargo:rerun-if-env-changed=ROCKSDB");
    env::var_os("ROCKSDB").is_some_and(|choice| choice == "authors")
        && env::var_os(ROCKSDB.variable).is_none()
}

/// Passes on where scripts/rocksdb-authors.sh has put the library. The error says why there is none for this program, and what to do.
pub fn find() -> Result<()> {
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        return Err("ROCKSDB=authors: a static program can't load libraries: leave ROCKSDB empty".into());
    }
    println!("cargo:rerun-if-env-changed=TARGET_CC");
    if env::var("TARGET")? != env::var("HOST")? || env::var_os("TARGET_CC").is_some() {
        return Err("ROCKSDB=authors is for programs that stay on this machine: leave ROCKSDB empty".into());
    }
    let script = root().ok_or("there is no Cargo.lock, and so no script that fetches RocksDB")?;
    let script = script.join("scripts/rocksdb-authors.sh");
    println!("cargo:rerun-if-changed={}", script.display());
    let output = Command::new("sh").arg(&script).arg("--where").output()?;
    let printed = String::from_utf8(output.stdout)?;
    let mut lines = printed.lines();
    let (Some(version), Some(file)) = (lines.next(), lines.next()) else {
        return Err(format!(
            "the build of RocksDB's authors is not there: sh {} fetches it (as `make ROCKSDB=authors` does)",
            script.display()
        )
        .into());
    };
    println!("cargo:rerun-if-changed={file}");
    println!("cargo:rustc-env=STOREBENCH_ROCKSDB_VERSION={version}");
    println!("cargo:rustc-env=STOREBENCH_ROCKSDB_LIBRARY={file}");
    println!("cargo:rustc-env=STOREBENCH_ROCKSDB_MARKS={}", ROCKSDB.assertions.join(" or "));
    // The library itself is looked at when it is loaded.
    for name in ["SOURCE", "FLAGS", "ASSERTIONS"] {
        println!("cargo:rustc-env=STOREBENCH_ROCKSDB_{name}=");
    }
    Ok(())
}
