//! Sessions over the interface of LMDB and its descendant libmdbx: a memory-mapped B+tree, read transactions that are kept, one
//! writer at a time.

mod environment;

use std::ffi::c_uint;

use storebench_core::store::{Capabilities, Result, Session, StoreError, Transaction, TransactionBody};

pub use self::environment::{Environment, Library, check};
use self::environment::{Reader, Writer};

/// How settings are read back.
pub const READ_BY: &str = "the environment's own account";

/// The limit of a setting that says how far the file can grow.
pub fn limit_bytes(value: &str, can: &mut Capabilities) {
    if let Ok(bytes) = value.parse() {
        can.max_bytes = bytes;
    }
}

/// Functions of [`Library`] that only call the library's.
macro_rules! calls {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $call:expr;)*) => {
        $(unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: the caller's promises.
            unsafe { $call }
        })*
    };
}
pub(crate) use calls;

pub fn session<L: Library>(environment: &Environment<L>) -> Result<Box<dyn Session + '_>> {
    Ok(Box::new(MappedSession { environment, reader: environment.reader()? }))
}

struct MappedSession<'a, L: Library> {
    environment: &'a Environment<L>,
    reader: Reader<'a, L>,
}

impl<L: Library> MappedSession<'_, L> {
    fn put_all(&self, records: &[(&[u8], &[u8])], flags: c_uint) -> Result<()> {
        self.environment
            .write(|writer| records.iter().try_for_each(|(key, value)| writer.put(key, value, flags)))
    }
}

impl<L: Library> Session for MappedSession<'_, L> {
    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.environment.write(|writer| writer.put(key, value, L::NO_OVERWRITE))
    }

    fn update(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.environment.write(|writer| writer.put(key, value, 0))
    }

    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.reader.snapshot()?.get(key)?.map(visit).is_some())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        match self.environment.write(|writer| writer.delete(key)) {
            Err(StoreError::Missing) => Ok(()),
            result => result,
        }
    }

    fn scan(&mut self, from: &[u8], limit: usize, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize> {
        self.reader.snapshot()?.scan(from, limit, visit)
    }

    fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<()> {
        self.put_all(records, L::NO_OVERWRITE)
    }

    fn remove_batch(&mut self, keys: &[&[u8]]) -> Result<()> {
        let ignore_missing = |result| if let Err(StoreError::Missing) = result { Ok(()) } else { result };
        self.environment.write(|writer| keys.iter().try_for_each(|key| ignore_missing(writer.delete(key))))
    }

    fn append_batch(&mut self, records: &[(&[u8], &[u8])]) -> Result<bool> {
        self.put_all(records, L::APPEND)?;
        Ok(true)
    }

    fn transact(&mut self, work: &mut TransactionBody<'_>) -> Result<()> {
        self.environment.write(|writer| work(writer))
    }
}

/// There is one write transaction at a time, so nobody else changes what it reads.
impl<L: Library> Transaction for Writer<'_, L> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        Ok(self.value(key)?.map(visit).is_some())
    }

    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Writer::put(self, key, value, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::testing::{new_folder, opened, setting};

    #[test]
    fn the_map_costs_no_disk_and_a_full_one_is_an_error_that_leaves_the_records() {
        for (name, size, file) in [("lmdb", "map_size", "data.mdb"), ("libmdbx", "size_upper", "mdbx.dat")] {
            let def = crate::STORES.iter().find(|def| def.name == name).unwrap();
            if def.open.is_err() {
                continue;
            }
            let folder = new_folder();
            let store = opened(def, &folder, None, &[]);
            assert_eq!(setting(&*store, size), def.capabilities.max_bytes.to_string());
            store.session().unwrap().insert(b"key", b"value").unwrap();
            assert!(folder.path().join(file).metadata().unwrap().len() < 1 << 20, "{name}");
            let full = [(size, "1048576")];
            assert_eq!(def.capabilities_with(full).max_bytes, 1 << 20);
            let folder = new_folder();
            let store = opened(def, &folder, None, &full);
            let mut session = store.session().unwrap();
            session.insert(b"small", b"value").unwrap();
            assert!(matches!(session.insert(b"large", &[0; 2 << 20]), Err(StoreError::Engine(_))), "{name}");
            assert!(session.get(b"small", &mut |value| assert_eq!(value, b"value")).unwrap());
            assert_eq!(store.count().unwrap(), 1);
        }
    }
}
