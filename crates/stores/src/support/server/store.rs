//! A server as a store: records, found by their key.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use storebench_model::server::running::URL;
use storebench_model::store::sql::SqlSession;
use storebench_model::store::{
    Guarantee, HeldReader, OpenOptions, Result, Session, Setting, Store, StoreBuild, StoreError, Upkeep,
    hold_to_tier,
};

use super::kind::{Plan, Server};
use super::own_server::OwnServer;
use super::running::{Backend, RunningServer};
use storebench_model::server::PROGRAMS;

/// Opens the store on a private server, or on the one that a URL names. Fails also when it did not take the settings.
pub fn open<S: Server>(options: &OpenOptions<'_>) -> Result<Box<dyn Store>> {
    let plan = (S::PLAN)(options)?;
    let server = match options.settings.contains_key(URL) {
        true => Backend::Running(RunningServer::open::<S>(options)?),
        false => Backend::Own(OwnServer::open::<S>(options, &plan)?),
    };
    let mut client = server.connect::<S>(&plan)?;
    let settings = (S::READ_SETTINGS)(&mut client)?;
    plan.check(&settings)?;
    let guarantee = hold_to_tier(options, (S::TIER)(&settings))?;
    S::make_table(&mut client, options.compression)?;
    let facts = S::examine(&mut client, &settings, server.running().is_none())?;
    let syncs_at_open = S::count_syncs(&mut client, &facts)?.unwrap_or(0);
    let folder = options.directory.to_path_buf();
    let client = Mutex::new(client);
    Ok(Box::new(ServerStore::<S> { client, server, folder, plan, guarantee, facts, syncs_at_open }))
}

struct ServerStore<S: Server> {
    /// For counting, settling and reading settings. Before `server`: connections end first.
    client: Mutex<S::Client>,
    server: Backend,
    folder: PathBuf,
    plan: Plan,
    guarantee: Guarantee,
    facts: S::Facts,
    syncs_at_open: u64,
}

impl<S: Server> ServerStore<S> {
    fn lock_client(&self) -> MutexGuard<'_, S::Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Server> Store for ServerStore<S> {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        (S::SESSION)(self.server.connect::<S>(&self.plan)?)
    }

    fn sql(&self) -> Result<Box<dyn SqlSession + '_>> {
        let Some(open_sql) = S::SQL else {
            let product = S::programs().product;
            return Err(StoreError::Unsupported(format!("{product} does not speak SQL")));
        };
        let is_own = self.server.running().is_none();
        open_sql(self.server.connect::<S>(&self.plan)?, (&self.plan, &self.facts, is_own))
    }

    fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    fn count(&self) -> Result<u64> {
        (S::COUNT)(&mut self.lock_client())
    }

    fn verify(&mut self) -> Result<bool> {
        S::verify(&mut self.lock_client())
    }

    fn compact_concurrently(&self) -> Result<Option<&'static str>> {
        S::compact(&mut self.lock_client())
    }

    fn hold_reader(&self) -> Result<Option<Box<dyn HeldReader + '_>>> {
        let mut client = self.server.connect::<S>(&self.plan)?;
        Ok(if S::hold_reader(&mut client)? { Some(Box::new(client)) } else { None })
    }

    fn settle(&self) -> Result<()> {
        S::settle(&mut self.lock_client(), &self.facts, self.server.running())
    }

    fn settings(&self) -> Result<Vec<Setting>> {
        let mut client = self.lock_client();
        let mut settings = (S::READ_SETTINGS)(&mut client)?;
        let url = self.server.running().map(RunningServer::url);
        settings.extend(url.map(|url| Setting::unverified(URL, url)));
        settings.extend(self.plan.programs.iter().map(|folder| Setting::unverified(PROGRAMS, folder)));
        settings.extend(S::settings_of_table(&mut client, &self.facts)?);
        Ok(settings)
    }

    fn syncs(&self) -> Result<Option<u64>> {
        let count = S::count_syncs(&mut self.lock_client(), &self.facts)?;
        Ok(count.map(|count| count.saturating_sub(self.syncs_at_open)))
    }

    fn build(&self) -> Option<StoreBuild> {
        let has_checks = S::has_checks(&mut self.lock_client()).ok()?;
        Some(StoreBuild::new("the server that is installed", None, has_checks))
    }

    fn outside_location(&self) -> Option<String> {
        let running = self.server.running()?;
        Some(format!("the data are on a running server, at {}", running.address.name()))
    }

    fn version(&self) -> Option<String> {
        if self.plan.programs.is_none() {
            self.server.running()?;
        }
        S::version(&mut self.lock_client()).ok()
    }

    fn upkeep(&self) -> Result<Vec<Upkeep>> {
        S::upkeep(&mut self.lock_client())
    }

    fn statistics(&self) -> Result<Vec<Setting>> {
        let syncs = self.syncs()?.map(|syncs| Setting::read_back(S::SYNCS, syncs));
        let (name, size) = S::size(&mut self.lock_client(), self.server.running())?;
        Ok(syncs.into_iter().chain(size.map(|bytes| Setting::read_back(name, bytes))).collect())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let ServerStore { client, server, .. } = *self;
        drop(client);
        server.close()
    }

    fn discard(self: Box<Self>) -> Result<()> {
        let ServerStore { client, server, folder, .. } = *self;
        drop(client);
        server.discard::<S>(&folder)
    }
}
