//! The columns of a section's tables: their names in files, their types, and where people see them.

use storebench_figures::column::Unit;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, without the unit.
    pub id: &'static str,
    /// Its title for people.
    pub title: &'static str,
    pub(crate) kind: Kind,
    pub(crate) unit: Unit,
    pub(crate) place: ColumnRole,
    pub(crate) in_csv: bool,
    /// The name in SQL and JSON, without the unit; `None` to leave it out there.
    pub(crate) in_sql: Option<&'static str>,
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, or a list of texts.
    Text,
    /// Whole numbers, or truths.
    Whole,
    /// Numbers.
    Real,
    /// Numbers with their intervals: three columns in files.
    Estimate,
}

/// Where people see a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// Only in files.
    InFiles,
    /// As the title above rows with the same value.
    Group,
    /// In each line.
    Line,
    /// In each line, as a mark that does not name it.
    Mark,
    /// As column heads, one for each of its values.
    Across,
    /// Below each of those heads; several such columns share one place, line by line.
    Spread,
}

impl Column {
    const fn new(id: &'static str, kind: Kind, unit: Unit) -> Column {
        Column { id, title: "", kind, unit, place: ColumnRole::InFiles, in_csv: true, in_sql: Some(id) }
    }

    pub(crate) const fn text(id: &'static str) -> Column {
        Column::new(id, Kind::Text, Unit::Count)
    }

    /// A column of whole numbers or truths.
    pub(crate) const fn integer(id: &'static str) -> Column {
        Column::new(id, Kind::Whole, Unit::Count)
    }

    pub(crate) const fn real(id: &'static str, unit: Unit) -> Column {
        Column::new(id, Kind::Real, unit)
    }

    pub(crate) const fn estimate(id: &'static str, unit: Unit) -> Column {
        Column::new(id, Kind::Estimate, unit)
    }

    /// The column in a place for people, with this title.
    pub(crate) const fn role(self, place: ColumnRole, title: &'static str) -> Column {
        Column { place, title, ..self }
    }

    /// The column with another name in SQL and JSON.
    pub(crate) const fn sql(self, name: &'static str) -> Column {
        Column { in_sql: Some(name), ..self }
    }

    pub(crate) const fn only_csv(self) -> Column {
        Column { in_sql: None, ..self }
    }

    pub(crate) const fn only_sql(self) -> Column {
        Column { in_csv: false, ..self }
    }

    pub(crate) fn is_right(&self) -> bool {
        self.kind != Kind::Text
    }

    /// The names in CSV; empty if it is left out there.
    pub fn csv_names(&self) -> Vec<String> {
        if self.in_csv { self.names(self.id) } else { Vec::new() }
    }

    /// The names in SQL and JSON; empty if it is left out there.
    pub fn sql_names(&self) -> Vec<String> {
        self.in_sql.map_or_else(Vec::new, |name| self.names(name))
    }

    /// A name with the end of an interval, and the unit last.
    fn names(&self, name: &str) -> Vec<String> {
        let ends: &[&str] = if self.kind == Kind::Estimate { &["", "_low", "_high"] } else { &[""] };
        let unit = match self.unit.name() {
            "" => String::new(),
            unit => format!("_{unit}"),
        };
        ends.iter().map(|end| format!("{name}{end}{unit}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_last() {
        let column = Column::estimate("latency_mean", Unit::Nanoseconds).sql("mean");
        assert_eq!(column.csv_names(), ["latency_mean_ns", "latency_mean_low_ns", "latency_mean_high_ns"]);
        assert_eq!(column.sql_names(), ["mean_ns", "mean_low_ns", "mean_high_ns"]);
        assert_eq!(Column::integer("pairs").csv_names(), ["pairs"]);
        assert!(Column::text("row").only_csv().sql_names().is_empty());
    }
}
