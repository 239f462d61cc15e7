//! Rows of answers, column by column as they were sent.

use bytes::{Buf, Bytes};
use scylla_cql::frame::response::result::RawMetadataAndRawRows;
use storebench_core::store::Result;

use super::wire::odd;

/// The columns of a row; none where there is no value.
pub type Row = Vec<Option<Bytes>>;

/// All rows of an answer.
///
/// # Errors
/// Where they can't be read.
pub fn all(told: RawMetadataAndRawRows) -> Result<Vec<Row>> {
    let (count, columns, mut bytes) = opened(told)?;
    (0..count).map(|_| (0..columns).map(|_| column(&mut bytes)).collect()).collect()
}

/// The only column of the only row; none where there is no row.
///
/// # Errors
/// Where it can't be read.
pub fn only(told: RawMetadataAndRawRows) -> Result<Option<Bytes>> {
    let (count, _, mut bytes) = opened(told)?;
    // A value of no bytes is one, too.
    if count == 0 { Ok(None) } else { column(&mut bytes).map(|value| Some(value.unwrap_or_default())) }
}

/// A column, as a text.
pub fn text(row: &Row, at: usize) -> String {
    let bytes = row.get(at).and_then(Option::as_deref).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// A column, as a number that is not negative.
pub fn number(row: &Row, at: usize) -> Option<u64> {
    let mut bytes = row.get(at)?.as_deref()?;
    let number = match bytes.len() {
        4 => bytes.get_i32().into(),
        8 => bytes.get_i64(),
        _ => return None,
    };
    number.try_into().ok()
}

fn opened(told: RawMetadataAndRawRows) -> Result<(usize, usize, Bytes)> {
    let told = told.deserialize_metadata().map_err(|_| odd())?;
    Ok((told.rows_count(), told.metadata().col_count(), told.raw_rows().clone()))
}

fn column(bytes: &mut Bytes) -> Result<Option<Bytes>> {
    if bytes.len() < 4 {
        return Err(odd());
    }
    // Where there is no value, the length is negative.
    let Ok(length) = usize::try_from(bytes.get_i32()) else { return Ok(None) };
    if bytes.len() < length { Err(odd()) } else { Ok(Some(bytes.split_to(length))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_and_what_is_cut_short_is_refused() {
        let mut bytes = Bytes::from_static(b"\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0\0\0\0\x02a");
        assert_eq!(column(&mut bytes).unwrap().as_deref(), Some(&b"ab"[..]));
        assert_eq!(column(&mut bytes).unwrap(), None);
        assert_eq!(column(&mut bytes).unwrap().as_deref(), Some(&b""[..]));
        assert!(column(&mut bytes).is_err());
        let row = vec![Some(Bytes::from_static(&[0, 0, 0, 0, 0, 0, 0, 7])), None];
        assert_eq!((number(&row, 0), number(&row, 1), text(&row, 1).as_str()), (Some(7), None, ""));
    }
}
