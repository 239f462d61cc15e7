//! A disk behind a network: latencies are drawn from a distribution with a long tail; requests and bytes per second are limited.

use serde::{Deserialize, Serialize};

use crate::device::Model;
use crate::random::Random;
use crate::request::{Kind, MICROSECOND, MILLISECOND, Nanos, Request, SECOND};

const NORMAL_P99: f64 = 2.326_347_874;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The median of a read, in microseconds.
    pub read_us: f64,
    /// The median of a write, in microseconds.
    pub write_us: f64,
    /// The median of a flush, in microseconds; 0 if acknowledged writes are durable.
    pub flush_us: f64,
    /// The 99th percentile of latencies over their median: they are log-normal.
    pub p99_ratio: f64,
    /// Reads and writes together.
    pub mb_per_s: f64,
    /// Without it, unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_s: Option<f64>,
    /// The largest request that counts as one operation, in KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_kib: Option<f64>,
    /// How much of both limits can be saved up, in milliseconds.
    pub burst_ms: f64,
}

/// A limit per second, some of which can be saved up.
#[derive(Debug)]
struct Allowance {
    per_s: f64,
    burst: Nanos,
    /// When all that was taken will have been allowed.
    used_until: Nanos,
}

impl Allowance {
    /// Takes an amount; returns when that is allowed.
    fn take(&mut self, amount: f64, now: Nanos) -> Nanos {
        let time = (amount / self.per_s * SECOND as f64) as Nanos;
        self.used_until = self.used_until.max(now.saturating_sub(self.burst)) + time;
        now.max(self.used_until)
    }
}

#[derive(Debug)]
pub(crate) struct Remote {
    network: Network,
    random: Random,
    operations: Option<Allowance>,
    bytes: Allowance,
}

impl Remote {
    /// With nothing saved up; latencies follow from a seed.
    pub fn new(network: Network, seed: u64) -> Remote {
        let burst = (network.burst_ms * MILLISECOND as f64) as Nanos;
        let allowance = |per_s: f64| Allowance { per_s, burst, used_until: 0 };
        Remote {
            network,
            random: Random::seeded(seed),
            operations: network.operations_per_s.map(allowance),
            bytes: allowance(network.mb_per_s * 1e6),
        }
    }

    fn latency(&mut self, median_us: f64) -> Nanos {
        let deviation = self.network.p99_ratio.ln() / NORMAL_P99;
        let factor = (deviation * self.random.normal()).exp();
        (median_us * factor * MICROSECOND as f64) as Nanos
    }
}

impl Model for Remote {
    fn reply_due(&mut self, request: &Request, now: Nanos) -> Nanos {
        let median = match request.kind {
            Kind::Read => self.network.read_us,
            Kind::Write | Kind::Discard => self.network.write_us,
            Kind::Flush => self.network.flush_us,
        };
        let due = now + self.latency(median);
        if !matches!(request.kind, Kind::Read | Kind::Write) {
            return due;
        }
        let operation_bytes = self.network.operation_kib.map_or(u64::MAX, |kib| (kib * 1024.0) as u64);
        let operations = request.bytes.div_ceil(operation_bytes.max(1)).max(1);
        let allowed = self.operations.as_mut().map_or(0, |allowance| allowance.take(operations as f64, now));
        due.max(allowed).max(self.bytes.take(request.bytes as f64, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network {
            read_us: 500.0,
            write_us: 800.0,
            flush_us: 0.0,
            p99_ratio: 4.0,
            mb_per_s: 100.0,
            operations_per_s: Some(1000.0),
            operation_kib: Some(256.0),
            burst_ms: 100.0,
        }
    }

    #[test]
    fn latencies_have_their_median_and_their_tail_and_follow_from_the_seed() {
        let draw = |seed: u64| {
            let mut remote = Remote::new(network(), seed);
            let times =
                (0..20_000).map(|n| remote.reply_due(&Request::read(0, 512), n * SECOND) - n * SECOND);
            times.collect::<Vec<Nanos>>()
        };
        let mut times = draw(3);
        assert_eq!(times, draw(3));
        assert_ne!(times, draw(4));
        times.sort_unstable();
        let (median, p99) = (times[10_000] as f64, times[19_800] as f64);
        assert!((median / 500_000.0 - 1.0).abs() < 0.03, "{median}");
        assert!((p99 / 2_000_000.0 - 1.0).abs() < 0.06, "{p99}");
    }

    #[test]
    fn what_was_saved_up_is_spent_and_then_no_more_is_allowed_of_requests_and_bytes() {
        let mut remote = Remote::new(Network { p99_ratio: 1.0, ..network() }, 1);
        // After 10 s, a tenth of a second's worth has been saved up: 100 operations.
        let start = 10 * SECOND;
        let dues: Vec<Nanos> =
            (0..300).map(|_| remote.reply_due(&Request::read(0, 4096), start) - start).collect();
        assert_eq!((dues[0], dues[99]), (500_000, 500_000));
        assert_eq!(dues[299], 200 * MILLISECOND);
        // A large request counts as several.
        let before = dues[299];
        assert_eq!(remote.reply_due(&Request::read(0, 1 << 20), start) - start, before + 4 * MILLISECOND);
        let flush = remote.reply_due(&Request::flush(), start);
        assert_eq!(flush, start, "writes were durable when they were acknowledged");
        let network = Network { p99_ratio: 1.0, operations_per_s: None, burst_ms: 0.0, ..network() };
        let mut remote = Remote::new(network, 1);
        let last = (0..100).map(|_| remote.reply_due(&Request::write(0, 1_000_000), 0)).last();
        assert_eq!(last, Some(SECOND));
    }
}
