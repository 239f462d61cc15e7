//! `storebench check` and `storebench submit`: runs as they were written are sound, changed ones are not, and what is submitted can be
//! checked again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use storebench_core::error::Exit;

use super::support::{STOREBENCH, Said, Scratch, TINY, contents, missing, said, yaml};

/// A run on a machine that did nothing else, whatever runs beside this test.
fn quiet_run() -> (Scratch, PathBuf) {
    let scratch = Scratch::in_memory();
    scratch
        .storebench(&format!("run crud --quick --store flat-folder,one-file {TINY} --hardware box"))
        .ends(Exit::Success);
    let run = scratch.runs().pop().unwrap();
    change(&run, |trial| trial["others_processors"] = 0.0.into());
    (scratch, run)
}

/// Changes each trial of a run.
fn change(run: &Path, how: impl Fn(&mut Value)) {
    let file = run.join("results.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.lines().map(|line| {
        let mut trial: Value = serde_json::from_str(line).unwrap();
        how(&mut trial);
        format!("{trial}\n")
    });
    let changed: String = changed.collect();
    fs::write(file, changed).unwrap();
}

#[test]
fn a_run_is_sound_until_a_figure_of_it_is_changed() {
    let (scratch, run) = quiet_run();
    let said = scratch.storebench("check latest").ends(Exit::Success);
    assert!(said.out.contains("sound: nothing says no") && said.out.contains("candidates"), "{said}");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    change(&run, |trial| trial["measured"]["operations"][1]["latency"]["p99_ns"] = 1.into());
    let said = scratch.storebench("check latest --json").ends(Exit::Unsound);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["runs"][0]["sound"], false);
    let lines = found["runs"][0]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["lines"].as_array().unwrap());
    let no: Vec<&Value> = lines.filter(|line| line["state"] == "no").collect();
    assert_eq!(no.len(), 1, "{no:?}");
    assert!(
        no[0]["name"] == "figures" && no[0]["found"].as_str().unwrap().contains("p99_ns is 1, and "),
        "{no:?}"
    );
}

#[test]
fn what_is_submitted_is_the_run_as_it_is_and_the_site_names_who_measured_it() {
    let (scratch, run) = quiet_run();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    let said = scratch.storebench("submit latest --by Ada --into mine/new").ends(Exit::Success);
    assert!(
        said.err.contains("the files name this machine box") && said.err.contains("and the directory: "),
        "{said}"
    );
    let place = scratch.join("mine/new/results/box").join(&name);
    for file in ["run.json", "results.jsonl"] {
        assert_eq!(fs::read(place.join(file)).unwrap(), fs::read(run.join(file)).unwrap());
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 3, "nothing else is published");
    let text = fs::read_to_string(scratch.join("mine/new/pull-request.md")).unwrap();
    assert!(
        text.contains("| measured by | Ada |") && text.contains("follow from their histograms"),
        "{text}"
    );
    scratch.storebench(&format!("check mine/new/results/box/{name}")).ends(Exit::Success);
    scratch.storebench("site mine/new/results --out site").ends(Exit::Success);
    let runs = fs::read_to_string(scratch.join("site/runs.html")).unwrap();
    assert!(runs.contains("<td>Ada</td><td>nobody</td>"), "{runs}");

    let before = contents(&scratch.join("mine"));
    let said = scratch.storebench("submit latest --by Ada --into mine/new").ends(Exit::BadValue);
    assert!(said.err.contains("--into takes a new directory"), "{said}");
    scratch.storebench("submit latest --by . --into mine").ends(Exit::BadValue);
    let said = Scratch::in_memory().storebench("submit nowhere --by Ada --into x").ends(Exit::NotStorebench);
    assert!(said.err.contains("nowhere"), "{said}");
    change(&run, |trial| trial["others_processors"] = 99.0.into());
    let said = scratch.storebench("submit latest --by Ada --into other").ends(Exit::Unsound);
    assert!(said.out.contains("other programs     no"), "{said}");
    assert!(contents(&scratch.join("mine")) == before && !scratch.join("other").exists());
}

/// The repository of a collection, whose workflow runs here.
struct Collection<'a> {
    scratch: &'a Scratch,
    workflow: Value,
}

impl<'a> Collection<'a> {
    /// Two runs are in it: one is not sound, and one can't be read.
    fn new(scratch: &'a Scratch, run: &Path) -> Collection<'a> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workflow = yaml(&root.join("examples/results/results.yml"));
        fs::create_dir_all(scratch.join("collection/results")).unwrap();
        let collection = Collection { scratch, workflow };
        collection.git("git init -q && git config user.name Ada && git config user.email ada@example.com");
        collection.copy(run, "box/unsound");
        change(&collection.run("box/unsound"), |trial| trial["others_processors"] = 99.0.into());
        scratch.write("collection/results/box/unreadable/run.json", "{");
        collection.commit();
        collection
    }

    fn git(&self, words: &str) {
        let mut shell = Command::new("/bin/sh");
        let ended =
            shell.args(["-euc", words]).current_dir(self.scratch.join("collection")).output().unwrap();
        assert!(ended.status.success(), "{words}: {ended:?}");
    }

    fn commit(&self) {
        self.git("git add --all && git commit -q -m more");
    }

    /// The folder of a run.
    fn run(&self, name: &str) -> PathBuf {
        self.scratch.join("collection/results").join(name)
    }

    /// Copies a run there.
    fn copy(&self, run: &Path, name: &str) {
        fs::create_dir_all(self.run(name)).unwrap();
        for file in fs::read_dir(run).unwrap().flatten().filter(|file| file.path().is_file()) {
            fs::copy(file.path(), self.run(name).join(file.file_name())).unwrap();
        }
    }

    /// Runs a step of the workflow as GitHub does.
    fn step(&self, name: &str) -> Said {
        let steps = self.workflow["jobs"]["check"]["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == name).unwrap();
        let script = step["run"].as_str().unwrap().replace("/tmp/storebench/bin/storebench", STOREBENCH);
        let temporary = tempfile::tempdir_in(self.scratch.path()).unwrap();
        let mut shell = Command::new("bash");
        shell.args(["-eo", "pipefail", "-c", &script]).current_dir(self.scratch.join("collection"));
        let workspace = self.scratch.join("collection");
        said(shell.env("RUNNER_TEMP", temporary.path()).env("GITHUB_WORKSPACE", workspace))
    }

    /// The words of the workflow for a pull request that makes these changes, which are then gone.
    fn pull_request(&self, changes: impl FnOnce()) -> Said {
        changes();
        self.commit();
        let said = self.step("Check what is submitted");
        self.git("git reset -q --hard HEAD^ && git clean -qfd");
        said
    }
}

#[test]
fn a_collection_takes_what_submit_makes_and_refuses_all_else() {
    if Command::new("git").arg("--version").output().is_err() {
        return missing("a collection's pull requests", "git is not installed");
    }
    let (scratch, run) = quiet_run();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    scratch.storebench("submit latest --by=--Ada' --into new").ends(Exit::Success);
    let made = scratch.join("new/results/box").join(&name);
    let collection = Collection::new(&scratch, &run);
    let ours = format!("box/{name}");
    let submit = || collection.copy(&made, &ours);

    let said = collection.pull_request(submit);
    assert_eq!(said.code, Some(0), "the runs of others are no matter\n{said}");
    let said = collection.pull_request(|| drop(scratch.write("collection/README.md", "Runs.")));
    assert!(said.code == Some(0) && said.out.contains("No run is submitted."), "{said}");
    let refused = |why: &str, changes: &dyn Fn()| {
        let said = collection.pull_request(changes);
        assert!(said.code != Some(0) && format!("{}{}", said.out, said.err).contains(why), "{why}\n{said}");
    };
    refused("submission.json", &|| {
        submit();
        fs::remove_file(collection.run(&ours).join("submission.json")).unwrap();
    });
    refused("is not what `storebench submit` makes", &|| {
        collection.copy(&made, &format!("another/{name}"));
    });
    refused("other programs     no", &|| {
        submit();
        change(&collection.run(&ours), |trial| trial["others_processors"] = 99.0.into());
    });
    let changes_nothing_else = "who submits runs changes nothing else";
    refused(changes_nothing_else, &|| {
        change(&collection.run("box/unsound"), |trial| trial["others_processors"] = 0.0.into())
    });
    refused(changes_nothing_else, &|| {
        submit();
        fs::remove_dir_all(collection.run("box/unsound")).unwrap();
    });
    refused(changes_nothing_else, &|| {
        submit();
        scratch.write("collection/.github/workflows/results.yml", "");
    });
    refused(changes_nothing_else, &|| drop(scratch.write("collection/results/bü/one/run.json", "{}")));
    refused(changes_nothing_else, &|| drop(scratch.write("collection/results/\"b/one/run.json", "{}")));
    refused(changes_nothing_else, &|| {
        submit();
        let file = collection.run(&ours).join("run.json");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", file).unwrap();
    });

    submit();
    let said = collection.step("Check every run");
    assert!(said.code != Some(0) && said.out.contains("unsound"), "each night all of them\n{said}");
    assert_eq!(collection.step("Make the site").code, Some(0));
    assert!(scratch.join("collection/site/index.html").exists());
}
