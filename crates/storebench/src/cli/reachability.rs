//! Checks within seconds that the running servers and the clients of a plan can be reached, before anything is made or measured.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use storebench_host::plan::Plan;
use storebench_model::axis::Axis;
use storebench_model::error::{Error, Exit, Result};
use storebench_model::server::running::URL;
use storebench_model::store::{StoreDef, StoreError};

use super::remote::client;

/// Contacts every running server of a plan once; [`Exit::Unreachable`] if that fails, [`Exit::BadValue`] if it refuses the login.
pub fn check_servers(stores: &[StoreDef], plan: &Plan) -> Result<()> {
    let chosen = plan.axes.texts(Axis::STORE);
    let servers = stores.iter().filter(|store| chosen.iter().any(|name| name == store.name));
    for (name, server) in servers.filter_map(|store| Some((store.name, store.server?))) {
        for url in urls(plan, name) {
            (server.reach)(url).map_err(|error| {
                let exit = match error {
                    StoreError::Io { .. } => Exit::Unreachable,
                    _ => Exit::BadValue,
                };
                Error::new(exit, format!("{name}.{URL}: {error}"))
            })?;
        }
    }
    Ok(())
}

/// Contacts every client of a plan once, [`Exit::Unreachable`] if that fails; the program is copied there if necessary.
pub fn check_clients(plan: &Plan, interrupted: &AtomicBool) -> Result<()> {
    plan.clients.iter().try_for_each(|host| client::check_client(host, interrupted))
}

fn urls<'p>(plan: &'p Plan, store: &str) -> BTreeSet<&'p str> {
    let settings = [&plan.settings].into_iter().chain(plan.points.iter().map(|point| &point.settings));
    let fixed_urls = settings.filter_map(|settings| settings.get(store)?.get(URL)).map(String::as_str);
    let swept = plan.axes.settings().filter(|(axis, _)| axis.setting() == Some((store, URL)));
    fixed_urls.chain(swept.flat_map(|(_, values)| values.iter().map(|value| value.text()))).collect()
}
