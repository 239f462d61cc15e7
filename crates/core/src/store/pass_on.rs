//! What a store or a session that holds another one leaves to it.

/// Implements methods of [`super::Store`] or [`super::Session`] by those of a field: `pass_on!(inner: count, settle);`.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on {
    ($at:tt: session) => {
        fn session(&self) -> $crate::store::Result<Box<dyn $crate::store::Session + '_>> {
            self.$at.session()
        }
    };
    ($at:tt: sql) => {
        fn sql(&self) -> $crate::store::Result<Box<dyn $crate::store::sql::SqlSession + '_>> {
            self.$at.sql()
        }
    };
    ($at:tt: guarantee) => {
        fn guarantee(&self) -> $crate::store::Guarantee {
            self.$at.guarantee()
        }
    };
    ($at:tt: count) => {
        fn count(&self) -> $crate::store::Result<u64> {
            self.$at.count()
        }
    };
    ($at:tt: settle) => {
        fn settle(&self) -> $crate::store::Result<()> {
            self.$at.settle()
        }
    };
    ($at:tt: settings) => {
        fn settings(&self) -> $crate::store::Result<Vec<$crate::store::Setting>> {
            self.$at.settings()
        }
    };
    ($at:tt: close) => {
        fn close(self: Box<Self>) -> $crate::store::Result<()> {
            self.$at.close()
        }
    };
    ($at:tt: insert) => {
        fn insert(&mut self, key: &[u8], value: &[u8]) -> $crate::store::Result<()> {
            self.$at.insert(key, value)
        }
    };
    ($at:tt: update) => {
        fn update(&mut self, key: &[u8], value: &[u8]) -> $crate::store::Result<()> {
            self.$at.update(key, value)
        }
    };
    ($at:tt: get) => {
        fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> $crate::store::Result<bool> {
            self.$at.get(key, visit)
        }
    };
    ($at:tt: remove) => {
        fn remove(&mut self, key: &[u8]) -> $crate::store::Result<()> {
            self.$at.remove(key)
        }
    };
    ($at:tt: scan) => {
        fn scan(
            &mut self,
            from: &[u8],
            limit: usize,
            visit: &mut dyn FnMut(&[u8], &[u8]),
        ) -> $crate::store::Result<usize> {
            self.$at.scan(from, limit, visit)
        }
    };
    ($at:tt: insert_batch) => {
        fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> $crate::store::Result<()> {
            self.$at.insert_batch(records)
        }
    };
    ($at:tt: $($name:ident),+) => {
        $($crate::pass_on!($at: $name);)+
    };
}
