//! The recommended store beside servers and clusters.

use std::time::Instant;

use storebench_core::axis::Axis;
use storebench_core::cell::GuaranteeChoice;
use storebench_core::error::{Error, Exit, Result};
use storebench_core::plan::{Changes, Plan};
use storebench_core::result::TrialResult;
use storebench_core::store::{Guarantee, ROUND_TRIP, StoreDef};
use storebench_core::units::{Period, counted};
use storebench_report::advice::clusters::PLAN;
use storebench_report::advice::question::Question;

use super::super::super::question::{names, records_of, sized};
use super::super::plans::halved;
use super::{FEWEST_BLOCKS, Measuring, block_took, blocks};

/// The shares of the budget after which servers, and clusters, are not measured again.
const SERVERS_SHARE: f64 = 0.8;
const CLUSTERS_SHARE: f64 = 0.92;
/// Messages of a cluster that an operation waits for, and the records that are loaded for one.
const ROUND_TRIPS: u64 = 2;
const LOADED_AT_ONCE: u64 = 100;

/// The stores that can be clusters here: of those to choose from, or of all where none of these can.
///
/// # Errors
/// [`Exit::UnknownStore`] where there are none, with what each lacks; [`Exit::BadValue`] where clusters alone answer the question.
pub fn able(stores: &[StoreDef], question: &Question) -> Result<Vec<String>> {
    if question.guarantee == Guarantee::Node {
        return Err(Error::bad_value(
            "--network measures clusters beside a store that does not lose its records without them: ask for --guarantee power",
        ));
    }
    let all: Vec<&StoreDef> = stores.iter().filter(|store| store.offer(Guarantee::Node).is_some()).collect();
    let here = all.iter().filter(|store| store.open.is_ok() && store.lacks().is_none());
    let here: Vec<String> = here.map(|store| store.name.to_owned()).collect();
    let chosen: Vec<String> = here.iter().filter(|store| question.allows(store)).cloned().collect();
    if here.is_empty() {
        let lacks =
            all.iter().filter_map(|store| store.open.err().map(str::to_owned).or_else(|| store.lacks()));
        let lacks: Vec<String> = lacks.collect();
        let message = format!(
            "--network needs a server that can be a cluster, and there is none: {}",
            lacks.join("; ")
        );
        return Err(Error::new(Exit::UnknownStore, message));
    }
    Ok(if chosen.is_empty() { here } else { chosen })
}

impl Measuring<'_> {
    /// Measures the best store beside servers, and then clusters of them, as far as there is time; says whether that was interrupted.
    pub(super) fn beside_clusters(&mut self, best: &str, network: Period) -> Result<bool> {
        let servers = able(self.stages.stores, self.question)?;
        let Some((alone, clusters)) = self.plans_of_clusters(best, &servers, network)? else {
            self.stages.tell("no time for servers and clusters");
            return Ok(false);
        };
        let records = counted(records_of(&alone).from, "record");
        self.stages
            .tell(&format!("beside servers and clusters: {best} and {}, with {records}", servers.join(", ")));
        for (name, plan, share) in [("servers", alone, SERVERS_SHARE), ("clusters", clusters, CLUSTERS_SHARE)]
        {
            let start = Instant::now();
            let enough = |trials: &[TrialResult]| {
                let next_s = block_took(start, trials).as_secs_f64();
                f64::from(blocks(trials)) >= FEWEST_BLOCKS || next_s > self.stages.left_s(share)
            };
            let ended = self.carry_out(name, &plan, (&[], 0), Some(&enough), None, 1.0)?;
            let Some((run, interrupted)) = ended else { continue };
            self.clusters.push(run);
            if interrupted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The plans of that, with as many records and operations as a block of each has time for; `None` where it has time for none.
    fn plans_of_clusters(
        &self,
        best: &str,
        servers: &[String],
        network: Period,
    ) -> Result<Option<(Plan, Plan)>> {
        let mut alone = self.plan.clone();
        alone.name = PLAN.into();
        let mut stores = servers.to_vec();
        if !servers.iter().any(|server| server == best) {
            stores.insert(0, best.to_owned());
        }
        let mut clusters = alone.clone();
        alone.apply(Changes::on(Axis::STORE, names(&stores)))?;
        clusters.apply(Changes::on(Axis::STORE, names(servers)))?;
        clusters.apply(Changes::on(Axis::GUARANTEE, [GuaranteeChoice::Tier(Guarantee::Node)]))?;
        for server in servers {
            let settings = clusters.settings.entry(server.clone()).or_default();
            settings.insert(ROUND_TRIP.into(), network.to_string());
        }
        let block_s = self.stages.left_s(CLUSTERS_SHARE) / self.slowness;
        let mut size = Some((records_of(&self.plan).from, self.operations()));
        while let Some((records, operations)) = size {
            let plans = (sized(&alone, records, operations)?, sized(&clusters, records, operations)?);
            let messages = servers.len() as u64 * (ROUND_TRIPS * operations + records / LOADED_AT_ONCE);
            let waits_s = messages as f64 * network.0.as_secs_f64();
            if self.plans.estimate_s(&plans.0) + self.plans.estimate_s(&plans.1) + waits_s <= block_s {
                return Ok(Some(plans));
            }
            size = halved(records, operations);
        }
        Ok(None)
    }
}
