//! A server that was running before, named by a URL: its tables are in a schema of their own, which is dropped with the trial's
//! folder.

use storebench_core::server::running::{Address, At, Made, URL};
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::client::{Client, Login};
use super::config::Plan;
use super::{PORT, SCHEMES, password};
use crate::stores::support::socket::Socket;

/// The server, and the schema that holds the trial's tables.
pub struct Running {
    url: String,
    address: Address,
    schema: String,
    /// What each session is set to.
    session: String,
}

impl Running {
    /// Reaches the server that the settings name, and makes a schema there, unless the store's folder says that it has one.
    ///
    /// # Errors
    /// The URL's; the server's.
    pub fn open(options: &OpenOptions<'_>, plan: &Plan) -> Result<Running> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address(url)?;
        let noting = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let (made, is_new) = match Made::of(options.directory).map_err(noting())? {
            Some(made) => (made, false),
            None => (Made::note(options.directory, "postgres", url).map_err(noting())?, true),
        };
        if is_new {
            connect(&address)?.execute(&format!("CREATE SCHEMA {}", made.name))?;
        }
        let session = format!("SET search_path TO {};{}", made.name, plan.of_session());
        Ok(Running { url: url.into(), address, schema: made.name, session })
    }

    /// A connection whose tables are those of the schema.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(&self) -> Result<Client> {
        let mut client = connect(&self.address)?;
        client.execute(&self.session)?;
        Ok(client)
    }

    /// Where it is, as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The schema's name.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Where the data are, in words.
    pub fn whereabouts(&self) -> String {
        format!("the data are on a running server, at {}", self.address.at.name())
    }

    /// Drops the schema; nothing notes it any more.
    ///
    /// # Errors
    /// The server's.
    pub fn discard(&self, folder: &std::path::Path) -> Result<()> {
        drop_schema(&self.address, &self.schema)?;
        Made::strike(folder).map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Drops a schema that storebench made on the server of a URL.
///
/// # Errors
/// What is left, and what to do about it.
pub fn drop_made(url: &str, name: &str) -> Result<()> {
    let address = address(url)?;
    drop_schema(&address, name).map_err(|error| {
        StoreError::Engine(format!(
            "the schema {name} on {} could not be dropped ({error}): clean again when the server can be reached, or drop it \
             yourself, by DROP SCHEMA {name} CASCADE, and delete the folder",
            address.at.name()
        ))
    })
}

fn drop_schema(address: &Address, name: &str) -> Result<()> {
    // What a killed trial was doing ends first.
    connect(address)?.execute(&format!("SET lock_timeout TO '60s'; DROP SCHEMA IF EXISTS {name} CASCADE"))
}

fn address(url: &str) -> Result<Address> {
    Address::read(url, SCHEMES).map_err(|why| StoreError::BadSetting(format!("postgres.url: {why}")))
}

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
