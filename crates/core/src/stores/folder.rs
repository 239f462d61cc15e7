//! `flat-folder` and `nested-folder`: a file per record, the key as its name, the value as its content.
//!
//! `process` writes as most programs do: open, write, close. `power` writes under a temporary name, syncs, renames
//! over the old file and syncs the directory. Settings choose other ways (`config.rs`). docs/guarantees.md says what each of them
//! leaves after a crash.

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
use self::durable::{GroupSync, Left};
use self::path::{Layout, MAX_NAME_BYTES, TEMPORARY_PREFIX};
use crate::store::{
    Batch, Capabilities, Guarantee, Kind, Offer, OpenOptions, Result, Session, Setting, SettingDef, Store,
    StoreDef, StoreError,
};

/// All files in one directory.
pub const FLAT_FOLDER: StoreDef = StoreDef {
    name: "flat-folder",
    summary: "a file per record, all in one directory",
    settings: config::OF_FLAT,
    open: Ok(&|options| open(options, Layout::FLAT, config::OF_FLAT)),
    ..FOLDER
};

/// Files in two levels of directories.
pub const NESTED_FOLDER: StoreDef = StoreDef {
    name: "nested-folder",
    summary: "a file per record, in two levels of directories by the key's first four bytes",
    settings: config::OF_NESTED,
    open: Ok(&|options| open(options, Layout::NESTED, config::OF_NESTED)),
    ..FOLDER
};

/// The parts that both layouts have in common.
const FOLDER: StoreDef = StoreDef {
    name: "",
    kind: Kind::Folder,
    summary: "",
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
        Offer::tearing(Guarantee::Process, "open, write, close", config::UNSYNCED),
        Offer::whole(
            Guarantee::Power,
            "write under a temporary name, fsync, rename, fsync of the directory",
            config::SYNCED,
        ),
    ],
    shipped: Guarantee::Process,
    snippet: Some(include_str!("folder/snippet.txt")),
    python: Some(include_str!("folder/snippet.py")),
    open: Err("this is what the layouts share"),
    ..StoreDef::DEFAULT
};

/// The system's name and release: a folder's engine is the kernel.
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
    let left = Left::take(&root, config.layout)?;
    if left == Left::Open {
        durable::remove_temporaries(&root, config.layout)?;
    }
    let group = GroupSync::of(&root);
    if config.tier() == Guarantee::Power {
        make_durable(&root, config.layout, group, left)?;
    }
    Ok(Box::new(Folder {
        root,
        config,
        group,
        sessions: AtomicU64::new(0),
        fresh_directories: AtomicUsize::new(0),
    }))
}

/// Makes durable what an earlier process wrote, and perhaps did not live to sync: it counts as such from here on.
fn make_durable(root: &File, layout: Layout, group: GroupSync, left: Left) -> Result<()> {
    match left {
        // That it is open now must not be forgotten, or the next opening would trust what was noted before.
        Left::Durable => root.sync_all().map_err(StoreError::io("sync the root directory")),
        Left::Open | Left::Closed => durable::sync_all(root, layout, group),
    }
}

struct Folder {
    root: File,
    config: Config,
    /// The sync of a batch at `power`, and everything when settling.
    group: GroupSync,
    /// Sessions opened so far; their numbers keep temporary names apart.
    sessions: AtomicU64,
    /// The number of writers that have made directories that their parents may not durably hold yet. While it is not
    /// zero, a writer who found its directory in place syncs the parents too, because it may be one of those.
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
        self.config.tier()
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
        settings.push(Setting::given("sync of a batch", batch));
        settings.push(Setting::given("sync when settling", self.group.name()));
        Ok(settings)
    }

    /// Looks through all of it, so that opening needs not: what is opened to be read cold must not be warm by then.
    fn close(self: Box<Self>) -> Result<()> {
        if self.config.rename {
            durable::remove_temporaries(&self.root, self.config.layout)?;
        }
        Left::note(&self.root, self.config.layout, self.guarantee() == Guarantee::Power);
        Ok(())
    }
}

/// Room for a path of any layout: the bytes of the longest key or temporary name, a slash for each level, and the final zero.
const MAX_PATH_BYTES: usize = 2 * MAX_NAME_BYTES;

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);
/// Permissions of files and directories, before the process's mask is applied.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);

struct FolderSession<'a> {
    store: &'a Folder,
    number: u64,
    path: Vec<u8>,
    temporary: Vec<u8>,
    name: String,
    /// The value that was read last, and its length.
    value: Vec<u8>,
    length: usize,
}

impl Session for FolderSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.store.config.rename { self.put_anew(key, value) } else { self.put_in_place(key, value) }
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
            self.put_all_durably(records)
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
    /// Writes a file in place, as a program does that thinks no further, and syncs what is to be synced.
    fn put_in_place(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        let mut made = Made::default();
        self.write_in_place(key, value, self.store.config.sync_file, &mut made)?;
        if !self.store.config.sync_folder {
            return Ok(());
        }
        self.sync_directory(directory)?;
        self.sync_fresh_directories(directory)?;
        made.made_durable(self.store);
        Ok(())
    }

    /// Writes a file that a killed process leaves whole, old or new, and syncs what is to be synced.
    fn put_anew(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        let mut made = Made::default();
        let mut written = self
            .write_temporary(0, key, value, self.store.config.sync_file, &mut made)
            .and_then(|()| self.rename_temporary(0, key));
        if self.store.config.sync_folder {
            written = written
                .and_then(|()| self.sync_directory(directory))
                .and_then(|()| self.sync_fresh_directories(directory));
        }
        if written.is_err() {
            self.remove_temporaries(&[(key, value)]);
        } else if self.store.config.sync_folder {
            made.made_durable(self.store);
        }
        written
    }

    /// Writes all files before the first rename, so that one synchronisation does for their contents and one for
    /// their names. Files that are overwritten have their names already, and need one.
    fn put_all_durably(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        let Config { rename, .. } = self.store.config;
        let each = self.store.group == GroupSync::EachFile;
        let mut made = Made::default();
        for (index, (key, value)) in records.iter().enumerate() {
            match rename {
                true => self.write_temporary(index, key, value, each, &mut made)?,
                false => self.write_in_place(key, value, each, &mut made)?,
            }
        }
        if !each {
            durable::sync_file_system(&self.store.root)?;
        }
        if rename {
            for (index, (key, _)) in records.iter().enumerate() {
                self.rename_temporary(index, key)?;
            }
        }
        if each {
            let directories: Result<BTreeSet<&[u8]>> =
                records.iter().map(|(key, _)| Ok(self.store.config.layout.split(key)?.0)).collect();
            for directory in directories? {
                self.sync_directory(directory)?;
                self.sync_fresh_directories(directory)?;
            }
        } else if rename {
            durable::sync_file_system(&self.store.root)?;
        }
        made.made_durable(self.store);
        Ok(())
    }

    /// Empties a file, or makes it, and writes it.
    fn write_in_place(&mut self, key: &[u8], value: &[u8], sync: bool, made: &mut Made) -> Result<()> {
        let (directory, name) = self.store.config.layout.split(key)?;
        let file = create(self.store, &mut self.path, directory, name, made)?;
        write_whole(file, value, sync)
    }

    /// Writes a value under a temporary name beside its file.
    fn write_temporary(
        &mut self,
        index: usize,
        key: &[u8],
        value: &[u8],
        sync: bool,
        made: &mut Made,
    ) -> Result<()> {
        let (directory, _) = self.store.config.layout.split(key)?;
        name_temporary(&mut self.name, self.number, index);
        let file = create(self.store, &mut self.temporary, directory, self.name.as_bytes(), made)?;
        write_whole(file, value, sync)
    }

    /// Gives a temporary file its key's name, in place of an older file.
    fn rename_temporary(&mut self, index: usize, key: &[u8]) -> Result<()> {
        let (directory, name) = self.store.config.layout.split(key)?;
        name_temporary(&mut self.name, self.number, index);
        let from = self.store.config.layout.join(&mut self.temporary, directory, self.name.as_bytes())?;
        let to = self.store.config.layout.join(&mut self.path, directory, name)?;
        rustix::fs::renameat(&self.store.root, from, &self.store.root, to)
            .map_err(StoreError::io("rename a file"))
    }

    /// Removes what is left of the temporary files of an operation that failed, as far as that goes: its own error is
    /// the one to tell, and the next opening removes the rest.
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

    /// Makes the names in a directory durable. One that is not there holds none.
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

    /// Makes the way down to a directory durable, if anyone's new directories may not be yet.
    fn sync_fresh_directories(&mut self, directory: &[u8]) -> Result<()> {
        if self.store.fresh_directories.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        for above in (0..directory.len()).step_by(self.store.config.layout.level_bytes).rev() {
            self.sync_directory(&directory[..above])?;
        }
        Ok(())
    }
}

fn name_temporary(name: &mut String, session: u64, index: usize) {
    name.clear();
    // Writing to a string can't fail.
    let _ = write!(name, "{TEMPORARY_PREFIX}{session}-{index}");
}

/// Whether an operation has made directories: they count as fresh until it has synced them. Should it fail before, they stay
/// fresh, which costs later writers time, not safety.
#[derive(Default)]
struct Made(bool);

impl Made {
    /// Called before the first is made.
    fn announce(&mut self, store: &Folder) {
        if store.config.sync_folder && !std::mem::replace(&mut self.0, true) {
            store.fresh_directories.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The way down to all of them has been synced.
    fn made_durable(self, store: &Folder) {
        if self.0 {
            store.fresh_directories.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Opens an empty file for writing. Directories are made only after the system missed one, so that a file in an old
/// directory costs no more than opening it.
fn create(
    store: &Folder,
    buffer: &mut Vec<u8>,
    directory: &[u8],
    name: &[u8],
    made: &mut Made,
) -> Result<File> {
    let (root, layout) = (&store.root, store.config.layout);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(root, layout.join(buffer, directory, name)?, flags, FILE_MODE) {
        Err(Errno::NOENT) if !directory.is_empty() => {
            made.announce(store);
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

/// Reads a file in one call, into a buffer that is kept.
fn read_whole(mut file: File, buffer: &mut Vec<u8>) -> Result<&[u8]> {
    let about = rustix::fs::fstat(&file).map_err(StoreError::io("ask for a file's size"))?;
    let size = usize::try_from(about.st_size).unwrap_or(0);
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
