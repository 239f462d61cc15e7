//! Comments name the thing first.

use std::fs;

use super::{files, root};

/// Beginnings that keep a reader waiting for the thing.
const RIDDLES: [&str; 2] = ["What ", "How "];

/// Folders and files that still have such comments, by the beginning of their names below `crates`, and how many at most. The
/// numbers may only become smaller.
const LEFT: [(&str, usize); 7] = [
    ("report/src/column.rs", 4),
    ("report/src/compare", 29),
    ("report/src/data", 143),
    ("report/src/files/", 23),
    ("report/src/layout", 12),
    ("report/src/page", 54),
    ("report/src/terminal", 12),
];

/// A line's comment, if the line is nothing else.
fn comment(line: &str) -> Option<&str> {
    let after = line.trim_start().strip_prefix("//")?;
    Some(after.strip_prefix(['/', '!']).unwrap_or(after).trim_start())
}

#[test]
fn comments_name_the_thing_first() {
    let crates = root().join("crates");
    let (mut wrong, mut counts) = (Vec::new(), [0; LEFT.len()]);
    for path in files(&crates, ".rs") {
        let name = path.strip_prefix(&crates).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if !comment(line).is_some_and(|text| RIDDLES.iter().any(|riddle| text.starts_with(riddle))) {
                continue;
            }
            match LEFT.iter().position(|(room, _)| name.starts_with(room)) {
                Some(room) => counts[room] += 1,
                None => wrong.push(format!("{name}:{number}: {}", line.trim())),
            }
        }
    }
    for ((room, most), count) in LEFT.iter().zip(counts) {
        if count > *most {
            wrong.push(format!("{room}: {count} such comments, at most {most}"));
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
