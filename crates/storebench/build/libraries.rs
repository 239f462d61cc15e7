//! Finds the libraries of the stores that are linked as such: builds of their authors' sources that scripts/engines.sh keeps,
//! the system's, or those that the user names. Says what to do when one is missing.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A library: how to see that it is there, and what to install when it is not.
pub struct Library {
    /// The Cargo feature, which is the store's name too.
    pub feature: &'static str,
    /// The engine's name.
    engine: &'static str,
    /// The linker's name for it.
    pub link: &'static str,
    /// A function of it.
    symbol: &'static str,
    header: &'static str,
    /// Debian's and Homebrew's packages. Where there are none, this build has scripts/engines.sh build it.
    packages: Option<[&'static str; 2]>,
    /// The variable that names a folder with `include` and `lib` in it.
    pub variable: &'static str,
    /// Where both scripts/engines.sh and a package have it: the variable that is `system` where the system's is wanted.
    choice: Option<&'static str>,
    /// Marks that only stand in a library that checks its assertions: a piece of a symbol's name, or of what it then says.
    pub assertions: &'static [&'static str],
}

/// Upstream's build of LevelDB has no assertion left, so it does not need what a failed one calls.
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

/// A release of RocksDB has no sync points, which its tests wait at.
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

/// Berkeley DB checks its assertions where it was configured with --enable-diagnostic, and then says this.
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

/// libmdbx tells its options; as shipped, `CHECKING` is 0.
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

/// The folder with Cargo.lock and scripts: the repository, or this package by itself, as a registry hands it on.
pub fn root() -> Option<PathBuf> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).map(Path::to_path_buf)
}

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A library that was found.
pub struct Found {
    /// Its folder, with `include` and `lib`; `None` where the compiler finds it by itself.
    pub prefix: Option<PathBuf>,
    /// Where it comes from, in words.
    pub source: String,
    /// The flags that its compiler was given, where they are known.
    pub flags: Option<String>,
    /// Whether it is linked into the program.
    pub is_static: bool,
}

impl Found {
    /// The folder of its headers.
    pub fn include(&self) -> PathBuf {
        self.prefix.as_ref().map_or("/usr/include".into(), |prefix| prefix.join("include"))
    }
}

impl Library {
    /// Finds it: where the user says, else among what scripts/engines.sh built, else in the system.
    ///
    /// # Errors
    /// A sentence that says what is missing, and what to install.
    pub fn find(&self) -> Result<Found> {
        println!("cargo:rerun-if-env-changed={}", self.variable);
        if let Some(folder) = env::var_os(self.variable) {
            let prefix = Some(PathBuf::from(folder));
            return match self.links(prefix.as_deref())? {
                true => Ok(Found {
                    source: format!("the library that {} names", self.variable),
                    ..Found::of_system(prefix)
                }),
                false => Err(self.missing().into()),
            };
        }
        if let Some(built) = self.built()? {
            return Ok(built);
        }
        for prefix in self.prefixes() {
            if self.links(prefix.as_deref())? {
                return Ok(Found::of_system(prefix));
            }
        }
        Err(self.missing().into())
    }

    /// Whether a build of scripts/engines.sh is wanted.
    fn is_built_here(&self) -> bool {
        let Some(choice) = self.choice else { return self.packages.is_none() };
        println!("cargo:rerun-if-env-changed={choice}");
        env::var_os(choice).is_none_or(|choice| choice != "system")
    }

    /// The build of its authors' sources by scripts/engines.sh. It is made now where nothing else can stand in for it, and where
    /// there is no `make` that would have made it.
    fn built(&self) -> Result<Option<Found>> {
        let root =
            root().ok_or("there is no Cargo.lock, which says what scripts/engines.sh is to compile")?;
        let script = root.join("scripts/engines.sh");
        if !self.is_built_here() {
            return Ok(None);
        }
        println!("cargo:rerun-if-changed={}", script.display());
        if self.packages.is_none() || !root.join("Makefile").exists() {
            self.ask(&script, &[])?;
        }
        let told = self.ask(&script, &["--where"])?;
        let Some(prefix) = told.lines().next().map(PathBuf::from) else {
            let choice = self.choice.unwrap_or_default();
            println!(
                "cargo:warning={} is not built from its authors' sources yet, so the system's library is looked for: \
                 scripts/engines.sh {} builds it (as `make` does); {choice}=system says that the system's is meant",
                self.engine, self.feature
            );
            return Ok(None);
        };
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

    /// Has scripts/engines.sh build the library, or say `--where` it is; what it prints.
    fn ask(&self, script: &Path, order: &[&str]) -> Result<String> {
        let mut command = Command::new("sh");
        command.arg(script);
        let (target, host) = (env::var("TARGET")?, env::var("HOST")?);
        // A program for other systems of this machine's kind has compilers of its own, too.
        println!("cargo:rerun-if-env-changed=TARGET_CC");
        if target != host || env::var_os("TARGET_CC").is_some() {
            command.args(["--target", &target]);
        }
        let output = command.args(order).arg(self.feature).output()?;
        if order.is_empty() && !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(said.lines().last().unwrap_or("scripts/engines.sh fails").into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn missing(&self) -> String {
        let Library { feature, engine, variable, .. } = self;
        let build =
            format!("build it from its authors' sources (`make` does, or scripts/engines.sh {feature})");
        let install = self.packages.map(|[debian, homebrew]| {
            format!(
                "install the system's (Debian, Ubuntu: apt install {debian}; macOS: brew install {homebrew})"
            )
        });
        let is_built = self.choice.is_some() || install.is_none();
        let ways: Vec<String> = is_built.then_some(build).into_iter().chain(install).collect();
        format!(
            "the library and header of {engine} were not found: {}, or name their folder in {variable}, or build without this \
             store (--no-default-features and --features with all but {feature})",
            ways.join(", or ")
        )
    }

    /// Where the system's may be: where the compiler looks, else where Homebrew puts it.
    fn prefixes(&self) -> Vec<Option<PathBuf>> {
        let mut found = vec![None];
        for homebrew in ["/opt/homebrew", "/usr/local"] {
            let formula = self.packages.map(|[_, formula]| Path::new(homebrew).join("opt").join(formula));
            let folders = formula.into_iter().chain([homebrew.into()]);
            found.extend(folders.filter(|folder| folder.is_dir()).map(Some));
        }
        found
    }

    /// Whether a program that uses the library compiles and links.
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

impl Found {
    fn of_system(prefix: Option<PathBuf>) -> Found {
        Found { prefix, source: "the system's library".into(), flags: None, is_static: false }
    }
}
