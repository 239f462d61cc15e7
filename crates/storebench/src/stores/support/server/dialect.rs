//! The differences between kinds of servers: installing and starting one, its protocol, and its SQL. All else is theirs in common.

use std::path::Path;

use storebench_core::server::Known;
use storebench_core::server::running::Address;
use storebench_core::store::sql::{BulkLoad, Rows, SqlType, SqlValue};
use storebench_core::store::{Guarantee, OpenOptions, Result, ServerDef, Setting};

use super::installed::Programs;
use super::own::{self, Paths};
use super::passing::Way;
use super::plan::Plan;
use super::process::Saying;
use super::running::{Running, drop_made, reach};

/// A kind of server.
pub trait Dialect: Sized + 'static {
    /// A connection.
    type Client: Connection;
    /// The facts that are known of a server for as long as its store is open.
    type Kept: Send + Sync;

    /// The store's name.
    const STORE: &'static str;
    /// The signs by which it is known to whoever gives back its folder.
    const KNOWN: Known;
    /// The beginnings of URLs of running servers.
    const SCHEMES: &'static [&'static str];
    /// The seconds that it takes to start one and to end it.
    const START_S: f64;
    /// A file or a folder that is in every server's data.
    const SIGN: &'static str;
    /// The way by which it gets to its folders.
    const WAY: Way;
    /// Whether it needs a folder beside its data for what it keeps for a moment.
    const NEEDS_MOMENT: bool;
    /// The facts about how it speaks where it starts and ends.
    const SAYING: &'static Saying;
    /// The longest key that its index takes, in bytes.
    const MAX_KEY_BYTES: usize;
    /// The statements on records.
    const RECORDS: Records;
    /// The word for the thing that holds the tables on a server that was running before.
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
        reach: reach::<Self>,
        drop: drop_made::<Self>,
    };

    /// Its programs.
    fn programs() -> &'static Programs;

    /// Works out the settings: the tier's, then the cache, then the user's own above both.
    ///
    /// # Errors
    /// For a setting that it does not know, or a value that it can't take.
    fn plan(options: &OpenOptions<'_>) -> Result<Plan>;
    /// Tells the files of servers apart by what is fixed with them.
    fn fixed_with_files(plan: &Plan) -> String;
    /// The arguments with which the files are made.
    fn making(plan: &Plan, data: &Path) -> Vec<String>;
    /// Why they could not be made, out of what was said.
    fn why_not_made(said: &str) -> Option<String>;
    /// The arguments with which a server is started that can have so many sessions.
    fn arguments(plan: &Plan, at: &Paths, sessions: usize) -> Vec<String>;
    /// Deletes what a server that was killed has left in its data and would keep the next from starting.
    ///
    /// # Errors
    /// The system's.
    fn clear(_data: &Path) -> Result<()> {
        Ok(())
    }
    /// Whether the server of this number, whose data and socket are in these folders, takes connections.
    fn is_ready(pid: u32, data: &Path, socket: &Path) -> bool;
    /// The sentence that says what to install, where a part that is lacking is why it does not start.
    fn lacks_part(_why: &str) -> Option<&'static str> {
        None
    }
    /// Makes what the trial's tables need in a server that is ready.
    ///
    /// # Errors
    /// The server's.
    fn furnish(_socket: &Path) -> Result<()> {
        Ok(())
    }

    /// Connects to the trial's own, whose socket is in this folder.
    ///
    /// # Errors
    /// The server's.
    fn connect_own(socket: &Path) -> Result<Self::Client>;
    /// Connects to a running server.
    ///
    /// # Errors
    /// The server's.
    fn connect(address: &Address) -> Result<Self::Client>;

    /// The statement that makes the holder.
    fn create(name: &str) -> String;
    /// The statements after which a session's tables are the holder's, and it is set as planned.
    fn enter(name: &str, plan: &Plan) -> String;
    /// The statement that drops the holder with all that it holds, as a person would type it.
    fn drop(name: &str) -> String;
    /// The same where the holder may be gone already; what a killed trial was doing ends first.
    fn drop_if_there(name: &str) -> String;

    /// Every setting that the server has, in the order of the store's.
    ///
    /// # Errors
    /// The server's.
    fn settings(client: &mut Self::Client) -> Result<Vec<Setting>>;
    /// The tier that settings give.
    fn tier(settings: &[Setting]) -> Guarantee;
    /// Makes the table of records, unless it is there.
    ///
    /// # Errors
    /// The server's.
    fn make_table(client: &mut Self::Client, compression: bool) -> Result<()>;
    /// Looks at a server whose settings are these. Of one that is not the trial's own others make syncs, too.
    ///
    /// # Errors
    /// The server's.
    fn look_at(client: &mut Self::Client, settings: &[Setting], is_own: bool) -> Result<Self::Kept>;
    /// The number of syncs that it has made since its files were; `None` where it does not count them.
    ///
    /// # Errors
    /// The server's.
    fn synced(client: &mut Self::Client, kept: &Self::Kept) -> Result<Option<u64>>;
    /// Does the work that the server would do by itself in a while of rest. On a running one only the trial's tables get it.
    ///
    /// # Errors
    /// The server's.
    fn settle(client: &mut Self::Client, kept: &Self::Kept, running: Option<&Running>) -> Result<()>;
    /// Has the server check the table of records; `false` where it can't.
    ///
    /// # Errors
    /// [`StoreError::Engine`](storebench_core::store::StoreError::Engine) with the fault that it finds.
    fn verify(client: &mut Self::Client) -> Result<bool>;
    /// Writes the table of records anew, without the space of removed ones: the statement that did it.
    ///
    /// # Errors
    /// The server's.
    fn compact(client: &mut Self::Client) -> Result<&'static str>;
    /// The settings of the table of records.
    ///
    /// # Errors
    /// The server's.
    fn settings_of_table(client: &mut Self::Client, kept: &Self::Kept) -> Result<Vec<Setting>>;
    /// The bytes of the data, with the name of that statistic.
    ///
    /// # Errors
    /// The server's.
    fn size(client: &mut Self::Client, running: Option<&Running>) -> Result<(&'static str, Option<u64>)>;
    /// The server's version.
    ///
    /// # Errors
    /// The server's.
    fn version(client: &mut Self::Client) -> Result<String>;
    /// Whether it was compiled with checks of its own.
    ///
    /// # Errors
    /// The server's.
    fn has_checks(client: &mut Self::Client) -> Result<bool>;

    /// The name of a type.
    fn type_name(of: SqlType) -> &'static str;
    /// Loads many rows at once into a server: how it was planned, what is known of it, and whether it is the trial's own.
    ///
    /// # Errors
    /// The server's.
    fn load(
        client: &mut Self::Client,
        server: (&Plan, &Self::Kept, bool),
        into: &BulkLoad<'_>,
        rows: &mut Rows<'_>,
    ) -> Result<u64>;
}

/// The statements on records. Their parameters are the key and the value, in the order in which they are used here.
pub struct Records {
    /// Adds a key and a value.
    pub insert: &'static str,
    /// Sets the value, of the key.
    pub update: &'static str,
    /// Gives the value of the key.
    pub get: &'static str,
    /// Removes the key.
    pub remove: &'static str,
    /// Gives keys and values from the key on, as many as a number.
    pub scan: &'static str,
}

/// Where a transaction turns.
#[derive(Debug, Clone, Copy)]
pub enum Turn {
    /// It begins.
    Begin,
    /// It is committed.
    Commit,
    /// It is undone.
    RollBack,
}

/// A connection to a server. One call of it is one call of a store's session: what is generic here is compiled for each kind.
pub trait Connection: Sized + Send {
    /// A prepared statement.
    type Statement;
    /// The statement that adds many records, prepared.
    type Inserts;
    /// The statements that begin and end transactions, prepared.
    type Turns;

    /// Runs statements without parameters, separated by `;`, and passes by what they give.
    ///
    /// # Errors
    /// The server's.
    fn execute(&mut self, sql: &str) -> Result<()>;
    /// Prepares a statement, whose parameters are written as the server wants them.
    ///
    /// # Errors
    /// The server's.
    fn prepare(&mut self, sql: &str) -> Result<Self::Statement>;
    /// Prepares a statement, whose parameters are written `?`.
    ///
    /// # Errors
    /// The server's.
    fn prepare_portable(&mut self, sql: &str) -> Result<Self::Statement> {
        self.prepare(sql)
    }
    /// Gives a prepared statement back.
    ///
    /// # Errors
    /// The server's.
    fn forget(&mut self, statement: Self::Statement) -> Result<()>;
    /// Runs a statement; how many rows it gave or changed.
    ///
    /// # Errors
    /// The server's.
    fn run(&mut self, statement: &Self::Statement, values: &[SqlValue<'_>]) -> Result<u64>;
    /// Runs a statement, and shows the values of each row.
    ///
    /// # Errors
    /// The server's.
    fn query(
        &mut self,
        statement: &Self::Statement,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64>;

    /// Shows the value of a key, where it lies until the next call; whether it is there.
    ///
    /// # Errors
    /// The server's.
    fn get(&mut self, get: &Self::Statement, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;
    /// The value that was shown last.
    fn shown(&self) -> &[u8];
    /// Shows keys and values from a key on; how many.
    ///
    /// # Errors
    /// The server's.
    fn scan(
        &mut self,
        scan: &Self::Statement,
        values: &[SqlValue<'_>; 2],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<u64>;
    /// Prepares what adds many records.
    ///
    /// # Errors
    /// The server's.
    fn prepare_inserts(&mut self) -> Result<Self::Inserts>;
    /// Adds records, all or none.
    ///
    /// # Errors
    /// The server's.
    fn insert_all(
        &mut self,
        insert: &Self::Statement,
        many: &Self::Inserts,
        records: &[(&[u8], &[u8])],
    ) -> Result<()>;
    /// Removes records.
    ///
    /// # Errors
    /// The server's; when one is missing.
    fn remove_all(&mut self, remove: &Self::Statement, keys: &[&[u8]]) -> Result<()>;

    /// Prepares what begins and ends transactions.
    ///
    /// # Errors
    /// The server's.
    fn prepare_turns(&mut self) -> Result<Self::Turns>;
    /// Begins or ends a transaction.
    ///
    /// # Errors
    /// The server's.
    fn turn(&mut self, turns: &Self::Turns, turn: Turn) -> Result<()>;
}
