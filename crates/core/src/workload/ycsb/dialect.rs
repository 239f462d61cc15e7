//! The property names of YCSB and its family (go-ycsb, YCSB-cpp): where each value belongs in plans, and why some change nothing.

use storebench_model::axis::Axis;
use storebench_model::axis::ycsb::ZIPFIAN_YCSB;
use storebench_model::sanitize::quoted;

use super::property::{ALL, find_property};

/// Where a value belongs that YCSB calls by a name.
#[derive(Debug, PartialEq)]
pub enum PropertyTarget {
    /// Among the properties.
    Property,
    /// On an axis, as plans write it.
    Axis(Axis, String),
    /// To a parameter of the plan, by its name.
    Parameter(&'static str, String),
    /// No number of requests ends the work: its time does.
    UntilTime,
    /// Among the properties, with another value: YCSB's word means something else here.
    Meant(&'static str),
    /// Nowhere: it is so in any case.
    Nowhere,
    /// Nowhere: it changes nothing of the work here, as this says.
    Idle(&'static str),
}

/// What a name without a place in plans does.
#[derive(Debug, Clone, Copy)]
enum PropertyEffect {
    /// Nothing, whatever its value; also for names that begin with it and a dot.
    Nothing,
    /// Nothing with this value; others are not supported.
    NothingAt(&'static str),
    NotSupported,
}
use PropertyEffect::{NotSupported, Nothing, NothingAt};

static PROPERTIES_WITHOUT_TARGET: [(&str, PropertyEffect, &str); 26] = [
    ("table", Nothing, "a store has one table"),
    ("fieldnameprefix", Nothing, "fields are known by their position in the record, not by name"),
    (
        "core_workload_insertion_retry_limit core_workload_insertion_retry_interval silence \
         core_workload_insertion_keep_going_on_error reportlatencyforeacherror latencytrackederrors",
        Nothing,
        "an operation that fails ends the trial",
    ),
    ("measurement.interval", Nothing, "with a target, latency counts from the intended start"),
    ("measurement.trackjvm debug", Nothing, "there is no Java and no Go here"),
    (
        "measurementtype measurement hdrhistogram histogram timeseries",
        Nothing,
        "every latency is kept, in a histogram",
    ),
    ("status label verbose", Nothing, "the progress is shown in any case"),
    ("htrace", Nothing, "requests are not traced"),
    ("spin.sleep", Nothing, "with a target, a thread always waits as exactly as it can"),
    ("exporter outputstyle", Nothing, "use storebench report --ycsb or --json"),
    ("exportfile", Nothing, "use storebench report --ycsb > FILE"),
    ("db dbname", Nothing, "use --store NAME"),
    ("dropdata", Nothing, "each trial begins with an empty store"),
    ("doload", Nothing, "each trial loads its records first; --workload load measures that"),
    ("dotransaction dotransactions", NothingAt("true"), "use --workload load for the load phase"),
    ("readallfieldsbyname", NothingAt("false"), "a read is of the whole record, whose fields have no names"),
    ("maxscanrate scanoptimelimit", NothingAt("0"), "only YCSB's binding to Bigtable reads it"),
    ("discardscannedrecord", NothingAt("false"), "only YCSB's binding to Bigtable reads it"),
    ("batchsize batch.size", NothingAt("1"), "inserts are done one by one"),
    ("keyprefix", NothingAt("user"), "keys begin with user"),
    ("zipfian_const", NothingAt("0.99"), "the exponent is 0.99"),
    (
        "deleteproportion",
        NothingAt("0"),
        "YCSB's core workload has no removals: run crud has (--mix remove=1)",
    ),
    ("warmupoperationcount warmuptime", NothingAt("0"), "no operation is left out of the figures"),
    ("sleepafterload", NothingAt("0"), "use --after-load"),
    ("limit.file", NotSupported, "the rate is the same at all times: use target"),
    ("fieldlengthhistogram", NotSupported, "use fieldlengthdistribution constant, uniform or zipfian"),
];

/// What begins the names of the family's store bindings, before a dot.
const BINDINGS: &str = "accumulo aerospike alibaba arangodb as azure azurecosmos badger basic basicdb bolt cassandra client \
    cloudspanner cluster couchbase couchbase2 crail dynamodb elasticsearch es etcd fdb foundationdb geode googlebigtable \
    googlebigtable2 googledatastore griddb hbase ignite infinispan java jdbc kudu leveldb lmdb maprdb memcached minio mongodb \
    mysql nosqldb orientdb pg postgrenosql rados redis riak rocksdb s3 scylla solr spanner sqlite tablestore tarantool tidb tikv \
    voltdb wiredtiger zookeeper";

/// YCSB's name for what another tool of the family calls by this one.
pub fn ycsb_name(name: &str) -> &str {
    match name {
        "limit.ops" => "target",
        "field_len_dist" => "fieldlengthdistribution",
        name => name,
    }
}

/// The plan's name for a property.
pub(super) fn plan_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "recordcount" => "records",
        "operationcount" => "operations",
        "target" => "rate",
        "threadcount" => "threads",
        "maxexecutiontime" => "max_time",
        _ => return None,
    })
}

/// Where a value belongs; the name is YCSB's. Fails for an unknown or unsupported name, and for a bad value.
pub fn belongs(name: &str, value: &str) -> Result<PropertyTarget, String> {
    let whole_number =
        || value.parse::<u64>().map_err(|_| format!("{name} = {}: it must be a whole number", quoted(value)));
    Ok(match name {
        "recordcount" => match whole_number()? {
            0 => {
                let why = "recordcount = 0 is an empty store, and 2147483647 records in YCSB: say how many";
                return Err(why.into());
            }
            count => PropertyTarget::Axis(Axis::RECORDS, count.to_string()),
        },
        "operationcount" => match whole_number()? {
            0 => PropertyTarget::UntilTime,
            count => PropertyTarget::Parameter("operations", count.to_string()),
        },
        "threadcount" => PropertyTarget::Axis(Axis::THREADS, whole_number()?.to_string()),
        "target" => match whole_number()? {
            0 => PropertyTarget::Axis(Axis::RATE, "closed".into()),
            rate => PropertyTarget::Axis(Axis::RATE, format!("{rate}/s")),
        },
        "maxexecutiontime" => match whole_number()? {
            0 => PropertyTarget::Parameter("max_time", "none".into()),
            seconds => PropertyTarget::Parameter("max_time", format!("{seconds}s")),
        },
        // Every value is checked, whatever it says.
        "dataintegrity" => match value {
            "true" | "false" => PropertyTarget::Nowhere,
            _ => return Err(format!("dataintegrity = {}: use true or false", quoted(value))),
        },
        "workload" => match value.rsplit('.').next() {
            Some("CoreWorkload" | "core") => PropertyTarget::Nowhere,
            _ => {
                return Err(format!("the workload {} is not supported: only CoreWorkload is", quoted(value)));
            }
        },
        "requestdistribution" if value.eq_ignore_ascii_case("zipfian") => PropertyTarget::Meant(ZIPFIAN_YCSB),
        name => match find_property(name) {
            Some(property) => property.read(value).map(|_| PropertyTarget::Property)?,
            None => PropertyTarget::Idle(why_idle(name, value)?),
        },
    })
}

/// Why a property does not change the work.
fn why_idle(name: &str, value: &str) -> Result<&'static str, String> {
    let is_name = |known: &str, effect: PropertyEffect| {
        let is_below = |rest: &str| matches!(effect, Nothing) && rest.starts_with('.');
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || is_below(rest))
    };
    let has_name = |(names, effect, _): &(&str, PropertyEffect, &str)| {
        names.split_whitespace().any(|known| is_name(known, *effect))
    };
    let Some((_, effect, why)) = PROPERTIES_WITHOUT_TARGET.iter().copied().find(has_name) else {
        let binding =
            name.split_once('.').filter(|(binding, _)| BINDINGS.split(' ').any(|known| known == *binding));
        let why = "a binding to a store reads it; --set STORE.NAME=VALUE sets what storebench's stores have";
        return binding.map(|_| why).ok_or_else(|| unknown(name));
    };
    let number = |text: &str| text.parse::<f64>().ok();
    match effect {
        Nothing => Ok(why),
        NothingAt(accepted) => {
            let is_same = number(value).is_some() && number(value) == number(accepted);
            if value == accepted || is_same {
                return Ok(why);
            }
            Err(format!("{name} = {} is not supported, only {accepted} is: {why}", quoted(value)))
        }
        NotSupported => Err(format!("the property {name} is not supported: {why}")),
    }
}

/// The error for an unknown property, with a hint if another name differs in two letters at most, or begins with it: others may
/// mean something else.
pub(super) fn unknown(name: &str) -> String {
    const MAX_NAME_BYTES: usize = 40;
    let plan_properties =
        ["recordcount", "operationcount", "target", "threadcount", "maxexecutiontime", "dataintegrity"];
    let distance = |known: &str| if name.starts_with(known) { 0 } else { strsim::osa_distance(name, known) };
    let names = ALL.iter().map(|property| property.name).chain(plan_properties);
    let names = names.filter(|_| name.len() <= MAX_NAME_BYTES).map(|known| (distance(known), known));
    let mut candidates: Vec<_> = names.filter(|(letters, _)| *letters <= 2).collect();
    candidates.sort_unstable();
    let hint = match candidates[..] {
        [(nearest, _), (second, _), ..] if nearest == second => String::new(),
        [(_, meant), ..] => format!(" (did you mean {meant}?)"),
        [] => String::new(),
    };
    format!("the property {} is unknown{hint}; --set STORE.NAME=VALUE sets a store's", quoted(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_place_of_its_own_goes_there() {
        let axis = |axis, text: &str| PropertyTarget::Axis(axis, text.into());
        for (name, value, target) in [
            ("recordcount", "1000", axis(Axis::RECORDS, "1000")),
            ("target", "500", axis(Axis::RATE, "500/s")),
            ("target", "0", axis(Axis::RATE, "closed")),
            ("operationcount", "0", PropertyTarget::UntilTime),
            ("threadcount", "4", axis(Axis::THREADS, "4")),
            ("maxexecutiontime", "30", PropertyTarget::Parameter("max_time", "30s".into())),
            ("workload", "site.ycsb.workloads.CoreWorkload", PropertyTarget::Nowhere),
            ("workload", "core", PropertyTarget::Nowhere),
            ("maxscanlength", "10", PropertyTarget::Property),
            ("requestdistribution", "zipfian", PropertyTarget::Meant(ZIPFIAN_YCSB)),
            ("requestdistribution", "latest", PropertyTarget::Property),
        ] {
            assert_eq!(belongs(name, value), Ok(target), "{name}");
        }
        for (name, expected) in [
            ("table", "one table"),
            ("hdrhistogram.percentiles", "every latency"),
            ("measurement.interval", "intended start"),
            ("rocksdb.dir", "--set STORE.NAME=VALUE"),
        ] {
            let idle = belongs(name, "x").unwrap();
            assert!(matches!(idle, PropertyTarget::Idle(why) if why.contains(expected)), "{name}: {idle:?}");
        }
    }

    #[test]
    fn what_is_unknown_unsupported_or_out_of_bounds_is_told() {
        for (name, value, expected) in [
            ("recordcuont", "1", "did you mean recordcount?"),
            ("rocksdbdir", "/tmp", "--set STORE.NAME=VALUE"),
            ("exponential.fraction", "0.5", "did you mean exponential.frac?"),
            ("batchsize", "10", "inserts are done one by one"),
            ("readallfields", "some", "use true, false"),
            ("fieldlengthdistribution", "histogram", "a file of lengths is not read"),
            ("requestdistribution", "normal", "use uniform, zipfian"),
            ("readproportion", "-1", "from 0 on"),
            ("readproportion", "NaN", "from 0 on"),
            ("hotspotdatafraction", "1.5", "from 0 to 1"),
            ("exponential.percentile", "100", "below 100"),
            ("zeropadding", "29", "from 0 to 28"),
            ("fieldcount", "0", "from 1 to"),
            ("recordcount", "many", "whole number"),
            ("workload", "site.ycsb.workloads.TimeSeriesWorkload", "only CoreWorkload"),
            ("dataintegrity", "perhaps", "true or false"),
            ("deleteproportion", "0.2", "run crud has"),
            ("zipfian_const", "0.6", "the exponent is 0.99"),
            ("readallfieldsbyname", "true", "only false is"),
            ("maxscanrate", "5", "only 0 is"),
            ("limit.file", "rates", "use target"),
            ("limits.ops", "5", "unknown; --set"),
            ("recordcount", "0", "say how many"),
        ] {
            let error = belongs(name, value).unwrap_err();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn what_the_family_has_at_its_defaults_changes_nothing() {
        // YCSB at d9faaac8: its core and its template; go-ycsb and YCSB-cpp.
        for property in "readallfieldsbyname=false maxscanrate=0 scanoptimelimit=0 discardscannedrecord=false status=true \
            core_workload_insertion_keep_going_on_error=false label=x reportlatencyforeacherror=true latencytrackederrors=X \
            measurement.trackjvm=true measurement.histogram.verbose=true spin.sleep=true dropdata=true dbname=rocksdb \
            batch.size=1 keyprefix=user doload=true dotransaction=true zipfian_const=0.990 deleteproportion=0.0"
            .split_whitespace()
        {
            let (name, value) = property.split_once('=').unwrap();
            let target = belongs(name, value);
            assert!(matches!(target, Ok(PropertyTarget::Idle(_))), "{property}: {target:?}");
        }
        let ycsb_names = ["limit.ops", "field_len_dist"].map(ycsb_name);
        assert_eq!(ycsb_names, ["target", "fieldlengthdistribution"]);
        for name in ["deleteproportions", "mixscanlength", "tablename"] {
            assert!(!belongs(name, "1").unwrap_err().contains("did you mean"), "{name}");
        }
    }
}
