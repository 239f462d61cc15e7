//! The C library's functions, from one list: linked, and as pointers into a loaded library.

/// Makes `Functions` from declarations, and in a linked build the functions themselves and `LINKED`.
macro_rules! functions {
    ($(pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[cfg(rocksdb_linked)]
        unsafe extern "C" {
            $(pub fn $name($($argument: $type),*) $(-> $result)?;)*
        }

        #[allow(non_snake_case, reason = "names in C")]
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        #[cfg(rocksdb_linked)]
        pub static LINKED: Functions = Functions { $($name),* };

        impl Functions {
            /// The functions of a loaded library; the error is the first missing name.
            ///
            /// # Safety
            /// The library's functions have the types of the list, and it stays loaded.
            pub unsafe fn load(library: &libloading::os::unix::Library) -> Result<Functions, &'static str> {
                Ok(Functions {
                    // SAFETY: the caller's promise.
                    $($name: unsafe { *library.get(stringify!($name).as_bytes()).map_err(|_| stringify!($name))? },)*
                })
            }
        }
    };
}
pub(crate) use functions;
