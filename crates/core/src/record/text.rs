//! Text that compresses as English prose does.

mod grammar;
mod invent;
mod sample;
mod urn;

use self::grammar::{Grammar, Slot, Word};
use self::sample::{Rng, scale};
use self::urn::Urn;

/// Longest line, in bytes, without its newline.
const LINE_BYTES: usize = 72;

/// What the compression ratios depend on. [`TUNING`] holds the values found by search.
#[derive(Clone)]
pub(crate) struct Tuning {
    /// Added to the rank of a listed word: the higher, the flatter the head of a list's frequencies.
    pub(crate) rank_shift: u64,
    /// Invented words per open list.
    pub(crate) invented_words: usize,
    /// As `rank_shift`, for invented words.
    pub(crate) invented_rank_shift: u64,
    /// Draws from an open list that fall on invented words, of 1,000.
    pub(crate) invented_per_mille: u64,
    /// Words in the urn of a list; a power of two.
    pub(crate) urn_words: usize,
    /// Words drawn from an urn for each one that comes fresh into it, times 256.
    pub(crate) fresh: u64,
    /// Sentences of narration and of dialogue, each, whose shape is fixed at the start.
    pub(crate) sentences: usize,
}

pub(crate) const TUNING: Tuning = Tuning {
    rank_shift: 8,
    invented_words: 2000,
    invented_rank_shift: 50,
    invented_per_mille: 200,
    urn_words: 1024,
    fresh: 100,
    sentences: 1024,
};

/// A deterministic stream of English-like prose.
pub struct TextSource {
    grammar: Grammar,
    told: Vec<Vec<Slot>>,
    spoken: Vec<Vec<Slot>>,
    urns: Vec<Urn>,
    fresh: u64,
    rng: Rng,
    /// The paragraph that is being handed out, and how much of it has been.
    text: Vec<u8>,
    taken: usize,
}

impl TextSource {
    /// The text of `seed`: the same bytes on every machine.
    pub fn new(seed: u64) -> TextSource {
        TextSource::tuned(seed, &TUNING)
    }

    pub(crate) fn tuned(seed: u64, tuning: &Tuning) -> TextSource {
        let grammar = Grammar::english(tuning);
        let mut rng = Rng::new(seed);
        let mut sentences =
            |name| (0..tuning.sentences).map(|_| grammar.run(name, &mut rng)).collect::<Vec<Vec<Slot>>>();
        let (told, spoken) = (sentences("TOLD"), sentences("SPOKEN"));
        let urns = grammar.lists.iter().map(|list| Urn::new(list, tuning.urn_words, &mut rng)).collect();
        TextSource { grammar, told, spoken, urns, fresh: tuning.fresh, rng, text: Vec::new(), taken: 0 }
    }

    /// Fills `out` with the next bytes of the text. How the text is cut into calls doesn't change it.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.taken == self.text.len() {
                self.paragraph();
                self.taken = 0;
            }
            let ready = &self.text[self.taken..];
            let count = ready.len().min(out.len() - filled);
            out[filled..filled + count].copy_from_slice(&ready[..count]);
            filled += count;
            self.taken += count;
        }
    }

    fn paragraph(&mut self) {
        self.text.clear();
        let draw = self.rng.next();
        let spoken = (draw & 15) < 6;
        let sentences = if spoken { 1 } else { 1 + scale(draw as u32, 6) };
        for _ in 0..sentences {
            let shapes = if spoken { &self.spoken } else { &self.told };
            let shape = &shapes[self.rng.below(shapes.len() as u32) as usize];
            say(shape, &self.grammar.words, &mut self.urns, &mut self.rng, &mut self.text);
        }
        for (urn, list) in self.urns.iter_mut().zip(&self.grammar.lists) {
            urn.refresh(list, self.fresh, &mut self.rng);
        }
        wrap(&mut self.text);
        self.text.pop();
        self.text.extend_from_slice(b"\n\n");
    }
}

/// Appends a sentence of this shape.
fn say(shape: &[Slot], words: &[Word], urns: &mut [Urn], rng: &mut Rng, text: &mut Vec<u8>) {
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
        let word = &words[usize::from(id)];
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

/// Breaks lines at the last space that keeps them within [`LINE_BYTES`].
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
