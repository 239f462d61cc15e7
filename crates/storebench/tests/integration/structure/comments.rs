//! Comments name the thing first.

use std::fs;

use super::{files, root};

/// Beginnings that keep a reader waiting for the thing.
const RIDDLES: [&str; 2] = ["What ", "How "];

/// A line's comment, if the line is nothing else.
fn comment(line: &str) -> Option<&str> {
    let after = line.trim_start().strip_prefix("//")?;
    Some(after.strip_prefix(['/', '!']).unwrap_or(after).trim_start())
}

#[test]
fn comments_name_the_thing_first() {
    let crates = root().join("crates");
    let mut wrong = Vec::new();
    for path in files(&crates, ".rs") {
        let name = path.strip_prefix(&crates).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if comment(line).is_some_and(|text| RIDDLES.iter().any(|riddle| text.starts_with(riddle))) {
                wrong.push(format!("{name}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "begin with the thing: {wrong:#?}");
}

#[test]
fn a_riddle_is_found_in_every_kind_of_comment() {
    for line in ["/// What it is.", "    //! How it is.", "// What"] {
        let text = comment(line).unwrap();
        assert!(RIDDLES.iter().any(|riddle| format!("{text} ").starts_with(riddle)), "{line}");
    }
    assert_eq!(comment("let x = 1; // What"), None);
}
