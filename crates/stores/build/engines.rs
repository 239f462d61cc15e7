//! Compiles engines from their authors' sources, as their authors ship them: optimised and without assertions. Distributions
//! leave assertions in RocksDB and LevelDB, which makes RocksDB's reads up to twice as slow (docs/fairness.md), and Debian lacks
//! the other two. Builds are kept in a cache outside the checkout, one per machine.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use crate::libraries::Result;
use crate::locked;

/// RocksDB's sources that [`SHIM`] needs, by scripts/rocksdb-sources.sh.
const ROCKSDB_SOURCES: &str = include_str!("rocksdb-sources.txt");
const SHIM: &str = include_str!("../native/rocksdb.cc");

/// Sources per compiler call: they share headers, so that four calls take a quarter less time than eleven, and 2.1 GB at most
/// where those take 1.8.
const UNIT: usize = 71;

const LEVELDB_VERSION: &str = "1.23";

/// Raise it when what this file does with sources and flags changes.
const RECIPE: u32 = 3;

/// A feature, and the parts of its library, the engine first.
type Engine = (&'static str, &'static [Part]);

#[derive(Clone, Copy, PartialEq)]
enum Part {
    RocksDb,
    LevelDb,
    Snappy,
    Lz4,
    Zstd,
    UnQLite,
    Libmdbx,
}

const ENGINES: [Engine; 4] = [
    ("rocksdb", &[Part::RocksDb, Part::Snappy, Part::Lz4, Part::Zstd]),
    ("leveldb", &[Part::LevelDb, Part::Snappy]),
    ("unqlite", &[Part::UnQLite]),
    ("libmdbx", &[Part::Libmdbx]),
];

impl Part {
    /// The package of crates.io with its sources, which Cargo.lock pins; LevelDB's are its authors' archive, which
    /// scripts/sources.sh pins.
    fn package(self) -> &'static str {
        match self {
            Part::RocksDb | Part::Snappy => "librocksdb-sys",
            Part::LevelDb => "leveldb",
            Part::Lz4 => "lz4-sys",
            Part::Zstd => "zstd-sys",
            Part::UnQLite => "unqlite",
            Part::Libmdbx => "mdbx-sys",
        }
    }

    fn version(self) -> Result<String> {
        if self == Part::LevelDb { Ok(LEVELDB_VERSION.into()) } else { locked(self.package(), "version") }
    }

    /// Where scripts/sources.sh puts its sources.
    fn folder(self) -> Result<PathBuf> {
        Ok(sources()?.join(format!("{}-{}", self.package(), self.version()?)))
    }

    /// The flags of its authors' release build.
    fn flags(self) -> String {
        match self {
            // RocksDB's Makefile with DEBUG_LEVEL=0.
            Part::RocksDb => {
                let leaf = if machine() == "x86_64" { " -momit-leaf-frame-pointer" } else { "" };
                let platform = rocksdb_platform();
                format!("-std=c++20 -O2 -DNDEBUG -fno-rtti -fno-omit-frame-pointer{leaf} -fPIC{platform}")
            }
            // The rest as by cmake -DCMAKE_BUILD_TYPE=Release, and by make.
            Part::LevelDb => {
                let syncs = if system() == "macos" {
                    "-DHAVE_FDATASYNC=0 -DHAVE_FULLFSYNC=1"
                } else {
                    "-DHAVE_FDATASYNC=1 -DHAVE_FULLFSYNC=0"
                };
                format!(
                    "-std=c++11 -O3 -DNDEBUG -fno-exceptions -fno-rtti -fPIC -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_SNAPPY=1 \
                     -DHAVE_O_CLOEXEC=1{} {syncs}",
                    long_files()
                )
            }
            Part::Snappy => {
                let neon = if machine() == "aarch64" { " -DSNAPPY_HAVE_NEON=1" } else { "" };
                format!(
                    "-std=c++11 -O3 -DNDEBUG -fno-exceptions -fno-rtti -fPIC -DHAVE_BUILTIN_EXPECT=1 -DHAVE_BUILTIN_CTZ=1 \
                     -DHAVE_BUILTIN_PREFETCH=1 -DHAVE_ATTRIBUTE_ALWAYS_INLINE=1 -DHAVE_UNISTD_H=1 -DHAVE_SYS_UIO_H=1{neon}"
                )
            }
            Part::Lz4 | Part::Zstd => "-O3 -DNDEBUG -fPIC".into(),
            // As CMakeLists.txt with CMAKE_BUILD_TYPE=Release, without its locks.
            Part::UnQLite => format!("-O3 -DNDEBUG -fPIC{}", long_files()),
            // As its GNUmakefile.
            Part::Libmdbx => format!(
                "-std=gnu11 -O2 -DNDEBUG=1 -ffunction-sections -fPIC -fvisibility=hidden -pthread{}",
                long_files()
            ),
        }
    }

    /// The compiler with the flags that results show.
    fn compiler(self) -> cc::Build {
        let mut build = cc::Build::new();
        let is_cpp = matches!(self, Part::RocksDb | Part::LevelDb | Part::Snappy);
        build.cpp(is_cpp).no_default_flags(true).cargo_metadata(false).warnings(false).extra_warnings(false);
        // By scripts/target.sh, even if cargo-zigbuild has others.
        for (name, is_archiver) in
            [(if is_cpp { "TARGET_CXX" } else { "TARGET_CC" }, false), ("TARGET_AR", true)]
        {
            println!("cargo:rerun-if-env-changed={name}");
            match env::var_os(name) {
                Some(tool) if is_archiver => build.archiver(tool),
                Some(tool) => build.compiler(tool),
                None => &mut build,
            };
        }
        build.flags(self.flags().split(' '));
        build
    }

    /// Adds what results don't show: sources and header paths.
    fn take_sources(self, build: &mut cc::Build, work: &Path) -> Result<()> {
        let folder = self.folder()?;
        // No path of this machine gets into the library.
        build.flag("-w").flag(format!("-ffile-prefix-map={}=.", folder.display()));
        match self {
            Part::RocksDb => take_rocksdb(build, &folder, work)?,
            Part::LevelDb => {
                build.include(&folder).include(folder.join("include")).include(work.join("snappy"));
                for part in ["db", "table", "util", "helpers/memenv"] {
                    let files = files_of(&folder.join(part), "cc")?;
                    let excluded =
                        ["_test.cc", "_bench.cc", "/testutil.cc", "/leveldbutil.cc", "/env_windows.cc"];
                    build.files(
                        files.into_iter().filter(|file| !excluded.iter().any(|end| ends_with(file, end))),
                    );
                }
            }
            Part::Snappy => {
                let (folder, include) = (folder.join("snappy"), work.join("snappy"));
                // As its authors' cmake would write it, but for the version, which nobody asks for.
                let header = fs::read_to_string(folder.join("snappy-stubs-public.h.in"))?;
                let header = header.replace("${HAVE_SYS_UIO_H_01}", "1");
                fs::write(include.join("snappy-stubs-public.h"), header)?;
                for name in ["snappy.h", "snappy-c.h", "snappy-sinksource.h"] {
                    fs::copy(folder.join(name), include.join(name))?;
                }
                build.include(include).include(&folder);
                for name in ["snappy", "snappy-c", "snappy-sinksource", "snappy-stubs-internal"] {
                    build.file(folder.join(name).with_extension("cc"));
                }
            }
            Part::Lz4 => {
                build.define("XXH_NAMESPACE", "LZ4_");
                build.files(
                    ["lz4", "lz4frame", "lz4hc", "xxhash"]
                        .map(|name| folder.join(format!("liblz4/lib/{name}.c"))),
                );
            }
            Part::Zstd => {
                build.define("XXH_NAMESPACE", "ZSTD_");
                for part in ["common", "compress", "decompress", "dictBuilder"] {
                    build.files(files_of(&folder.join("zstd/lib").join(part), "c")?);
                }
                build.files(files_of(&folder.join("zstd/lib/decompress"), "S")?);
            }
            Part::UnQLite => {
                build.file(folder.join("unqlite/unqlite.c"));
            }
            Part::Libmdbx => {
                build.file(folder.join("libmdbx/mdbx.c"));
            }
        }
        Ok(())
    }

    /// A file or a folder.
    fn headers(self) -> Result<PathBuf> {
        let folder = self.folder()?;
        Ok(folder.join(match self {
            Part::RocksDb => "rocksdb/include/rocksdb",
            Part::LevelDb => "include/leveldb",
            Part::UnQLite => "unqlite/unqlite.h",
            Part::Libmdbx => "libmdbx/mdbx.h",
            Part::Snappy | Part::Lz4 | Part::Zstd => return Err("it is a part of engines".into()),
        }))
    }
}

/// Adds RocksDB's sources in units, with the code that replaces its `c.cc`.
fn take_rocksdb(build: &mut cc::Build, folder: &Path, work: &Path) -> Result<()> {
    let rocksdb = folder.join("rocksdb");
    build.include(rocksdb.join("include")).include(rocksdb).include(work.join("snappy"));
    build.include(Part::Lz4.folder()?.join("liblz4/lib")).include(Part::Zstd.folder()?.join("zstd/lib"));
    build.flags(["-DSNAPPY", "-DLZ4", "-DZSTD", "-include", "cstdint"]);
    let files: Vec<&str> = ROCKSDB_SOURCES.lines().filter(|line| !line.starts_with('#')).collect();
    for (number, files) in files.chunks(UNIT).enumerate() {
        let unit = work.join(format!("rocksdb-{number:02}.cc"));
        let lines: String = files.iter().map(|file| format!("#include \"{file}\"\n")).collect();
        fs::write(&unit, lines)?;
        build.file(unit);
    }
    let shim = work.join("shim.cc");
    fs::write(&shim, SHIM)?;
    build.file(shim).file(folder.join("build_version.cc"));
    Ok(())
}

fn machine() -> String {
    env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default()
}

fn system() -> String {
    env::var("CARGO_CFG_TARGET_OS").unwrap_or_default()
}

/// 32-bit systems need a flag for long files.
fn long_files() -> &'static str {
    if machine() == "arm" { " -D_FILE_OFFSET_BITS=64" } else { "" }
}

fn rocksdb_platform() -> String {
    let mut flags =
        format!(" -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DHAVE_ALIGNED_NEW{}", long_files());
    // Compilers for 32 bits have no such type.
    if machine() != "arm" {
        flags += " -DHAVE_UINT128_EXTENSION";
    }
    match system().as_str() {
        "linux" | "android" => {
            flags += " -DOS_LINUX -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT -DROCKSDB_SCHED_GETCPU_PRESENT \
                      -DROCKSDB_AUXV_GETAUXVAL_PRESENT -DROCKSDB_MALLOC_USABLE_SIZE";
            if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|library| library == "gnu") {
                flags += " -DROCKSDB_PTHREAD_ADAPTIVE_MUTEX";
            }
        }
        "macos" => flags += " -DOS_MACOSX",
        name => flags += &format!(" -DOS_{}", name.to_uppercase()),
    }
    // Checksums by the processor's own instructions, which RocksDB decides when it is compiled.
    match machine().as_str() {
        "x86_64" if has_checksums() => flags += " -msse4.2 -mpclmul",
        "aarch64" if system() == "linux" => flags += " -march=armv8-a+crc+crypto",
        _ => {}
    }
    flags
}

#[cfg(target_arch = "x86_64")]
fn has_checksums() -> bool {
    is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_checksums() -> bool {
    false
}

fn ends_with(file: &Path, end: &str) -> bool {
    file.as_os_str().as_encoded_bytes().ends_with(end.as_bytes())
}

/// In order of name.
fn files_of(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}

/// The cache of builds, with the sources in `sources`.
fn cache() -> Result<PathBuf> {
    for name in ["XDG_CACHE_HOME", "HOME"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let configured = env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = configured.or_else(home).ok_or("HOME is needed to find the cache")?;
    Ok(cache.join("storebench/engines"))
}

fn sources() -> Result<PathBuf> {
    Ok(cache()?.join("sources"))
}

/// Whether an engine's sources are there, or it needs none.
pub fn has_sources(feature: &str) -> Result<bool> {
    let Some((_, parts)) = ENGINES.iter().find(|engine| engine.0 == feature) else { return Ok(true) };
    for part in *parts {
        if !part.folder()?.exists() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All that decides a build.
fn recipe(parts: &[Part]) -> Result<String> {
    let [engine, others @ ..] = parts else { return Err("an engine has parts".into()) };
    // It says which variables of the environment decide.
    let tool = engine.compiler().cargo_metadata(true).try_get_compiler()?;
    let version = tool.to_command().arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version);
    // With what environment variables add.
    let flags: Vec<_> =
        tool.args().iter().map(|flag| flag.to_string_lossy()).filter(|flag| flag != "-w").collect();
    let zig =
        env::var("ZIG_TARGET").map_or_else(|_| String::new(), |target| format!(", as Zig has it: {target}"));
    println!("cargo:rerun-if-env-changed=ZIG_TARGET");
    let mut text = format!("flags: {}\n", flags.join(" "));
    text += &format!("compiler: {}\n", version.lines().next().unwrap_or_default());
    text += &format!("system: {}{zig}\n", env::var("TARGET")?);
    for part in parts {
        let (package, version) = (part.package(), part.version()?);
        let checksum = locked(package, "checksum").unwrap_or_default();
        text += &format!("sources: {package} {version} {checksum}\n");
    }
    for part in others {
        text += &format!("{} by: {}\n", part.package(), part.flags());
    }
    text += &format!("recipe: {RECIPE}\n");
    Ok(text)
}

/// FNV-1a: Rust's own hash may change with its version.
fn digest(texts: &[&str]) -> u64 {
    texts.iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Gives the folder with an engine's headers, library, and `BUILD`, which says what went into it, and compiles it if needed;
/// `None` without its sources. The error holds what the compiler said.
pub fn build(feature: &str) -> Result<Option<PathBuf>> {
    let Some((_, parts)) = ENGINES.iter().find(|engine| engine.0 == feature) else { return Ok(None) };
    let recipe = recipe(parts)?;
    let version = parts[0].version()?;
    // A package that has its engine's version calls it so: 0.19.0+11.8.1.
    let version = version.rsplit('+').next().unwrap_or_default();
    let inputs = if feature == "rocksdb" { [ROCKSDB_SOURCES, SHIM] } else { [""; 2] };
    let name = format!("{feature}-{version}-{:016x}", digest(&[&recipe, inputs[0], inputs[1]]));
    let cache = cache()?;
    let folder = cache.join(&name);
    if folder.join("BUILD").exists() {
        return Ok(Some(folder));
    }
    if !has_sources(feature)? {
        return Ok(None);
    }
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    // One build at a time. On file systems without locks, two do the same work in separate folders.
    let lock = File::create(cache.join(format!(".{feature}.lock")))?;
    let is_alone = lock.lock().is_ok();
    let prefix = format!(".building-{feature}-");
    if is_alone {
        for entry in fs::read_dir(&cache)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                // A build that was killed left it.
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    if !folder.join("BUILD").exists() {
        let work = cache.join(format!("{prefix}{}", process::id()));
        let outcome = compile(feature, parts, &work).and_then(|()| {
            fs::write(work.join("result/BUILD"), recipe)?;
            // It appears when it is complete, and never changes.
            fs::rename(work.join("result"), &folder)?;
            Ok(())
        });
        let _ = fs::remove_dir_all(&work);
        if !folder.join("BUILD").exists() {
            outcome.map_err(|error| format!("{feature} does not compile in {}: {error}", cache.display()))?;
        }
    }
    Ok(Some(folder))
}

/// Shares cargo's processors with all else that it compiles.
fn compile(feature: &str, parts: &[Part], work: &Path) -> Result<()> {
    let result = work.join("result");
    for folder in ["snappy", "result/include", "result/lib"] {
        fs::create_dir_all(work.join(folder))?;
    }
    let mut archive = parts[0].compiler();
    // The engine itself last: it needs headers that are made for the others.
    for (number, part) in parts.iter().enumerate().rev() {
        let mut build = part.compiler();
        part.take_sources(&mut build, work)?;
        archive.objects(build.out_dir(work.join(number.to_string())).try_compile_intermediates()?);
    }
    archive.out_dir(result.join("lib")).try_compile(feature.strip_prefix("lib").unwrap_or(feature))?;
    let headers = parts[0].headers()?;
    let name = headers.file_name().ok_or("headers have a name")?;
    copy(&headers, &result.join("include").join(name))?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
