//! Checks a plan's clients: other machines that run its sessions.

use super::Plan;
use storebench_core::sanitize::piece;
use storebench_core::workload::table;

impl Plan {
    /// Checks that the sessions can be spread over the clients, whatever the store.
    pub(super) fn check_clients(&self) -> Result<(), String> {
        if self.clients.is_empty() {
            return Ok(());
        }
        if self.clients.iter().any(String::is_empty) {
            return Err("clients names a host that has no name".into());
        }
        let twice = self.clients.iter().enumerate().find(|(at, host)| self.clients[..*at].contains(host));
        if let Some((_, host)) = twice {
            return Err(format!("clients names {} twice: each has its part of the sessions", piece(host)));
        }
        if self.workload.def().serve.is_none() {
            let able = table::all().filter(|known| known.serve.is_some()).map(|known| known.name);
            let able = able.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the workload {} can't be spread over clients (--clients); those that can: {able}",
                self.workload
            ));
        }
        Ok(())
    }
}
