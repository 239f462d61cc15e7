//! Tests of the memory that the driver keeps for itself.

use storebench_model::cell::Data;
use storebench_model::store::{OpenOptions, StoreDef};
use storebench_model::stores::{FLAT_FOLDER, MEMORY};
use storebench_model::units::SizeRange;

use super::*;
use crate::record::pool::Pool;

/// The buffer's size before and after a value of 1 MiB is read.
fn buffer(store: &StoreDef, visit: Visit) -> (usize, usize) {
    let size = SizeRange { from: 1 << 20, to: (1 << 20) + 1 };
    let records = Records::new(5, size, Pool::generate(Data::Incompressible, 5, size));
    let (clock, folder) = (Clock::new(), tempfile::tempdir().unwrap());
    let store = store.open.unwrap()(&OpenOptions::new(folder.path())).unwrap();
    let mut session = store.session().unwrap();
    let mut driver = Driver::new(&clock, &records, visit, true).unwrap();
    let mut buffer_after = |operation| {
        let mut quantum = Quantum::new(records.largest_value());
        quantum.plan(&records, operation, 0, 0, true);
        driver.run(session.as_mut(), &mut quantum).unwrap();
        driver.read_buffer.buffer.len()
    };
    (buffer_after(Operation::Insert), buffer_after(Operation::Get))
}

#[test]
fn the_application_s_buffer_is_made_for_the_first_value_unless_the_session_has_one() {
    let largest_value = (1 << 20) + 1;
    assert_eq!(buffer(&MEMORY, Visit::Copy), (0, largest_value));
    assert_eq!(buffer(&FLAT_FOLDER, Visit::Copy), (0, 0));
    // Where nothing is to be copied it serves the check alone, and is there from the start.
    assert_eq!(buffer(&MEMORY, Visit::Touch), (largest_value, largest_value));
    assert_eq!(buffer(&FLAT_FOLDER, Visit::Touch), (largest_value, largest_value));
}
