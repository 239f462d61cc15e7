//! A process to be killed: it writes to a store, step after step, and says of each step when it is acknowledged.

use std::io::Write;
use std::path::Path;

use storebench_core::workload::kill::steps;
use storebench_model::library;
use storebench_model::store::{Guarantee, OpenOptions, StoreDef, make_servers_known};

/// Opens a store and writes to it, telling the number of each acknowledged step on a line of standard output.
/// `arguments` are the store's name, its directory, the guarantee (`default` for the store as shipped), the number
/// of steps, the most bytes of a value, and the library that the store comes from, if it does.
pub fn run(stores: &[StoreDef], arguments: &[String]) -> std::result::Result<(), String> {
    make_servers_known(stores);
    let [store, directory, tier, steps, most_bytes, libraries @ ..] = arguments else {
        return Err("the arguments are STORE DIRECTORY TIER STEPS BYTES [LIBRARY]".into());
    };
    let mut stores = stores.to_vec();
    for path in libraries {
        stores.extend(library::load(&library::find(Path::new(path))?)?);
    }
    let def = stores.iter().find(|def| def.name == store).ok_or(format!("there is no store {store}"))?;
    let guarantee = match tier.as_str() {
        "default" => None,
        name => Some(name.parse::<Guarantee>().map_err(|_| format!("there is no guarantee {name}"))?),
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text} is not a number"));
    let (steps, most_bytes) = (number(steps)?, number(most_bytes)?);
    let options = OpenOptions { guarantee, ..OpenOptions::new(Path::new(directory)) };
    let store = def.open?(&options).map_err(|error| error.to_string())?;
    let mut session = store.session().map_err(|error| error.to_string())?;
    let mut output = std::io::stdout().lock();
    for number in 0..steps {
        steps::take(&mut *session, number, most_bytes as usize)
            .map_err(|error| format!("step {number}: {error}"))?;
        // One write for the line, so that a kill can't leave a part of a number.
        output
            .write_all(format!("{number}\n").as_bytes())
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    drop(session);
    store.close().map_err(|error| error.to_string())
}
