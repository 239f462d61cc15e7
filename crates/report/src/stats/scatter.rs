//! The scatter of repeated trials of the same cells: it tells stores apart that ran too seldom for an interval of their own.
//!
//! One or two trials of a store tell nothing of how much its figure varies. Those of all stores together do: within each cell
//! that ran more than once, the logarithms of its figure scatter about their mean, and the squares of all such deviations are
//! pooled (as in a one-way analysis of variance). A few stores vary more than others: where two stores' own ratios lie further
//! apart than the pooled scatter says, theirs counts.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Estimate, Interval, Ratio, Series, exp, standard_error, t_quantile};

/// The pooled scatter of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// The standard deviation of the logarithm of one trial's figure.
    deviation: f64,
    /// Its degrees of freedom: the trials beyond the first of each cell.
    degrees: usize,
}

/// With fewer degrees of freedom, a scatter is not known well enough to name a store by it.
const LEAST_DEGREES: usize = 5;

impl Scatter {
    /// The scatter within cells, each with its figures by block. `None` where too few ran more than once.
    pub fn of<'s, K: 's>(cells: impl IntoIterator<Item = &'s Series<K>>) -> Option<Scatter> {
        let (mut squares, mut degrees) = (0.0, 0);
        for cell in cells {
            if cell.len() < 2 || cell.values().any(|value| *value <= 0.0) {
                continue;
            }
            let mean = cell.values().map(|value| value.ln()).sum::<f64>() / cell.len() as f64;
            squares += cell.values().map(|value| (value.ln() - mean).powi(2)).sum::<f64>();
            degrees += cell.len() - 1;
        }
        (degrees >= LEAST_DEGREES).then(|| Scatter { deviation: (squares / degrees as f64).sqrt(), degrees })
    }

    /// The mean of the logarithms of two stores' ratios, and its standard error.
    fn mean_and_error(&self, ratios: &[f64]) -> (f64, f64) {
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        let blocks = logs.len().max(1) as f64;
        let mean = logs.iter().sum::<f64>() / blocks;
        let pooled = self.deviation * (2.0 / blocks).sqrt();
        (mean, if logs.len() < 2 { pooled } else { pooled.max(standard_error(&logs, mean)) })
    }

    /// The probability that ratios lie as far above 1 of stores that are equal.
    pub(super) fn one_sided(&self, ratios: &[f64]) -> f64 {
        let (mean, error) = self.mean_and_error(ratios);
        if error == 0.0 {
            return if mean > 0.0 { 0.0 } else { 1.0 };
        }
        StudentsT::new(0.0, 1.0, self.degrees as f64).map_or(1.0, |t| t.sf(mean / error))
    }

    /// The mean ratio with its interval at a confidence.
    pub(super) fn ratio(&self, ratios: &[f64], confidence: f64) -> Ratio {
        let (value, error) = self.mean_and_error(ratios);
        let half = t_quantile(self.degrees, confidence) * error;
        let interval = Some(Interval { low: value - half, high: value + half, confidence });
        Ratio { blocks: ratios.len(), ratio: exp(Estimate { value, interval }) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Better, Few, Rule, Standing, Terms, decide_on};
    use super::*;
    use crate::stats::tests::normal;

    fn series(values: &[f64]) -> Series<usize> {
        values.iter().copied().enumerate().collect()
    }

    fn by(scatter: Option<Scatter>) -> Terms {
        Terms { few: Few::Scatter(scatter), ..Terms::default() }
    }

    fn told(standings: &[Standing]) -> Vec<(usize, bool, Option<Rule>)> {
        standings.iter().map(|s| (s.index, s.wins, s.rule)).collect()
    }

    #[test]
    fn squares_within_cells_are_pooled() {
        // Logarithms 0 and 2 about 1, and 5, 5, 8 about 6: 2 and 6 over three degrees of freedom.
        let cells = [series(&[1.0, 2f64.exp()]), series(&[5f64.exp(), 5f64.exp(), 8f64.exp()])];
        assert_eq!(Scatter::of(&cells), None, "three degrees are too few");
        let twice: Vec<Series<usize>> =
            cells.iter().chain(&cells).chain([&series(&[7.0])]).cloned().collect();
        let scatter = Scatter::of(&twice).unwrap();
        assert_eq!(scatter.degrees, 6);
        assert!((scatter.deviation.powi(2) - 16.0 / 6.0).abs() < 1e-12);
        assert_eq!(Scatter::of(&vec![series(&[0.0, 0.0]); 9]), None, "zeros have no logarithms");
    }

    #[test]
    fn one_trial_names_no_store_alone() {
        let stores = [series(&[1.0]), series(&[1.06]), series(&[30.0])];
        let open = (true, Some(Rule::Open));
        let standings = told(&decide_on(&stores, Better::Lower, by(None)));
        assert_eq!(standings, [(0, true, None), (1, open.0, open.1), (2, open.0, open.1)]);
        // Trials of the same cells lie 10 % apart: 1.06 is in the race, 30 is not.
        let scatter = Scatter::of(&vec![series(&[1.0, 1.1]); 20]);
        let standings = told(&decide_on(&stores, Better::Lower, by(scatter)));
        let rule = Some(Rule::Scatter);
        assert_eq!(standings, [(0, true, None), (1, true, rule), (2, false, rule)]);
    }

    #[test]
    fn a_noisy_pair_counts_by_its_own_scatter() {
        let scatter = Scatter::of(&vec![series(&[1.0, 1.01]); 20]);
        let stores = [series(&[1.0, 1.0]), series(&[1.0, 9.0])];
        assert!(decide_on(&stores, Better::Lower, by(scatter))[1].wins);
        let stores = [series(&[1.0, 1.0]), series(&[3.0, 3.01])];
        assert!(!decide_on(&stores, Better::Lower, by(scatter))[1].wins);
    }

    /// The share of simulated places of ten equal stores in which a store is called worse. The scatter is known from these
    /// and the other places of their run. Of ten stores, one varies `times` as much as the others.
    fn wronged(blocks: usize, times: f64) -> f64 {
        let mut random = fastrand::Rng::with_seed(blocks as u64);
        let (runs, places) = (100, 8);
        let mut wrong = 0;
        for _ in 0..runs {
            let mut all = Vec::new();
            for _ in 0..places {
                let weather: Vec<f64> = (0..blocks).map(|_| normal(&mut random)).collect();
                let store = |index: usize, random: &mut fastrand::Rng| -> Series<usize> {
                    let own = if index == 0 { 0.1 * times } else { 0.1 };
                    weather.iter().map(|w| (0.1 * w + own * normal(random)).exp()).enumerate().collect()
                };
                all.push((0..10).map(|index| store(index, &mut random)).collect::<Vec<_>>());
            }
            let scatter = Scatter::of(all.iter().flatten());
            let worse = |place: &&Vec<Series<usize>>| {
                decide_on(place, Better::Lower, by(scatter)).iter().any(|s| !s.wins)
            };
            wrong += all.iter().filter(worse).count();
        }
        f64::from(u32::try_from(wrong).unwrap()) / f64::from(runs * places)
    }

    #[test]
    fn of_equal_stores_none_is_called_worse_but_in_a_twentieth_of_places() {
        for (blocks, times) in [(2, 1.0), (2, 3.0), (3, 1.0), (3, 3.0), (4, 1.0), (4, 3.0)] {
            let share = wronged(blocks, times);
            assert!(share <= 0.05, "{blocks} blocks, one store varies {times} times as much: {share}");
        }
    }

    /// A machine as two quick runs of crud were seen to scatter on one: the same cell differed 1.5 times in the median, and 4 times
    /// at the 90th percentile. Stores are as unlike one another as ten engines are, and some cells vary far more than others.
    struct Machine {
        random: fastrand::Rng,
        /// The logarithm of each store's true figure at each place, and how much it varies there.
        cells: Vec<Vec<(f64, f64)>>,
    }

    impl Machine {
        fn new(seed: u64, places: usize) -> Machine {
            let mut random = fastrand::Rng::with_seed(seed);
            let cell = |random: &mut _| (1.2 * normal(random), 0.42 * (0.7 * normal(random)).exp());
            let place = |random: &mut _| (0..10).map(|_| cell(random)).collect();
            let cells = (0..places).map(|_| place(&mut random)).collect();
            Machine { random, cells }
        }

        /// A run of so many blocks: at each place the figures of each store.
        fn run(&mut self, blocks: usize) -> Vec<Vec<Series<usize>>> {
            let Machine { random, cells } = self;
            let mut place = |stores: &Vec<(f64, f64)>| -> Vec<Series<usize>> {
                let weather: Vec<f64> = (0..blocks).map(|_| 0.1 * normal(random)).collect();
                let mut trial = |(own, spread): &(f64, f64), weather: &f64| {
                    (own + weather + spread * normal(random)).exp()
                };
                let of = |store| weather.iter().map(|weather| trial(store, weather)).enumerate().collect();
                stores.iter().map(of).collect()
            };
            cells.iter().map(&mut place).collect()
        }
    }

    /// The stores at the top of each place of a run.
    fn top(run: &[Vec<Series<usize>>]) -> Vec<Vec<usize>> {
        let scatter = Scatter::of(run.iter().flatten());
        let winners = |place: &Vec<Series<usize>>| {
            let standings = decide_on(place, Better::Lower, by(scatter)).into_iter();
            standings.filter(|standing| standing.wins).map(|standing| standing.index).collect()
        };
        run.iter().map(winners).collect()
    }

    #[test]
    fn machines_of_the_simulation_scatter_as_was_seen() {
        let mut machine = Machine::new(1, 200);
        let (first, second) = (machine.run(1), machine.run(1));
        let pairs = first.iter().flatten().zip(second.iter().flatten());
        let mut times: Vec<f64> = pairs.map(|(a, b)| (a[&0] / b[&0]).ln().abs().exp()).collect();
        times.sort_by(f64::total_cmp);
        let (median, most) = (times[times.len() / 2], times[times.len() * 9 / 10]);
        assert!((1.4..1.7).contains(&median) && (3.0..5.0).contains(&most), "{median} {most}");
    }

    #[test]
    fn a_store_that_a_quick_run_names_alone_stands_in_longer_and_other_runs() {
        let (mut named, mut confirmed, mut agreed) = (0, 0, 0);
        for seed in 0..40 {
            let mut machine = Machine::new(seed, 40);
            let (quick, other, long) = (machine.run(2), machine.run(2), machine.run(7));
            let (quick, other, long) = (top(&quick), top(&other), top(&long));
            for ((quick, other), long) in quick.iter().zip(&other).zip(&long) {
                let [store] = quick.as_slice() else { continue };
                named += 1;
                confirmed += usize::from(long.contains(store));
                agreed += usize::from(other.contains(store));
            }
        }
        assert!(named >= 50, "{named}");
        assert!(confirmed * 100 >= named * 95, "{confirmed} of {named} are among the best of seven trials");
        assert!(agreed * 100 >= named * 90, "{agreed} of {named} are candidates of another quick run");
    }
}
