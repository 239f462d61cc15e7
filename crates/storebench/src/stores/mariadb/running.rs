//! How MariaDB is reached; on a server that was running before, a trial's tables are in a database of their own.

use storebench_core::server::running::{Address, At};
use storebench_core::store::{Result, StoreError};

use super::PORT;
use super::client::{Client, Login};
use super::password::password;
use super::process::Server;
use crate::stores::support::running::Dialect;
use crate::stores::support::socket::Socket;

/// MariaDB's, and MySQL's.
pub enum Mysql {}

impl Dialect for Mysql {
    type Client = Client;
    type Own = Server;

    const STORE: &str = "mariadb";
    const HOLDER: &str = "database";
    const SCHEMES: &[&str] = &["mysql", "mariadb"];

    fn connect(address: &Address) -> Result<Client> {
        let socket = match &address.at {
            At::Host(name) => Socket::tcp(name, address.port.unwrap_or(PORT)),
            At::Socket(path) => Socket::unix(path),
        };
        let socket = socket.map_err(StoreError::io(format!("connecting to {}", address.at.name())))?;
        // The trial's own database is made by it, so none that the URL names is used.
        Client::begin(socket, &Login { user: &address.user, password: &password()?, database: None })
    }

    fn connect_own(own: &Server) -> Result<Client> {
        own.connect()
    }

    fn stop(own: Server) -> Result<()> {
        own.stop()
    }

    fn execute(client: &mut Client, statements: &str) -> Result<()> {
        client.execute(statements)
    }

    fn create(name: &str) -> String {
        format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")
    }

    fn enter(name: &str) -> String {
        format!("USE {name}")
    }

    fn drop(name: &str) -> String {
        format!("DROP DATABASE {name}")
    }

    fn drop_if_there(name: &str) -> String {
        format!("SET SESSION lock_wait_timeout = 60; DROP DATABASE IF EXISTS {name}")
    }
}
