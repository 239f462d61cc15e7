//! Files of one room that use one another in a circle: none can be read, or changed, without all others.

use std::collections::{BTreeMap, BTreeSet};

use super::{sources, without_tests};

/// A module by the names on its path.
type Module = Vec<String>;

/// Files in a circle, at most.
const MOST: usize = 4;

/// Rooms whose largest circle has more files, with their number: it may shrink, and never grow.
const ALLOWED: [(&str, &str, usize); 8] = [
    ("core", "axis", 10),
    ("core", "background", 7),
    ("core", "store", 6),
    ("core", "trace", 5),
    ("report", "advice", 7),
    ("report", "claims", 10),
    ("report", "data", 7),
    ("storebench", "cli", 38),
];

/// The paths that a text names, such as `crate::a::b`, those in braces each by itself.
fn paths(text: &str) -> Vec<Vec<String>> {
    let (mut found, mut groups, mut path) = (Vec::new(), Vec::<Vec<String>>::new(), Vec::new());
    let mut rest = text;
    let mut goes_on = false;
    while let Some(letter) = rest.chars().next() {
        let word: String =
            rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        if !word.is_empty() {
            rest = &rest[word.len()..];
            if !goes_on {
                found.push(std::mem::take(&mut path));
                path = groups.last().cloned().unwrap_or_default();
            }
            path.push(word);
            goes_on = false;
            continue;
        }
        if let Some(behind) = rest.strip_prefix("::") {
            (rest, goes_on) = (behind, true);
            continue;
        }
        match letter {
            '{' => groups.push(if goes_on { std::mem::take(&mut path) } else { Vec::new() }),
            '}' => {
                found.push(std::mem::take(&mut path));
                groups.pop();
            }
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
        goes_on = goes_on && letter.is_whitespace();
    }
    found.push(path);
    found.into_iter().filter(|path| path.len() > 1).collect()
}

/// The module that a path leads to from another one, as far as files tell.
fn led_to(path: &[String], from: &Module, all: &BTreeMap<Module, String>) -> Option<Module> {
    let supers = path.iter().take_while(|word| *word == "super").count();
    let (mut at, names) = match path[0].as_str() {
        "crate" => (Vec::new(), &path[1..]),
        "self" => (from.clone(), &path[1..]),
        _ => (from[..from.len().saturating_sub(supers)].to_vec(), &path[supers..]),
    };
    let mut found = Some(at.clone()).filter(|at| all.contains_key(at));
    for name in names {
        at.push(name.clone());
        if all.contains_key(&at) {
            found = Some(at.clone());
        }
    }
    found
}

/// All that is reached from a module.
fn reached(from: &Module, uses: &BTreeMap<&Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let (mut all, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = next.pop() {
        for used in uses.get(&module).into_iter().flatten() {
            if all.insert(used.clone()) {
                next.push(used.clone());
            }
        }
    }
    all
}

/// The largest circle of each room of a crate.
fn largest(crate_name: &str) -> BTreeMap<String, BTreeSet<Module>> {
    let all: BTreeMap<Module, String> = sources(crate_name)
        .map(|(path, _, name)| {
            let text = without_tests(&path);
            let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let name = name.trim_end_matches(".rs").trim_end_matches("/mod");
            (name.split('/').map(str::to_owned).collect(), lines.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let of_room = |module: &Module, text: &String| -> BTreeSet<Module> {
        let used = paths(text).into_iter().filter_map(|path| led_to(&path, module, &all));
        used.filter(|used| used[0] == module[0] && used != module).collect()
    };
    let uses: BTreeMap<&Module, _> =
        all.iter().map(|(module, text)| (module, of_room(module, text))).collect();
    let reached: BTreeMap<&Module, _> = all.keys().map(|module| (module, reached(module, &uses))).collect();
    let mut largest = BTreeMap::<String, BTreeSet<Module>>::new();
    for (module, mine) in &reached {
        let circle: BTreeSet<Module> =
            mine.iter().filter(|other| reached[other].contains(*module)).cloned().collect();
        let known = largest.entry(module[0].clone()).or_default();
        if circle.len() > known.len() {
            *known = circle;
        }
    }
    largest
}

#[test]
fn no_circle_of_files_is_large() {
    let mut wrong = Vec::new();
    for crate_name in ["core", "report", "storebench"] {
        for (room, circle) in largest(crate_name) {
            let allowed = ALLOWED.iter().find(|(of, name, _)| (*of, *name) == (crate_name, room.as_str()));
            let most = allowed.map_or(MOST, |(_, _, most)| *most);
            if circle.len() > most {
                let files: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
                wrong.push(format!("{crate_name}/{room}: {} files: {}", files.len(), files.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "circles of more than {MOST} files: {wrong:#?}");
}

#[test]
fn paths_are_found_alone_and_in_braces() {
    let text = "use crate::a::{self, b::{C, d::E}, f};\nfn g() { super::h::i(j::K); let l = m { n }; }";
    let found: Vec<String> = paths(text).iter().map(|path| path.join("::")).collect();
    let expected =
        ["crate::a::self", "crate::a::b::C", "crate::a::b::d::E", "crate::a::f", "super::h::i", "j::K"];
    assert_eq!(found, expected);
}
