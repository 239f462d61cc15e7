//! Where a curve breaks: up to which size a figure keeps its pace, and from where on it falls more steeply.
//!
//! From five sizes on, the logarithm of the figure over the logarithm of the size is taken for a line in pieces that meet: one
//! that is level or nearly so, a steeper fall, and, where the figure does so, a piece that levels off. The breaks are those of the
//! least squares over a grid ([`STEPS`] points between two sizes; P. Lerman, Fitting segmented regression models by grid search,
//! Applied Statistics 29, 1980). Each block's own level is fitted and taken off.
//!
//! A break is told only where the pieces fit better than one line does. How much better they fit a straight line by chance
//! depends on sizes and blocks alone, and is found by drawing noise of that design [`DRAWS`] times (A. Hope, A simplified Monte
//! Carlo significance test procedure, J. R. Statist. Soc. B 30, 1968; H.-J. Kim and others do the same by permuting, Permutation
//! tests for joinpoint regression, Statistics in Medicine 19, 2000): fewer than one in twenty may fit as well. Its interval holds
//! every break whose best fit is not worse by an F test than the best of all (Lerman's likelihood interval), and reaches to the
//! next points of the grid.
//!
//! Three or four sizes can't place a break. They tell between which two the fall is, where the steepest step is steeper than the
//! rest by Student's t over the blocks, at a level that allows for each step that might be the steepest (Bonferroni).

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use serde::Serialize;

use super::{CONFIDENCE, MIN_BLOCKS, Series, THRESHOLD, arithmetic_mean_at, t_quantile};

/// Points of the grid from one size to the next.
const STEPS: usize = 4;
/// The fewest sizes among which a break is placed.
const FEWEST: usize = 5;
/// The fewest observations beyond what is fitted.
const SPARE: usize = 3;
/// The number of parameters that are fitted beside the blocks' levels: three slopes and two breaks.
const FITTED: usize = 5;
/// The number of times that noise is drawn.
const DRAWS: usize = 999;
/// Lengths below this share of a vector's are rounding errors.
const ROUNDING: f64 = 1e-9;

/// The shape of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub enum Cliff {
    /// Too few sizes or blocks to tell.
    Unknown,
    /// One line fits as well, or what breaks does not fall by more than [`THRESHOLD`].
    None,
    /// It falls more steeply from a size on.
    At {
        /// That size; absent where sizes are too few to place it.
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<f64>,
        /// The least that it may be.
        low: f64,
        /// The most.
        high: f64,
    },
}

/// A figure by size: sizes above zero, rising; figures above zero, by block.
pub type Curve<K> = [(f64, Series<K>)];

/// Finds where curves break. It keeps what depends on the design alone.
#[derive(Debug, Default)]
pub struct Finder {
    grids: HashMap<Vec<(u64, usize)>, Rc<Grid>>,
}

impl Finder {
    /// The shape of a curve of a figure of which more is better.
    pub fn find<K: Ord + Copy>(&mut self, curve: &Curve<K>) -> Cliff {
        let fit = |value: f64| value > 0.0 && value.is_finite();
        if !curve.iter().all(|(size, series)| fit(*size) && series.values().all(|value| fit(*value))) {
            return Cliff::Unknown;
        }
        let blocks: BTreeSet<K> = curve.iter().flat_map(|(_, series)| series.keys().copied()).collect();
        let blocks: Vec<K> = blocks.into_iter().collect();
        let mut observations = Vec::new();
        for (size, series) in curve {
            for (block, value) in series {
                let block = blocks.binary_search(block).unwrap_or_default();
                observations.push(Observation { x: size.ln(), block, y: value.ln() });
            }
        }
        let sizes = curve.iter().filter(|(_, series)| !series.is_empty()).count();
        if sizes < FEWEST || observations.len() < blocks.len() + FITTED + SPARE {
            return steepest(curve);
        }
        let key = observations.iter().map(|one| (one.x.to_bits(), one.block)).collect();
        let grid = self.grids.entry(key).or_insert_with(|| Rc::new(Grid::new(&observations, blocks.len())));
        let cliff = grid.cliff(&observations);
        if falls(curve, cliff) { cliff } else { Cliff::None }
    }
}

/// Whether what breaks falls, and not by less than what counts as alike.
fn falls<K: Ord>(curve: &Curve<K>, cliff: Cliff) -> bool {
    let Cliff::At { at: Some(at), .. } = cliff else { return false };
    let level = |series: &Series<K>| {
        let logs: Vec<f64> = series.values().map(|value| value.ln()).collect();
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let levels: Vec<(f64, f64)> =
        curve.iter().filter_map(|(size, series)| Some((*size, level(series)?))).collect();
    let before = levels.iter().rev().find(|(size, _)| *size <= at).or(levels.first());
    let after = levels.iter().filter(|(size, _)| *size > at).map(|(_, level)| *level);
    before.zip(after.reduce(f64::min)).is_some_and(|((_, before), after)| before - after > THRESHOLD.ln_1p())
}

/// One observation, in logarithms.
#[derive(Debug, Clone, Copy)]
struct Observation {
    x: f64,
    block: usize,
    y: f64,
}

/// The design of a curve: how a break at each point of the grid would show, once blocks' levels and a line have been taken off.
#[derive(Debug)]
struct Grid {
    /// The block of each observation, and how many observations each block has.
    block: Vec<usize>,
    of_block: Vec<f64>,
    /// The line, of length 1.
    line: Vec<f64>,
    /// The points, from just after the first size to just before the last.
    breaks: Vec<Break>,
    /// The least and the greatest size.
    ends: (f64, f64),
    /// The shares of what a line leaves that breaks take in noise, sorted.
    by_chance: Vec<f64>,
}

/// A break at a point of the grid.
#[derive(Debug)]
struct Break {
    at: f64,
    /// The bend that it makes, of length 1, and the length that it had.
    bend: Vec<f64>,
    length: f64,
    /// Bends back at later points.
    backs: Vec<Back>,
}

/// A bend back, beside the bend that comes before it.
#[derive(Debug)]
struct Back {
    /// The rest of it outside that bend, of length 1, and the length that it had.
    rest: Vec<f64>,
    length: f64,
    /// The length of it in that bend.
    along: f64,
}

impl Break {
    /// The amount that it takes of what a line left, with a bend back or without; nothing where it would rise more
    /// steeply.
    fn gain(&self, left: &[f64]) -> f64 {
        let own = dot(&self.bend, left);
        let alone = if own < 0.0 { own * own } else { 0.0 };
        let with = |back: &Back| {
            let back_own = dot(&back.rest, left);
            let steeper = (own - back.along * back_own / back.length) / self.length;
            if back_own > 0.0 && steeper < 0.0 { own * own + back_own * back_own } else { 0.0 }
        };
        self.backs.iter().map(with).fold(alone, f64::max)
    }
}

impl Grid {
    fn new(observations: &[Observation], blocks: usize) -> Grid {
        let mut of_block = vec![0.0; blocks];
        observations.iter().for_each(|one| of_block[one.block] += 1.0);
        let mut sizes: Vec<f64> = observations.iter().map(|one| one.x).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        let mut grid = Grid {
            block: observations.iter().map(|one| one.block).collect(),
            of_block,
            line: Vec::new(),
            breaks: Vec::new(),
            ends: (sizes[0], sizes[sizes.len() - 1]),
            by_chance: Vec::new(),
        };
        let x: Vec<f64> = observations.iter().map(|one| one.x).collect();
        grid.line = unit(grid.within(&x)).map_or_else(Vec::new, |(line, _)| line);
        let points = points(&sizes);
        let hinge = |at: f64| {
            let after: Vec<f64> = x.iter().map(|x| (x - at).max(0.0)).collect();
            grid.left_by_line(&after)
        };
        let breaks = points.iter().enumerate().filter_map(|(number, at)| {
            let (bend, length) = unit(hinge(*at))?;
            let later = points[number + 1..].iter().filter_map(|later| {
                let mut rest = hinge(*later);
                let (whole, along) = (dot(&rest, &rest).sqrt(), dot(&rest, &bend));
                subtract(&mut rest, &bend, along);
                let (rest, length) = unit(rest)?;
                (length > ROUNDING * whole).then_some(Back { rest, length, along })
            });
            let backs = later.collect();
            Some(Break { at: *at, bend, length, backs })
        });
        let breaks: Vec<Break> = breaks.collect();
        grid.breaks = breaks;
        grid.by_chance = grid.by_chance();
        grid
    }

    /// The same observations without their blocks' levels.
    fn within(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.of_block.len()];
        self.block.iter().zip(values).for_each(|(block, value)| sums[*block] += value);
        self.block
            .iter()
            .zip(values)
            .map(|(block, value)| value - sums[*block] / self.of_block[*block])
            .collect()
    }

    /// The rest of it beside blocks' levels and a line.
    fn left_by_line(&self, values: &[f64]) -> Vec<f64> {
        let mut left = self.within(values);
        if !self.line.is_empty() {
            let along = dot(&left, &self.line);
            subtract(&mut left, &self.line, along);
        }
        left
    }

    /// The share that breaks take of what a line leaves of noise, sorted; the same for the same design.
    fn by_chance(&self) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(136);
        let draw = |random: &mut fastrand::Rng| {
            let noise: Vec<f64> = self.block.iter().map(|_| normal(random)).collect();
            let left = self.left_by_line(&noise);
            let gain = self.breaks.iter().map(|one| one.gain(&left)).fold(0.0, f64::max);
            gain / dot(&left, &left)
        };
        let mut shares: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random)).collect();
        shares.sort_by(f64::total_cmp);
        shares
    }

    /// The break of these observations, if pieces fit better than a line.
    fn cliff(&self, observations: &[Observation]) -> Cliff {
        let y: Vec<f64> = observations.iter().map(|one| one.y).collect();
        let left = self.left_by_line(&y);
        let all = dot(&left, &left);
        let gains: Vec<f64> = self.breaks.iter().map(|one| one.gain(&left)).collect();
        let best = gains.iter().copied().fold(0.0, f64::max);
        // The rest that a straight line leaves is a rounding error.
        let spread: f64 = self.within(&y).iter().map(|value| value * value).sum();
        if best <= ROUNDING * spread {
            return Cliff::None;
        }
        let as_good = DRAWS - self.by_chance.partition_point(|share| *share < best / all);
        if (as_good + 1) as f64 > (1.0 - CONFIDENCE) * (DRAWS + 1) as f64 {
            return Cliff::None;
        }
        let spare = observations.len() - self.of_block.len() - FITTED;
        let least = (all - best).max(0.0);
        let bound = least * (1.0 + t_quantile(spare, CONFIDENCE).powi(2) / spare as f64) + ROUNDING * all;
        let allowed = |number: &usize| all - gains[*number] <= bound;
        let tied = |number: &usize| best - gains[*number] <= ROUNDING * all;
        let ends = |chosen: &dyn Fn(&usize) -> bool| {
            let mut numbers = (0..gains.len()).filter(|number| chosen(number));
            let first = numbers.next().unwrap_or_default();
            (first, numbers.last().unwrap_or(first))
        };
        let (first, last) = ends(&allowed);
        let (from, to) = ends(&tied);
        let at = |number: usize| self.breaks[number].at;
        let low = first.checked_sub(1).map_or(self.ends.0, at);
        let high = if last + 1 < self.breaks.len() { at(last + 1) } else { self.ends.1 };
        Cliff::At { at: Some(((at(from) + at(to)) / 2.0).exp()), low: low.exp(), high: high.exp() }
    }
}

/// The points of the grid: between each two sizes, and the sizes themselves but the first and the last.
fn points(sizes: &[f64]) -> Vec<f64> {
    let between = sizes.windows(2).flat_map(|pair| {
        let step = (pair[1] - pair[0]) / STEPS as f64;
        (1..=STEPS).map(move |number| pair[0] + step * number as f64)
    });
    let mut points: Vec<f64> = between.collect();
    points.pop();
    points
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], what: &[f64], times: f64) {
    from.iter_mut().zip(what).for_each(|(from, what)| *from -= times * what);
}

/// A vector of length 1 and the length that it had; `None` of one that has none.
fn unit(mut vector: Vec<f64>) -> Option<(Vec<f64>, f64)> {
    let length = dot(&vector, &vector).sqrt();
    if length < ROUNDING {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    Some((vector, length))
}

/// A draw from the standard normal distribution (G. Box and M. Muller, 1958).
pub fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// Between which two of a few sizes the fall is.
fn steepest<K: Ord + Copy>(curve: &Curve<K>) -> Cliff {
    let known: Vec<&(f64, Series<K>)> = curve.iter().filter(|(_, series)| !series.is_empty()).collect();
    let [(_, first), _, _, ..] = known.as_slice() else { return Cliff::Unknown };
    let everywhere = |block: &&K| known.iter().all(|(_, series)| series.contains_key(block));
    // The logarithms of the figures of each block that has them all.
    let blocks: Vec<Vec<f64>> = first
        .keys()
        .filter(everywhere)
        .map(|block| known.iter().map(|(_, series)| series[block].ln()).collect())
        .collect();
    if blocks.len() < MIN_BLOCKS {
        return Cliff::Unknown;
    }
    let steps: Vec<f64> = known.windows(2).map(|pair| (pair[1].0 / pair[0].0).ln()).collect();
    let fall = |step: usize| blocks.iter().map(|y| y[step + 1] - y[step]).sum::<f64>() / blocks.len() as f64;
    let slopes = (0..steps.len()).map(|step| (fall(step) / steps[step], step));
    let Some((_, step)) = slopes.min_by(|a, b| a.0.total_cmp(&b.0)) else { return Cliff::Unknown };
    let (own, others) = (steps[step], steps.iter().sum::<f64>() - steps[step]);
    let steeper = |y: &Vec<f64>| {
        let (fall, all) = (y[step + 1] - y[step], y[y.len() - 1] - y[0]);
        fall / own - (all - fall) / others
    };
    let differences: Vec<f64> = blocks.iter().map(steeper).collect();
    let level = 2.0 * (1.0 - CONFIDENCE) / steps.len() as f64;
    let interval = arithmetic_mean_at(&differences, 1.0 - level).and_then(|mean| mean.interval);
    let is_steeper = interval.is_some_and(|interval| interval.high < 0.0);
    match is_steeper && -fall(step) > THRESHOLD.ln_1p() {
        true => Cliff::At { at: None, low: known[step].0, high: known[step + 1].0 },
        false => Cliff::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 9] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0];

    /// The noise that is put on curves, and the noise that all of a block share.
    #[derive(Clone, Copy)]
    struct Weather {
        noise: f64,
        of_block: f64,
    }

    const WEATHER: Weather = Weather { noise: 0.05, of_block: 0.3 };

    /// A curve made of `level`, the logarithm of the figure by that of the size.
    fn made(
        sizes: &[f64],
        blocks: u32,
        random: &mut fastrand::Rng,
        weather: Weather,
        level: impl Fn(f64) -> f64,
    ) -> Vec<(f64, Series<u32>)> {
        let of_block: Vec<f64> = (0..blocks).map(|_| weather.of_block * normal(random)).collect();
        let mut figure = |size: f64, block: u32| {
            let own = of_block[block as usize] + weather.noise * normal(random);
            (8.0 + level(size.ln()) + own).exp()
        };
        sizes
            .iter()
            .map(|size| (*size, (0..blocks).map(|block| (block, figure(*size, block))).collect()))
            .collect()
    }

    /// Level up to a size, then falling as its square, and level again from twice that size on.
    fn cliff_at(size: f64) -> impl Fn(f64) -> f64 {
        move |x| -2.0 * (x - size.ln()).clamp(0.0, 2f64.ln())
    }

    #[test]
    fn a_planted_cliff_is_found() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut finder = Finder::default();
        for planted in [0.6, 1.1, 1.4] {
            let curve = made(&SIZES, 3, &mut random, WEATHER, cliff_at(planted));
            let Cliff::At { at: Some(at), low, high } = finder.find(&curve) else { panic!("{planted}") };
            assert!((at / planted).ln().abs() < 0.2, "{planted}: {at}");
            assert!(
                low < at && at < high && low <= planted && planted <= high,
                "{planted}: {low} {at} {high}"
            );
            assert!(high / low < 1.8, "{planted}: {low} {high}");
        }
    }

    #[test]
    fn intervals_hold_what_was_planted_about_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(2);
        let mut finder = Finder::default();
        for blocks in [3, 5] {
            let (mut told, mut held) = (0, 0);
            for _ in 0..300 {
                let planted = (0.5f64.ln() + random.f64() * 3f64.ln()).exp();
                let curve = made(&SIZES, blocks, &mut random, WEATHER, cliff_at(planted));
                if let Cliff::At { low, high, .. } = finder.find(&curve) {
                    told += 1;
                    held += u32::from(low <= planted && planted <= high);
                }
            }
            assert!(told > 290, "{told} of 300 found");
            let share = f64::from(held) / f64::from(told);
            assert!(share > 0.93, "{blocks} blocks: {share}");
        }
    }

    #[test]
    fn a_line_has_no_cliff_but_by_chance() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut finder = Finder::default();
        for (sizes, blocks) in [(&SIZES[..], 3), (&SIZES[2..7], 3), (&[0.75, 1.25, 2.5][..], 5)] {
            let told = (0..400).filter(|_| {
                let curve = made(sizes, blocks, &mut random, WEATHER, |x| -0.5 * x);
                matches!(finder.find(&curve), Cliff::At { .. })
            });
            let share = told.count() as f64 / 400.0;
            assert!(share < 0.08, "{} sizes: {share}", sizes.len());
        }
    }

    #[test]
    fn what_rises_or_hardly_falls_has_none() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut finder = Finder::default();
        let still = Weather { noise: 0.001, of_block: 0.1 };
        let rises = made(&SIZES, 3, &mut random, still, |x| x.max(0.0));
        assert_eq!(finder.find(&rises), Cliff::None);
        let hardly = made(&SIZES, 3, &mut random, still, |x| -0.02 * x.max(0.0));
        assert_eq!(finder.find(&hardly), Cliff::None);
        let exact = made(&SIZES, 3, &mut random, Weather { noise: 0.0, of_block: 0.0 }, |x| -x);
        assert_eq!(finder.find(&exact), Cliff::None);
    }

    #[test]
    fn three_sizes_tell_between_which_it_is() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut finder = Finder::default();
        let sizes = [0.75, 1.25, 2.5];
        let fell = made(&sizes, 3, &mut random, WEATHER, |x| if x > 0.1 { -1.6 - 0.1 * x } else { 0.0 });
        assert_eq!(finder.find(&fell), Cliff::At { at: None, low: 0.75, high: 1.25 });
        let later = made(&sizes, 3, &mut random, WEATHER, |x| -2.0 * (x - 0.3).max(0.0));
        assert_eq!(finder.find(&later), Cliff::At { at: None, low: 1.25, high: 2.5 });
        let level = made(&sizes, 3, &mut random, WEATHER, |_| 0.0);
        assert_eq!(finder.find(&level), Cliff::None);
    }

    #[test]
    fn too_little_says_nothing() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut finder = Finder::default();
        for (sizes, blocks) in [(&SIZES[..2], 5), (&SIZES[..3], 2), (&SIZES[..6], 1), (&SIZES[..0], 3)] {
            let curve = made(sizes, blocks, &mut random, WEATHER, cliff_at(0.5));
            assert_eq!(finder.find(&curve), Cliff::Unknown, "{} sizes, {blocks} blocks", sizes.len());
        }
        let mut odd = made(&SIZES, 3, &mut random, WEATHER, cliff_at(1.0));
        odd[3].1.insert(0, 0.0);
        assert_eq!(finder.find(&odd), Cliff::Unknown);
        // A block that lacks some sizes takes part with what it has.
        let mut holes = made(&SIZES, 4, &mut random, WEATHER, cliff_at(1.0));
        holes[8].1.remove(&2);
        holes[0].1.remove(&1);
        assert!(matches!(finder.find(&holes), Cliff::At { at: Some(_), .. }));
    }
}
