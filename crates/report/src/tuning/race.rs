//! A race: settings that are measured together in blocks; between blocks, those that fall behind are given up.
//! Screening gives up what is certainly worse (racing: O. Maron and A. Moore, 1997; M. Birattari and others, F-Race, 2002).
//! Combinations and neighbours are halved at each look (successive halving: K. Jamieson and A. Talwalkar, 2016). A reported
//! gain does not rest on a race: it is measured again ([`Kind::Proof`]).

use std::collections::BTreeMap;

use storebench_model::words::words;

use storebench_figures::data::merge::BlockKey;
use storebench_figures::judge::settings::{is_better, is_surely_worse};
use storebench_figures::stats::{MIN_BLOCKS, Ratio, Series, compare_at};

/// Settings by the engine's names that differ from the default's.
pub type Settings = BTreeMap<String, String>;

/// The kind of a race, by its purpose, in running order. Its runs' study has the same name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::VariantNames, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case", prefix = "tune-")]
pub enum Kind {
    /// One value of one setting at a time, compared with the default.
    Screen,
    /// The values that look helpful, the best first, each added to the earlier ones.
    Combine,
    /// The best so far, with one setting changed, added or removed.
    Near,
    /// The best and the default, in blocks that took no part in the choice.
    Proof,
    /// The same two with other records.
    Beside,
}

words!(Kind, all);

impl Kind {
    /// The kind whose runs have a study of this name.
    pub fn from_study(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Numbers of blocks after which a race decides what continues; none has more.
pub const LOOKS: [u32; 5] = [3, 5, 8, 12, 20];

/// The most blocks of a race among neighbours: these need no more than a hint.
const NEAR_BLOCKS: u32 = 8;

/// The confidence with which a value is given up while screening.
const GIVE_UP: f64 = 0.99;

/// The smallest saving of one more setting, as a share of the time.
const MIN_EACH_SAVING: f64 = 0.01;

/// The default, always the first of a race's arms.
pub const DEFAULT: usize = 0;

/// One set of settings in a race, with its measurements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arm {
    /// The settings that differ from the default; empty for the default itself.
    pub settings: Settings,
    /// Mean time of an operation by block, in nanoseconds.
    pub times: Series<BlockKey>,
    /// Why it can't be used: it fails, promises less, needs too much memory.
    pub out: Option<String>,
}

impl Arm {
    /// An arm without measurements.
    pub fn new(settings: Settings) -> Arm {
        Arm { settings, ..Arm::default() }
    }
}

/// A race so far.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceResult {
    /// Its purpose.
    pub kind: Kind,
    /// The default, then its rivals.
    pub arms: Vec<Arm>,
}

impl RaceResult {
    /// The number of blocks that have begun.
    pub fn blocks(&self) -> u32 {
        let blocks = self.arms.iter().flat_map(|arm| arm.times.keys()).map(|key| key.block + 1);
        blocks.max().unwrap_or(0)
    }

    /// The arm that the others are compared with: the best so far among its neighbours, otherwise the default.
    pub fn control(&self) -> usize {
        match self.kind {
            Kind::Near => 1.min(self.arms.len().saturating_sub(1)),
            _ => DEFAULT,
        }
    }

    /// The time of an arm's operations as a multiple of the control's.
    pub fn ratio(&self, arm: usize, confidence: f64) -> Option<Ratio> {
        compare_at(&self.arms.get(arm)?.times, &self.arms.get(self.control())?.times, confidence)
    }

    fn is_rival(&self, arm: usize) -> bool {
        arm != DEFAULT && arm != self.control()
    }

    /// The rivals that continue, according to the looks so far.
    pub fn alive(&self) -> Vec<usize> {
        let mut alive: Vec<usize> =
            (0..self.arms.len()).filter(|arm| self.is_rival(*arm) && self.arms[*arm].out.is_none()).collect();
        for look in LOOKS.into_iter().filter(|look| *look <= self.blocks()) {
            let first = self.first_blocks(look);
            if first.is_complete(&alive) {
                alive = first.keep_best(alive);
            }
        }
        alive
    }

    /// Whether an arm is measured in further blocks.
    pub fn is_continued(&self, arm: usize) -> bool {
        let needed = arm == DEFAULT || arm == self.control();
        needed || self.alive().contains(&arm)
    }

    /// Whether no further block is needed.
    pub fn is_over(&self) -> bool {
        let (blocks, alive) = (self.blocks(), self.alive().len());
        let most = if self.kind == Kind::Near { NEAR_BLOCKS } else { LOOKS[LOOKS.len() - 1] };
        match self.kind {
            Kind::Screen | Kind::Near => alive == 0 || blocks >= most,
            Kind::Combine => alive <= 1 || blocks >= most,
            Kind::Proof | Kind::Beside => false,
        }
    }

    fn first_blocks(&self, blocks: u32) -> RaceResult {
        let cut = |arm: &Arm| Arm {
            times: arm.times.iter().filter(|(key, _)| key.block < blocks).map(|(k, v)| (*k, *v)).collect(),
            ..arm.clone()
        };
        RaceResult { kind: self.kind, arms: self.arms.iter().map(cut).collect() }
    }

    /// Whether these and the control ran in all blocks: an incomplete block decides nothing.
    fn is_complete(&self, arms: &[usize]) -> bool {
        let blocks = self.arms[self.control()].times.len();
        blocks >= MIN_BLOCKS && arms.iter().all(|arm| self.arms[*arm].times.len() == blocks)
    }

    fn keep_best(&self, mut alive: Vec<usize>) -> Vec<usize> {
        match self.kind {
            Kind::Screen => {
                alive.retain(|arm| !self.is_surely_worse(*arm));
                alive
            }
            Kind::Combine | Kind::Near => {
                alive.sort_by(|a, b| self.price(*a).total_cmp(&self.price(*b)));
                alive.truncate(alive.len().div_ceil(2));
                alive.sort_unstable();
                alive
            }
            Kind::Proof | Kind::Beside => alive,
        }
    }

    fn is_surely_worse(&self, arm: usize) -> bool {
        self.ratio(arm, GIVE_UP).is_some_and(|ratio| is_surely_worse(&ratio))
    }

    /// An arm's ratio to the control without its interval; infinite if there is none.
    pub fn value(&self, arm: usize) -> f64 {
        self.ratio(arm, 0.5).map_or(f64::INFINITY, |ratio| ratio.ratio.value)
    }

    /// The ratio, plus a little for each setting: of two equally good arms, the one with fewer continues.
    pub fn price(&self, arm: usize) -> f64 {
        self.value(arm) * (1.0 + MIN_EACH_SAVING * self.arms[arm].settings.len() as f64)
    }

    /// Whether an arm is better than the control by at least `least`, at this confidence for the single comparison.
    pub fn is_better(&self, arm: usize, least: f64, confidence: f64) -> bool {
        self.ratio(arm, confidence).is_some_and(|ratio| is_better(&ratio, least))
    }
}
