//! Stores that keep what they are given as long as their process lives, or the power is on, and sync something else.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use storebench_model::store::{Guarantee, OpenOptions, Result, Session, Store, StoreError};

use crate::liar::{folder, hidden, memory};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pretence {
    /// Writes everything when it is closed, and nothing before.
    WritesAtClose,
    /// Answers from static memory, and syncs files that hold something else.
    CachesStatic,
    /// Syncs another file than the one that it has written.
    SyncsOther,
    /// Syncs an empty file.
    SyncsEmpty,
    /// Syncs a fake, into which it has written as much as was asked.
    SyncsFake,
}

/// Opens it. The name of what it syncs is one that the folder does not count.
pub fn open(options: &OpenOptions<'_>, pretence: Pretence) -> Result<Box<dyn Store>> {
    let guarantee = options.guarantee.unwrap_or(Guarantee::Process);
    let io = StoreError::io::<std::io::Error>;
    let mut beneath = None;
    let inner: Arc<dyn Store> = match pretence {
        Pretence::WritesAtClose => Arc::from(read_all(options)?),
        Pretence::CachesStatic => {
            let disk: Arc<dyn Store> = Arc::from(folder(options, Guarantee::Power)?);
            let kept = hidden(options)?;
            // A new process knows nothing, and has to look.
            if kept.count()? == 0 && disk.count()? > 0 {
                disk
            } else {
                beneath = Some(disk);
                kept
            }
        }
        _ => Arc::from(folder(options, Guarantee::Process)?),
    };
    let synced = match pretence {
        Pretence::WritesAtClose | Pretence::CachesStatic => None,
        _ => {
            let name = options.directory.join(".storebench-tmp-synced");
            Some(File::create(name).map_err(io("making a file to sync"))?)
        }
    };
    let directory = options.directory.to_path_buf();
    Ok(Box::new(Pretender { inner, beneath, synced, pretence, guarantee, directory }))
}

/// All that was written at the last close, in memory.
fn read_all(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let store = memory(options)?;
    let mut session = store.session()?;
    for entry in fs::read_dir(options.directory).map_err(StoreError::io("reading"))?.flatten() {
        let value = fs::read(entry.path()).map_err(StoreError::io("reading"))?;
        session.insert(entry.file_name().as_encoded_bytes(), &value)?;
    }
    drop(session);
    Ok(store)
}

/// Writes all of a store as files, and nothing else.
fn write_all(store: &dyn Store, directory: &Path) -> Result<()> {
    let io = StoreError::io::<std::io::Error>;
    for entry in fs::read_dir(directory).map_err(io("reading"))?.flatten() {
        fs::remove_file(entry.path()).map_err(io("deleting"))?;
    }
    let mut written = Ok(());
    store.session()?.scan(&[], usize::MAX, &mut |key, value| {
        let name = directory.join(String::from_utf8_lossy(key).as_ref());
        if written.is_ok() {
            written = fs::write(name, value);
        }
    })?;
    written.map_err(io("writing"))
}

struct Pretender {
    /// Where it answers from.
    inner: Arc<dyn Store>,
    /// Where something else is written.
    beneath: Option<Arc<dyn Store>>,
    synced: Option<File>,
    pretence: Pretence,
    guarantee: Guarantee,
    directory: PathBuf,
}

impl Pretender {
    /// Syncs what it syncs after a write of this number of bytes.
    fn sync(&self, bytes: usize) -> Result<()> {
        let Some(file) = self.synced.as_ref().filter(|_| self.guarantee == Guarantee::Power) else {
            return Ok(());
        };
        let written = match self.pretence {
            Pretence::SyncsOther => file.write_all_at(b"x", 0),
            Pretence::SyncsFake => file.write_all_at(&vec![1; bytes], 0),
            _ => Ok(()),
        };
        written.and_then(|()| file.sync_data()).map_err(StoreError::io("syncing"))
    }
}

impl Store for Pretender {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let beneath = self.beneath.as_deref().map(Store::session).transpose()?;
        Ok(Box::new(PretenderSession { inner: self.inner.session()?, beneath, store: self }))
    }
    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }
    storebench_model::pass_on!(inner: count, settle, settings);
    fn close(self: Box<Self>) -> Result<()> {
        match self.pretence {
            Pretence::WritesAtClose => write_all(&*self.inner, &self.directory),
            _ => Ok(()),
        }
    }
}

struct PretenderSession<'a> {
    inner: Box<dyn Session + 'a>,
    beneath: Option<Box<dyn Session + 'a>>,
    store: &'a Pretender,
}

impl Session for PretenderSession<'_> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.insert(key, value)?;
        if let Some(beneath) = &mut self.beneath {
            beneath.insert(key, &vec![0; value.len()])?;
        }
        self.store.sync(value.len())
    }
    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.inner.update(key, value)?;
        if let Some(beneath) = &mut self.beneath {
            beneath.update(key, &vec![0; value.len()])?;
        }
        self.store.sync(value.len())
    }
    storebench_model::pass_on!(inner: get, scan);
    fn remove(&mut self, key: &[u8]) -> Result<()> {
        self.inner.remove(key)?;
        if let Some(beneath) = &mut self.beneath {
            beneath.remove(key)?;
        }
        self.store.sync(0)
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        records.iter().try_for_each(|(key, value)| self.insert(key, value))
    }
}
