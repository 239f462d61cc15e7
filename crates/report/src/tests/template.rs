//! Replaces numbers in a sentence that only mean many.

use std::fmt::Write as _;

/// A sentence with `N` for every number above two.
pub fn template(sentence: &str) -> String {
    let mut out = String::new();
    let mut remainder = sentence;
    while let Some(start) = remainder.find(|c: char| c.is_ascii_digit()) {
        let (before, digits) = remainder.split_at(start);
        // A change is one, whatever its direction.
        let before = before.strip_suffix(['+', '×']).unwrap_or(before);
        let before = if before.ends_with(" -") { &before[..before.len() - 1] } else { before };
        let end = digits
            .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | ':' | '-'))
            .unwrap_or(digits.len());
        let number = digits[..end].trim_end_matches(['.', ',', ':', '-']);
        let shown = if matches!(number, "0" | "1" | "2") { number } else { "N" };
        // Writing to a string can't fail.
        let _ = write!(out, "{before}{shown}");
        remainder = &digits[number.len()..];
    }
    out + remainder
}

/// The lines of a text that are sentences: rows of tables have gaps.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.contains("  ") && line.split(' ').count() > 3).map(template)
}

/// Fails if a text has a plural after one, or a gap instead of a word.
pub fn reads_well(text: &str) {
    for wrong in
        [" 1 trials", " 1 stores", " 1 cells", " 1 figures", " 1 runs", " 1 combinations", " 1 records", "  "]
    {
        assert!(!text.contains(wrong), "{wrong:?} in {text}");
    }
}

#[test]
fn numbers_above_two_are_many() {
    assert_eq!(template("1 of 24 stores, 2.5 µs, 0 left."), "1 of N stores, N µs, 0 left.");
}
