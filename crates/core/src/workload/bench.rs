//! The bench on which a workload finds its store: it opens it, and opens it anew in an empty folder when asked.

use std::io;
use std::path::{Path, PathBuf};

use storebench_model::result::Disk;
use storebench_model::store::{OpenFn, OpenOptions, Store, StoreError};

use crate::guard;
use crate::measure::disk;
use crate::measure::page_cache::{self, EmptiedCache};
use crate::workload::step::TrialStep;
use crate::workload::workload_error::WorkloadError;

/// A store under test in its folder.
pub struct Bench<'a> {
    open: OpenFn,
    options: OpenOptions<'a>,
    folder: PathBuf,
    store: Option<Box<dyn Store>>,
    /// Where the data are if not in the folder.
    elsewhere: Option<String>,
    /// Syncs counted before the store was last reopened.
    syncs_before: u64,
}

impl<'a> Bench<'a> {
    pub fn open(open: OpenFn, options: OpenOptions<'a>) -> Result<Bench<'a>, StoreError> {
        TrialStep::Opening.begin();
        let store = open(&options)?;
        TrialStep::Working.begin();
        let elsewhere = store.outside_location();
        let folder = options.directory.to_path_buf();
        Ok(Bench { open, folder, options, store: Some(store), elsewhere, syncs_before: 0 })
    }

    pub fn outside_location(&self) -> Option<&str> {
        self.elsewhere.as_deref()
    }

    /// The files' space on disk; 0 if the data are elsewhere.
    pub fn disk(&self) -> io::Result<Disk> {
        if self.elsewhere.is_some() { Ok(Disk::default()) } else { disk::usage(&self.folder) }
    }

    /// [`Bench::disk`] without the folder of this name, which is not the store's.
    pub(crate) fn disk_without(&self, name: &str) -> io::Result<Disk> {
        if self.elsewhere.is_some() { self.disk() } else { disk::usage_without(&self.folder, Some(name)) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fails after it was closed.
    pub fn store(&self) -> Result<&dyn Store, WorkloadError> {
        self.store.as_deref().ok_or_else(|| WorkloadError::harness("the store is closed"))
    }

    /// The store's own count of syncs since it was first opened, if it counts them. Fails when closed, or if the store can't say.
    pub fn syncs(&self) -> Result<Option<u64>, WorkloadError> {
        let syncs = self.store()?.syncs().map_err(WorkloadError::during("counting syncs"))?;
        Ok(syncs.map(|syncs| self.syncs_before + syncs))
    }

    pub fn fresh(&mut self) -> Result<(), WorkloadError> {
        self.keep_syncs()?;
        if let Some(store) = self.store.take() {
            TrialStep::Closing.begin();
            store.discard().map_err(WorkloadError::during("closing the store"))?;
        }
        let failed =
            |error: io::Error| WorkloadError::harness(format!("emptying {}: {error}", self.folder.display()));
        guard::remove_made(&self.folder).map_err(failed)?;
        std::fs::create_dir(&self.folder).map_err(failed)?;
        TrialStep::Opening.begin();
        self.open_with("opening the store")
    }

    /// Lets the store settle, closes it, empties the page cache and opens it again; gives how the cache was emptied.
    pub(crate) fn reopen_cold(&mut self) -> Result<EmptiedCache, WorkloadError> {
        TrialStep::Settling.begin();
        self.store()?.settle().map_err(WorkloadError::during("settling"))?;
        self.keep_syncs()?;
        self.close()?;
        let emptied = page_cache::empty(&self.folder)
            .map_err(|error| WorkloadError::harness(format!("emptying the page cache: {error}")))?;
        TrialStep::Reopening.begin();
        self.open_with("opening the store")?;
        Ok(emptied)
    }

    pub(crate) fn reopen(&mut self) -> Result<(), WorkloadError> {
        self.keep_syncs()?;
        self.close()?;
        TrialStep::Reopening.begin();
        self.open_with("opening the store anew")
    }

    /// Saves the store's count, which restarts when it is opened again.
    fn keep_syncs(&mut self) -> Result<(), WorkloadError> {
        if self.store.is_some() {
            self.syncs_before = self.syncs()?.unwrap_or(self.syncs_before);
        }
        Ok(())
    }

    fn open_with(&mut self, doing: &str) -> Result<(), WorkloadError> {
        self.store = Some((self.open)(&self.options).map_err(WorkloadError::during(doing))?);
        TrialStep::Working.begin();
        Ok(())
    }

    /// Has the store reclaim the space of removed records; gives the name of what it did, if it can.
    pub fn compact(&mut self) -> Result<Option<&'static str>, WorkloadError> {
        let store = self.store.as_deref_mut().ok_or_else(|| WorkloadError::harness("the store is closed"))?;
        store.compact().map_err(WorkloadError::during("reclaiming space"))
    }

    /// [`Bench::compact`] while sessions work, if the engine can do that.
    pub fn compact_concurrently(&self) -> Result<Option<&'static str>, WorkloadError> {
        let result = self.store()?.compact_concurrently();
        result.map_err(WorkloadError::during("reclaiming space during other work"))
    }

    pub fn close(&mut self) -> Result<(), WorkloadError> {
        let Some(store) = self.store.take() else { return Ok(()) };
        TrialStep::Closing.begin();
        store.close().map_err(WorkloadError::during("closing the store"))
    }
}
