//! A cell as its workload judges it before it runs: whether it can run, and what it will cost.

use std::collections::BTreeMap;

use storebench_model::cell::Cell;
use storebench_model::result::LeftOutReason;
use storebench_model::server::running;
use storebench_model::store::{self, Capabilities, Guarantee, StoreDef, StoreKind, Threads};

use crate::workload::parameter::Parameters;

/// A cell that may be run.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The workload's parameters.
    pub parameters: &'a Parameters,
    /// The table of stores.
    pub stores: &'a [StoreDef],
    /// The plan's settings, by store and name. The cell's axes override them.
    pub settings: &'a BTreeMap<String, BTreeMap<String, String>>,
    /// A cell with as many bytes of data is left out.
    pub size_limit: u64,
    /// The limit on the memory of the cell's machine, in bytes, if any.
    pub memory_limit: Option<u64>,
    /// The number of clients over which its sessions are spread; 0 without clients.
    pub clients: usize,
}

/// Without settings in the plan.
static NO_SETTINGS: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();

impl<'a> Case<'a> {
    /// A cell on this machine, where a plan says no more than this.
    pub fn with_defaults(
        cell: &'a Cell,
        parameters: &'a Parameters,
        stores: &'a [StoreDef],
        size_limit: u64,
    ) -> Case<'a> {
        Case { cell, parameters, stores, settings: &NO_SETTINGS, size_limit, memory_limit: None, clients: 0 }
    }

    /// Its store, if it is known.
    pub fn store(&self) -> Option<&StoreDef> {
        self.stores.iter().find(|store| store.name == self.cell.store())
    }

    /// Its store, if that can be opened with the guarantee asked for.
    pub fn openable_store(&self) -> Result<&StoreDef, LeftOutReason> {
        let store = self
            .store()
            .ok_or_else(|| LeftOutReason::UnknownStore { store: self.cell.store().to_owned() })?;
        store.open.map_err(|why| LeftOutReason::NotBuilt { why: why.into() })?;
        match self.cell.guarantee().tier() {
            Some(guarantee) if store.offer(guarantee).is_none() => {
                Err(LeftOutReason::NotOffered { store: store.name.into(), guarantee })
            }
            _ => Ok(store),
        }
    }

    /// The guarantee that its store gives: the shipped one if none is asked for. `None` where that is not known.
    pub fn guarantee(&self) -> Option<Guarantee> {
        let requested = self.cell.guarantee().tier();
        self.store().and_then(|store| store.resolve(requested)).or(requested)
    }

    /// The syncs of a write, about.
    pub fn syncs(&self) -> f64 {
        let store = self.store().unwrap_or(&StoreDef::DEFAULT);
        match store.syncs_as_shipped.filter(|_| self.cell.guarantee().tier().is_none()) {
            Some(syncs) => syncs,
            None if self.guarantee() < Some(Guarantee::Power) => 0.0,
            // Data and directory.
            None if self.kind() == StoreKind::Folder => 2.0,
            None => store.syncs_at_power,
        }
    }

    /// With a session for each thread; and the store's capabilities with its settings, which may remove sessions or its order.
    pub(crate) fn store_for_threads(&self) -> Result<(&StoreDef, Capabilities), LeftOutReason> {
        let store = self.openable_store()?;
        let capabilities = self.capabilities().unwrap_or_else(|| store.capabilities.clone());
        match self.cell.threads() {
            threads if threads > 1 && capabilities.threads == Threads::One => {
                Err(LeftOutReason::OneSession { store: store.name.into(), threads })
            }
            _ => Ok((store, capabilities)),
        }
    }

    /// Whether its sessions can be spread over its clients, if it has any.
    pub fn check_clients(&self) -> Result<(), LeftOutReason> {
        let (threads, clients) = (self.cell.threads(), self.clients);
        match clients {
            0 => Ok(()),
            _ if !self.is_on_running_server() => {
                Err(LeftOutReason::NotForClients { store: self.cell.store().to_owned() })
            }
            _ if (threads as usize) < clients => Err(LeftOutReason::FewThreads { threads, clients }),
            _ => Ok(()),
        }
    }

    /// Checks that this number of value bytes is within the plan's limit and the store's.
    pub fn check_size(&self, bytes: f64) -> Result<(), LeftOutReason> {
        let limit_bytes = self.size_limit;
        if bytes >= limit_bytes as f64 {
            return Err(LeftOutReason::TooLarge { bytes, limit_bytes });
        }
        match self.store().zip(self.capabilities()) {
            Some((store, Capabilities { max_bytes, .. })) if bytes > max_bytes as f64 => {
                Err(LeftOutReason::Outgrows { store: store.name.into(), bytes, most_bytes: max_bytes })
            }
            _ => Ok(()),
        }
    }

    /// How many of `held_bytes` its store keeps in memory alone: all, if it has nowhere else for them.
    pub fn bytes_in_memory(&self, held_bytes: f64) -> f64 {
        let in_memory =
            self.capabilities().is_some_and(|capabilities| capabilities.keeps && !capabilities.persists);
        if in_memory { held_bytes } else { 0.0 }
    }

    /// The capabilities of its store with its settings; `None` for an unknown store.
    pub fn capabilities(&self) -> Option<Capabilities> {
        let settings = self.effective_settings();
        let named = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Some(self.store()?.capabilities_with(named))
    }

    /// Whether its store is a server that was running before, so that its location holds none of its data.
    pub fn is_on_running_server(&self) -> bool {
        self.kind() == StoreKind::Server && self.effective_settings().contains_key(running::URL)
    }

    /// Whether its store has files of the trial's process that should survive a kill; assumed if the guarantee is found later.
    pub fn survives_kills(&self) -> bool {
        let requested = self.cell.guarantee().tier();
        let persists = self.capabilities().is_some_and(|capabilities| capabilities.persists);
        persists
            && !self.is_on_running_server()
            && requested.is_none_or(|guarantee| guarantee >= Guarantee::Process)
    }

    fn effective_settings(&self) -> BTreeMap<String, String> {
        let mut settings = self.settings.get(self.cell.store()).cloned().unwrap_or_default();
        settings.extend(self.cell.settings().map(|(name, value)| (name.to_owned(), value.to_owned())));
        settings
    }

    /// A private server's bytes on disk in addition to the records.
    pub fn server_bytes(&self) -> f64 {
        if self.kind() == StoreKind::Server && !self.is_on_running_server() { SERVER_BYTES } else { 0.0 }
    }

    /// Seconds that its store takes to start and end, if it is a private server.
    pub fn server_start_s(&self) -> f64 {
        let server = self.store().and_then(|store| store.server).filter(|_| !self.is_on_running_server());
        server.map_or(0.0, |server| server.start_s)
    }

    /// The kind of its store.
    pub fn kind(&self) -> StoreKind {
        store::kind(self.stores, self.cell.store())
    }
}

/// A server's bytes in addition to the records: its tables and log files. A fresh one takes 40 MB.
const SERVER_BYTES: f64 = 150e6;

/// Disk that a cell takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpaceEstimate {
    /// The size of its files at their peak.
    pub peak_bytes: f64,
    /// The room that must be free for it to be tried.
    pub required_bytes: f64,
}

/// Time that a trial takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeEstimate {
    /// All of it.
    pub trial_s: f64,
    /// Reading back what it left, which is a part of that.
    pub audit_s: f64,
    /// Rests that were asked for, which are a part of it, too.
    pub rest_s: f64,
    /// Work that time ends, a part of it, too: how long it would take, and the most that it may. A slower processor does less then.
    pub time_limited_s: [f64; 2],
}

impl TimeEstimate {
    /// The time of a trial, with so much of it for reading back, and no rest.
    pub fn with_audit(trial_s: f64, audit_s: f64) -> TimeEstimate {
        TimeEstimate { trial_s, audit_s, rest_s: 0.0, time_limited_s: [0.0; 2] }
    }

    /// The time if processors take `slowness` times as long.
    pub fn slowed(self, slowness: f64) -> TimeEstimate {
        let [work_s, most_s] = self.time_limited_s;
        let busy_s = self.trial_s - self.rest_s - work_s.min(most_s);
        let trial_s = busy_s * slowness + (work_s * slowness).min(most_s) + self.rest_s;
        TimeEstimate { trial_s, audit_s: self.audit_s * slowness, ..self }
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::{Axis, GuaranteeChoice};
    use storebench_model::stores::FLAT_FOLDER;

    use super::*;

    #[test]
    fn a_store_that_syncs_as_shipped_does_so_in_estimates_whatever_that_keeps() {
        let syncing_store = StoreDef {
            name: "own",
            shipped: Guarantee::Process,
            syncs_at_power: 2.0,
            syncs_as_shipped: Some(4.0),
            ..FLAT_FOLDER
        };
        let stores = [StoreDef { kind: StoreKind::Engine, ..syncing_store }, FLAT_FOLDER];
        let syncs = |store: &str, guarantee| {
            let cell = Cell::new(store).with(Axis::GUARANTEE, GuaranteeChoice::into(guarantee));
            Case::with_defaults(&cell, &Parameters::default(), &stores, u64::MAX).syncs()
        };
        let choice = GuaranteeChoice::Tier;
        let syncs_by_choice = |store| {
            [GuaranteeChoice::Default, choice(Guarantee::Process), choice(Guarantee::Power)]
                .map(|guarantee| syncs(store, guarantee))
        };
        assert_eq!(syncs_by_choice("own"), [4.0, 0.0, 2.0]);
        assert_eq!(syncs_by_choice(FLAT_FOLDER.name), [0.0, 0.0, 2.0]);
        assert_eq!(syncs_by_choice("unknown"), [0.0, 0.0, 1.0]);
    }
}
