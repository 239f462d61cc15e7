//! `--store-library`: adds the stores of libraries that are not built in.

use std::path::Path;

use storebench_model::error::{Error, Exit, Result};
use storebench_model::library;
use storebench_model::result::RunHeader;
use storebench_model::store::StoreDef;

use super::args::{Args, Command};

/// The stores, including those of libraries on the command line. A name that exists is an error.
pub fn load_libraries(stores: &[StoreDef], args: &Args) -> Result<Vec<StoreDef>> {
    let mut all_stores = stores.to_vec();
    if args.store_library.is_empty() {
        return Ok(all_stores);
    }
    let is_elsewhere = match &args.command {
        Command::Run(run) => run.board.remote.is_some(),
        Command::Hidden(_) => true,
        _ => false,
    };
    if is_elsewhere {
        return Err(Error::bad_value(
            "--store-library is for runs on this machine: a library of it is none of the other machine's",
        ));
    }
    args.store_library.iter().try_for_each(|path| add(&mut all_stores, path))?;
    Ok(all_stores)
}

/// The stores, including those of a run's libraries: if one is gone or has changed, another must have been given for it.
pub fn run_stores(stores: &[StoreDef], header: &RunHeader) -> Result<Vec<StoreDef>> {
    let mut all_stores = stores.to_vec();
    for info in &header.stores {
        let Some(used) = &info.library else { continue };
        if all_stores.iter().any(|store| store.name == info.name && store.library.is_some()) {
            continue;
        }
        library::reload(used).map_err(|why| {
            let message = format!(
                "the run's store {} comes from a library: {why}; give it with --store-library FILE, or start a new run",
                info.name
            );
            Error::new(Exit::OtherVersion, message)
        })?;
        add(&mut all_stores, &used.path)?;
    }
    Ok(all_stores)
}

fn add(all_stores: &mut Vec<StoreDef>, path: &Path) -> Result<()> {
    let library_stores = library::stores(path).map_err(Error::bad_value)?;
    for store in library_stores {
        if let Some(existing) = all_stores.iter().find(|existing| existing.name == store.name) {
            let owner = match existing.library {
                Some(library) => format!("that of {}", library.path.display()),
                None => "storebench's own".into(),
            };
            return Err(Error::bad_value(format!(
                "the library {} has a store {}, and so is {owner} called: give it another name",
                path.display(),
                store.name
            )));
        }
        all_stores.push(store);
    }
    Ok(())
}
