//! A small trial of one store in the tests' own process.

use storebench_core::workload::parameter::Parameters;
use storebench_core::workload::spec::{Spec, TrialContext};
use storebench_model::axis::Axis;
use storebench_model::cell::Cell;
use storebench_model::store::StoreDef;

/// The parameter of these trials: other tests are always at work in this process, so no store would come to rest there.
const AT_ONCE: (&str, &str) = ("after_load", "at-once");

/// Values by their names.
pub type Values<'a> = &'a [(&'a str, &'a str)];

/// Does something with a trial of a workload with these axes, parameters and settings, whose files are to be in a folder.
pub fn with_trial<T>(
    workload: &str,
    store: StoreDef,
    folder: &tempfile::TempDir,
    [axes, parameters, settings]: [Values<'_>; 3],
    act: impl FnOnce(&TrialContext<'_>) -> T,
) -> T {
    let cell = axes.iter().fold(Cell::new(store.name), |cell, (name, text)| {
        let axis = Axis::find(name).unwrap();
        cell.with(axis, axis.read(text).unwrap())
    });
    let parameters = parameters
        .iter()
        .chain([&AT_ONCE])
        .fold(Parameters::default(), |parameters, (name, text)| parameters.with(name, text).unwrap());
    let directory = folder.path().join("store");
    std::fs::create_dir(&directory).unwrap();
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let spec = Spec {
        settings: settings.collect(),
        ..Spec::unwatched(cell, directory, workload.parse().unwrap(), parameters)
    };
    act(&TrialContext { stores: &[store], spec: &spec, reach: None })
}
