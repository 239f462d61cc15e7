//! An option for each axis, generated from the table of axes.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, Id};

use storebench_host::plan::Axes;
use storebench_model::axis::{Axis, Value};
use storebench_model::units::split_list;

/// Axis values, each of which replaces the plan's.
#[derive(Debug, Default)]
pub struct AxisArgs {
    pub axes: Axes,
}

/// The name of the group of these options.
const GROUP: &str = "AxisArgs";

impl Args for AxisArgs {
    fn group_id() -> Option<Id> {
        Some(Id::from(GROUP))
    }

    fn augment_args(command: Command) -> Command {
        let axes = Axis::as_written();
        let group = ArgGroup::new(GROUP).multiple(true).args(axes.iter().map(|axis| axis.name()));
        command.args(axes.into_iter().map(option)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        AxisArgs::augment_args(command)
    }
}

impl FromArgMatches for AxisArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<AxisArgs, clap::Error> {
        let mut args = AxisArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for axis in Axis::as_written() {
            if let Some(lists) = matches.get_many::<Vec<Value>>(axis.name()) {
                self.axes.set(axis, lists.flatten().cloned());
            }
        }
        Ok(())
    }
}

fn option(axis: Axis) -> Arg {
    Arg::new(axis.name())
        .long(axis.name().replace('_', "-"))
        .value_name(axis.def().value_name)
        .help(axis.def().help)
        .action(ArgAction::Append)
        .conflicts_with("resume")
        .hide_possible_values(true)
        .value_parser(Parser(axis))
}

/// Parses a list of values, and completes known ones in a shell. The plan checks bounds.
#[derive(Clone)]
struct Parser(Axis);

impl TypedValueParser for Parser {
    type Value = Vec<Value>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Vec<Value>, clap::Error> {
        let axis = self.0;
        let parser = move |text: &str| {
            let values = match axis.def().split {
                Some(split) => split(text),
                None => split_list(text, |value| axis.read(value).is_ok())?,
            };
            values.iter().map(|value| axis.parse(value)).collect::<Result<Vec<Value>, String>>()
        };
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = self.0.def().known;
        (!known.is_empty()).then(|| Box::new(known.iter().map(PossibleValue::new)) as Box<_>)
    }
}
