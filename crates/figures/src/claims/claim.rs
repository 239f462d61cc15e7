//! One claim: a published finding as a plan writes it, and its validity.

use serde::{Deserialize, Serialize};
use storebench_model::axis::Axis;
use storebench_model::units::Percent;

use super::expect::Expect;
use super::figure::Figure;
use super::pool::Scope;
use super::region::{Region, no_repeats};
use crate::stats::Better;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The finding, in storebench's own words: one sentence.
    pub says: String,
    /// Where the publication has it: section, figure or table.
    pub source: String,
    /// A remark for readers, on the finding or the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The figures, each checked separately.
    pub figure: Vec<Figure>,
    /// The stores that are compared; by default the study's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<String>,
    /// Whether each comparison is checked separately, or their mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub average: Average,
    #[serde(default = "full_share", skip_serializing_if = "is_full_share")]
    pub share: Percent,
    /// The part of the axes that the claim covers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Region,
    /// Groups that the claim excludes, such as a location that its source treats in another section.
    #[serde(default, skip_serializing_if = "is_default")]
    pub except: Region,
    /// The published tables behind its sentence; by default all of its groups; none if empty, as for a table that can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    pub expect: Expect,
    /// The line in the plan's text, from 1; 0 without a text.
    #[serde(skip)]
    pub line: usize,
}

fn full_share() -> Percent {
    Percent(100.0)
}

fn is_full_share(share: &Percent) -> bool {
    *share == full_share()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Which figures are averaged before the check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Only trials: each comparison (record size, records, data) is checked separately.
    #[default]
    None,
    /// Record sizes and counts, as in papers: the arithmetic mean, in which the largest records weigh most; of each kind of data.
    #[serde(alias = "places")]
    Comparisons,
    Stores,
}

impl Claim {
    /// The stores that are compared: the claim's, or the study's; all if neither names any.
    pub fn compared<'a>(&'a self, study_stores: &'a [String]) -> &'a [String] {
        if self.among.is_empty() { study_stores } else { &self.among }
    }

    /// The check in words: `berkeleydb the best by insert, at record_size 1B..10KiB, in 75% of the checks`.
    pub fn describe(&self) -> String {
        let figures: Vec<String> = self.figure.iter().map(ToString::to_string).collect();
        let mut words = self.expect.describe(&figures.join(", "));
        words.push_str(match self.average {
            Average::None => "",
            Average::Comparisons => ", by the mean over combinations",
            Average::Stores => ", by the mean over combinations and stores",
        });
        let regions = [self.at.places_in_words(), self.at.groups_in_words()];
        let regions: Vec<String> = regions.into_iter().filter(|words| !words.is_empty()).collect();
        if !regions.is_empty() {
            words.push_str(&format!(", at {}", regions.join(", ")));
        }
        if self.share.0 < 100.0 {
            words.push_str(&format!(", in {} of the checks", self.share));
        }
        words
    }

    /// Whether the claim covers figures of this scope.
    pub fn admits(&self, scope: &Scope) -> bool {
        self.at.admits(scope) && !self.except.contains(scope)
    }

    /// The stores without which it can't be judged: those that it names, and if it averages over stores, all of them.
    pub(super) fn needs(&self, study_stores: &[String]) -> Vec<String> {
        let mut needed = self.expect.stores();
        if self.average == Average::Stores || matches!(self.expect, Expect::Greatest(_)) {
            needed.extend(self.compared(study_stores).iter().cloned());
        }
        needed
    }

    /// Checks that it does not narrow axes whose values are `ranked`: it names the values that it compares.
    pub fn check_axes(&self, ranked: &[Axis]) -> Result<(), String> {
        let many = |axis: &Axis| axis.def().many;
        if let Some(axis) = ranked.iter().find(|axis| self.at.names(**axis)) {
            return Err(format!(
                "at names {axis}, whose values are ranked: leave it out of at, and name the {} in among",
                many(axis)
            ));
        }
        match ranked.iter().find(|axis| self.expect.axis() == Some(**axis)) {
            Some(axis) => Err(format!(
                "the axis {axis} is written differently: leave axis out, and name the {}",
                many(axis)
            )),
            None => Ok(()),
        }
    }

    /// Checks the claim; `operations` are the existing ones, `study_stores` the stores that the study's claims compare.
    pub fn check(&self, operations: &[&str], study_stores: &[String]) -> Result<(), String> {
        for (name, text) in [("says", &self.says), ("source", &self.source)] {
            if text.trim().is_empty() {
                return Err(format!(
                    "{name} is empty: say in a sentence what was found, and where it was published"
                ));
            }
        }
        if self.figure.is_empty() {
            return Err("figure is empty: say what the claim is about, such as [\"insert\"]".into());
        }
        for figure in &self.figure {
            figure.check(operations)?;
            if figure.column.better == Better::Neither && self.expect.ranks() {
                return Err(format!(
                    "no store is the best by {figure}: {} can't be expected of it",
                    self.expect.name()
                ));
            }
        }
        no_repeats("figure", &self.figure.iter().map(Figure::to_string).collect::<Vec<_>>())?;
        no_repeats("among", &self.among)?;
        self.at.check()?;
        self.except.check()?;
        if !self.except.places_in_words().is_empty() {
            return Err("except names what lies within a table: leave it out of at instead".into());
        }
        self.expect.check(&self.figure)?;
        self.check_stores(study_stores)?;
        if let Some(axis) = self.expect.axis()
            && self.at.names(axis)
        {
            return Err(format!(
                "at names {axis}, between whose values expect.{} compares: leave it out of at",
                self.expect.name()
            ));
        }
        let averages_stores = matches!(&self.expect, Expect::Ratio(ratio) if ratio.axis.is_some())
            || matches!(self.expect, Expect::Greatest(_));
        if self.average == Average::Stores && !averages_stores {
            return Err(
                "average = \"stores\" leaves no store to compare: it is for ratios between values of an axis"
                    .into(),
            );
        }
        Ok(())
    }

    fn check_stores(&self, study_stores: &[String]) -> Result<(), String> {
        let compared = self.compared(study_stores);
        let stores = self.expect.stores();
        no_repeats("stores", &stores)?;
        let is_behind = matches!(self.expect, Expect::Behind(_));
        if is_behind && !compared.is_empty() && compared.len() <= stores.len() {
            return Err(
                "expect.behind names all that are compared: leave out those that they are behind".into()
            );
        }
        match stores.iter().find(|store| !compared.is_empty() && !compared.contains(store)) {
            Some(stranger) => Err(format!(
                "expect.{} names the store {stranger:?}, which is not among those compared: {}",
                self.expect.name(),
                compared.join(", ")
            )),
            None => Ok(()),
        }
    }
}
