//! A library's table as owned values, which the process that loads it passes on, and its check.

use serde::{Deserialize, Serialize};

use super::ffi;
use crate::store::Guarantee;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DescribedStore {
    pub name: String,
    pub summary: String,
    pub practice: String,
    pub version: String,
    pub codec: Option<String>,
    pub flags: u64,
    pub max_key_bytes: u64,
    pub max_bytes: u64,
    pub sessions: i32,
    pub shipped: i32,
    pub offers: Vec<DescribedOffer>,
    pub settings: Vec<DescribedSetting>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DescribedOffer {
    pub tier: i32,
    pub atomic_replace: bool,
    pub kill_costs: i32,
    pub power_cut_costs: i32,
    pub settings: String,
    pub why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DescribedSetting {
    pub name: String,
    pub values: String,
    pub default: String,
    pub help: String,
    pub promise: String,
    pub tune: String,
    pub in_bytes: bool,
}

impl DescribedStore {
    /// Whether a flag of the header is set.
    pub fn has_flag(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// Checks what can be checked before the store is opened. The error names the field.
    pub fn check(&self) -> Result<(), String> {
        let is_well_formed = |name: &str, other_bytes: &[u8]| {
            let is_allowed =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || other_bytes.contains(&byte);
            !name.is_empty() && name.len() <= 40 && name.bytes().all(is_allowed)
        };
        if !is_well_formed(&self.name, b"-") || !self.name.split('-').all(|word| !word.is_empty()) {
            let expected = "lower-case letters, digits and hyphens between words";
            return Err(format!("the name {:?} has others than {expected}, or more than 40", self.name));
        }
        let reject = |problem: String| Err(format!("{}: {problem}", self.name));
        for (field, text) in [("summary", &self.summary), ("version", &self.version)] {
            if text.is_empty() {
                return reject(format!("{field} is empty"));
            }
        }
        if self.flags & !ffi::ALL_FLAGS != 0 {
            return reject(format!("flags has unknown bits: {:#x}", self.flags & !ffi::ALL_FLAGS));
        }
        if self.max_key_bytes < 32 {
            return reject(format!("max_key_bytes is {}, but at least 32 are needed", self.max_key_bytes));
        }
        if !(0..=2).contains(&self.sessions) {
            let known = "SB_ONE, SB_ONE_WRITER and SB_MANY";
            return reject(format!("sessions is {}, which is none of {known}", self.sessions));
        }
        self.check_offers()?;
        for setting in &self.settings {
            let DescribedSetting { name, help, .. } = setting;
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_allowed) {
                let expected = "letters, digits, _ and -";
                return reject(format!("the setting {name:?} has others than {expected} in its name"));
            }
            if help.is_empty() {
                return reject(format!("the setting {name} has no help"));
            }
            if self.settings.iter().filter(|second| second.name == *name).count() > 1 {
                return reject(format!("there are two settings {name}"));
            }
        }
        Ok(())
    }

    fn check_offers(&self) -> Result<(), String> {
        let reject = |problem: &str| Err(format!("{}: {problem}", self.name));
        if self.offers.is_empty() || !self.offers.is_sorted_by(|offer, next| offer.tier < next.tier) {
            return reject("offers has none, or the weakest is not first");
        }
        for offer in &self.offers {
            if !(0..=2).contains(&offer.tier) {
                return reject("an offer's tier is none of SB_NONE, SB_PROCESS and SB_POWER");
            }
            if ![offer.kill_costs, offer.power_cut_costs].iter().all(|loss| (0..=6).contains(loss)) {
                return reject("an offer's kill_costs or power_cut_costs is none of SB_WHOLE to SB_NOTHING");
            }
            if offer.settings.is_empty() {
                return reject("an offer does not name the settings that give it");
            }
        }
        if !self.offers.iter().any(|offer| offer.tier == self.shipped) {
            return reject("shipped is not the tier of an offer");
        }
        Ok(())
    }
}

/// A guarantee by its number in the header, which has none for several machines; the weakest for an unchecked number.
pub fn guarantee_by_number(number: i32) -> Guarantee {
    let guarantee = usize::try_from(number).ok().and_then(|index| Guarantee::ALL.get(index)).copied();
    guarantee.filter(|tier| *tier != Guarantee::Node).unwrap_or_default()
}
