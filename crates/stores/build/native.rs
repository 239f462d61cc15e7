//! Compiles the code between the stores and their libraries, links both, and passes on how the libraries were built.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::authors;
use crate::libraries::{BERKELEY_DB, Found, LEVELDB, LIBMDBX, Library, ROCKSDB, Result, UNQLITE};

/// Provides what the enabled features need. The error says what is missing, and what to install.
pub fn provide() -> Result<()> {
    if has_feature("LEVELDB") {
        // As its authors compile LevelDB itself.
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").flag_if_supported("-fno-rtti").flag_if_supported("-fno-exceptions");
        let found = LEVELDB.find()?;
        glue(&LEVELDB, &found, &mut build, "leveldb.cc")?;
        link(&LEVELDB, &found)?;
    }
    if has_feature("BERKELEYDB") {
        let found = BERKELEY_DB.find()?;
        glue(&BERKELEY_DB, &found, &mut cc::Build::new(), "berkeleydb.c")?;
        link(&BERKELEY_DB, &found)?;
    }
    if has_feature("LIBMDBX") {
        link(&LIBMDBX, &LIBMDBX.find()?)?;
    }
    if has_feature("UNQLITE") {
        link(&UNQLITE, &UNQLITE.find()?)?;
    }
    // The largest last: when other packages are done, its units are compiled next to each other.
    println!("cargo:rustc-check-cfg=cfg(rocksdb_linked)");
    if has_feature("ROCKSDB") && authors::are_wanted() {
        authors::find()?;
    } else if has_feature("ROCKSDB") {
        println!("cargo:rustc-cfg=rocksdb_linked");
        let found = ROCKSDB.find()?;
        println!("cargo:rustc-env=STOREBENCH_ROCKSDB_VERSION={}", rocksdb_version(&found)?);
        link(&ROCKSDB, &found)?;
        // An archive needs the C++ runtime behind it.
        if found.is_static {
            let target = env::var("TARGET")?;
            println!(
                "cargo:rustc-link-lib=dylib={}",
                if target.contains("apple") { "c++" } else { "stdc++" }
            );
        }
    }
    Ok(())
}

fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// Compiles a file of the folder `native` with the library's header. The benchmark `fidelity` alone links its file of the same name.
fn glue(library: &Library, found: &Found, build: &mut cc::Build, source: &str) -> Result<()> {
    build.warnings(true).extra_warnings(true);
    if let Some(prefix) = &found.prefix {
        build.include(prefix.join("include"));
    }
    let file = |folder: &str| {
        let path = Path::new(folder).join(source);
        println!("cargo:rerun-if-changed={}", path.display());
        path
    };
    build.clone().file(file("native")).compile(&format!("storebench_{}", library.feature));
    let direct = format!("direct_{}", library.feature);
    build.file(file("benches/fidelity/direct")).cargo_metadata(false).compile(&direct);
    let archive = PathBuf::from(env::var("OUT_DIR")?).join(format!("lib{direct}.a"));
    println!("cargo:rustc-link-arg-benches={}", archive.display());
    Ok(())
}

fn link(library: &Library, found: &Found) -> Result<()> {
    if let Some(prefix) = &found.prefix {
        println!("cargo:rustc-link-search=native={}", prefix.join("lib").display());
    }
    let Library { feature, link, assertions, .. } = library;
    println!("cargo:rustc-link-lib={}={link}", if found.is_static { "static:-bundle" } else { "dylib" });
    let mut has_assertions = if assertions.is_empty() { "no" } else { "" };
    if let (true, Some(prefix)) = (found.is_static, &found.prefix) {
        let archive = prefix.join(format!("lib/lib{link}.a"));
        // Once more behind the benchmark's own code, for linkers that look at each archive once.
        println!("cargo:rustc-link-arg-benches={}", archive.display());
        let bytes = fs::read(archive)?;
        has_assertions = if assertions.iter().any(|mark| contains(&bytes, mark)) { "yes" } else { "no" };
    }
    let name = feature.to_uppercase();
    println!("cargo:rustc-env=STOREBENCH_{name}_SOURCE={}", found.source);
    println!("cargo:rustc-env=STOREBENCH_{name}_FLAGS={}", found.flags.as_deref().unwrap_or_default());
    println!("cargo:rustc-env=STOREBENCH_{name}_ASSERTIONS={has_assertions}");
    println!("cargo:rustc-env=STOREBENCH_{name}_MARKS={}", assertions.join(" or "));
    let prefix = found.prefix.as_ref().map_or_else(String::new, |prefix| prefix.display().to_string());
    println!("cargo:rustc-env=STOREBENCH_{name}_PREFIX={prefix}");
    Ok(())
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// RocksDB's C interface reports no version: a header of the build has it.
fn rocksdb_version(found: &Found) -> Result<String> {
    let header = found.include().join("rocksdb/version.h");
    println!("cargo:rerun-if-changed={}", header.display());
    let text = fs::read_to_string(&header).map_err(|error| format!("{}: {error}", header.display()))?;
    let find_number = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(&format!("#define ROCKSDB_{name} ")))
            .map(str::trim)
            .ok_or_else(|| format!("{}: ROCKSDB_{name} is not defined there", header.display()))
    };
    Ok(format!("{}.{}.{}", find_number("MAJOR")?, find_number("MINOR")?, find_number("PATCH")?))
}
