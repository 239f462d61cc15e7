//! An option for each parameter of any workload, made from the table of workloads.

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, Id, ValueHint};

use storebench_core::workload::parameter::{ParameterDef, ParameterForm, Parameters};
use storebench_core::workload::table::parameters;

/// Parameters of the workload, each of which replaces the plan's.
#[derive(Debug, Default)]
pub struct WorkArgs {
    pub parameters: Parameters,
}

/// The name of the group of these options.
const GROUP: &str = "WorkArgs";

impl Args for WorkArgs {
    fn group_id() -> Option<Id> {
        Some(Id::from(GROUP))
    }

    fn augment_args(command: Command) -> Command {
        let mut all = parameters();
        all.retain(|parameter| parameter.form != ParameterForm::Found);
        let group = ArgGroup::new(GROUP).multiple(true).args(all.iter().map(|parameter| parameter.name));
        command.args(all.into_iter().map(option)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        WorkArgs::augment_args(command)
    }
}

impl FromArgMatches for WorkArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<WorkArgs, clap::Error> {
        let mut args = WorkArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for parameter in parameters() {
            // One that is no option has no value.
            if let Ok(Some(text)) = matches.try_get_one::<String>(parameter.name) {
                let wrong = |wrong| clap::Error::raw(clap::error::ErrorKind::ValueValidation, wrong);
                self.parameters.set(parameter, text).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

fn option(parameter: &'static ParameterDef) -> Arg {
    let option = Arg::new(parameter.name)
        .long(parameter.name.replace('_', "-"))
        .value_name(parameter.value_name)
        .help(parameter.help)
        .conflicts_with("resume")
        .value_parser(parameter.read);
    let option = match parameter.instead_of {
        Some(other) => option.conflicts_with(other),
        None => option,
    };
    match parameter.form {
        ParameterForm::Directory => option.value_hint(ValueHint::DirPath),
        ParameterForm::File => option.value_hint(ValueHint::FilePath),
        _ => option,
    }
}
