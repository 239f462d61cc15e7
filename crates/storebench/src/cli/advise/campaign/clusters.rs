//! Compares the recommended store with servers and clusters.

use std::time::Instant;

use storebench_host::plan::{Changes, Plan};
use storebench_model::axis::{Axis, Value};
use storebench_model::cell::{Cell, GuaranteeChoice};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::result::{LeftOutCell, LeftOutReason, TrialResult};
use storebench_model::store::{Guarantee, ROUND_TRIP, StoreDef};
use storebench_model::units::{Period, plural};
use storebench_report::advice::clusters::PLAN;
use storebench_report::advice::question::Question;

use super::super::super::question::{names, records_of, sized};
use super::super::plans::halved;
use super::{AdviseCampaign, FEWEST_BLOCKS, block_took, blocks};

/// The shares of the budget after which servers, and clusters, are not measured again.
const SERVERS_SHARE: f64 = 0.8;
const CLUSTERS_SHARE: f64 = 0.92;
/// Messages of a cluster that an operation waits for, and messages for each record: it is read back after the operations, and after a kill.
const ROUND_TRIPS: u64 = 2;
const READ_BACK: u64 = 4;
/// The time of a cluster for starting, electing a leader and stopping, for a trial and its kill check, in seconds.
const START_S: f64 = 5.0;
/// The additional time in starts of a single server: all start for the trial and three times for its checks, and share processors.
const STARTS: f64 = 8.0;

/// The store that can form a cluster here; [`Exit::UnknownStore`], with what it lacks, if there is none.
pub fn cluster_store(stores: &[StoreDef], question: &Question) -> Result<String> {
    if question.guarantee == Guarantee::Node {
        return Err(Error::bad_value(
            "--network compares clusters with a store that keeps its records through a power cut: ask for --guarantee power",
        ));
    }
    let cluster_stores: Vec<&StoreDef> =
        stores.iter().filter(|store| store.offer(Guarantee::Node).is_some()).collect();
    let usable = cluster_stores.iter().find(|store| store.open.is_ok() && store.missing_need().is_none());
    usable.map(|store| store.name.to_owned()).ok_or_else(|| {
        let missing_needs = cluster_stores
            .iter()
            .filter_map(|store| store.open.err().map(str::to_owned).or_else(|| store.missing_need()));
        let missing_needs: Vec<String> = missing_needs.collect();
        let message = format!(
            "--network needs a server that can be a cluster, and there is none: {}",
            missing_needs.join("; ")
        );
        Error::new(Exit::UnknownStore, message)
    })
}

/// The plans of servers and of clusters, and the estimated time of a block of the second, in seconds.
type PlanPair = (Plan, Plan, f64);

impl AdviseCampaign<'_> {
    /// Measures the best store and a server, and then a cluster, as time allows; returns whether that was interrupted.
    pub(super) fn measure_clusters(&mut self, best: &str, server: &str, network: Period) -> Result<bool> {
        let Some((servers, clusters, clusters_s)) = self.plans_of_clusters(best, server, network)? else {
            self.clusters.no_time = true;
            return Ok(false);
        };
        let records = plural(records_of(&servers).from, "record");
        self.stages
            .print_stage(&format!("next to servers and clusters: {best} and {server}, with {records}"));
        // The first leaves the second enough time for a block.
        let stages =
            [("servers", servers, SERVERS_SHARE, clusters_s), ("clusters", clusters, CLUSTERS_SHARE, 0.0)];
        for (name, plan, share, reserve_s) in stages {
            let launch = self.stages.launch(&plan)?;
            if launch.cells.is_empty() {
                self.clusters.left_out.extend(launch.header.left_out.iter().cloned());
                continue;
            }
            let start = Instant::now();
            let enough = |trials: &[TrialResult]| {
                let next_s = block_took(start, trials).as_secs_f64();
                f64::from(blocks(trials)) >= FEWEST_BLOCKS
                    || next_s > self.stages.left_s(share)
                    || next_s + reserve_s > self.stages.left_s(CLUSTERS_SHARE)
            };
            let cells = launch.cells.clone();
            let (run, interrupted) = self.run(name, launch, (&[], 0), Some(&enough), None, 1.0)?;
            let was_measured = |cell: &Cell| run.trials.iter().any(|trial| trial.cell == *cell);
            let unmeasured = cells.into_iter().filter(|cell| !was_measured(cell));
            self.clusters
                .left_out
                .extend(unmeasured.map(|cell| LeftOutCell { cell, reason: LeftOutReason::NotReached }));
            self.clusters.runs.push(run);
            if interrupted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The plans of both, with new databases, and as many records and operations as there is time for in a block of each, if any.
    fn plans_of_clusters(&self, best: &str, server: &str, network: Period) -> Result<Option<PlanPair>> {
        let mut servers = self.plan.clone();
        servers.name = PLAN.into();
        if self.question.overwritten.is_some() {
            let fresh = Axis::AGE.read("fresh").map_err(Error::bad_value)?;
            servers.apply(Changes::single(Axis::AGE, [fresh]))?;
        }
        let mut clusters = servers.clone();
        let mut stores = vec![best.to_owned(), server.to_owned()];
        stores.dedup();
        servers.apply(Changes::single(Axis::STORE, names(&stores)))?;
        clusters.apply(Changes::single(Axis::STORE, [Value::word(server)]))?;
        clusters.apply(Changes::single(Axis::GUARANTEE, [GuaranteeChoice::Tier(Guarantee::Node)]))?;
        let settings = clusters.settings.entry(server.to_owned()).or_default();
        settings.insert(ROUND_TRIP.into(), network.to_string());
        let (left_s, slowness) = (self.stages.left_s(CLUSTERS_SHARE), self.slowness);
        let mut size = Some((records_of(&self.plan).from, self.operations()));
        while let Some((records, operations)) = size {
            let servers = sized(&servers, records, operations)?;
            let clusters = sized(&clusters, records, operations)?;
            let messages = ROUND_TRIPS * operations + READ_BACK * records;
            let network_s = START_S + messages as f64 * network.0.as_secs_f64();
            let starts_s = STARTS * self.plans.start_s(server);
            let clusters_s = self.plans.estimate_s(&clusters) * slowness + network_s + starts_s;
            if self.plans.estimate_s(&servers) * slowness + clusters_s <= left_s {
                return Ok(Some((servers, clusters, clusters_s)));
            }
            size = halved(records, operations);
        }
        Ok(None)
    }
}
