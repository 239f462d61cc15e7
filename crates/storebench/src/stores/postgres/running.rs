//! How PostgreSQL is reached; on a server that was running before, a trial's tables are in a schema of their own.

use storebench_core::server::running::{Address, At};
use storebench_core::store::{Result, StoreError};

use super::client::{Client, Login};
use super::process::Server;
use super::{PORT, password};
use crate::stores::support::running::Dialect;
use crate::stores::support::socket::Socket;

/// PostgreSQL's.
pub enum Postgresql {}

impl Dialect for Postgresql {
    type Client = Client;
    type Own = Server;

    const STORE: &str = "postgres";
    const HOLDER: &str = "schema";
    const SCHEMES: &[&str] = &["postgresql", "postgres"];

    fn connect(address: &Address) -> Result<Client> {
        let port = address.port.unwrap_or(PORT);
        let socket = match &address.at {
            At::Host(name) => Socket::tcp(name, port),
            At::Socket(folder) => Socket::unix(&folder.join(format!(".s.PGSQL.{port}"))),
        };
        let socket =
            socket.map_err(StoreError::io(format!("connecting to postgres at {}", address.at.name())))?;
        let database = address.database.as_deref().unwrap_or(&address.user);
        let password = || password::password(address, database);
        Client::begin(socket, &Login { user: &address.user, database, password: &password })
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
        format!("CREATE SCHEMA {name}")
    }

    fn enter(name: &str) -> String {
        format!("SET search_path TO {name};")
    }

    fn drop(name: &str) -> String {
        format!("DROP SCHEMA {name} CASCADE")
    }

    fn drop_if_there(name: &str) -> String {
        format!("SET lock_timeout TO '60s'; DROP SCHEMA IF EXISTS {name} CASCADE")
    }
}
