//! Reports on load from other machines: which they were, and how well they started together. A saturated client is a warning of its trial.

use indexmap::IndexMap;
use storebench_model::units::rough_ns;

use super::merge::Merged;
use super::names::join_with_and;

pub fn describe_clients(merged: &Merged<'_>) -> Vec<String> {
    // The lateness of the last session, and the largest error of the start time, in nanoseconds.
    let mut starts_by_hosts: IndexMap<Vec<&str>, (u64, u64)> = IndexMap::new();
    for measured in merged.runs.iter().flat_map(|run| &run.trials).filter_map(|trial| trial.ok()) {
        let clients = &measured.clients;
        if clients.is_empty() {
            continue;
        }
        let hosts = clients.iter().map(|client| client.host.as_str()).collect();
        let (late_ns, uncertainty_ns) = starts_by_hosts.entry(hosts).or_default();
        for client in clients {
            *late_ns = client.late_ns.max(*late_ns);
            *uncertainty_ns = client.clock_uncertainty_ns.max(*uncertainty_ns);
        }
    }
    let line = |(hosts, (late_ns, uncertainty_ns)): (&Vec<&str>, &(u64, u64))| {
        let (ending, hosts) = (if hosts.len() > 1 { "s" } else { "" }, join_with_and(hosts));
        format!(
            "The load came from the client{ending} {hosts}. The last session started {} after the moment set for all, which is known \
             there to {}.",
            rough_ns(*late_ns as f64),
            rough_ns(*uncertainty_ns as f64)
        )
    };
    starts_by_hosts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use storebench_model::result::ClientReport;
    use storebench_samples::{Sample, blocks};

    use super::*;

    #[test]
    fn clients_are_named_with_their_worst_start() {
        let mut run = blocks("box", &[vec![Sample::new("lmdb")], vec![Sample::new("lmdb")]]);
        assert_eq!(describe_clients(&Merged::new(&[run.clone()], &[])), [""; 0]);
        let client = |host: &str, late_ns, clock_uncertainty_ns| ClientReport {
            host: host.into(),
            late_ns,
            clock_uncertainty_ns,
            ..ClientReport::default()
        };
        for (trial, late_ns) in run.trials.iter_mut().zip([90_000, 12_000]) {
            let clients = vec![client("alpha", late_ns, 25_000), client("beta", 4_000, 31_000)];
            trial.measured.as_mut().unwrap().clients = clients;
        }
        let line = "The load came from the clients alpha and beta. The last session started 90.0 µs after the moment set for all, which \
                    is known there to 31.0 µs.";
        assert_eq!(describe_clients(&Merged::new(&[run], &[])), [line]);
    }
}
