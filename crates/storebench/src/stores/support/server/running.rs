//! The server of a trial: one of its own, or one that was running before, which a URL names. On the latter all tables are in a
//! schema or a database of their own, which is dropped with the trial's folder.

use std::borrow::Cow;
use std::path::Path;

use storebench_core::server::running::{Address, Made, URL};
use storebench_core::shown::without_user;
use storebench_core::store::{OpenOptions, Result, StoreError};

use super::dialect::{Connection, Dialect};
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
    /// A connection whose tables are the trial's.
    ///
    /// # Errors
    /// The server's.
    pub fn connect<D: Dialect>(&self) -> Result<D::Client> {
        match self {
            Backend::Own(own) => own.connect::<D>(),
            Backend::Running(running) => running.connect::<D>(),
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
    ///
    /// # Errors
    /// The server's.
    pub fn close(self) -> Result<()> {
        match self {
            Backend::Own(own) => own.stop(),
            Backend::Running(_) => Ok(()),
        }
    }

    /// Ends its use, with all that it holds for the store in this folder.
    ///
    /// # Errors
    /// The server's.
    pub fn discard<D: Dialect>(self, folder: &Path) -> Result<()> {
        match self {
            Backend::Own(own) => own.stop(),
            Backend::Running(running) => running.discard::<D>(folder),
        }
    }
}

/// A server that was running before, and what holds the trial's tables there.
pub struct Running {
    url: String,
    address: Address,
    holder: String,
    /// The statements that set up each session.
    session: String,
}

impl Running {
    /// Reaches the server that the settings name, and makes the holder there, unless the store's folder says that it has one.
    ///
    /// # Errors
    /// The URL's; the server's.
    pub fn open<D: Dialect>(options: &OpenOptions<'_>, plan: &Plan) -> Result<Running> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address::<D>(url)?;
        let noting = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let made = match Made::of(options.directory).map_err(noting())? {
            Some(made) => made,
            None => {
                // A server that can't be reached keeps nothing: the note comes after.
                let mut client = connect::<D>(&address)?;
                let made = Made::note(options.directory, D::STORE, url).map_err(noting())?;
                client.execute(&D::create(&made.name))?;
                made
            }
        };
        let session = D::enter(&made.name, plan);
        Ok(Running { url: url.into(), address, holder: made.name, session })
    }

    fn connect<D: Dialect>(&self) -> Result<D::Client> {
        let mut client = connect::<D>(&self.address)?;
        client.execute(&self.session)?;
        Ok(client)
    }

    /// Where it is, as it was given, without its user.
    pub fn url(&self) -> Cow<'_, str> {
        without_user(&self.url)
    }

    /// The name of what holds the tables.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Where the data are, in words.
    pub fn whereabouts(&self) -> String {
        format!("the data are on a running server, at {}", self.address.at.name())
    }

    /// Drops the holder; nothing notes it any more.
    fn discard<D: Dialect>(&self, folder: &Path) -> Result<()> {
        connect::<D>(&self.address)?.execute(&D::drop_if_there(&self.holder))?;
        Made::strike(folder).map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Says whether the server of a URL lets a session in.
///
/// # Errors
/// Why it does not, of [`StoreError::Io`] where it can't be reached.
pub fn reach<D: Dialect>(url: &str) -> Result<()> {
    let address = address::<D>(url)?;
    let at = address.at.name();
    connect::<D>(&address).map(drop).map_err(|error| match error {
        StoreError::Io { context, source } => {
            StoreError::Io { context: format!("the server at {at} can't be reached: {context}"), source }
        }
        other => StoreError::Engine(format!("the server at {at} lets nobody in: {other}")),
    })
}

/// Drops what storebench made on the server of a URL.
///
/// # Errors
/// A sentence that says what is left, and what to do about it.
pub fn drop_made<D: Dialect>(url: &str, name: &str) -> Result<()> {
    let address = address::<D>(url)?;
    let dropped = connect::<D>(&address).and_then(|mut client| client.execute(&D::drop_if_there(name)));
    dropped.map_err(|error| {
        StoreError::Engine(format!(
            "the {} {name} on {} could not be dropped ({error}): clean again when the server can be reached, or drop it \
             yourself, by {}, and delete the folder",
            D::HOLDER,
            address.at.name(),
            D::drop(name)
        ))
    })
}

/// A session. The name of its user in the server's words is not repeated: it may be a password that stands in the wrong place.
fn connect<D: Dialect>(address: &Address) -> Result<D::Client> {
    let unnamed = |text: String| {
        ['"', '\''].into_iter().fold(text, |text, quote| {
            text.replace(&format!("{quote}{}{quote}", address.user), &format!("{quote}...{quote}"))
        })
    };
    D::connect(address).map_err(|error| match error {
        StoreError::Engine(text) => StoreError::Engine(unnamed(text)),
        StoreError::Unsupported(text) => StoreError::Unsupported(unnamed(text)),
        other => other,
    })
}

fn address<D: Dialect>(url: &str) -> Result<Address> {
    Address::read(url, D::SCHEMES).map_err(|why| StoreError::BadSetting(format!("{}.url: {why}", D::STORE)))
}
