//! The kind, size and number of records for which a question is answered.

use storebench_model::cell::{Axis, Cell, Data};
use storebench_model::units::{CountRange, Sizes};

use storebench_figures::layout::Position;

/// The kind of bytes in the values, the sizes of values, and the number of records.
pub type RecordShape = (Data, Sizes, CountRange);

/// Where a cell's trials were made.
pub fn record_shape(cell: &Cell) -> RecordShape {
    (cell.data(), cell.record_size(), cell.records())
}

/// The position of such records in reports.
pub fn position((data, size, records): RecordShape) -> Position {
    Position::from_values([
        (Axis::DATA, data.into()),
        (Axis::RECORD_SIZE, size.into()),
        (Axis::RECORDS, records.into()),
    ])
}

/// Sizes and numbers of records with which a question was measured.
pub type SizesAndCounts = (Sizes, CountRange);
