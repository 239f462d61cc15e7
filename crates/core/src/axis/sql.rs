//! The axes of workloads over SQL tables.

use super::def::{AxisDef, Form, Presence, Role};
use super::value::Value;
use super::words::WORDS;
use crate::sanitize::quoted;
use crate::units::{parse_count, plural, with_commas};

const MOST_ROWS: u64 = 100_000_000;

const MOST_STATEMENTS: u64 = 100_000;

const MOST_TRANSACTIONS: u64 = 10_000_000;

pub(super) static ROWS: AxisDef = AxisDef {
    name: "rows",
    order: 1042,
    value_name: "N,...",
    help: "Rows that the table holds before the first transaction",
    many: "numbers of rows",
    presence: Presence::Always(21),
    role: Role::Column,
    form: Form::Number,
    read: |text| count(text, "rows"),
    check: |rows| match rows.lower() {
        0..=MOST_ROWS => Ok(()),
        _ => Err(format!("{rows} rows are too many: at most {}", with_commas(MOST_ROWS))),
    },
    words: |rows| plural(rows.lower(), "row"),
    ..WORDS
};

pub(super) static STATEMENTS: AxisDef = AxisDef {
    name: "statements",
    order: 1043,
    value_name: "N,...",
    help: "Statements in each transaction",
    many: "statements a transaction",
    presence: Presence::Off("1"),
    role: Role::Row,
    form: Form::Number,
    read: |text| count(text, "statements"),
    check: |statements| match statements.lower() {
        0 => Err("a transaction has 0 statements: it must have at least 1".into()),
        1..=MOST_STATEMENTS => Ok(()),
        _ => Err(format!("{statements} statements are too many: at most {}", with_commas(MOST_STATEMENTS))),
    },
    words: |statements| format!("{} a transaction", plural(statements.lower(), "statement")),
    ..WORDS
};

pub(super) static TRANSACTIONS: AxisDef = AxisDef {
    name: "transactions",
    order: 1044,
    value_name: "N,...",
    help: "Transactions of each kind, on a table that is empty at first",
    many: "numbers of transactions",
    presence: Presence::Always(22),
    role: Role::Column,
    form: Form::Number,
    read: |text| count(text, "transactions"),
    check: |transactions| match transactions.lower() {
        0 => Err("the number of transactions is 0: it must be at least 1".into()),
        1..=MOST_TRANSACTIONS => Ok(()),
        _ => Err(format!(
            "{transactions} transactions are too many: at most {}",
            with_commas(MOST_TRANSACTIONS)
        )),
    },
    words: |transactions| plural(transactions.lower(), "transaction"),
    ..WORDS
};

fn count(text: &str, noun: &str) -> Result<Value, String> {
    let number = parse_count(text)
        .map_err(|_| format!("{} is not a number of {noun}: write it like 1000", quoted(text)))?;
    Ok(number.into())
}
