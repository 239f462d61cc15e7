//! Finds the stores' linked libraries: builds of their authors' sources, the system's, or those that the user names.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::engines;

/// How to find a library, and what to install if it is missing.
pub struct Library {
    /// The Cargo feature and store name.
    pub feature: &'static str,
    engine: &'static str,
    pub link: &'static str,
    symbol: &'static str,
    header: &'static str,
    /// Debian's and Homebrew's packages.
    packages: Option<[&'static str; 2]>,
    /// The variable that names a folder with `include` and `lib` in it.
    pub variable: &'static str,
    /// The variable that is `system` to use the system's package in place of a build.
    choice: Option<&'static str>,
    /// Only a library with assertions holds these: a piece of a symbol's name, or of a message.
    pub assertions: &'static [&'static str],
}

/// Upstream's build of LevelDB has no assertion left, so it lacks what a failed one calls.
pub const LEVELDB: Library = Library {
    feature: "leveldb",
    engine: "LevelDB",
    link: "leveldb",
    symbol: "leveldb_major_version",
    header: "leveldb/c.h",
    packages: Some(["libleveldb-dev", "leveldb"]),
    variable: "LEVELDB_DIR",
    choice: Some("LEVELDB"),
    assertions: &["__assert_fail", "__assert_rtn"],
};

/// A release of RocksDB has no sync points, which its tests use.
pub const ROCKSDB: Library = Library {
    feature: "rocksdb",
    engine: "RocksDB",
    link: "rocksdb",
    symbol: "rocksdb_open",
    header: "rocksdb/c.h",
    packages: Some(["librocksdb-dev", "rocksdb"]),
    variable: "ROCKSDB_DIR",
    choice: Some("ROCKSDB"),
    assertions: &["_ZN7rocksdb9SyncPoint"],
};

/// Berkeley DB has assertions if configured with --enable-diagnostic, and then has this message.
pub const BERKELEY_DB: Library = Library {
    feature: "berkeleydb",
    engine: "Berkeley DB 5.3",
    link: "db",
    symbol: "db_create",
    header: "db.h",
    packages: Some(["libdb5.3-dev", "berkeley-db@5"]),
    variable: "BERKELEYDB_DIR",
    choice: None,
    assertions: &["assert failure: %s"],
};

/// libmdbx reports its options; as shipped, `CHECKING` is 0.
pub const LIBMDBX: Library = Library {
    feature: "libmdbx",
    engine: "libmdbx",
    link: "mdbx",
    symbol: "mdbx_env_open",
    header: "mdbx.h",
    packages: None,
    variable: "LIBMDBX_DIR",
    choice: None,
    assertions: &[" CHECKING=1 ", " CHECKING=2 ", " CHECKING=3 "],
};

/// UnQLite has no assertions.
pub const UNQLITE: Library = Library {
    feature: "unqlite",
    engine: "UnQLite",
    link: "unqlite",
    symbol: "unqlite_open",
    header: "unqlite.h",
    packages: None,
    variable: "UNQLITE_DIR",
    choice: None,
    assertions: &[],
};

/// The folder with Cargo.lock and scripts: the repository, or this package as a registry has it.
pub fn root() -> Option<PathBuf> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).map(Path::to_path_buf)
}

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub struct Found {
    /// With `include` and `lib`; `None` if the compiler finds it by itself.
    pub prefix: Option<PathBuf>,
    pub source: String,
    pub flags: Option<String>,
    pub is_static: bool,
}

impl Found {
    pub fn include(&self) -> PathBuf {
        self.prefix.as_ref().map_or("/usr/include".into(), |prefix| prefix.join("include"))
    }
}

impl Library {
    /// Finds the library: where the user says, else as compiled from its authors' sources, else in the system.
    pub fn find(&self) -> Result<Found> {
        println!("cargo:rerun-if-env-changed={}", self.variable);
        if let Some(folder) = env::var_os(self.variable) {
            let prefix = Some(PathBuf::from(folder));
            return match self.links(prefix.as_deref())? {
                true => Ok(Found {
                    source: format!("the library that {} names", self.variable),
                    ..Found::of_system(prefix)
                }),
                false => Err(self.missing()?.into()),
            };
        }
        let is_compiled = self.is_compiled();
        if is_compiled && let Some(library) = self.compiled()? {
            return Ok(library);
        }
        // Cargo can't fetch LevelDB's sources: who has nothing but cargo may have the system's.
        if !is_compiled || self.feature == "leveldb" {
            for prefix in self.prefixes() {
                if self.links(prefix.as_deref())? {
                    if is_compiled {
                        println!(
                            "cargo:warning=the sources of {} are missing, so this is the system's library, whose figures may not be \
                             ranked: `{}` fetches them",
                            self.engine,
                            fetch_command()?
                        );
                    }
                    return Ok(Found::of_system(prefix));
                }
            }
        }
        Err(self.missing()?.into())
    }

    /// Whether to compile it from its authors' sources.
    fn is_compiled(&self) -> bool {
        let Some(choice) = self.choice else { return self.packages.is_none() };
        println!("cargo:rerun-if-env-changed={choice}");
        env::var_os(choice).is_none_or(|choice| choice != "system")
    }

    /// `None` if the sources are missing.
    fn compiled(&self) -> Result<Option<Found>> {
        let Some(prefix) = engines::build(self.feature)? else { return Ok(None) };
        let recipe = prefix.join("BUILD");
        println!("cargo:rerun-if-changed={}", recipe.display());
        let recipe = fs::read_to_string(recipe)?;
        let line = |name: &str| recipe.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        Ok(Some(Found {
            source: "its authors' sources, built by storebench".into(),
            flags: Some(
                [line("flags"), line("compiler")].into_iter().flatten().collect::<Vec<_>>().join("; "),
            ),
            is_static: true,
            prefix: Some(prefix),
        }))
    }

    fn missing(&self) -> Result<String> {
        let Library { engine, variable, .. } = self;
        let mut remedies = Vec::new();
        if self.is_compiled() {
            remedies
                .push(format!("`{}` fetches the sources of all engines (as `make` does)", fetch_command()?));
        }
        if let Some([debian, homebrew]) = self.packages {
            let choice = self.choice.map_or_else(String::new, |choice| format!(" with {choice}=system"));
            remedies.push(format!(
                "install the system's{choice} (Debian, Ubuntu: apt install {debian}; macOS: brew install {homebrew})"
            ));
        }
        Ok(format!(
            "{engine} is missing: {}; or name the folder of its library and header in {variable}; or build without it: \
             --no-default-features --features {}",
            remedies.join("; or "),
            self.features_without()?
        ))
    }

    /// The requested stores, except this one and others without sources.
    fn features_without(&self) -> Result<String> {
        let mut names = Vec::new();
        for (variable, _) in env::vars() {
            let Some(name) = variable.strip_prefix("CARGO_FEATURE_") else { continue };
            let name = name.to_lowercase().replace('_', "-");
            if name != "default" && name != self.feature && engines::has_sources(&name)? {
                names.push(name);
            }
        }
        names.sort();
        Ok(names.join(","))
    }

    /// Where the system's may be: where the compiler looks, else Homebrew's folder.
    fn prefixes(&self) -> Vec<Option<PathBuf>> {
        let mut found = vec![None];
        for homebrew in ["/opt/homebrew", "/usr/local"] {
            let formula = self.packages.map(|[_, formula]| Path::new(homebrew).join("opt").join(formula));
            let folders = formula.into_iter().chain([homebrew.into()]);
            found.extend(folders.filter(|folder| folder.is_dir()).map(Some));
        }
        found
    }

    fn links(&self, prefix: Option<&Path>) -> Result<bool> {
        let out = PathBuf::from(env::var("OUT_DIR")?);
        let source = out.join(format!("probe_{}.c", self.feature));
        let Library { header, symbol, .. } = self;
        fs::write(
            &source,
            format!("#include <{header}>\nint main(void) {{ return (void *){symbol} == 0; }}\n"),
        )?;
        let mut compiler = cc::Build::new().get_compiler().to_command();
        compiler.arg(&source).arg("-o").arg(out.join("probe"));
        if let Some(prefix) = prefix {
            compiler.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib"));
        }
        let output = compiler.arg(format!("-l{}", self.link)).output()?;
        Ok(output.status.success())
    }
}

fn fetch_command() -> Result<String> {
    let root = root().ok_or("there is no Cargo.lock, which pins the engines' sources")?;
    Ok(format!("sh {}/scripts/sources.sh", root.display()))
}

impl Found {
    fn of_system(prefix: Option<PathBuf>) -> Found {
        Found { prefix, source: "the system's library".into(), flags: None, is_static: false }
    }
}
