//! The expectations of claims about their figures.

use serde::{Deserialize, Serialize};
use storebench_model::axis::Axis;

use super::bounds::Bounds;
use super::figure::Figure;
use super::region::canonical;

/// An expectation of each comparison, or of their mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Expect {
    Winner(Winner),
    Order(Order),
    Ratio(Ratio),
    Value(Values),
    Unchanged(Unchanged),
    MoreWins(MoreWins),
    Greatest(Greatest),
    MoreAt(MoreAt),
    Alike(Alike),
    Behind(Behind),
}

/// The best is one of these stores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Winner {
    pub stores: Vec<String>,
    /// It is enough that one of them is at most this factor worse than the best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
}

/// Stores in order, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub stores: Vec<String>,
    /// Whether all other compared stores are behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest_behind: bool,
}

/// `of` is a multiple of `to`: two stores, or one store at two values of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The axis; `None` to compare stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<Axis>,
    pub of: String,
    pub to: String,
    /// With an axis: the stores that must agree; all compared ones if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<String>,
    pub range: Bounds,
}

/// The figure of each of these stores lies within a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    pub stores: Vec<String>,
    pub range: Bounds,
}

/// The best store is the same at two values of an axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unchanged {
    pub axis: Axis,
    pub between: [String; 2],
}

/// A store is the best in more comparisons at one value of an axis than at another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoreWins {
    pub store: String,
    pub axis: Axis,
    /// The value with more wins.
    pub at: String,
    /// The value with fewer wins.
    pub than: String,
}

/// The ratio between two values of an axis, over comparisons and stores, is greatest at one value of a second axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greatest {
    pub axis: Axis,
    pub of: String,
    pub to: String,
    /// The second axis: one within a matrix, such as `record_size`.
    pub along: Axis,
    /// The value along it with the greatest ratio.
    pub value: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Bounds>,
}

/// One of these stores is the best in a larger share of the comparisons by one figure than by the claim's other figures together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoreAt {
    pub stores: Vec<String>,
    pub figure: Figure,
}

/// None of these stores is worse than another by more than a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alike {
    pub stores: Vec<String>,
    /// The factor, 1 or more.
    pub within: f64,
}

/// Each of these stores is worse than every other compared one, in any order among themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behind {
    /// The stores, not all of the compared ones.
    pub stores: Vec<String>,
}

impl Expect {
    /// The key in a plan.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Whether the expectation depends on which direction of a figure is good.
    pub fn ranks(&self) -> bool {
        !matches!(self, Expect::Ratio(_) | Expect::Value(_) | Expect::Greatest(_))
    }

    /// The compared axis; `None` if stores are compared.
    pub fn axis(&self) -> Option<Axis> {
        match self {
            Expect::Ratio(ratio) => ratio.axis,
            Expect::Unchanged(unchanged) => Some(unchanged.axis),
            Expect::MoreWins(more) => Some(more.axis),
            Expect::Greatest(greatest) => Some(greatest.axis),
            _ => None,
        }
    }

    /// The two compared values of that axis.
    pub fn sides(&self) -> Option<(&str, &str)> {
        match self {
            Expect::Ratio(Ratio { axis: Some(_), of, to, .. })
            | Expect::Greatest(Greatest { of, to, .. }) => Some((of, to)),
            Expect::Unchanged(Unchanged { between: [a, b], .. }) => Some((a, b)),
            Expect::MoreWins(MoreWins { at, than, .. }) => Some((at, than)),
            _ => None,
        }
    }

    pub fn values(&self) -> Vec<(Axis, &str)> {
        let sides = self.axis().zip(self.sides());
        let sides = sides.into_iter().flat_map(|(axis, (a, b))| [(axis, a), (axis, b)]);
        let along = match self {
            Expect::Greatest(greatest) => Some((greatest.along, greatest.value.as_str())),
            _ => None,
        };
        sides.chain(along).collect()
    }

    pub fn stores(&self) -> Vec<String> {
        match self {
            Expect::Winner(Winner { stores, .. })
            | Expect::Order(Order { stores, .. })
            | Expect::Value(Values { stores, .. })
            | Expect::MoreAt(MoreAt { stores, .. })
            | Expect::Alike(Alike { stores, .. })
            | Expect::Behind(Behind { stores })
            | Expect::Ratio(Ratio { axis: Some(_), stores, .. }) => stores.clone(),
            Expect::Ratio(Ratio { of, to, .. }) => vec![of.clone(), to.clone()],
            Expect::MoreWins(more) => vec![more.store.clone()],
            Expect::Unchanged(_) | Expect::Greatest(_) => Vec::new(),
        }
    }

    /// The expectation of some figures, in words.
    pub(super) fn describe(&self, figures: &str) -> String {
        match self {
            Expect::Winner(winner) => {
                let factor =
                    winner.within.map_or("".into(), |within| format!("at most {within} times worse than "));
                format!("{} {factor}the best by {figures}", winner.stores.join(" or "))
            }
            Expect::Order(order) => {
                let rest = if order.rest_behind { ", all others behind" } else { "" };
                format!("by {figures}, the best first: {}{rest}", order.stores.join(", "))
            }
            Expect::Ratio(ratio) => {
                let stores = if ratio.stores.is_empty() {
                    String::new()
                } else {
                    format!(" of {}", ratio.stores.join(", "))
                };
                format!("{figures}{stores}, {} over {}: {} times", ratio.of, ratio.to, ratio.range)
            }
            Expect::Value(values) => format!("{figures} of {}: {}", values.stores.join(", "), values.range),
            Expect::Unchanged(unchanged) => {
                let [a, b] = &unchanged.between;
                format!("the best by {figures} is the same with {} {a} and {b}", unchanged.axis)
            }
            Expect::MoreAt(more) => format!(
                "{} the best more often by {} than by the others of {figures}",
                more.stores.join(" or "),
                more.figure
            ),
            Expect::Alike(alike) => format!(
                "none of {} more than {} times worse than another by {figures}",
                alike.stores.join(", "),
                alike.within
            ),
            Expect::Behind(behind) => {
                format!("each of {} worse than all others by {figures}", behind.stores.join(", "))
            }
            Expect::MoreWins(MoreWins { store, axis, at, than }) => {
                format!("{store} is the best by {figures} in more combinations with {axis} {at} than {than}")
            }
            Expect::Greatest(Greatest { of, to, along, value, range, .. }) => {
                let range = range.as_ref().map_or(String::new(), |range| format!(": {range} times"));
                format!("{figures}, {of} over {to}, is greatest at {along} {value}{range}")
            }
        }
    }

    /// Checks that the expectation fits these figures.
    pub(super) fn check(&self, figures: &[Figure]) -> Result<(), String> {
        let name = self.name();
        self.check_sides()?;
        match self {
            Expect::Winner(Winner { stores, .. })
            | Expect::Value(Values { stores, .. })
            | Expect::MoreAt(MoreAt { stores, .. })
            | Expect::Behind(Behind { stores })
                if stores.is_empty() =>
            {
                Err(format!("expect.{name} names no store"))
            }
            Expect::Winner(Winner { within: Some(within), .. }) | Expect::Alike(Alike { within, .. })
                if !(1.0..1e9).contains(within) =>
            {
                Err(format!("within = {within}: it is how many times worse, 1 or more"))
            }
            Expect::Order(Order { stores, .. }) | Expect::Alike(Alike { stores, .. }) if stores.len() < 2 => {
                Err(format!("expect.{name} takes two stores or more"))
            }
            Expect::MoreAt(MoreAt { figure, .. }) if figures.len() < 2 || !figures.contains(figure) => {
                Err(format!("expect.more_at compares {figure} with others: name it and them in figure"))
            }
            Expect::Ratio(Ratio { axis: None, stores, .. }) if !stores.is_empty() => {
                Err("expect.ratio has stores, but no axis: the ratio is between the stores of and to".into())
            }
            Expect::Ratio(Ratio { range, .. }) if !range.fits_ratios() => Err(ratio_range_error(range)),
            Expect::Value(Values { range, .. }) => {
                let strange = figures.iter().find(|figure| !range.fits(figure.column.unit));
                strange
                    .map_or(Ok(()), |figure| Err(format!("the range {range} has not the unit of {figure}")))
            }
            Expect::Greatest(greatest) => greatest.check(),
            _ => Ok(()),
        }
    }

    fn check_sides(&self) -> Result<(), String> {
        let Some((a, b)) = self.sides() else {
            return match self {
                Expect::Ratio(Ratio { of, to, .. }) if of == to => Err(format!("of and to are both {of:?}")),
                _ => Ok(()),
            };
        };
        let Some(axis) = self.axis() else { return Ok(()) };
        match canonical(axis, a)? == canonical(axis, b)? {
            true => Err(format!("both values on the axis {} are {a:?}", axis.name())),
            false => Ok(()),
        }
    }
}

/// The axes within a matrix, as a choice: `record_size, records or data`.
fn axis_choice() -> String {
    let mut axes: Vec<Axis> = Axis::all().into_iter().filter(|axis| axis.role().is_within()).collect();
    axes.sort_by_key(|axis| axis.place_in_id());
    let names: Vec<&str> = axes.into_iter().map(Axis::name).collect();
    match names.split_last() {
        Some((last, [_, ..])) => format!("{} or {last}", names[..names.len() - 1].join(", ")),
        _ => names.concat(),
    }
}

fn ratio_range_error(range: &Bounds) -> String {
    format!("the range {range} is none of ratios: write it like 1.5.. or 90%..110%")
}

impl Greatest {
    fn check(&self) -> Result<(), String> {
        if !self.along.role().is_within() || self.along == self.axis {
            let (along, axis, choice) = (self.along, self.axis, axis_choice());
            return Err(format!("along = \"{along}\": say {choice}, and another axis than {axis}"));
        }
        if let Some(range) = self.range.as_ref().filter(|range| !range.fits_ratios()) {
            return Err(ratio_range_error(range));
        }
        canonical(self.along, &self.value).map(drop)
    }
}
