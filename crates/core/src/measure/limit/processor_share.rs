//! Whether a share of the processors' time was in force during a measurement. The kernel gives it in slices, and checks at its
//! clock tick whether a slice is used up: what ends before runs at full speed.

use storebench_model::result::{Counters, Measurements, OVERALL, OperationResult, Warning};

/// How far a phase may exceed its share before its figures are another machine's.
const TOLERATED_FACTOR: f64 = 1.25;

/// The operations of a trial that had more of a processor's time than their share of it, in millionths.
pub fn beyond_share(measured: &Measurements, millionths: u64) -> Vec<Warning> {
    let share = millionths as f64 / 1e6;
    let overall = measured.operation(OVERALL).and_then(|overall| overall.counters.as_ref());
    let warning = |operation: &OperationResult| {
        let counters = operation.counters.as_ref().or(overall)?;
        let used = used_share(counters)?;
        (used > share * TOLERATED_FACTOR).then(|| Warning {
            figure: operation.operation.clone(),
            reason: format!(
                "it had {:.0} % of a processor's time, where the machine's share is {} %: the work was over too soon for that to \
                 take effect, so measure more operations",
                used * 100.0,
                // Divided once, to give exactly the number that was asked for.
                millionths as f64 / 1e4
            ),
        })
    };
    measured.operations.iter().filter_map(warning).collect()
}

fn used_share(counters: &Counters) -> Option<f64> {
    let (cpu_ns, took_ns) = (counters.cpu_ns?, counters.took_ns?);
    (took_ns > 0).then(|| cpu_ns as f64 / took_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(name: &str, counted: Option<(u64, u64)>) -> OperationResult {
        let counters = counted.map(|(cpu_ns, took_ns)| Counters {
            cpu_ns: Some(cpu_ns),
            took_ns: Some(took_ns),
            ..Counters::default()
        });
        OperationResult { operation: name.into(), counters, ..OperationResult::default() }
    }

    fn warnings(operations: Vec<OperationResult>, millionths: u64) -> Vec<Warning> {
        beyond_share(&Measurements { operations, ..Measurements::default() }, millionths)
    }

    fn figures_with_warnings(operations: Vec<OperationResult>, millionths: u64) -> Vec<String> {
        warnings(operations, millionths).into_iter().map(|warning| warning.figure).collect()
    }

    #[test]
    fn work_that_is_over_before_its_slice_is_doubted() {
        let counted = [Some((950, 1000)), Some((60, 1000)), Some((0, 0)), None];
        let named = || ["get", "insert", "update", "remove"].into_iter().zip(counted);
        let operations = || named().map(|(name, counted)| operation(name, counted)).collect();
        assert_eq!(figures_with_warnings(operations(), 55_000), ["get"]);
        assert_eq!(figures_with_warnings(operations(), 40_000), ["get", "insert"]);
        assert!(figures_with_warnings(operations(), 1_000_000).is_empty());
        let mix = vec![operation(OVERALL, Some((950, 1000))), operation("read", None)];
        assert_eq!(figures_with_warnings(mix, 55_000), [OVERALL, "read"], "parts are doubted with it");
    }

    #[test]
    fn the_share_is_told_as_it_was_asked_for() {
        for (millionths, words) in
            [(35_000, "share is 3.5 %:"), (57_000, "share is 5.7 %:"), (290_000, "share is 29 %:")]
        {
            let warnings = warnings(vec![operation("get", Some((1000, 1000)))], millionths);
            assert!(warnings[0].reason.contains(words), "{}", warnings[0].reason);
        }
    }
}
