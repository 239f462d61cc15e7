//! The settings of the folders: how keys are spread over directories, how a file is written, what is synced. No engine could
//! ignore them; the guarantee follows from them.

use super::path::Layout;
use crate::store::{
    Danger, GivenSettings, Guarantee, Loss, OpenOptions, Result, Setting, SettingDef, hold_to_tier,
};

const LEVELS: SettingDef = SettingDef::new("levels", "1 to 4", "2", "levels of directories above a file")
    .read_by(READ_BY_STOREBENCH)
    .tune(&["1", "3"]);
const LEVEL_BYTES: SettingDef = SettingDef::new(
    "level_bytes",
    "1 to 3",
    "2",
    "bytes of the key that name a directory: its fan-out, 16 for each byte with keys of hexadecimal digits",
)
.read_by(READ_BY_STOREBENCH)
.tune(&["1"]);
const WRITE: SettingDef = SettingDef::new(
    "write",
    "overwrite or rename",
    "overwrite; rename at power",
    "overwrite empties the file and writes it; rename writes another file and gives it the name",
)
.varying()
.guarantee("with overwrite, a kill or a power cut can leave the value torn that is being written")
.capabilities(|value, capabilities| capabilities.replaces_whole |= value == "rename")
.read_by(READ_BY_STOREBENCH)
.tune(&["rename"]);
const SYNC_FILE: SettingDef =
    SettingDef::new("sync_file", "true or false", "false; true at power", "fsync of a file that was written")
        .varying()
        .guarantee("without it a power cut can leave new values empty: process")
        .read_by(READ_BY_STOREBENCH);
const SYNC_FOLDER: SettingDef = SettingDef::new(
    "sync_folder",
    "true or false",
    "false; true at power",
    "fsync of a file's directory after each write and removal, and of new directories above it",
).varying()
.guarantee("without it a power cut can take new files back, and bring removed ones back: process; both syncs together are power")
.read_by(READ_BY_STOREBENCH);

const READ_BY_STOREBENCH: &str = "nothing need be asked: storebench itself makes the calls, and tests look at the files and count the syncs";

pub(super) const FLAT_SETTINGS: &[SettingDef] = &[WRITE, SYNC_FILE, SYNC_FOLDER];
pub(super) const NESTED_SETTINGS: &[SettingDef] = &[LEVELS, LEVEL_BYTES, WRITE, SYNC_FILE, SYNC_FOLDER];

/// `process` lacks a sync or both.
pub(super) const UNSYNCED: &[Danger] = &[
    Danger {
        settings: &[("write", "rename"), ("sync_file", "true")],
        ..Danger::new(Loss::Nothing, Loss::Newest, "a name can be missing that was not synced")
    },
    Danger {
        settings: &[("write", "rename")],
        ..Danger::new(Loss::Nothing, Loss::Torn, "a file can be there without its content")
    },
    Danger::new(
        Loss::Unfinished,
        Loss::Torn,
        "a file can be left empty or cut short, with write=rename only by a power cut",
    ),
];

pub(super) const SYNCED: &[Danger] = &[
    Danger {
        settings: &[("write", "overwrite")],
        ..Danger::new(Loss::Unfinished, Loss::Unfinished, "a file is emptied before it is written")
    },
    Danger::NOTHING[0],
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Config {
    pub layout: Layout,
    /// Write under a temporary name that replaces the old file; otherwise overwrite the file.
    pub rename: bool,
    pub sync_file: bool,
    pub sync_folder: bool,
}

impl Config {
    /// The configuration for these options; `layout` is the default. Fails when they can't be met, or give another guarantee than asked for.
    pub fn new(options: &OpenOptions<'_>, layout: Layout, known: &[SettingDef]) -> Result<Config> {
        let given = GivenSettings::new(options, known)?;
        let number = |name| Ok(given.number(name, range(name))?.map(|number| number as usize));
        let layout = Layout {
            levels: number(LEVELS.name)?.unwrap_or(layout.levels),
            level_bytes: number(LEVEL_BYTES.name)?.unwrap_or(layout.level_bytes),
        };
        let is_power = options.guarantee == Some(Guarantee::Power);
        let word = given.word(WRITE.name, &["overwrite", "rename"])?;
        let config = Config {
            layout,
            rename: word.map_or(is_power, |word| word == "rename"),
            sync_file: given.flag(SYNC_FILE.name)?.unwrap_or(is_power),
            sync_folder: given.flag(SYNC_FOLDER.name)?.unwrap_or(is_power),
        };
        hold_to_tier(options, config.guarantee())?;
        Ok(config)
    }

    pub fn guarantee(&self) -> Guarantee {
        if self.sync_file && self.sync_folder { Guarantee::Power } else { Guarantee::Process }
    }

    pub fn settings(&self) -> Vec<Setting> {
        let Config { layout, rename, sync_file, sync_folder } = self;
        let mut settings = vec![Setting::unverified(LEVELS.name, layout.levels)];
        if layout.levels > 0 {
            settings.push(Setting::unverified(LEVEL_BYTES.name, layout.level_bytes));
        }
        settings.extend([
            Setting::unverified(WRITE.name, if *rename { "rename" } else { "overwrite" }),
            Setting::unverified(SYNC_FILE.name, sync_file),
            Setting::unverified(SYNC_FOLDER.name, sync_folder),
        ]);
        settings
    }
}

/// A layout setting's range, which leaves a name for a key of 32 bytes.
fn range(name: &str) -> std::ops::RangeInclusive<u64> {
    if name == LEVELS.name { 1..=4 } else { 1..=3 }
}
