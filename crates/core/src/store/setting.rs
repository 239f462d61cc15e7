//! What a store says of the settings that a user may give.

/// A setting that a user may give (`--set sqlite.page_size=8192`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingDef {
    /// The engine's own name for it.
    pub name: &'static str,
    /// The values that it takes, with their unit.
    pub values: &'static str,
    /// What holds where it is not given.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What it does to the guarantee; empty where nothing.
    pub promise: &'static str,
    /// How it is read back; empty where the engine can't be asked, so that results hold what was given.
    pub read_by: &'static str,
}

impl SettingDef {
    /// A setting that leaves the guarantee alone, and that the engine can't be asked for.
    pub const fn new(
        name: &'static str,
        values: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> SettingDef {
        SettingDef { name, values, default, help, promise: "", read_by: "" }
    }

    /// Whether its values are numbers of bytes.
    pub fn is_bytes(&self) -> bool {
        self.values.starts_with("bytes")
    }

    /// The same, which changes what writes survive.
    pub const fn promising(self, promise: &'static str) -> SettingDef {
        SettingDef { promise, ..self }
    }

    /// The same, which is read back so.
    pub const fn read_by(self, read_by: &'static str) -> SettingDef {
        SettingDef { read_by, ..self }
    }
}
