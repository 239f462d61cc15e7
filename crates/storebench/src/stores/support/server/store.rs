//! A server as a store: one table, the records found by their key.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_core::server::running::URL;
use storebench_core::store::sql::SqlSession;
use storebench_core::store::{
    Guarantee, OpenOptions, Result, Session, Setting, Store, StoreBuild, StoreError, hold_to_tier,
};

use super::dialect::Dialect;
use super::own::Own;
use super::plan::Plan;
use super::running::{Backend, Running};
use super::session::RecordSession;
use super::sql::{self, Sql};

/// Opens the store: on a server of its own, or on the one that a URL names.
///
/// # Errors
/// The server's; where it did not take what was asked for.
pub fn open<D: Dialect>(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = D::plan(options)?;
    let server = match options.settings.contains_key(URL) {
        true => Backend::Running(Running::open::<D>(options, &plan)?),
        false => Backend::Own(Own::open::<D>(options, &plan)?),
    };
    let mut own = server.connect::<D>()?;
    let settings = D::settings(&mut own)?;
    plan.check(&settings)?;
    let guarantee = hold_to_tier(options, D::tier(&settings))?;
    D::make_table(&mut own, options.compression)?;
    let kept = D::look_at(&mut own, &settings, server.running().is_none())?;
    let syncs_before = D::synced(&mut own, &kept)?.unwrap_or(0);
    let folder = options.directory.to_path_buf();
    let store =
        ServerStore::<D> { own: Mutex::new(own), server, folder, plan, guarantee, kept, syncs_before };
    Ok(Box::new(store))
}

struct ServerStore<D: Dialect> {
    /// For counting, settling and reading settings. Before `server`: connections end before it.
    own: Mutex<D::Client>,
    server: Backend,
    folder: PathBuf,
    plan: Plan,
    guarantee: Guarantee,
    kept: D::Kept,
    /// The number that it had counted when the store was opened.
    syncs_before: u64,
}

impl<D: Dialect> ServerStore<D> {
    fn own(&self) -> MutexGuard<'_, D::Client> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Dialect> Store for ServerStore<D> {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(RecordSession::<D>::new(self.server.connect::<D>()?)?))
    }

    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        let is_own = self.server.running().is_none();
        Ok(Box::new(Sql::<D>::new(self.server.connect::<D>()?, &self.plan, &self.kept, is_own)?))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        let count = sql::number(&mut *self.own(), "SELECT COUNT(*) FROM records")?;
        count.ok_or_else(|| StoreError::Engine(format!("{} did not count", D::STORE)))
    }

    fn verify(&mut self) -> Result<bool> {
        D::verify(&mut self.own())
    }

    fn compact(&mut self) -> Result<Option<&'static str>> {
        D::compact(&mut self.own()).map(Some)
    }

    fn settle(&self) -> Result<()> {
        D::settle(&mut self.own(), &self.kept, self.server.running())
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut own = self.own();
        let mut settings = D::settings(&mut own)?;
        let url = self.server.running().map(Running::url);
        settings.extend(url.map(|url| Setting::given(URL, url)));
        settings.extend(D::settings_of_table(&mut own, &self.kept)?);
        Ok(settings)
    }

    fn syncs(&self) -> Result<Option<u64>> {
        let now = D::synced(&mut self.own(), &self.kept)?;
        Ok(now.map(|now| now.saturating_sub(self.syncs_before)))
    }

    fn build(&self) -> Option<StoreBuild> {
        let has_checks = D::has_checks(&mut self.own()).ok()?;
        Some(StoreBuild::new("the server that is installed", None, Some(has_checks)))
    }

    fn elsewhere(&self) -> Option<String> {
        self.server.running().map(Running::whereabouts)
    }

    fn version(&self) -> Option<String> {
        self.server.running()?;
        D::version(&mut self.own()).ok()
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let syncs = self.syncs()?.map(|syncs| Setting::read_back(D::SYNCS, syncs));
        let (name, size) = D::size(&mut self.own(), self.server.running())?;
        Ok(syncs.into_iter().chain(size.map(|bytes| Setting::read_back(name, bytes))).collect())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let ServerStore { own, server, .. } = *self;
        drop(own);
        server.close()
    }

    fn discard(self: Box<Self>) -> Result<()> {
        let ServerStore { own, server, folder, .. } = *self;
        drop(own);
        server.discard::<D>(&folder)
    }
}
