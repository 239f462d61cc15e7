//! Values as PostgreSQL's protocol carries them: in binary, by the numbers of their types.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use postgres_protocol::{IsNull, Oid};
use storebench_model::store::sql::SqlValue;

/// Type numbers, which never change (pg_type.dat).
pub const BOOL: Oid = 16;
pub const BYTEA: Oid = 17;
const NAME: Oid = 19;
pub const INT8: Oid = 20;
const INT2: Oid = 21;
pub const INT4: Oid = 23;
pub const TEXT: Oid = 25;
const FLOAT4: Oid = 700;
const FLOAT8: Oid = 701;
const BPCHAR: Oid = 1042;
pub const VARCHAR: Oid = 1043;

pub type Unfit = Box<dyn Error + Send + Sync>;

pub fn write(value: &SqlValue<'_>, sql_type: Oid, output: &mut BytesMut) -> Result<IsNull, Unfit> {
    match (*value, sql_type) {
        (SqlValue::Null, _) => return Ok(IsNull::Yes),
        (SqlValue::Integer(number), INT8) => output.put_i64(number),
        (SqlValue::Integer(number), INT4) => output.put_i32(i32::try_from(number)?),
        (SqlValue::Integer(number), INT2) => output.put_i16(i16::try_from(number)?),
        (SqlValue::Real(number), FLOAT8) => output.put_f64(number),
        (SqlValue::Text(text), TEXT | VARCHAR | BPCHAR | NAME) => output.put_slice(text.as_bytes()),
        (SqlValue::Blob(bytes), BYTEA) => output.put_slice(bytes),
        (value, sql_type) => {
            return Err(format!("{value:?} is no value of the type of number {sql_type}").into());
        }
    }
    Ok(IsNull::No)
}

/// A received value; `None` is NULL. Unknown types are shown as bytes.
pub fn read(bytes: Option<&[u8]>, sql_type: Oid) -> SqlValue<'_> {
    let Some(bytes) = bytes else { return SqlValue::Null };
    let converted = match sql_type {
        INT8 => bytes.try_into().ok().map(|bytes| SqlValue::Integer(i64::from_be_bytes(bytes))),
        INT4 => bytes.try_into().ok().map(|bytes| SqlValue::Integer(i32::from_be_bytes(bytes).into())),
        INT2 => bytes.try_into().ok().map(|bytes| SqlValue::Integer(i16::from_be_bytes(bytes).into())),
        FLOAT8 => bytes.try_into().ok().map(|bytes| SqlValue::Real(f64::from_be_bytes(bytes))),
        FLOAT4 => bytes.try_into().ok().map(|bytes| SqlValue::Real(f32::from_be_bytes(bytes).into())),
        BOOL => bytes.first().map(|byte| SqlValue::Integer((*byte).into())),
        TEXT | VARCHAR | BPCHAR | NAME => std::str::from_utf8(bytes).ok().map(SqlValue::Text),
        _ => None,
    };
    converted.unwrap_or(SqlValue::Blob(bytes))
}

/// The columns of a row: each has its length first, -1 for NULL.
#[derive(Debug, Clone)]
pub struct Columns<'r>(pub &'r [u8]);

impl<'r> Iterator for Columns<'r> {
    type Item = Option<&'r [u8]>;

    fn next(&mut self) -> Option<Option<&'r [u8]>> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            self.0 = rest;
            return Some(None);
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Some(value))
    }
}

/// Numbers the parameters for PostgreSQL: `?` becomes `$1`, `$2` and so on, except in quotes.
pub fn number_parameters(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 16);
    let (mut number, mut quote) = (0, None);
    for letter in sql.chars() {
        match (letter, quote) {
            ('?', None) => {
                number += 1;
                text.push_str(&format!("${number}"));
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were_written() {
        let values = [
            (SqlValue::Null, INT8),
            (SqlValue::Integer(i64::MIN), INT8),
            (SqlValue::Integer(-7), INT4),
            (SqlValue::Integer(300), INT2),
            (SqlValue::Real(-0.5), FLOAT8),
            (SqlValue::Text("é"), TEXT),
            (SqlValue::Text(""), VARCHAR),
            (SqlValue::Blob(&[0, 255]), BYTEA),
        ];
        for (value, sql_type) in values {
            let mut bytes = BytesMut::new();
            let is_value = matches!(write(&value, sql_type, &mut bytes).unwrap(), IsNull::No);
            assert_eq!(read(is_value.then_some(&bytes[..]), sql_type), value);
        }
        assert_eq!(read(Some(&[1]), BOOL), SqlValue::Integer(1));
        assert_eq!(read(Some(&[1, 2]), INT8), SqlValue::Blob(&[1, 2]));
    }

    #[test]
    fn what_a_type_does_not_take_is_refused() {
        let mut bytes = BytesMut::new();
        for (value, sql_type) in
            [(SqlValue::Integer(1 << 40), INT4), (SqlValue::Text("1"), INT8), (SqlValue::Blob(b""), TEXT)]
        {
            assert!(write(&value, sql_type, &mut bytes).is_err(), "{value:?}");
        }
    }

    #[test]
    fn columns_are_cut_apart() {
        let row = [0, 0, 0, 2, 7, 8, 255, 255, 255, 255, 0, 0, 0, 0];
        let columns: Vec<_> = Columns(&row).collect();
        assert_eq!(columns, [Some(&[7, 8][..]), None, Some(&[][..])]);
        assert_eq!(Columns(&[0, 0, 0, 9, 1]).count(), 0, "cut off");
    }

    #[test]
    fn parameters_are_numbered_but_in_quotes() {
        let numbered = number_parameters("UPDATE t SET a = ?, b = '?' WHERE \"c?\" = ?");
        assert_eq!(numbered, "UPDATE t SET a = $1, b = '?' WHERE \"c?\" = $2");
    }
}
