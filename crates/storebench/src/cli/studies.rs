//! `storebench studies`: the plans that come with it.

use storebench_core::error::{Exit, Result};
use storebench_host::plan::{self, Plan, STUDIES};
use storebench_report::terminal::grid::wrap;

use super::output::{WIDTH, print};

/// Prints the list of all studies, or what one is; that may be a plan's file, too.
///
/// # Errors
/// [`Exit::BadPlan`] for a name that is none.
pub fn list(only: Option<&str>) -> Result<Exit> {
    let mut text = String::new();
    let all = || STUDIES.iter().map(|study| study.name);
    for name in only.map_or_else(|| all().collect(), |name| vec![name]) {
        text.push_str(&entry(&plan::find(name)?));
    }
    if only.is_some() {
        print(text.trim_end_matches('\n'))?;
        return print("\n").map(|()| Exit::Success);
    }
    text.push_str(&line(
        "",
        "To run your own, write a TOML file like those in studies/: storebench run my-plan.toml",
        "",
    ));
    print(&text)?;
    Ok(Exit::Success)
}

/// A study and its presets.
fn entry(plan: &Plan) -> String {
    let mut text = format!("{}\n{}", plan.name, line("  ", &plan.title, "  "));
    if !plan.source.is_empty() {
        text.push_str(&line("  ", &format!("Source: {}", plan.source), "    "));
    }
    if !plan.claims.is_empty() {
        let claims = format!("Every report checks {} published findings.", plan.claims.len());
        text.push_str(&line("  ", &claims, "  "));
    }
    for (name, preset) in &plan.presets {
        let description = preset.description.as_deref().unwrap_or_default();
        text.push_str(&line("  ", &format!("--preset {name}: {description}"), "    "));
    }
    text.push('\n');
    text
}

/// A sentence in lines that fit.
fn line(first: &str, sentence: &str, others: &str) -> String {
    format!("{first}{}", wrap(sentence, WIDTH - first.len(), others))
}
