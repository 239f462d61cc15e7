//! The variants of a store's settings in a plan: every combination, or one setting at a time from a base; and further points.

use serde::{Deserialize, Serialize};

use super::{Plan, Settings};
use storebench_model::axis::{Axis, Value};
use storebench_model::sanitize::{piece, quoted};

/// Settings of stores that are measured in addition to the axes' combinations, under a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsPoint {
    /// Its name in reports: `the paper's best`.
    pub name: String,
    /// The settings, by store and name; all others are the plan's.
    #[serde(flatten)]
    pub settings: Settings,
}

/// The values that distinguish a variant of a store from its others.
type Variant = Vec<(Axis, Value)>;

fn axis(store: &str, setting: &str) -> Option<Axis> {
    Axis::find(&format!("{store}.{setting}")).filter(|axis| axis.setting().is_some())
}

impl Plan {
    /// The variants of a store: every combination of its settings, or one setting at a time from the plan's own; then the points.
    pub fn variants(&self, store: &str) -> Vec<Variant> {
        let mut variants = match self.one_at_a_time {
            true => self.one_at_a_time(store),
            false => self.every_combination(store),
        };
        for point in &self.points {
            let Some(point) = self.point(point, store) else { continue };
            if !variants.contains(&point) {
                variants.push(point);
            }
        }
        variants
    }

    /// The number of variants of a store, counted before any is made. A repeated one counts twice.
    pub(super) fn count_variants(&self, store: &str) -> usize {
        let points = self.points.iter().filter(|point| point.settings.contains_key(store)).count();
        let lengths = self.settings_of_store(store).map(|(_, values)| values.len());
        match self.one_at_a_time {
            true => self.one_at_a_time(store).len(),
            false => lengths.fold(1, usize::saturating_mul),
        }
        .saturating_add(points)
    }

    fn settings_of_store(&self, store: &str) -> impl Iterator<Item = (Axis, &[Value])> {
        let is_of_store = move |axis: &Axis| axis.setting().is_some_and(|(name, _)| name == store);
        self.axes.settings().filter(move |(axis, _)| is_of_store(axis))
    }

    /// The plan's value of a setting that is on no axis.
    fn base(&self, axis: Axis) -> Option<&str> {
        let (store, name) = axis.setting()?;
        self.settings.get(store)?.get(name).map(String::as_str)
    }

    fn one_at_a_time(&self, store: &str) -> Vec<Variant> {
        let changed = self.settings_of_store(store).flat_map(|(axis, values)| {
            let other_values = values.iter().filter(move |value| self.base(axis) != Some(value.text()));
            other_values.map(move |value| vec![(axis, value.clone())])
        });
        std::iter::once(Vec::new()).chain(changed).collect()
    }

    fn every_combination(&self, store: &str) -> Vec<Variant> {
        self.settings_of_store(store).fold(vec![Vec::new()], |variants, (axis, values)| {
            let add_value = |variant: &Variant, value: &Value| {
                let mut variant = variant.clone();
                variant.push((axis, value.clone()));
                variant
            };
            variants.iter().flat_map(|variant| values.iter().map(|value| add_value(variant, value))).collect()
        })
    }

    /// A point as a variant: named like the variants of the axes, so that none appears twice.
    fn point(&self, point: &SettingsPoint, store: &str) -> Option<Variant> {
        let settings = point.settings.get(store)?;
        let given =
            settings.iter().filter_map(|(name, value)| Some((axis(store, name)?, Value::word(value))));
        let mut variant: Variant = given.collect();
        if self.one_at_a_time {
            variant.retain(|(axis, value)| self.base(*axis) != Some(value.text()));
        } else {
            for (axis, _) in self.settings_of_store(store) {
                let is_given = variant.iter().any(|(given_axis, _)| *given_axis == axis);
                if let Some(base) = self.base(axis).filter(|_| !is_given) {
                    variant.push((axis, Value::word(base)));
                }
            }
        }
        variant.sort_by_key(|(axis, _)| *axis);
        Some(variant)
    }

    pub(super) fn check_points(&self) -> Result<(), String> {
        for (index, point) in self.points.iter().enumerate() {
            if point.name.trim().is_empty() {
                return Err("a point has no name: say what reports are to call it".into());
            }
            if self.points[..index].iter().any(|earlier| earlier.name == point.name) {
                return Err(format!("two points are called {}", piece(&point.name)));
            }
            for (store, settings) in &point.settings {
                if let Some(name) = settings.keys().find(|name| axis(store, name).is_none()) {
                    let setting = quoted(&format!("{store}.{name}"));
                    return Err(format!("the point {}: {setting} is no setting", piece(&point.name)));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, Variant};

    fn plan(more: &str) -> Plan {
        let text = format!(
            "format = 1\nname = \"x\"\ntitle = \"t\"\nworkload = \"androbench\"\nseed = 1\nsize_limit = \"1GiB\"\n\
             timeout = \"1m\"\n{more}"
        );
        Plan::parse(&text, "x").unwrap()
    }

    const AXES: &str = "[settings.sqlite]\nsynchronous = \"NORMAL\"\n\
        [[point]]\nname = \"best\"\nsqlite = { journal_mode = \"WAL\", synchronous = \"NORMAL\" }\n\
        [axes]\nstore = [\"sqlite\"]\nrows = [10]\nguarantee = [\"default\"]\n\
        \"sqlite.journal_mode\" = [\"DELETE\", \"WAL\", \"OFF\"]\n\"sqlite.synchronous\" = [\"NORMAL\", \"FULL\"]\n";

    fn variants(plan: &Plan) -> Vec<String> {
        let format_variant = |variant: &Variant| {
            variant.iter().map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(" ")
        };
        plan.variants("sqlite").iter().map(format_variant).collect()
    }

    #[test]
    fn settings_are_varied_one_at_a_time_from_the_plan_s_own() {
        let plan = plan(&format!("one_at_a_time = true\n{AXES}"));
        let expected = [
            "",
            "sqlite.journal_mode=DELETE",
            "sqlite.journal_mode=WAL",
            "sqlite.journal_mode=OFF",
            "sqlite.synchronous=FULL",
        ];
        assert_eq!(variants(&plan), expected, "the point is one of them");
        assert!(plan.count_variants("sqlite") >= expected.len());
        assert_eq!(plan.variants("lmdb"), [Vec::new()]);
        let again = Plan::parse(&plan.to_toml().unwrap(), "again").unwrap();
        assert_eq!((again.points, again.one_at_a_time), (plan.points, true));
    }

    #[test]
    fn every_combination_is_made_otherwise_and_a_point_comes_once() {
        let plan = plan(AXES);
        let formatted = variants(&plan);
        assert_eq!(formatted.len(), 6);
        let point = "sqlite.journal_mode=WAL sqlite.synchronous=NORMAL";
        assert!(formatted.iter().any(|variant| variant == point), "{formatted:?}");
        let other_plan = self::plan(&AXES.replace("\"WAL\", synchronous", "\"PERSIST\", synchronous"));
        assert_eq!(variants(&other_plan).last(), Some(&point.replace("WAL", "PERSIST")));
    }

    #[test]
    fn points_need_names_and_settings() {
        let error_after = |old: &str, new: &str| {
            let text = plan(AXES).to_toml().unwrap().replace(old, new);
            Plan::parse(&text, "x").unwrap_err().message
        };
        assert!(error_after("name = \"best\"", "name = \" \"").contains("a point has no name"));
        assert!(error_after("journal_mode = \"W", "\"journal mode\" = \"W").contains("is no setting"));
    }
}
