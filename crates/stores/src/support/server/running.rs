//! A trial's server: a private one, or a running one that a URL names. On the latter all records are in a holder (a schema, a
//! database, keys with a prefix), which is dropped with the trial's folder.

use std::borrow::Cow;
use std::path::Path;

use storebench_model::sanitize::without_user;
use storebench_model::server::running::{Address, ServerNamespace, URL};
use storebench_model::store::{OpenOptions, Result, StoreError};

use super::kind::{Plan, Server};
use super::own_server::OwnServer;

pub enum Backend {
    Own(OwnServer),
    Running(RunningServer),
}

impl Backend {
    pub fn connect<S: Server>(&self, plan: &Plan) -> Result<S::Client> {
        match self {
            Backend::Own(server) => {
                let mut client = S::connect_own(&server.socket.path())?;
                S::begin(&mut client, plan);
                Ok(client)
            }
            Backend::Running(running) => running.connect::<S>(plan),
        }
    }

    pub fn running(&self) -> Option<&RunningServer> {
        match self {
            Backend::Own(_) => None,
            Backend::Running(running) => Some(running),
        }
    }

    /// What is on a running server goes with the store's folder.
    pub fn close(self) -> Result<()> {
        match self {
            Backend::Own(server) => server.stop(),
            Backend::Running(_) => Ok(()),
        }
    }

    pub fn discard<S: Server>(self, folder: &Path) -> Result<()> {
        match self {
            Backend::Own(server) => server.stop(),
            Backend::Running(running) => running.discard::<S>(folder),
        }
    }
}

pub struct RunningServer {
    url: String,
    pub address: Address,
    pub holder: String,
}

impl RunningServer {
    /// Connects to the server in the settings, and makes the holder, unless the store's folder notes one.
    pub fn open<S: Server>(options: &OpenOptions<'_>) -> Result<RunningServer> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address::<S>(url)?;
        let note_error = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let namespace = match ServerNamespace::read_note(options.directory).map_err(note_error())? {
            Some(namespace) => namespace,
            None => {
                // A server that can't be reached keeps nothing: the note comes after.
                let mut client = connect::<S>(&address)?;
                let namespace =
                    ServerNamespace::note(options.directory, S::STORE, url).map_err(note_error())?;
                S::create(&mut client, &namespace.name)?;
                namespace
            }
        };
        Ok(RunningServer { url: url.into(), address, holder: namespace.name })
    }

    fn connect<S: Server>(&self, plan: &Plan) -> Result<S::Client> {
        let mut client = connect::<S>(&self.address)?;
        S::enter(&mut client, &self.holder, plan)?;
        Ok(client)
    }

    /// As given, without the user.
    pub fn url(&self) -> Cow<'_, str> {
        without_user(&self.url)
    }

    fn discard<S: Server>(&self, folder: &Path) -> Result<()> {
        drop_on::<S>(&self.address, &self.holder)?;
        ServerNamespace::strike_note(folder)
            .map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Checks that a URL's server accepts a session; the error is [`StoreError::Io`] if it can't be reached.
pub fn check_reachable<S: Server>(url: &str) -> Result<()> {
    let address = address::<S>(url)?;
    let name = address.name();
    connect::<S>(&address).map(drop).map_err(|error| match error {
        StoreError::Io { context, source } => {
            StoreError::Io { context: format!("the server at {name} can't be reached: {context}"), source }
        }
        // The URL is not right for it.
        StoreError::BadSetting(why) => StoreError::BadSetting(format!("the server at {name} {why}")),
        other => StoreError::Engine(format!("the server at {name} lets nobody in: {other}")),
    })
}

/// Drops what storebench made on a URL's server. The error says what is left, and what to do about it.
pub fn drop_made<S: Server>(url: &str, name: &str) -> Result<()> {
    let address = address::<S>(url)?;
    drop_on::<S>(&address, name).map_err(|error| {
        StoreError::Engine(format!(
            "the {} {name} on {} could not be dropped ({error}): clean again when the server can be reached, or drop it \
             yourself, by {}, and delete the folder",
            S::HOLDER,
            address.name(),
            S::drop_command(name)
        ))
    })
}

/// Drops a holder on the first server that can: of a cluster, one may be gone or renewed, and the others do it for all.
fn drop_on<S: Server>(address: &Address, name: &str) -> Result<()> {
    let mut first_error = None;
    for member in address.members() {
        match connect::<S>(&member).and_then(|mut client| S::drop_if_there(&mut client, name)) {
            Ok(()) => return Ok(()),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// Errors do not repeat the user's name, which may be a misplaced password.
fn connect<S: Server>(address: &Address) -> Result<S::Client> {
    let hide_user = |text: String| {
        ['"', '\''].into_iter().fold(text, |text, quote| {
            text.replace(&format!("{quote}{}{quote}", address.user), &format!("{quote}...{quote}"))
        })
    };
    S::connect(address).map_err(|error| match error {
        StoreError::Engine(text) => StoreError::Engine(hide_user(text)),
        StoreError::Unsupported(text) => StoreError::Unsupported(hide_user(text)),
        other => other,
    })
}

fn address<S: Server>(url: &str) -> Result<Address> {
    let setting_error = |why: String| StoreError::BadSetting(format!("{}.url: {why}", S::STORE));
    let address = Address::read(url, S::SCHEMES, S::USER).map_err(setting_error)?;
    if S::LOSE.is_none() && !address.others.is_empty() {
        return Err(setting_error("it names several servers, and only etcd's are one store".into()));
    }
    Ok(address)
}
