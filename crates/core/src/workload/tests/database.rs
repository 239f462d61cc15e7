//! A small database in memory that takes the statements which workloads send, and nothing else.

use std::collections::BTreeMap;
use std::sync::Mutex;

use storebench_model::store::sql::{SqlSession, SqlType, SqlValue, StatementId, statement};
use storebench_model::store::{Result, StoreError};

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    fn from_sql(value: &SqlValue<'_>) -> Value {
        match value {
            SqlValue::Null => Value::Null,
            SqlValue::Integer(number) => Value::Integer(*number),
            SqlValue::Real(number) => Value::Real(*number),
            SqlValue::Text(text) => Value::Text((*text).to_owned()),
            SqlValue::Blob(bytes) => Value::Blob(bytes.to_vec()),
        }
    }

    fn show(&self) -> SqlValue<'_> {
        match self {
            Value::Null => SqlValue::Null,
            Value::Integer(number) => SqlValue::Integer(*number),
            Value::Real(number) => SqlValue::Real(*number),
            Value::Text(text) => SqlValue::Text(text),
            Value::Blob(bytes) => SqlValue::Blob(bytes),
        }
    }

    fn integer(&self) -> i64 {
        if let Value::Integer(number) = self { *number } else { panic!("{self:?} is no integer") }
    }
}

/// By the first column, the primary key.
#[derive(Debug, Default)]
struct Table {
    columns: Vec<String>,
    rows: BTreeMap<i64, Vec<Value>>,
}

impl Table {
    fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
    }

    fn keys(&self, column: &str, value: &Value) -> Vec<i64> {
        match self.column(column) {
            0 => self.rows.contains_key(&value.integer()).then(|| value.integer()).into_iter().collect(),
            column_index => {
                self.rows.iter().filter(|(_, row)| row[column_index] == *value).map(|(key, _)| *key).collect()
            }
        }
    }
}

#[derive(Default)]
pub struct Database(Mutex<BTreeMap<String, Table>>);

impl Database {
    pub fn session(&self) -> impl SqlSession {
        Connection { database: self, statements: Vec::new() }
    }
}

struct Connection<'d> {
    database: &'d Database,
    statements: Vec<Vec<String>>,
}

fn words(sql: &str) -> Vec<String> {
    let is_separator = |letter: char| letter.is_whitespace() || "(),=;".contains(letter);
    sql.split(is_separator).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn words_between<'w>(words: &'w [String], from: &str, to: &[&str]) -> &'w [String] {
    let Some(start) = words.iter().position(|word| word == from) else { return &[] };
    let rest = &words[start + 1..];
    &rest[..rest.iter().position(|word| to.contains(&word.as_str())).unwrap_or(rest.len())]
}

impl SqlSession for Connection<'_> {
    fn type_name(&self, sql_type: SqlType) -> &'static str {
        ["INTEGER", "REAL", "TEXT", "BLOB"][sql_type as usize]
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        for statement in sql.split(';').filter(|statement| statement.contains("CREATE TABLE")) {
            let (head, columns) = statement.split_once('(').unwrap();
            let name = words(head).pop().unwrap();
            let columns = columns.split(',').map(|column| words(column)[0].clone()).collect();
            self.database.0.lock().unwrap().insert(name, Table { columns, rows: BTreeMap::new() });
        }
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<StatementId> {
        self.statements.push(words(sql));
        Ok(StatementId(self.statements.len() - 1))
    }

    fn run(&mut self, prepared: StatementId, values: &[SqlValue<'_>]) -> Result<u64> {
        let words = statement(&mut self.statements, prepared)?;
        let mut tables = self.database.0.lock().unwrap();
        let values: Vec<Value> = values.iter().map(Value::from_sql).collect();
        let name = match words[0].as_str() {
            "UPDATE" => &words[1],
            _ => &words[2],
        };
        let table = tables.get_mut(name).unwrap();
        if words[0] == "INSERT" {
            let replaced = table.rows.insert(values[0].integer(), values);
            return if replaced.is_none() { Ok(1) } else { Err(StoreError::Exists) };
        }
        let (column, value) = (&words_between(words, "WHERE", &[])[0], values.last().unwrap());
        let keys = table.keys(column, value);
        for key in &keys {
            if words[0] == "DELETE" {
                table.rows.remove(key);
                continue;
            }
            let set = words_between(words, "SET", &["WHERE"]);
            let adds = set.iter().any(|word| word == "+");
            let names = if adds { &set[..1] } else { set };
            let names = names.iter().filter(|word| *word != "?");
            for (name, value) in names.zip(&values) {
                let column_index = table.column(name);
                let cell = &mut table.rows.get_mut(key).unwrap()[column_index];
                *cell = if adds { Value::Integer(cell.integer() + value.integer()) } else { value.clone() };
            }
        }
        Ok(keys.len() as u64)
    }

    fn query(
        &mut self,
        prepared: StatementId,
        values: &[SqlValue<'_>],
        visit: &mut dyn FnMut(&[SqlValue<'_>]),
    ) -> Result<u64> {
        let words = statement(&mut self.statements, prepared)?;
        let tables = self.database.0.lock().unwrap();
        let table = &tables[&words_between(words, "FROM", &["WHERE", "ORDER"])[0]];
        let columns = words_between(words, "SELECT", &["FROM"]);
        if columns[0] == "count" {
            visit(&[SqlValue::Integer(table.rows.len() as i64)]);
            return Ok(1);
        }
        let keys = match words_between(words, "WHERE", &["ORDER"]).first() {
            Some(column) => table.keys(column, &Value::from_sql(&values[0])),
            None => table.rows.keys().copied().collect(),
        };
        let mut rows: Vec<&Vec<Value>> = keys.iter().map(|key| &table.rows[key]).collect();
        let order: Vec<usize> =
            words_between(words, "BY", &[]).iter().map(|name| table.column(name)).collect();
        rows.sort_by_key(|row| {
            order.iter().map(|column_index| row[*column_index].integer()).collect::<Vec<_>>()
        });
        let column_indexes: Vec<usize> = columns.iter().map(|name| table.column(name)).collect();
        for row in &rows {
            visit(&column_indexes.iter().map(|column_index| row[*column_index].show()).collect::<Vec<_>>());
        }
        Ok(rows.len() as u64)
    }

    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn roll_back(&mut self) -> Result<()> {
        Err(StoreError::Unsupported("nothing is undone here".into()))
    }

    fn check_settings(&mut self) -> Result<()> {
        Ok(())
    }
}
