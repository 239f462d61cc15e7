//! Text that compresses as English prose does. A small grammar (`english.txt`) is expanded beforehand into a few thousand shapes:
//! runs of words and of places for words. Writing is then to draw a shape, and for each place a word from the urn of its list: no
//! division, no floating point, hardly a branch. The example `text_ratios` measures how it compresses next to real books
//! (docs/data.md).

mod grammar;
mod invent;
mod sample;
mod urn;

use self::grammar::{Grammar, Slot};
use self::sample::{Rng, scale};
use self::urn::Urn;

/// In bytes, without its newline.
const LINE_BYTES: usize = 72;

/// The share of paragraphs, of 2^32, that are dialogue.
const SPOKEN: u64 = (2 << 32) / 5;
const MAX_SENTENCES: u32 = 6;
const MAX_CONTINUATIONS: u32 = 4;

// The compression ratios depend on these parameters: found by search, to match docs/data.md. Whoever changes one, the grammar or
// the words changes every text, and measures again.

/// Added to a word's rank: the higher, the flatter the head of a list's frequencies.
const RANK_SHIFT: u64 = 5;
/// Invented words in each list that takes any.
const INVENTED_WORDS: usize = 3000;
/// As [`RANK_SHIFT`], for invented words.
const INVENTED_RANK_SHIFT: u64 = 2000;
/// Of 1,000.
const INVENTED_PER_MILLE: u64 = 170;
/// Words of a list in use at a time; a power of two.
const URN_WORDS: usize = 4096;
/// The chance, of 256, that a used word replaces another.
const SPREAD: u64 = 10;
const SHAPES: usize = 2048;

/// A deterministic, endless stream of meaningless English-like prose: ASCII letters, punctuation, spaces and newlines, in
/// paragraphs of narration and dialogue with lines of up to 72 bytes. Making a source takes some 20 milliseconds, so fill one
/// large pool and cut values out of it: a slice at any offset compresses alike.
pub struct TextSource {
    grammar: Grammar,
    shapes: Shapes,
    urns: Vec<Urn>,
    rng: Rng,
    /// The current paragraph, and how much of it has been used.
    text: Vec<u8>,
    taken: usize,
}

/// The grammar, expanded beforehand: sentences and parts with the lists still to draw from.
struct Shapes {
    /// Narration: how a sentence begins, goes on and ends.
    front: Vec<Vec<Slot>>,
    more: Vec<Vec<Slot>>,
    stop: Vec<Vec<Slot>>,
    spoken: Vec<Vec<Slot>>,
}

impl TextSource {
    /// The text of `seed`: the same bytes on every machine.
    pub fn new(seed: u64) -> TextSource {
        let grammar = Grammar::english();
        let mut rng = Rng::new(seed);
        let shapes = |name| (0..SHAPES).map(|_| grammar.run(name, &mut rng)).collect();
        let [front, more, stop, spoken] = ["FRONT", "MORE", "STOP", "SPOKEN"].map(shapes);
        let shapes = Shapes { front, more, stop, spoken };
        let urns = grammar.lists.iter().map(|list| Urn::new(list, &mut rng)).collect();
        TextSource { grammar, shapes, urns, rng, text: Vec::new(), taken: 0 }
    }

    /// Fills `out` with the next bytes of the text. How the text is cut into calls doesn't change it.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.taken == self.text.len() {
                self.write_paragraph();
                self.taken = 0;
            }
            let ready = &self.text[self.taken..];
            let count = ready.len().min(out.len() - filled);
            out[filled..filled + count].copy_from_slice(&ready[..count]);
            filled += count;
            self.taken += count;
        }
    }

    fn write_paragraph(&mut self) {
        self.text.clear();
        let draw = self.rng.next();
        if draw >> 32 < SPOKEN {
            self.write_shape(|shapes| &shapes.spoken);
        } else {
            for _ in 0..=scale(draw as u32, MAX_SENTENCES) {
                self.write_shape(|shapes| &shapes.front);
                for _ in 0..self.rng.below(MAX_CONTINUATIONS + 1) {
                    self.write_shape(|shapes| &shapes.more);
                }
                self.write_shape(|shapes| &shapes.stop);
            }
        }
        for (urn, list) in self.urns.iter_mut().zip(&self.grammar.lists) {
            urn.refresh(list, &mut self.rng);
        }
        wrap(&mut self.text);
        self.text.pop();
        self.text.extend_from_slice(b"\n\n");
    }

    fn write_shape(&mut self, shapes: impl Fn(&Shapes) -> &Vec<Vec<Slot>>) {
        let TextSource { grammar, shapes: all, urns, rng, text, .. } = self;
        let shapes = shapes(all);
        let shape = &shapes[rng.below(shapes.len() as u32) as usize];
        let mut lower_case_bit = 0;
        let mut article = false;
        for &slot in shape {
            let id = match slot {
                Slot::Word(word) => word,
                Slot::List(list) => urns[usize::from(list)].draw(rng),
                Slot::Capital => {
                    lower_case_bit = 0x20;
                    continue;
                }
            };
            let word = &grammar.words[usize::from(id)];
            if article && word.begins_with_vowel() {
                text.pop();
                text.extend_from_slice(b"n ");
            }
            article = word.is_article();
            let start = text.len() - word.back().min(text.len());
            text.truncate(start);
            text.extend_from_slice(&word.bytes);
            text[start] &= !lower_case_bit;
            lower_case_bit = 0;
            text.truncate(start + word.len());
        }
    }
}

fn wrap(text: &mut [u8]) {
    let mut line = 0;
    while text.len() - line > LINE_BYTES {
        let Some(space) = text[line..=line + LINE_BYTES].iter().rposition(|&byte| byte == b' ') else {
            return;
        };
        text[line + space] = b'\n';
        line += space + 1;
    }
}

#[cfg(test)]
mod tests;
