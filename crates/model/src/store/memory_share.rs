//! An engine's caches as parts of its machine's memory, for the tuning `share`: one for each setting, as the engine's
//! documentation advises, or storebench if that is silent.

/// A setting's part of the memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryShare {
    /// The part as a fraction: numerator and denominator.
    pub part: (u64, u64),
    /// The engine takes multiples of this, in bytes.
    pub step: u64,
    /// Whether each session has a cache, so that they divide the part.
    pub by_session: bool,
    /// Another setting, and its value with which alone the part is taken.
    pub only_with: Option<(&'static str, &'static str)>,
    /// The advice of the engine's documentation, and what follows from it, in a sentence.
    pub says: &'static str,
    /// Where it says that.
    pub source: &'static str,
    /// Converts bytes into the setting's unit.
    format: fn(u64) -> String,
}

impl MemoryShare {
    /// One of so many parts.
    pub const fn one_in(parts: u64, says: &'static str, source: &'static str) -> MemoryShare {
        let format: fn(u64) -> String = |bytes| bytes.to_string();
        MemoryShare { part: (1, parts), step: 1, by_session: false, only_with: None, says, source, format }
    }

    /// Takes this number of parts.
    pub const fn times(self, numerator: u64) -> MemoryShare {
        MemoryShare { part: (numerator, self.part.1), ..self }
    }

    /// Takes the part only if another setting has this value.
    pub const fn only_with(self, name: &'static str, value: &'static str) -> MemoryShare {
        MemoryShare { only_with: Some((name, value)), ..self }
    }

    /// Rounds to multiples of `step` bytes, for engines that need that.
    pub const fn rounded_to(self, step: u64) -> MemoryShare {
        MemoryShare { step, ..self }
    }

    /// Divides the part by the sessions, if each has a cache.
    pub const fn by_session(self) -> MemoryShare {
        MemoryShare { by_session: true, ..self }
    }

    /// Writes the setting in another form than as a number of bytes.
    pub const fn written(self, format: fn(u64) -> String) -> MemoryShare {
        MemoryShare { format, ..self }
    }

    /// The part in words: `1/4 of the memory, if engine=tree`.
    pub fn describe(&self) -> String {
        let (numerator, denominator) = self.part;
        let sessions = if self.by_session { ", divided by the sessions" } else { "" };
        let only = self.only_with.map_or(String::new(), |(name, value)| format!(", if {name}={value}"));
        format!("{numerator}/{denominator} of the memory{sessions}{only}")
    }

    /// The setting's value on a machine with this memory in bytes.
    pub fn value(&self, memory: u64, sessions: u64) -> String {
        let (numerator, denominator) = self.part;
        let whole_share = u128::from(memory) * u128::from(numerator) / u128::from(denominator.max(1));
        let bytes = if self.by_session { whole_share / u128::from(sessions.max(1)) } else { whole_share };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        (self.format)(bytes - bytes % self.step.max(1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::{SettingDef, StoreDef};
    use crate::stores::MEMORY;

    const KIB: MemoryShare =
        MemoryShare::one_in(4, "", "").by_session().written(|bytes| format!("-{}", bytes / 1024));
    const PAGES: MemoryShare = MemoryShare::one_in(3, "", "").rounded_to(8192);
    const STORE: StoreDef = StoreDef {
        settings: &[
            SettingDef::new("engine", "a or b", "a", "which one"),
            SettingDef::new("of-b", "a size", "1", "another engine's")
                .share(PAGES.times(2).only_with("engine", "b")),
            SettingDef::new("cache", "a size", "1", "a cache").share(PAGES),
            SettingDef::new("other", "a size", "1", "another").share(KIB),
            SettingDef::new("page", "a size", "1", "no cache"),
        ],
        ..MEMORY
    };

    #[test]
    fn a_share_is_a_part_in_steps_that_sessions_may_divide() {
        assert_eq!(PAGES.value(64 << 20, 4), ((64 << 20) / 3 / 8192 * 8192).to_string());
        assert_eq!((KIB.value(64 << 20, 4).as_str(), KIB.value(64 << 20, 0).as_str()), ("-4096", "-16384"));
        assert_eq!(PAGES.value(u64::MAX, 1), (u64::MAX / 3 / 8192 * 8192).to_string());
        assert_eq!((PAGES.describe().as_str(), PAGES.value(8000, 1).as_str()), ("1/3 of the memory", "0"));
        assert_eq!(KIB.describe(), "1/4 of the memory, divided by the sessions");
    }

    #[test]
    fn what_is_given_stays_and_the_rest_gets_its_share() {
        let mut given = BTreeMap::from([("cache".to_owned(), "5".to_owned())]);
        STORE.share_out(1 << 20, 2, &mut given);
        let expected = [("cache", "5"), ("other", "-128")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(given, BTreeMap::from(expected));
        MEMORY.share_out(1 << 20, 2, &mut given);
        assert_eq!(given.len(), 2);
        let mut other = BTreeMap::from([("engine".to_owned(), "b".to_owned())]);
        STORE.share_out(3 << 20, 1, &mut other);
        assert_eq!(other.get("of-b").map(String::as_str), Some("2097152"));
    }
}
