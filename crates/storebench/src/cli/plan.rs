//! Builds the plan for a command line: a study, its preset, and the changes of the arguments.

use storebench_core::record::pool::Pool;
use storebench_core::workload::crud::parameters::CrudParameters;
use storebench_figures::claims;
use storebench_host::machine::Core;
use storebench_host::plan::{Plan, PlanSource};
use storebench_model::cell::Axis;
use storebench_model::error::{Error, Exit, Result, meant};
use storebench_model::sanitize::quoted;
use storebench_model::store::StoreDef;
use storebench_model::units::Sizes;

use super::args::{RunArgs, study};
use super::properties::Texts;
use super::{engine_form, properties, runs};

/// The plan for a command line, from the texts of its study and property files.
pub fn plan(stores: &[StoreDef], args: &RunArgs, source: &PlanSource, texts: &Texts) -> Result<Plan> {
    let mut plan = source.plan()?;
    study::check(args, &plan)?;
    check_claims(stores, &plan, source)?;
    let preset_stores = plan.presets.values().flat_map(|preset| preset.axes.texts(Axis::STORE));
    // A plan has settings of these stores in case they take part; on the command line a setting must apply now.
    let mut plan_stores: Vec<String> =
        plan.axes.texts(Axis::STORE).into_iter().chain(preset_stores).collect();
    if let Some(preset) = args.preset() {
        plan.apply_preset(preset)?;
    }
    if let Some(changes) = properties::changes(args, texts, &plan)? {
        plan.apply(changes)?;
    }
    let changes = args.changes()?;
    let names_stores = changes.axes.names(Axis::STORE);
    plan_stores.retain(|store| !changes.settings.contains_key(store));
    plan.apply(changes)?;
    let find = if names_stores { built_store } else { store };
    for name in &plan.axes.texts(Axis::STORE) {
        find(stores, name)?;
    }
    check_settings(stores, &plan, &plan_stores)?;
    let chosen = plan.axes.texts(Axis::STORE);
    plan.settings.retain(|store, _| chosen.contains(store));
    engine_form::convert_settings(stores, &mut plan)?;
    properties::print_meaning(args, texts, &plan)?;
    plan.settle(Core::measure);
    if let Some(text) = CrudParameters::from_parameters(&plan.parameters).text {
        let text = runs::directory("using the text in", &text)?;
        let path = text
            .to_str()
            .ok_or_else(|| Error::bad_value(format!("{}: its name is not UTF-8", text.display())))?;
        plan.parameters.text = Some(path.to_owned());
        for sizes in plan.axes.list::<Sizes>(Axis::RECORD_SIZE) {
            Pool::from_directory(&text, sizes.span()).map_err(Error::bad_value)?;
        }
    }
    Ok(plan)
}

/// Checks a plan's claims: their stores must be known, or be in the plan.
fn check_claims(stores: &[StoreDef], plan: &Plan, PlanSource { text, origin }: &PlanSource) -> Result<()> {
    let known: Vec<&str> = stores.iter().map(|store| store.name).collect();
    claims::check(&claims::plan_claims(text, origin)?, plan, &known, origin)
}

/// A store by name, whether it is built or not; [`Exit::UnknownStore`] if this version has none.
pub fn store<'s>(stores: &'s [StoreDef], name: &str) -> Result<&'s StoreDef> {
    stores.iter().find(|store| store.name == name).ok_or_else(|| {
        let known: Vec<&str> = stores.iter().map(|store| store.name).collect();
        let message = format!(
            "this version has no store {}{}; it has {}",
            quoted(name),
            hint(name, &known),
            known.join(", ")
        );
        Error::new(Exit::UnknownStore, message)
    })
}

/// Other names of stores, with storebench's names.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("mdbx", "did you mean libmdbx?"),
    ("mysql", "did you mean mariadb?"),
    ("bdb", "did you mean berkeleydb?"),
    ("files", "did you mean flat-folder or nested-folder?"),
    ("folder", "did you mean flat-folder or nested-folder?"),
    ("duckdb", "it is an example of a --store-library, examples/c-duckdb"),
    ("turso", "it is an example of a --store-library, examples/rust-turso"),
    ("bbolt", "it is an example of a --store-library, examples/go"),
    ("pebble", "it is an example of a --store-library, examples/go"),
    ("badger", "it is an example of a --store-library, examples/go"),
];

/// The likely meaning of an unknown name, in brackets.
fn hint(name: &str, known: &[&str]) -> String {
    let name = name.to_ascii_lowercase();
    if let Some((_, hint)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
        return format!(" ({hint})");
    }
    meant(&name, known.iter().copied()).map_or(String::new(), |meant| format!(" (did you mean {meant}?)"))
}

/// A store by the name that a user gave; [`Exit::UnknownStore`] if this version or this build has none.
pub fn built_store<'s>(stores: &'s [StoreDef], name: &str) -> Result<&'s StoreDef> {
    let store = store(stores, name)?;
    match store.open {
        Ok(_) => Ok(store),
        Err(why) => Err(Error::new(Exit::UnknownStore, format!("the store {name} is not built: {why}"))),
    }
}

/// Checks that each setting belongs to a store that takes part, or is in the plan for other runs.
fn check_settings(stores: &[StoreDef], plan: &Plan, plan_stores: &[String]) -> Result<()> {
    let chosen = plan.axes.texts(Axis::STORE);
    let swept = plan.axes.settings().filter_map(|(axis, _)| axis.setting()).map(|setting| (setting, &[][..]));
    let settings =
        plan.settings.iter().flat_map(|(store, values)| values.keys().map(move |name| (store, name)));
    let settings = settings.map(|(store, name)| ((store.as_str(), name.as_str()), plan_stores));
    for ((store, setting), others) in swept.chain(settings) {
        check_setting(stores, store, setting)?;
        if !chosen.iter().chain(others).any(|name| name == store) {
            return Err(Error::bad_value(format!(
                "{store}.{setting} is set, and {store} takes no part: name it with --store, too, or leave the setting out"
            )));
        }
    }
    Ok(())
}

fn check_setting(stores: &[StoreDef], store: &str, setting: &str) -> Result<()> {
    let known: Vec<_> = built_store(stores, store)?.settings.iter().map(|known| known.name).collect();
    if known.contains(&setting) {
        return Ok(());
    }
    let hint = meant(setting, known.iter().copied()).map(|meant| format!(" (did you mean {meant}?)"));
    let list = if known.is_empty() { "none".into() } else { known.join(", ") };
    let (setting, hint) = (quoted(setting), hint.unwrap_or_default());
    Err(Error::bad_value(format!("{store} has no setting {setting}{hint}; it takes {list}")))
}
