//! Values as the protocol of MySQL and MariaDB carries them where statements are prepared: in binary.

use mysql_common::constants::{ColumnFlags, ColumnType, Command};
use mysql_common::io::{BufMutExt, ParseBuf};
use mysql_common::packets;
use storebench_model::store::sql::SqlValue;
use storebench_model::store::{Result, StoreError};

/// The character set of bytes.
const BINARY: u16 = 63;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Integer { bytes: usize, signed: bool },
    Real { bytes: usize },
    Text,
    Blob,
    Nothing,
}

impl ColumnKind {
    pub fn from_column(column: &packets::Column) -> ColumnKind {
        use ColumnType as Type;
        let integer = |bytes| ColumnKind::Integer {
            bytes,
            signed: !column.flags().contains(ColumnFlags::UNSIGNED_FLAG),
        };
        match column.column_type() {
            Type::MYSQL_TYPE_TINY => integer(1),
            Type::MYSQL_TYPE_SHORT | Type::MYSQL_TYPE_YEAR => integer(2),
            Type::MYSQL_TYPE_LONG | Type::MYSQL_TYPE_INT24 => integer(4),
            Type::MYSQL_TYPE_LONGLONG => integer(8),
            Type::MYSQL_TYPE_FLOAT => ColumnKind::Real { bytes: 4 },
            Type::MYSQL_TYPE_DOUBLE => ColumnKind::Real { bytes: 8 },
            Type::MYSQL_TYPE_NULL => ColumnKind::Nothing,
            // As the bytes that they are sent in.
            Type::MYSQL_TYPE_DATE
            | Type::MYSQL_TYPE_TIME
            | Type::MYSQL_TYPE_DATETIME
            | Type::MYSQL_TYPE_TIMESTAMP => ColumnKind::Blob,
            Type::MYSQL_TYPE_DECIMAL | Type::MYSQL_TYPE_NEWDECIMAL => ColumnKind::Text,
            _ if column.character_set() == BINARY => ColumnKind::Blob,
            _ => ColumnKind::Text,
        }
    }
}

pub fn write_execution<'v>(
    statement: u32,
    parameters: usize,
    values: impl Iterator<Item = SqlValue<'v>> + Clone,
    output: &mut Vec<u8>,
) {
    output.push(Command::COM_STMT_EXECUTE as u8);
    output.extend_from_slice(&statement.to_le_bytes());
    // No cursor, once.
    output.extend_from_slice(&[0, 1, 0, 0, 0]);
    if parameters == 0 {
        return;
    }
    let nulls = output.len();
    output.resize(nulls + parameters.div_ceil(8), 0);
    // The types follow.
    output.push(1);
    for (number, value) in values.clone().enumerate() {
        let (column_type, is_null) = match value {
            SqlValue::Null => (ColumnType::MYSQL_TYPE_NULL, true),
            SqlValue::Integer(_) => (ColumnType::MYSQL_TYPE_LONGLONG, false),
            SqlValue::Real(_) => (ColumnType::MYSQL_TYPE_DOUBLE, false),
            SqlValue::Text(_) => (ColumnType::MYSQL_TYPE_VAR_STRING, false),
            SqlValue::Blob(_) => (ColumnType::MYSQL_TYPE_BLOB, false),
        };
        output.extend_from_slice(&[column_type as u8, 0]);
        output[nulls + number / 8] |= u8::from(is_null) << (number % 8);
    }
    for value in values {
        match value {
            SqlValue::Null => {}
            SqlValue::Integer(number) => output.extend_from_slice(&number.to_le_bytes()),
            SqlValue::Real(number) => output.extend_from_slice(&number.to_le_bytes()),
            SqlValue::Text(text) => output.put_lenenc_str(text.as_bytes()),
            SqlValue::Blob(bytes) => output.put_lenenc_str(bytes),
        }
    }
}

pub fn read_row<'r>(
    row: &'r [u8],
    columns: &[ColumnKind],
    mut visit: impl FnMut(usize, SqlValue<'r>),
) -> Result<()> {
    let row_error = || StoreError::Engine("the server sent a row that can't be read".into());
    // A zero, then a bit for each column, from the third on.
    let (nulls, rest) =
        row.get(1..).and_then(|row| row.split_at_checked((columns.len() + 9) / 8)).ok_or_else(row_error)?;
    let mut rest = ParseBuf(rest);
    for (number, kind) in columns.iter().enumerate() {
        let bit = number + 2;
        let value = match nulls[bit / 8] >> (bit % 8) & 1 {
            1 => SqlValue::Null,
            _ => take_value(&mut rest, *kind).ok_or_else(row_error)?,
        };
        visit(number, value);
    }
    Ok(())
}

fn take_value<'r>(rest: &mut ParseBuf<'r>, kind: ColumnKind) -> Option<SqlValue<'r>> {
    Some(match kind {
        ColumnKind::Nothing => SqlValue::Null,
        ColumnKind::Integer { bytes, signed } => {
            let number = rest.checked_eat(bytes)?;
            let negative = signed && number.last().is_some_and(|last| last & 0x80 != 0);
            let mut wide = [if negative { 0xff } else { 0 }; 8];
            wide[..bytes].copy_from_slice(number);
            SqlValue::Integer(i64::from_le_bytes(wide))
        }
        ColumnKind::Real { bytes: 4 } => SqlValue::Real(rest.checked_eat_f32_le()?.into()),
        ColumnKind::Real { .. } => SqlValue::Real(rest.checked_eat_f64_le()?),
        ColumnKind::Text => {
            let bytes = rest.checked_eat_lenenc_str()?;
            std::str::from_utf8(bytes).map_or(SqlValue::Blob(bytes), SqlValue::Text)
        }
        ColumnKind::Blob => SqlValue::Blob(rest.checked_eat_lenenc_str()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_says_which_values_are_none() {
        let values = [SqlValue::Integer(-2), SqlValue::Null, SqlValue::Text("ab"), SqlValue::Blob(&[255])];
        let mut out = Vec::new();
        write_execution(7, 4, values.iter().copied(), &mut out);
        let head = [0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0b10, 1];
        let types = [8, 0, 6, 0, 253, 0, 252, 0];
        let values = [254, 255, 255, 255, 255, 255, 255, 255, 2, b'a', b'b', 1, 255];
        assert_eq!(out, [&head[..], &types, &values].concat());
        out.clear();
        write_execution(7, 0, std::iter::empty(), &mut out);
        assert_eq!(out.len(), 10);
    }

    #[test]
    fn a_row_is_cut_apart_by_what_its_columns_hold() {
        let columns = [
            ColumnKind::Integer { bytes: 4, signed: true },
            ColumnKind::Text,
            ColumnKind::Real { bytes: 8 },
            ColumnKind::Blob,
            ColumnKind::Integer { bytes: 1, signed: false },
            ColumnKind::Text,
            ColumnKind::Real { bytes: 4 },
        ];
        let mut row = vec![0, 0b1000_0000, 0];
        row.extend_from_slice(&(-5_i32).to_le_bytes());
        row.put_lenenc_str("é".as_bytes());
        row.extend_from_slice(&0.5_f64.to_le_bytes());
        row.put_lenenc_str(&[0, 255]);
        row.push(200);
        row.extend_from_slice(&1.5_f32.to_le_bytes());
        let mut seen = Vec::new();
        read_row(&row, &columns, |_, value| seen.push(value)).unwrap();
        let expected = [
            SqlValue::Integer(-5),
            SqlValue::Text("é"),
            SqlValue::Real(0.5),
            SqlValue::Blob(&[0, 255]),
            SqlValue::Integer(200),
            SqlValue::Null,
            SqlValue::Real(1.5),
        ];
        assert_eq!(seen, expected);
        assert!(read_row(&row[..row.len() - 1], &columns, |_, _| ()).is_err(), "cut off");
        assert!(read_row(&[0], &columns, |_, _| ()).is_err());
    }
}
