//! `flat-folder` and `nested-folder`: a file per record, named by its key, with the value as its content. `process` writes as
//! most programs do: open, write, close. `power` writes under a temporary name, syncs, renames over the old file and syncs the
//! directory. Settings choose other ways (`config.rs`). docs/guarantees.md says what each leaves after a crash.

mod config;
mod durable;
mod path;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use self::config::Config;
use self::durable::{GroupSync, LastShutdown};
use self::path::{Layout, MAX_NAME_BYTES, TEMPORARY_PREFIX};
use crate::store::{
    Batch, Capabilities, Guarantee, GuaranteeOffer, OpenOptions, Result, Session, Setting, SettingDef, Store,
    StoreDef, StoreError, StoreKind,
};

/// All files in one directory.
pub const FLAT_FOLDER: StoreDef = StoreDef {
    name: "flat-folder",
    summary: "a file per record, all in one directory",
    settings: config::FLAT_SETTINGS,
    open: Ok(&|options| open(options, Layout::FLAT, config::FLAT_SETTINGS)),
    ..FOLDER
};

/// Files in two levels of directories.
pub const NESTED_FOLDER: StoreDef = StoreDef {
    name: "nested-folder",
    summary: "a file per record, in two levels of directories by the key's first four bytes",
    settings: config::NESTED_SETTINGS,
    open: Ok(&|options| open(options, Layout::NESTED, config::NESTED_SETTINGS)),
    ..FOLDER
};

const FOLDER: StoreDef = StoreDef {
    kind: StoreKind::Folder,
    practice: "a file for each record, which any tool reads and any backup keeps; many processes can use it at once, as it has no lock",
    version: &version,
    capabilities: Capabilities {
        order: false,
        batch: Batch::Grouped,
        replaces_whole: false,
        any_byte_in_keys: false,
        max_key_bytes: MAX_NAME_BYTES,
        ..Capabilities::DEFAULT
    },
    offers: &[
        GuaranteeOffer::tearing(Guarantee::Process, "open, write, close", config::UNSYNCED),
        GuaranteeOffer::replacing_values(
            Guarantee::Power,
            "write under a temporary name, fsync, rename, fsync of the directory",
            config::SYNCED,
        ),
    ],
    shipped: Guarantee::Process,
    snippet: Some(include_str!("folder/snippet.txt")),
    python: Some(include_str!("folder/snippet.py")),
    ..StoreDef::DEFAULT
};

/// The kernel's name and release: it is the engine of a folder.
fn version() -> String {
    let system = rustix::system::uname();
    format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy())
}

fn open(options: &OpenOptions<'_>, layout: Layout, known: &[SettingDef]) -> Result<Box<dyn Store>> {
    if options.guarantee == Some(Guarantee::None) {
        return Err(StoreError::Unsupported("a written file always survives a killed process".into()));
    }
    let config = Config::new(options, layout, known)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(options.directory, flags, Mode::empty())
        .map_err(StoreError::io("open the store's directory"))?;
    let root = File::from(root);
    let last_shutdown = LastShutdown::take(&root, config.layout)?;
    if last_shutdown == LastShutdown::Open {
        durable::remove_temporaries(&root, config.layout)?;
    }
    let group = GroupSync::for_directory(&root);
    if config.guarantee() == Guarantee::Power {
        make_durable(&root, config.layout, group, last_shutdown)?;
    }
    let (sessions, fresh_directories) = (AtomicU64::new(0), AtomicUsize::new(0));
    Ok(Box::new(Folder { root, config, group, sessions, fresh_directories }))
}

/// Makes an earlier process's unsynced writes durable: they count as acknowledged from here on.
fn make_durable(root: &File, layout: Layout, group: GroupSync, last_shutdown: LastShutdown) -> Result<()> {
    match last_shutdown {
        // The note that it is open must be durable, or the next opening would trust the earlier one.
        LastShutdown::Durable => root.sync_all().map_err(StoreError::io("sync the root directory")),
        LastShutdown::Open | LastShutdown::Closed => durable::sync_all(root, layout, group),
    }
}

struct Folder {
    root: File,
    config: Config,
    /// How a batch at `power` is synced, and everything when settling.
    group: GroupSync,
    /// Their numbers keep temporary names apart.
    sessions: AtomicU64,
    /// Writers with new directories that may not be durable yet: meanwhile, a writer that found its directory syncs the parents too.
    fresh_directories: AtomicUsize,
}

impl Store for Folder {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FolderSession {
            store: self,
            number: self.sessions.fetch_add(1, Ordering::Relaxed),
            path: Vec::with_capacity(MAX_PATH_BYTES),
            temporary: Vec::with_capacity(MAX_PATH_BYTES),
            name: String::with_capacity(MAX_PATH_BYTES),
            value: Vec::new(),
            length: 0,
        }))
    }

    fn guarantee(&self) -> Guarantee {
        self.config.guarantee()
    }

    fn count(&self) -> Result<u64> {
        durable::count(&self.root, self.config.layout)
    }

    fn settle(&self) -> Result<()> {
        durable::sync_all(&self.root, self.config.layout, self.group)
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let batch = match self.guarantee() {
            Guarantee::Power | Guarantee::Node => self.group.name(),
            Guarantee::Process | Guarantee::None => "none, or that of each file",
        };
        let mut settings = self.config.settings();
        settings.push(Setting::unverified("sync of a batch", batch));
        settings.push(Setting::unverified("sync when settling", self.group.name()));
        Ok(settings)
    }

    /// Walks through everything, so that opening need not: a store that is opened for cold reads must not be warm by then.
    fn close(self: Box<Self>) -> Result<()> {
        if self.config.rename {
            durable::remove_temporaries(&self.root, self.config.layout)?;
        }
        LastShutdown::note(&self.root, self.config.layout, self.guarantee() == Guarantee::Power);
        Ok(())
    }
}

/// The longest key or temporary name, a slash for each level, and the final zero.
const MAX_PATH_BYTES: usize = 2 * MAX_NAME_BYTES;

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
/// Before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);

struct FolderSession<'a> {
    store: &'a Folder,
    number: u64,
    path: Vec<u8>,
    temporary: Vec<u8>,
    name: String,
    /// The value read last, and its length.
    value: Vec<u8>,
    length: usize,
}

impl Session for FolderSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.store.config.rename { self.put_by_rename(key, value) } else { self.put_in_place(key, value) }
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key, value)
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let (directory, name) = self.store.config.layout.split(key)?;
        let path = self.store.config.layout.join(&mut self.path, directory, name)?;
        let file = match rustix::fs::openat(&self.store.root, path, READ, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(StoreError::io("open a file")(error)),
        };
        let value = read_whole(file, &mut self.value)?;
        self.length = value.len();
        visit(value);
        Ok(true)
    }

    fn copied(&self) -> Option<&[u8]> {
        self.value.get(..self.length)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let (directory, name) = self.store.config.layout.split(key)?;
        let path = self.store.config.layout.join(&mut self.path, directory, name)?;
        match rustix::fs::unlinkat(&self.store.root, path, AtFlags::empty()) {
            // Also where nothing was there: another session may have removed it, and not have synced yet.
            Ok(()) | Err(Errno::NOENT) if self.store.config.sync_folder => self.sync_directory(directory),
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(StoreError::io("remove a file")(error)),
        }
    }

    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("a directory lists its files in no order".into()))
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let written = if self.store.guarantee() == Guarantee::Power {
            self.put_batch_durably(records)
        } else {
            records.iter().try_for_each(|(key, value)| self.insert(key, value))
        };
        if written.is_err() && self.store.config.rename {
            self.remove_temporaries(records);
        }
        written
    }
}

impl FolderSession<'_> {
    /// Overwrites a file as a simple program does, and syncs as configured.
    fn put_in_place(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        let mut fresh = FreshDirectories::default();
        self.overwrite(key, value, self.store.config.sync_file, &mut fresh)?;
        if !self.store.config.sync_folder {
            return Ok(());
        }
        self.sync_directory(directory)?;
        self.sync_fresh_directories(directory)?;
        fresh.withdraw(self.store);
        Ok(())
    }

    /// Writes a file that a killed process leaves whole, old or new, and syncs as configured.
    fn put_by_rename(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        let mut fresh = FreshDirectories::default();
        let mut written = self
            .write_temporary(0, key, value, self.store.config.sync_file, &mut fresh)
            .and_then(|()| self.rename_temporary(0, key));
        if self.store.config.sync_folder {
            written = written
                .and_then(|()| self.sync_directory(directory))
                .and_then(|()| self.sync_fresh_directories(directory));
        }
        if written.is_err() {
            self.remove_temporaries(&[(key, value)]);
        } else if self.store.config.sync_folder {
            fresh.withdraw(self.store);
        }
        written
    }

    /// Writes all files before the first rename, so that one sync serves their contents and one their names. Overwritten files
    /// have their names, and need one.
    fn put_batch_durably(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let Config { rename, .. } = self.store.config;
        let sync_each_file = self.store.group == GroupSync::EachFile;
        let mut fresh = FreshDirectories::default();
        for (index, (key, value)) in records.iter().enumerate() {
            match rename {
                true => self.write_temporary(index, key, value, sync_each_file, &mut fresh)?,
                false => self.overwrite(key, value, sync_each_file, &mut fresh)?,
            }
        }
        if !sync_each_file {
            durable::sync_file_system(&self.store.root)?;
        }
        if rename {
            for (index, (key, _)) in records.iter().enumerate() {
                self.rename_temporary(index, key)?;
            }
        }
        if sync_each_file {
            let directories: Result<BTreeSet<&[u8]>> =
                records.iter().map(|(key, _)| Ok(self.store.config.layout.split(key)?.0)).collect();
            for directory in directories? {
                self.sync_directory(directory)?;
                self.sync_fresh_directories(directory)?;
            }
        } else if rename {
            durable::sync_file_system(&self.store.root)?;
        }
        fresh.withdraw(self.store);
        Ok(())
    }

    fn overwrite(&mut self, key: &[u8], value: &[u8], sync: bool, made: &mut FreshDirectories) -> Result<()> {
        let (directory, name) = self.store.config.layout.split(key)?;
        let file = create(self.store, &mut self.path, directory, name, made)?;
        write_whole(file, value, sync)
    }

    fn write_temporary(
        &mut self,
        index: usize,
        key: &[u8],
        value: &[u8],
        sync: bool,
        fresh: &mut FreshDirectories,
    ) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        name_temporary(&mut self.name, self.number, index);
        let file = create(self.store, &mut self.temporary, directory, self.name.as_bytes(), fresh)?;
        write_whole(file, value, sync)
    }

    fn rename_temporary(&mut self, index: usize, key: &[u8]) -> Result<()> {
        let (directory, name) = self.store.config.layout.split(key)?;
        name_temporary(&mut self.name, self.number, index);
        let source = self.store.config.layout.join(&mut self.temporary, directory, self.name.as_bytes())?;
        let target = self.store.config.layout.join(&mut self.path, directory, name)?;
        rustix::fs::renameat(&self.store.root, source, &self.store.root, target)
            .map_err(StoreError::io("rename a file"))
    }

    /// Removes temporary files of a failed operation as far as possible: its own error is reported, and the next opening removes the rest.
    fn remove_temporaries(&mut self, records: &[(&[u8], &[u8])]) {
        for (index, (key, _)) in records.iter().enumerate() {
            let Ok((directory, _)) = self.store.config.layout.split(key) else { continue };
            name_temporary(&mut self.name, self.number, index);
            if let Ok(path) =
                self.store.config.layout.join(&mut self.temporary, directory, self.name.as_bytes())
            {
                let _ = rustix::fs::unlinkat(&self.store.root, path, AtFlags::empty());
            }
        }
    }

    /// Syncs a directory. A missing one holds no names.
    fn sync_directory(&mut self, directory: &[u8]) -> Result<()> {
        if directory.is_empty() {
            return self.store.root.sync_all().map_err(StoreError::io("sync the root directory"));
        }
        let path = self.store.config.layout.join(&mut self.path, directory, b"")?;
        match rustix::fs::openat(&self.store.root, path, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(opened) => File::from(opened).sync_all().map_err(StoreError::io("sync a directory")),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(StoreError::io("open a directory to sync")(error)),
        }
    }

    /// Syncs the way down to a directory, if anyone's new directories may not be durable yet.
    fn sync_fresh_directories(&mut self, directory: &[u8]) -> Result<()> {
        if self.store.fresh_directories.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        for length in (0..directory.len()).step_by(self.store.config.layout.level_bytes).rev() {
            self.sync_directory(&directory[..length])?;
        }
        Ok(())
    }
}

fn name_temporary(name: &mut String, session: u64, index: usize) {
    name.clear();
    // Writing to a string can't fail.
    let _ = write!(name, "{TEMPORARY_PREFIX}{session}-{index}");
}

/// Whether an operation has made directories, which count as fresh until it has synced them, also if it fails before.
#[derive(Default)]
struct FreshDirectories(bool);

impl FreshDirectories {
    /// Before the first is made.
    fn announce(&mut self, store: &Folder) {
        if store.config.sync_folder && !std::mem::replace(&mut self.0, true) {
            store.fresh_directories.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// After the way down to all of them has been synced.
    fn withdraw(self, store: &Folder) {
        if self.0 {
            store.fresh_directories.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Opens an empty file for writing. Makes directories only after the system missed one: in an old directory it costs no more.
fn create(
    store: &Folder,
    buffer: &mut Vec<u8>,
    directory: &[u8],
    name: &[u8],
    fresh: &mut FreshDirectories,
) -> Result<File> {
    let (root, layout) = (&store.root, store.config.layout);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(root, layout.join(buffer, directory, name)?, flags, FILE_MODE) {
        Err(Errno::NOENT) if !directory.is_empty() => {
            fresh.announce(store);
            for depth in (layout.level_bytes..=directory.len()).step_by(layout.level_bytes) {
                let path = layout.join(buffer, &directory[..depth], b"")?;
                match rustix::fs::mkdirat(root, path, DIRECTORY_MODE) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(StoreError::io("make a directory")(error)),
                }
            }
            rustix::fs::openat(root, layout.join(buffer, directory, name)?, flags, FILE_MODE)
        }
        opened => opened,
    };
    file.map(File::from).map_err(StoreError::io("open a file to write"))
}

fn write_whole(mut file: File, value: &[u8], sync: bool) -> Result<()> {
    file.write_all(value).map_err(StoreError::io("write a file"))?;
    if sync { file.sync_all().map_err(StoreError::io("sync a file")) } else { Ok(()) }
}

/// Reads a file in one call, into a reused buffer.
fn read_whole(mut file: File, buffer: &mut Vec<u8>) -> Result<&[u8]> {
    let stat = rustix::fs::fstat(&file).map_err(StoreError::io("ask for a file's size"))?;
    let size = usize::try_from(stat.st_size).unwrap_or(0);
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    let mut filled = 0;
    while filled < size {
        match file.read(&mut buffer[filled..size]) {
            // Another session is replacing it in place: a reader of such files gets what is there.
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StoreError::io("read a file")(error)),
        }
    }
    Ok(&buffer[..filled])
}
