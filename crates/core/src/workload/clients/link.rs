//! The ways between a trial's process and its clients, whichever they are, and the task with which a client begins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::messages::{ClientOrder, ClientReply};
use crate::workload::spec::Spec;

/// The task of a client: which of the trial's threads are its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientTask {
    /// The trial.
    pub spec: Spec,
    /// The number of the first of them.
    pub first: u64,
    /// The number of them.
    pub sessions: u64,
}

/// The way to a client.
pub trait ClientLink: Send {
    /// Sends it an order.
    fn send(&mut self, order: &ClientOrder) -> Result<(), String>;

    /// Its next message, if one comes within this time.
    fn next(&mut self, timeout: Duration) -> Result<Option<ClientReply>, String>;
}

/// Starts a client on a host, which takes up its task; or says why it can't.
pub type ClientConnector = fn(&str, &ClientTask) -> Result<Box<dyn ClientLink>, String>;

/// A client's own way to the trial's process.
pub trait ClientWire: Sync {
    /// Tells it something. Where nobody is there any more, this process ends.
    fn reply(&self, reply: &ClientReply);

    /// The next order; `None` where none will come any more.
    fn next_order(&self) -> Option<ClientOrder>;
}
