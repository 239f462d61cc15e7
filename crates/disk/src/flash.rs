//! Flash: SD cards, eMMC, UFS, solid-state drives. Reads have a latency and run on several channels; writes go into a cache, if
//! there is one, or wait until they are programmed. Simple cards keep few allocation units open for writing: a write into another
//! one closes the least recently used by copying all of it that was not just written in sequence (Bergmann, Optimizing Linux with
//! cheap flash drives, LWN 2011).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::device::{DeviceTally, Model};
use crate::request::{Kind, MICROSECOND, Nanos, Request, SECOND};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Before the transfer, in microseconds.
    pub read_us: f64,
    /// Reads looked up at once.
    pub read_channels: u32,
    /// Sequential, in megabytes per second.
    pub read_mb_per_s: f64,
    /// Into the cache if there is one, else before programming, in microseconds.
    pub write_us: f64,
    /// Sequential, in megabytes per second.
    pub write_mb_per_s: f64,
    /// The least that is programmed at once, in KiB: a smaller write takes as long.
    pub page_kib: f64,
    /// Without a cache, an acknowledged write is durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_mib: Option<f64>,
    /// Whether a capacitor keeps the cache through a power cut: a flush does not empty it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacitor: Option<bool>,
    /// Without the time to program the cache, in microseconds.
    pub flush_us: f64,
    /// The size of an allocation unit; without it, a write costs the same wherever it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_mib: Option<f64>,
    /// Allocation units open for writing at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_open: Option<u32>,
}

#[derive(Debug)]
struct Unit {
    number: u64,
    /// Where the next sequential write continues, in bytes from its start.
    next: u64,
    /// Bytes written in sequence; `None` once a write went elsewhere in it.
    in_sequence: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Card {
    flash: Flash,
    /// When each channel is free.
    channels: Vec<Nanos>,
    /// When the wire and the programming are free.
    wire_free: Nanos,
    programming_free: Nanos,
    /// The least recently used first.
    open: VecDeque<Unit>,
    tally: DeviceTally,
}

fn micros(us: f64) -> Nanos {
    (us * MICROSECOND as f64) as Nanos
}

fn transfer(bytes: u64, mb_per_s: f64) -> Nanos {
    (bytes as f64 / (mb_per_s * 1e6) * SECOND as f64) as Nanos
}

impl Card {
    pub fn new(flash: Flash) -> Card {
        let channels = vec![0; flash.read_channels.max(1) as usize];
        let tally = DeviceTally::default();
        Card { flash, channels, wire_free: 0, programming_free: 0, open: VecDeque::new(), tally }
    }

    fn read(&mut self, bytes: u64, now: Nanos) -> Nanos {
        // Without a cache a card does one thing at a time: it reads after writing.
        let ready = if self.flash.cache_mib.is_none() { self.programming_free } else { 0 };
        let first = self.channels.iter().enumerate().min_by_key(|(_, free)| **free);
        let Some(channel) = first.map(|(index, _)| index) else { return now };
        let found_at = self.channels[channel].max(now).max(ready) + micros(self.flash.read_us);
        self.channels[channel] = found_at;
        let transfer_time = transfer(bytes, self.flash.read_mb_per_s);
        self.tally.transfer_ns += transfer_time;
        self.wire_free = self.wire_free.max(found_at) + transfer_time;
        if self.channels.len() == 1 {
            // Without a queue the next lookup begins after this transfer.
            self.channels[channel] = self.wire_free;
        }
        self.wire_free
    }

    fn write(&mut self, request: &Request, now: Nanos) -> Nanos {
        let page = ((self.flash.page_kib * 1024.0) as u64).max(1);
        let pages = (request.at % page + request.bytes).div_ceil(page);
        let transfer_time = transfer(pages * page, self.flash.write_mb_per_s);
        let copy_time = self.open_units(request);
        self.tally.transfer_ns += transfer_time;
        self.tally.merge_ns += copy_time;
        let program_time = transfer_time + copy_time;
        let Some(cache) = self.flash.cache_mib else {
            let start = self.programming_free.max(now).max(self.wire_free);
            self.programming_free = start + micros(self.flash.write_us) + program_time;
            self.wire_free = self.programming_free;
            return self.programming_free;
        };
        self.wire_free = self.wire_free.max(now) + transfer(request.bytes, self.flash.read_mb_per_s);
        let accepted = self.wire_free + micros(self.flash.write_us);
        self.programming_free = self.programming_free.max(now) + program_time;
        // Bytes that do not fit wait until as much has been programmed.
        let room = transfer((cache * 1_048_576.0) as u64, self.flash.write_mb_per_s);
        accepted.max(self.programming_free.saturating_sub(room))
    }

    /// The time to open a write's units.
    fn open_units(&mut self, request: &Request) -> Nanos {
        let (Some(mib), Some(max_open)) = (self.flash.unit_mib, self.flash.units_open) else { return 0 };
        let size = ((mib * 1_048_576.0) as u64).max(1);
        let (mut offset, end, mut time) = (request.at, request.end(), 0);
        while offset < end {
            let number = offset / size;
            let part_end = end.min((number + 1) * size);
            let part = (offset - number * size, part_end - number * size);
            time += self.open_unit(number, part, size, max_open);
            offset = part_end;
        }
        time
    }

    /// Writes within one unit, from one byte to another.
    fn open_unit(&mut self, number: u64, (start, end): (u64, u64), size: u64, max_open: u32) -> Nanos {
        let index = self.open.iter().position(|unit| unit.number == number);
        let mut unit = match index.and_then(|index| self.open.remove(index)) {
            Some(unit) => unit,
            None => Unit { number, next: start, in_sequence: Some(0) },
        };
        unit.in_sequence = unit.in_sequence.filter(|_| unit.next == start).map(|bytes| bytes + (end - start));
        unit.next = end;
        if unit.in_sequence == Some(size) {
            return 0;
        }
        self.open.push_back(unit);
        if self.open.len() <= max_open.max(1) as usize {
            return 0;
        }
        let Some(closed) = self.open.pop_front() else { return 0 };
        self.tally.merges += 1;
        transfer(size - closed.in_sequence.unwrap_or(0), self.flash.write_mb_per_s)
    }

    fn flush(&mut self, now: Nanos) -> Nanos {
        let must_program = self.flash.cache_mib.is_some() && self.flash.capacitor != Some(true);
        let programmed = if must_program { self.programming_free } else { 0 };
        let done = now.max(programmed) + micros(self.flash.flush_us);
        if must_program {
            // A flush's own writes are programmed, too.
            self.programming_free = done;
        }
        done
    }
}

impl Model for Card {
    fn reply_due(&mut self, request: &Request, now: Nanos) -> Nanos {
        match request.kind {
            Kind::Read => self.read(request.bytes, now),
            Kind::Write => self.write(request, now),
            Kind::Flush => self.flush(now),
            Kind::Discard => now + micros(self.flash.write_us),
        }
    }

    fn tally(&self) -> DeviceTally {
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, InOrderDevice};
    use crate::pace::{per_second, run_closed_loop};

    const UNIT: u64 = 4 << 20;

    fn card() -> Flash {
        Flash {
            read_us: 400.0,
            read_channels: 1,
            read_mb_per_s: 20.0,
            write_us: 0.0,
            write_mb_per_s: 4.194_304,
            page_kib: 16.0,
            cache_mib: None,
            capacitor: None,
            flush_us: 0.0,
            unit_mib: Some(4.0),
            units_open: Some(2),
        }
    }

    #[test]
    fn a_card_that_writes_in_sequence_copies_nothing_and_beyond_the_open_units_a_unit() {
        let mut device = InOrderDevice::new(Card::new(card()));
        let requests = (0..256).map(|n| Request::write(n * (64 << 10), 64 << 10));
        let time = run_closed_loop(&mut device, 1, requests);
        // 16 MiB at 4 MiB/s.
        assert_eq!((time / 1_000_000, device.tally().merges), (4_000, 0));
        let in_two_units = |n: u64| Request::write((n % 2) * UNIT + (n / 2) * 16_384 % UNIT, 16_384);
        let in_three_units = |n: u64| Request::write((n % 3) * UNIT, 16_384);
        let mut device = InOrderDevice::new(Card::new(card()));
        let time = run_closed_loop(&mut device, 1, (0..100).map(in_two_units));
        // 256 writes of a page a second.
        assert_eq!((time / 1_000, device.tally().merges), (390_625, 0));
        let mut device = InOrderDevice::new(Card::new(card()));
        let time = run_closed_loop(&mut device, 1, (0..102).map(in_three_units));
        // All but the first two close a unit: one second each, less the first page, which was written in sequence.
        assert_eq!(device.tally().merges, 100);
        let expected = 102.0 / 256.0 + 100.0 * (255.0 / 256.0);
        assert!((time as f64 / 1e9 - expected).abs() < 1e-3, "{time}");
    }

    #[test]
    fn writes_within_a_unit_out_of_sequence_are_copied_when_it_closes() {
        let mut card = Card::new(card());
        let scattered =
            [0, 32_768, 16_384].map(|offset| card.open_unit(0, (offset, offset + 16_384), UNIT, 2));
        assert_eq!(scattered, [0; 3]);
        card.open_unit(1, (0, UNIT / 2), UNIT, 2);
        let full_unit = card.open_unit(2, (0, 16_384), UNIT, 2);
        assert_eq!(full_unit, SECOND, "nothing of it was in sequence");
        let half_unit = card.open_unit(3, (0, 16_384), UNIT, 2);
        assert_eq!(half_unit, SECOND / 2);
    }

    #[test]
    fn a_cache_takes_writes_at_once_until_it_is_full_and_a_flush_empties_it() {
        let cached =
            Flash { cache_mib: Some(1.0), write_us: 50.0, read_mb_per_s: 1000.0, unit_mib: None, ..card() };
        let mut card = Card::new(cached);
        let block = 64 << 10;
        let first = card.reply_due(&Request::write(0, block), 0);
        assert!(first < 120_000, "{first}");
        let dues: Vec<Nanos> =
            (0..63).map(|n| card.reply_due(&Request::write(n * block, block), 0)).collect();
        // 4 MiB in all take a second; all but the last MiB must be programmed.
        assert_eq!(dues.last().map(|due| due / 1_000_000), Some(750));
        assert_eq!(card.reply_due(&Request::flush(), 0) / 1_000_000, 1_000);
        let mut with_capacitor = Card::new(Flash { capacitor: Some(true), flush_us: 20.0, ..cached });
        with_capacitor.reply_due(&Request::write(0, block), 0);
        assert_eq!(with_capacitor.reply_due(&Request::flush(), 0), 20_000);
    }

    #[test]
    fn channels_look_up_reads_at_once_and_the_wire_takes_them_in_turn() {
        let rate = |channels: u32, depth: u32| {
            let flash =
                Flash { read_channels: channels, read_mb_per_s: 500.0, cache_mib: Some(1.0), ..card() };
            let mut device = InOrderDevice::new(Card::new(flash));
            let reads = (0..10_000).map(|n| Request::read(n * 4096, 4096));
            per_second(10_000, run_closed_loop(&mut device, depth, reads))
        };
        assert!((rate(1, 1) - 1e6 / 408.2).abs() < 5.0);
        assert!((rate(8, 1) - rate(1, 1)).abs() < 5.0, "one read uses one channel");
        assert!((rate(1, 32) - rate(1, 1)).abs() < 5.0, "there is no queue");
        assert!((rate(8, 32) - 20_000.0).abs() < 200.0);
    }
}
