//! Operations of the trace, ready to be played, with keys and values. A fixed number of chunks goes round between the reader of
//! the trace and each thread that plays, so that the trace is read ahead, but not far.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Instant;

use crate::trace::TraceOperation;

pub(crate) const CHUNK_OPERATIONS: usize = 128;
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// Chunks for each thread: fewer if keys and values are so large that a chunk holds one.
pub fn chunk_count(largest: usize) -> usize {
    if largest > CHUNK_BYTES { 6 } else { 32 }
}

#[derive(Debug, Clone)]
pub(crate) struct ReplayStep {
    pub operation: TraceOperation,
    /// In the trace, from 1.
    pub position: u64,
    /// When it is due, in nanoseconds after the first.
    pub due_ns: u64,
    pub hash: u64,
    pub records: usize,
    pub key: Range<usize>,
    pub value: Range<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct StepOutcome {
    pub ticks: u64,
    pub found: bool,
    pub read_bytes: u64,
}

/// A chunk, whose memory is taken once and kept.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub steps: Vec<ReplayStep>,
    pub bytes: Vec<u8>,
    pub outcomes: Vec<StepOutcome>,
}

impl Chunk {
    /// For keys and values of up to `largest` bytes.
    pub fn new(largest: usize) -> Chunk {
        let mut bytes = vec![1; CHUNK_BYTES + largest];
        bytes.clear();
        let empty = ReplayStep {
            operation: TraceOperation::Skip,
            position: 1,
            due_ns: 1,
            hash: 1,
            records: 1,
            key: 0..1,
            value: 0..1,
        };
        let mut steps = vec![empty; CHUNK_OPERATIONS];
        steps.clear();
        let outcomes = vec![StepOutcome { ticks: 1, found: true, read_bytes: 1 }; CHUNK_OPERATIONS];
        Chunk { steps, bytes, outcomes }
    }

    pub fn clear(&mut self) {
        self.steps.clear();
        self.bytes.clear();
    }

    pub fn is_full(&self) -> bool {
        self.steps.len() >= CHUNK_OPERATIONS || self.bytes.len() >= CHUNK_BYTES
    }
}

pub(crate) struct ChunkSender {
    full: SyncSender<Box<Chunk>>,
    empty: Receiver<Box<Chunk>>,
    current: Option<Box<Chunk>>,
    blocked_ns: Arc<AtomicU64>,
}

pub(crate) struct ChunkReceiver {
    pub full: Receiver<Box<Chunk>>,
    empty: SyncSender<Box<Chunk>>,
    blocked_ns: Arc<AtomicU64>,
}

/// The other end has gone.
pub(crate) struct ChannelClosed;

/// Both ends, with all chunks. `blocked_ns` adds up, over all channels, how long the reader waited for a thread that is behind.
pub(crate) fn chunk_channel(largest: usize, blocked_ns: &Arc<AtomicU64>) -> (ChunkSender, ChunkReceiver) {
    let count = chunk_count(largest);
    let (full, to_play) = sync_channel(count);
    let (played, empty) = sync_channel(count);
    for _ in 0..count {
        // The receiver is here, and there is room for all.
        let _ = played.send(Box::new(Chunk::new(largest)));
    }
    let outgoing = ChunkSender { full, empty, current: None, blocked_ns: Arc::clone(blocked_ns) };
    (outgoing, ChunkReceiver { full: to_play, empty: played, blocked_ns: Arc::clone(blocked_ns) })
}

impl ChunkSender {
    /// Waits for a chunk with room for one more. Fails when the thread has ended.
    pub fn chunk(&mut self) -> Result<&mut Chunk, ChannelClosed> {
        if self.current.as_ref().is_some_and(|chunk| chunk.is_full()) {
            self.flush()?;
        }
        let chunk = match self.current.take() {
            Some(chunk) => chunk,
            None => {
                let mut chunk = self.wait_for_empty()?;
                chunk.clear();
                chunk
            }
        };
        Ok(self.current.insert(chunk))
    }

    fn wait_for_empty(&self) -> Result<Box<Chunk>, ChannelClosed> {
        match self.empty.try_recv() {
            Ok(chunk) => Ok(chunk),
            Err(TryRecvError::Disconnected) => Err(ChannelClosed),
            Err(TryRecvError::Empty) => {
                let start = Instant::now();
                let chunk = self.empty.recv().map_err(|_| ChannelClosed);
                self.blocked_ns.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
                chunk
            }
        }
    }

    /// Hands over what there is. Fails when the thread has ended.
    pub fn flush(&mut self) -> Result<(), ChannelClosed> {
        match self.current.take_if(|chunk| !chunk.steps.is_empty()) {
            Some(chunk) => self.full.send(chunk).map_err(|_| ChannelClosed),
            None => Ok(()),
        }
    }
}

impl ChunkReceiver {
    /// How long the reader has waited for threads that are behind, in nanoseconds.
    pub(crate) fn blocked_ns(&self) -> u64 {
        self.blocked_ns.load(Ordering::Relaxed)
    }

    pub fn return_chunk(&self, chunk: Box<Chunk>) {
        // The reader may have ended.
        let _ = self.empty.send(chunk);
    }
}
