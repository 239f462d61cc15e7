//! Input that can't be understood, or is not storebench's, gets one clear line and an exit code of its own, and loses
//! nothing.

use std::fs;

use storebench_core::error::Exit;

use super::support::{STOREBENCH, Scratch, TINY, said};

#[test]
fn an_unknown_store_is_named_with_what_was_probably_meant() {
    let scratch = Scratch::in_memory();
    let known = ["\"sqllite\"", "did you mean sqlite?", "flat-folder"];
    scratch.storebench("run crud --store sqllite").complains(Exit::UnknownStore, &known);
    scratch
        .storebench("run crud --store lmdb,tape --dry-run")
        .complains(Exit::UnknownStore, &["\"tape\"", "it has sqlite, leveldb"]);
    scratch.storebench("run crud --set tape.speed=9").complains(Exit::UnknownStore, &["\"tape\""]);
    assert!(scratch.contents().is_empty(), "nothing is made for what can't run");
}

#[test]
fn a_store_that_is_not_built_says_what_to_do() {
    let scratch = Scratch::in_memory();
    scratch
        .faulty("run crud --store tape")
        .complains(Exit::UnknownStore, &["tape is not built", "build with --features tape"]);
}

#[test]
fn values_that_cannot_be_used_are_named() {
    let scratch = Scratch::in_memory();
    scratch.write("file", "text");
    fs::create_dir(scratch.join("empty")).unwrap();
    for (arguments, words) in [
        ("--records many", &["--records", "\"many\" is not a count", "write it like"] as &[_]),
        ("--records 500..100", &["--records", "500..100"]),
        ("--records 12,500", &["--records", "one number or a list", "\"12500\"", "\"12, 500\""]),
        ("--records 1,000,10,000", &["--records", "\"000\"", "0 < FROM"]),
        ("--operations 10,00", &["--operations", "groups of three digits"]),
        ("--records 0", &["--records"]),
        ("--record-size 10KiB..1KiB", &["--record-size", "10KiB..1KiB"]),
        ("--record-size 4kilo", &["--record-size", "\"4kilo\" is not a size", "write it like"]),
        ("--record-size 2GiB", &["record sizes", "at most 1GiB"]),
        ("--data squishy", &["--data", "\"squishy\"", "use incompressible or compressible"]),
        ("--guarantee solid", &["--guarantee", "\"solid\"", "use default, none, process, power or node"]),
        ("--trials 0", &["trials is 0", "at least 1"]),
        ("--trials few", &["--trials", "few"]),
        ("--operations 0", &["operations is 0"]),
        ("--operations some", &["--operations", "\"some\" is not a count"]),
        ("--order insert,jump", &["--order", "\"jump\"", "use insert, get, update or remove"]),
        ("--order get,get", &["order names get twice"]),
        ("--seed dice", &["--seed", "dice"]),
        ("--size-limit lots", &["--size-limit", "\"lots\" is not a size"]),
        ("--timeout soon", &["--timeout", "\"soon\" is not a duration"]),
        ("--timeout 0s", &["timeout", "at least 1"]),
        ("--visit look", &["--visit", "use copy or touch"]),
        ("--compression maybe", &["--compression", "use auto, on or off"]),
        ("--threads 0", &["a number of threads is 0"]),
        ("--threads many", &["--threads", "many"]),
        ("--rate fast", &["--rate", "\"fast\" is not a rate", "5000/s"]),
        ("--tuning loose", &["--tuning", "\"loose\"", "use default, equal or share"]),
        ("--cache lukewarm", &["--cache", "\"lukewarm\"", "use warm or cold"]),
        ("--equal-cache lots", &["--equal-cache", "\"lots\" is not a size"]),
        ("--duration soon", &["--duration", "\"soon\" is not a duration"]),
        ("--warm-up some", &["--warm-up", "\"some\" is not a count"]),
        ("--precision tight", &["--precision", "tight"]),
        ("--set page_size=8192", &["--set", "write it like sqlite.page_size=8192"]),
        ("--set sqlite.pagesize=8192", &["sqlite has no setting \"pagesize\"", "did you mean page_size?"]),
        ("--set null.speed=9", &["null has no setting \"speed\"", "it takes none"]),
        ("--set sqlite.page_size=banana --set sqlite.page_size=4,8", &["sqlite.page_size is given twice"]),
        ("--url redis=redis://a --set redis.url=redis://b", &["redis.url is given twice"]),
        ("--store null --set flat-folder.write=rename", &["flat-folder.write", "takes no part", "--store"]),
        ("--store null --url redis=redis://127.0.0.1:1", &["redis.url", "takes no part"]),
        ("--place btrfs,nodatacov", &["no place \"nodatacov\"", "place = [\"btrfs,OPTION\"]"]),
        ("--at . --at .", &["two places are called \"here\"", "--at ssd=/mnt/a --at hdd=/mnt/b"]),
        ("--at a=. --at b=nowhere", &["nowhere", "there is no such directory"]),
        ("--store lmdb,lmdb", &["store names lmdb twice"]),
        ("--records 100,100..500", &["records names 100..500 twice"]),
        ("--at nowhere", &["nowhere", "there is no such directory"]),
        ("--at file", &["file", "is not a directory"]),
        ("--text nowhere", &["nowhere", "there is no such directory"]),
        ("--text empty", &["empty"]),
    ] {
        scratch.storebench(&format!("run crud {arguments}")).complains(Exit::BadValue, words);
    }
    assert!(scratch.runs().is_empty());
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let scratch = Scratch::in_memory();
    for (records, counts) in [
        ("100,1000", &["100..500", "1000..5000"] as &[_]),
        ("1,000", &["1000..5000"]),
        ("2e3", &["2000..10000"]),
        ("1,000..3,000", &["1000..3000"]),
        ("100, 500", &["100..500", "500..2500"]),
    ] {
        let mut command = scratch.command(
            STOREBENCH,
            "run crud --dry-run --store flat-folder --record-size 4KB --data compressible",
        );
        let said = said(command.args(["--records", records, "--operations", "1,000", "--trials", "1e0"]));
        let said = said.ends(Exit::Success);
        for count in counts {
            assert!(
                said.out.contains(&format!("flat-folder/4000B/{count}/compressible/")),
                "{records}\n{said}"
            );
        }
    }
}

#[test]
fn an_unknown_option_or_command_says_where_help_is() {
    let scratch = Scratch::in_memory();
    for (arguments, words) in [
        ("run crud --durability power", &["'--durability'", "see storebench run --help"] as &[_]),
        ("run crud --recrods 10", &["'--recrods'", "'--records'", "see storebench run --help"]),
        ("run", &["not provided: <STUDY>", "see storebench run --help"]),
        ("run crud --resume x", &["'--resume <RUN>'", "cannot be used with"]),
        ("run --resume x --trials 3", &["'--resume <RUN>'", "cannot be used with", "--trials"]),
        ("run --resume x --store lmdb", &["'--resume <RUN>'", "cannot be used with", "--store"]),
        ("run --resume x --precision 5%", &["cannot be used with", "--precision"]),
        ("run --resume x --dry-run", &["--dry-run", "cannot be used with", "'--resume <RUN>'"]),
        ("report", &["<RUN>...", "see storebench report --help"]),
        ("report x --csv --json", &["'--csv'", "cannot be used with", "'--json'"]),
        ("reprot x", &["'reprot'", "'report'", "see storebench --help"]),
    ] {
        scratch.storebench(arguments).complains(Exit::Usage, words);
    }
    scratch.storebench("completions tcsh").complains(Exit::BadValue, &["tcsh", "bash"]);
}

#[test]
fn a_folder_that_is_no_run_is_left_as_it_is() {
    let scratch = Scratch::in_memory();
    scratch.write("photos/holiday.jpg", "picture");
    scratch.write("odd/run.json", "{\"made by\": \"somebody else\"}");
    scratch.write("broken/run.json", "not even JSON");
    scratch.write("file", "text");
    let before = scratch.contents();
    for folder in ["photos", "odd", "broken", "file", "nowhere"] {
        let wrong = match folder {
            "odd" | "broken" => "header of a run",
            "nowhere" => "there is no run nowhere",
            _ => "is not a run",
        };
        let words = [folder, wrong];
        scratch.storebench(&format!("report {folder}")).complains(Exit::NotStorebench, &words);
        scratch.storebench(&format!("run --resume {folder}")).complains(Exit::NotStorebench, &words);
    }
    assert_eq!(scratch.contents(), before);
    scratch
        .storebench("report latest")
        .complains(Exit::NotStorebench, &["there are no runs in storebench-runs"]);
    fs::create_dir(scratch.join("storebench-runs")).unwrap();
    scratch
        .storebench("report latest")
        .complains(Exit::NotStorebench, &["there is no run in storebench-runs"]);
}

#[test]
fn a_run_of_another_version_is_left_as_it_is() {
    let scratch = Scratch::in_memory();
    scratch.storebench(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let header = scratch.only_run().join("run.json");
    let text = fs::read_to_string(&header).unwrap();
    let changes = [
        (
            "\"format\": 2,",
            "\"format\": 99,",
            &["format 99", "reads formats 1 to 2", "run the study again"] as &[_],
        ),
        ("\"version\": \"", "\"version\": \"old ", &["other versions of the stores", "start a new run"]),
    ];
    for (from, to, words) in changes {
        assert!(text.contains(from), "{text}");
        fs::write(&header, text.replace(from, to)).unwrap();
        let before = scratch.contents();
        scratch.storebench("run --resume latest").complains(Exit::OtherVersion, words);
        if from.contains("format") {
            scratch.storebench("report latest").complains(Exit::OtherVersion, words);
            scratch.storebench("report latest --json").complains(Exit::OtherVersion, words);
        }
        assert_eq!(scratch.contents(), before);
    }
}

#[test]
fn a_result_that_cannot_be_read_is_named_with_its_line() {
    let scratch = Scratch::in_memory();
    scratch.storebench(&format!("run crud --store flat-folder {TINY}")).ends(Exit::Success);
    let results = scratch.only_run().join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    fs::write(&results, format!("{text}nonsense\n{text}")).unwrap();
    let before = scratch.contents();
    scratch
        .storebench("report latest")
        .complains(Exit::NotStorebench, &["results.jsonl, line 2", "not a result"]);
    scratch.storebench("run --resume latest").complains(Exit::NotStorebench, &["results.jsonl, line 2"]);
    assert_eq!(scratch.contents(), before);
}

#[test]
fn what_leaves_nothing_to_run_or_show_says_so() {
    let scratch = Scratch::in_memory();
    scratch
        .storebench(&format!("run crud --store lmdb {TINY} --size-limit 1KiB"))
        .complains(Exit::Nothing, &["no cell can run", "over the size limit of 1.00 KiB"]);
    scratch
        .storebench(
            "run crud --quick --store lmdb --record-size 1KiB --records 100 --set lmdb.map_size=64KiB",
        )
        .complains(Exit::Nothing, &["of values: lmdb can hold 64.0 KiB at most"]);
    scratch
        .storebench(&format!("run crud --store null {TINY}"))
        .complains(Exit::Nothing, &["null does not offer the guarantee process"]);
    assert!(scratch.runs().is_empty());
}

#[test]
fn arguments_that_are_no_unicode_are_no_trouble() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::in_memory();
    let odd = std::ffi::OsStr::from_bytes(b"plan-\xFF");
    fs::create_dir(scratch.path().join(odd)).unwrap();
    let with_odd = |arguments: &str| said(scratch.command(STOREBENCH, arguments).arg(odd));
    for option in ["--at", "--hardware", "--store"] {
        with_odd(&format!("run crud {TINY} {option}")).complains(Exit::BadValue, &["invalid UTF-8"]);
    }
    let run = format!("run crud --store flat-folder {TINY}");
    with_odd(&format!("{run} --out")).complains(Exit::BadValue, &["plan-", "is not UTF-8"]);
    with_odd(&format!("{run} --at . --out")).ends(Exit::Success);
    with_odd("report").complains(Exit::NotStorebench, &["plan-", "is not a run"]);
    with_odd("run").complains(Exit::BadValue, &["invalid UTF-8"]);
}
