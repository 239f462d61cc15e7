//! `storebench studies`: the plans that come with it.

use storebench_core::error::{Exit, Result};
use storebench_core::plan::{self, STUDIES};

use super::print;

/// Prints the list.
pub fn list() -> Result<Exit> {
    let mut text = String::new();
    for study in STUDIES {
        let plan = plan::find(study.name)?;
        text.push_str(&format!("{}\n  {}\n", plan.name, plan.title));
        if !plan.source.is_empty() {
            text.push_str(&format!("  after {}\n", plan.source));
        }
        if !plan.claims.is_empty() {
            text.push_str(&format!("  {} published findings, checked by every report\n", plan.claims.len()));
        }
        for (name, preset) in &plan.presets {
            let description = preset.description.as_deref().unwrap_or("");
            text.push_str(&format!("  --preset {name}: {description}\n"));
        }
    }
    text.push_str(
        "\nA plan of your own is a TOML file like those in studies/: storebench run my-plan.toml\n",
    );
    print(&text)?;
    Ok(Exit::Success)
}
