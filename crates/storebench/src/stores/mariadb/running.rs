//! A server that was running before, named by a URL: its tables are in a database of their own, which is dropped with the trial's
//! folder.

use std::path::Path;

use storebench_core::server::running::{Address, At, Made, URL};
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::client::{Client, Login};
use super::config::Plan;
use super::password::password;
use super::{PORT, SCHEMES};
use crate::stores::support::socket::Socket;

/// The server, and the database that holds the trial's tables.
pub struct Running {
    url: String,
    address: Address,
    database: String,
    /// What each session is set to.
    session: String,
}

impl Running {
    /// Reaches the server that the settings name, and makes a database there, unless the store's folder says that it has one.
    ///
    /// # Errors
    /// The URL's; the server's.
    pub fn open(options: &OpenOptions<'_>, plan: &Plan) -> Result<Running> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address(url)?;
        let noting = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let (made, is_new) = match Made::of(options.directory).map_err(noting())? {
            Some(made) => (made, false),
            None => (Made::note(options.directory, "mariadb", url).map_err(noting())?, true),
        };
        if is_new {
            connect(&address)?.execute(&format!("CREATE DATABASE {} CHARACTER SET utf8mb4", made.name))?;
        }
        let session = format!("USE {}{}", made.name, plan.of_session());
        Ok(Running { url: url.into(), address, database: made.name, session })
    }

    /// A connection whose tables are those of the database.
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

    /// Where the data are, in words.
    pub fn whereabouts(&self) -> String {
        format!("the data are on a running server, at {}", self.address.at.name())
    }

    /// Drops the database; nothing notes it any more.
    ///
    /// # Errors
    /// The server's.
    pub fn discard(&self, folder: &Path) -> Result<()> {
        drop_database(&self.address, &self.database)?;
        Made::strike(folder).map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Drops a database that storebench made on the server of a URL.
///
/// # Errors
/// What is left, and what to do about it.
pub fn drop_made(url: &str, name: &str) -> Result<()> {
    let address = address(url)?;
    drop_database(&address, name).map_err(|error| {
        StoreError::Engine(format!(
            "the database {name} on {} could not be dropped ({error}): clean again when the server can be reached, or drop it \
             yourself, by DROP DATABASE {name}, and delete the folder",
            address.at.name()
        ))
    })
}

fn drop_database(address: &Address, name: &str) -> Result<()> {
    // What a killed trial was doing ends first.
    connect(address)?.execute(&format!("SET SESSION lock_wait_timeout = 60; DROP DATABASE IF EXISTS {name}"))
}

fn address(url: &str) -> Result<Address> {
    Address::read(url, SCHEMES).map_err(|why| StoreError::BadSetting(format!("mariadb.url: {why}")))
}

fn connect(address: &Address) -> Result<Client> {
    let socket = match &address.at {
        At::Host(name) => Socket::tcp(name, address.port.unwrap_or(PORT)),
        At::Socket(path) => Socket::unix(path),
    };
    let socket = socket.map_err(StoreError::io(format!("connecting to {}", address.at.name())))?;
    // The trial's own database is made by it, so none that the URL names is used.
    Client::begin(socket, &Login { user: &address.user, password: &password()?, database: None })
}
