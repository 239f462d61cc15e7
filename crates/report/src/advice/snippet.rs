//! The code that opens a store with its measured settings: the store's own template, filled with the settings that were read back.

use storebench_model::store::{Setting, StoreDef};

use crate::terminal::grid::one_line;

/// The code for a store in its own language and in Python; `None` if it has none.
pub fn code(store: &StoreDef, version: &str, settings: &[Setting]) -> Option<String> {
    let templates = store.snippet.into_iter().chain(store.python);
    let parts: Vec<String> = templates.map(|template| fill(template, version, settings)).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The code in one language: Python if asked for and available, otherwise the store's own.
pub fn code_in_one(store: &StoreDef, version: &str, settings: &[Setting], in_python: bool) -> Option<String> {
    let template = store.python.filter(|_| in_python).or(store.snippet)?;
    Some(fill(template, version, settings))
}

/// Code for a terminal, after an empty line. It is not indented, so that a copy of it runs, also in Python.
pub(crate) fn for_terminal(code: &str) -> String {
    std::iter::once("").chain(code.lines()).map(|line| one_line(line).trim_end().to_owned() + "\n").collect()
}

/// Fills a template. `{{name}}` is replaced by a setting's value, `{{version}}` by the store's version; a line that names a setting
/// which was not read back, or was left as shipped, is left out. A line may begin with conditions, each followed by a space,
/// and is left out unless all of them hold:
///
/// | condition | holds if the setting |
/// | --- | --- |
/// | `[name=value]` | has this value |
/// | `[name!=value]` | has another value (without a value here: was read back) |
/// | `[name~word]` | has this word among the words of its value |
/// | `[name!~word]` | does not have this word |
pub fn fill(template: &str, version: &str, settings: &[Setting]) -> String {
    let values = TemplateValues { version, settings };
    template.lines().filter_map(|line| values.fill_line(line)).map(|line| line + "\n").collect()
}

/// The names that a template can use.
struct TemplateValues<'a> {
    version: &'a str,
    settings: &'a [Setting],
}

impl TemplateValues<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        if name == "version" {
            return Some(self.version);
        }
        let setting = self.settings.iter().find(|setting| setting.name == name)?;
        (!setting.value.is_empty() && !setting.is_as_shipped()).then_some(&setting.value)
    }

    fn fill_line(&self, line: &str) -> Option<String> {
        let mut rest = line;
        while let Some((name, is_expected, is_word, wanted, after)) = condition(rest) {
            let value = self.value(name)?;
            let is_match = match is_word {
                true => value.split_whitespace().any(|word| word == wanted),
                false => value == wanted,
            };
            if is_match != is_expected {
                return None;
            }
            rest = after;
        }
        let mut out = String::new();
        while let Some((before, (name, after))) =
            rest.split_once("{{").and_then(|(before, after)| Some((before, after.split_once("}}")?)))
        {
            out.push_str(before);
            // Results come from other people's files: a line end in a value would begin a line of code.
            out.push_str(&one_line(self.value(name)?));
            rest = after;
        }
        Some(out + rest)
    }
}

/// The condition at the beginning of a line: its setting, whether it must hold, whether a word of the value is enough, the wanted one; and
/// the rest of the line.
fn condition(line: &str) -> Option<(&str, bool, bool, &str, &str)> {
    let (condition, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (name, wanted) = condition.split_once(['=', '~'])?;
    let is_word = condition[name.len()..].starts_with('~');
    let (name, is_expected) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
    Some((name, is_expected, is_word, wanted, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_sample(template: &str) -> String {
        let settings = [
            Setting::read_back("page_size", 4096),
            Setting::as_shipped("block_size"),
            Setting::unverified("sync", true),
            Setting::read_back("flags", "DB_LOG DB_TXN"),
            Setting::read_back("mmap_size", ""),
            Setting::read_back("evil", "1;\nsystem(\"\u{1b}\")"),
        ];
        fill(template, "5.3", &settings)
    }

    #[test]
    fn settings_fill_their_places_and_lines_without_them_are_left_out() {
        let template = "a({{page_size}}, {{sync}}) {{version}};\nb({{block_size}});\nc({{unknown}});\nd({{mmap_size}});\n\n[x] f {{ g";
        assert_eq!(fill_sample(template), "a(4096, true) 5.3;\n\n[x] f {{ g\n");
    }

    #[test]
    fn conditions_choose_lines() {
        let cases = [
            ("[sync=true] ", true),
            ("[sync=false] ", false),
            ("[sync!=true] ", false),
            ("[sync!=false] ", true),
            ("[none!=x] ", false),
            ("[sync!=] ", true),
            ("[block_size!=] ", false),
            ("[flags~DB_TXN] ", true),
            ("[flags~DB] ", false),
            ("[flags!~DB_TXN] ", false),
            ("[flags!~DB_LOCK] ", true),
            ("[none!~DB_LOCK] ", false),
            ("[sync=true] [flags~DB_LOG] ", true),
            ("[sync=true] [flags~DB_LOCK] ", false),
            ("[sync=false] [flags~DB_LOG] ", false),
        ];
        for (condition, shown) in cases {
            let expected = if shown { "  line\n" } else { "" };
            assert_eq!(fill_sample(&format!("{condition}  line")), expected, "{condition}");
        }
    }

    #[test]
    fn a_value_stays_on_its_line() {
        assert_eq!(fill_sample("a({{evil}})"), "a(1; system(\" \"))\n");
    }
}
