//! The language: words, lists of words and rules, read from `english.txt`.

use std::collections::HashMap;

use super::sample::{Alias, Rng};
use super::{INVENTED_PER_MILLE, INVENTED_RANK_SHIFT, INVENTED_WORDS, RANK_SHIFT, invent};

const ENGLISH: &str = include_str!("english.txt");

/// A word or mark with what follows it: at most 15 bytes and then their number, so that it can be copied whole.
#[derive(Clone, Copy)]
pub(super) struct Word {
    pub(super) bytes: [u8; 16],
}

impl Word {
    /// A flag in the last byte: the mark replaces the space before it.
    const STICKS: u8 = 0x80;
    /// A flag in the last byte: the article, which a vowel makes `an`.
    const ARTICLE: u8 = 0x40;
    /// A flag in the last byte: begins with a vowel.
    const VOWEL: u8 = 0x20;
    const LENGTH: u8 = 0x0f;

    fn new(text: &str) -> Word {
        let mark = text.trim_start_matches('_');
        let sticks = mark.len() < text.len() || matches!(text, "," | "." | ";" | ":" | "!" | "?" | ")");
        let mut bytes = [b' '; 16];
        let length = mark.len().min(14);
        bytes[..length].copy_from_slice(&mark.as_bytes()[..length]);
        let space = usize::from(!(text == "\"" || text == "("));
        let begins_with_vowel = text.starts_with(|first: char| "aeiouAEIOU".contains(first));
        let flags = [(sticks, Word::STICKS), (text == "a", Word::ARTICLE), (begins_with_vowel, Word::VOWEL)];
        let flags: u8 = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        bytes[15] = flags | (length + space) as u8;
        Word { bytes }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.bytes[15] & Word::LENGTH)
    }

    #[inline]
    pub(super) fn is_article(&self) -> bool {
        self.bytes[15] & Word::ARTICLE != 0
    }

    #[inline]
    pub(super) fn begins_with_vowel(&self) -> bool {
        self.bytes[15] & Word::VOWEL != 0
    }

    /// Bytes (0 or 1) to take back before writing.
    #[inline]
    pub(super) fn back(&self) -> usize {
        usize::from(self.bytes[15] >> 7)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Slot {
    /// By index.
    Word(u16),
    /// By index.
    List(u16),
    Capital,
}

pub(super) struct List {
    words: Vec<u16>,
    choice: Alias,
}

impl List {
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u16 {
        self.words[self.choice.pick(rng.next() as u32)]
    }
}

#[derive(Clone, Copy)]
enum Part {
    Slot(Slot),
    Rule(usize),
}

struct Rule {
    runs: Vec<Vec<Part>>,
    choice: Alias,
}

#[derive(Default)]
pub(super) struct Grammar {
    pub(super) words: Vec<Word>,
    word_ids: HashMap<String, u16>,
    pub(super) lists: Vec<List>,
    rules: Vec<Rule>,
    names: HashMap<String, Part>,
}

impl Grammar {
    pub(super) fn english() -> Grammar {
        let mut grammar = Grammar::default();
        for entry in entries(ENGLISH) {
            if let Some((name, body)) = entry.split_once(" = ") {
                grammar.rule(name, body);
            } else if let Some((name, body)) = entry.split_once(": ") {
                grammar.list(name, body);
            }
        }
        grammar
    }

    /// One expansion of a rule; empty if there is no such rule.
    pub(super) fn run(&self, name: &str, rng: &mut Rng) -> Vec<Slot> {
        let mut slots = Vec::new();
        if let Some(&part) = self.names.get(name) {
            self.expand(part, rng, &mut slots);
        }
        slots
    }

    /// Ends, because a rule names only what was defined before it.
    fn expand(&self, part: Part, rng: &mut Rng, slots: &mut Vec<Slot>) {
        match part {
            Part::Slot(slot) => slots.push(slot),
            Part::Rule(rule) => {
                let rule = &self.rules[rule];
                for &part in &rule.runs[rule.choice.pick(rng.next() as u32)] {
                    self.expand(part, rng, slots);
                }
            }
        }
    }

    fn word(&mut self, text: &str) -> u16 {
        if let Some(&id) = self.word_ids.get(text) {
            return id;
        }
        let id = self.words.len() as u16;
        self.words.push(Word::new(text));
        self.word_ids.insert(text.to_owned(), id);
        id
    }

    fn list(&mut self, head: &str, body: &str) {
        let (name, forms) = head.split_once(' ').unwrap_or((head, ""));
        let listed: Vec<&str> = body.split_whitespace().collect();
        let mut words: Vec<u16> = listed.iter().map(|word| self.word(word)).collect();
        let mut weights = rank_weights(words.len(), RANK_SHIFT);
        if !forms.is_empty() {
            let forms: Vec<&str> = forms.split('/').collect();
            // Seeded by the place in the vocabulary alone: the language is the same for every text.
            let mut rng = Rng::new(self.words.len() as u64);
            let invented = invent::invent_words(&listed, &forms, &self.word_ids, &mut rng);
            words.extend(invented.iter().map(|word| self.word(word)));
            let rare = rank_weights(INVENTED_WORDS, INVENTED_RANK_SHIFT);
            weights = mix_weights(&weights, &rare);
        }
        self.names.insert(name.to_owned(), Part::Slot(Slot::List(self.lists.len() as u16)));
        self.lists.push(List { words, choice: Alias::new(&weights) });
    }

    fn rule(&mut self, name: &str, body: &str) {
        let (mut runs, mut weights) = (Vec::new(), Vec::new());
        for alternative in body.split(" | ") {
            let mut parts = alternative.split_whitespace();
            weights.push(parts.next().and_then(|weight| weight.parse().ok()).unwrap_or(0));
            runs.push(parts.map(|part| self.read_part(part)).collect());
        }
        let rule = Rule { runs, choice: Alias::new(&weights) };
        self.names.insert(name.to_owned(), Part::Rule(self.rules.len()));
        self.rules.push(rule);
    }

    fn read_part(&mut self, text: &str) -> Part {
        match self.names.get(text) {
            Some(&part) => part,
            None if text == "^" => Part::Slot(Slot::Capital),
            None => Part::Slot(Slot::Word(self.word(text))),
        }
    }
}

/// The entries of a text in which an indented line continues the one before.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match entries.last_mut() {
            Some(entry) if line.starts_with(' ') => entry.push_str(line),
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// Weights of the Zipf-Mandelbrot law with an exponent of 1.
fn rank_weights(count: usize, shift: u64) -> Vec<u64> {
    (1..=count as u64).map(|rank| (1 << 32) / (rank + shift)).collect()
}

/// The weights of two groups in one, [`INVENTED_PER_MILLE`] of the whole in the second.
fn mix_weights(common: &[u64], rare: &[u64]) -> Vec<u64> {
    let (common_total, rare_total) = (common.iter().sum::<u64>() >> 16, rare.iter().sum::<u64>() >> 16);
    let common = common.iter().map(|weight| weight * (1000 - INVENTED_PER_MILLE) / common_total.max(1));
    common.chain(rare.iter().map(|weight| weight * INVENTED_PER_MILLE / rare_total.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_defined_above_its_use_and_every_word_fits() {
        for entry in entries(ENGLISH) {
            let (_, body) = entry.split_once(" = ").or_else(|| entry.split_once(": ")).expect(&entry);
            for word in body.split_whitespace() {
                assert!(word.trim_start_matches('_').len() <= 14, "{word}");
            }
        }
        let grammar = Grammar::english();
        for name in ["FRONT", "MORE", "STOP", "SPOKEN"] {
            assert!(!grammar.run(name, &mut Rng::new(1)).is_empty(), "what the source says is there: {name}");
        }
        for list in grammar.lists {
            let mut words = list.words.clone();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), list.words.len(), "no word is in a list twice");
        }
        assert!(grammar.words.len() <= usize::from(u16::MAX));
        for word in grammar.words {
            let text = String::from_utf8_lossy(&word.bytes[..word.len()]).into_owned();
            let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
            assert!(capitals <= 1, "{text} is used as a name and not defined above");
            let is_sound = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_digit();
            assert!(text.trim_end().bytes().all(is_sound), "{text:?}");
        }
    }

    #[test]
    fn every_alternative_can_be_said() {
        for entry in entries(ENGLISH) {
            let Some((name, body)) = entry.split_once(" = ") else { continue };
            for alternative in body.split(" | ") {
                let mut parts = alternative.split_whitespace();
                let weight = parts.next().and_then(|weight| weight.parse().ok());
                assert!(weight.is_some_and(|weight: u64| weight > 0), "{name}: {alternative}");
                assert!(parts.next().is_some(), "{name}: {alternative}");
            }
        }
    }
}
