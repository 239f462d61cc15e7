//! Reports command lines with mistakes: a line with the mistake and the help command, and one for each tip.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use storebench_host::plan::{self, STUDIES};
use storebench_model::error::{Error, Exit};
use storebench_model::result::format1;
use storebench_model::sanitize::{piece, shortened};

use super::output;

/// The beginning of clap's lines of advice.
const TIP: &str = "tip: ";

/// Reports the mistake in a command line, and what may help.
pub fn report_error(error: &clap::Error) -> Exit {
    let explained = explain(error);
    output::complain(&explained.message);
    tips(error).iter().for_each(|tip| output::print_note(&format!("  {tip}")));
    explained.exit
}

/// Clap's tips, or the studies if none is named.
fn tips(error: &clap::Error) -> Vec<String> {
    let lacks_study = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.iter().any(|name| name.starts_with("<STUDY>")),
        _ => false,
    };
    if lacks_study {
        let line = |name: &str| plan::find(name).ok().map(|plan| format!("{name}: {}", plan.title));
        return STUDIES.iter().filter_map(|study| line(study.name)).collect();
    }
    let text = with_short_value(error);
    let tips = text.lines().map(str::trim).filter(|line| line.starts_with(TIP));
    // That a word in place of an option could be meant as a value has helped nobody.
    tips.filter(|tip| !tip.starts_with("tip: to pass ")).map(shortened).map(|tip| tip.to_string()).collect()
}

/// The mistake in a command line, in one line.
pub fn explain(error: &clap::Error) -> Error {
    let text = with_short_value(error);
    let mistake: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty() && !line.starts_with(TIP))
        .collect();
    let mistake = shortened(&mistake.join(" "));
    let mistake = renamed_option(error)
        .unwrap_or_else(|| mistake.strip_prefix("error: ").unwrap_or(&mistake).to_owned());
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::InvalidUtf8 => {
            Error::bad_value(mistake)
        }
        _ => Error::new(Exit::Usage, format!("{mistake}; see {} --help", command(&text))),
    }
}

fn renamed_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let old = option.strip_prefix("--")?.replace('-', "_");
    let new_name = Some(format1::current_axis_name(&old)).filter(|new_name| *new_name != old)?;
    Some(format!("{option} is called --{} now", new_name.replace('_', "-")))
}

/// Clap's own message, with a long wrong value cut.
fn with_short_value(error: &clap::Error) -> String {
    let kinds = [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    kinds.into_iter().fold(error.render().to_string(), |text, kind| match error.get(kind) {
        Some(ContextValue::String(value)) if !value.is_empty() => text.replace(value, &piece(value)),
        _ => text,
    })
}

/// The intended command, from the line of usage: `storebench run`.
fn command(text: &str) -> String {
    let usage = text.lines().find_map(|line| line.trim().strip_prefix("Usage: ")).unwrap_or("storebench");
    let is_name = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
    usage.split_whitespace().take_while(is_name).collect::<Vec<_>>().join(" ")
}
