//! Changes to a plan: a preset, or what the command line says.

use serde::de::{Error as _, MapAccess};

use super::axes::unknown_field;
use super::{Axes, Bytes, Percent, Period, Plan, Settings};
use storebench_core::axis::Axis;
use storebench_core::axis::read::{Key, ReadList};
use storebench_core::workload::parameter::{Parameters, Read};
use storebench_core::workload::table::parameter;

/// Changes to a plan: what they name takes the place of what is there.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Changes {
    pub description: Option<String>,
    pub trials: Option<u32>,
    pub seed: Option<u64>,
    pub size_limit: Option<Bytes>,
    pub timeout: Option<Period>,
    pub precision: Option<Percent>,
    pub budget: Option<Period>,
    pub one_at_a_time: Option<bool>,
    pub axes_one_at_a_time: Option<bool>,
    pub disk_estimate: Option<Vec<String>>,
    pub cuts: Option<u64>,
    pub torn: Option<bool>,
    pub settling: Option<bool>,
    pub faults: Option<u64>,
    pub recovery: Option<Vec<u64>>,
    pub clients: Option<Vec<String>>,
    pub parameters: Parameters,
    pub settings: Settings,
    pub axes: Axes,
}

impl Changes {
    /// No change but these values on an axis.
    pub fn on(
        axis: Axis,
        values: impl IntoIterator<Item = impl Into<storebench_core::axis::Value>>,
    ) -> Changes {
        Changes { axes: Axes::of(axis, values), ..Changes::default() }
    }

    /// Makes them in a plan. Every field is named here, so that none is forgotten.
    pub(super) fn make(self, plan: &mut Plan) {
        fn set<T>(value: &mut T, change: Option<T>) {
            if let Some(change) = change {
                *value = change;
            }
        }
        let Changes {
            description: _,
            trials,
            seed,
            size_limit,
            timeout,
            precision,
            budget,
            one_at_a_time,
            axes_one_at_a_time,
            disk_estimate,
            cuts,
            torn,
            settling,
            faults,
            recovery,
            clients,
            parameters,
            settings,
            axes,
        } = self;
        if trials.is_some() {
            // Whoever says how many means so many, and no more where no budget is said beside it.
            plan.budget = None;
        }
        set(&mut plan.trials, trials);
        set(&mut plan.seed, seed);
        set(&mut plan.size_limit, size_limit);
        set(&mut plan.timeout, timeout);
        set(&mut plan.precision, precision.map(Some));
        set(&mut plan.budget, budget.map(Some));
        set(&mut plan.one_at_a_time, one_at_a_time);
        set(&mut plan.axes_one_at_a_time, axes_one_at_a_time);
        set(&mut plan.disk_estimate, disk_estimate);
        set(&mut plan.cuts, cuts.map(Some));
        set(&mut plan.torn, torn);
        set(&mut plan.settling, settling);
        set(&mut plan.faults, faults.map(Some));
        set(&mut plan.recovery, recovery);
        set(&mut plan.clients, clients);
        plan.parameters.change(parameters);
        for (store, settings) in settings {
            for axis in settings.keys().filter_map(|name| Axis::named(&format!("{store}.{name}"))) {
                plan.axes.remove(axis);
            }
            plan.settings.entry(store).or_default().extend(settings);
        }
        plan.axes.change(axes);
        plan.record_for_estimates();
    }
}

/// The fields that are neither parameters nor axes.
const OWN: [&str; 16] = [
    "description",
    "trials",
    "seed",
    "size_limit",
    "timeout",
    "precision",
    "budget",
    "one_at_a_time",
    "axes_one_at_a_time",
    "disk_estimate",
    "cuts",
    "torn",
    "settling",
    "faults",
    "recovery",
    "clients",
];

storebench_core::from_map!(Changes, "a table of changes to a plan", read);

/// Reads changes: what is no field is an axis.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Changes, A::Error> {
    let mut changes = Changes::default();
    macro_rules! read {
        ($name:ident; $($field:ident)*) => {
            match $name.as_str() {
                $(stringify!($field) => changes.$field = Some(map.next_value()?),)*
                "settings" => changes.settings = map.next_value()?,
                name => match (Axis::named(name), parameter(name)) {
                    (Some(axis), _) => changes.axes.set(axis, map.next_value_seed(ReadList(axis))?),
                    (None, Some(parameter)) => {
                        let text = map.next_value_seed(Read(parameter))?;
                        changes.parameters.set(parameter, &text).map_err(A::Error::custom)?;
                    }
                    (None, None) => {
                        return Err(A::Error::custom(unknown_field(name, &OWN)));
                    }
                },
            }
        };
    }
    let known = |name: &str| {
        let own = OWN.contains(&name) || name == "settings";
        match own || Axis::named(name).is_some() || parameter(name).is_some() {
            true => Ok(()),
            false => Err(unknown_field(name, &OWN)),
        }
    };
    while let Some(name) = map.next_key_seed(Key(known))? {
        read!(name; description trials seed size_limit timeout precision budget one_at_a_time axes_one_at_a_time disk_estimate cuts torn settling faults recovery clients);
    }
    Ok(changes)
}
