//! Rows made in parallel, in chunks, and handed over in order. The memory is two chunks for each maker, taken once.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::rows::Data;
use super::schema::Table;
use crate::workload::batch::touched;
use crate::workload::load_progress::ProgressReporter;

/// About the bytes of rows in a chunk.
const CHUNK_BYTES: u64 = 128 << 10;
/// For each maker: one being made while another is used.
const CHUNKS_PER_MAKER: usize = 2;

#[derive(Debug)]
pub(crate) struct Chunk {
    pub table: Table,
    pub rows: Vec<u8>,
    pub ends: Vec<usize>,
    /// Text made from the rows.
    pub text: Vec<u8>,
}

impl Chunk {
    fn new(text_bytes: usize) -> Chunk {
        Chunk {
            table: Table::Customers,
            rows: touched(CHUNK_BYTES + 2 * Table::Products.most_bytes() as u64),
            ends: Vec::with_capacity(CHUNK_BYTES as usize / 32 + 2),
            text: touched(text_bytes as u64),
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.rows[begin..*end])
    }
}

/// All chunks of the tables, by number.
#[derive(Clone, Copy)]
pub(crate) struct Chunks<'d> {
    data: &'d Data,
    /// Whether rows come in the order of their keys.
    sorted: bool,
    /// For each table, the rows of a chunk, and the number of chunks.
    tables: [(Table, u64, u64); 3],
}

impl<'d> Chunks<'d> {
    pub fn new(data: &'d Data, sorted: bool) -> Chunks<'d> {
        let tables = Table::ALL.map(|table| {
            let rows = (CHUNK_BYTES / table.most_bytes() as u64).max(1);
            (table, rows, data.rows(table).div_ceil(rows))
        });
        Chunks { data, sorted, tables }
    }

    pub fn count(&self) -> u64 {
        self.tables.iter().map(|(_, _, chunks)| chunks).sum()
    }

    pub fn make(&self, number: u64, chunk: &mut Chunk) {
        chunk.rows.clear();
        chunk.ends.clear();
        let mut index = number;
        for (table, rows, chunks) in self.tables {
            if index < chunks {
                chunk.table = table;
                let positions = index * rows..((index + 1) * rows).min(self.data.rows(table));
                return positions.for_each(|position| self.append_row(table, position, chunk));
            }
            index -= chunks;
        }
    }

    fn append_row(&self, table: Table, position: u64, chunk: &mut Chunk) {
        let number = if self.sorted { position } else { self.data.ids(table).shuffled_row(position) };
        self.data.append(table, number, &mut chunk.rows);
        chunk.ends.push(chunk.rows.len());
    }
}

#[derive(Debug)]
pub(crate) struct RowMakers {
    spare: Vec<Vec<Chunk>>,
}

impl RowMakers {
    /// `text_bytes` is the room for each chunk's text.
    pub fn new(threads: usize, text_bytes: usize) -> RowMakers {
        let make_spare = || (0..CHUNKS_PER_MAKER).map(|_| Chunk::new(text_bytes)).collect();
        RowMakers { spare: (0..threads.max(1)).map(|_| make_spare()).collect() }
    }

    /// As many as this process has processors, up to `most`.
    pub fn thread_count(max_threads: usize) -> usize {
        thread::available_parallelism().map_or(1, usize::from).clamp(1, max_threads.max(1))
    }

    /// Makes `count` chunks, and gives them to `take` in order.
    pub fn run<R>(
        self,
        count: u64,
        make: impl Fn(u64, &mut Chunk) + Sync,
        take: impl FnOnce(ChunkSource) -> R,
    ) -> R {
        let makers = self.spare.len() as u64;
        let make = &make;
        thread::scope(|scope| {
            let links = self.spare.into_iter().enumerate().map(|(maker, spare)| {
                let (ready_sender, ready) = channel();
                let (empty_sender, empty) = channel();
                spare.into_iter().for_each(|chunk| drop(empty_sender.send(chunk)));
                scope.spawn(move || {
                    make_chunks((maker as u64..count).step_by(makers as usize), &empty, &ready_sender, make)
                });
                MakerLink { ready, empty_sender }
            });
            let (links, taken) = (links.collect(), TakenRows::default());
            take(ChunkSource { links, next: 0, count, current: None, taken, reporter: None })
        })
    }
}

/// One maker's work, until nobody waits for its chunks.
fn make_chunks(
    numbers: impl Iterator<Item = u64>,
    empty: &Receiver<Chunk>,
    ready_sender: &Sender<Chunk>,
    make: impl Fn(u64, &mut Chunk),
) {
    for number in numbers {
        let Ok(mut chunk) = empty.recv() else { return };
        make(number, &mut chunk);
        if ready_sender.send(chunk).is_err() {
            return;
        }
    }
}

struct MakerLink {
    ready: Receiver<Chunk>,
    empty_sender: Sender<Chunk>,
}

pub struct ChunkSource {
    links: Vec<MakerLink>,
    next: u64,
    count: u64,
    current: Option<Chunk>,
    /// What was taken of all chunks before the current one.
    pub taken: TakenRows,
    pub(crate) reporter: Option<ProgressReporter>,
}

/// What was taken from a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenRows {
    /// Time spent waiting for makers.
    pub waited: Duration,
    pub rows: u64,
    /// Keys included.
    pub bytes: u64,
}

impl ChunkSource {
    pub fn current(&mut self) -> Option<&Chunk> {
        if self.current.is_none() {
            self.advance();
        }
        self.current.as_ref()
    }

    pub fn advance(&mut self) {
        if let Some(chunk) = self.current.take() {
            self.taken.rows += chunk.ends.len() as u64;
            self.taken.bytes += chunk.rows.len() as u64;
            let link = self.link_index(self.next - 1);
            if let Some(reporter) = &mut self.reporter {
                reporter.report(self.taken.rows);
            }
            // A maker that has ended needs it no more.
            let _ = self.links[link].empty_sender.send(chunk);
        }
        if self.next < self.count {
            let start = Instant::now();
            let link = self.link_index(self.next);
            self.current = self.links[link].ready.recv().ok();
            self.next += 1;
            self.taken.waited += start.elapsed();
        }
    }

    fn link_index(&self, number: u64) -> usize {
        (number % self.links.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_rows(sorted: bool, threads: usize) -> Vec<(Table, Vec<u8>)> {
        let data = Data::with_size(7, 1 << 20);
        let chunks = Chunks::new(&data, sorted);
        let mut rows = Vec::new();
        let make = |number, chunk: &mut Chunk| chunks.make(number, chunk);
        RowMakers::new(threads, 0).run(chunks.count(), make, |mut source| {
            while let Some(chunk) = source.current() {
                rows.extend(chunk.rows().map(|row| (chunk.table, row.to_vec())));
                source.advance();
            }
        });
        rows
    }

    #[test]
    fn the_same_rows_come_in_the_same_order_however_many_make_them() {
        let sorted = collect_rows(true, 1);
        let data = Data::with_size(7, 1 << 20);
        assert_eq!(sorted.len() as u64, data.all_rows());
        assert_eq!(sorted, collect_rows(true, 3));
        for table in Table::ALL {
            let rows = sorted.iter().filter(|(row_table, _)| *row_table == table).map(|(_, row)| row);
            assert!(rows.is_sorted(), "{table:?}");
        }
        let unsorted = collect_rows(false, 2);
        assert!(unsorted != sorted && unsorted == collect_rows(false, 5));
        let sort_rows = |mut rows: Vec<(Table, Vec<u8>)>| {
            rows.sort_by(|(a, x), (b, y)| (*a as u8, x).cmp(&(*b as u8, y)));
            rows
        };
        assert_eq!(sort_rows(unsorted), sort_rows(sorted));
    }

    #[test]
    fn makers_end_when_nobody_takes_what_they_make() {
        let data = Data::with_size(7, 8 << 20);
        let chunks = Chunks::new(&data, true);
        let make = |number, chunk: &mut Chunk| chunks.make(number, chunk);
        let count_first = |mut source: ChunkSource| source.current().map(|chunk| chunk.ends.len());
        assert!(RowMakers::new(2, 0).run(chunks.count(), make, count_first).is_some_and(|rows| rows > 1));
    }
}
