use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::result::Failure;
use storebench_model::store::{Guarantee, OpenFn, OpenOptions, Result, Session, StoreDef, StoreError};
use storebench_model::stores::{FLAT_FOLDER, MEMORY, NULL};

use super::*;
use crate::workload::parameter::Parameters;
use crate::workload::spec::Spec;

fn trial(stores: &[StoreDef], store: &str, guarantee: &str) -> std::result::Result<Measurements, TrialError> {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let cell = Cell::new(store)
        .with(Axis::TRANSACTIONS, Axis::TRANSACTIONS.read("3").unwrap())
        .with(Axis::STATEMENTS, Axis::STATEMENTS.read("20").unwrap())
        .with(Axis::GUARANTEE, Axis::GUARANTEE.read(guarantee).unwrap());
    let spec =
        Spec { seed: 7, ..Spec::unwatched(cell, directory, "batch".parse().unwrap(), Parameters::default()) };
    run(&TrialContext { stores, spec: &spec, reach: None })
}

#[test]
fn records_are_inserted_selected_and_deleted() {
    for (store, guarantee) in
        [("memory", "default"), ("flat-folder", "process"), ("flat-folder", "power"), ("null", "default")]
    {
        let measured = trial(&[MEMORY, FLAT_FOLDER, NULL], store, guarantee).unwrap();
        let counts: Vec<(&str, u64)> = measured
            .operations
            .iter()
            .map(|operation| (operation.operation.as_str(), operation.count))
            .collect();
        assert_eq!(counts, [("insert", 3), ("select", 3), ("delete", 3)], "{store}");
        assert_eq!(measured.written.unwrap().records, 60, "{store}");
        assert_eq!(measured.audit.is_some(), store == "flat-folder");
        if guarantee == "power" {
            assert_eq!(measured.guarantee, Guarantee::Power);
        }
    }
}

struct FaultyStore(Box<dyn Store>, Fault);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Changes,
    /// One of a batch is not inserted.
    Forgets,
    /// One of a batch is not deleted.
    Keeps,
}

impl Store for FaultyStore {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(FaultySession(self.0.session()?, self.1)))
    }
    storebench_model::pass_on!(0: guarantee, count, settle, settings, close);
}

struct FaultySession<'s>(Box<dyn Session + 's>, Fault);

impl Session for FaultySession<'_> {
    storebench_model::pass_on!(0: insert, update, remove);
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let changes = self.1 == Fault::Changes;
        self.0.get(key, &mut |value| if changes { visit(&value[1..]) } else { visit(value) })
    }
    fn scan(&mut self, _: &[u8], _: usize, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        Err(StoreError::Unsupported("not here".into()))
    }
    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.0.insert_batch(&records[usize::from(self.1 == Fault::Forgets)..])
    }
    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        self.0.remove_batch(&keys[usize::from(self.1 == Fault::Keeps)..])
    }
}

fn open_faulty(options: &OpenOptions<'_>, fault: Fault) -> Result<Box<dyn Store>> {
    Ok(Box::new(FaultyStore(MEMORY.open.unwrap()(options)?, fault)))
}

#[test]
fn what_goes_wrong_is_found() {
    let cases: [(OpenFn, &str); 3] = [
        (&|options| open_faulty(options, Fault::Changes), "otherwise than it was inserted"),
        (&|options| open_faulty(options, Fault::Forgets), "but should have 20"),
        (&|options| open_faulty(options, Fault::Keeps), "but 0 were written"),
    ];
    for (open, expected) in cases {
        let store = StoreDef { name: "wrong", open: Ok(open), ..MEMORY };
        match trial(&[store], "wrong", "default") {
            Err(TrialError::Failed(stop)) => {
                assert_eq!(stop.failure, Failure::WrongData, "{}", stop.message);
                assert!(stop.message.contains(expected), "{expected}: {}", stop.message);
            }
            result => panic!("{expected}: {result:?}"),
        }
    }
}
