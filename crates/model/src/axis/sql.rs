//! The axes of workloads over SQL tables.

use super::def::{AxisDef, Form, Presence, Role};
use super::value::Value;
use super::words::{named, read_count};
use crate::units::{plural, with_commas};

pub(super) static ROWS: AxisDef = AxisDef {
    value_name: "N,...",
    help: "Rows that the table holds before the first transaction",
    presence: Presence::Always(21),
    role: Role::Column,
    form: Form::Number,
    read: |text| read_count(text, "rows", 1000),
    check: |rows| at_most(100_000_000, rows, "rows"),
    words: |rows| plural(rows.lower(), "row"),
    ..named("rows", 1042, "numbers of rows")
};

pub(super) static STATEMENTS: AxisDef = AxisDef {
    value_name: "N,...",
    help: "Statements in each transaction",
    presence: Presence::Off("1"),
    role: Role::Row,
    form: Form::Number,
    read: |text| read_count(text, "statements", 1000),
    check: |statements| match statements.lower() {
        0 => Err("a transaction has 0 statements: it must have at least 1".into()),
        _ => at_most(100_000, statements, "statements"),
    },
    words: |statements| format!("{} a transaction", plural(statements.lower(), "statement")),
    ..named("statements", 1043, "statements a transaction")
};

pub(super) static TRANSACTIONS: AxisDef = AxisDef {
    value_name: "N,...",
    help: "Transactions of each kind, on a table that is empty at first",
    presence: Presence::Always(22),
    role: Role::Column,
    form: Form::Number,
    read: |text| read_count(text, "transactions", 1000),
    check: |transactions| match transactions.lower() {
        0 => Err("the number of transactions is 0: it must be at least 1".into()),
        _ => at_most(10_000_000, transactions, "transactions"),
    },
    words: |transactions| plural(transactions.lower(), "transaction"),
    ..named("transactions", 1044, "numbers of transactions")
};

fn at_most(most: u64, count: &Value, noun: &str) -> Result<(), String> {
    match count.lower() <= most {
        true => Ok(()),
        false => Err(format!("{count} {noun} are too many: at most {}", with_commas(most))),
    }
}
