//! What a store or a session that holds another one leaves to it.

/// Implements methods of [`super::Store`] or [`super::Session`] by those of a field: `pass_on!(inner: count, settle);`.
#[doc(hidden)]
#[macro_export]
macro_rules! pass_on {
    ($field:tt: session) => {
        fn session(&self) -> $crate::store::Result<Box<dyn $crate::store::Session + '_>> {
            self.$field.session()
        }
    };
    ($field:tt: sql) => {
        fn sql(&self) -> $crate::store::Result<Box<dyn $crate::store::sql::SqlSession + '_>> {
            self.$field.sql()
        }
    };
    ($field:tt: guarantee) => {
        fn guarantee(&self) -> $crate::store::Guarantee {
            self.$field.guarantee()
        }
    };
    ($field:tt: count) => {
        fn count(&self) -> $crate::store::Result<u64> {
            self.$field.count()
        }
    };
    ($field:tt: settle) => {
        fn settle(&self) -> $crate::store::Result<()> {
            self.$field.settle()
        }
    };
    ($field:tt: settings) => {
        fn settings(&self) -> $crate::store::Result<Vec<$crate::store::Setting>> {
            self.$field.settings()
        }
    };
    ($field:tt: close) => {
        fn close(self: Box<Self>) -> $crate::store::Result<()> {
            self.$field.close()
        }
    };
    ($field:tt: insert) => {
        fn insert(&mut self, key: &[u8], value: &[u8]) -> $crate::store::Result<()> {
            self.$field.insert(key, value)
        }
    };
    ($field:tt: update) => {
        fn update(&mut self, key: &[u8], value: &[u8]) -> $crate::store::Result<()> {
            self.$field.update(key, value)
        }
    };
    ($field:tt: get) => {
        fn get(&mut self, key: &[u8], visit: &mut dyn FnMut(&[u8])) -> $crate::store::Result<bool> {
            self.$field.get(key, visit)
        }
    };
    ($field:tt: remove) => {
        fn remove(&mut self, key: &[u8]) -> $crate::store::Result<()> {
            self.$field.remove(key)
        }
    };
    ($field:tt: scan) => {
        fn scan(
            &mut self,
            from: &[u8],
            limit: usize,
            visit: &mut dyn FnMut(&[u8], &[u8]),
        ) -> $crate::store::Result<usize> {
            self.$field.scan(from, limit, visit)
        }
    };
    ($field:tt: insert_batch) => {
        fn insert_batch(&mut self, records: &[(&[u8], &[u8])]) -> $crate::store::Result<()> {
            self.$field.insert_batch(records)
        }
    };
    ($field:tt: $($name:ident),+) => {
        $($crate::pass_on!($field: $name);)+
    };
}
