//! Enumerations whose values are words: `strum` derives the texts from the variants' names.

/// Gives an enumeration that derives `strum::VariantNames` its `name`, or, with `every`, one that derives `strum::VariantArray`
/// the list of its values; `all` does both; `shown` adds `Display`, and a sentence for unknown words `FromStr`. No variant may
/// have a number: names are found by the variants' order.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($type:ident) => {
        impl $type {
            /// The word for it, as in plans, on the command line, in results and in tables.
            pub const fn name(self) -> &'static str {
                <$type as strum::VariantNames>::VARIANTS[self as usize]
            }
        }
    };
    ($type:ident, every) => {
        impl $type {
            /// Every one, in order.
            pub const ALL: [$type; <$type as strum::VariantArray>::VARIANTS.len()] =
                match <$type as strum::VariantArray>::VARIANTS.first_chunk() {
                    Some(all) => *all,
                    None => unreachable!(),
                };
        }
    };
    ($type:ident, all) => {
        $crate::words!($type);
        $crate::words!($type, every);
    };
    ($type:ident, shown) => {
        $crate::words!($type, all);
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    ($type:ident, $wrong:literal) => {
        $crate::words!($type, shown);
        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let found = $type::ALL.into_iter().find(|word| word.name() == text);
                found.ok_or_else(|| format!($wrong, $crate::sanitize::quoted(text)))
            }
        }
    };
}
#[doc(inline)]
pub use words;
