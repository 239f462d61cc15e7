//! A process to be killed: it writes to a store, step after step, and says of each step when it is acknowledged.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use storebench_core::store::{Guarantee, OpenOptions, Result, Session, StoreDef, make_servers_known};

use crate::steps::{Step, record_key, record_value, step};

/// Opens a store and writes to it, telling the number of each acknowledged step on a line of standard output.
/// `arguments` are the store's name, its directory, the guarantee (`default` for the store as shipped) and the number
/// of steps.
///
/// # Errors
/// The reason, for people to read.
pub fn run(stores: &[StoreDef], arguments: &[String]) -> std::result::Result<(), String> {
    make_servers_known(stores);
    let [store, directory, tier, steps] = arguments else {
        return Err("the arguments are STORE DIRECTORY TIER STEPS".into());
    };
    let def = stores.iter().find(|def| def.name == store).ok_or(format!("there is no store {store}"))?;
    let guarantee = match tier.as_str() {
        "default" => None,
        name => Some(name.parse::<Guarantee>().map_err(|()| format!("there is no guarantee {name}"))?),
    };
    let steps: u64 = steps.parse().map_err(|_| format!("{steps} is not a number of steps"))?;
    let settings = BTreeMap::new();
    let options = OpenOptions {
        directory: Path::new(directory),
        guarantee,
        compression: false,
        cache_bytes: None,
        settings: &settings,
        sessions: 1,
        transactions: false,
        beside: None,
    };
    let store = def.open?(&options).map_err(|error| error.to_string())?;
    let mut session = store.session().map_err(|error| error.to_string())?;
    let mut output = std::io::stdout().lock();
    for number in 0..steps {
        take_step(&mut *session, number).map_err(|error| format!("step {number}: {error}"))?;
        // One write for the line, so that a kill can't leave a part of a number.
        output
            .write_all(format!("{number}\n").as_bytes())
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    drop(session);
    store.close().map_err(|error| error.to_string())
}

fn take_step(session: &mut dyn Session, number: u64) -> Result<()> {
    let step = step(number);
    let owned: Vec<(String, Vec<u8>)> =
        step.records().map(|record| (record_key(record), record_value(record, number))).collect();
    let records: Vec<(&[u8], &[u8])> =
        owned.iter().map(|(key, value)| (key.as_bytes(), value.as_slice())).collect();
    match (&step, records.as_slice()) {
        (Step::Insert(_), [(key, value)]) => session.insert(key, value),
        (Step::Update(_), [(key, value)]) => session.update(key, value),
        (Step::Remove(_), [(key, _)]) => session.remove(key),
        (_, batch) => session.insert_batch(batch),
    }
}
