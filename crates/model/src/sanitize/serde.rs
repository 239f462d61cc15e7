//! Puts errors of the TOML and JSON libraries into the words of docs/plans.md: keys, tables, lists, text, numbers, not fields,
//! maps, sequences and names of our types.

use super::shortened;

/// A message in plain words, of bounded length.
pub fn simplify_message(message: &str) -> String {
    let message = without_types(&message.lines().collect::<Vec<_>>().join(", "));
    shortened(&rewrite(&message).unwrap_or_else(|| message.clone()))
}

fn rewrite(message: &str) -> Option<String> {
    if message == "wanted string or table" {
        return Some("a table with one key is expected".into());
    }
    for (start, fault) in [("missing field ", "missing"), ("duplicate field ", "repeated")] {
        if let Some(rest) = message.strip_prefix(start) {
            return Some(format!("the key {rest} is {fault}"));
        }
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return Some(match rest.split_once(", expected ") {
            Some((key, known)) => format!("unknown key {key}: expected {known}"),
            None => format!("unknown key {}", rest.replace(", there are no fields", " here")),
        });
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (word, known) = rest.split_once(", expected ")?;
        return Some(format!("{word} can't be used here: expected {known}"));
    }
    let rest = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start))?;
    let rest = rest.replace("` as i128", "`").replace("` as u128", "`");
    // The words for what was found may hold these themselves; those for what is wanted do not.
    let (found, expected) = rest.rsplit_once(", expected ")?;
    Some(format!("expected {}, found {}", describe_expected(expected), describe_found(found)))
}

fn describe_found(found: &str) -> String {
    let kinds = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", ""),
        ("sequence", "a list"),
        ("map", "a table"),
        ("unit value", "nothing"),
        ("null", "nothing"),
    ];
    let describe = |(kind, word): (&str, &str)| Some(format!("{word}{}", found.strip_prefix(kind)?));
    kinds.into_iter().find_map(describe).unwrap_or_else(|| found.to_owned())
}

/// The words for what is wanted, with the JSON reader's position.
fn describe_expected(expected: &str) -> String {
    let (expected, place) = match expected.split_once(" at line ") {
        Some((expected, place)) => (expected, format!(" (line {place})")),
        None => (expected, String::new()),
    };
    let words = match expected {
        "a string" | "path string" | "string" => "text in quotes",
        "a sequence" => "a list",
        "a map" | "map" => "a table",
        "a boolean" | "bool" => "true or false",
        "u8" | "u16" | "u64" | "usize" => "a whole number, 0 or more,",
        "u32" => "a whole number from 0 to 4294967295",
        "f32" | "f64" => "a number",
        other => other,
    };
    format!("{words}{place}")
}

/// Replaces names of our types, such as `struct Region`, by "a table".
fn without_types(message: &str) -> String {
    let kinds = ["struct", "enum", "tuple", "newtype", "variant"];
    let mut out: Vec<&str> = Vec::new();
    let mut words = message.split(' ').peekable();
    while let Some(word) = words.next() {
        let is_type_name = |next: &&str| {
            kinds.contains(next) || next.starts_with(|letter: char| letter.is_ascii_uppercase())
        };
        if !kinds.contains(&word) || !words.peek().is_some_and(is_type_name) {
            out.push(word);
            continue;
        }
        while words.next_if(|next| kinds.contains(next)).is_some() {}
        words.next();
        out.push("a table");
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_speak_of_keys_tables_and_lists() {
        for (message, expected) in [
            ("missing field `operations`", "the key `operations` is missing"),
            (
                "unknown field `trails`, expected one of `trials`, `seed`",
                "unknown key `trails`: expected one of `trials`, `seed`",
            ),
            ("unknown field `a`, expected `b`", "unknown key `a`: expected `b`"),
            ("unknown variant `cruel`, expected `crud`", "`cruel` can't be used here: expected `crud`"),
            ("invalid type: integer `5`, expected struct Region", "expected a table, found the number `5`"),
            (
                "invalid type: string \"a, expected b\", expected u32",
                "expected a whole number from 0 to 4294967295, found the text \"a, expected b\"",
            ),
            ("invalid type: map, expected a sequence", "expected a list, found a table"),
            (
                "invalid type: sequence, expected struct variant Expect::Winner at line 3 column 7",
                "expected a table (line 3 column 7), found a list",
            ),
            ("invalid type: boolean `true`, expected a string", "expected text in quotes, found `true`"),
            ("\"many\" is not a count: write it like 1000", "\"many\" is not a count: write it like 1000"),
        ] {
            assert_eq!(simplify_message(message), expected);
        }
        let long = "x".repeat(100_000);
        assert!(simplify_message(&format!("invalid type: string \"{long}\", expected u32")).len() < 200);
    }
}
