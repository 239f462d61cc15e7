//! Memory that blocks are read into and written from, aligned for `O_DIRECT`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A page: no device asks for more.
const ALIGNMENT: usize = 4096;
/// More than a compressing file system compresses in one piece, and small enough for the processor's caches.
const POOL_BYTES: usize = 1 << 20;
/// Written blocks have a stamp each time after this number of bytes: no file system deduplicates smaller pieces.
const STAMP_EVERY: usize = 4096;

/// Aligned, resident memory of a fixed size.
#[derive(Debug)]
pub(super) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub(super) fn random(length: usize, seed: u64) -> AlignedBuffer {
        let bytes = vec![0_u8; length + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let mut aligned = AlignedBuffer { bytes, start, length };
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(aligned.bytes_mut());
        aligned
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }

    #[inline(always)]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

pub(super) fn pool_bytes(block: usize) -> usize {
    (POOL_BYTES / block).max(1) * block
}

/// The blocks that a thread writes, in turn: slices of random bytes, each stamped with its number, so that no two are alike.
#[derive(Debug)]
pub(super) struct BlockPool {
    memory: AlignedBuffer,
    block: usize,
    offset: usize,
    written: u64,
}

impl BlockPool {
    pub(super) fn new(block: usize, seed: u64) -> BlockPool {
        BlockPool { memory: AlignedBuffer::random(pool_bytes(block), seed), block, offset: 0, written: 0 }
    }

    #[inline(always)]
    pub(super) fn advance(&mut self) {
        let next = self.offset + self.block;
        self.offset = if next >= self.memory.length { 0 } else { next };
        self.written += 1;
        let (stamp, offset, block) = (self.written.to_le_bytes(), self.offset, self.block);
        for piece in self.memory.bytes_mut()[offset..offset + block].chunks_mut(STAMP_EVERY) {
            // A block is a multiple of 512 bytes, and so is each piece.
            if let Some(start) = piece.first_chunk_mut() {
                *start = stamp;
            }
        }
    }

    #[inline(always)]
    pub(super) fn block(&self) -> &[u8] {
        &self.memory.bytes()[self.offset..self.offset + self.block]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SECTOR: usize = 512;

    #[test]
    fn memory_is_aligned_and_full_of_random_bytes() {
        for length in [512, 4096, 1 << 20] {
            let aligned = AlignedBuffer::random(length, 1);
            assert_eq!((aligned.bytes().len(), aligned.bytes().as_ptr() as usize % ALIGNMENT), (length, 0));
            let ones: u32 = aligned.bytes().iter().map(|byte| byte.count_ones()).sum();
            assert!((3.5..4.5).contains(&(f64::from(ones) / length as f64)));
        }
        assert_ne!(AlignedBuffer::random(512, 1).bytes(), AlignedBuffer::random(512, 2).bytes());
    }

    #[test]
    fn no_two_blocks_are_alike_and_each_is_aligned_to_its_size() {
        for block in [512, 1536, 4096, 128 << 10, 1 << 20, 3 << 20] {
            let mut pool = BlockPool::new(block, 1);
            let mut pieces = BTreeSet::new();
            let blocks = 2 * POOL_BYTES / block + 3;
            for _ in 0..blocks {
                pool.advance();
                assert_eq!(pool.block().len(), block);
                assert_eq!(pool.block().as_ptr() as usize % SECTOR, 0);
                pieces.extend(pool.block().chunks(STAMP_EVERY).map(<[u8]>::to_vec));
            }
            assert_eq!(pieces.len(), blocks * block.div_ceil(STAMP_EVERY), "blocks of {block}");
        }
    }
}
