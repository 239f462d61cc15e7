//! Finds the share of a core here that does as much as a core of another machine. Three measures that were published for such machines
//! are taken here, each done as its authors describe it: a sort (branches), a cipher (arithmetic) and a chain of pointers through 1 MB
//! (memory). The share is the geometric mean of the three ratios. Sort and cipher are `numeric sort` and `IDEA` of BYTE's benchmark,
//! NBench: heap sorts of 8,111 numbers per second, and encryptions with decryptions of 4,000 bytes per second. The chain is LMbench's
//! `lat_mem_rd` with a stride of 128 bytes.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use storebench_model::units::Percent;

/// The figures of a core in three published measures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Heap sorts of 8,111 numbers of 32 bits per second: NBench's `numeric sort`.
    pub sorts_per_s: f64,
    /// Encryptions of 4,000 bytes with IDEA, and back, per second: NBench's `IDEA`.
    pub ciphers_per_s: f64,
    /// Nanoseconds for following one pointer of a chain through 1,000,000 bytes, 128 bytes on each time: LMbench's `lat_mem_rd`.
    pub chase_ns: f64,
}

/// The length of one measurement. The best of several counts, as disturbance only slows down.
const STRETCH: Duration = Duration::from_millis(40);
const TIMES: usize = 3;

impl Core {
    /// Measures this machine's core, in half a second.
    pub fn measure() -> Core {
        Core {
            sorts_per_s: best(Sort::new()),
            ciphers_per_s: best(Cipher::new()),
            chase_ns: 1e9 / best(Chase::new()),
        }
    }

    /// Checks that each figure is more than 0.
    pub(super) fn check(&self) -> Result<(), String> {
        let figures = [self.sorts_per_s, self.ciphers_per_s, self.chase_ns];
        match figures.iter().all(|figure| figure.is_finite() && *figure > 0.0) {
            true => Ok(()),
            false => Err("core holds a figure that is not more than 0".into()),
        }
    }

    /// The factor by which `here` does more, for each measure.
    pub fn ratios(&self, here: &Core) -> [f64; 3] {
        [
            here.sorts_per_s / self.sorts_per_s,
            here.ciphers_per_s / self.ciphers_per_s,
            self.chase_ns / here.chase_ns,
        ]
    }

    /// The share of a core of `here` that stands in for this one: in steps of half a percent, or of one from 10 % on, so that
    /// runs on one machine get the same share. The three ratios differ by more.
    pub fn share_of(&self, here: &Core) -> Percent {
        let product: f64 = self.ratios(here).iter().product();
        let percent = (100.0 / product.cbrt()).clamp(0.5, 100.0);
        Percent(if percent < 10.0 { (percent * 2.0).round() / 2.0 } else { percent.round() })
    }
}

/// This thread's processor time: other processes do not count.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// A measure: prepares itself untimed, then works and returns how often it did its work.
trait Measure {
    fn prepare(&mut self) {}
    fn work(&mut self) -> u64;
}

/// The most per second of several stretches.
fn best(mut measure: impl Measure) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..TIMES {
        let (mut done, mut took) = (0, Duration::ZERO);
        while took < STRETCH {
            measure.prepare();
            let start = thread_time();
            done += measure.work();
            took += thread_time().saturating_sub(start);
        }
        best = best.max(done as f64 / took.as_secs_f64());
    }
    best
}

/// A generator of numbers (Marsaglia's xorshift), for what is sorted.
fn next(state: &mut u32) -> i32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state as i32
}

struct Sort {
    state: u32,
    numbers: Vec<i32>,
}

impl Sort {
    fn new() -> Sort {
        Sort { state: 13, numbers: vec![0; 8111] }
    }
}

impl Measure for Sort {
    fn prepare(&mut self) {
        let Sort { state, numbers } = self;
        numbers.iter_mut().for_each(|number| *number = next(state));
    }

    fn work(&mut self) -> u64 {
        heap_sort(black_box(&mut self.numbers));
        1
    }
}

/// Sorts by a heap whose largest number is at its top.
fn heap_sort(numbers: &mut [i32]) {
    for top in (0..numbers.len() / 2).rev() {
        sift(numbers, top);
    }
    for end in (1..numbers.len()).rev() {
        numbers.swap(0, end);
        sift(&mut numbers[..end], 0);
    }
}

/// Lets a number sink until no child is larger.
fn sift(heap: &mut [i32], mut parent: usize) {
    loop {
        let mut child = 2 * parent + 1;
        if child >= heap.len() {
            return;
        }
        if child + 1 < heap.len() && heap[child + 1] > heap[child] {
            child += 1;
        }
        if heap[parent] >= heap[child] {
            return;
        }
        heap.swap(parent, child);
        parent = child;
    }
}

/// Bytes that are encrypted at a time.
const TEXT: usize = 4000;

struct Cipher {
    encrypting_keys: [u16; 52],
    decrypting_keys: [u16; 52],
    text: Vec<[u16; 4]>,
}

impl Cipher {
    fn new() -> Cipher {
        let encrypting_keys = idea_keys([1, 2, 3, 4, 5, 6, 7, 8]);
        let mut state = 3;
        let block = |_| [0; 4].map(|_: u16| next(&mut state) as u16);
        let text = (0..TEXT / 8).map(block).collect();
        Cipher { encrypting_keys, decrypting_keys: inverse(&encrypting_keys), text }
    }
}

impl Measure for Cipher {
    fn work(&mut self) -> u64 {
        for keys in [&self.encrypting_keys, &self.decrypting_keys] {
            for block in black_box(&mut self.text) {
                *block = idea(*block, keys);
            }
        }
        1
    }
}

/// Multiplication modulo 65,537, where 0 stands for 65,536 (Lai and Massey, 1990).
fn multiply(a: u16, b: u16) -> u16 {
    match (a, b) {
        (0, other) | (other, 0) => 1_u16.wrapping_sub(other),
        (a, b) => {
            let product = u32::from(a) * u32::from(b);
            let (low, high) = (product as u16, (product >> 16) as u16);
            low.wrapping_sub(high).wrapping_add(u16::from(low < high))
        }
    }
}

/// The keys of all rounds: the key, shifted on by 25 bits after every eight.
fn idea_keys(key: [u16; 8]) -> [u16; 52] {
    let mut bits = key.iter().fold(0_u128, |bits, word| bits << 16 | u128::from(*word));
    let mut keys = [0; 52];
    for words in keys.chunks_mut(8) {
        for (index, word) in words.iter_mut().enumerate() {
            *word = (bits >> (112 - 16 * index)) as u16;
        }
        bits = bits.rotate_left(25);
    }
    keys
}

/// The keys that undo what others do.
fn inverse(keys: &[u16; 52]) -> [u16; 52] {
    // By Fermat: the power of 65,535 modulo 65,537.
    let reciprocal = |word: u16| (0..15).fold(word, |power, _| multiply(multiply(power, power), word));
    let mut inverted = [0; 52];
    for round in 0..9 {
        let (source, target) = (48 - 6 * round, 6 * round);
        let crossed = if round == 0 || round == 8 { [1, 2] } else { [2, 1] };
        inverted[target] = reciprocal(keys[source]);
        inverted[target + 1] = keys[source + crossed[0]].wrapping_neg();
        inverted[target + 2] = keys[source + crossed[1]].wrapping_neg();
        inverted[target + 3] = reciprocal(keys[source + 3]);
        if round < 8 {
            inverted[target + 4] = keys[source - 2];
            inverted[target + 5] = keys[source - 1];
        }
    }
    inverted
}

/// Encrypts a block, or decrypts it with inverse keys.
fn idea([mut a, mut b, mut c, mut d]: [u16; 4], keys: &[u16; 52]) -> [u16; 4] {
    for round in keys[..48].chunks_exact(6) {
        a = multiply(a, round[0]);
        b = b.wrapping_add(round[1]);
        c = c.wrapping_add(round[2]);
        d = multiply(d, round[3]);
        let left = multiply(a ^ c, round[4]);
        let right = multiply((b ^ d).wrapping_add(left), round[5]);
        let left = left.wrapping_add(right);
        a ^= right;
        d ^= left;
        (b, c) = (c ^ right, b ^ left);
    }
    [multiply(a, keys[48]), c.wrapping_add(keys[49]), b.wrapping_add(keys[50]), multiply(d, keys[51])]
}

struct Chase {
    /// Each number is the index of the next.
    next: Vec<u32>,
    position: u32,
}

impl Chase {
    /// Bytes in the chain, and bytes from one pointer to the next.
    const BYTES: usize = 1_000_000;
    const STRIDE: usize = 128 / size_of::<u32>();

    fn new() -> Chase {
        let mut next = vec![0; Chase::BYTES / size_of::<u32>()];
        let places: Vec<usize> = (0..next.len()).step_by(Chase::STRIDE).collect();
        for (index, next_index) in places.iter().zip(places.iter().cycle().skip(1)) {
            next[*index] = *next_index as u32;
        }
        Chase { next, position: 0 }
    }
}

impl Measure for Chase {
    fn work(&mut self) -> u64 {
        const STEPS: u64 = 100_000;
        for _ in 0..STEPS {
            self.position = self.next[self.position as usize];
        }
        self.position = black_box(self.position);
        STEPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_what_it_is_called() {
        let mut sort = Sort::new();
        sort.prepare();
        let mut expected = sort.numbers.clone();
        expected.sort_unstable();
        assert_ne!(sort.numbers, expected);
        assert_eq!((sort.work(), &sort.numbers), (1, &expected));
        // The example in the cipher's standard: X. Lai, On the Design and Security of Block Ciphers, 1992.
        let keys = idea_keys([1, 2, 3, 4, 5, 6, 7, 8]);
        let secret = idea([0, 1, 2, 3], &keys);
        assert_eq!(secret, [0x11FB, 0xED2B, 0x0198, 0x6DE5]);
        assert_eq!(idea(secret, &inverse(&keys)), [0, 1, 2, 3]);
        let mut cipher = Cipher::new();
        let text = cipher.text.clone();
        assert_eq!((cipher.work(), &cipher.text), (1, &text), "there and back");
        let mut chase = Chase::new();
        let places = chase.next.len().div_ceil(Chase::STRIDE);
        let steps = std::iter::successors(Some(chase.next[0]), |place| Some(chase.next[*place as usize]));
        assert_eq!(steps.take_while(|place| *place != 0).count() + 1, places, "all of it, once");
        assert_eq!(chase.work(), 100_000);
    }

    #[test]
    fn the_share_is_the_mean_of_the_ratios_in_steps() {
        let board = Core { sorts_per_s: 500.0, ciphers_per_s: 1000.0, chase_ns: 200.0 };
        let faster = |sort: f64, cipher: f64, chase: f64| Core {
            sorts_per_s: 500.0 * sort,
            ciphers_per_s: 1000.0 * cipher,
            chase_ns: 200.0 / chase,
        };
        for (here, percent) in [
            (faster(4.0, 8.0, 16.0), 13.0),
            (faster(8.0, 16.0, 32.0), 6.5),
            (faster(0.5, 0.5, 0.5), 100.0),
            (faster(1e6, 1e6, 1e6), 0.5),
        ] {
            assert_eq!(board.share_of(&here).0, percent, "{here:?}");
        }
        let ratios = board.ratios(&faster(4.0, 8.0, 16.0));
        assert_eq!(ratios, [4.0, 8.0, 16.0]);
    }

    #[test]
    fn this_machine_is_measured() {
        Core::measure().check().unwrap();
    }
}
