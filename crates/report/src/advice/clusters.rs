//! The recommended store compared with servers: single ones, and clusters.

use std::collections::BTreeSet;

use storebench_figures::column::Unit;
use storebench_figures::stats::Summary;
use storebench_host::run::Run;
use storebench_model::cell::{Axis, Cell};
use storebench_model::result::{LeftOutCell, Measurements, TrialResult};
use storebench_model::store::{Guarantee, NODES, ROUND_TRIP, StoreDef, StoreKind};
use storebench_model::units::{plural, three_digits};

use super::answer::Advice;
use super::figures::time_ns;
use super::question::Mix;
use super::ranking::why_no_figures;
use super::ratios::times_measured;
use super::sentences::with_interval;

/// The name of the plans that measure this.
pub const PLAN: &str = "advise-clusters";

/// The title of the section.
pub const TITLE: &str = "Beside servers and clusters";

/// The runs of that, and why there are no more of them.
#[derive(Debug, Default)]
pub struct ClusterRuns {
    /// The runs.
    pub runs: Vec<Run>,
    /// The combinations that could not be run.
    pub left_out: Vec<LeftOutCell>,
    /// Whether there was no time for any.
    pub no_time: bool,
}

/// The recommended store compared with servers and clusters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clusters {
    /// Each with the mean time of an operation of the mix in nanoseconds: first the store in the application, then single servers.
    measured: Vec<(Deployment, Summary)>,
    missing: Vec<String>,
    /// Whether there was no time for any.
    no_time: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Deployment {
    servers: Servers,
    cell: Cell,
    version: String,
    guarantee: Guarantee,
}

/// The servers of a store: 0 in the application's process, 1, or a cluster, with the round trip between them if simulated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Servers(u32, Option<String>);

impl Servers {
    fn from_measured(measured: &Measurements, is_server: bool) -> Servers {
        let value = |name: &str| {
            let setting = measured.settings.iter().find(|setting| setting.name == name);
            setting.map(|setting| setting.value.clone())
        };
        let nodes = value(NODES).and_then(|nodes| nodes.parse().ok());
        Servers(nodes.unwrap_or(u32::from(is_server)), value(ROUND_TRIP))
    }

    fn describe(&self) -> String {
        match self {
            Servers(0, _) => "in the application".into(),
            Servers(1, _) => "one server".into(),
            Servers(nodes, None) => format!("a cluster of {nodes} without a network between them"),
            Servers(nodes, Some(time)) => {
                format!("a cluster of {nodes}, {time} from one to another and back")
            }
        }
    }
}

/// Whether a run is of the plan [`PLAN`].
pub fn is_beside_clusters(run: &Run) -> bool {
    run.plan().is_some_and(|plan| plan.name == PLAN)
}

/// The recommended store compared with servers and clusters, if measured on the answer's machine with records like the question's.
pub fn clusters(advice: &Advice, cluster_runs: &ClusterRuns, table: &[StoreDef]) -> Clusters {
    let question = &advice.question;
    let is_like_question = |cell: &Cell| {
        cell.record_size() == question.size
            && cell.data() == question.data
            && cell.machine() == question.machine
            && cell.threads() == question.threads
            && (cell.text(Axis::CACHE) == "cold") == question.cold
    };
    let runs: Vec<&Run> =
        cluster_runs.runs.iter().filter(|run| run.header.hardware == advice.hardware).collect();
    let trials = runs.iter().flat_map(|run| &run.trials).filter(|trial| is_like_question(&trial.cell));
    let trials: Vec<&TrialResult> = trials.collect();
    let failed = trials.iter().filter_map(|trial| Some((&trial.cell, why_no_figures(&trial.outcome)?)));
    let left_out = runs.iter().flat_map(|run| &run.header.left_out).chain(&cluster_runs.left_out);
    let left_out = left_out.map(|omitted| (&omitted.cell, format!("left out: {}", omitted.reason)));
    let missing = failed.chain(left_out);
    let missing = missing.map(|(cell, why)| format!("{} at {}: {why}", cell.store(), cell.guarantee()));
    let missing = missing.collect::<BTreeSet<_>>().into_iter().collect();
    Clusters { measured: mean_times(&trials, &question.mix, table), missing, no_time: cluster_runs.no_time }
}

/// One mean for each combination, version and number of servers.
fn mean_times(trials: &[&TrialResult], mix: &Mix, table: &[StoreDef]) -> Vec<(Deployment, Summary)> {
    let mut times: Vec<(Deployment, Vec<f64>)> = Vec::new();
    for trial in trials {
        let Some((measured, ns)) = trial.ok().and_then(|m| Some((m, time_ns(m, mix)?))) else {
            continue;
        };
        let def = table.iter().find(|def| def.name == trial.cell.store());
        let deployment = Deployment {
            servers: Servers::from_measured(measured, def.is_some_and(|def| def.kind == StoreKind::Server)),
            cell: trial.cell.clone(),
            version: measured.store_version.clone(),
            guarantee: measured.guarantee,
        };
        match times.iter_mut().find(|(other, _)| *other == deployment) {
            Some((_, times)) => times.push(ns),
            None => times.push((deployment, vec![ns])),
        }
    }
    times.sort_by(|(a, _), (b, _)| (&a.servers, a.cell.store()).cmp(&(&b.servers, b.cell.store())));
    times.into_iter().filter_map(|(deployment, ns)| Some((deployment, Summary::from_values(&ns)?))).collect()
}

/// A sentence for each; empty if it was neither measured nor asked for.
pub fn describe(advice: &Advice) -> Vec<String> {
    let Clusters { measured, missing, no_time } = &advice.clusters;
    let best = advice.verdict.ranking.first();
    let base = measured
        .iter()
        .find(|(deployment, _)| best.is_some_and(|best| best.store == deployment.cell.store()));
    let mut lines: Vec<String> = measured.iter().map(|entry| describe_one(entry, base)).collect();
    lines.extend(missing.iter().cloned());
    let most = measured.iter().map(|(deployment, _)| deployment.servers.0).max();
    if most.is_some_and(|servers| servers > 0) {
        lines.push(
            "All servers were on this machine, next to the application: they share its disk and processors."
                .into(),
        );
    }
    if advice.question.network.is_some() && most.unwrap_or(0) < 2 {
        lines.push(match no_time {
            true => "No cluster was measured: there was no time. A larger --budget has it.".into(),
            false => "No cluster was measured.".into(),
        });
    }
    lines
}

fn describe_one(entry: &(Deployment, Summary), base: Option<&(Deployment, Summary)>) -> String {
    let (Deployment { servers, cell, version, guarantee }, speed) = entry;
    let (mean, records) = (speed.mean.value, cell.records());
    let base = base.filter(|base| *base != entry && base.0.cell.records() == records);
    let comparison = base.map(|(deployment, base)| {
        format!(", {} times the time of {}", three_digits(mean / base.mean.value), deployment.cell.store())
    });
    let survival = match guarantee {
        Guarantee::Node => " At node, what was acknowledged survives the loss of one of its servers.",
        _ => "",
    };
    format!(
        "{} {version} ({guarantee}), {}: {} an operation, {}{} ({}, {}).{survival}",
        cell.store(),
        servers.describe(),
        with_interval(speed, Unit::Nanoseconds),
        Unit::PerSecond.show(1e9 / mean),
        comparison.unwrap_or_default(),
        plural(records.from, "record"),
        times_measured(speed.trials),
    )
}

#[cfg(test)]
mod tests {
    use storebench_model::store::Setting;
    use storebench_samples::{Sample, blocks, run};

    use super::super::question::Question;
    use super::super::tests::{advice, question};
    use super::*;
    use crate::terminal::grid::Style;

    fn run_with_settings(samples: &[Sample], settings: &[(&str, &str, &str)]) -> Run {
        let mut run = blocks("box", &[samples.to_vec(), samples.to_vec(), samples.to_vec()]);
        let mut plan = storebench_host::plan::find("crud").unwrap();
        plan.name = PLAN.into();
        run.header.plan = plan.to_toml().unwrap();
        for trial in &mut run.trials {
            let of_store = settings.iter().filter(|(store, ..)| *store == trial.cell.store());
            let settings = of_store.map(|(_, name, value)| Setting::unverified(*name, *value));
            if let Some(measured) = &mut trial.measured {
                measured.settings = settings.collect();
            }
        }
        run
    }

    fn servers() -> Run {
        let samples = [Sample::new("lmdb").ns(1000.0), Sample::new("etcd").guarantee("power").ns(200_000.0)];
        run_with_settings(&samples, &[("etcd", NODES, "1")])
    }

    fn describe_clusters(network: Option<&str>, runs: &[Run]) -> Vec<String> {
        let fresh = run("box", &[Sample::new("lmdb").ns(1000.0), Sample::new("redb").ns(1500.0)]);
        let network = network.map(|text| text.parse().unwrap());
        let mut answer = advice(&Question { network, ..question() }, &[fresh]).unwrap();
        let cluster_runs =
            ClusterRuns { runs: runs.to_vec(), no_time: runs.is_empty(), ..ClusterRuns::default() };
        answer.clusters = clusters(&answer, &cluster_runs, &[]);
        let lines = describe(&answer);
        let text = answer.text(None, Style { width: 100, colour: false });
        assert_eq!(text.contains(TITLE), !lines.is_empty(), "{text}");
        lines
    }

    #[test]
    fn each_is_told_with_what_it_costs_beside_the_recommended_store() {
        let samples = [
            Sample::new("etcd").guarantee("node").ns(900_000.0),
            Sample::new("other").guarantee("node").failed("no leader"),
        ];
        let clusters = run_with_settings(&samples, &[("etcd", NODES, "3"), ("etcd", ROUND_TRIP, "500us")]);
        let lines = describe_clusters(Some("500us"), &[servers(), clusters]);
        let [file, single, cluster, missing, shared] = lines.as_slice() else { panic!("{lines:?}") };
        let start = "lmdb 1.2.3 (process), in the application: 638 ns an operation, ";
        assert!(file.starts_with(start), "{file}");
        assert!(file.contains(" (100 records, measured 3 times)"), "{file}");
        assert!(single.starts_with("etcd 1.2.3 (power), one server: 128 µs an operation, "), "{single}");
        assert!(single.contains("/s, 200 times the time of lmdb"), "{single}");
        for expected in [
            "(node), a cluster of 3, 500us from one to another and back: 574 µs",
            "900 times the time of lmdb",
            "survives the loss",
        ] {
            assert!(cluster.contains(expected), "{expected}: {cluster}");
        }
        assert_eq!(missing, "other at node: failed: no leader");
        assert!(shared.contains("share its disk"), "{shared}");
    }

    #[test]
    fn those_of_another_machine_or_question_are_not_told_and_who_asked_hears_why() {
        let mut elsewhere = servers();
        elsewhere.header.hardware = "other".into();
        assert_eq!(describe_clusters(None, &[elsewhere.clone()]), Vec::<String>::new());
        assert_eq!(describe_clusters(Some("1ms"), &[elsewhere]), ["No cluster was measured."]);
        assert!(describe_clusters(Some("1ms"), &[])[0].contains("there was no time"));
        let mut larger = servers();
        for trial in &mut larger.trials {
            trial.cell = Sample::new(trial.cell.store())
                .size(storebench_model::units::SizeRange { from: 9, to: 10 })
                .cell();
        }
        assert_eq!(describe_clusters(None, &[larger]), Vec::<String>::new());
        assert!(is_beside_clusters(&servers()) && !is_beside_clusters(&run("box", &[])));
    }
}
