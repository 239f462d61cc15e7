//! A kind of server: installing and starting one, what is made on one that was running before, and its settings. All else is
//! common to all. Those that speak SQL have a [`Dialect`](super::Dialect), too.

use std::io;
use std::path::Path;

use storebench_core::server::Known;
use storebench_core::server::relay::Relay;
use storebench_core::server::running::Address;
use storebench_core::store::sql::SqlSession;
use storebench_core::store::{
    Guarantee, OpenOptions, Result, ServerDef, Session, Setting, StoreError, Upkeep,
};

use super::installed::Programs;
use super::own::{self, Paths};
use super::plan::Plan;
use super::process::Saying;
use super::running::{Running, drop_made, reach};

/// A kind of server.
pub trait Server: Sized + 'static {
    /// A connection.
    type Client: Send + 'static;
    /// The facts that are known of a server for as long as its store is open.
    type Kept: Send + Sync;

    /// The store's name.
    const STORE: &'static str;
    /// The signs by which it is known to whoever gives back its folder.
    const KNOWN: Known;
    /// The beginnings of URLs of running servers.
    const SCHEMES: &'static [&'static str];
    /// The user where such a URL names none; `None` where it must.
    const USER: Option<&'static str> = None;
    /// The seconds that it takes to start one and to end it.
    const START_S: f64;
    /// A file or a folder that is in every server's data.
    const SIGN: &'static str;
    /// Whether it gets to its folders by their paths, so that it must pass what lies above them. Others get there by folders that they
    /// hold open: whatever lies above stays closed to them.
    const PASSES: bool = false;
    /// Whether it needs a folder beside its data for what it keeps for a moment.
    const NEEDS_MOMENT: bool = false;
    /// The facts about how it speaks where it starts and ends.
    const SAYING: &'static Saying;
    /// The word for the thing that holds the records on a server that was running before.
    const HOLDER: &'static str;
    /// The name of the statistic of its syncs.
    const SYNCS: &'static str;

    /// The entry of the table of stores for it.
    const SERVER: ServerDef = ServerDef {
        known: Self::KNOWN,
        lacks: || Self::programs().lacks(),
        prepare: own::prepare::<Self>,
        start_s: Self::START_S,
        schemes: Self::SCHEMES,
        user: Self::USER,
        reach: reach::<Self>,
        drop: drop_made::<Self>,
        lose: Self::LOSE,
    };

    /// Its programs.
    fn programs() -> &'static Programs;

    /// Works out the settings: the tier's, then the cache, then the user's own above both. Fails for a setting that it does not
    /// know, or a value that it can't take.
    fn plan(options: &OpenOptions<'_>) -> Result<Plan>;
    /// Tells the files of servers apart by what is fixed with them.
    fn fixed_with_files(_plan: &Plan) -> String {
        String::new()
    }
    /// The arguments with which the files are made.
    fn making(_plan: &Plan, _data: &Path) -> Vec<String> {
        Vec::new()
    }
    /// Why they could not be made, out of what was said.
    fn why_not_made(_said: &str) -> Option<String> {
        None
    }
    /// The numbers of the servers that are one store, of which these data are there.
    fn members(_plan: &Plan, _data: &Path) -> Vec<usize> {
        vec![0]
    }
    /// Starts the network between them, whose sockets are in this folder.
    fn relay(_plan: &Plan, _socket: &Path) -> Result<Option<Relay>> {
        Ok(None)
    }
    /// Loses one of them for good, with its data in a store's folder; `None` where there is only one.
    const LOSE: Option<fn(&Path) -> io::Result<()>> = None;
    /// The arguments with which a server is started that can have so many sessions.
    fn arguments(plan: &Plan, at: &Paths, sessions: usize) -> Vec<String>;
    /// Deletes what a server that was killed has left in its data and would keep the next from starting.
    fn clear(_data: &Path) -> Result<()> {
        Ok(())
    }
    /// Whether the server of this number, whose data and socket are in these folders, takes connections.
    fn is_ready(pid: u32, data: &Path, socket: &Path) -> bool;
    /// The sentence that says what to install, where a part that is lacking is why it does not start.
    fn lacks_part(_why: &str) -> Option<&'static str> {
        None
    }
    /// Makes what the trial's records need in a server that is ready.
    fn furnish(_socket: &Path) -> Result<()> {
        Ok(())
    }

    /// Connects to the trial's own, whose socket is in this folder.
    fn connect_own(socket: &Path) -> Result<Self::Client>;
    /// Sets a session with the trial's own server as planned, where that is the session's to set.
    fn begin(_client: &mut Self::Client, _plan: &Plan) {}
    /// Connects to a running server.
    fn connect(address: &Address) -> Result<Self::Client>;

    /// Makes the holder.
    fn create(client: &mut Self::Client, name: &str) -> Result<()>;
    /// From here on, a session's records are the holder's, and it is set as planned.
    fn enter(client: &mut Self::Client, name: &str, plan: &Plan) -> Result<()>;
    /// The command that drops the holder with all that it holds, as a person would type it.
    fn drop_command(name: &str) -> String;
    /// Drops the holder, which may be gone already; what a killed trial was doing ends first.
    fn drop_if_there(client: &mut Self::Client, name: &str) -> Result<()>;

    /// Every setting that the server has, in the order of the store's.
    fn settings(client: &mut Self::Client) -> Result<Vec<Setting>>;
    /// The tier that settings give.
    fn tier(settings: &[Setting]) -> Guarantee;
    /// Makes the table of records, unless it is there.
    fn make_table(_client: &mut Self::Client, _compression: bool) -> Result<()> {
        Ok(())
    }
    /// Looks at a server whose settings are these. Of one that is not the trial's own others make syncs, too.
    fn look_at(client: &mut Self::Client, settings: &[Setting], is_own: bool) -> Result<Self::Kept>;
    /// The number of syncs that it has made since its files were; `None` where it does not count them.
    fn synced(_client: &mut Self::Client, _kept: &Self::Kept) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Work that the server does for itself, as [`Store::upkeep`](storebench_core::store::Store::upkeep) has it.
    fn upkeep(_client: &mut Self::Client) -> Result<Vec<Upkeep>> {
        Ok(Vec::new())
    }
    /// Does the work that the server would do by itself in a while of rest. On a running one only the trial's records get it.
    fn settle(client: &mut Self::Client, kept: &Self::Kept, running: Option<&Running>) -> Result<()>;
    /// Has the server check its records; `false` where it can't. Fails with [`StoreError::Engine`] with the fault that it finds.
    fn verify(_client: &mut Self::Client) -> Result<bool> {
        Ok(false)
    }
    /// Writes the records anew, without the space of removed ones, and says what did it; `None` where nothing does.
    fn compact(client: &mut Self::Client) -> Result<Option<&'static str>>;
    /// Begins to read: the records are kept as they are for this client; `false` where the server has no such reader.
    fn hold_reader(_client: &mut Self::Client) -> Result<bool> {
        Ok(false)
    }
    /// The settings of the table of records.
    fn settings_of_table(_client: &mut Self::Client, _kept: &Self::Kept) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }
    /// The bytes of the data, with the name of that statistic.
    fn size(client: &mut Self::Client, running: Option<&Running>) -> Result<(&'static str, Option<u64>)>;
    /// The server's version.
    fn version(client: &mut Self::Client) -> Result<String>;
    /// Whether it was compiled with checks of its own; `None` where it does not tell.
    fn has_checks(_client: &mut Self::Client) -> Result<Option<bool>> {
        Ok(None)
    }

    /// The number of records.
    fn count(client: &mut Self::Client) -> Result<u64>;
    /// A session over records.
    fn session(client: Self::Client) -> Result<Box<dyn Session>>;
    /// A session for SQL. How the server was planned, what is known of it, and whether it is the trial's own. Fails with
    /// [`StoreError::Unsupported`] when it does not speak SQL.
    fn sql<'s>(
        _client: Self::Client,
        _server: (&'s Plan, &'s Self::Kept, bool),
    ) -> Result<Box<dyn SqlSession + 's>> {
        Err(StoreError::Unsupported(format!("{} does not speak SQL", Self::programs().product)))
    }
}
