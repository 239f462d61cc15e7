//! The functions of a C library from one list: as they are linked, and as pointers, which may be those of a loaded library.

/// Makes `Functions` of declarations, and where the library is linked the functions themselves and `LINKED`.
macro_rules! functions {
    ($(pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[cfg(rocksdb_linked)]
        unsafe extern "C" {
            $(pub fn $name($($argument: $type),*) $(-> $result)?;)*
        }

        /// The functions of one build of the library, by their names in C.
        #[allow(non_snake_case, reason = "names in C")]
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        /// Those that this program is linked with.
        #[cfg(rocksdb_linked)]
        pub static LINKED: Functions = Functions { $($name),* };

        impl Functions {
            /// Those of a library that was loaded.
            ///
            /// # Safety The library's functions of these names have the types of the list, and it stays loaded.
            ///
            /// The error is the name of the first that it lacks.
            pub unsafe fn of(library: &libloading::os::unix::Library) -> Result<Functions, &'static str> {
                Ok(Functions {
                    // SAFETY: the caller's promise.
                    $($name: unsafe { *library.get(stringify!($name).as_bytes()).map_err(|_| stringify!($name))? },)*
                })
            }
        }
    };
}
pub(crate) use functions;
