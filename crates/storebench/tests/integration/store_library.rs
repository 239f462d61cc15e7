//! Stores of libraries that are not built in: those of the folder examples, built for the tests. `--store-library`: cases/libraries.txt.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use storebench::STORES;
use storebench_model::library;
use storebench_model::store::StoreDef;

use crate::cli::support::root;

/// A library of the folder examples by its target, built once; `None`, with a line that says why, where what it takes is not here.
pub fn example(target: &'static str) -> Option<PathBuf> {
    static BUILT: Mutex<BTreeMap<&str, Option<PathBuf>>> = Mutex::new(BTreeMap::new());
    BUILT.lock().unwrap().entry(target).or_insert_with(|| build(target)).clone()
}

fn build(target: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("store-libraries");
    if let Some(reason) = missing_need(target) {
        let _ = writeln!(std::io::stderr(), "examples: {target} is not tested: {reason}");
        return None;
    }
    let output = Command::new("make")
        .args(["-C", "examples", target, &format!("BUILD={}", folder.display())])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
    Some(folder.join(format!("lib{target}.so")))
}

/// Why the library of a target can't be built here, if so.
fn missing_need(target: &str) -> Option<String> {
    let (program, arguments, folder): (_, &[_], _) = match target {
        "bbolt" => ("go", &["mod", "download"], "examples/go"),
        _ if target.starts_with("python-") => ("/usr/bin/python3-config", &["--includes"], "."),
        _ => return None,
    };
    match Command::new(program).args(arguments).current_dir(root().join(folder)).output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(format!("{program}: {error}")),
    }
}

/// The built-in stores, the examples' stores, and the stores of the library named by `STOREBENCH_TEST_LIBRARY`.
pub fn all_stores() -> &'static [StoreDef] {
    static ALL: LazyLock<Vec<StoreDef>> = LazyLock::new(|| {
        let named_library = std::env::var_os("STOREBENCH_TEST_LIBRARY").map(PathBuf::from);
        let examples = ["c-log", "bbolt", "python-sqlite"];
        let examples = examples.into_iter().filter_map(example);
        let mut stores = STORES.to_vec();
        for path in examples.chain(named_library) {
            stores.extend(library::find(&path).and_then(|library| library::load(&library)).unwrap());
        }
        stores
    });
    &ALL
}

/// The one by a binding is measured next to it.
#[test]
fn every_sqlite_is_of_one_version() {
    let version = |name: &str| {
        let def = all_stores().iter().find(|def| def.name == name)?;
        (def.version)().split_whitespace().last().map(str::to_owned)
    };
    let built_in = version("sqlite").unwrap();
    let bound = version("python-sqlite");
    assert!(bound.as_ref().is_none_or(|version| *version == built_in), "{bound:?} and {built_in}");
}
