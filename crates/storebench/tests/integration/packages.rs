//! The crates as packages of a registry: each holds all that it is compiled from.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::cli::support::root;

/// The crates, by their folders.
const CRATES: [&str; 8] = ["disk", "model", "core", "host", "figures", "report", "stores", "storebench"];

/// A source file without its tests, which nobody compiles of a package.
fn without_tests(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    if path.ends_with("tests.rs") {
        String::new()
    } else {
        text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned()
    }
}

/// The files that cargo puts into a crate's package.
fn list_packaged(folder: &str) -> BTreeSet<String> {
    let name = if folder == "storebench" { folder.to_owned() } else { format!("storebench-{folder}") };
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--list", "--allow-dirty", "--offline", "--package", &name]).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The files that a source names for the compiler, as it names them.
fn named_files(text: &str) -> Vec<&str> {
    let markers = ["include_str!(\"", "include_bytes!(\"", "include!(\"", "#[path = \""];
    let rests = markers.iter().flat_map(|marker| text.split(marker).skip(1));
    rests.map(|rest| rest.split('"').next().unwrap()).collect()
}

/// The file that another one names, as a path from the crate's folder; `None` if it is outside. Links are not followed.
fn target(source: &str, name: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in Path::new(source).parent().unwrap().join(name).components() {
        match part {
            Component::ParentDir if !path.pop() => return None,
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    Some(path.display().to_string())
}

#[test]
fn files_that_are_named_are_found() {
    assert_eq!(
        named_files("include_str!(\"a\") #[path = \"b/c\"] include_bytes!(\"../d\")"),
        ["a", "../d", "b/c"]
    );
    assert_eq!(target("src/a/b.rs", "../../c").as_deref(), Some("c"));
    assert_eq!(target("src/a.rs", "../../c"), None);
}

#[test]
fn packages_hold_all_that_they_are_compiled_from() {
    let mut missing_files = Vec::new();
    let mut count = 0;
    for folder in CRATES {
        let files = list_packaged(folder);
        let sources = files.iter().filter(|file| file.ends_with(".rs") && !file.starts_with("tests/"));
        for source in sources {
            let text = without_tests(&root().join("crates").join(folder).join(source));
            for name in named_files(&text) {
                count += 1;
                if !target(source, name).is_some_and(|file| files.contains(&file)) {
                    missing_files.push(format!("{folder}/{source}: {name}"));
                }
            }
        }
    }
    assert!(
        missing_files.is_empty() && count > 50,
        "not in the crate's package, of {count}: {missing_files:#?}"
    );
}

/// The build script names it where sources are missing, and it reads others.
#[test]
fn the_package_of_the_stores_holds_the_script_that_fetches_sources() {
    let files = list_packaged("stores");
    let script = fs::read_to_string(root().join("scripts/sources.sh")).unwrap();
    let scripts: Vec<&str> =
        script.split(". \"$root/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(scripts.contains(&"scripts/download.sh"), "{scripts:?}");
    for file in scripts.into_iter().chain(["scripts/sources.sh", "Cargo.lock"]) {
        assert!(files.contains(file), "the package has no {file}");
    }
}
