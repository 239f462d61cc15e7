//! The code in Rust compiles without a warning, by the compiler and with the crates that storebench was built with, and runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Shown, def, left, texts_in_own_language};
use crate::cli::support::{Scratch, missing};

/// The compiler that compiled storebench; no other can read its crates.
fn compiler() -> Option<PathBuf> {
    let compiler = Path::new(env!("CARGO")).with_file_name("rustc");
    if !compiler.exists() {
        missing("code in Rust", "needs the compiler that storebench was built with");
        return None;
    }
    Some(compiler)
}

/// The builds of a crate for this test, the newest first: builds with other features can be there, too.
fn builds(krate: &str) -> Vec<PathBuf> {
    let this_test = std::env::current_exe().unwrap();
    let prefix = format!("lib{krate}-");
    let entries = fs::read_dir(this_test.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_build = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(".rlib")
    };
    let mut builds: Vec<PathBuf> = entries.filter(is_build).collect();
    builds.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
    builds
}

/// Compiles code with the first build of a crate that it can be compiled with.
fn compile(compiler: &Path, krate: &str, text: &str, scratch: &Scratch) -> PathBuf {
    let (source, program) = (scratch.write("main.rs", text), scratch.join("main"));
    let builds = builds(krate);
    let mut complaint = format!("there is no build of {krate} beside this test");
    for build in &builds {
        let mut command = Command::new(compiler);
        command.args(["--edition=2024", "-D", "warnings", "-L"]).arg(build.parent().unwrap());
        command.arg("--extern").arg(format!("{krate}={}", build.display())).arg("-o");
        let output = command.arg(&program).arg(&source).output().unwrap();
        if output.status.success() {
            return program;
        }
        complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    panic!("{complaint}\n{text}");
}

/// Compiles and runs all code for a store that needs a crate; then with another `main`, which must find the settings in place.
fn check(krate: &str, driver: Option<fn(&Shown) -> String>) {
    let Some(compiler) = compiler() else { return };
    for (text, snippets) in texts_in_own_language(def(krate)) {
        let scratch = Scratch::new();
        let program = compile(&compiler, krate, text, &scratch);
        left::check(snippets[0], text, |folder| left::in_folder(&program, folder));
        if let Some(driver) = driver {
            let text = text.replace("fn main()", "#[allow(dead_code)]\nfn shown()") + &driver(snippets[0]);
            let program = compile(&compiler, krate, &text, &scratch);
            left::run(&mut left::in_folder(&program, scratch.path()), snippets[0]);
        }
    }
}

#[test]
fn stores_take_the_code_and_read_back_the_same() {
    type Driver = fn(&Shown) -> String;
    let stores: [(&str, Option<Driver>); 3] =
        [("redb", None), ("fjall", Some(fjall_main)), ("sled", Some(sled_main))];
    std::thread::scope(|scope| {
        for (store, driver) in stores.into_iter().filter(|(store, _)| def(store).open.is_ok()) {
            scope.spawn(move || check(store, driver));
        }
    });
}

/// The settings that it reports. The store compares those in its files when it opens them.
fn fjall_main(shown: &Shown) -> String {
    let cache = shown.setting("cache_size").unwrap();
    let is_separated = shown.setting("kv_separation").unwrap();
    format!(
        "
fn main() {{
    let records = open_records(\"records\").unwrap();
    assert_eq!(records.database.cache_capacity(), {cache});
    assert_eq!(records.keyspace.is_kv_separated(), {is_separated});
}}
"
    )
}

fn sled_main(shown: &Shown) -> String {
    let cache = shown.setting("cache_capacity").unwrap();
    let interval = match shown.setting("flush_every_ms").unwrap() {
        "none" => "None".to_owned(),
        interval => format!("Some({interval})"),
    };
    format!(
        "
fn main() {{
    let records = open_records(\"records\").unwrap();
    assert_eq!(records.context.cache_capacity, {cache});
    assert_eq!(records.context.flush_every_ms, {interval});
}}
"
    )
}
