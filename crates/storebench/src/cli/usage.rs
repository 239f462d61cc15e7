//! Reports command lines with mistakes: a line with the mistake and the help command, and one for each tip.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use storebench_core::error::{Error, Exit};
use storebench_core::result::format1;
use storebench_core::sanitize::{piece, shortened};
use storebench_host::plan::{self, STUDIES};

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
    let new_name = Some(format1::axis_now(&old)).filter(|new_name| *new_name != old)?;
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Args;

    fn explained(arguments: &[&str]) -> (Exit, String) {
        let line = std::iter::once(&"storebench").chain(arguments);
        let error = explain(&Args::command().try_get_matches_from(line).unwrap_err());
        (error.exit, error.message)
    }

    #[test]
    fn a_line_says_what_is_wrong_and_where_help_is() {
        let (exit, message) = explained(&["run", "crud", "--recordz", "1"]);
        assert_eq!(exit, Exit::Usage);
        assert!(message.starts_with("unexpected argument '--recordz' found"), "{message}");
        assert!(message.ends_with(" found; see storebench run --help"), "{message}");
        let (exit, message) = explained(&["run", "life", "--giving-back=beside"]);
        assert_eq!(exit, Exit::Usage);
        assert_eq!(message, "--giving-back is called --space-reclaim now; see storebench run --help");
        let (exit, message) = explained(&["check"]);
        assert_eq!(exit, Exit::Usage);
        assert!(message.contains("not provided: <RUN>...; see"), "{message}");
    }

    #[test]
    fn a_tip_has_a_line_and_no_study_is_answered_with_all() {
        let tips = |arguments: &[&str]| {
            let line = std::iter::once(&"storebench").chain(arguments);
            tips(&Args::command().try_get_matches_from(line).unwrap_err())
        };
        assert_eq!(tips(&["run", "crud", "--recordz", "1"]), ["tip: a similar argument exists: '--records'"]);
        assert_eq!(tips(&["runn"]), ["tip: a similar subcommand exists: 'run'"]);
        assert_eq!(tips(&["run", "crud", "--html", "x"]), Vec::<String>::new());
        for arguments in [&["run"][..], &["run", "--quick"]] {
            let studies = tips(arguments);
            assert_eq!(studies.len(), STUDIES.len());
            assert!(studies[0].starts_with("crud: File system or "), "{studies:?}");
        }
    }

    #[test]
    fn long_input_is_not_repeated_in_full() {
        let long = "x".repeat(100_000);
        for arguments in [["run", "crud", "--records", &long], ["run", "crud", &format!("--{long}"), "1"]] {
            let (_, message) = explained(&arguments);
            assert!(message.contains("xxx...") && message.len() < 700, "{message}");
        }
        // With many words, and with many values.
        for long in ["many words ".repeat(100), "1000, ".repeat(100), "12,".repeat(100)] {
            let (_, message) = explained(&["run", "crud", "--records", &long]);
            assert!(message.len() < 250, "{message}");
        }
    }

    #[test]
    fn a_bad_value_says_what_a_good_one_looks_like() {
        let (exit, message) = explained(&["run", "crud", "--records", "many"]);
        assert_eq!(exit, Exit::BadValue);
        assert!(message.contains("--records") && message.contains("is not a count"), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
