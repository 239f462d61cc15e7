//! Makes text in CSV safe for spreadsheets: a cell that begins with `=`, `+`, `-` or `@` is a formula to them, unless it is a number.

use std::borrow::Cow;
use std::io;

/// The text with a leading apostrophe, which spreadsheets hide, if they would read it as a formula.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Writes a row of harmless texts.
pub fn put<W: io::Write>(
    writer: &mut csv::Writer<W>,
    row: impl IntoIterator<Item = impl AsRef<str>>,
) -> io::Result<()> {
    for text in row {
        writer.write_field(harmless(text.as_ref()).as_bytes())?;
    }
    writer.write_record(None::<&[u8]>)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        let links = ["+cmd|' /C calc'!A0", "=HYPERLINK(\"http://x\")"];
        for formula in ["=1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-"].into_iter().chain(links) {
            assert_eq!(harmless(formula), format!("'{formula}"));
        }
        for text in ["", "lmdb", "-1.5", "+3", "-1e-9", "1-2", " =1", "a=b"] {
            assert_eq!(harmless(text), text);
        }
    }
}
