//! The code in C compiles without a warning, and runs; with a driver in place of its `main`, the engine reads back what the store did.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use storebench_model::store::Guarantee;
use storebench_stores::PREFIXES;

use super::engine_settings::{self, assert_same, files, writes};
use super::left::run;
use super::{Shown, def, left, texts_in_own_language};
use crate::cli::support::Scratch;

enum Engine<'a> {
    /// The library that storebench is linked with; the folder with its `include` and `lib`, empty for the system's.
    Library { link: &'a str, prefix: &'static str },
    /// In a crate that Cargo unpacked: how its folder's name begins, the header, and what is compiled.
    Crate { folder: &'static str, header: &'static str, sources: &'static [&'static str] },
}

fn engine(store: &str) -> Engine<'_> {
    match store {
        "berkeleydb" => library(store, "db"),
        "libmdbx" => library(store, "mdbx"),
        "leveldb" | "rocksdb" | "unqlite" => library(store, store),
        "lmdb" => {
            Engine::Crate { folder: "lmdb-master-sys-", header: "lmdb.h", sources: &["mdb.c", "midl.c"] }
        }
        other => panic!("{other} has no code in C"),
    }
}

/// The library that the build script found, where its store is built in.
fn library<'a>(store: &str, link: &'a str) -> Engine<'a> {
    Engine::Library { link, prefix: prefix(store).expect("the store is built in") }
}

fn prefix(store: &str) -> Option<&'static str> {
    PREFIXES.iter().find(|(feature, _)| *feature == store)?.1
}

/// The folder of a crate in which a header is.
fn header_folder(krate: &str, header: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let crates = fs::read_dir(home.join("registry/src")).ok()?.flatten();
    let crates = crates.filter_map(|index| fs::read_dir(index.path()).ok()).flatten().flatten();
    let folders = crates.filter(|entry| entry.file_name().to_string_lossy().starts_with(krate));
    folders.filter_map(|entry| folder_with(&entry.path(), header)).next()
}

fn folder_with(folder: &Path, header: &str) -> Option<PathBuf> {
    if folder.join(header).exists() {
        return Some(folder.to_path_buf());
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.filter(|entry| entry.path().is_dir()).find_map(|entry| folder_with(&entry.path(), header))
}

fn compiler() -> Command {
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-pthread"]);
    compiler
}

/// The arguments that the compiler needs so that a snippet finds its engine.
fn engine_arguments(engine: &Engine, scratch: &Scratch) -> Vec<PathBuf> {
    let flag = |flag: &str, path: &Path| {
        let mut flag = OsString::from(flag);
        flag.push(path);
        PathBuf::from(flag)
    };
    let in_crate = |folder, header| header_folder(folder, header).expect("cargo unpacked it");
    match engine {
        Engine::Library { link, prefix } => {
            let prefix = Some(Path::new(prefix)).filter(|prefix| !prefix.as_os_str().is_empty()).into_iter();
            let folders = prefix
                .flat_map(|prefix| [flag("-I", &prefix.join("include")), flag("-L", &prefix.join("lib"))]);
            // Archives in C++ need its library after them.
            let cxx = if cfg!(target_vendor = "apple") { "-lc++" } else { "-lstdc++" };
            folders.chain([format!("-l{link}").into(), cxx.into(), "-lm".into()]).collect()
        }
        Engine::Crate { folder, header, sources } => {
            let folder = in_crate(folder, header);
            let mut arguments = vec!["-isystem".into(), folder.clone()];
            for source in *sources {
                let object = scratch.join(source).with_extension("o");
                run(
                    compiler().args(["-w", "-O1", "-c", "-o"]).arg(&object).arg(folder.join(source)),
                    &"the engine",
                );
                arguments.push(object);
            }
            arguments
        }
    }
}

fn compile_shown(shown: &Shown, arguments: &[PathBuf], scratch: &Scratch) -> PathBuf {
    let (program, source) = (scratch.join("records"), scratch.join("records.c"));
    fs::write(&source, &shown.text).unwrap();
    run(compiler().args(["-Wall", "-Werror", "-o"]).arg(&program).arg(source).args(arguments), shown);
    program
}

/// Compiles a snippet with its driver.
fn compile(shown: &Shown, arguments: &[PathBuf], scratch: &Scratch) -> PathBuf {
    scratch.write("snippet.h", &shown.text);
    let program = scratch.join("driver");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = compiler();
    compiler
        .args(["-Wall", "-Werror"])
        .arg("-I")
        .arg(scratch.path())
        .arg("-isystem")
        .arg(package.join("../stores"));
    if shown.setting("environment") == Some("none") {
        compiler.arg("-DWITHOUT_ENVIRONMENT");
    }
    if shown.setting("checkpoint_kbyte").is_some() {
        compiler.arg("-DWITH_LOG");
    }
    let driver = format!("tests/integration/snippets/drivers/{}.c", shown.store);
    run(compiler.arg("-o").arg(&program).arg(package.join(driver)).args(arguments), shown);
    program
}

/// Compiles and runs all code for a store, each of its texts once, with its driver for every number of threads.
fn check(store: &str) {
    let engine = &engine(store);
    let scratch = Scratch::new();
    let arguments = engine_arguments(engine, &scratch);
    for (text, snippets) in texts_in_own_language(def(store)) {
        let program = compile_shown(snippets[0], &arguments, &scratch);
        left::check(snippets[0], text, |folder| left::in_folder(&program, folder));
        let driver = compile(snippets[0], &arguments, &scratch);
        for shown in snippets {
            let folder = Scratch::new();
            let settings =
                engine_settings::read(shown, &mut Command::new(&driver), folder.path(), writes(shown));
            assert_same(shown, &settings);
        }
    }
}

#[test]
fn engines_take_the_code_and_read_back_the_same() {
    std::thread::scope(|scope| {
        for store in ["berkeleydb", "leveldb", "libmdbx", "lmdb", "rocksdb", "unqlite"] {
            // With a library that is loaded comes no header.
            if def(store).open.is_ok() && (store == "lmdb" || prefix(store).is_some()) {
                scope.spawn(move || check(store));
            }
        }
    });
}

/// As in the store: 20 MB and more are logged, with a checkpoint for each MiB.
#[test]
fn berkeleydb_keeps_its_log_short_and_nothing_outside_its_folder() {
    if def("berkeleydb").open.is_err() {
        return;
    }
    let engine = engine("berkeleydb");
    let scratch = Scratch::new();
    let arguments = engine_arguments(&engine, &scratch);
    for threads in [1, 2] {
        let shown = Shown::new(def("berkeleydb"), Guarantee::Process, threads, true);
        let program = compile(&shown, &arguments, &scratch);
        let folder = Scratch::new();
        engine_settings::read(&shown, &mut Command::new(program), folder.path(), 20_000 / threads as u32);
        let log: u64 = files(folder.path(), "log.").iter().map(|file| file.metadata().unwrap().len()).sum();
        assert!((1..6 << 20).contains(&log), "{log} bytes of log with {shown}");
    }
    let shown = Shown::new(def("berkeleydb"), Guarantee::None, 1, false);
    let program = compile(&shown, &arguments, &scratch);
    let folder = Scratch::new();
    engine_settings::read(&shown, &mut Command::new(program), folder.path(), 10);
    assert_eq!(files(folder.path(), ""), [folder.join("records.db")]);
}
