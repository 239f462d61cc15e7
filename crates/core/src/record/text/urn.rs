//! The topic of a text: words that were used come back, and slowly give way to others.

use super::grammar::List;
use super::sample::Rng;
use super::{SPREAD, URN_WORDS};

/// An urn of words, after Pólya and Moran: a drawn word may replace another, and is likelier from then on; fresh words come in
/// from the list, one for every four draws.
pub(super) struct Urn {
    words: Vec<u16>,
    draws: u32,
}

impl Urn {
    pub(super) fn new(list: &List, rng: &mut Rng) -> Urn {
        Urn { words: (0..URN_WORDS).map(|_| list.draw(rng)).collect(), draws: 0 }
    }

    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> u16 {
        let draw = rng.next();
        let mask = self.words.len() - 1;
        let index = draw as usize & mask;
        let word = self.words[index];
        let second_index = (draw >> 32) as usize & mask;
        self.words[if draw >> 56 < SPREAD { second_index } else { index }] = word;
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
