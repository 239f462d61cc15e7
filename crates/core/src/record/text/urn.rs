//! What a text speaks of: words that were used come back, and slowly give way to others.

use super::grammar::List;
use super::sample::Rng;

/// An urn of words, after Pólya and Moran: a word that is drawn takes the place of another as well, so that it
/// becomes likelier for a while; and fresh words keep coming in from the list.
pub(super) struct Urn {
    words: Vec<u16>,
    /// Draws not yet paid for in fresh words, times 256.
    owed: u64,
}

impl Urn {
    /// An urn of `size` words of `list`, a power of two.
    pub(super) fn new(list: &List, size: usize, rng: &mut Rng) -> Urn {
        let words = (0..size).map(|_| list.draw(rng)).collect();
        Urn { words, owed: 0 }
    }

    pub(super) fn draw(&mut self, rng: &mut Rng) -> u16 {
        let draw = rng.next();
        let mask = self.words.len() - 1;
        let word = self.words[draw as usize & mask];
        self.words[(draw >> 32) as usize & mask] = word;
        self.owed += 256;
        word
    }

    /// Puts in one fresh word for each `fresh / 256` words drawn since the last time.
    pub(super) fn refresh(&mut self, list: &List, fresh: u64, rng: &mut Rng) {
        let mask = self.words.len() - 1;
        while self.owed >= fresh {
            self.owed -= fresh;
            self.words[rng.next() as usize & mask] = list.draw(rng);
        }
    }
}
