//! A kind of server: how it is installed and started, what is made on a running one, and its settings.

use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use storebench_model::server::relay::Relay;
use storebench_model::server::running::Address;
use storebench_model::server::{PROGRAMS, ServerKind};
use storebench_model::store::sql::SqlSession;
use storebench_model::store::{
    GivenSettings, Guarantee, OpenOptions, Result, ServerDef, Session, Setting, SettingDef, StoreError,
    Upkeep, expect_taken,
};

use super::installed::Programs;
use super::own_server::{self, Paths};
use super::running::{RunningServer, check_reachable, drop_made};

/// Opens a session for SQL; the last of its values is whether the server is the trial's own.
pub type OpenSql<S> = for<'s> fn(
    <S as Server>::Client,
    (&'s Plan, &'s <S as Server>::Facts, bool),
) -> Result<Box<dyn SqlSession + 's>>;

pub trait Server: Sized + 'static {
    type Client: Send + 'static;
    /// Facts that are known of a server for as long as its store is open.
    type Facts: Send + Sync;

    const STORE: &'static str;
    /// How the one who cleans up its folder recognises it.
    const KNOWN: ServerKind;
    /// Schemes of running servers' URLs.
    const SCHEMES: &'static [&'static str];
    /// The user if a URL names none; `None` if it must.
    const USER: Option<&'static str> = None;
    /// Seconds to start and end one.
    const START_S: f64;
    /// A file or folder that every server's data has.
    const SIGN: &'static str;
    /// Whether it opens its folders by path, so that it must pass closed ones above them, and not through folders held open.
    const OPENS_BY_PATH: bool = false;
    /// Whether it needs a folder for temporary files next to its data.
    const NEEDS_TEMPORARY_FOLDER: bool = false;
    /// The word for what holds the records on a running server.
    const HOLDER: &'static str;
    const SYNCS: &'static str;

    const SERVER: ServerDef = ServerDef {
        known: Self::KNOWN,
        lacks: || Self::programs().missing_programs(),
        prepare: own_server::prepare::<Self>,
        start_s: Self::START_S,
        schemes: Self::SCHEMES,
        user: Self::USER,
        reach: check_reachable::<Self>,
        drop: drop_made::<Self>,
        lose: Self::LOSE,
    };

    fn programs() -> &'static Programs;

    /// The tier's settings, then the cache, then the user's. Fails for an unknown setting, or a value that it can't take.
    const PLAN: fn(&OpenOptions<'_>) -> Result<Plan>;
    /// What is fixed with the files of a server.
    fn fixed_with_files(_plan: &Plan) -> String {
        String::new()
    }
    fn init_arguments(_plan: &Plan, _data: &Path) -> Vec<String> {
        Vec::new()
    }
    /// Why the files could not be made, from the program's output.
    fn maker_error(_output: &str) -> Option<String> {
        None
    }
    /// The numbers of a store's servers that have data.
    fn members(_plan: &Plan, _data: &Path) -> Vec<usize> {
        vec![0]
    }
    /// Starts the network between them, whose sockets are in this folder.
    fn relay(_plan: &Plan, _socket: &Path) -> Result<Option<Relay>> {
        Ok(None)
    }
    /// Loses one of them for good, with its data; `None` if there is only one.
    const LOSE: Option<fn(&Path) -> io::Result<()>> = None;
    /// The arguments of a server for this number of sessions.
    fn arguments(plan: &Plan, paths: &Paths, sessions: usize) -> Vec<String>;
    /// Deletes what a killed server left that would keep the next from starting.
    fn clear(_data: &Path) -> Result<()> {
        Ok(())
    }
    /// Whether the server with this process number takes connections.
    fn is_ready(pid: u32, data: &Path, socket: &Path) -> bool;
    /// What to install if a missing part is why it does not start.
    fn missing_part(_why: &str) -> Option<&'static str> {
        None
    }
    /// Makes what the trial's records need on a new server.
    fn set_up(_socket: &Path) -> Result<()> {
        Ok(())
    }

    fn connect_own(socket: &Path) -> Result<Self::Client>;
    /// Sets what a session of the trial's own server can set.
    fn begin(_client: &mut Self::Client, _plan: &Plan) {}
    fn connect(address: &Address) -> Result<Self::Client>;

    /// Makes the holder; keys need none.
    fn create(_client: &mut Self::Client, _name: &str) -> Result<()> {
        Ok(())
    }
    /// From here on, a session's records are the holder's, and it is set as planned.
    fn enter(client: &mut Self::Client, name: &str, plan: &Plan) -> Result<()>;
    /// The command that drops the holder, as a person would type it.
    fn drop_command(name: &str) -> String;
    /// Drops the holder, if it is there, after what a killed trial was doing has ended.
    fn drop_if_there(client: &mut Self::Client, name: &str) -> Result<()>;

    const READ_SETTINGS: fn(&mut Self::Client) -> Result<Vec<Setting>>;
    const TIER: fn(&[Setting]) -> Guarantee;
    /// Makes the table of records, unless it is there.
    fn make_table(_client: &mut Self::Client, _compression: bool) -> Result<()> {
        Ok(())
    }
    /// Examines a server with these settings; on a running one others make syncs, too.
    fn examine(client: &mut Self::Client, settings: &[Setting], is_own: bool) -> Result<Self::Facts>;
    /// Syncs since its files were made; `None` if it does not count them.
    fn count_syncs(_client: &mut Self::Client, _facts: &Self::Facts) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Work of the server in the background, as [`Store::upkeep`](storebench_model::store::Store::upkeep).
    fn upkeep(_client: &mut Self::Client) -> Result<Vec<Upkeep>> {
        Ok(Vec::new())
    }
    /// Does the work that the server would do in a while of rest; on a running one only for the trial's records.
    fn settle(client: &mut Self::Client, facts: &Self::Facts, running: Option<&RunningServer>) -> Result<()>;
    /// Checks the records; `false` if it can't. Fails with the fault that it finds.
    fn verify(_client: &mut Self::Client) -> Result<bool> {
        Ok(false)
    }
    /// Rewrites the records without the space of removed ones, and names how; `None` if nothing does.
    fn compact(client: &mut Self::Client) -> Result<Option<&'static str>>;
    /// Keeps the records as they are for this client's reads; `false` if the server can't.
    fn hold_reader(_client: &mut Self::Client) -> Result<bool> {
        Ok(false)
    }
    fn settings_of_table(_client: &mut Self::Client, _facts: &Self::Facts) -> Result<Vec<Setting>> {
        Ok(Vec::new())
    }
    /// Bytes of data, with the statistic's name.
    fn size(
        client: &mut Self::Client,
        running: Option<&RunningServer>,
    ) -> Result<(&'static str, Option<u64>)>;
    fn version(client: &mut Self::Client) -> Result<String>;
    /// Whether it was compiled with assertions; `None` if unknown.
    fn has_checks(_client: &mut Self::Client) -> Result<Option<bool>> {
        Ok(None)
    }

    const COUNT: fn(&mut Self::Client) -> Result<u64>;
    const SESSION: fn(Self::Client) -> Result<Box<dyn Session>>;
    /// `None` if the server does not speak SQL.
    const SQL: Option<OpenSql<Self>> = None;
}

/// The settings that a server is started with.
#[derive(Debug)]
pub struct Plan {
    /// Names and values as they are read back.
    pub values: Vec<(&'static str, String)>,
    pub extra_arguments: Vec<String>,
    pub programs: Option<String>,
}

impl Plan {
    /// The settings of a private server, or of sessions on a running one: there only `session_settings` can be set.
    pub fn new<'a>(
        (options, given): (&OpenOptions<'_>, &GivenSettings<'a>),
        known: &'static [SettingDef],
        session_settings: Option<&[&str]>,
        user_value: impl Fn(&GivenSettings<'a>, &'static str) -> Result<Option<String>>,
        preset: impl Fn(&str, &OpenOptions<'_>) -> Option<String>,
    ) -> Result<Plan> {
        let can_be_set = |name: &str| session_settings.is_none_or(|names| names.contains(&name));
        if let Some(fixed) = options.settings.keys().find(|name| !can_be_set(name)) {
            return Err(StoreError::BadSetting(format!(
                "{fixed} can't be changed on a running server: set it there, or leave the URL out"
            )));
        }
        let preset =
            |name: &str, options: &OpenOptions<'_>| preset(name, options).filter(|_| can_be_set(name));
        let programs = options.settings.get(PROGRAMS).cloned();
        Ok(Plan { values: given.values(known, user_value, preset)?, extra_arguments: Vec::new(), programs })
    }

    /// `None` if it is left to the server.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(planned, _)| *planned == name).map(|(_, value)| value.as_str())
    }

    pub fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.value(name)?.parse().ok()
    }

    /// Fails with [`StoreError::SettingNotTaken`] when a value was read back otherwise.
    pub fn check(&self, read_back: &[Setting]) -> Result<()> {
        for (name, planned) in &self.values {
            let found = read_back.iter().find(|setting| setting.name == *name);
            expect_taken(name, planned, &found.map(|setting| setting.value.clone()).unwrap_or_default())?;
        }
        Ok(())
    }
}

const LONGEST_REST: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until a server has done what it would do by itself in a while of rest. Fails also after [`LONGEST_REST`].
pub fn wait_until<S: Server>(
    client: &mut S::Client,
    mut is_done: impl FnMut(&mut S::Client) -> Result<bool>,
) -> Result<()> {
    let start = Instant::now();
    while !is_done(client)? {
        if start.elapsed() > LONGEST_REST {
            let message = format!("{} was not at rest after {} s", S::STORE, LONGEST_REST.as_secs());
            return Err(StoreError::Engine(message));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
