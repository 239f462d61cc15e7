//! A plan as TOML says it: its own keys, and those of its workload's parameters.

use std::collections::BTreeMap;

use serde::de::{Error as _, MapAccess};

use super::{Axes, Bytes, Period, Plan};
use storebench_core::axis::Axis;
use storebench_core::axis::read::Key;
use storebench_core::cell::Compression;
use storebench_core::workload::parameter::{Parameters, Read};
use storebench_core::workload::table::{parameter, parameters};

/// The number of times that each cell runs where a plan does not say.
const TRIALS: u32 = 5;

storebench_core::from_map!(Plan, "a plan", read);

/// Reads a plan: what is no key of its own is a parameter.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Plan, A::Error> {
    let mut parameters = Parameters::default();
    /// Reads each key into a variable of its name; then takes them, or what holds where there is none.
    macro_rules! read {
        ($($field:ident)*; $claims:ident) => {
            $(let mut $field = None;)*
            let mut $claims = None;
            let own = [$(stringify!($field)),*];
            let known = |name: &str| match own.contains(&name) || name == "claim" || parameter(name).is_some() {
                true => Ok(()),
                false => Err(unknown(name, &own)),
            };
            while let Some(name) = map.next_key_seed(Key(known))? {
                match name.as_str() {
                    $(stringify!($field) => $field = Some(map.next_value()?),)*
                    "claim" => $claims = Some(map.next_value()?),
                    name => {
                        let known = parameter(name).ok_or_else(|| A::Error::custom(unknown(name, &own)))?;
                        let text = map.next_value_seed(Read(known))?;
                        parameters.set(known, &text).map_err(A::Error::custom)?;
                    }
                }
            }
        };
    }
    read!(format name title source workload trials seed size_limit timeout precision budget compare rows columns groups at_least claims_among
        claims_over one_at_a_time axes_one_at_a_time disk_estimate cuts torn settling faults recovery clients judge_settings settings point machines disks compression axes presets; claims);
    let mut axes: Axes = needed(axes, "axes")?;
    // Plans of before it was an axis name it beside the axes.
    let compression: Option<Compression> = compression;
    if let Some(compression) = compression.filter(|_| !axes.names(Axis::COMPRESSION)) {
        axes.set(Axis::COMPRESSION, [compression]);
    }
    fn needed<T, E: serde::de::Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
        value.ok_or_else(|| E::missing_field(name))
    }
    let mut plan = Plan {
        format: needed(format, "format")?,
        name: needed(name, "name")?,
        title: needed(title, "title")?,
        source: source.unwrap_or_default(),
        workload: needed(workload, "workload")?,
        parameters,
        trials: trials.unwrap_or(TRIALS),
        seed: needed(seed, "seed")?,
        size_limit: needed::<Bytes, _>(size_limit, "size_limit")?,
        timeout: needed::<Period, _>(timeout, "timeout")?,
        precision,
        budget,
        compare: compare.unwrap_or_default(),
        rows: rows.unwrap_or_default(),
        columns: columns.unwrap_or_default(),
        groups: groups.unwrap_or_default(),
        at_least: at_least.unwrap_or_default(),
        claims_among: claims_among.unwrap_or_default(),
        claims_over,
        one_at_a_time: one_at_a_time.unwrap_or_default(),
        axes_one_at_a_time: axes_one_at_a_time.unwrap_or_default(),
        disk_estimate: disk_estimate.unwrap_or_default(),
        cuts,
        torn: torn.unwrap_or_default(),
        settling: settling.unwrap_or_default(),
        faults,
        recovery: recovery.unwrap_or_default(),
        clients: clients.unwrap_or_default(),
        judge_settings: judge_settings.unwrap_or_default(),
        settings: settings.unwrap_or_default(),
        points: point.unwrap_or_default(),
        machines: machines.unwrap_or_default(),
        disks: disks.unwrap_or_default(),
        axes,
        presets: presets.unwrap_or_else(BTreeMap::new),
        claims: claims.unwrap_or_default(),
    };
    plan.record_for_estimates();
    Ok(plan)
}

fn unknown(name: &str, own: &[&str]) -> String {
    let parameters = parameters();
    let known = own.iter().copied().chain(["claim"]).chain(parameters.iter().map(|known| known.name));
    let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    format!("unknown field `{name}`, expected one of {}", known.join(", "))
}
