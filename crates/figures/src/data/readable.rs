//! Makes settings readable: sizes for people (`page_size=64KiB` for the plan's `page_size=65536`), and shipped values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use storebench_model::store::StoreDef;
use storebench_model::units::exact_bytes;

/// Smaller sizes stay in bytes.
const MIN_SHORTENED: u64 = 1024;

/// Which settings are sizes, and which values are shipped.
#[derive(Debug, Default)]
pub struct Readable {
    /// By name: all stores with this setting must mean bytes.
    sizes: BTreeSet<&'static str>,
    /// The defaults by store and setting.
    defaults: BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>,
}

impl Readable {
    /// From the tables of the stores that take part.
    pub fn from_stores<'s>(stores: impl IntoIterator<Item = &'s StoreDef>) -> Readable {
        let mut is_size: BTreeMap<&'static str, bool> = BTreeMap::new();
        let mut defaults: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for store in stores {
            for setting in store.settings {
                *is_size.entry(setting.name).or_insert(true) &= setting.is_in_bytes();
                defaults.entry(store.name).or_default().insert(setting.name, setting.default);
            }
        }
        let sizes = is_size.into_iter().filter(|(_, is_size)| *is_size).map(|(name, _)| name).collect();
        Readable { sizes, defaults }
    }

    /// A store's settings as shipped: each a value, or words.
    pub fn defaults(&self, store: &str) -> BTreeMap<&'static str, &'static str> {
        self.defaults.get(store).cloned().unwrap_or_default()
    }

    pub fn value<'v>(&self, setting: &str, value: &'v str) -> Cow<'v, str> {
        let read_size =
            || value.parse::<u64>().ok().filter(|size| *size >= MIN_SHORTENED && size.is_multiple_of(1024));
        match self.sizes.contains(setting).then(read_size).flatten() {
            Some(size) => Cow::Owned(exact_bytes(size)),
            None => Cow::Borrowed(value),
        }
    }

    /// A contestant's name, or other words separated by spaces, some of which are `setting=value`.
    pub fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let shorten_word = |word: &'n str| match word.split_once('=') {
            Some((setting, value)) => match self.value(setting, value) {
                Cow::Owned(value) => Cow::Owned(format!("{setting}={value}")),
                Cow::Borrowed(_) => Cow::Borrowed(word),
            },
            None => Cow::Borrowed(word),
        };
        if self.sizes.is_empty() || !name.contains('=') {
            return Cow::Borrowed(name);
        }
        Cow::Owned(name.split(' ').map(shorten_word).collect::<Vec<_>>().join(" "))
    }

    /// Whether any setting has a more readable form.
    pub fn is_any(&self) -> bool {
        !self.sizes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use storebench_model::store::{SettingDef, StoreKind};
    use storebench_model::stores::NULL;

    use super::*;

    /// A store with pages in bytes, and one whose cache is counted in pages.
    const STORES: [StoreDef; 2] = [
        StoreDef {
            name: "sqlite",
            kind: StoreKind::Engine,
            settings: &[
                SettingDef::new("page_size", "a power of two", "4096", "").bytes(),
                SettingDef::new("cache_size", "pages", "2000", ""),
            ],
            ..NULL
        },
        StoreDef {
            name: "redb",
            kind: StoreKind::Engine,
            settings: &[SettingDef::new("cache_size", "a size", "1073741824", "").bytes()],
            ..NULL
        },
    ];

    #[test]
    fn only_what_is_a_size_everywhere_is_shortened() {
        let readable = Readable::from_stores(&STORES);
        let name = readable.name("sqlite page_size=65536 cache_size=65536");
        assert_eq!(name, "sqlite page_size=64KiB cache_size=65536");
        let redb = Readable::from_stores(&STORES[1..]);
        assert_eq!(redb.name("redb cache_size=67108864"), "redb cache_size=64MiB");
        assert_eq!(readable.value("page_size", "512"), "512");
        assert_eq!(readable.value("page_size", "65537"), "65537");
        assert!(matches!(readable.name("redb"), Cow::Borrowed("redb")));
        assert_eq!(Readable::default().name("redb cache_size=67108864"), "redb cache_size=67108864");
    }
}
