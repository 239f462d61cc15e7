//! `storebench machines`: the machine profiles, the source of each figure, and which limits can be enforced here.

use storebench_core::measure::environment;
use storebench_core::measure::limit::{LimitDecisions, LimitSupport};
use storebench_host::machine::{Core, Machine, NAMES, shipped};
use storebench_model::error::{Error, Exit, Result, unknown};
use storebench_model::result::LimitKind;
use storebench_model::units::{rough_bytes, three_digits, with_commas};

use super::output::{fitted, print};

pub fn list(name: Option<&str>) -> Result<Exit> {
    let support = LimitSupport::detect();
    let text = match name {
        Some(name) => describe_machine(name, find_machine(name)?, &support),
        None => list_all(&support),
    };
    print(&text)?;
    Ok(Exit::Success)
}

fn find_machine(name: &str) -> Result<Machine> {
    shipped(name).ok_or_else(|| Error::bad_value(unknown("machine", name, NAMES)))
}

/// A line for each profile, and the limits that can be enforced here.
fn list_all(support: &LimitSupport) -> String {
    use LimitKind::{Memory, Processors, ReadBandwidth, ReadOperations, WriteBandwidth, WriteOperations};
    let mut text = row(["machine", "memory", "processors", "read", "write", "reads/s", "writes/s", "disk"]);
    for (name, machine) in NAMES.iter().filter_map(|name| Some((name, shipped(name)?))) {
        let limits = machine.limits();
        let cell = |limit| limits.get(&limit).map_or("-".to_owned(), |value| format_short(limit, *value));
        let [memory, processors, read, write, reads, writes] =
            [Memory, Processors, ReadBandwidth, WriteBandwidth, ReadOperations, WriteOperations].map(cell);
        let share = if machine.core.is_some() { " (share)" } else { "" };
        let disk = machine.disk.as_deref().unwrap_or("-");
        text.push_str(&row([name, &memory, &(processors + share), &read, &write, &reads, &writes, disk]));
    }
    text.push('\n');
    text.push_str(&fitted(
        "share: of a core's time, found by timing the same work here. read, write: bytes per second. disk: simulated, instead of \
         the limits of reads and writes, if it is available. -: not limited.",
        0,
    ));
    text.push_str("\nWhat can be limited here:\n");
    for limit in LimitKind::ALL {
        text.push_str(&fitted(&format!("{}: {}", limit.describe(), describe_limit(limit, support)), 2));
    }
    text.push('\n');
    text.push_str(&fitted(
        "Sources and what a machine does not stand in for: storebench machines NAME. To measure: --machine NAME. Machines of your \
         own: [machines.NAME] in a plan (docs/machines.md).",
        0,
    ));
    text
}

/// How a limit is enforced here, and what escapes it; or why it can't be.
fn describe_limit(limit: LimitKind, support: &LimitSupport) -> String {
    enforcement(limit, support).unwrap_or_else(|why| format!("no: {why}"))
}

/// How a limit is enforced here, and what escapes it; or why it can't be, and what would help.
pub fn enforcement(limit: LimitKind, support: &LimitSupport) -> std::result::Result<String, String> {
    let LimitDecisions { held, .. } = support.decide(&[(limit, 1 << 30)].into(), &[], Ok(()))?;
    Ok(held.first().map_or(String::new(), |enforced| {
        let remark = enforced.remark.as_ref().map_or(String::new(), |remark| format!("; {remark}"));
        format!("by {}{remark}", enforced.by)
    }))
}

fn describe_machine(name: &str, machine: Machine, support: &LimitSupport) -> String {
    let mut text = fitted(&format!("{name}: {}", machine.about), 0);
    let source = |key: &str| machine.sources.get(key).cloned().unwrap_or_default();
    for (limit, value) in machine.limits() {
        let optional = if machine.optional.contains(&limit) { ", if it can be held" } else { "" };
        text.push_str(&format!("\n  {}: {}{optional}\n", limit.describe(), format_long(limit, value)));
        text.push_str(&fitted(&format!("source: {}", source(limit.name())), 4));
        text.push_str(&fitted(&format!("here: {}", describe_limit(limit, support)), 4));
    }
    if let Some(disk) = &machine.disk {
        text.push('\n');
        let sentence =
            format!("disk: {disk}, simulated, instead of the limits of reads and writes, if it is available");
        text.push_str(&fitted(&sentence, 2));
        text.push_str(&fitted(&format!("source: {}", source("disk")), 4));
        text.push_str(&fitted(&format!("more: storebench disks {disk}"), 4));
    }
    if let Some(core) = machine.core {
        text.push_str(&describe_core(&core, &source("core"), support));
    }
    text.push_str("\n  not stood in for:\n");
    text.push_str(&fitted(&machine.lacks, 4));
    text
}

/// The share of a core, and the measures behind it.
fn describe_core(core: &Core, source: &str, support: &LimitSupport) -> String {
    let measured = Core::measure();
    let [sorts, ciphers, chases] = core.ratios(&measured);
    let processor = environment::machine().cpu.unwrap_or_else(|| "this machine".into());
    let mut text = format!("\n  processor time: {} of a core's, here\n", core.share_of(&measured));
    text.push_str(&fitted(&format!("source: {source}"), 4));
    text.push_str(&fitted(&format!("here: {}", describe_limit(LimitKind::Share, support)), 4));
    text.push_str(&fitted(&format!("the same was timed on {processor}:"), 4));
    let lines = [
        ("sorts", sorts, format!("{} of 8,111 numbers per second", three_digits(measured.sorts_per_s))),
        (
            "encryptions",
            ciphers,
            format!("{} of 4,000 bytes, and back, per second", three_digits(measured.ciphers_per_s)),
        ),
        ("pointers", chases, format!("{} ns each, through 1 MB", three_digits(measured.chase_ns))),
    ];
    for (kind, ratio, figure) in lines {
        text.push_str(&fitted(&format!("{kind}: {figure}; {} times as quick", three_digits(ratio)), 6));
    }
    text.push_str(&fitted("The share is the geometric mean of the three. They differ, and so do stores.", 4));
    text
}

fn format_short(limit: LimitKind, value: u64) -> String {
    match limit {
        LimitKind::Memory => rough_bytes(value as f64),
        LimitKind::ReadBandwidth | LimitKind::WriteBandwidth => {
            format!("{} MB", with_commas(value / 1_000_000))
        }
        _ => with_commas(value),
    }
}

fn format_long(limit: LimitKind, value: u64) -> String {
    match limit {
        LimitKind::ReadBandwidth | LimitKind::WriteBandwidth => format!("{}/s", format_short(limit, value)),
        LimitKind::ReadOperations | LimitKind::WriteOperations => {
            format!("{} per second", with_commas(value))
        }
        _ => format_short(limit, value),
    }
}

fn row(cells: [&str; 8]) -> String {
    let [name, memory, processors, read, write, reads, writes, disk] = cells;
    format!("{name:<19} {memory:>7} {processors:>10} {read:>6} {write:>6} {reads:>7} {writes:>8} {disk:>8}\n")
}
