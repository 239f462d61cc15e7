//! Whether a set has grown old: speed and files are no longer on their way up or down.

/// Tenths that are considered.
pub const LAST: usize = 5;

/// Whether no figure has a trend over the last tenths; too few are not steady.
pub(crate) fn is_steady<const FIGURES: usize>(tenths: &[[f64; FIGURES]]) -> bool {
    let Some(last) = tenths.last_chunk::<LAST>() else { return false };
    (0..FIGURES).all(|figure| !has_trend(&last.map(|tenth| tenth[figure])))
}

/// Whether each is more than the one before it, or each less. Five random ones are so in one of 60 cases.
fn has_trend(figures: &[f64; LAST]) -> bool {
    figures.is_sorted_by(|previous, next| previous < next)
        || figures.is_sorted_by(|previous, next| previous > next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_five_in_a_row_are_a_trend_and_each_figure_counts() {
        let files = |files: &[f64]| files.iter().map(|bytes| [1000.0, *bytes]).collect::<Vec<_>>();
        let steady = |bytes: &[f64]| is_steady(&files(bytes));
        assert!(!steady(&[1.0, 1.0, 1.0, 1.0]), "too few");
        assert!(steady(&[5.0; 5]));
        assert!(!steady(&[1.0, 2.0, 3.0, 4.0, 5.0]) && !steady(&[5.0, 4.0, 3.0, 2.0, 1.0]));
        // Figures that come and go, as with compactions, and one that grew before.
        assert!(steady(&[1.0, 3.0, 2.0, 4.0, 3.0]) && steady(&[1.0, 2.0, 3.0, 4.0, 5.0, 5.0]));
        let slower: Vec<[f64; 2]> = (0..5).map(|tenth| [1000.0 - f64::from(tenth), 7.0]).collect();
        assert!(!is_steady(&slower));
    }
}
