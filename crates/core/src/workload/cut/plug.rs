//! Steps on a machine whose power somebody cuts: each is told before the next begins, so that another machine knows what was acknowledged.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::look;
use super::message::{CutTold, Looked};
use super::opened::open;
use super::record::prepare;
use crate::axis::{Axis, Value};
use crate::cell::Cell;
use crate::error::Error;
use crate::guard;
use crate::kernel::system;
use crate::result::Finding;
use crate::store::{Guarantee, Setting, Store};
use crate::workload::def::Workload;
use crate::workload::kill::{self, MOST_BYTES, steps};
use crate::workload::on_store;
use crate::workload::parameter::Parameters;
use crate::workload::spec::{Asked, Ended, Spec};
use crate::workload::step::Step;
use crate::workload::stop::Stop;

/// A store that is opened with a guarantee and settings in a folder, whatever workload it is for.
pub fn spec(
    store: &str,
    guarantee: Guarantee,
    settings: BTreeMap<String, String>,
    directory: PathBuf,
) -> Spec {
    Spec {
        parent: std::process::id(),
        cell: Cell::of(store).with(Axis::GUARANTEE, Value::word(guarantee.name())),
        directory,
        beside: None,
        workload: Workload::CRUD,
        parameters: Parameters::default(),
        settings,
        seed: 0,
        device: Err("nothing of it is measured".into()),
        disk: None,
        group: Err("nothing of it is measured".into()),
        memory_limit: None,
        limits: None,
        judged: true,
        part: None,
        library: None,
        clients: Vec::new(),
    }
}

/// Takes steps for as long as `acknowledged` says after each of them, by their number so far; `opened` hears of the store first, with its
/// version and its settings as they were read back.
///
/// # Errors
/// The store's; those of the two.
pub fn take(
    asked: &Asked<'_>,
    opened: impl FnOnce(String, Vec<Setting>) -> Result<(), Ended>,
    mut acknowledged: impl FnMut(u64) -> Result<bool, Ended>,
) -> Result<(), Ended> {
    let (def, _) = on_store::find(asked.stores, asked.spec.cell.store())?;
    prepare(asked, false)?;
    // The folder is there long before, in an application's life.
    let folder = File::open(&asked.spec.directory).map_err(Ended::harness)?;
    system::sync_file_system(&folder).map_err(Ended::harness)?;
    let store: Box<dyn Store> = open(asked, false, Step::Opening)?;
    let settings = store.settings().map_err(|error| Stop::store("reading its settings", &error))?;
    opened(store.version().unwrap_or_else(|| (def.version)()), settings)?;
    {
        let mut session = kill::session(&*store)?;
        for number in 0.. {
            steps::take(&mut *session, number, MOST_BYTES)
                .map_err(|error| Stop::store(&format!("step {number}"), &error))?;
            if !acknowledged(number + 1)? {
                break;
            }
        }
    }
    Ok(store.close().map_err(|error| Stop::store("closing the store", &error))?)
}

/// Deletes the folder that was made for a store.
///
/// # Errors
/// When it can't be deleted.
pub fn remove(own: &Path) -> Result<(), Error> {
    guard::remove_made(own).map_err(Error::io("deleting", own))
}

/// Looks at a store of whose steps so many were acknowledged when the power was cut: the next one may have been under way.
///
/// # Errors
/// When this build has no such store.
pub fn look(asked: &Asked<'_>, acknowledged: u64) -> Result<Looked, Ended> {
    match look::look(asked, &[acknowledged + 1], false)? {
        CutTold::Found(looked) => Ok(judged(looked, acknowledged)),
        told => Err(Ended::harness(format!("looking at a store told {told:?}"))),
    }
}

/// The same, held to what was acknowledged.
fn judged(looked: Looked, acknowledged: u64) -> Looked {
    let kept = looked.kept.first().copied().unwrap_or(acknowledged);
    if looked.finding != Finding::Held || kept >= acknowledged {
        return looked;
    }
    let message = format!("the last {} of {acknowledged} acknowledged steps are lost", acknowledged - kept);
    Looked { finding: Finding::Lost, message, ..looked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::FLAT_FOLDER;

    #[test]
    fn steps_are_counted_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("store");
        std::fs::create_dir(&directory).unwrap();
        let spec = spec(FLAT_FOLDER.name, Guarantee::Process, BTreeMap::new(), directory);
        let asked = Asked { stores: &[FLAT_FOLDER], spec: &spec, reach: None };
        let mut told = Vec::new();
        take(
            &asked,
            |version, _| (!version.is_empty()).then_some(()).ok_or_else(|| Ended::harness("no version")),
            |steps| {
                told.push(steps);
                Ok(steps < 40)
            },
        )
        .unwrap();
        assert_eq!(told, (1..=40).collect::<Vec<_>>());
        let less = look(&asked, 44).unwrap();
        assert_eq!((less.finding, less.kept.as_slice()), (Finding::Lost, [40].as_slice()));
        assert_eq!(less.message, "the last 4 of 44 acknowledged steps are lost");
        let held = judged(Looked { finding: Finding::Held, ..less }, 40);
        assert_eq!((held.finding, held.kept.as_slice()), (Finding::Held, [40].as_slice()));
    }
}
