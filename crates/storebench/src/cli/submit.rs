//! `storebench submit`: the folder and the text with which a run is submitted to a collection of results.

use std::fs;
use std::path::{Path, PathBuf};

use storebench_core::error::{Error, Exit, Result};
use storebench_core::result::{Run, RunHeader};
use storebench_core::shown::piece;
use storebench_core::store::StoreDef;
use storebench_core::units::{counted, rough_bytes};
use storebench_report::site::{SUBMISSION, Submission, name_of};

use super::args::SubmitArgs;
use super::check::{self, Checked};
use super::output::{print, tell};
use super::runs;

/// The files of a run that are published. Its logs and pages may name more of a machine than its owner thinks.
const PUBLISHED: [&str; 2] = ["run.json", "results.jsonl"];
/// The folder in which a collection has its runs.
const RESULTS: &str = "results";
const TEXT: &str = "pull-request.md";
/// Columns of the checks in the text.
const WIDTH: usize = 100;

/// Makes both.
///
/// # Errors
/// [`Exit::Unsound`] for a run that is not sound, after all that is wrong was printed; when something can't be read or written.
pub fn submit(stores: &[StoreDef], args: &SubmitArgs) -> Result<Exit> {
    let name = args.by.trim();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Error::bad_value("--by takes a name, such as --by \"Ada Lovelace\""));
    }
    runs::refuse_there("--into", &args.into)?;
    let path = runs::find(&args.run, &args.out)?;
    let (run, checked) = check::look(stores, &path)?;
    if !checked.sound {
        print(&checked.text(super::output::WIDTH))?;
        let message = format!("{} is not sound, so it is not submitted: see each no above", path.display());
        return Err(Error::new(Exit::Unsound, message));
    }
    let own = fs::canonicalize(&path).map_err(Error::io("looking at", &path))?;
    let own = own.file_name().and_then(|name| name.to_str()).unwrap_or("run").to_owned();
    let place: PathBuf = [RESULTS, &name_of(&run.header.hardware), &name_of(&own)].iter().collect();
    write(&args.into, |folder| {
        let target = folder.join(&place);
        runs::make_directory("making the folder of", &target)?;
        for file in PUBLISHED {
            fs::copy(path.join(file), target.join(file)).map_err(Error::io("copying", &path.join(file)))?;
        }
        let submission = serde_json::to_string(&Submission::by(name))
            .map_err(|error| Error::new(Exit::Failure, format!("writing JSON: {error}")))?;
        put(&target.join(SUBMISSION), &format!("{submission}\n"))?;
        put(&folder.join(TEXT), &text(name, &run, &checked, &place))
    })?;
    let into = args.into.display();
    tell(&format!("written: {into}/{}, and the text of the pull request: {into}/{TEXT}", place.display()));
    named(&run.header).iter().for_each(|line| tell(line));
    Ok(Exit::Success)
}

/// Fills a new folder, which gets its name when it is whole.
fn write(into: &Path, fill: impl Fn(&Path) -> Result<()>) -> Result<()> {
    let name =
        into.file_name().ok_or_else(|| Error::bad_value("--into has no name: name a new directory"))?;
    let parent = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    runs::make_directory("making the directory of", parent)?;
    let staged = parent.join(format!(".{}.submitting-{}", name.to_string_lossy(), std::process::id()));
    fs::create_dir(&staged).map_err(Error::io("making", &staged))?;
    let written = fill(&staged).and_then(|()| fs::rename(&staged, into).map_err(Error::io("making", into)));
    if written.is_err() {
        // It is this process's own, and of no use half filled.
        let _ = fs::remove_dir_all(&staged);
    }
    written
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(Error::io("writing", path))
}

/// Names of the machine in the files, so that its owner can look before anything is published.
fn named(header: &RunHeader) -> Vec<String> {
    let mut lines = vec![
        format!("before you publish it: the files name this machine {}", piece(&header.hardware)),
        format!(
            "and the command: {}",
            header.command.iter().map(|word| piece(word).to_string()).collect::<Vec<_>>().join(" ")
        ),
    ];
    lines.extend(header.places.iter().map(|place| format!("and the directory: {}", place.path)));
    lines
}

/// The text of the pull request.
fn text(by: &str, run: &Run, checked: &Checked, place: &Path) -> String {
    let header = &run.header;
    let machine = &header.environment;
    let memory = machine.memory_bytes.map_or("unknown".into(), |bytes| rough_bytes(bytes as f64).to_string());
    let stores: Vec<String> =
        header.stores.iter().map(|store| format!("{} {}", store.name, store.version)).collect();
    let rows = [
        ("measured by", by.to_owned()),
        ("started", header.started.clone()),
        (
            "machine",
            format!(
                "{}, {}, {memory} of memory",
                machine.cpu.as_deref().unwrap_or("unknown processor"),
                counted(machine.cores, "core")
            ),
        ),
        ("system", format!("{}, {}", machine.distribution.as_deref().unwrap_or("unknown"), machine.kernel)),
        ("stores", stores.join(", ")),
        ("trials", counted(run.trials.len(), "trial")),
        ("command", format!("`{}`", header.command.join(" "))),
    ];
    let rows: String = rows.iter().map(|(name, value)| format!("| {name} | {} |\n", cell(value))).collect();
    let checks: String = checked.checks.iter().map(|group| group.text(WIDTH)).collect::<Vec<_>>().join("\n");
    format!(
        "# {} on {}\n\n| | |\n| --- | --- |\n{rows}\n## Checks\n\n```text\n{checks}```\n\nRepeat them: `storebench check {}`\n",
        cell(&header.study),
        cell(&header.hardware),
        place.display()
    )
}

/// Text that ends no cell of a table and begins no line.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(char::is_control, " ")
}
