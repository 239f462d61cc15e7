//! The figure of a claim: `insert` (its mean latency), `get latency_p99`, `space`, `memory`, `disk_allocated`.

use std::fmt;
use std::str::FromStr;

use storebench_model::error::meant;
use storebench_model::result::format1;
use storebench_model::units::as_text;

use crate::column::{COLUMNS, Column, MEAN_LATENCY, PEAK_MEMORY, SPACE_EFFICIENCY};

/// The matrix's short names for figures of trials.
const SHORT: [(&str, &Column); 2] = [("space", &SPACE_EFFICIENCY), ("memory", &PEAK_MEMORY)];

/// A column, and its operation.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The text in the plan.
    text: String,
    /// The operation's name; empty for columns of trials.
    pub operation: String,
    pub column: &'static Column,
}

impl PartialEq for Figure {
    fn eq(&self, other: &Figure) -> bool {
        (&self.operation, self.column.id) == (&other.operation, other.column.id)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

as_text!(Figure);

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = format1::current_figure_name(text);
        let figure = |operation: &str, column| {
            Ok(Figure { text: text.to_owned(), operation: operation.to_owned(), column })
        };
        let (operation, id) = text.split_once(' ').map_or((text, None), |(first, id)| (first, Some(id)));
        match (id, COLUMNS.iter().find(|column| column.id == id.unwrap_or(text))) {
            (None, Some(column)) if column.is_of_operation() => Err(format!(
                "{text} is a figure of operations: say of which, like {:?}",
                format!("get {text}")
            )),
            (None, Some(column)) => figure("", column),
            (None, None) => Ok(Figure::from_row(text)),
            (Some(_), Some(column)) if column.is_of_operation() => figure(operation, column),
            (Some(id), Some(_)) => Err(format!("{id} is a figure of whole trials: write it alone")),
            (Some(id), None) => {
                let ids = COLUMNS.iter().filter(|column| column.is_of_operation()).map(|column| column.id);
                Err(format!("{text:?} is no figure: there is no column {id:?}{}", did_you_mean(id, ids)))
            }
        }
    }
}

fn did_you_mean<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    meant(word, names).map_or(String::new(), |meant| format!(" (did you mean {meant}?)"))
}

impl Figure {
    /// The figure of a matrix row: an operation's mean latency, space, memory.
    pub fn from_row(name: &str) -> Figure {
        let short = SHORT.iter().find(|(short, _)| *short == name);
        let (operation, column) = short.map_or((name, &MEAN_LATENCY), |(_, column)| ("", *column));
        Figure { text: name.to_owned(), operation: operation.to_owned(), column }
    }

    pub(super) fn check(&self, operations: &[&str]) -> Result<(), String> {
        if self.operation.is_empty() || operations.contains(&self.operation.as_str()) {
            return Ok(());
        }
        let trial_columns = COLUMNS.iter().filter(|column| !column.is_of_operation()).map(|column| column.id);
        let names = operations.iter().copied().chain(SHORT.map(|(name, _)| name)).chain(trial_columns);
        Err(format!(
            "{:?} is no figure{}: say an operation ({}), space, memory, or a column",
            self.operation,
            did_you_mean(&self.operation, names),
            operations.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_the_matrix_and_the_columns_name_them() {
        for (text, operation, id) in [
            ("insert", "insert", "latency_mean"),
            ("get latency_p99", "get", "latency_p99"),
            ("space", "", "space_efficiency"),
            ("memory", "", "memory_peak_above_base"),
            ("disk_allocated", "", "disk_allocated"),
        ] {
            let figure: Figure = text.parse().unwrap();
            assert_eq!((figure.operation.as_str(), figure.column.id), (operation, id));
            assert_eq!(figure.check(&["insert", "get"]), Ok(()));
            assert_eq!(figure.to_string(), text);
        }
        assert_eq!(Figure::from_row("space"), "space_efficiency".parse().unwrap());
        assert_eq!("files_given_back".parse::<Figure>().unwrap().column.id, "files_after_reclaim");
        assert_eq!(Figure::from_row("get"), "get latency_mean".parse().unwrap());
    }

    #[test]
    fn what_is_no_figure_is_told() {
        let error = |text: &str| text.parse::<Figure>().unwrap_err();
        assert!(error("latency_p99").contains("\"get latency_p99\""));
        assert!(error("get latency_p98").contains("did you mean latency_p9"));
        assert!(error("get disk_allocated").contains("write it alone"));
        let unknown = "inserts".parse::<Figure>().unwrap().check(&["insert", "get"]).unwrap_err();
        assert!(unknown.contains("\"inserts\" is no figure (did you mean insert?)"), "{unknown}");
    }
}
