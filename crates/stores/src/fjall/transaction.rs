//! fjall's optimistic transactions: nothing is locked; what a transaction has read is compared when it commits.

use fjall::{Keyspace, OptimisticTxDatabase, OptimisticWriteTx, PersistMode, Readable};
use storebench_core::store::{Result, StoreError, Transaction, TransactionBody};

use super::check;

/// Runs `work` in a transaction, which commits unless `work` fails.
pub fn run(
    database: &OptimisticTxDatabase,
    keyspace: &Keyspace,
    persist: Option<PersistMode>,
    work: &mut TransactionBody<'_>,
) -> Result<()> {
    let transaction = database.write_tx().map_err(StoreError::engine)?;
    let mut open_transaction = OpenTransaction { transaction: transaction.durability(persist), keyspace };
    // Where `work` fails, the transaction is dropped, and with it all that it has put.
    work(&mut open_transaction)?;
    let committed = open_transaction.transaction.commit().map_err(StoreError::engine)?;
    committed.map_err(|conflict| StoreError::Conflict(conflict.to_string()))
}

struct OpenTransaction<'a> {
    transaction: OptimisticWriteTx,
    keyspace: &'a Keyspace,
}

impl Transaction for OpenTransaction<'_> {
    fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        check(key, &[])?;
        let value = self.transaction.get(self.keyspace, key).map_err(StoreError::engine)?;
        Ok(value.map(|value| visit(&value)).is_some())
    }

    /// Every read is compared at the commit, so this is one.
    fn get_to_change(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.get(key, visit)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check(key, value)?;
        self.transaction.insert(self.keyspace, key, value);
        Ok(())
    }
}
