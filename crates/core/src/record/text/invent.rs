//! Words that no dictionary holds: stems of English-like syllables, with the endings of their part of speech.

use std::collections::BTreeSet;

use super::sample::Rng;

/// Longest invented word: with its trailing space it must fit a [`super::grammar::Word`].
const MAX_LETTERS: usize = 13;

const ONSETS: &[&str] = &[
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "tr", "pr", "br", "gr", "sh",
    "ch", "cl", "fl", "pl", "cr", "dr", "sp", "fr", "th", "sl", "bl", "v", "k", "j", "str", "wh", "qu", "sc",
    "sw", "", "", "",
];
const VOWELS: &[&str] =
    &["a", "e", "i", "o", "u", "a", "e", "i", "o", "e", "ea", "oo", "ai", "ou", "ee", "oa", "ie"];
const LINKS: &[&str] = &[
    "n", "r", "l", "t", "s", "m", "d", "c", "v", "p", "g", "b", "nt", "st", "nd", "ll", "rt", "ss", "tt",
    "mp", "ct", "rr", "pp", "ff", "nc", "rm", "rd", "ns", "mb", "ng", "sp", "th", "pt", "lt", "tr", "ph",
    "x",
];
const CODAS: &[&str] = &[
    "n", "t", "r", "d", "l", "m", "p", "s", "ck", "ll", "nd", "st", "nt", "ng", "rd", "sh", "ss", "k", "rn",
    "th", "ch", "rk", "mp", "lt", "g", "b", "w", "rt", "ff", "ct", "x",
];

/// `count` new words in lower case, each with one of `endings` (which may be empty), none of them in `taken`.
pub(super) fn words(count: usize, endings: &[&str], taken: &BTreeSet<String>, rng: &mut Rng) -> Vec<String> {
    let mut words = Vec::with_capacity(count);
    let mut seen = taken.clone();
    while words.len() < count {
        let word = stem(rng) + choose(endings, rng);
        if word.len() <= MAX_LETTERS && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn stem(rng: &mut Rng) -> String {
    let mut stem = String::from(choose(ONSETS, rng));
    stem.push_str(choose(VOWELS, rng));
    for _ in 0..[0, 0, 1, 1, 1, 2][rng.below(6) as usize] {
        stem.push_str(choose(LINKS, rng));
        stem.push_str(choose(&VOWELS[..10], rng));
    }
    stem.push_str(choose(CODAS, rng));
    stem
}

fn choose<'a>(from: &[&'a str], rng: &mut Rng) -> &'a str {
    from[rng.below(from.len() as u32) as usize]
}
