//! The build of RocksDB that a store calls: the one that this program is linked with, or one that it loads.

use std::ffi::c_void;
use std::fs::File;
use std::io::Read;
use std::mem;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as Shared, RTLD_LOCAL, RTLD_NOW};
use storebench_model::library;
use storebench_model::store::{Result, SettingDef, StoreBuild, StoreError};

use super::ffi::Functions;
use crate::linked::{LinkedLibrary, linked};
use crate::support::GivenSettings;

pub const LIBRARY: &str = "library";

#[cfg(rocksdb_linked)]
const VALUES: &str = "linked, or the whole path of a library's file";
#[cfg(not(rocksdb_linked))]
const VALUES: &str = "the whole path of a library's file";

pub const LIBRARY_SETTING: SettingDef = SettingDef::new(
    LIBRARY,
    VALUES,
    "the one that storebench was built with",
    "another build of RocksDB, version 7.8 to 11.8, which is loaded as a shared library (docs/building.md)",
)
.varying();

/// The digests of the authors' builds that scripts/rocksdb-authors.sh fetches.
const AUTHORS: [&str; 2] = [
    "265c656af5c6502cb8d71db1a74858509f706cc47f1a5b6f603c736d11ce677d",
    "7b2d0808c6afae32db39f11cb61cbefffcf460895b1c64ee6193ba02d6bdd23a",
];

pub struct Library {
    pub c: Functions,
    pub requested: Option<String>,
    file: Option<PathBuf>,
}

impl Library {
    /// The build that the settings name. Fails with [`StoreError::BadSetting`] when it can't be loaded, or lacks a function.
    pub fn from_settings(given: &GivenSettings<'_>) -> Result<Library> {
        let requested = given.text(LIBRARY).map(str::to_owned);
        let file = match requested.as_deref() {
            #[cfg(rocksdb_linked)]
            None | Some("linked") => return Ok(Library { c: super::ffi::LINKED, requested, file: None }),
            #[cfg(not(rocksdb_linked))]
            None => authors(),
            Some(file) if Path::new(file).is_absolute() => PathBuf::from(file),
            Some(_) => return Err(given.refuse(LIBRARY, VALUES)),
        };
        match load_functions(&file) {
            Ok(c) => Ok(Library { c, requested, file: Some(file) }),
            Err(why) => Err(StoreError::BadSetting(format!("the library {}: {why}", file.display()))),
        }
    }

    pub fn build(&self) -> StoreBuild {
        let (linked_library, function) = (linked!("ROCKSDB"), self.c.rocksdb_open as *const c_void);
        let Some(file) = &self.file else { return linked_library.build(function) };
        let build = LinkedLibrary { flags: "", assertions: "", ..linked_library }.build(function);
        let name = file.file_name().unwrap_or_default().display();
        let source = match library::find(file) {
            Ok(found) if AUTHORS.contains(&&*found.sha256) => format!("its authors' build, {name}"),
            Ok(found) => format!("the library {name}, SHA-256 {}", library::short_digest(&found.sha256)),
            Err(_) => format!("the library {name}"),
        };
        StoreBuild { source, ..build }
    }
}

/// The file to load without a linked RocksDB: where `make install` puts it, else where it was fetched to.
#[cfg(not(rocksdb_linked))]
pub fn authors() -> PathBuf {
    let fetched = Path::new(env!("STOREBENCH_ROCKSDB_LIBRARY"));
    let program = std::env::current_exe().unwrap_or_default();
    let name = fetched.file_name().unwrap_or_default();
    let installed = program.ancestors().nth(2).map(|prefix| prefix.join("lib/storebench").join(name));
    installed.filter(|file| file.exists()).unwrap_or_else(|| fetched.into())
}

/// Why a program without a linked RocksDB has none: its library has gone since the build.
#[cfg(not(rocksdb_linked))]
pub fn missing_library() -> Option<String> {
    let file = authors();
    let error = File::open(&file).err()?;
    Some(format!(
        "this program loads it from {}, which can't be read ({error}): scripts/rocksdb-authors.sh fetches it",
        file.display()
    ))
}

/// The library stays loaded, as its threads may outlive a store.
fn load_functions(file: &Path) -> std::result::Result<Functions, String> {
    if cfg!(target_feature = "crt-static") {
        return Err("this program is static, and such can't load libraries".into());
    }
    let file_machine = machine(file).map_err(|error| error.to_string())?;
    // The loader would call it missing.
    if file_machine.is_some() && file_machine != machine(Path::new("/proc/self/exe")).unwrap_or(file_machine)
    {
        return Err("it is for another processor".into());
    }
    // SAFETY: what its constructors do is the user's to answer for, who named it.
    let shared = unsafe { Shared::open(Some(file), RTLD_NOW | RTLD_LOCAL) };
    let shared = shared.map_err(|error| format!("it can't be loaded: {error}"))?;
    // SAFETY: these are RocksDB's names, whose types versions 7.8 to 11.8 share; it is never unloaded.
    let functions = unsafe { Functions::load(&shared) };
    mem::forget(shared);
    functions.map_err(|name| {
        format!("it has no function {name}: it is not RocksDB, or none of the versions 7.8 to 11.8")
    })
}

/// The processor type and bits of an ELF file; `None` for other formats.
fn machine(file: &Path) -> std::io::Result<Option<[u8; 3]>> {
    let mut head = Vec::new();
    File::open(file)?.take(20).read_to_end(&mut head)?;
    Ok(match head.as_slice() {
        [0x7f, b'E', b'L', b'F', bits, .., low, high] if head.len() == 20 => Some([*bits, *low, *high]),
        _ => None,
    })
}
