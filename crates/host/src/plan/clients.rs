//! Checks a plan's clients: other machines that run its sessions.

use super::Plan;
use storebench_core::workload::table;
use storebench_model::sanitize::piece;

impl Plan {
    /// Checks that the sessions can be spread over the clients, whatever the store.
    pub(super) fn check_clients(&self) -> Result<(), String> {
        if self.clients.is_empty() {
            return Ok(());
        }
        if self.clients.iter().any(String::is_empty) {
            return Err("clients names a host that has no name".into());
        }
        let repeated =
            self.clients.iter().enumerate().find(|(index, host)| self.clients[..*index].contains(host));
        if let Some((_, host)) = repeated {
            return Err(format!("clients names {} twice: each has its part of the sessions", piece(host)));
        }
        if self.workload.def().serve.is_none() {
            let workloads =
                table::all().filter(|workload| workload.serve.is_some()).map(|workload| workload.name);
            let workloads = workloads.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the workload {} can't be spread over clients (--clients); those that can: {workloads}",
                self.workload
            ));
        }
        Ok(())
    }
}
