//! Notes on the simulated disks of the runs: their requests, and how late they answered.

use indexmap::IndexMap;
use storebench_model::result::{DiskReport, Transit};
use storebench_model::units::{rough_bytes, rough_ns, three_digits, with_commas};

use super::merge::Merged;

pub fn notes(merged: &Merged<'_>) -> Vec<String> {
    let mut disks: IndexMap<(&str, &str), Vec<&DiskReport>> = IndexMap::new();
    for run in merged.runs {
        for disk in run.trials.iter().filter_map(|trial| trial.disk.as_ref()) {
            disks.entry((&run.header.hardware, &disk.name)).or_default().push(disk);
        }
    }
    disks.iter().map(|((hardware, name), reports)| note(hardware, name, reports)).collect()
}

fn note(hardware: &str, name: &str, reports: &[&DiskReport]) -> String {
    let sum = |field: fn(&DiskReport) -> u64| reports.iter().map(|report| field(report)).sum::<u64>();
    let replies = sum(|report| report.counts.requests.all());
    let (late, modelled) =
        (sum(|report| report.counts.requests.late_ns), sum(|report| report.counts.requests.modelled_ns));
    let worst = reports.iter().map(|report| report.counts.late_ns_p99).max().unwrap_or_default();
    let mut note = format!(
        "Disk {name} is simulated on {hardware}: {} made {} reads ({}), {} writes ({}) and {} flushes, with which its model was \
         busy for {}. It answered {} late in the mean, {} % of that time; in its worst trial, 99 % of replies were at most {} late.",
        if reports.len() == 1 {
            "one trial".to_owned()
        } else {
            format!("{} trials", with_commas(reports.len() as u64))
        },
        with_commas(sum(|report| report.counts.requests.reads.requests)),
        rough_bytes(sum(|report| report.counts.requests.reads.bytes) as f64),
        with_commas(sum(|report| report.counts.requests.writes.requests)),
        rough_bytes(sum(|report| report.counts.requests.writes.bytes) as f64),
        with_commas(sum(|report| report.counts.requests.flushes)),
        rough_ns(modelled as f64),
        rough_ns(late as f64 / replies.max(1) as f64),
        three_digits(late as f64 / modelled.max(1) as f64 * 100.0),
        rough_ns(worst as f64),
    );
    let processor = sum(|report| report.counts.processor_ns) as f64;
    let (all, each) = (rough_ns(processor), rough_ns(processor / replies.max(1) as f64));
    note.push_str(&format!(" Its server took {all} of processor time, {each} a request."));
    note.extend(transit(reports));
    note
}

/// The time to a disk and back, from the runs that measured it.
fn transit(reports: &[&DiskReport]) -> Option<String> {
    let trips: Vec<Transit> = reports.iter().filter_map(|report| report.transit).collect();
    let mean = |field: fn(&Transit) -> u64| trips.iter().map(field).sum::<u64>() as f64 / trips.len() as f64;
    let worst = trips.iter().map(|transit| transit.p99_ns).max()?;
    Some(format!(
        " A request takes {} through FUSE and the loop device and back, {} of it late, where the model takes no time: in the mean of \
         4 KiB read and written one at a time; 99 % take at most {}. The times of operations hold it.",
        rough_ns(mean(|transit| transit.mean_ns)),
        rough_ns(mean(|transit| transit.late_ns_mean)),
        rough_ns(worst as f64),
    ))
}

#[cfg(test)]
mod tests {
    use storebench_samples::{Sample, run};

    use super::*;

    #[test]
    fn a_simulated_disk_is_told_with_how_late_it_was() {
        let mut run = run("box", &[Sample::new("sqlite"), Sample::new("lmdb"), Sample::new("redb")]);
        for (trial, late_ns) in run.trials.iter_mut().zip([10_000, 30_000]) {
            let text = format!(
                "{{\"name\":\"steady\",\"reads\":{{\"requests\":1,\"bytes\":4096}},\"writes\":{{\"requests\":1,\"bytes\":4096}},\
                 \"discards\":{{\"requests\":0,\"bytes\":0}},\"flushes\":0,\"seeks\":0,\"merges\":0,\"modelled_ns\":2000000,\
                 \"late_ns\":{late_ns},\"late_ns_p99\":{late_ns},\"processor_ns\":1}}"
            );
            let report: DiskReport = serde_json::from_str(&text).unwrap();
            assert_eq!(report.transit, None, "an older result has none");
            trial.disk = Some(report);
        }
        let runs = [run];
        let notes = notes(&Merged::new(&runs, &[]));
        let [note] = notes.as_slice() else { panic!("{notes:?}") };
        let start = "Disk steady is simulated on box: 2 trials made 2 reads (8.00 KiB), 2 writes";
        assert!(note.starts_with(start), "{note}");
        assert!(note.contains("1.00 % of that time"), "{note}");
        assert!(note.ends_with("Its server took 2.00 ns of processor time, 0.500 ns a request."), "{note}");
    }

    #[test]
    fn the_way_to_it_and_back_is_told_where_it_was_measured() {
        let report = |mean_ns| DiskReport {
            name: "steady".into(),
            transit: Some(Transit { requests: 400, mean_ns, p99_ns: 90_000, late_ns_mean: 10_000 }),
            counts: Default::default(),
        };
        let text = transit(&[&report(40_000), &report(60_000)]).unwrap();
        assert!(text.starts_with(" A request takes 50.0 µs through FUSE"), "{text}");
        assert!(text.contains("10.0 µs of it late") && text.contains("at most 90.0 µs"), "{text}");
    }
}
