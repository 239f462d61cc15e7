//! `storebench studies`: the shipped plans.

use storebench_host::plan::{self, Plan, STUDIES};
use storebench_model::error::{Exit, Result};

use super::output::{fitted, print};

/// Prints the list of all studies, or one of them, which may be a plan's file.
pub fn list(name: Option<&str>) -> Result<Exit> {
    let all_names = || STUDIES.iter().map(|study| study.name).collect();
    let names = name.map_or_else(all_names, |name| vec![name]);
    let entries = names.into_iter().map(|name| Ok(entry(&plan::find(name)?)));
    let mut text = entries.collect::<Result<Vec<_>>>()?.join("\n");
    if name.is_none() {
        text.push_str(
            "\nTo run your own, write a TOML file like those in studies/:\n  storebench run my-plan.toml\n",
        );
    }
    print(&text)?;
    Ok(Exit::Success)
}

fn entry(plan: &Plan) -> String {
    let mut text = format!("{}\n{}", plan.name, fitted(&plan.title, 2));
    if !plan.source.is_empty() {
        text.push_str(&fitted(&format!("Source: {}", plan.source), 2));
    }
    if !plan.claims.is_empty() {
        let claims = format!("Every report checks {} published findings.", plan.claims.len());
        text.push_str(&fitted(&claims, 2));
    }
    for (name, preset) in &plan.presets {
        let description = preset.description.as_deref().unwrap_or_default();
        text.push_str(&fitted(&format!("--preset {name}: {description}"), 2));
    }
    text
}
