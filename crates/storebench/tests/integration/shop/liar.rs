//! An engine that changes its data when it is closed, after it was acknowledged and read back right.

use storebench_model::store::{OpenFn, OpenOptions, Result, Session, Store, StoreDef, StoreError};

/// The change that is made at the close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Nothing: it does what it says.
    Nothing,
    /// The newest order is lost, with its entry in the index.
    LosesOrder,
    /// An entry of the index is lost, if it is a separate record.
    LosesEntry,
    /// A customer is lost.
    LosesCustomer,
    /// A product's stock is what it was at first.
    OldStock,
}

type TrialParameters = &'static [(&'static str, &'static str)];

/// Each, with what is asked of the trial and what the failure says.
pub const LIES: &[(Lie, TrialParameters, &str)] = &[
    (Lie::Nothing, &[], ""),
    (Lie::LosesOrder, &[("shares", "buy=1")], "199 are there, after the trial"),
    (Lie::LosesEntry, &[], "the index has"),
    (Lie::LosesCustomer, &[], "of customers is missing, after the trial"),
    (Lie::OldStock, &[("shares", "restock=1")], "but its orders and deliveries leave"),
];

pub fn lying(store: &StoreDef, lie: Lie) -> StoreDef {
    let name = if store.capabilities.sql { "sqlite" } else { "lmdb" };
    let open: OpenFn = Box::leak(Box::new(move |options: &OpenOptions<'_>| open(name, options, lie)));
    StoreDef { open: Ok(open), ..store.clone() }
}

fn open(name: &str, options: &OpenOptions<'_>, lie: Lie) -> Result<Box<dyn Store>> {
    let store = storebench::STORES.iter().find(|store| store.name == name);
    let open = store.ok_or_else(|| StoreError::Unsupported(name.into()))?.open;
    let open = open.map_err(|reason| StoreError::Unsupported(reason.into()))?;
    Ok(Box::new(Liar { inner: open(options)?, lie, sql: name == "sqlite" }))
}

struct Liar {
    inner: Box<dyn Store>,
    lie: Lie,
    sql: bool,
}

impl Store for Liar {
    storebench_model::pass_on!(inner: session, sql, guarantee, count, settle, settings);
    fn close(self: Box<Self>) -> Result<()> {
        if self.sql {
            self.inner.sql()?.execute(lie_in_sql(self.lie))?;
        } else {
            lie_in_records(self.lie, self.inner.session()?.as_mut())?;
        }
        self.inner.close()
    }
}

/// An index of SQL is the engine's own, and no statement takes an entry from it: only records have that lie.
fn lie_in_sql(lie: Lie) -> &'static str {
    match lie {
        Lie::Nothing | Lie::LosesEntry => "",
        Lie::LosesOrder => "DELETE FROM orders WHERE order_id = (SELECT max(order_id) FROM orders)",
        Lie::LosesCustomer => {
            "DELETE FROM customers WHERE customer_id = (SELECT max(customer_id) FROM customers)"
        }
        Lie::OldStock => "UPDATE products SET quantity = quantity - 1",
    }
}

fn lie_in_records(lie: Lie, session: &mut dyn Session) -> Result<()> {
    let last_key = |session: &mut dyn Session, first: u8| -> Result<Vec<u8>> {
        let mut last_key = Vec::new();
        session.scan(&[first], usize::MAX, &mut |key, _| {
            if key.first() == Some(&first) {
                last_key = key.to_vec();
            }
        })?;
        Ok(last_key)
    };
    match lie {
        Lie::Nothing => Ok(()),
        Lie::LosesOrder => {
            let order = last_key(session, b'o')?;
            let mut entry = Vec::new();
            session.scan(b"a", usize::MAX, &mut |key, _| {
                if key.first() == Some(&b'a') && key.ends_with(&order[1..]) {
                    entry = key.to_vec();
                }
            })?;
            session.remove(&order)?;
            session.remove(&entry)
        }
        Lie::LosesEntry => {
            let entry = last_key(session, b'a')?;
            session.remove(&entry)
        }
        Lie::LosesCustomer => {
            let customer = last_key(session, b'c')?;
            session.remove(&customer)
        }
        Lie::OldStock => {
            let product = last_key(session, b'p')?;
            let mut value = Vec::new();
            session.get(&product, &mut |found| value = found.to_vec())?;
            // The lowest byte of the stock, which lies behind the price.
            value[11] ^= 1;
            session.update(&product, &value)
        }
    }
}
