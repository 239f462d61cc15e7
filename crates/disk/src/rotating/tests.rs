use super::*;
use crate::pace::{per_second, run_closed_loop};
use crate::random::Random;

/// A round disk: 9 ms of seeks in the mean, 120 turns a second, 120 MB/s outside and 60 inside.
pub fn data() -> HardDiskSpec {
    HardDiskSpec {
        capacity_gb: 250.0,
        turns_per_minute: 7200.0,
        seek_track_ms: 1.0,
        seek_average_ms: 9.0,
        seek_full_ms: 20.0,
        write_settle_ms: 1.0,
        track_switch_ms: 1.0,
        outer_mb_per_s: 120.0,
        inner_mb_per_s: 60.0,
        command_us: 0.0,
        link_mb_per_s: 300.0,
        buffer_mib: 8.0,
        segments: 8,
        write_cache_mib: 8.0,
        write_cache_places: 64,
        queue: 32,
        extent_mib: 8.0,
    }
}

fn disk_in_one_extent(data: HardDiskSpec) -> (HardDisk, u64) {
    let bytes = (data.capacity_gb * 1e9) as u64;
    // As one extent, so that nothing is spread.
    (HardDisk::new(&HardDiskSpec { extent_mib: data.capacity_gb * 1000.0, ..data }, bytes), bytes)
}

/// The time of reads all over a disk.
fn random_reads(data: HardDiskSpec, depth: u32, count: u64) -> Nanos {
    let (mut disk, bytes) = disk_in_one_extent(data);
    let mut random = Random::seeded(5);
    let reads = (0..count).map(|_| Request::read(random.below(bytes / 4096) * 4096, 4096));
    run_closed_loop(&mut disk, depth, reads)
}

fn read_rate(data: HardDiskSpec, depth: u32, count: u64) -> f64 {
    per_second(count, random_reads(data, depth, count))
}

#[test]
fn a_random_read_takes_a_seek_and_half_a_turn_and_a_choice_of_32_is_at_least_twice_as_fast() {
    let [one, two, many] =
        [(1, 4_000), (2, 4_000), (32, 8_000)].map(|(depth, count)| read_rate(data(), depth, count));
    // More bytes lie outside, so that the mean seek is a bit shorter than that over all tracks: 9 ms and 4.17 ms.
    assert!((75.0..80.0).contains(&one), "{one}");
    assert!(two >= one && many > one * 2.0 && (150.0..230.0).contains(&many), "{one} {two} {many}");
}

#[test]
fn the_shipped_desktop_s_disk_reads_as_real_ones_do_over_its_whole_surface() {
    let data = crate::disks::shipped("hdd-7200").unwrap().rotating.unwrap();
    let (one, many) = (read_rate(data, 1, 4_000), read_rate(data, 32, 8_000));
    assert!((75.0..80.0).contains(&one) && (150.0..200.0).contains(&many), "{one} {many}");
}

#[test]
fn the_queue_chooses_only_among_as_many_as_it_holds() {
    let reads = |queue, depth| random_reads(HardDiskSpec { queue, ..data() }, depth, 2_000);
    assert!(reads(1, 32) as f64 > reads(32, 32) as f64 * 2.0);
    let alone = reads(1, 1);
    assert!(alone.abs_diff(reads(1, 32)) < alone / 100, "in their order they take as long as one by one");
}

#[test]
fn reading_in_sequence_is_as_fast_as_the_zone_and_pauses_of_the_host_cost_no_turn() {
    for (start, mb_per_s) in [(0, 120.0), (249_000_000_000, 60.0)] {
        let (mut disk, _) = disk_in_one_extent(data());
        let reads = (0..512).map(|n| Request::read(start + n * (128 << 10), 128 << 10));
        let rate = per_second(64 << 20, run_closed_loop(&mut disk, 1, reads)) / 1e6;
        assert!((rate / mb_per_s - 1.0).abs() < 0.03, "{rate}");
        assert_eq!(disk.tally().seeks, u64::from(start > 0));
    }
    // Between two reads the host takes 100 us, in which the disk reads on.
    let (mut disk, _) = disk_in_one_extent(data());
    let mut now = 0;
    for n in 0..512 {
        disk.arrive(n, &Request::read(n * (128 << 10), 128 << 10), now);
        while disk.take(now).is_none() {
            now = disk.next_event().unwrap();
        }
        now += 100 * MICROSECOND;
    }
    let rate = per_second(64 << 20, now) / 1e6;
    assert!((rate / 120.0 - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn a_block_is_overwritten_once_a_turn_with_the_cache_off_and_when_it_is_flushed() {
    let (mut uncached, _) =
        disk_in_one_extent(HardDiskSpec { write_cache_mib: 0.0, write_settle_ms: 0.0, ..data() });
    let writes = (0..1_200).map(|_| Request::write(4096, 4096));
    let rate = per_second(1_200, run_closed_loop(&mut uncached, 1, writes));
    assert!((rate - 120.0).abs() < 0.5, "{rate}");
    let (mut cached, _) = disk_in_one_extent(data());
    let synced = (0..2_400).map(|n| if n % 2 == 0 { Request::write(4096, 4096) } else { Request::flush() });
    let rate = per_second(1_200, run_closed_loop(&mut cached, 1, synced));
    assert!((rate - 120.0).abs() < 0.5, "{rate}");
}

#[test]
fn writes_are_taken_at_once_until_the_cache_is_full() {
    let (mut disk, bytes) = disk_in_one_extent(data());
    let mut random = Random::seeded(1);
    let mut write = || Request::write(random.below(bytes / 4096) * 4096, 4096);
    let first: Vec<Request> = (0..64).map(|_| write()).collect();
    let time = run_closed_loop(&mut disk, 1, first.into_iter());
    assert!(time < 2 * MILLISECOND, "{time}");
    let more: Vec<Request> = (0..6_000).map(|_| write()).collect();
    let (mut disk, _) = disk_in_one_extent(data());
    let rate = per_second(6_000, run_closed_loop(&mut disk, 1, more.into_iter()));
    // 64 fit; the others wait until as many have been written, in an order that the disk chooses.
    assert!((150.0..350.0).contains(&rate), "{rate}");
}

#[test]
fn a_flush_waits_for_all_writes_before_it_and_what_follows_waits_for_it() {
    let (mut disk, _) = disk_in_one_extent(data());
    for n in 0..10 {
        disk.arrive(n, &Request::write(n * 20_000_000_000, 4096), 0);
    }
    disk.arrive(10, &Request::flush(), 1);
    disk.arrive(11, &Request::write(0, 4096), 2);
    disk.arrive(12, &Request::read(0, 4096), 3);
    let mut order = Vec::new();
    let mut now = 0;
    while let Some(wakes) = disk.next_event() {
        now = now.max(wakes);
        while let Some(reply) = disk.take(now) {
            order.push(reply);
        }
    }
    let ids: Vec<Id> = order.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let flushed = order[10].1;
    assert!((40 * MILLISECOND..150 * MILLISECOND).contains(&flushed), "{flushed}");
    assert!(order[12].1 - flushed < MILLISECOND, "it is read from the cache");
}

#[test]
fn small_writes_in_sequence_are_written_together() {
    let (mut disk, _) = disk_in_one_extent(data());
    let writes = (0..16_384).map(|n| Request::write(n * 4096, 4096)).chain([Request::flush()]);
    let rate = per_second(64 << 20, run_closed_loop(&mut disk, 1, writes)) / 1e6;
    assert!((90.0..122.0).contains(&rate), "{rate}");
}

#[test]
fn an_image_is_spread_so_that_a_small_file_seeks_over_the_whole_disk() {
    let mut disk = HardDisk::new(&data(), 256 << 20);
    let mut random = Random::seeded(9);
    let file = (128_u64 << 20) / 4096;
    let count = 4_000;
    let reads = (0..count).map(|_| Request::read(random.below(file) * 4096, 4096));
    let rate = per_second(count, run_closed_loop(&mut disk, 1, reads));
    // A sixteenth of the reads stays in its extent; some are in the buffer.
    assert!((75.0..92.0).contains(&rate), "{rate}");
}

#[test]
fn no_request_is_lost_whatever_comes() {
    for seed in 0..50 {
        let mut random = Random::seeded(seed);
        let queue = [1, 4, 32][random.below(3) as usize];
        let write_cache_mib = [0.0, 1.0][random.below(2) as usize];
        let mut disk = HardDisk::new(&HardDiskSpec { queue, write_cache_mib, ..data() }, 64 << 20);
        let (mut now, mut last, mut open) = (0, 0, std::collections::BTreeSet::new());
        for id in 0..600 {
            let offset = random.below(60 << 20);
            let bytes = 512 << random.below(12);
            let request = match random.below(10) {
                0 => Request::flush(),
                1 => Request::discard(offset, bytes),
                2..6 => Request::read(offset, bytes),
                _ => Request::write(offset, bytes),
            };
            disk.arrive(id, &request, now);
            open.insert(id);
            now += random.below(4 * MILLISECOND);
            while let Some((id, due)) = disk.take(now) {
                assert!(open.remove(&id) && due >= last && due <= now, "{seed}");
                last = due;
            }
        }
        while let Some(wakes) = disk.next_event() {
            assert!(wakes >= now || disk.replies.next().is_some(), "{seed}: it asks to be woken in the past");
            now = now.max(wakes);
            while let Some((id, _)) = disk.take(now) {
                assert!(open.remove(&id), "{seed}");
            }
        }
        assert!(open.is_empty() && disk.queue.is_empty(), "{seed}: {open:?}");
    }
}
