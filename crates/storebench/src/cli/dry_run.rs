//! `storebench run --dry-run`: lists the cells that would run, their time and disk space, and what is left out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storebench_host::runner::rehearsal::Rehearsal;
use storebench_model::error::Result;
use storebench_model::result::LeftOutCell;
use storebench_model::units::{plural, rough_bytes, rough_duration};
use storebench_report::terminal::grid::wrap;

use super::launch::Launch;
use super::output::WIDTH;

/// The width of a cell's id with its figures next to it; longer ones have them below.
const ID_WIDTH: usize = WIDTH - 2 * (FIGURE_WIDTH + 1);
const FIGURE_WIDTH: usize = 11;

/// The trials that would run, as text; `None` if it was interrupted. A rehearsal shows the time, if the workload can learn it from that.
pub fn text(launch: &Launch<'_>, rehearsal: &Rehearsal, interrupted: &AtomicBool) -> Result<Option<String>> {
    let Launch { plan, stores, places, cells, header, .. } = launch;
    let workload = plan.workload.def();
    let mut text = describe_part(launch)?;
    text.push_str(&entry("cell", "time", "disk"));
    let (mut total_s, mut max_bytes, mut max_memory, mut max_room) = (0.0, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut has_learned = false;
    for (name, place) in *places {
        if !cells.iter().any(|cell| cell.location_on_disk() == *name) {
            continue;
        }
        let probe = place.probe()?;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        for cell in cells.iter().filter(|cell| cell.location_on_disk() == *name) {
            let case = plan.case(cell, stores);
            let trial = rehearsal.results.get(&cell.id());
            let learned_s =
                workload.time_by_rehearsal.zip(trial).and_then(|(learn, trial)| learn(&case, &probe, trial));
            has_learned |= learned_s.is_some();
            let seconds = match learned_s {
                Some(seconds) => seconds * plan.slowness(cell),
                None => plan.time(cell, stores, &probe).trial_s,
            };
            let bytes = (workload.space)(&case).peak_bytes;
            total_s += seconds * f64::from(plan.trials);
            max_bytes = max_bytes.max(bytes);
            max_memory = max_memory.max((workload.memory)(&case));
            max_room = max_room.max(plan.required_bytes(&case));
            text.push_str(&entry(&cell.id(), &duration(seconds), &rough_bytes(bytes)));
        }
    }
    text.push_str(&omissions(&header.left_out));
    if cells.is_empty() {
        return Ok(Some(text));
    }
    let sentence = format!(
        "{}, {}: {}.",
        plural(cells.len(), "cell"),
        match (plan.trials, plan.precision) {
            (1, None) => "each run once".into(),
            (trials, None) => format!("each run {trials} times"),
            (trials, Some(share)) => format!("each run {trials} times or until a precision of {share}"),
        },
        describe_time(total_s, plan.budget.map(|budget| budget.0)),
    );
    text.push_str(&format!("\n{}", wrap(&sentence, WIDTH, "")));
    text.push_str(&format!(
        "A trial takes up to {} of disk, and {} of memory without caches.\n",
        rough_bytes(max_bytes),
        rough_bytes(max_memory),
    ));
    if !plan.recovery.is_empty() {
        let room = rough_bytes(max_room);
        text.push_str(&format!("With its recovery check it must find up to {room} free.\n"));
    }
    text.push_str(match has_learned {
        true => "These are rough estimates from a short trial of each cell.\n",
        false => "These are rough estimates from a short test of the place, not of the stores.\n",
    });
    Ok(Some(text))
}

/// The part of the plan, if it is one.
fn describe_part(launch: &Launch<'_>) -> Result<String> {
    let Some(parts) = &launch.header.shard else { return Ok(String::new()) };
    let (split, part) = (launch.split(parts.of)?, parts.parts.first().copied().unwrap_or(1));
    let (positions, total) = split.positions(part);
    let sentence = format!(
        "{parts}: {positions} of {}, {:.1} % of the time that all take by an estimate that is the same on every machine",
        plural(total, "position"),
        100.0 * split.share(part)
    );
    Ok(format!("{}\n", wrap(&sentence, WIDTH, "")))
}

/// The time of the planned trials, and the use of the rest of a budget.
fn describe_time(seconds: f64, budget: Option<Duration>) -> String {
    let trials = format!("about {}", duration(seconds));
    match budget {
        None => trials,
        Some(budget) if seconds < budget.as_secs_f64() => {
            format!(
                "{trials}; what is undecided then is measured further until {} are over",
                rough_duration(budget)
            )
        }
        Some(budget) => format!(
            "{trials}, which leaves nothing of the budget of {} for what is undecided",
            rough_duration(budget)
        ),
    }
}

fn duration(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds).map_or_else(|_| "forever".into(), rough_duration)
}

/// A cell's id with its figures next to it, or below if it is long.
fn entry(id: &str, time: &str, disk: &str) -> String {
    let figures = format!("{time:>FIGURE_WIDTH$} {disk:>FIGURE_WIDTH$}");
    if id.chars().count() <= ID_WIDTH {
        return format!("{id:ID_WIDTH$} {figures}\n");
    }
    format!("{}{:ID_WIDTH$} {figures}\n", break_id(id, ""), "")
}

/// An id in lines, broken after slashes.
fn break_id(id: &str, indent: &str) -> String {
    let parts = id.replace('/', "/ ");
    let lines = wrap(&parts, WIDTH - indent.len() - 2, "    ");
    lines.lines().map(|line| format!("{indent}{}\n", line.replace("/ ", "/"))).collect()
}

fn omissions(left_out: &[LeftOutCell]) -> String {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for omitted in left_out {
        by_reason.entry(omitted.reason.to_string()).or_default().push(omitted.cell.id());
    }
    let mut text = String::new();
    for (reason, ids) in by_reason {
        let sentence = format!("{} left out: {reason}", plural(ids.len(), "combination"));
        text.push_str(&format!("\n{}", wrap(&sentence, WIDTH, "  ")));
        ids.iter().for_each(|id| text.push_str(&break_id(id, "  ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use storebench_model::cell::Cell;
    use storebench_model::result::LeftOutReason;
    use storebench_model::store::Guarantee;

    use super::*;

    #[test]
    fn ids_of_any_length_fit_and_can_be_put_together_again() {
        let long = "lmdb/1B..1KiB/20..100/incompressible/process/place=b/threads=4/rate=500/s/tuning=equal/cache=cold";
        for id in ["flat-folder/1B..1KiB/100..500/incompressible/power", &long[..70], long] {
            let text = entry(id, "3 min 20 s", "1,020 KiB");
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.concat().starts_with(id), "{text}");
            assert!(text.trim_end().ends_with("3 min 20 s   1,020 KiB"), "{text}");
        }
    }

    #[test]
    fn a_budget_is_spent_on_the_undecided_only_if_trials_leave_some() {
        let minute = Some(Duration::from_secs(60));
        assert_eq!(describe_time(90.0, None), "about 1 min 30 s");
        let some = "about 30 s; what is undecided then is measured further until 1 min 00 s are over";
        assert_eq!(describe_time(30.0, minute), some);
        let none = "about 1 min 30 s, which leaves nothing of the budget of 1 min 00 s for what is undecided";
        assert_eq!(describe_time(90.0, minute), none);
    }

    #[test]
    fn what_is_left_out_stands_below_its_reason() {
        let left_out = |store: &'static str| LeftOutCell {
            cell: Cell::new(store),
            reason: LeftOutReason::NotOffered { store: "redb".into(), guarantee: Guarantee::None },
        };
        let text = omissions(&[left_out("a"), left_out("b")]);
        assert_eq!(text, "\n2 combinations left out: redb does not offer the guarantee none\n  a\n  b\n");
    }
}
