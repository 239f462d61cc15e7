//! Finds the system libraries that stores need, and says what to install when one is missing.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A system library: how to see that it is there, and what to install when it is not.
struct Library {
    /// The Cargo feature, which is the store's name too.
    feature: &'static str,
    /// The engine's name.
    engine: &'static str,
    /// What the linker calls it.
    link: &'static str,
    /// A function of it.
    symbol: &'static str,
    header: &'static str,
    debian: &'static str,
    homebrew: &'static str,
    /// The variable that names a folder with `include` and `lib` in it.
    variable: &'static str,
}

const LEVELDB: Library = Library {
    feature: "leveldb",
    engine: "LevelDB",
    link: "leveldb",
    symbol: "leveldb_major_version",
    header: "leveldb/c.h",
    debian: "libleveldb-dev",
    homebrew: "leveldb",
    variable: "LEVELDB_DIR",
};

const BERKELEY_DB: Library = Library {
    feature: "berkeleydb",
    engine: "Berkeley DB 5.3",
    link: "db",
    symbol: "db_create",
    header: "db.h",
    debian: "libdb5.3-dev",
    homebrew: "berkeley-db@5",
    variable: "BERKELEYDB_DIR",
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Finds what the features that are on need.
///
/// # Errors
/// What is missing, and what to install.
pub fn provide() -> Result<()> {
    if has_feature("LEVELDB") {
        use_library(&LEVELDB, cc::Build::new().cpp(true).std("c++17"), "leveldb.cc")?;
    }
    if has_feature("BERKELEYDB") {
        use_library(&BERKELEY_DB, &mut cc::Build::new(), "berkeleydb.c")?;
    }
    if has_feature("ROCKSDB") {
        tell_rocksdb_version()?;
    }
    Ok(())
}

fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// Gives the folder that the library lies in, or `None` where the compiler finds it by itself.
fn find(library: &Library) -> Result<Option<PathBuf>> {
    println!("cargo:rerun-if-env-changed={}", library.variable);
    for prefix in prefixes(library) {
        if links(library, prefix.as_deref())? {
            return Ok(prefix);
        }
    }
    Err(missing(library).into())
}

fn missing(library: &Library) -> String {
    let Library { feature, engine, debian, homebrew, variable, .. } = library;
    format!(
        "the library and header of {engine} were not found. Install them (Debian, Ubuntu: apt install {debian}; \
         macOS: brew install {homebrew}), or name their folder in {variable}, or build without this store \
         (--no-default-features and --features with all but {feature})"
    )
}

/// Where the library may be: where the user says, else where the compiler looks, else where Homebrew puts it.
fn prefixes(library: &Library) -> Vec<Option<PathBuf>> {
    if let Some(folder) = env::var_os(library.variable) {
        return vec![Some(folder.into())];
    }
    let mut found = vec![None];
    for homebrew in ["/opt/homebrew", "/usr/local"] {
        let formula = Path::new(homebrew).join("opt").join(library.homebrew);
        found.extend([formula, homebrew.into()].into_iter().filter(|folder| folder.is_dir()).map(Some));
    }
    found
}

/// Whether a program that uses the library compiles and links.
fn links(library: &Library, prefix: Option<&Path>) -> Result<bool> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let source = out.join(format!("probe_{}.c", library.feature));
    let Library { header, symbol, .. } = library;
    fs::write(&source, format!("#include <{header}>\nint main(void) {{ return (void *){symbol} == 0; }}\n"))?;
    let mut compiler = cc::Build::new().get_compiler().to_command();
    compiler.arg(&source).arg("-o").arg(out.join("probe"));
    if let Some(prefix) = prefix {
        compiler.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
    }
    let output = compiler.arg(format!("-l{}", library.link)).output()?;
    Ok(output.status.success())
}

/// Compiles a file of the folder `native` with the library's header, and links the library behind it. The file of the same
/// name of the benchmark `fidelity` is linked with the benchmark alone.
fn use_library(library: &Library, build: &mut cc::Build, source: &str) -> Result<()> {
    let prefix = find(library)?;
    build.warnings(true).extra_warnings(true);
    if let Some(prefix) = &prefix {
        build.include(prefix.join("include"));
        println!("cargo:rustc-link-search=native={}", prefix.join("lib").display());
    }
    let file = |folder: &str| {
        let path = Path::new(folder).join(source);
        println!("cargo:rerun-if-changed={}", path.display());
        path
    };
    build.clone().file(file("native")).compile(&format!("storebench_{}", library.feature));
    println!("cargo:rustc-link-lib={}", library.link);
    let direct = format!("direct_{}", library.feature);
    build.file(file("benches/fidelity/direct")).cargo_metadata(false).compile(&direct);
    let archive = PathBuf::from(env::var("OUT_DIR")?).join(format!("lib{direct}.a"));
    println!("cargo:rustc-link-arg-benches={}", archive.display());
    Ok(())
}

/// RocksDB's C interface can't be asked for the version: it is in a header beside the one that is built with.
fn tell_rocksdb_version() -> Result<()> {
    println!("cargo:rerun-if-env-changed=ROCKSDB_INCLUDE_DIR");
    // As librocksdb-sys takes it: relative to itself, and by default to the RocksDB that it bundles.
    let include = env::var_os("ROCKSDB_INCLUDE_DIR").map_or("rocksdb/include".into(), PathBuf::from);
    let include = PathBuf::from(env::var("DEP_ROCKSDB_CARGO_MANIFEST_DIR")?).join(include);
    let header = include.join("rocksdb/version.h");
    let text = fs::read_to_string(&header).map_err(|error| {
        format!(
            "{}: {error}. Install RocksDB (Debian, Ubuntu: apt install librocksdb-dev; macOS: brew install rocksdb), \
             or unset ROCKSDB_INCLUDE_DIR and ROCKSDB_LIB_DIR to build it from source",
            header.display()
        )
    })?;
    let part = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(&format!("#define ROCKSDB_{name} ")))
            .map(str::trim)
            .ok_or_else(|| format!("{}: ROCKSDB_{name} is not defined there", header.display()))
    };
    println!(
        "cargo:rustc-env=STOREBENCH_ROCKSDB_VERSION={}.{}.{}",
        part("MAJOR")?,
        part("MINOR")?,
        part("PATCH")?
    );
    Ok(())
}
