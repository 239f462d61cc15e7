//! Types of C libraries that only the library looks into, each with its name in the header.

macro_rules! opaque {
    ($($name:ident: $in_header:literal,)*) => { $(
        #[doc = $in_header]
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )* };
}
pub(crate) use opaque;
