//! The files of examples/fleet: GNU parallel and Slurm run theirs; those for Kubernetes and GitHub Actions are checked against their
//! readers' schemas, and their commands run.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use storebench::STORES;
use storebench_host::plan;
use storebench_host::schedule::LocationRoom;
use storebench_host::shard::Split;
use storebench_model::error::Exit;

use super::{BLOCKS, PLAN, only_run_in, read};
use crate::cli::support::{
    STOREBENCH, Said, Scratch, assert_complete, is_root, missing, root, said, wait_for, yaml,
};
use crate::file_systems::can_limit;
use crate::snippets::python::python_with;

/// The cells of the plan: at each of four positions two stores at `none`, and two at `process`.
const CELLS: usize = 4 * 3;

fn fleet_file(name: &str) -> PathBuf {
    root().join("examples/fleet").join(name)
}

fn has_program(program: &str) -> bool {
    let found =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn write_program(scratch: &Scratch, name: &str, text: &str) {
    let path = scratch.write(&format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A command in the scratch directory, with its programs and storebench in the PATH.
fn command(scratch: &Scratch, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let built = Path::new(STOREBENCH).parent().unwrap().display().to_string();
    let path =
        format!("{}:{built}:{}:/usr/sbin", scratch.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(program);
    command.env("PATH", path).current_dir(scratch.path()).stdin(Stdio::null());
    command
}

/// The other machine is a folder of this one.
fn another_machine(scratch: &Scratch) {
    fs::create_dir(scratch.join("there")).unwrap();
    write_program(scratch, "ssh", &format!("cd '{}' && exec sh -c \"$3\"", scratch.join("there").display()));
    write_program(
        scratch,
        "scp",
        &format!("cp -r '{}'/\"${{2#*:}}\" \"$3\"", scratch.join("there").display()),
    );
}

/// The words of the plan after `run`.
fn study() -> &'static str {
    PLAN.strip_prefix("run ").unwrap()
}

#[test]
fn gnu_parallel_runs_a_part_on_each_host_and_the_same_again_resumes() {
    if !has_program("parallel") {
        return missing("GNU parallel's parts", "parallel is not installed");
    }
    let scratch = Scratch::in_memory();
    another_machine(&scratch);
    let run = || {
        let mut command = command(&scratch, fleet_file("parallel.sh"));
        command.args(["results", ":,user@node2"]).args(study().split_whitespace());
        said(command.args(["--at", "it's here=."]))
    };
    let with_place = run();
    assert!(with_place.err.contains("using the place it's here=."), "words arrive as they are\n{with_place}");
    let run = || {
        let mut command = command(&scratch, fleet_file("parallel.sh"));
        said(command.args(["results", ":,user@node2"]).args(study().split_whitespace()))
    };
    run().ends(Exit::Success);
    assert_complete(&read(&scratch.join("results/merged")), CELLS, BLOCKS);
    assert!(only_run_in(&scratch.join("there/storebench-fleet/results/part-2")).exists());
    fs::remove_dir_all(scratch.join("results/merged")).unwrap();
    let again = run().ends(Exit::Success);
    let messages = format!("{}{}", again.out, again.err);
    assert!(
        messages.contains("part 1/2 is finished") && messages.contains("part 2/2 is finished"),
        "{again}"
    );
    assert_complete(&read(&scratch.join("results/merged")), CELLS, BLOCKS);
    let usage = said(&mut command(&scratch, fleet_file("parallel.sh"))).ends(Exit::Usage);
    assert!(
        usage.err.starts_with("Runs a study on several machines") && usage.err.contains("usage: "),
        "{usage}"
    );
}

#[test]
fn gnu_parallel_names_each_machine_and_runs_the_whole_plan_on_each() {
    if !has_program("parallel") {
        return missing("GNU parallel's machines", "parallel is not installed");
    }
    let scratch = Scratch::in_memory();
    another_machine(&scratch);
    let study = study().replace(" --hardware box", "");
    let host_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let names = |machines: &str| -> Vec<String> {
        let folders = fs::read_dir(scratch.join(machines)).unwrap();
        let mut names: Vec<_> = folders.map(|entry| read(&entry.unwrap().path()).header.hardware).collect();
        names.sort_by_key(|name| name == "node2");
        names
    };
    let run = |words: &[&str]| {
        let mut command = command(&scratch, fleet_file("parallel.sh"));
        said(command.args(words).arg(":,user@node2").args(study.split_whitespace())).ends(Exit::Success)
    };
    run(&["parts"]);
    assert_eq!(names("parts/merged"), [host_name.trim(), "node2"]);
    run(&["--whole", "all"]);
    assert_eq!(names("all/machines"), [host_name.trim(), "node2"]);
    for machine in ["machine-1", "machine-2"] {
        assert_complete(&read(&scratch.join("all/machines").join(machine)), CELLS, BLOCKS);
    }
    let report = scratch.storebench("report all/machines").ends(Exit::Success);
    assert!([host_name.trim(), "node2"].iter().all(|name| report.out.contains(name)), "{report}");
}

/// A Slurm of several nodes, all of them on this machine; its daemons end with it.
struct Slurm {
    daemons: Vec<Child>,
    conf: PathBuf,
}

impl Slurm {
    fn start(scratch: &Scratch, nodes: usize) -> Slurm {
        let slurm_path = |name: &str| scratch.join(&format!("slurm/{name}")).display().to_string();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap().to_owned();
        let sockets: Vec<TcpListener> =
            (0..=nodes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = sockets.iter().map(|socket| socket.local_addr().unwrap().port()).collect();
        drop(sockets);
        let node = |number: usize| {
            let port = ports[number];
            format!(
                "NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN\n"
            )
        };
        let conf = scratch.write(
            "slurm/slurm.conf",
            format!(
                "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n\
                AuthInfo=socket={}\nCredType=cred/munge\nSlurmctldPort={}\nSlurmctldPidFile={}\n\
                SlurmdPidFile={}\nStateSaveLocation={}\nSlurmdSpoolDir={}\nProctrackType=proctrack/linuxproc\n\
                TaskPlugin=task/none\nMpiDefault=none\nReturnToService=2\nSelectType=select/cons_tres\n\
                SelectTypeParameters=CR_CPU\nSchedulerParameters=sched_interval=1,batch_sched_delay=0\n\
                {}PartitionName=all Nodes=ALL Default=YES\n",
                slurm_path("munge"),
                ports[0],
                slurm_path("control.pid"),
                slurm_path("%n.pid"),
                slurm_path("state"),
                slurm_path("spool-%n"),
                (1..=nodes).map(node).collect::<String>(),
            ),
        );
        fs::create_dir(slurm_path("state")).unwrap();
        (1..=nodes).for_each(|number| fs::create_dir(slurm_path(&format!("spool-n{number}"))).unwrap());
        let key = scratch.write("slurm/key", [7; 64]);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
        let mut slurm = Slurm { daemons: Vec::new(), conf };
        let mut start = |name: &str, arguments: &[String]| {
            let mut command = command(scratch, name);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            slurm.daemons.push(command.spawn().unwrap());
        };
        let option = |name: &str, file: &str| format!("--{name}={}", slurm_path(file));
        let files =
            [("key-file", "key"), ("socket", "munge"), ("pid-file", "munge.pid"), ("log-file", "munge.log")];
        let mut munge: Vec<String> = files.iter().map(|(name, file)| option(name, file)).collect();
        munge.extend([option("seed-file", "munge.seed"), "--force".into(), "--foreground".into()]);
        start("munged", &munge);
        wait_for("munged", || Path::new(&slurm_path("munge")).exists());
        let conf_arguments = || ["-D".to_owned(), "-f".into(), slurm_path("slurm.conf")];
        start("slurmctld", &conf_arguments());
        for number in 1..=nodes {
            start("slurmd", &[&conf_arguments()[..], &["-N".into(), format!("n{number}")]].concat());
        }
        let all_idle = || {
            let states = slurm.run_client(scratch, "sinfo", &["-h", "-N", "-o", "%T"]);
            states.lines().filter(|state| *state == "idle").count() == nodes
        };
        wait_for("the nodes", all_idle);
        slurm
    }

    fn run_client(&self, scratch: &Scratch, program: &str, arguments: &[&str]) -> String {
        let mut command = command(scratch, program);
        let output = said(command.args(arguments).env("SLURM_CONF", &self.conf));
        format!("{}{}", output.out, output.err)
    }

    /// Kills a node: its daemon, its jobs' daemons, and all that runs on it.
    fn kill(&mut self, scratch: &Scratch, node: usize) {
        let (node_variable, conf) = (format!("SLURMD_NODENAME=n{node}"), self.conf.display().to_string());
        let is_on_node = |process: &u32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let has_variable =
                |expected: &[u8]| environment.split(|byte| *byte == 0).any(|variable| variable == expected);
            has_variable(node_variable.as_bytes()) && has_variable(format!("SLURM_CONF={conf}").as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let processes = processes.filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok());
        let node_processes: Vec<u32> = processes.filter(is_on_node).collect();
        assert!(!node_processes.is_empty(), "nothing runs on the node");
        // A daemon that sees its job end would report that: it goes first. munged and slurmctld were started before the nodes.
        let daemons = node_processes.iter().filter_map(|process| parent(*process));
        let daemons = daemons.filter(|parent| {
            let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
            name.starts_with("slurmstepd")
        });
        let victims: Vec<String> = [self.daemons[node + 1].id()]
            .into_iter()
            .chain(daemons)
            .chain(node_processes.iter().copied())
            .map(|process| process.to_string())
            .collect();
        Command::new("kill").arg("-9").args(&victims).stderr(Stdio::null()).status().unwrap();
        let update = [format!("NodeName=n{node}"), "State=DOWN".into(), "Reason=killed".into()];
        self.run_client(scratch, "scontrol", &["update", &update[0], &update[1], &update[2]]);
    }
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let _ = daemon.wait();
        }
    }
}

/// The nodes of the fleet, each of which has one of the eight positions.
const NODES: usize = 8;

/// Eight machines, each under the limits of one, of which one is killed while it measures: another does its part from the beginning, and
/// the merge takes that.
#[test]
fn slurm_runs_an_array_on_eight_machines_and_a_killed_one_s_part_is_done_by_another() {
    if !["munged", "slurmctld", "/usr/sbin/slurmd", "sbatch"].iter().all(|program| has_program(program))
        || !is_root()
    {
        return missing(
            "Slurm's parts",
            "slurmctld, slurmd, slurm-client and munge are not installed, or this is not root",
        );
    }
    let scratch = Scratch::elsewhere();
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut slurm = Slurm::start(&scratch, NODES);
    let script = fleet_file("slurm.sh").display().to_string();
    let place = scratch.path().display().to_string();
    let trials = 8;
    let study = study().replace("--trials 2", &format!("--trials {trials}")).replace(" --hardware box", "");
    let study = study.replace("--records 20,30", "--records 20,30,40,50");
    let machine = if can_limit("Slurm's parts under limits") { " --machine raspberry-pi-zero-2" } else { "" };
    let study = format!("{study}{machine}");
    let mut submit = command(&scratch, "sbatch");
    submit.env("SLURM_CONF", &slurm.conf).env("PARTS", NODES.to_string()).env("PLACE", &place);
    let array = format!("--array=1-{NODES}");
    let submitted = said(submit.args([&array, &script]).args(study.split_whitespace())).ends(Exit::Success);
    let job = submitted.out.split_whitespace().last().unwrap().to_owned();
    let task = format!("{job}_1");
    let first_part = scratch.join("storebench-fleet/part-1");
    let count_results = |folder: &Path| -> usize {
        let runs = fs::read_dir(folder).into_iter().flatten().flatten();
        let lines = runs.filter_map(|run| fs::read_to_string(run.path().join("results.jsonl")).ok());
        lines.map(|text| text.lines().count()).sum()
    };
    wait_for("a trial of the first part", || count_results(&first_part) > 0);
    let query_task = |column: &str| slurm.run_client(&scratch, "squeue", &["-h", "-j", &task, "-o", column]);
    let (job_id, node) = (query_task("%A").trim().to_owned(), query_task("%N").trim().to_owned());
    slurm.kill(&scratch, node.strip_prefix('n').unwrap().parse().unwrap());
    let before = count_results(&first_part);
    assert!(before < CELLS / 4 * trials, "it was finished before it was killed");
    let is_back =
        || slurm.run_client(&scratch, "scontrol", &["show", "job", &job_id]).contains("Requeue=1 Restarts=1");
    wait_for("the job to be back in the queue", is_back);
    // Slurm waits for two minutes otherwise.
    slurm.run_client(&scratch, "scontrol", &["update", &format!("JobId={job_id}"), "StartTime=now"]);
    wait_for("the array to end", || slurm.run_client(&scratch, "squeue", &["-h"]).trim().is_empty());
    let merged = slurm.run_client(&scratch, "sbatch", &[&script, "--merge"]);
    let merged_folder = scratch.join("storebench-fleet/merged");
    wait_for("the merge", || merged_folder.exists());
    let merge = merged.split_whitespace().last().unwrap().to_owned();
    let read_merge_log = || {
        fs::read_to_string(scratch.join(&format!("storebench-{merge}-4294967294.txt"))).unwrap_or_default()
    };
    wait_for("its end", || read_merge_log().contains("written: "));
    let unfinished = format!("of {node} was left unfinished, and ");
    assert!(
        read_merge_log().contains(&unfinished) && !read_merge_log().contains("missing: "),
        "{}",
        read_merge_log()
    );
    let machines: Vec<_> =
        fs::read_dir(&merged_folder).unwrap().flatten().map(|entry| read(&entry.path())).collect();
    // The killed one has nothing that counts, and another one has two parts.
    assert_eq!(machines.len(), NODES - 1);
    let trial_count: usize = machines.iter().map(|run| run.trials.len()).sum();
    assert_eq!(trial_count, 2 * CELLS * trials);
    assert!(machines.iter().all(|run| run.header.hardware != node));
    let failed_trial = machines.iter().flat_map(|run| &run.trials).find(|trial| trial.ok().is_none());
    assert_eq!(failed_trial.map(|trial| (trial.cell.id(), &trial.outcome)), None);
    run_whole_on(&slurm, &scratch, &machines[0].header.hardware);
    // The killed machine comes up again, and whoever starts there next gives back what it held.
    scratch.storebench(&format!("clean {place}")).ends(Exit::Success);
    drop(slurm);
    fs::remove_dir_all(scratch.join("slurm")).unwrap();
    scratch.assert_nothing_left();
}

/// Has one of Slurm's nodes run the whole plan.
fn run_whole_on(slurm: &Slurm, scratch: &Scratch, node: &str) {
    let submit = |words: &[&str]| {
        let mut submit = command(scratch, "sbatch");
        let (script, results) = (fleet_file("slurm.sh"), scratch.join("whole"));
        submit.env("SLURM_CONF", &slurm.conf).env("PLACE", scratch.path()).env("RESULTS", results);
        submit.args(["--wait", &format!("--nodelist={node}")]).arg(script).args(words);
        said(&mut submit).ends(Exit::Success);
    };
    let study = study().replace(" --hardware box", "");
    submit(&[&["--whole"], &study.split_whitespace().collect::<Vec<_>>()[..]].concat());
    submit(&["--merge"]);
    let run = read(&scratch.join(&format!("whole/machines/machine-{node}")));
    assert_complete(&run, CELLS, BLOCKS);
    assert_eq!(run.header.hardware, node);
}

/// Runs a script of a file, with the study narrowed and some words replaced.
fn try_script(scratch: &Scratch, script: &str, words: &[(&str, &str)], variables: &[(&str, &str)]) -> Said {
    assert!(script.contains("run crud --shard "), "{script}");
    let script = script.replace("crud", study());
    let script = words.iter().fold(script, |script, (word, replacement)| script.replace(word, replacement));
    said(command(scratch, "/bin/sh").args(["-euc", &script]).envs(variables.iter().copied()))
}

/// Checks that each part of the study in a file's script has positions to measure, so that no machine is there for nothing.
fn assert_all_have_work(script: &str, parts: usize) {
    let study = script.split(" run ").nth(1).unwrap().split(" --shard ").next().unwrap();
    let parts = u32::try_from(parts).unwrap();
    let plan = plan::find(study).unwrap();
    let split = Split::new(&plan, STORES, &[LocationRoom::unbounded("here")], parts).unwrap();
    assert!((1..=parts).all(|part| split.positions(part).0 > 1), "{study} in {parts} parts");
}

#[test]
fn the_job_of_kubernetes_has_what_it_must_and_its_parts_run() {
    let job = yaml(&fleet_file("kubernetes.yaml"));
    let spec = &job["spec"];
    assert_eq!([&job["apiVersion"], &job["kind"]], ["batch/v1", "Job"]);
    assert_eq!(spec["completionMode"], "Indexed");
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["restartPolicy"], "OnFailure");
    let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("{pod}") };
    let env = container["env"].as_array().unwrap();
    let parts = env.iter().find(|variable| variable["name"] == "PARTS").unwrap();
    assert_eq!([&spec["completions"], &spec["parallelism"]], [&parts["value"]; 2]);
    let node = env.iter().find(|variable| variable["name"] == "NODE").unwrap();
    assert_eq!(node["valueFrom"]["fieldRef"]["fieldPath"], "spec.nodeName");
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
    let labels = &spec["template"]["metadata"]["labels"];
    let [anti_affinity] =
        pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            .as_array()
            .unwrap()
            .as_slice()
    else {
        panic!("{pod}")
    };
    assert_eq!(anti_affinity["labelSelector"]["matchLabels"], *labels);
    assert_eq!(container["command"], serde_json::json!(["/bin/sh", "-euc"]));
    let script = container["args"][0].as_str().unwrap();
    assert_all_have_work(script, parts["value"].as_str().unwrap().parse().unwrap());
    let scratch = Scratch::in_memory();
    let words = [("/place", "."), ("/results", "results"), ("--hardware box ", "")];
    for index in ["0", "1"] {
        let env = [("JOB_COMPLETION_INDEX", index), ("PARTS", "2"), ("NODE", "node")];
        try_script(&scratch, script, &words, &env).ends(Exit::Success);
    }
    let runs = ["1", "2"].map(|part| only_run_in(&scratch.join(&format!("results/part-{part}"))));
    assert!(runs.iter().all(|run| read(run).header.hardware == "node"));
    let merged = format!("merge {} {} --out all", runs[0].display(), runs[1].display());
    scratch.storebench(&merged).ends(Exit::Success);
    assert_complete(&read(&scratch.join("all")), CELLS, BLOCKS);
}

#[test]
fn the_workflow_has_what_it_must_and_its_parts_run() {
    let workflow = yaml(&fleet_file("github-actions.yml"));
    assert!(workflow["on"].get("workflow_dispatch").is_some(), "{workflow}");
    let jobs = &workflow["jobs"];
    for job in ["part", "merge"] {
        assert_eq!(jobs[job]["runs-on"], "ubuntu-latest");
        for step in jobs[job]["steps"].as_array().unwrap() {
            assert!(step.get("run").is_some() != step.get("uses").is_some(), "{step}");
        }
    }
    assert_eq!([&jobs["merge"]["needs"], &jobs["merge"]["if"]], ["part", "always()"]);
    let script = |job: &str, name: &str| {
        let steps = jobs[job]["steps"].as_array().unwrap();
        let step = steps.iter().find(|step| step["name"] == name).unwrap();
        step["run"].as_str().unwrap().to_owned()
    };
    let part_script = script("part", "Run a part");
    let parts = jobs["part"]["strategy"]["matrix"]["part"].as_array().unwrap();
    assert_all_have_work(&part_script, parts.len());
    assert!(part_script.contains(&format!("${{{{ matrix.part }}}}/{}\"", parts.len())), "{part_script}");
    let scratch = Scratch::in_memory();
    fs::create_dir_all(scratch.join("storebench/bin")).unwrap();
    std::os::unix::fs::symlink(STOREBENCH, scratch.join("storebench/bin/storebench")).unwrap();
    for number in parts {
        let number = number.as_str().unwrap();
        // As upload and download do.
        let results = format!("--out parts/part-{number}");
        let words = [("${{ matrix.part }}", number), ("--out results", &results), ("--hardware box ", "")];
        try_script(&scratch, &part_script, &words, &[("RUNNER_NAME", "Runner 7")]).ends(Exit::Success);
    }
    said(command(&scratch, "/bin/sh").args(["-euc", &script("merge", "Merge")])).ends(Exit::Success);
    let merged = fs::read_dir(scratch.join("merged")).unwrap();
    let merged: Vec<_> = merged.map(|machine| read(&machine.unwrap().path())).collect();
    let names: BTreeSet<String> = merged.iter().map(|run| run.header.hardware.clone()).collect();
    let expected = parts.iter().map(|part| format!("Runner 7, part {}", part.as_str().unwrap()));
    assert_eq!(names, expected.collect(), "each runner is a machine");
    let trials: usize = merged.iter().map(|run| run.trials.len()).sum();
    assert_eq!(trials, CELLS * BLOCKS as usize);
    assert!(fs::read_to_string(scratch.join("report.html")).unwrap().contains("storebench"));
}

/// Holds files to the schema that those publish who read them, by a program of Python's.
fn check_schema(module: &str, arguments: &[&str], files: &[&str]) -> Option<Said> {
    let Some(python) = python_with(&[module]) else {
        missing("the schemas of fleets", &format!("needs {}, which scripts/setup.sh test installs", module));
        return None;
    };
    Some(said(Command::new(python).args(["-m", module]).args(arguments).args(files).current_dir(root())))
}

#[test]
fn ready_files_and_the_workflow_of_releases_are_as_their_readers_publish_it() {
    let workflow = ["--builtin-schema", "vendor.github-workflows"];
    let files = [".github/workflows/release.yml", "examples/fleet/github-actions.yml"];
    if let Some(output) = check_schema("check_jsonschema", &workflow, &files) {
        assert_eq!(output.code, Some(0), "{output}");
        let wrong_kind =
            check_schema("check_jsonschema", &workflow, &["examples/fleet/kubernetes.yaml"]).unwrap();
        assert_ne!(wrong_kind.code, Some(0), "{wrong_kind}");
    }
    if let Some(output) =
        check_schema("kubernetes_validate", &["--strict"], &["examples/fleet/kubernetes.yaml"])
    {
        assert_eq!(output.code, Some(0), "{output}");
    }
}

#[test]
fn the_workflow_of_releases_runs_what_there_is() {
    let root = root();
    let makefile = fs::read_to_string(root.join("Makefile")).unwrap();
    let workflow = yaml(&root.join(".github/workflows/release.yml"));
    let jobs = workflow["jobs"].as_object().unwrap();
    let run_lines: Vec<&str> = jobs
        .values()
        .flat_map(|job| job["steps"].as_array().unwrap())
        .filter_map(|step| step["run"].as_str())
        .collect();
    let targets = fs::read_to_string(root.join("scripts/target.sh")).unwrap();
    for line in &run_lines {
        let mut words = line.split_whitespace();
        match words.next().unwrap() {
            "make" => assert!(makefile.contains(&format!("\n{}: ", words.next().unwrap())), "{line}"),
            "gh" => {}
            script => assert!(root.join(script).exists(), "{line}"),
        }
    }
    assert_eq!(run_lines.len(), 5, "{run_lines:?}");
    // Root is needed, in a system that this was tried in.
    for (name, job) in jobs.iter().filter(|(name, _)| *name != "draft") {
        assert_eq!(job["container"]["image"], "rust:1-bookworm", "{name}");
        assert_eq!(job["container"]["options"], "--privileged --cgroupns=host", "{name}");
    }
    for target in jobs["package"]["strategy"]["matrix"]["target"].as_array().unwrap() {
        assert!(targets.contains(target.as_str().unwrap()), "{target}");
    }
}
