//! The topic of a text: words that were used come back, and slowly give way to others.

use super::grammar::List;
use super::sample::Rng;

/// An urn of words, after Pólya and Moran: a drawn word may replace another, and is likelier from then on; fresh words come in
/// from the list, one for every four draws.
pub(super) struct Urn {
    words: Vec<u16>,
    draws: u32,
    /// The chance, of 256, that a drawn word replaces another.
    spread: u64,
}

impl Urn {
    /// `size` is a power of two up to 65,536.
    pub(super) fn new(list: &List, size: usize, spread: u64, rng: &mut Rng) -> Urn {
        let words = (0..size).map(|_| list.draw(rng)).collect();
        Urn { words, draws: 0, spread }
    }

    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> u16 {
        let draw = rng.next();
        let mask = self.words.len() - 1;
        let index = draw as usize & mask;
        let word = self.words[index];
        let second_index = (draw >> 32) as usize & mask;
        self.words[if draw >> 56 < self.spread { second_index } else { index }] = word;
        self.draws += 1;
        word
    }

    /// Puts in the fresh words that are due.
    pub(super) fn refresh(&mut self, list: &List, rng: &mut Rng) {
        let mask = self.words.len() - 1;
        for _ in 0..self.draws / 4 {
            self.words[rng.next() as usize & mask] = list.draw(rng);
        }
        self.draws %= 4;
    }
}
