//! The plan that a command line asks for: a study, its preset, and the changes of the arguments.

use storebench_core::cell::Axis;
use storebench_core::error::{Error, Exit, Result, meant, unknown};
use storebench_core::machine::Core;
use storebench_core::plan::{Plan, Source};
use storebench_core::record::pool::Pool;
use storebench_core::shown::quoted;
use storebench_core::store::StoreDef;
use storebench_core::units::Sizes;
use storebench_core::workload::crud::parameters::{self, CrudParameters};
use storebench_report::claims;

use super::args::RunArgs;
use super::properties::Texts;
use super::{given, properties, runs};

/// The plan that the command line asks for, from the texts of its study and of its property files.
///
/// # Errors
/// When it makes no sense, or asks for what this build lacks.
pub fn plan(stores: &[StoreDef], args: &RunArgs, source: &Source, texts: &Texts) -> Result<Plan> {
    let mut plan = source.plan()?;
    check_claims(stores, &plan, source)?;
    let preset = args.preset.as_deref().or(args.quick.then_some("quick"));
    if let Some(preset) = preset {
        plan.apply_preset(preset)?;
    }
    if let Some(changes) = properties::changes(&args.properties, texts, &plan)? {
        plan.apply(changes)?;
    }
    let changes = args.changes();
    let named = changes.axes.names(Axis::STORE);
    plan.apply(changes)?;
    for store in &plan.axes.texts(Axis::STORE) {
        check_store(stores, store, named)?;
    }
    check_settings(stores, &plan)?;
    given::as_engines_read(stores, &mut plan)?;
    plan.settle(Core::here);
    if let Some(text) = CrudParameters::of(&plan.parameters).text {
        let text = runs::directory("using the text in", &text)?;
        let shown = text
            .to_str()
            .ok_or_else(|| Error::bad_value(format!("{}: its name is not UTF-8", text.display())))?;
        plan.parameters.set(&parameters::TEXT, shown).map_err(Error::bad_value)?;
        for sizes in plan.axes.list::<Sizes>(Axis::RECORD_SIZE) {
            Pool::from_directory(&text, sizes.span()).map_err(Error::bad_value)?;
        }
    }
    Ok(plan)
}

/// A plan's claims must make sense, and the stores that they name must be known, or be among its own.
fn check_claims(stores: &[StoreDef], plan: &Plan, Source { text, origin }: &Source) -> Result<()> {
    let known: Vec<&str> = stores.iter().map(|store| store.name).collect();
    claims::check(&claims::of_plan(text, origin)?, plan, &known, origin)
}

/// A store that nobody knows is an error; one that this build lacks is an error when it was asked for by name.
pub fn check_store(stores: &[StoreDef], name: &str, named: bool) -> Result<()> {
    let known = stores.iter().map(|store| store.name);
    match stores.iter().find(|store| store.name == name) {
        Some(StoreDef { open: Err(why), .. }) if named => {
            Err(Error::new(Exit::UnknownStore, format!("the store {name} is not built: {why}")))
        }
        Some(_) => Ok(()),
        None => Err(Error::new(Exit::UnknownStore, unknown("store", name, known))),
    }
}

/// A setting must be one that its store takes; one that is swept, of a store that takes part.
fn check_settings(stores: &[StoreDef], plan: &Plan) -> Result<()> {
    for (store, settings) in &plan.settings {
        settings.keys().try_for_each(|setting| check_setting(stores, store, setting))?;
    }
    let taking_part = plan.axes.texts(Axis::STORE);
    for (store, setting) in plan.axes.settings().filter_map(|(axis, _)| axis.setting()) {
        check_setting(stores, store, setting)?;
        if !taking_part.iter().any(|name| name == store) {
            return Err(Error::bad_value(format!(
                "{store}.{setting} has several values, and {store} takes no part: --store {store}"
            )));
        }
    }
    Ok(())
}

fn check_setting(stores: &[StoreDef], store: &str, setting: &str) -> Result<()> {
    check_store(stores, store, true)?;
    let of_store = stores.iter().filter(|known| known.name == store);
    let known: Vec<_> = of_store.flat_map(|store| store.settings).map(|known| known.name).collect();
    if known.contains(&setting) {
        return Ok(());
    }
    let hint = meant(setting, known.iter().copied()).map(|meant| format!(" (did you mean {meant}?)"));
    let list = if known.is_empty() { "none".into() } else { known.join(", ") };
    let (setting, hint) = (quoted(setting), hint.unwrap_or_default());
    Err(Error::bad_value(format!("{store} has no setting {setting}{hint}; it takes {list}")))
}
