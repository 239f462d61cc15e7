//! What an accident can do to a store that is being written to. The stores' tables state it; answers report it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Guarantee;
use super::setting::Setting;
use crate::result::Harm;
use crate::words::words;

/// The damage that an accident can do. The order is the order of safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Loss {
    /// The store may be damaged, or refuse to open.
    #[serde(alias = "damages")]
    Whole,
    /// The store may be damaged or refuse to open if the file system orders writes badly; the engine's authors call the chance very small.
    #[serde(alias = "rarely-damages")]
    RarelyWhole,
    /// The store may refuse to open until a hand repairs it; what was acknowledged is there.
    ByHand,
    /// The newest writes, and a value may be left empty, cut short or mixed.
    Torn,
    /// The newest writes, which may be many; the store is whole without them.
    #[serde(alias = "takes-recent")]
    Newest,
    /// The last write; the store is whole without it.
    #[serde(alias = "takes-last")]
    Last,
    /// The value that is being written, which may be left empty, cut short or mixed; every other acknowledged write is kept.
    Unfinished,
    /// Every acknowledged write is kept.
    #[serde(alias = "takes-nothing")]
    Nothing,
}

words!(Loss, all);

impl Loss {
    /// After "can cost".
    pub fn describe(self) -> &'static str {
        match self {
            Loss::Whole => "the whole store",
            Loss::RarelyWhole => "the whole store, though rarely",
            Loss::ByHand => "a repair by hand before it opens",
            Loss::Torn => "the newest writes, and can leave a torn value",
            Loss::Newest => "the newest writes",
            Loss::Last => "the last write",
            Loss::Unfinished => "the value being written, which can be left torn",
            Loss::Nothing => "nothing",
        }
    }

    /// Whether it can be the whole store.
    pub fn is_of_store(self) -> bool {
        self <= Loss::RarelyWhole
    }

    /// Whether a value can be left torn, so that neither the old nor the new one is there.
    pub fn can_tear(self) -> bool {
        matches!(self, Loss::Unfinished | Loss::Torn | Loss::Whole | Loss::RarelyWhole)
    }
}

/// After the accident's name: `can cost the newest writes`, `costs nothing`.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Nothing => f.pad("costs nothing"),
            cost => f.pad(&format!("can cost {}", cost.describe())),
        }
    }
}

/// The damage that a kill of the process and a power cut can do to a store at one guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Danger {
    /// Settings and their values, as read back, with which this holds; it needs all of them.
    pub settings: &'static [(&'static str, &'static str)],
    /// When the process is killed.
    pub kill: Loss,
    /// When the power is cut, or the kernel crashes.
    pub power_cut: Loss,
    /// The reason, in half a sentence; may be empty.
    pub why: &'static str,
}

impl Danger {
    /// The danger with any settings.
    pub const fn new(kill: Loss, power_cut: Loss, why: &'static str) -> Danger {
        Danger { settings: &[], kill, power_cut, why }
    }

    /// Neither accident costs an acknowledged write.
    pub const NOTHING: &'static [Danger] = &[Danger::new(Loss::Nothing, Loss::Nothing, "")];

    /// A kill costs nothing, a power cut the newest writes.
    pub const NEWEST: &'static [Danger] = &[Danger::new(Loss::Nothing, Loss::Newest, "")];

    /// A kill costs nothing; a power cut may keep a later write and lose an earlier one.
    pub const HOLES: &'static [Danger] =
        &[Danger::new(Loss::Nothing, Loss::Newest, "it can keep a later write and lose an earlier one")];

    /// Whether it holds with these settings.
    pub fn applies_to(&self, settings: &[Setting]) -> bool {
        let is_set = |(name, value): &(&str, &str)| {
            settings.iter().any(|setting| setting.name == *name && setting.value == *value)
        };
        self.settings.iter().all(is_set)
    }

    /// Whether a power cut can cost the whole store, or a repair by hand.
    pub fn can_wreck(&self) -> bool {
        self.power_cut <= Loss::ByHand
    }

    /// Whether it covers a harm that a check showed at a guarantee.
    pub fn covers(&self, harm: Harm, guarantee: Guarantee) -> bool {
        match harm {
            Harm::ByHand => self.can_wreck(),
            Harm::Torn => self.power_cut.can_tear(),
            // Beyond the newest.
            Harm::Created => true,
            Harm::Lost if guarantee == Guarantee::Process => self.power_cut.is_of_store(),
            Harm::Lost | Harm::Hole => self.power_cut <= Loss::Last && self.power_cut != Loss::ByHand,
        }
    }
}

/// One line: "A kill costs nothing; a power cut can cost the newest writes."
impl fmt::Display for Danger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kill, self.power_cut) {
            (kill, cut) if kill == cut => write!(f, "A kill or a power cut {kill}")?,
            (Loss::Nothing, cut) => write!(f, "A kill costs nothing; a power cut {cut}")?,
            (kill, cut) => write!(f, "A kill {kill}; a power cut {}", cut.describe())?,
        }
        if !self.why.is_empty() {
            write!(f, " ({})", self.why)?;
        }
        f.write_str(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_danger_is_told_in_one_line() {
        let torn = Danger::new(Loss::Unfinished, Loss::Torn, "it is a file");
        let whole = Danger::new(Loss::Whole, Loss::Whole, "");
        let rarely = Danger::new(Loss::Nothing, Loss::RarelyWhole, "");
        for (danger, words) in [
            (Danger::NOTHING[0], "A kill or a power cut costs nothing."),
            (Danger::NEWEST[0], "A kill costs nothing; a power cut can cost the newest writes."),
            (
                torn,
                "A kill can cost the value being written, which can be left torn; a power cut the newest writes, and can leave \
                 a torn value (it is a file).",
            ),
            (whole, "A kill or a power cut can cost the whole store."),
            (rarely, "A kill costs nothing; a power cut can cost the whole store, though rarely."),
        ] {
            assert_eq!(danger.to_string(), words);
        }
        assert!(torn.kill.can_tear() && torn.power_cut.can_tear() && !Loss::Newest.can_tear());
        assert!(whole.can_wreck() && rarely.can_wreck() && !torn.can_wreck());
    }

    #[test]
    fn losses_are_in_the_order_of_safety_and_older_results_name_them_otherwise() {
        assert!(Loss::ALL.is_sorted() && Loss::Newest < Loss::Last);
        let older = ["damages", "rarely-damages", "takes-recent", "takes-last", "takes-nothing"];
        let losses = [Loss::Whole, Loss::RarelyWhole, Loss::Newest, Loss::Last, Loss::Nothing];
        for (word, loss) in older.into_iter().zip(losses) {
            assert_eq!(serde_json::from_str::<Loss>(&format!("\"{word}\"")).unwrap(), loss);
            let written = serde_json::to_string(&loss).unwrap();
            assert_eq!(serde_json::from_str::<Loss>(&written).unwrap(), loss);
        }
    }

    #[test]
    fn settings_as_read_back_decide() {
        let unsynced =
            Danger { settings: &[("synchronous", "0"), ("journal_mode", "wal")], ..Danger::NEWEST[0] };
        let settings = [Setting::read_back("synchronous", 0), Setting::read_back("journal_mode", "wal")];
        assert!(
            unsynced.applies_to(&settings)
                && !unsynced.applies_to(&settings[..1])
                && Danger::NEWEST[0].applies_to(&[])
        );
    }
}
