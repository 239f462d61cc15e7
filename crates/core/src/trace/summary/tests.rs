use super::*;
use crate::trace::synthetic::{CLUSTER_14, CLUSTER_23, TraceTraits, ZIPPYDB};

fn read(text: &str) -> Result<Option<Summary>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, text).unwrap();
    Summary::read(&path, ReaderOptions::default(), &|| false)
}

fn summary(text: &str) -> Summary {
    read(text).unwrap().unwrap()
}

fn assert_like(summary: &Summary, traits: &TraceTraits, words: &[&str]) {
    assert_eq!(summary.operations, traits.operations);
    for ((_, share), word) in traits.mix.iter().zip(words) {
        let found = summary.mix.iter().find(|known| known.operation == *word).unwrap();
        let found = found.count as f64 / summary.operations as f64;
        assert!((found - share).abs() < 0.01, "{word}: {found}");
    }
    assert_eq!([summary.key_bytes.min, summary.key_bytes.max], [traits.key_bytes as u64; 2]);
    let mean = summary.value_bytes.mean / traits.value_bytes as f64;
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    let zipf = summary.skew.zipf.unwrap();
    assert!((zipf - traits.zipf).abs() < 0.05, "{zipf}");
    let rate = summary.operations as f64 / summary.span_s.unwrap() / traits.rate as f64;
    assert!((rate - 1.0).abs() < 0.05, "{rate}");
    assert_eq!(summary.stretches.iter().sum::<u64>(), summary.operations);
    assert!(summary.stretches.len() <= 60, "{:?}", summary.stretches);
}

#[test]
fn published_statistics_are_found_again_in_made_traces() {
    let cluster = summary(&CLUSTER_14.twitter());
    assert_like(&cluster, &CLUSTER_14, &["get", "delete", "set"]);
    assert_eq!((cluster.form, cluster.whole_seconds), (Form::Twitter, true));
    let cluster = summary(&CLUSTER_23.twitter());
    assert_like(&cluster, &CLUSTER_23, &["get", "set", "incr", "delete"]);
    let incr = cluster.mix.iter().find(|share| share.operation == "incr").unwrap();
    assert_eq!(incr.played_as, "modify");
    assert!(!incr.lost.is_empty());
    let zippy = summary(&ZIPPYDB.rocksdb());
    assert_like(&zippy, &ZIPPYDB, &["get", "put", "delete", "iterator_Seek"]);
    assert_eq!((zippy.form, zippy.whole_seconds), (Form::RocksDb, false));
}

#[test]
fn working_set_and_times_of_a_small_trace_are_exact() {
    let lines: String =
        (0..200).map(|n| format!("{}.5,{},key{},10\n", n / 10, ["set", "get"][n % 2], n % 50)).collect();
    let summary = summary(&format!("time,operation,key,size\n{lines}19.25,get,key1,10\n19.5,skip,x,\n"));
    assert_eq!((summary.operations, summary.keys, summary.counted_one_in), (202, 50, 1));
    assert_eq!((summary.went_back, summary.span_s), (1, Some(19.0)));
    let keys: Vec<(u64, u64)> = summary.working_set.iter().map(|part| (part.operations, part.keys)).collect();
    assert_eq!(keys, [(3, 3), (21, 21), (202, 50)]);
    assert_eq!(summary.working_set[2].bytes, 10 * (4 + 10) + 40 * (5 + 10));
    // Every other key is only read.
    assert_eq!((summary.read_before_written_keys, summary.read_before_written_operations), (25, 101));
    assert_eq!((summary.facts.skip, summary.facts.played(), summary.facts.longest_key), (1, 201, 5));
    assert_eq!((summary.skew.once, summary.facts.kept_keys, summary.facts.written_keys), (0.0, 25, 25));
}

#[test]
fn sizes_are_exact_and_one_of_0_is_0() {
    let sizes = summary("operation,key,size\nset,user:1,65536\n").value_bytes;
    assert_eq!(sizes, Sizes { mean: 65536.0, min: 65536, p50: 65536, p90: 65536, p99: 65536, max: 65536 });
    let zero = summary("operation,key,size\nset,a,0\nset,b,1000\n");
    assert_eq!((zero.working_set[2].bytes, zero.value_bytes.min, zero.value_bytes.mean), (1002, 0, 500.0));
    let facts = summary("operation,key,size\nget,a,0\nset,b,1000\nget,c,\n").facts;
    assert_eq!((facts.load_keys, facts.load_value_bytes), (2, 1000));
}

#[test]
fn a_trace_without_times_or_operations_says_so() {
    let timeless = summary("operation,key,size\nset,a,7\nget,a,\n");
    assert_eq!((timeless.span_s, timeless.stretches.len(), timeless.facts.has_times()), (None, 0, false));
    let error = read("operation,key,size\n").unwrap_err();
    assert!(error.ends_with("has no operation"), "{error}");
    let error = read("operation,key,size\nset,a,2000000000\n").unwrap_err();
    assert!(error.contains("operation 1: a size of 2000000000: at most 1GiB"), "{error}");
}
