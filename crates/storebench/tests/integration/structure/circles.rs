//! Circles of files: none that use one another all around, but for a few files that are one thing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Modules, check_order, files, root, without_comments};

/// The most files of a circle.
const MOST_FILES: usize = 4;

/// The crates.
const CRATES: [&str; 4] = ["disk", "core", "report", "storebench"];

/// The modules of the crate `storebench`, from the bottom up, as those of the others. Which stores there are is the library's
/// table: the command line takes any.
const STOREBENCH: Modules = &[
    ("sqlite_file", &[]),
    ("sqlite_values", &[]),
    ("evidence", &[]),
    ("stores", &[]),
    ("cli", &[]),
    ("main", &[]),
];

/// The files that several stores use, beside the stores.
const SHARED: [&str; 7] = ["compiled", "linked", "mapped", "one_session", "opaque", "owned", "support"];

/// The files of the command line and what each may use of the others, from the bottom up.
const CLI: Modules = &[
    ("extras", &[]),
    ("output", &[]),
    ("signals", &[]),
    ("args", &["output"]),
    ("usage", &[]),
    ("runs", &["output"]),
    ("given", &[]),
    ("findings", &[]),
    ("files", &["output"]),
    ("floor", &["runs"]),
    ("export", &["args", "extras", "files", "output", "runs", "signals"]),
    ("report", &["args", "export", "extras", "files", "findings", "floor", "output", "runs"]),
    ("launch", &["args", "output", "report", "runs"]),
    ("properties", &["args", "output"]),
    ("trace", &["args", "output", "signals"]),
    ("finish", &["export", "files", "output", "report"]),
    ("remote", &["args", "finish", "launch", "output", "properties", "runs"]),
    ("reach", &["remote"]),
    ("plan", &["args", "given", "properties", "runs"]),
    ("dry_run", &["launch", "output"]),
    ("prepare", &["dry_run", "launch", "output"]),
    ("start", &["args", "launch", "output", "plan", "prepare", "properties", "reach", "runs", "trace"]),
    ("libraries", &["args"]),
    ("resume", &["launch", "libraries", "reach", "runs", "trace"]),
    ("parts", &["output", "runs"]),
    ("merge", &["args", "launch", "libraries", "output", "runs"]),
    ("board", &["args", "launch", "prepare", "remote", "resume", "runs", "signals", "start", "usage"]),
    ("question", &["args", "extras", "output"]),
    (
        "run",
        &[
            "args",
            "extras",
            "files",
            "finish",
            "launch",
            "output",
            "parts",
            "prepare",
            "properties",
            "question",
            "remote",
            "resume",
            "runs",
            "signals",
            "start",
        ],
    ),
    ("stages", &["args", "launch", "output", "runs", "signals"]),
    (
        "tune",
        &["args", "extras", "files", "launch", "output", "plan", "question", "report", "runs", "stages"],
    ),
    (
        "advise",
        &[
            "args", "extras", "files", "launch", "output", "plan", "question", "report", "runs", "stages",
            "tune",
        ],
    ),
    ("clean", &["output", "runs"]),
    ("compare", &["args", "files", "output", "report", "runs"]),
    ("crash", &["args", "export", "output", "runs"]),
    ("generate", &["args", "output", "signals"]),
    ("machines", &["output"]),
    ("disks", &["output"]),
    ("doctor", &["args", "launch", "machines", "output", "runs"]),
    ("man", &["args", "files", "output"]),
    ("settings", &["output"]),
    ("check", &["args", "output", "report", "runs"]),
    ("site", &["args", "findings", "output", "report", "runs"]),
    ("stores", &["output"]),
    ("studies", &["output"]),
];

/// A module by the names that lead to it from its crate.
type Name = Vec<String>;

/// The files of a crate, each with the files that it uses.
struct Uses(BTreeMap<Name, BTreeSet<Name>>);

impl Uses {
    fn of(crate_name: &str) -> Uses {
        let source = root().join("crates").join(crate_name).join("src");
        let mut texts = BTreeMap::new();
        for path in files(&source, ".rs") {
            let name = path.strip_prefix(&source).unwrap().with_extension("");
            let mut name: Name = name
                .iter()
                .map(|part| part.to_str().unwrap().to_owned())
                .filter(|part| part != "lib")
                .collect();
            if name.last().is_some_and(|last| last == "mod") {
                name.pop();
            }
            if !name.iter().any(|part| part == "tests" || part == "samples") {
                texts.insert(name, without_comments(&path));
            }
        }
        let of = |(name, text): (&Name, &String)| {
            let found = paths(text).into_iter().filter_map(|path| resolved(name, path, &texts));
            (name.clone(), found.filter(|used| used != name).collect())
        };
        Uses(texts.iter().map(of).collect())
    }

    /// The files that lead to one another all around, with `from`; none where it uses none that lead back.
    fn circle<'u>(&'u self, from: &'u Name) -> BTreeSet<&'u Name> {
        let back = |other: &&'u Name| self.reached(other).contains(from);
        self.reached(from).into_iter().filter(back).collect()
    }

    fn reached<'u>(&'u self, from: &'u Name) -> BTreeSet<&'u Name> {
        let (mut found, mut next) = (BTreeSet::new(), vec![from]);
        while let Some((_, used)) = next.pop().and_then(|name| self.0.get_key_value(name)) {
            next.extend(used.iter().filter(|used| found.insert(*used)));
        }
        found
    }
}

/// The file that a path leads to, if it is one of the crate's: the one whose name is the longest beginning of it.
fn resolved(from: &Name, path: Vec<String>, all: &BTreeMap<Name, String>) -> Option<Name> {
    let mut full = from.clone();
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => full.clear(),
        "self" => {}
        "super" => drop(full.pop()),
        // A path that begins with a module of the file's own.
        _ => {
            full.push(first.clone());
            if !all.contains_key(&full) {
                return None;
            }
        }
    }
    for part in rest {
        if part == "super" { drop(full.pop()) } else { full.push(part.clone()) }
    }
    while !all.contains_key(&full) {
        full.pop()?;
    }
    Some(full)
}

/// A text's words, `::` and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|letter| !is_word(letter)) {
            Some(0) if rest.starts_with("::") => 2,
            Some(0) => first.len_utf8(),
            Some(length) => length,
            None => rest.len(),
        };
        let (token, after) = rest.split_at(length);
        if !first.is_whitespace() {
            found.push(token);
        }
        rest = after;
    }
    found
}

/// All paths in a text; `a::{b, c}` is two.
fn paths(text: &str) -> Vec<Vec<String>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < tokens.len() {
        let begins = at == 0 || !["::", "."].contains(&tokens[at - 1]);
        let is_word = tokens[at].starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        at = if begins && is_word && tokens[at + 1] == "::" {
            path(&tokens, at, &[], &mut found)
        } else {
            at + 1
        };
    }
    found
}

/// Reads the path at a token, after what stands before its list; gives the token after it.
fn path(tokens: &[&str], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = match tokens[at] {
                        "," => at + 1,
                        "as" => at + 2,
                        _ => self::path(tokens, at, &path, found).max(at + 1),
                    };
                }
                return at + 1;
            }
            Some(word) if word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_') => {
                path.push((*word).to_owned());
                at += 1;
                if tokens.get(at) != Some(&"::") {
                    found.push(path);
                    return at;
                }
                at += 1;
            }
            _ => {
                found.push(path);
                return at;
            }
        }
    }
}

/// The module of a room that a file belongs to; `None` for files outside the room, and for the room's own.
fn within(name: &Name, room: &[&str]) -> Option<String> {
    let is_inside = name.len() > room.len() && name.iter().zip(room).all(|(part, of_room)| part == of_room);
    is_inside.then(|| name[room.len()].clone())
}

#[test]
fn files_do_not_use_one_another_in_large_circles() {
    let mut wrong = BTreeSet::new();
    for crate_name in CRATES {
        let uses = Uses::of(crate_name);
        for name in uses.0.keys() {
            let circle: Vec<String> = uses.circle(name).into_iter().map(|name| name.join("/")).collect();
            if circle.len() > MOST_FILES {
                wrong.insert(format!("{crate_name}: {}", circle.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_command_line_s_files_use_only_what_lies_below_them() {
    let uses = Uses::of("storebench");
    let mut wrong = Vec::new();
    for (room, modules) in [(&[][..], STOREBENCH), (&["cli"][..], CLI)] {
        check_order(modules);
        let module = |name: &Name| within(name, room);
        for (name, used) in &uses.0 {
            let Some(own) = module(name) else { continue };
            let Some((_, may_use)) = modules.iter().find(|(known, _)| *known == own) else {
                wrong.push(format!(
                    "{}: tests/integration/structure/circles.rs does not say what {own} may use",
                    name.join("/")
                ));
                continue;
            };
            let used = used.iter().filter_map(module).filter(|used| *used != own);
            let bad = used.filter(|used| !may_use.contains(&used.as_str()));
            wrong.extend(bad.map(|used| format!("{}: {own} must not use {used}", name.join("/"))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn stores_use_no_other_stores() {
    let mut wrong = Vec::new();
    for (name, used) in &Uses::of("storebench").0 {
        let Some(own) = within(name, &["stores"]) else { continue };
        let used = used.iter().filter_map(|used| within(used, &["stores"])).filter(|used| *used != own);
        let bad = used.filter(|used| SHARED.contains(&own.as_str()) || !SHARED.contains(&used.as_str()));
        wrong.extend(bad.map(|used| format!("{}: {own} must not use {used}", name.join("/"))));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let text = "use super::a::{self, b::C, d::{E, F as G}};\nfn f() -> crate::h::I { own::j(x.k::<L>()) }";
    let read: Vec<String> = paths(text).into_iter().map(|path| path.join("::")).collect();
    for expected in
        ["super::a::self", "super::a::b::C", "super::a::d::E", "super::a::d::F", "crate::h::I", "own::j"]
    {
        assert!(read.iter().any(|path| path == expected), "{expected}: {read:?}");
    }
    assert_eq!(read.len(), 6, "{read:?}");
}
