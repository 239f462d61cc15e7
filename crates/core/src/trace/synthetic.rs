//! Made traces for tests, with statistics that were published of real ones.

use std::fmt::Write as _;

/// The traits of a trace to be made.
pub struct TraceTraits {
    pub keys: usize,
    pub operations: u64,
    /// The exponent of the Zipf distribution of keys.
    pub zipf: f64,
    /// Operations by name or number, and their share.
    pub mix: &'static [(&'static str, f64)],
    pub key_bytes: usize,
    /// The mean size of a value, in bytes.
    pub value_bytes: u64,
    /// Operations per second.
    pub rate: u64,
}

/// Cluster 14 of Twitter's traces: a row of stat/2020Mar.md of github.com/twitter/cache-trace.
pub const CLUSTER_14: TraceTraits = TraceTraits {
    keys: 3_000,
    operations: 200_000,
    zipf: 1.2959,
    mix: &[("get", 0.65), ("delete", 0.22), ("set", 0.13)],
    key_bytes: 96,
    value_bytes: 414,
    rate: 5_810,
};

/// Cluster 23: the same table.
pub const CLUSTER_23: TraceTraits = TraceTraits {
    keys: 2_000,
    operations: 200_000,
    zipf: 0.274,
    mix: &[("get", 0.37), ("set", 0.31), ("incr", 0.30), ("delete", 0.02)],
    key_bytes: 35,
    value_bytes: 224,
    rate: 8_690,
};

/// ZippyDB of Cao et al., Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook, FAST 2020: Get,
/// Put, Delete and Iterator_seek are 78 : 13 : 6 : 3; keys have 47.9 bytes and values 42.9 on average. Its skew is not given as
/// an exponent: that of YCSB stands in.
pub const ZIPPYDB: TraceTraits = TraceTraits {
    keys: 5_000,
    operations: 100_000,
    zipf: 0.99,
    mix: &[("0", 0.78), ("1", 0.13), ("2", 0.06), ("6", 0.03)],
    key_bytes: 48,
    value_bytes: 43,
    rate: 50_000,
};

impl TraceTraits {
    /// The lines that `line` makes of the operations, each from its number, name, rank of its key, and size.
    fn write_lines(&self, mut line: impl FnMut(&mut String, u64, &str, usize, u64)) -> String {
        let mut random = fastrand::Rng::with_seed(7);
        let weights: Vec<f64> = (1..=self.keys).map(|rank| (rank as f64).powf(-self.zipf)).collect();
        let sum: f64 = weights.iter().sum();
        let shares = weights.iter().scan(0.0, |running_sum, weight| {
            *running_sum += weight / sum;
            Some(*running_sum)
        });
        let upto: Vec<f64> = shares.collect();
        let mut text = String::new();
        for number in 0..self.operations {
            let point = random.f64();
            let rank = upto.partition_point(|upto| *upto < point).min(self.keys - 1);
            let mut remaining = random.f64();
            let chosen = self.mix.iter().find(|(_, share)| {
                remaining -= share;
                remaining < 0.0
            });
            let name = chosen.unwrap_or(&self.mix[0]).0;
            line(&mut text, number, name, rank, random.u64(1..2 * self.value_bytes));
        }
        text
    }

    /// In the form of Twitter's traces.
    pub fn twitter(&self) -> String {
        let writes = ["set", "incr", "add"];
        self.write_lines(|text, number, name, rank, size| {
            let key = format!("{rank:0width$}", width = self.key_bytes);
            let (size, ttl) = if writes.contains(&name) { (size, 3600) } else { (0, 0) };
            let _ =
                writeln!(text, "{},{key},{},{size},{},{name},{ttl}", number / self.rate, key.len(), rank % 9);
        })
    }

    /// In the form of trace_analyzer.
    pub fn rocksdb(&self) -> String {
        self.write_lines(|text, number, name, rank, size| {
            let time = 1_594_838_400_000_000 + number * 1_000_000 / self.rate;
            let size = if name == "1" { size } else { 0 };
            let _ = writeln!(text, "0x{rank:0width$X} {name} 0 {size} {time}", width = 2 * self.key_bytes);
        })
    }
}
