//! A mix of operations: what an application does, each kind with its share.

use std::fmt;
use std::str::FromStr;

use storebench_model::sanitize::quoted;
use storebench_model::units::{as_text, three_digits};

use crate::workload::operation::Operation;

/// The operations of an application, each with its share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mix {
    /// After the first `kinds` all are as [`Mix::new`] begins with.
    shares: [(Operation, f64); Operation::ALL.len()],
    kinds: usize,
}

/// The operations of a phase: one operation, or a mix of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PhaseWork {
    /// One operation, again and again.
    One(Operation),
    /// Several, in turn by their shares.
    Mix(Mix),
}

/// 2^64 over the golden ratio: its multiples modulo 2^64 are spread evenly, however many there are.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Several things that come in turn, each by its share.
#[derive(Debug, Clone, Copy)]
pub struct WeightedTurns<const N: usize> {
    /// Angles of a circle of 2^64: those below an entry's end, and not below the one before it, are its turns.
    upper_ends: [u64; N],
}

impl<const N: usize> WeightedTurns<N> {
    /// The shares add up to 1.
    pub fn new(shares: [f64; N]) -> WeightedTurns<N> {
        let mut sum = 0.0;
        let mut upper_ends = shares.map(|share| {
            sum += share;
            (sum * 2f64.powi(64)) as u64
        });
        // The sum may be off by a rounding; what has no share must have no turn.
        if let Some(last) = shares.iter().rposition(|share| *share > 0.0) {
            upper_ends[last..].fill(u64::MAX);
        }
        WeightedTurns { upper_ends }
    }

    /// Which has the turn, of turns counted from 0. In any number of successive turns each has its share, but for one or two.
    #[inline]
    pub fn choose(&self, turn: u64) -> usize {
        let angle = turn.wrapping_mul(GOLDEN).wrapping_add(GOLDEN / 2);
        let angle = angle.min(u64::MAX - 1);
        self.upper_ends.iter().position(|end| angle < *end).unwrap_or(N - 1)
    }
}

impl Mix {
    /// A mix of weights, whose sum must be positive; entries with 0 do not occur.
    fn new(weights: impl IntoIterator<Item = (Operation, f64)>) -> Mix {
        let mut mix = Mix { shares: Operation::ALL.map(|operation| (operation, 0.0)), kinds: 0 };
        for weight in weights.into_iter().filter(|(_, weight)| *weight > 0.0).take(mix.shares.len()) {
            mix.shares[mix.kinds] = weight;
            mix.kinds += 1;
        }
        let total: f64 = mix.shares().iter().map(|(_, weight)| weight).sum();
        mix.shares[..mix.kinds].iter_mut().for_each(|(_, weight)| *weight /= total);
        mix
    }

    /// The operations that occur, in the order in which they are listed everywhere, with their shares of 1.
    pub fn shares(&self) -> &[(Operation, f64)] {
        &self.shares[..self.kinds]
    }

    /// The share of an operation.
    pub fn share(&self, operation: Operation) -> f64 {
        self.shares().iter().find(|(other, _)| *other == operation).map_or(0.0, |(_, share)| *share)
    }

    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        self.share(Operation::Get) < 1.0
    }

    /// The mix with another share of gets: the others keep their proportions. `None` with only gets, or none.
    pub fn with_gets(&self, gets: f64) -> Option<Mix> {
        let current_gets = self.share(Operation::Get);
        let scale = |operation: Operation, share: f64| match operation {
            Operation::Get => gets,
            _ => share * (1.0 - gets) / (1.0 - current_gets),
        };
        let shares = self.shares().iter().map(|(operation, share)| (*operation, scale(*operation, *share)));
        (current_gets > 0.0 && current_gets < 1.0).then(|| Mix::new(shares))
    }

    /// The operation of a turn, from 0. In any run of turns each occurs by its share, give or take one or two.
    pub fn operation_at(&self, turn: u64) -> Operation {
        let angle = turn.wrapping_mul(GOLDEN) as f64 / 2f64.powi(64);
        let mut sum = 0.0;
        let found = self.shares().iter().find(|(_, share)| {
            sum += share;
            angle < sum
        });
        found.or(self.shares().last()).map_or(Operation::Get, |(operation, _)| *operation)
    }

    /// `80 get, 15 update`, of a hundred.
    pub fn describe(&self) -> String {
        let format_share = |(operation, share): &(Operation, f64)| {
            let percent = share * 100.0;
            let percent = if percent.fract() == 0.0 { format!("{percent}") } else { three_digits(percent) };
            format!("{percent} {}", operation.name())
        };
        self.shares().iter().map(format_share).collect::<Vec<_>>().join(", ")
    }
}

/// `get=80,update=15`, as it is read.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format_share = |(operation, share): &(Operation, f64)| {
            let percent = format!("{:.6}", share * 100.0);
            format!("{}={}", operation.name(), percent.trim_end_matches('0').trim_end_matches('.'))
        };
        f.write_str(&self.shares().iter().map(format_share).collect::<Vec<_>>().join(","))
    }
}

as_text!(Mix);

/// The sum of larger ones would be no number.
const MOST_WEIGHT: f64 = 1e12;

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write it like get=80,update=15,insert=5";
        let mut weights = [None; Operation::ALL.len()];
        for entry in text.split(',') {
            let (name, weight) =
                entry.split_once('=').ok_or_else(|| format!("{} has no weight: {example}", quoted(entry)))?;
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
        if weights.iter().flatten().sum::<f64>() <= 0.0 {
            return Err(format!("all weights are 0: {example}"));
        }
        let weighted = Operation::ALL.into_iter().zip(weights);
        Ok(Mix::new(weighted.filter_map(|(operation, weight)| Some((operation, weight?)))))
    }
}

impl PhaseWork {
    /// Whether an operation is done.
    pub fn includes(&self, operation: Operation) -> bool {
        match self {
            PhaseWork::One(only) => *only == operation,
            PhaseWork::Mix(mix) => mix.share(operation) > 0.0,
        }
    }

    /// The operation that is done most; of a mix, whose course the time series shows.
    pub fn main(&self) -> Operation {
        match self {
            PhaseWork::One(only) => *only,
            PhaseWork::Mix(mix) => {
                let most_frequent = mix.shares().iter().max_by(|a, b| a.1.total_cmp(&b.1));
                most_frequent.map_or(Operation::Get, |(operation, _)| *operation)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_in_any_order_and_scaled() {
        let mix: Mix = "update=15, get=80%,insert=5".parse().unwrap();
        assert_eq!(mix, "insert=1,get=16,update=3,remove=0".parse().unwrap());
        assert_eq!(
            (mix.describe(), mix.to_string()),
            ("5 insert, 80 get, 15 update".into(), "insert=5,get=80,update=15".into())
        );
        assert_eq!((mix.share(Operation::Remove), mix.writes()), (0.0, true));
        assert!(!"get=1".parse::<Mix>().unwrap().writes());
        // As a parameter it is written the same way again.
        let thirds: Mix = "get=1,update=1,insert=1".parse().unwrap();
        assert_eq!(thirds.to_string().parse::<Mix>().unwrap().to_string(), thirds.to_string());
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
    fn what_is_no_mix_is_refused() {
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

    #[test]
    fn things_come_in_turn_by_their_shares() {
        for shares in [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.95, 0.0, 0.05], [0.1, 0.2, 0.7]] {
            let turns = WeightedTurns::new(shares);
            for first_turn in [0, 1 << 32, u64::MAX - 300] {
                let mut found = [0.0; 3];
                (0..1000_u64).for_each(|turn| found[turns.choose(first_turn.wrapping_add(turn))] += 1.0);
                for (found, share) in found.into_iter().zip(shares) {
                    assert!((found - share * 1000.0).abs() <= 3.0, "{found} of {share}");
                    assert!(share > 0.0 || found == 0.0);
                }
            }
        }
    }

    #[test]
    fn turns_follow_the_shares_wherever_they_begin() {
        let mix: Mix = "get=80,update=14.5,insert=5,remove=0.5".parse().unwrap();
        for first_turn in [0, 17, 1 << 40] {
            for count in [20_u64, 200, 5_000] {
                for (operation, share) in mix.shares() {
                    let chosen = (first_turn..first_turn + count)
                        .filter(|turn| mix.operation_at(*turn) == *operation)
                        .count() as f64;
                    assert!((chosen - count as f64 * share).abs() <= 3.0, "{operation} {chosen} of {count}");
                }
            }
        }
        let longest = (0..1000).map(|turn| mix.operation_at(turn)).collect::<Vec<_>>();
        let runs = longest.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap();
        assert!(runs < 20, "{runs} of the same in a row");
        assert_eq!(
            (PhaseWork::Mix(mix).main(), PhaseWork::Mix(mix).includes(Operation::Remove)),
            (Operation::Get, true)
        );
    }
}
