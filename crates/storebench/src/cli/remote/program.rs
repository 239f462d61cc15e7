//! Selects the program for the other machine, and identifies it.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use storebench_model::error::{Error, Result};
use storebench_model::lifeline;

#[derive(Debug)]
pub struct Program {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
}

/// The suffix of the kind of machine without a C library for programs of other systems.
pub const STATIC: &str = "-static";

/// The programs that may run on a machine (as named by `uname -m`, perhaps with [`STATIC`]), best first. A 64-bit kernel may have a 32-bit system.
fn machines(machine: &str) -> &'static [&'static str] {
    match machine {
        "x86_64" => &["x86_64", "x86_64-static"],
        "x86_64-static" => &["x86_64-static"],
        "aarch64-static" | "arm64-static" => &["aarch64-static"],
        "aarch64" | "arm64" => &["aarch64", "armv7l", "aarch64-static"],
        "armv7l" | "armv8l" => &["armv7l"],
        _ => &[],
    }
}

/// Rust's name of a machine that `make cross` builds for.
fn target(machine: &str) -> Option<&'static str> {
    match machine {
        "aarch64" => Some("aarch64-unknown-linux-gnu"),
        "aarch64-static" => Some("aarch64-unknown-linux-musl"),
        "x86_64-static" => Some("x86_64-unknown-linux-musl"),
        "armv7l" => Some("armv7-unknown-linux-gnueabihf"),
        _ => None,
    }
}

/// This program's machine, as named by `uname -m`.
fn this_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "arm" => "armv7l",
        "x86_64" if cfg!(target_env = "musl") => "x86_64-static",
        "aarch64" if cfg!(target_env = "musl") => "aarch64-static",
        other => other,
    }
}

/// Where `make cross` puts the program for a machine; scripts/cross.sh must agree.
fn cross_path(cache: &Path, machine: &str) -> PathBuf {
    cache.join("storebench/programs").join(format!("storebench-{}-{machine}", env!("CARGO_PKG_VERSION")))
}

fn cache() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
}

/// The files that may run on a machine, best first: the one that the user names, or this one if the machine matches, then
/// those that were built for it. If there is none, the error says what to do.
pub fn candidates(machine: &str, user_path: Option<&Path>) -> Result<Vec<PathBuf>> {
    if let Some(user_path) = user_path {
        return Ok(vec![user_path.to_path_buf()]);
    }
    let is_static = this_architecture().ends_with(STATIC) && machines(machine).contains(&this_architecture());
    let is_alike = machine == this_architecture()
        || machines(machine).first() == Some(&this_architecture())
        || is_static;
    let this_program = lifeline::this_program().ok().filter(|_| is_alike);
    let built = cache()
        .into_iter()
        .flat_map(|cache| machines(machine).iter().map(move |known| cross_path(&cache, known)));
    let programs: Vec<PathBuf> =
        this_program.into_iter().chain(built.filter(|path| path.is_file())).collect();
    if programs.is_empty() {
        let message = format!("there is no program for a machine of the kind {machine} here");
        return Err(Error::bad_value(format!("{message}: {}", advice(machine))));
    }
    Ok(programs)
}

pub fn advice(machine: &str) -> String {
    match machines(machine).iter().find_map(|machine| target(machine)) {
        Some(target) => {
            format!("`make cross TARGET={target}` builds one, or name one with --remote-program")
        }
        None if machine.ends_with(STATIC) => {
            "of phones, those with a 64-bit system on ARM or x86 can be measured".into()
        }
        None => "build storebench there, and name the program with --remote-program".into(),
    }
}

impl Program {
    pub fn read(path: &Path) -> Result<Program> {
        let bytes = fs::read(path).map_err(Error::io("reading the program", path))?;
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let is_this = path.starts_with("/proc/self");
        let name = if is_this { "this program".into() } else { path.display().to_string() };
        Ok(Program { name, bytes, digest })
    }

    pub fn copy(&self) -> String {
        format!("programs/storebench-{}", self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "abc").unwrap();
        let program = Program::read(&path).unwrap();
        assert_eq!(program.digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_machine_without_a_program_is_told_how_to_get_one() {
        for (machine, words) in [
            ("aarch64", "make cross TARGET=aarch64-unknown-linux-gnu"),
            ("armv8l", "make cross TARGET=armv7-unknown-linux-gnueabihf"),
            ("aarch64-static", "make cross TARGET=aarch64-unknown-linux-musl"),
            ("riscv64", "build storebench there"),
            ("armv8l-static", "of phones, those with a 64-bit system"),
        ] {
            assert!(advice(machine).contains(words), "{machine}");
        }
        let named = candidates("riscv64", Some(Path::new("x"))).unwrap();
        assert_eq!(named, [PathBuf::from("x")]);
        let error = candidates("sparc64", None).unwrap_err();
        assert!(error.message.contains("of the kind sparc64"), "{error}");
        let this = candidates(this_architecture(), None).unwrap();
        assert_eq!(this[0], lifeline::this_program().unwrap());
    }
}
