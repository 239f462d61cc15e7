//! What a user who asks for advice knows: how many records, how large, what is done to them, and what matters.

use std::fmt;
use std::str::FromStr;

use storebench_core::cell::Data;
use storebench_core::shown::quoted;
use storebench_core::store::Guarantee;
use storebench_core::units::{SizeRange, grouped, rough_bytes, three_digits};
use storebench_core::workload::operation::Operation;

/// The question that advice answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// How many records the store holds.
    pub records: u64,
    /// The sizes of their values.
    pub size: SizeRange,
    /// What the values are made of.
    pub data: Data,
    /// What an acknowledged write must survive.
    pub guarantee: Guarantee,
    /// Sessions at work at once.
    pub threads: u32,
    /// What is done to the records.
    pub mix: Mix,
    /// What the best store is best at.
    pub goal: Goal,
    /// The most memory that a store may take above the process's base, in bytes.
    pub max_memory_bytes: Option<u64>,
    /// The stores to choose from; all where it is absent.
    pub stores: Option<Vec<String>>,
}

impl Question {
    /// Whether a store is among those to choose from.
    pub fn allows(&self, store: &str) -> bool {
        self.stores.as_ref().is_none_or(|stores| stores.iter().any(|name| name == store))
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} records of {}; of 100 operations {}; a write survives {}; {}; {}",
            grouped(self.records),
            self.data.name(),
            self.size,
            self.mix,
            match self.guarantee {
                Guarantee::None => "nothing (guarantee none)",
                Guarantee::Process => "a killed process (guarantee process)",
                Guarantee::Power => "a power cut (guarantee power)",
            },
            if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) },
            self.goal.meaning(),
        )?;
        if let Some(bytes) = self.max_memory_bytes {
            write!(f, "; at most {} of memory", rough_bytes(bytes as f64))?;
        }
        match &self.stores {
            Some(stores) => write!(f, "; among {}", stores.join(", ")),
            None => Ok(()),
        }
    }
}

/// The operations of an application, each with its share.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    shares: Vec<(Operation, f64)>,
}

impl Mix {
    /// The operations that occur, in the order in which they are measured, with their shares of 1.
    pub fn shares(&self) -> &[(Operation, f64)] {
        &self.shares
    }

    /// The share of an operation.
    pub fn share(&self, operation: Operation) -> f64 {
        self.shares.iter().find(|(other, _)| *other == operation).map_or(0.0, |(_, share)| *share)
    }

    /// The same mix with another share of gets: the others keep their proportions. `None` where there are only gets, or
    /// none.
    pub fn with_gets(&self, gets: f64) -> Option<Mix> {
        let now = self.share(Operation::Get);
        let scale = |operation: Operation, share: f64| match operation {
            Operation::Get => gets,
            _ => share * (1.0 - gets) / (1.0 - now),
        };
        let shares = || self.shares.iter().map(|(operation, share)| (*operation, scale(*operation, *share)));
        (now > 0.0 && now < 1.0).then(|| Mix { shares: shares().collect() })
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (operation, share)) in self.shares.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            let percent = share * 100.0;
            let percent = if percent.fract() == 0.0 { format!("{percent}") } else { three_digits(percent) };
            write!(f, "{comma}{percent} {}", operation.name())?;
        }
        Ok(())
    }
}

/// The largest weight: the sum of larger ones would be no number.
const MOST_WEIGHT: f64 = 1e12;

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write it like get=80,update=15,insert=5";
        let mut weights = [None; Operation::ALL.len()];
        for part in text.split(',') {
            let (name, weight) =
                part.split_once('=').ok_or_else(|| format!("{} has no weight: {example}", quoted(part)))?;
            let operation =
                Operation::ALL.into_iter().find(|operation| operation.name() == name.trim()).ok_or_else(
                    || format!("{} is no operation: say insert, get, update or remove", quoted(name)),
                )?;
            let weight: f64 = weight
                .trim()
                .trim_end_matches('%')
                .parse()
                .ok()
                .filter(|weight: &f64| (0.0..=MOST_WEIGHT).contains(weight))
                .ok_or_else(|| format!("{} is not a weight: {example}", quoted(weight)))?;
            if weights[operation as usize].replace(weight).is_some() {
                return Err(format!("{name} is there twice"));
            }
        }
        let total: f64 = weights.iter().flatten().sum();
        if total <= 0.0 {
            return Err(format!("all weights are 0: {example}"));
        }
        let given = Operation::ALL.into_iter().zip(weights);
        let shares = given.filter_map(|(operation, weight)| Some((operation, weight? / total)));
        Ok(Mix { shares: shares.filter(|(_, share)| *share > 0.0).collect() })
    }
}

/// What the best store is best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The mean time of an operation.
    Speed,
    /// Bytes on disk.
    Space,
    /// Peak memory.
    Memory,
    /// The three alike: the geometric mean of their ratios.
    Balance,
}

impl Goal {
    /// Every goal.
    pub const ALL: [Goal; 4] = [Goal::Speed, Goal::Space, Goal::Memory, Goal::Balance];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Speed => "speed",
            Goal::Space => "space",
            Goal::Memory => "memory",
            Goal::Balance => "balance",
        }
    }

    /// What it looks at, for the help.
    pub fn what(self) -> &'static str {
        match self {
            Goal::Speed => "The mean time of an operation",
            Goal::Space => "Bytes on disk",
            Goal::Memory => "Peak memory",
            Goal::Balance => "The three alike: the geometric mean of their ratios",
        }
    }

    /// In a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Goal::Speed => "the quickest is wanted",
            Goal::Space => "the smallest on disk is wanted",
            Goal::Memory => "the one with the least memory is wanted",
            Goal::Balance => "a balance of speed, space and memory is wanted",
        }
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Goal::ALL.into_iter().find(|goal| goal.name() == text);
        named.ok_or_else(|| format!("{} is no goal: say speed, space, memory or balance", quoted(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_in_any_order_and_scaled() {
        let mix: Mix = "update=15, get=80%,insert=5".parse().unwrap();
        assert_eq!(mix, "insert=1,get=16,update=3,remove=0".parse().unwrap());
        assert_eq!(mix.to_string(), "5 insert, 80 get, 15 update");
        assert_eq!(mix.share(Operation::Remove), 0.0);
    }

    #[test]
    fn another_share_of_gets_leaves_the_proportions_of_the_rest() {
        let mix: Mix = "get=50,update=40,insert=10".parse().unwrap();
        let changed = mix.with_gets(0.9).unwrap();
        assert!((changed.share(Operation::Update) - 0.08).abs() < 1e-12);
        assert!((changed.shares().iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!("get=1".parse::<Mix>().unwrap().with_gets(0.5), None);
        assert_eq!("insert=1".parse::<Mix>().unwrap().with_gets(0.5), None);
    }

    #[test]
    fn what_is_no_mix_is_told() {
        for (text, complaint) in [
            ("", "has no weight"),
            ("get", "has no weight"),
            ("read=5", "is no operation"),
            ("get=-1", "is not a weight"),
            ("get=NaN", "is not a weight"),
            ("get=1,get=2", "is there twice"),
            ("get=0", "all weights are 0"),
        ] {
            let error = text.parse::<Mix>().unwrap_err();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
