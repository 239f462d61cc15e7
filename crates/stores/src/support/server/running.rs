//! The server of a trial: one of its own, or one that was running before, which a URL names. On the latter all records are in
//! something of their own (a schema, a database, keys of one beginning), which is dropped with the trial's folder.

use std::borrow::Cow;
use std::path::Path;

use storebench_core::server::running::{Address, Made, URL};
use storebench_core::shown::without_user;
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::kind::Server;
use super::own::Own;
use super::plan::Plan;

/// The server that keeps the records.
pub enum Backend {
    /// The trial's own.
    Own(Own),
    /// One that was running before.
    Running(Running),
}

impl Backend {
    /// A connection whose records are the trial's, to a server planned so.
    pub fn connect<S: Server>(&self, plan: &Plan) -> Result<S::Client> {
        match self {
            Backend::Own(own) => {
                let mut client = own.connect::<S>()?;
                S::begin(&mut client, plan);
                Ok(client)
            }
            Backend::Running(running) => running.connect::<S>(plan),
        }
    }

    /// The server, if it was running before.
    pub fn running(&self) -> Option<&Running> {
        match self {
            Backend::Own(_) => None,
            Backend::Running(running) => Some(running),
        }
    }

    /// Ends its use. What is left on a running server goes with the store's folder.
    pub fn close(self) -> Result<()> {
        match self {
            Backend::Own(own) => own.stop(),
            Backend::Running(_) => Ok(()),
        }
    }

    /// Ends its use, with all that it holds for the store in this folder.
    pub fn discard<S: Server>(self, folder: &Path) -> Result<()> {
        match self {
            Backend::Own(own) => own.stop(),
            Backend::Running(running) => running.discard::<S>(folder),
        }
    }
}

/// A server that was running before, and what holds the trial's records there.
pub struct Running {
    url: String,
    address: Address,
    holder: String,
}

impl Running {
    /// Reaches the server that the settings name, and makes the holder there, unless the store's folder says that it has one.
    pub fn open<S: Server>(options: &OpenOptions<'_>) -> Result<Running> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address::<S>(url)?;
        let noting = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let made = match Made::of(options.directory).map_err(noting())? {
            Some(made) => made,
            None => {
                // A server that can't be reached keeps nothing: the note comes after.
                let mut client = connect::<S>(&address)?;
                let made = Made::note(options.directory, S::STORE, url).map_err(noting())?;
                S::create(&mut client, &made.name)?;
                made
            }
        };
        Ok(Running { url: url.into(), address, holder: made.name })
    }

    fn connect<S: Server>(&self, plan: &Plan) -> Result<S::Client> {
        let mut client = connect::<S>(&self.address)?;
        S::enter(&mut client, &self.holder, plan)?;
        Ok(client)
    }

    /// Where it is, as it was given, without its user.
    pub fn url(&self) -> Cow<'_, str> {
        without_user(&self.url)
    }

    /// The name of what holds the records.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Where the data are, in words.
    pub fn whereabouts(&self) -> String {
        format!("the data are on a running server, at {}", self.address.name())
    }

    /// Drops the holder; nothing notes it any more.
    fn discard<S: Server>(&self, folder: &Path) -> Result<()> {
        drop_on::<S>(&self.address, &self.holder)?;
        Made::strike(folder).map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Says whether the server of a URL lets a session in. The error says why it does not, of [`StoreError::Io`] where it can't be
/// reached.
pub fn reach<S: Server>(url: &str) -> Result<()> {
    let address = address::<S>(url)?;
    let at = address.name();
    connect::<S>(&address).map(drop).map_err(|error| match error {
        StoreError::Io { context, source } => {
            StoreError::Io { context: format!("the server at {at} can't be reached: {context}"), source }
        }
        // The URL is not right for it.
        StoreError::BadSetting(why) => StoreError::BadSetting(format!("the server at {at} {why}")),
        other => StoreError::Engine(format!("the server at {at} lets nobody in: {other}")),
    })
}

/// Drops what storebench made on the server of a URL. The error says what is left, and what to do about it.
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

/// Drops a holder by the first server that does it: of a cluster, one may be gone or renewed, and the others do it for all.
fn drop_on<S: Server>(address: &Address, name: &str) -> Result<()> {
    let mut first = None;
    for one in address.each() {
        match connect::<S>(&one).and_then(|mut client| S::drop_if_there(&mut client, name)) {
            Ok(()) => return Ok(()),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(()), Err)
}

/// A session. The name of its user in the server's words is not repeated: it may be a password that stands in the wrong place.
fn connect<S: Server>(address: &Address) -> Result<S::Client> {
    let unnamed = |text: String| {
        ['"', '\''].into_iter().fold(text, |text, quote| {
            text.replace(&format!("{quote}{}{quote}", address.user), &format!("{quote}...{quote}"))
        })
    };
    S::connect(address).map_err(|error| match error {
        StoreError::Engine(text) => StoreError::Engine(unnamed(text)),
        StoreError::Unsupported(text) => StoreError::Unsupported(unnamed(text)),
        other => other,
    })
}

fn address<S: Server>(url: &str) -> Result<Address> {
    let bad = |why: String| StoreError::BadSetting(format!("{}.url: {why}", S::STORE));
    let address = Address::read(url, S::SCHEMES, S::USER).map_err(bad)?;
    if S::LOSE.is_none() && !address.others.is_empty() {
        return Err(bad("it names several servers, and only etcd's are one store".into()));
    }
    Ok(address)
}
