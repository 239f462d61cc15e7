//! Connects to a trial's clients: the program on another machine, which takes orders from a trial's process.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storebench_core::workload::clients::link::{ClientLink, ClientTask};
use storebench_core::workload::clients::messages::{ClientOrder, ClientReply};
use storebench_model::error::Result;

use super::connection::{self, Connection};
use super::host::Host;
use super::wire::{BoardSignal, Message, Request};
use crate::cli::args::BoardArgs;

/// The longest wait for the end of an idle client.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// How often this machine reports to a client that it is alive.
const BEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Checks that a client can be reached, and runs the program; it is copied if necessary.
pub fn check_client(host: &str, interrupted: &AtomicBool) -> Result<()> {
    // Ended at once: a program that waits for a request in vain would report an error.
    connect(host, interrupted).map(drop)
}

/// Starts a client on a host, for the process of a trial.
pub fn start_client(host: &str, task: &ClientTask) -> std::result::Result<Box<dyn ClientLink>, String> {
    // Ctrl-C ends the trial, and this process with it.
    let mut connection =
        connect(host, &AtomicBool::new(false)).map_err(|error| without_host(&error.message, host))?;
    let request = Request { client: Some(Box::new(task.clone())), ..Request::default() };
    connection.send(&request).map_err(|error| without_host(&error.message, host))?;
    let connection = Arc::new(Mutex::new(connection));
    let weak_connection = Arc::downgrade(&connection);
    // It may have to wait longer than the allowed silence: while records are loaded.
    std::thread::spawn(move || {
        while let Some(connection) = weak_connection.upgrade() {
            lock_connection(&connection).beat();
            drop(connection);
            std::thread::sleep(BEAT_INTERVAL);
        }
    });
    Ok(Box::new(Client { host: host.to_owned(), connection }))
}

fn connect(host: &str, interrupted: &AtomicBool) -> Result<Connection> {
    let host = Host::new(host, "--clients")?.unattended();
    let args = BoardArgs { remote: None, remote_dir: None, remote_program: None };
    connection::connect(&host, &args, interrupted)
}

/// An error's words, without the host's name at the beginning.
fn without_host(message: &str, host: &str) -> String {
    message.strip_prefix(&format!("{host}: ")).unwrap_or(message).to_owned()
}

fn lock_connection(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A client that has its task.
struct Client {
    host: String,
    connection: Arc<Mutex<Connection>>,
}

impl ClientLink for Client {
    fn send(&mut self, order: &ClientOrder) -> std::result::Result<(), String> {
        let signal = BoardSignal::Order(Box::new(order.clone()));
        lock_connection(&self.connection)
            .send(&signal)
            .map_err(|error| without_host(&error.message, &self.host))
    }

    fn next(&mut self, timeout: Duration) -> std::result::Result<Option<ClientReply>, String> {
        match lock_connection(&self.connection).next_within(timeout) {
            Ok(Some(Message::Client(reply))) => Ok(Some(*reply)),
            Ok(Some(Message::Failed { message, .. })) => Err(message),
            Ok(Some(_)) => Err("it said what no client says".into()),
            Ok(None) => Ok(None),
            Err(error) => Err(without_host(&error.message, &self.host)),
        }
    }
}

impl Drop for Client {
    /// The trial continues when what it started there has ended: nothing writes to the server any more.
    fn drop(&mut self) {
        lock_connection(&self.connection).close(END_TIMEOUT);
    }
}
