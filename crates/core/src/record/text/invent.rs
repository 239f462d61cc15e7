//! Words that no dictionary holds: stems of English-like syllables, with the endings of their part of speech.

use std::collections::{HashMap, HashSet};

use super::INVENTED_WORDS;
use super::sample::Rng;

/// With its trailing space a word must fit a [`super::grammar::Word`].
const MAX_LETTERS: usize = 13;

const ONSETS: &[&str] = &[
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "b", "d", "h", "l", "m", "p", "r",
    "s", "t", "st", "tr", "pr", "br", "gr", "sh", "ch", "cl", "fl", "pl", "cr", "dr", "sp", "fr", "th", "sl",
    "bl", "v", "k", "j", "wh", "qu", "", "", "",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "a", "e", "i", "o", "e", "ea", "oo", "ai", "ou", "ee"];
/// The first [`VOWELS`] are single letters.
const SHORT_VOWELS: usize = 10;
const LINKS: &[&str] = &[
    "n", "r", "l", "t", "s", "m", "d", "c", "v", "p", "g", "b", "nt", "st", "nd", "ll", "rt", "ss", "tt",
    "rr", "pp", "ff", "rm", "rd", "mb", "ng", "th", "ph",
];
const CODAS: &[&str] = &[
    "n", "t", "r", "d", "l", "m", "p", "n", "t", "r", "d", "l", "ck", "ll", "nd", "st", "nt", "ng", "rd",
    "sh", "ss", "k", "rn", "th", "ch", "rk", "mp", "lt", "g", "b", "rt",
];
const SYLLABLES: &[u32] = &[0, 0, 0, 1, 1, 1, 1, 2];

/// [`INVENTED_WORDS`] new words that are not in `taken`. Each is a `listed` word after a beginning such as `sea-`, or a new stem before an ending
/// such as `-ness` or `-`; at least one of `forms` must be an ending. If listed words begin with a capital, so do new ones.
pub(super) fn invent_words(
    listed: &[&str],
    forms: &[&str],
    taken: &HashMap<String, u16>,
    rng: &mut Rng,
) -> Vec<String> {
    let is_capitalised = listed.iter().all(|word| word.starts_with(|first: char| first.is_ascii_uppercase()));
    let mut words = Vec::with_capacity(INVENTED_WORDS);
    let mut seen = HashSet::new();
    while words.len() < INVENTED_WORDS {
        let form = choose(forms, rng);
        let mut word = match form.strip_prefix('-') {
            Some(ending) => stem(rng) + ending,
            None => form.trim_end_matches('-').to_owned() + choose(listed, rng),
        };
        if is_capitalised {
            word[..1].make_ascii_uppercase();
        }
        if word.len() <= MAX_LETTERS && !taken.contains_key(&word) && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn stem(rng: &mut Rng) -> String {
    let mut stem = String::from(choose(ONSETS, rng));
    stem.push_str(choose(VOWELS, rng));
    for _ in 0..SYLLABLES[rng.below(SYLLABLES.len() as u32) as usize] {
        stem.push_str(choose(LINKS, rng));
        stem.push_str(choose(&VOWELS[..SHORT_VOWELS], rng));
    }
    stem.push_str(choose(CODAS, rng));
    stem
}

fn choose<'a>(choices: &[&'a str], rng: &mut Rng) -> &'a str {
    choices[rng.below(choices.len() as u32) as usize]
}
