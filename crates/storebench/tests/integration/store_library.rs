//! Stores of libraries that are not built in. `--store-library`: cases/libraries.txt.

pub mod built;

use self::built::all_stores;

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
