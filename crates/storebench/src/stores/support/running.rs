//! The server of a trial: one of its own, or one that was running before, which a URL names. On the latter all tables are in a
//! schema or a database of their own, which is dropped with the trial's folder.

use std::path::Path;

use storebench_core::server::running::{Address, Made, URL};
use storebench_core::store::{OpenOptions, Result, StoreError};

/// How a kind of server is reached, and what holds a trial's tables on one that was running before.
pub trait Dialect {
    /// A connection.
    type Client;
    /// A server of the trial's own.
    type Own;
    /// The store's name.
    const STORE: &str;
    /// What holds the tables, in a word.
    const HOLDER: &str;
    /// How URLs begin.
    const SCHEMES: &[&str];

    /// Connects to a running server.
    ///
    /// # Errors
    /// The server's.
    fn connect(address: &Address) -> Result<Self::Client>;

    /// Connects to the trial's own.
    ///
    /// # Errors
    /// The server's.
    fn connect_own(own: &Self::Own) -> Result<Self::Client>;

    /// Stops the trial's own.
    ///
    /// # Errors
    /// The server's.
    fn stop(own: Self::Own) -> Result<()>;

    /// Does statements that give no rows.
    ///
    /// # Errors
    /// The server's.
    fn execute(client: &mut Self::Client, statements: &str) -> Result<()>;

    /// The statement that makes the holder.
    fn create(name: &str) -> String;
    /// The statement after which a session's tables are the holder's.
    fn enter(name: &str) -> String;
    /// The statement that drops the holder with all that it holds, as a person would type it.
    fn drop(name: &str) -> String;
    /// The same where the holder may be gone already; what a killed trial was doing ends first.
    fn drop_if_there(name: &str) -> String;
}

/// The server that keeps the records.
pub enum Backend<D: Dialect> {
    /// The trial's own.
    Own(D::Own),
    /// One that was running before.
    Running(Running),
}

impl<D: Dialect> Backend<D> {
    /// A connection whose tables are the trial's.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(&self) -> Result<D::Client> {
        match self {
            Backend::Own(own) => D::connect_own(own),
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
            Backend::Own(own) => D::stop(own),
            Backend::Running(_) => Ok(()),
        }
    }

    /// Ends its use, with all that it holds for the store in this folder.
    ///
    /// # Errors
    /// The server's.
    pub fn discard(self, folder: &Path) -> Result<()> {
        match self {
            Backend::Own(own) => D::stop(own),
            Backend::Running(running) => running.discard::<D>(folder),
        }
    }
}

/// A server that was running before, and what holds the trial's tables there.
pub struct Running {
    url: String,
    address: Address,
    holder: String,
    /// What each session is set to.
    session: String,
}

impl Running {
    /// Reaches the server that the settings name, and makes the holder there, unless the store's folder says that it has one.
    /// Every session begins with the statements `of_session`.
    ///
    /// # Errors
    /// The URL's; the server's.
    pub fn open<D: Dialect>(options: &OpenOptions<'_>, of_session: &str) -> Result<Running> {
        let url = options.settings.get(URL).map(String::as_str).unwrap_or_default();
        let address = address::<D>(url)?;
        let noting = || StoreError::io(format!("noting in {} what is made", options.directory.display()));
        let (made, is_new) = match Made::of(options.directory).map_err(noting())? {
            Some(made) => (made, false),
            None => (Made::note(options.directory, D::STORE, url).map_err(noting())?, true),
        };
        if is_new {
            D::execute(&mut D::connect(&address)?, &D::create(&made.name))?;
        }
        let session = format!("{}{of_session}", D::enter(&made.name));
        Ok(Running { url: url.into(), address, holder: made.name, session })
    }

    fn connect<D: Dialect>(&self) -> Result<D::Client> {
        let mut client = D::connect(&self.address)?;
        D::execute(&mut client, &self.session)?;
        Ok(client)
    }

    /// Where it is, as it was given.
    pub fn url(&self) -> &str {
        &self.url
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
        D::execute(&mut D::connect(&self.address)?, &D::drop_if_there(&self.holder))?;
        Made::strike(folder).map_err(StoreError::io(format!("striking the note in {}", folder.display())))
    }
}

/// Drops what storebench made on the server of a URL.
///
/// # Errors
/// What is left, and what to do about it.
pub fn drop_made<D: Dialect>(url: &str, name: &str) -> Result<()> {
    let address = address::<D>(url)?;
    let dropped =
        D::connect(&address).and_then(|mut client| D::execute(&mut client, &D::drop_if_there(name)));
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

fn address<D: Dialect>(url: &str) -> Result<Address> {
    Address::read(url, D::SCHEMES).map_err(|why| StoreError::BadSetting(format!("{}.url: {why}", D::STORE)))
}
