//! `storebench crash pull-the-plug`: steps on another machine whose power somebody cuts, and what its store has of them afterwards. This
//! machine knows what was acknowledged: each step is told here before the next begins.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use storebench_core::error::{Error, Exit, Result};
use storebench_core::result::Finding;
use storebench_core::store::{Guarantee, Setting, StoreDef};
use storebench_core::units::{counted, grouped, rough_ns};
use storebench_core::workload::cut::Looked;

use super::connection::{self, Connection};
use super::host::Host;
use super::wire::{Message, PlugOrder, PlugPart, Request, Word};
use super::{failed_there, out_of_turn};
use crate::cli::args::PlugArgs;
use crate::cli::launch;
use crate::cli::output::{fitted, print, tell};
use crate::cli::runs;

/// The time between two attempts to reach a board that has no power.
const PAUSE: Duration = Duration::from_secs(2);
/// The time that a board has to mount its disk, once it can be reached.
const MOUNTING: Duration = Duration::from_secs(60);
/// Steps between two lines of progress.
const OFTEN: Duration = Duration::from_secs(5);
/// The file in which findings are kept.
const FILE: &str = "pulls.jsonl";

/// A board whose power was cut, with what was known before.
#[derive(Debug)]
struct Cut {
    boot: String,
    kernel: String,
    version: String,
    settings: Vec<Setting>,
    acknowledged: u64,
}

/// A finding, as a line of a file.
#[derive(Debug, Serialize)]
struct Pull<'a> {
    host: String,
    kernel: &'a str,
    when: String,
    store: &'a str,
    version: &'a str,
    settings: &'a [Setting],
    guarantee: Guarantee,
    acknowledged: u64,
    finding: Finding,
    message: &'a str,
    open_ns: Option<u64>,
    verified: bool,
}

/// Has the plug pulled so often.
///
/// # Errors
/// [`Exit::Unreachable`] when the machine can't be reached; where it has had power all the while; what went wrong there.
pub fn pull(stores: &[StoreDef], args: &PlugArgs, interrupted: &AtomicBool) -> Result<Exit> {
    let host =
        args.board.remote.as_deref().ok_or_else(|| Error::bad_value("name the board with --remote"))?;
    let plug = Plug { host: Host::new(host, "--remote")?, args, interrupted };
    if !stores.iter().any(|store| store.name == args.store) {
        return Err(Error::bad_value(format!("no store {}: see storebench stores", args.store)));
    }
    let (mut pulled, mut broken) = (0, 0);
    while pulled < args.pulls {
        let Some(finding) = plug.once()? else { break };
        pulled += 1;
        broken += u64::from(!finding.is_allowed(args.guarantee));
    }
    if pulled > 1 {
        let line = format!(
            "{} at {}: {} of {} cost more than the guarantee allows.",
            args.store,
            args.guarantee,
            grouped(broken),
            counted(pulled, "cut")
        );
        print(&fitted(&line, 0))?;
    }
    Ok(if pulled < args.pulls { Exit::Interrupted } else { Exit::Success })
}

struct Plug<'a> {
    host: Host,
    args: &'a PlugArgs,
    interrupted: &'a AtomicBool,
}

impl Plug<'_> {
    /// One cut: the finding; `None` where the user has had enough.
    fn once(&self) -> Result<Option<Finding>> {
        let name = launch::dated("storebench-plug-");
        let Some(cut) = self.take(&name)? else { return Ok(None) };
        tell(&format!(
            "{} is gone after {}; waiting until it is back (Ctrl-C gives up)",
            self.host,
            counted(cut.acknowledged, "acknowledged step")
        ));
        let Some((looked, kept)) = self.look(&name, &cut)? else { return Ok(None) };
        self.keep(&cut, &looked)?;
        print(&fitted(&self.sentence(&cut, &looked), 0))?;
        if let Some(kept) = kept {
            print(&fitted(&format!("What is left of it stays on {}, in {}.", self.host, kept.display()), 2))?;
        }
        Ok(Some(looked.finding))
    }

    fn order(&self, name: &str, part: PlugPart) -> Request {
        let mut settings = std::collections::BTreeMap::new();
        let own = self.args.settings.iter().filter(|set| set.store == self.args.store);
        settings.extend(own.filter_map(|set| Some((set.name.clone(), set.values.first()?.clone()))));
        let order = PlugOrder {
            store: self.args.store.clone(),
            guarantee: self.args.guarantee,
            settings,
            within: self.args.at.clone(),
            name: name.to_owned(),
            part,
        };
        Request { plug: Some(Box::new(order)), ..Request::default() }
    }

    fn ask(&self, name: &str, part: PlugPart) -> Result<Connection> {
        let mut connection = connection::connect(&self.host, &self.args.board, self.interrupted)?;
        connection.send(&self.order(name, part))?;
        Ok(connection)
    }

    /// Has steps taken until the connection is lost; `None` where the user ends it before.
    fn take(&self, name: &str) -> Result<Option<Cut>> {
        let mut connection = self.ask(name, PlugPart::Take)?;
        let mut cut: Option<Cut> = None;
        let mut told = Instant::now();
        let mut stopping = false;
        loop {
            if self.interrupted.load(Ordering::Relaxed) && !stopping {
                stopping = true;
                connection.send(&Word::Stop)?;
            }
            connection.beat();
            let message = match (connection.next(), cut.take()) {
                (Ok(None), known) => {
                    cut = known;
                    continue;
                }
                (Ok(Some(message)), known) => {
                    cut = known;
                    message
                }
                (Err(_), Some(known)) if !stopping => return Ok(Some(known)),
                (Err(error), _) => return Err(error),
            };
            match message {
                Message::Plugged { boot, kernel, version, settings } => {
                    tell(&format!(
                        "{} {version} takes steps on {}: cut its power now, or whenever you like",
                        self.args.store, self.host
                    ));
                    cut = Some(Cut { boot, kernel, version, settings, acknowledged: 0 });
                }
                Message::Step(steps) => {
                    if let Some(cut) = &mut cut {
                        cut.acknowledged = steps;
                    }
                    if told.elapsed() > OFTEN {
                        told = Instant::now();
                        tell(&counted(steps, "acknowledged step"));
                    }
                }
                message => return ended(message).map(|()| None),
            }
            // Where nobody is there any more, the next message does not come.
            let _ = connection.send(&Word::Next);
        }
    }

    /// Waits for the board, and has the store looked at; `None` where the user has had enough.
    fn look(&self, name: &str, cut: &Cut) -> Result<Option<(Looked, Option<PathBuf>)>> {
        let mut since = None;
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
            let Ok(connection) = self.ask(name, PlugPart::Look { acknowledged: cut.acknowledged }) else {
                continue;
            };
            let (boot, found) = self.found(connection)?;
            if boot == cut.boot {
                let message =
                    "it has had power all the while: only the connection was lost, which shows nothing";
                return Err(self.host.error(message));
            }
            if let Some((looked, kept)) = found {
                return Ok(Some((*looked, kept)));
            }
            let since = since.get_or_insert_with(Instant::now);
            if since.elapsed() > MOUNTING {
                let message = format!("{name} is not there any more: is its disk mounted at the same place?");
                return Err(self.host.error(&message));
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "as the message has it")]
    fn found(&self, mut connection: Connection) -> Result<(String, Option<(Box<Looked>, Option<PathBuf>)>)> {
        loop {
            connection.beat();
            match connection.next()? {
                None => {}
                Some(Message::Looked { boot, found }) => {
                    connection.end();
                    return Ok((boot, found));
                }
                Some(message) => {
                    ended(message)?;
                    return Err(out_of_turn("an end without a finding"));
                }
            }
        }
    }

    fn sentence(&self, cut: &Cut, looked: &Looked) -> String {
        let all = counted(cut.acknowledged, "acknowledged step");
        let found = match looked.finding {
            Finding::Held => format!("all of {all} are there"),
            finding => format!("{}: {}", finding.words(), looked.message),
        };
        let own = if looked.verified { ", and its own check finds no fault" } else { "" };
        let opened =
            looked.open_ns.map_or_else(String::new, |ns| format!("; it opened in {}", rough_ns(ns as f64)));
        format!("{} {} at {}: {found}{own}{opened}.", self.args.store, cut.version, self.args.guarantee)
    }

    /// Adds the finding to the file of all of them.
    fn keep(&self, cut: &Cut, looked: &Looked) -> Result<()> {
        let pull = Pull {
            host: self.host.to_string(),
            kernel: &cut.kernel,
            when: jiff::Timestamp::now().to_string(),
            store: &self.args.store,
            version: &cut.version,
            settings: &cut.settings,
            guarantee: self.args.guarantee,
            acknowledged: cut.acknowledged,
            finding: looked.finding,
            message: &looked.message,
            open_ns: looked.open_ns,
            verified: looked.verified,
        };
        runs::make_directory("making the runs' directory", &self.args.out)?;
        append(&self.args.out.join(FILE), &pull)
    }
}

fn append(path: &Path, pull: &Pull<'_>) -> Result<()> {
    let mut line = serde_json::to_vec(pull).map_err(|error| Error::new(Exit::Failure, error.to_string()))?;
    line.push(b'\n');
    let mut file =
        OpenOptions::new().create(true).append(true).open(path).map_err(Error::io("opening", path))?;
    file.write_all(&line).and_then(|()| file.sync_all()).map_err(Error::io("writing", path))
}

/// The end of what a board does.
fn ended(message: Message) -> Result<()> {
    match message {
        Message::Ended { .. } => Ok(()),
        Message::Failed { exit, message } => Err(failed_there(exit, message)),
        _ => Err(out_of_turn("what is of no check")),
    }
}
