//! How to open a store as it was open: a store's own lines of code, with the settings that were read back put in.

use crate::store::Setting;

/// Fills a template. `{{name}}` stands for a setting's value; a line that names a setting which was not read back, or was left
/// as shipped, is left out. A line may begin with a condition, `[name=value] `, and is left out unless the setting has that
/// value.
pub fn fill(template: &str, settings: &[Setting]) -> String {
    template.lines().filter_map(|line| filled(line, settings)).map(|line| line + "\n").collect()
}

fn value<'s>(name: &str, settings: &'s [Setting]) -> Option<&'s str> {
    let setting = settings.iter().find(|setting| setting.name == name)?;
    (!setting.value.starts_with("as shipped")).then_some(setting.value.as_str())
}

fn filled(line: &str, settings: &[Setting]) -> Option<String> {
    let condition = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let condition = condition.and_then(|(condition, line)| Some((condition.split_once('=')?, line)));
    let mut rest = match condition {
        None => line,
        Some(((name, wanted), line)) => {
            let (name, alike) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
            if (value(name, settings)? == wanted) != alike {
                return None;
            }
            line
        }
    };
    let mut out = String::new();
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        out.push_str(before);
        out.push_str(value(name, settings)?);
        rest = after;
    }
    Some(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_fill_their_places_and_lines_without_them_are_left_out() {
        let settings = [
            Setting::read_back("page_size", 4096),
            Setting::given("block_size", "as shipped"),
            Setting::given("sync", true),
        ];
        let template = "a({{page_size}}, {{sync}});\nb({{block_size}});\nc({{unknown}});\n[sync=true] d();\n[sync=false] e();\n[sync!=false] g();\n[sync!=true] h();\n[none!=x] i();\n\n[x] f {{ g";
        assert_eq!(fill(template, &settings), "a(4096, true);\nd();\ng();\n\n[x] f {{ g\n");
    }
}
