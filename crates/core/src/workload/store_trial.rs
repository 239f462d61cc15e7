//! A trial of a store: what is watched over it from before it is opened until it is closed, and the result so far.

use std::time::Instant;

use storebench_model::cell::Cell;
use storebench_model::result::{DISK, LIBRARY_SYNCS, LeftOutReason, Measurements, UnknownFigure};
use storebench_model::server::running;
use storebench_model::store::{Guarantee, OpenFn, OpenOptions, Setting, StoreDef, StoreError, StoreKind};

use crate::measure::children;
use crate::measure::counters::Snapshot;
use crate::measure::syncs;
use crate::workload::bare::BareTrial;
use crate::workload::bench::Bench;
use crate::workload::spec::{Spec, TrialError};
use crate::workload::step::TrialStep;
use crate::workload::sync_check::{self, AcknowledgedWrites};
use crate::workload::workload_error::WorkloadError;

/// The entry of a store that can be opened. Fails when it is not known, or this build lacks it.
pub fn find<'a>(stores: &'a [StoreDef], name: &str) -> Result<(&'a StoreDef, OpenFn), TrialError> {
    let store = stores.iter().find(|store| store.name == name);
    let store = store.ok_or_else(|| {
        TrialError::Unsupported(LeftOutReason::UnknownStore { store: name.into() }.to_string())
    })?;
    store.open.map(|open| (store, open)).map_err(|why| TrialError::Unsupported(why.into()))
}

/// The guarantee that a store offers for a cell's guarantee. Fails when it does not offer that.
pub fn offered_guarantee(store: &StoreDef, cell: &Cell) -> Result<Guarantee, TrialError> {
    let guarantee = cell.guarantee();
    store.resolve(guarantee.tier()).ok_or_else(|| {
        TrialError::Unsupported(format!("{} does not offer the guarantee {guarantee}", store.name))
    })
}

/// A trial with an open store, before and during its work. All of the harness's memory is taken before it begins.
pub(crate) struct StoreTrial<'a> {
    pub bench: Bench<'a>,
    store: &'a StoreDef,
    watch: BareTrial<'a>,
    guarantee: Guarantee,
    settings: Vec<Setting>,
}

/// A trial whose work is done and whose store has settled.
pub(crate) struct SettledTrial<'a> {
    pub bench: Bench<'a>,
    /// The result without what the workload knows: what it did, what the store holds, what was read back.
    pub measured: Measurements,
}

impl<'a> StoreTrial<'a> {
    /// Opens the store, which must give the `offered` guarantee, if there is one.
    pub fn open(
        (store, open): (&'a StoreDef, OpenFn),
        options: OpenOptions<'a>,
        offered: Option<Guarantee>,
        spec: &'a Spec,
    ) -> Result<StoreTrial<'a>, TrialError> {
        // Looked at here, so that its memory is the harness's own; where they don't count, the result says so.
        let _ = syncs::check_counting();
        let private_server = store.server.filter(|_| !options.settings.contains_key(running::URL));
        if let Some(server) = private_server {
            TrialStep::MakingServer.begin();
            (server.prepare)(&options).map_err(unsupported_or_failed)?;
        }
        let watch = BareTrial::begin_with(spec, private_server.is_some())?;
        let bench = Bench::open(open, options).map_err(unsupported_or_failed)?;
        children::check_held().map_err(TrialError::harness)?;
        let guarantee = check_guarantee(&bench, offered.filter(|_| !spec.judged))?;
        let settings = read_settings(&bench)?;
        Ok(StoreTrial { bench, store, watch, guarantee, settings })
    }

    /// To be called when the last operation has returned.
    pub fn worked(&mut self) -> Result<(), TrialError> {
        self.watch.worked()
    }

    /// Lets the store settle. Fails when it can't, lacks syncs for its guarantee, or does not count these `records`, if it counts.
    pub fn finish(
        self,
        acknowledged: &[AcknowledgedWrites],
        records: Option<u64>,
    ) -> Result<SettledTrial<'a>, TrialError> {
        let StoreTrial { bench, store, watch, guarantee, settings } = self;
        let mut unchecked = None;
        if guarantee >= Guarantee::Power {
            unchecked = check_power(&bench, store, acknowledged)?;
        }
        TrialStep::Settling.begin();
        let (before, start) = (Snapshot::now(), Instant::now());
        bench.store()?.settle().map_err(WorkloadError::during("settling"))?;
        let (settle_ns, settle_counters) = (start.elapsed().as_nanos() as u64, before.until_now());
        let mut figures = watch.figures()?;
        figures.unknown.extend(unchecked);
        if let Some(elsewhere) = bench.outside_location() {
            figures.unknown.extend(unknown_figures(elsewhere));
            // The traffic of a device under the location is not the store's if its data are elsewhere.
            figures.device = None;
        }
        if let Some(records) = records {
            check_count(&bench, records)?;
        }
        let open = bench.store()?;
        let measured = Measurements {
            store_version: open.version().unwrap_or_else(|| (store.version)()),
            store_build: open.build(),
            statistics: open.statistics().map_err(WorkloadError::during("reading statistics"))?,
            // Some settings, such as the compression of files on disk, can be read back only now.
            settings: merge(settings, read_settings(&bench)?),
            settle_ns,
            settle_counters: Some(settle_counters),
            guarantee,
            ..figures
        };
        Ok(SettledTrial { bench, measured })
    }
}

impl SettledTrial<'_> {
    pub fn close(&mut self) -> Result<(), TrialError> {
        self.bench.close()?;
        self.measured.disk = self.bench.disk().map_err(TrialError::harness)?;
        Ok(())
    }
}

/// Figures that are unknown if the data are elsewhere.
fn unknown_figures(elsewhere: &str) -> Vec<UnknownFigure> {
    let unknown = |figure: &str, why: &str| UnknownFigure {
        figure: figure.into(),
        reason: format!("{elsewhere}{why}"),
    };
    vec![
        unknown("place", ", so the place is without effect"),
        unknown(DISK, ""),
        unknown("the rest after loading", "; whether the server had come to rest is not known"),
        unknown("device", ""),
        unknown("memory and processor time of the server", "; the client's are shown"),
    ]
}

/// The guarantee that the open store gives, which must be the offered one. A running server gives what it was set up for;
/// opening refuses one that gives another than was asked for.
fn check_guarantee(bench: &Bench<'_>, offered: Option<Guarantee>) -> Result<Guarantee, TrialError> {
    let guarantee = bench.store()?.guarantee();
    match offered {
        Some(offered) if offered != guarantee && bench.outside_location().is_none() => {
            Err(TrialError::harness(format!(
                "the store gives the guarantee {guarantee}, but {offered} was promised"
            )))
        }
        _ => Ok(guarantee),
    }
}

/// Compares acknowledged writes with counted syncs. For a server, and a library whose calls are not seen, only its own count of
/// the whole trial is known; without a count, that is reported.
fn check_power(
    bench: &Bench<'_>,
    store: &StoreDef,
    acknowledged: &[AcknowledgedWrites],
) -> Result<Option<UnknownFigure>, TrialError> {
    if store.kind != StoreKind::Server && store.capabilities.calls_are_seen {
        acknowledged.iter().try_for_each(AcknowledgedWrites::check)?;
        return Ok(None);
    }
    let Some(syncs) = bench.syncs()? else {
        let reason = match bench.outside_location() {
            Some(_) => {
                "others use the server, too: its count is not this run's, and power is not checked".into()
            }
            None => format!(
                "{} does not count its syncs with these settings, so power is not checked",
                store.name
            ),
        };
        let figure = if store.kind == StoreKind::Server { "syncs of the server" } else { LIBRARY_SYNCS };
        return Ok(Some(UnknownFigure { figure: figure.into(), reason }));
    };
    sync_check::check_all(acknowledged, syncs)?;
    Ok(None)
}

fn read_settings(bench: &Bench<'_>) -> Result<Vec<Setting>, TrialError> {
    Ok(bench.store()?.settings().map_err(WorkloadError::during("reading settings"))?)
}

/// The settings at the end, and those known only at the start.
fn merge(mut at_start: Vec<Setting>, mut at_end: Vec<Setting>) -> Vec<Setting> {
    at_start.retain(|setting| at_end.iter().all(|known| known.name != setting.name));
    at_end.append(&mut at_start);
    at_end
}

fn check_count(bench: &Bench<'_>, expected: u64) -> Result<(), TrialError> {
    let count = bench.store()?.count().map_err(WorkloadError::during("counting"))?;
    if count == expected {
        return Ok(());
    }
    let message = format!("the store counts {count} records, but {expected} were written");
    Err(WorkloadError::wrong_data(message).into())
}

pub(crate) fn unsupported_or_failed(error: StoreError) -> TrialError {
    match error {
        StoreError::Unsupported(message) => TrialError::Unsupported(message),
        other => TrialError::Failed(WorkloadError::store("opening the store", &other)),
    }
}
