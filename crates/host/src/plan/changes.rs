//! Changes to a plan: a preset, or options of the command line.

use serde::{Deserialize, Deserializer};

use super::other_keys::{Fields, OtherKeys};
use super::{Axes, Bytes, Percent, Period, Plan, Settings};
use storebench_core::workload::parameter::Parameters;
use storebench_model::axis::Axis;
use storebench_model::units::parse_whole;

/// A partial plan: what it names takes the place of what a plan has. Its fields are keys of presets and options of `run`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, clap::Args)]
#[serde(remote = "Self", expecting = "a table of changes to a plan")]
pub struct Changes {
    /// A preset in a line.
    #[arg(skip)]
    pub description: Option<String>,
    /// Trials of each cell
    #[arg(long, value_name = "N", value_parser = parse_whole::<u32>, conflicts_with = "resume")]
    pub trials: Option<u32>,
    /// Add blocks of trials until each ratio that decides a winner is known to within this share
    #[arg(long, value_name = "SHARE", conflicts_with = "resume")]
    pub precision: Option<Percent>,
    /// After all trials, measure what is undecided again and again until this time is over
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    pub budget: Option<Period>,
    /// What the budget is for.
    #[arg(skip)]
    pub for_claims: Option<bool>,
    /// Have the sessions on other machines, over ssh, and the trial's process here: host1,host2. For servers by --url (see docs/servers.md)
    #[arg(long, value_name = "HOST,...", value_delimiter = ',', value_hint = clap::ValueHint::Hostname, conflicts_with = "resume")]
    pub clients: Option<Vec<String>>,
    /// Vary one axis at a time, from the first value of all others and the plan's settings, instead of every combination. Stores and
    /// guarantees stay combined
    #[arg(long, num_args = 0, default_missing_value = "true", conflicts_with = "resume")]
    pub one_at_a_time: Option<bool>,
    /// The same of the axes that are no settings, which the option of `one_at_a_time` sets, too.
    #[arg(skip)]
    pub axes_one_at_a_time: Option<bool>,
    /// Axes whose values are taken in step.
    #[arg(skip)]
    pub paired: Option<Vec<Vec<Axis>>>,
    /// Estimate times on other disks without waiting: trials are on the simulated disk `recorder`, or on --disk; their requests are
    /// repeated on models of these
    #[arg(long, value_name = "DISK,...", value_delimiter = ',', conflicts_with = "resume")]
    pub disk_estimate: Option<Vec<String>>,
    /// After each trial, check this number of states in which power cuts could have left its store, on a file system in an image
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, conflicts_with = "resume")]
    pub cuts: Option<u64>,
    /// The disk of these states tears blocks of 4 KiB: it may have written some sectors and not others
    #[arg(long, num_args = 0, default_missing_value = "true", conflicts_with = "resume")]
    pub torn: Option<bool>,
    /// Cut all of these states while the store settles (checkpoints, compactions), instead of a fifth
    #[arg(long, num_args = 0, default_missing_value = "true", conflicts_with = "resume")]
    pub settling: Option<bool>,
    /// After each trial, put its store through this number of disk faults of each kind, on a file system in an image
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, conflicts_with = "resume")]
    pub faults: Option<u64>,
    /// After each trial, measure how long its store takes to open after its process was killed, with this number of records
    #[arg(long, value_name = "RECORDS,...", value_delimiter = ',', value_parser = parse_whole::<u64>, conflicts_with = "resume")]
    pub recovery: Option<Vec<u64>>,
    /// Seed for keys, values, record choice and trial order
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, conflicts_with = "resume")]
    pub seed: Option<u64>,
    /// Leave out combinations with more bytes of values than this
    #[arg(long, value_name = "SIZE", conflicts_with = "resume")]
    pub size_limit: Option<Bytes>,
    /// Stop a trial after this time, and count it as failed
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    pub timeout: Option<Period>,
    /// Settings of stores, by store and name.
    #[arg(skip)]
    #[serde(default)]
    pub settings: Settings,
    /// Parameters of the workload.
    #[command(flatten)]
    #[serde(skip)]
    pub parameters: Parameters,
    /// Values on axes.
    #[arg(skip)]
    #[serde(skip)]
    pub axes: Axes,
}

impl Changes {
    /// Changes only the values of one axis.
    pub fn single(
        axis: Axis,
        values: impl IntoIterator<Item = impl Into<storebench_model::axis::Value>>,
    ) -> Changes {
        Changes { axes: Axes::single(axis, values), ..Changes::default() }
    }

    /// Applies the changes to a plan.
    pub(super) fn make(self, plan: &mut Plan) {
        if self.trials.is_some() {
            // `--trials` cancels the plan's budget.
            plan.budget = None;
        }
        if self.paired.is_none() {
            let is_dropped = |pair: &Vec<Axis>| pair.iter().any(|axis| self.axes.names(*axis));
            let dropped: Vec<_> = plan.paired.extract_if(.., |pair| is_dropped(pair)).collect();
            dropped.into_iter().flatten().for_each(|axis| plan.axes.unrepeat(axis));
        }
        /// Overrides the plan's fields by those before the semicolon.
        macro_rules! override_fields {
            ($($field:ident)*; $($rest:ident)*) => {
                let Changes { description: _, $($field,)* $($rest),* } = self;
                $(if let Some(value) = $field { plan.$field = value.into(); })*
            };
        }
        override_fields!(trials seed size_limit timeout precision budget for_claims one_at_a_time axes_one_at_a_time paired disk_estimate cuts torn settling faults
            recovery clients; parameters settings axes);
        if parameters.operations.is_some() {
            // It is the number at all guarantees, unless another is given with it.
            plan.parameters.operations_unsynced = None;
        }
        plan.parameters.change(parameters);
        for (store, settings) in settings {
            for axis in settings.keys().filter_map(|name| Axis::find(&format!("{store}.{name}"))) {
                plan.axes.remove(axis);
            }
            plan.settings.entry(store).or_default().extend(settings);
        }
        plan.axes.change(axes);
        plan.record_for_estimates();
    }
}

impl<'de> Deserialize<'de> for Changes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Changes, D::Error> {
        let mut others = OtherKeys { axes: Some(Axes::default()), parameters: Some(Parameters::default()) };
        let changes = Changes::deserialize(Fields(deserializer, &mut others))?;
        let OtherKeys { axes, parameters } = others;
        Ok(Changes { axes: axes.unwrap_or_default(), parameters: parameters.unwrap_or_default(), ..changes })
    }
}
