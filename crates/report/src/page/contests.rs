//! Standings of each cell's store relative to the best of its place in the matrix.

use serde::Serialize;
use storebench_figures::judge::standing::Contender;
use storebench_figures::judge::{Rule, Verdict};

use super::numbers::rounded;

/// Standings by cell; `null` for a store without a figure.
#[derive(Debug, Serialize)]
pub struct Contests {
    /// 0: the best; 1: too close to call with it; 2: neither; 3: not judged.
    standing: Vec<Option<u8>>,
    times: Vec<Option<f64>>,
    /// Its interval is from `times / (1 + spread)` to `times * (1 + spread)`.
    spread: Vec<Option<f64>>,
    blocks: Vec<Option<usize>>,
    /// 0: the interval decided; 1: the threshold; 2: the clock, whose resolution is too coarse.
    rule: Vec<Option<u8>>,
}

impl Contests {
    pub fn new(cells: usize) -> Contests {
        let (standing, rule) = (vec![None; cells], vec![None; cells]);
        let (times, spread) = (vec![None; cells], vec![None; cells]);
        Contests { standing, times, spread, blocks: vec![None; cells], rule }
    }

    pub fn set(&mut self, cell: usize, contender: &Contender) {
        self.standing[cell] = Some(match contender.verdict {
            Verdict::Best => 0,
            Verdict::NotJudged(_) => 3,
            other if other.wins() => 1,
            _ => 2,
        });
        self.rule[cell] = contender.verdict.rule().map(|rule| match rule {
            Rule::Interval => 0,
            Rule::Threshold => 1,
            Rule::Clock => 2,
            Rule::Scatter => 4,
            Rule::Open => 5,
            Rule::Crowded => 6,
            Rule::Little => 7,
        });
        let Some(ratio) = contender.times_worse else { return };
        self.times[cell] = Some(rounded(ratio.ratio.value, 4));
        self.blocks[cell] = Some(ratio.blocks);
        self.spread[cell] = ratio.ratio.interval.map(|i| rounded(i.high / ratio.ratio.value - 1.0, 3));
    }
}
