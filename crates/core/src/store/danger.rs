//! What an accident can cost a store that is being written to. The stores' tables say it; answers tell it.

use std::fmt;

use super::Setting;

/// What an accident can cost, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// Every acknowledged write is kept.
    Nothing,
    /// The value that is being written, which may be left empty, cut short or mixed; every acknowledged write is kept.
    Unfinished,
    /// The newest writes; the store is whole without them.
    Newest,
    /// The newest writes, and a value may be left empty, cut short or mixed.
    Torn,
    /// The store may be damaged, or refuse to open.
    Whole,
}

impl Loss {
    /// After "can cost".
    pub fn words(self) -> &'static str {
        match self {
            Loss::Nothing => "nothing",
            Loss::Unfinished => "the value being written, which can be left torn",
            Loss::Newest => "the newest writes",
            Loss::Torn => "the newest writes, and can leave a torn value",
            Loss::Whole => "the whole store",
        }
    }

    /// Whether a value can be left torn, so that neither the old nor the new one is there.
    pub fn can_tear(self) -> bool {
        matches!(self, Loss::Unfinished | Loss::Torn | Loss::Whole)
    }
}

/// What a kill of the process and a power cut can cost, of a store at one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Danger {
    /// Settings and their values, as read back, with which this holds; it needs all of them.
    pub with: &'static [(&'static str, &'static str)],
    /// When the process is killed.
    pub kill: Loss,
    /// When the power is cut, or the kernel crashes.
    pub power_cut: Loss,
    /// How that comes, in half a sentence; may be empty.
    pub why: &'static str,
}

impl Danger {
    /// With any settings.
    pub const fn of(kill: Loss, power_cut: Loss, why: &'static str) -> Danger {
        Danger { with: &[], kill, power_cut, why }
    }

    /// Neither accident costs an acknowledged write.
    pub const NOTHING: &'static [Danger] = &[Danger::of(Loss::Nothing, Loss::Nothing, "")];

    /// A kill costs nothing, a power cut the newest writes.
    pub const NEWEST: &'static [Danger] = &[Danger::of(Loss::Nothing, Loss::Newest, "")];

    /// Whether it holds with these settings.
    pub fn holds(&self, settings: &[Setting]) -> bool {
        let is = |(name, value): &(&str, &str)| {
            settings.iter().any(|setting| setting.name == *name && setting.value == *value)
        };
        self.with.iter().all(is)
    }

    /// Whether a power cut can cost the whole store.
    pub fn can_wreck(&self) -> bool {
        self.power_cut == Loss::Whole
    }
}

/// One line: "A kill costs nothing; a power cut can cost the newest writes."
impl fmt::Display for Danger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kill, self.power_cut) {
            (Loss::Nothing, Loss::Nothing) => f.write_str("A kill or a power cut costs nothing")?,
            (kill, cut) if kill == cut => write!(f, "A kill or a power cut can cost {}", kill.words())?,
            (Loss::Nothing, cut) => {
                write!(f, "A kill costs nothing; a power cut can cost {}", cut.words())?;
            }
            (kill, cut) => {
                write!(f, "A kill can cost {}; a power cut {}", kill.words(), cut.words())?;
            }
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
        assert_eq!(Danger::NOTHING[0].to_string(), "A kill or a power cut costs nothing.");
        assert_eq!(
            Danger::NEWEST[0].to_string(),
            "A kill costs nothing; a power cut can cost the newest writes."
        );
        let torn = Danger::of(Loss::Unfinished, Loss::Torn, "it is a file");
        assert_eq!(
            torn.to_string(),
            "A kill can cost the value being written, which can be left torn; a power cut the newest writes, and can leave a torn \
             value (it is a file)."
        );
        assert!(torn.kill.can_tear() && torn.power_cut.can_tear() && !Loss::Newest.can_tear());
        let whole = Danger::of(Loss::Whole, Loss::Whole, "");
        assert_eq!(whole.to_string(), "A kill or a power cut can cost the whole store.");
        assert!(whole.can_wreck() && !torn.can_wreck());
    }

    #[test]
    fn settings_as_read_back_decide() {
        let unsynced = Danger { with: &[("synchronous", "0"), ("journal_mode", "wal")], ..Danger::NEWEST[0] };
        let settings = [Setting::read_back("synchronous", 0), Setting::read_back("journal_mode", "wal")];
        assert!(unsynced.holds(&settings) && !unsynced.holds(&settings[..1]) && Danger::NEWEST[0].holds(&[]));
    }
}
