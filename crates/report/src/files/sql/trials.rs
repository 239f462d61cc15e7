//! Runs, trials and what they measured, as they were written down.

use storebench_core::result::{
    Audit, ClientReport, Counters, Device, KillCheck, Measured, OperationResult, Outcome, Round, Run,
    TrialResult,
};
use storebench_core::store::{Setting, SettingSource};

use super::{Field, SqlValue, Tables, integer, optional, real, text, truth};
use crate::column::COLUMNS;
use crate::data::method::Methods;

type Result = std::result::Result<(), super::SqlError>;

pub fn write(runs: &[Run], tables: &mut Tables<'_>) -> Result {
    let methods = Methods::new(runs);
    let mut next_trial = 0;
    for (number, run) in runs.iter().enumerate() {
        let index = integer(number as u64);
        header(run, &index, tables)?;
        for left_out in &run.header.left_out {
            let cell = tables.cell(&left_out.cell)?;
            let fields =
                vec![("run", index.clone()), ("cell", cell), ("reason", text(&left_out.reason.to_string()))];
            tables.insert("left_out", fields)?;
        }
        for result in &run.trials {
            let of_run = (&index, methods.of(number, &result.cell));
            trial(result, of_run, &integer(next_trial), tables)?;
            next_trial += 1;
        }
    }
    Ok(())
}

fn header(run: &Run, index: &SqlValue, tables: &mut Tables<'_>) -> Result {
    let header = &run.header;
    let machine = &header.environment;
    let known = |value: &Option<String>| optional(value.as_deref(), text);
    // As it was given, argument by argument.
    let command =
        serde_json::to_string(&header.command).map_err(|error| super::SqlError::Other(error.to_string()))?;
    tables.insert(
        "runs",
        vec![
            ("run", index.clone()),
            ("study", text(&header.study)),
            ("title", text(&header.title)),
            ("hardware", text(&header.hardware)),
            ("started", text(&header.started)),
            ("storebench", text(&header.storebench)),
            ("command", SqlValue::Text(command)),
            ("plan", text(&header.plan)),
            ("cpu", known(&machine.cpu)),
            ("cores", integer(u64::from(machine.cores))),
            ("memory_bytes", optional(machine.memory_bytes, integer)),
            ("kernel", text(&machine.kernel)),
            ("distribution", known(&machine.distribution)),
            ("virtualisation", known(&machine.virtualisation)),
            ("governor", known(&machine.governor)),
            ("load_1min", optional(machine.load_1min, real)),
            ("clock", text(&machine.clock)),
            ("clock_ns", real(machine.clock_ns)),
        ],
    )?;
    for place in &header.places {
        let fields = vec![
            ("run", index.clone()),
            ("place", text(&place.name)),
            ("path", text(&place.path)),
            ("file_system", known(&place.file_system)),
            ("mount_options", known(&place.mount_options)),
            ("driver", known(&place.driver)),
            ("device", known(&place.device)),
            ("device_model", known(&place.device_model)),
            ("rotates", optional(place.rotates, truth)),
            ("free_bytes", integer(place.free_bytes)),
        ];
        tables.insert("places", fields)?;
    }
    for store in &header.stores {
        let fields =
            vec![("run", index.clone()), ("store", text(&store.name)), ("version", text(&store.version))];
        tables.insert("stores", fields)?;
    }
    Ok(())
}

/// One trial of a run, by that run's method.
fn trial(
    result: &TrialResult,
    (run, method): (&SqlValue, String),
    id: &SqlValue,
    tables: &mut Tables<'_>,
) -> Result {
    let mut fields: Vec<Field<'_>> = vec![
        ("trial", id.clone()),
        ("run", run.clone()),
        ("cell", tables.cell(&result.cell)?),
        ("method", SqlValue::Text(method)),
        ("block", integer(u64::from(result.block))),
        ("position", integer(result.position)),
        ("started", text(&result.started)),
        ("wall_s", real(result.wall_s)),
        ("load_1min", optional(result.load_1min, real)),
        ("others_processors", optional(result.others_processors, real)),
        ("file_creation_ns", optional(result.file_creation_ns, integer)),
    ];
    fields.extend(outcome(&result.outcome));
    if let Some(load) = &result.background {
        fields.extend([
            ("background_description", text(&load.description)),
            ("background_unit", text(&load.unit)),
            ("background_progress", real(load.progress)),
            ("background_at_work_share", real(load.at_work_share)),
        ]);
    }
    let Some(measured) = result.ok() else { return tables.insert("trials", fields) };
    fields.extend(of_trial(measured));
    fields.extend(measured.device.iter().flat_map(device));
    fields.extend(measured.audit.iter().flat_map(audit));
    fields.extend(measured.kill_check.iter().flat_map(kill_check));
    tables.insert("trials", fields)?;
    for (position, operation) in measured.operations.iter().enumerate() {
        of_operation(operation, position, id, tables)?;
    }
    for (number, round) in measured.rounds.iter().enumerate() {
        of_round(round, number + 1, id, tables)?;
    }
    counters("load", measured.load.counters.as_ref(), id, tables)?;
    counters("settle", measured.settle_counters.as_ref(), id, tables)?;
    settings("settings", &measured.settings, id, tables)?;
    settings("statistics", &measured.statistics, id, tables)?;
    measured.clients.iter().try_for_each(|client| of_client(client, id, tables))?;
    let unknown = measured.unknown.iter().map(|unknown| ("unknown", &unknown.figure, &unknown.reason));
    let doubts = measured.doubts.iter().map(|doubt| ("doubts", &doubt.figure, &doubt.reason));
    for (table, figure, reason) in unknown.chain(doubts) {
        let fields = vec![("trial", id.clone()), ("figure", text(figure)), ("reason", text(reason))];
        tables.insert(table, fields)?;
    }
    Ok(())
}

/// A row for each phase that a client took part in.
fn of_client(client: &ClientReport, trial: &SqlValue, tables: &mut Tables<'_>) -> Result {
    for phase in &client.phases {
        let fields = vec![
            ("trial", trial.clone()),
            ("host", text(&client.host)),
            ("sessions", integer(client.sessions)),
            ("processors", integer(u64::from(client.processors))),
            ("clock_uncertainty_ns", integer(client.clock_uncertainty_ns)),
            ("late_ns", integer(client.late_ns)),
            ("operation", text(&phase.operation)),
            ("count", integer(phase.count)),
            ("harness_share", optional(phase.harness_share, real)),
            ("cpu_share", real(phase.cpu_share)),
            ("busy_share", optional(phase.busy_share, real)),
            ("behind_ns", optional(phase.behind_ns, integer)),
        ];
        tables.insert("clients", fields)?;
    }
    Ok(())
}

fn outcome(outcome: &Outcome) -> Vec<Field<'static>> {
    match outcome {
        Outcome::Ok => vec![("status", text("ok"))],
        Outcome::Failed { reason, message, log } => vec![
            ("status", text("failed")),
            ("reason", text(reason.name())),
            ("message", text(message)),
            ("log", text(log)),
        ],
        Outcome::Unsupported { message } => vec![("status", text("unsupported")), ("message", text(message))],
    }
}

fn of_trial(measured: &Measured) -> Vec<Field<'static>> {
    let Measured { load, memory, cpu, stored, written, processors, .. } = measured;
    let disk = measured.known_disk();
    let build = measured.store_build.as_ref();
    vec![
        ("guarantee_given", text(measured.guarantee.name())),
        ("power_cut", optional(measured.power_cut, |cut| text(cut.name()))),
        ("store_version", text(&measured.store_version)),
        ("store_build", optional(build.map(|build| build.source.as_str()), text)),
        ("store_build_flags", optional(build.and_then(|build| build.flags.as_deref()), text)),
        ("store_build_assertions", optional(build.and_then(|build| build.assertions), truth)),
        ("store_build_not_ranked", optional(build.and_then(|build| build.not_ranked.as_deref()), text)),
        ("load_records", integer(load.records)),
        ("load_value_bytes", integer(load.value_bytes)),
        ("load_store_ns", integer(load.store_ns)),
        ("load_rest_ns", optional(load.rest.map(|rest| rest.took_ns), integer)),
        ("load_at_rest", optional(load.rest.map(|rest| rest.at_rest), truth)),
        ("settle_ns", integer(measured.settle_ns)),
        ("memory_base_bytes", integer(memory.base_bytes)),
        ("memory_peak_above_base_bytes", integer(memory.peak_above_base_bytes)),
        ("cpu_user_ns", integer(cpu.user_ns)),
        ("cpu_system_ns", integer(cpu.system_ns)),
        ("disk_allocated_bytes", optional(disk.map(|disk| disk.allocated_bytes), integer)),
        ("disk_apparent_bytes", optional(disk.map(|disk| disk.apparent_bytes), integer)),
        ("files", optional(disk.map(|disk| disk.files), integer)),
        ("stored_records", integer(stored.records)),
        ("stored_key_bytes", integer(stored.key_bytes)),
        ("stored_value_bytes", integer(stored.value_bytes)),
        ("written_records", optional(written.map(|w| w.records), integer)),
        ("written_key_bytes", optional(written.map(|w| w.key_bytes), integer)),
        ("written_value_bytes", optional(written.map(|w| w.value_bytes), integer)),
        ("idle_share", optional(processors.as_ref().map(|p| p.idle_share), real)),
        ("io_wait_share", optional(processors.as_ref().map(|p| p.io_wait_share), real)),
        ("cache_emptied_by", optional(measured.cache_emptied_by.as_deref(), text)),
        ("cache_left_warm", optional(measured.cache_left_warm.as_deref(), text)),
    ]
}

fn audit(audit: &Audit) -> Vec<Field<'static>> {
    vec![
        ("audit_records", integer(audit.records)),
        ("audit_read_back", integer(audit.read_back)),
        ("audit_seen_gone", integer(audit.seen_gone)),
        ("audit_removed", integer(audit.removed)),
        ("audit_reopened", integer(u64::from(audit.reopened))),
        ("audit_took_ns", integer(audit.took_ns)),
    ]
}

fn kill_check(check: &KillCheck) -> Vec<Field<'static>> {
    match check {
        KillCheck::Held { steps, undone, .. } => vec![
            ("kill_check", text("held")),
            ("kill_check_steps", integer(*steps)),
            ("kill_check_undone", truth(*undone)),
        ],
        KillCheck::NotMade { .. } => vec![("kill_check", text("not-made"))],
    }
}

fn device(device: &Device) -> Vec<Field<'static>> {
    vec![
        ("device", text(&device.name)),
        ("device_shared", truth(device.shared)),
        ("device_burst_read_bytes", integer(device.burst.read_bytes)),
        ("device_burst_written_bytes", integer(device.burst.written_bytes)),
        ("device_burst_flushes", optional(device.burst.flushes, integer)),
        ("device_settled_read_bytes", integer(device.settled.read_bytes)),
        ("device_settled_written_bytes", integer(device.settled.written_bytes)),
        ("device_settled_flushes", optional(device.settled.flushes, integer)),
        ("device_idle_written_bytes_per_s", optional(device.idle_written_bytes_per_s, real)),
    ]
}

fn of_operation(
    operation: &OperationResult,
    position: usize,
    trial: &SqlValue,
    tables: &mut Tables<'_>,
) -> Result {
    let name = &operation.operation;
    let figures: Vec<(String, Option<f64>)> = COLUMNS
        .iter()
        .filter(|column| column.is_of_operation())
        .map(|column| (column.sql_name(), column.of_operation(operation)))
        .collect();
    let mut fields = vec![
        ("trial", trial.clone()),
        ("operation", text(name)),
        ("position", integer(position as u64)),
        ("count", integer(operation.count)),
        ("warm_up", integer(operation.warm_up)),
        ("put_back", integer(operation.put_back)),
        ("wall_ns", integer(operation.wall_ns)),
        ("rate_over_ns", integer(operation.rate_over_ns.unwrap_or(operation.sum_ns))),
        ("value_bytes", integer(operation.value_bytes)),
        ("histogram", text(&operation.latency.histogram)),
    ];
    fields.extend(figures.iter().map(|(name, figure)| (name.as_str(), optional(*figure, real))));
    tables.insert("operations", fields)?;
    counters(name, operation.counters.as_ref(), trial, tables)?;
    for second in &operation.series {
        let fields = vec![
            ("trial", trial.clone()),
            ("operation", text(name)),
            ("at_s", integer(u64::from(second.at_s))),
            ("count", integer(second.count)),
            ("p50_ns", integer(second.p50_ns)),
            ("p99_ns", integer(second.p99_ns)),
            ("max_ns", integer(second.max_ns)),
        ];
        tables.insert("seconds", fields)?;
    }
    Ok(())
}

/// A round by its number from 1: a row for each operation.
fn of_round(round: &Round, number: usize, trial: &SqlValue, tables: &mut Tables<'_>) -> Result {
    for operation in &round.operations {
        let latency = &operation.latency;
        let syncs = operation.counters.as_ref().and_then(|counters| counters.syncs);
        tables.insert(
            "rounds",
            vec![
                ("trial", trial.clone()),
                ("round", integer(number as u64)),
                ("operation", text(&operation.operation)),
                ("count", integer(operation.count)),
                ("errors", integer(operation.errors)),
                ("wall_ns", integer(operation.wall_ns)),
                ("sum_ns", integer(operation.sum_ns)),
                ("rate_over_ns", integer(operation.rate_over_ns.unwrap_or(operation.sum_ns))),
                ("mean_ns", real(latency.mean_ns)),
                ("p50_ns", integer(latency.p50_ns)),
                ("p99_ns", integer(latency.p99_ns)),
                ("max_ns", integer(latency.max_ns)),
                ("syncs", optional(syncs, integer)),
                ("disk_allocated_bytes", integer(round.disk.allocated_bytes)),
                ("disk_apparent_bytes", integer(round.disk.apparent_bytes)),
                ("files", integer(round.disk.files)),
            ],
        )?;
    }
    Ok(())
}

fn counters(phase: &str, counters: Option<&Counters>, trial: &SqlValue, tables: &mut Tables<'_>) -> Result {
    let Some(counters) = counters else { return Ok(()) };
    let fields = vec![
        ("trial", trial.clone()),
        ("phase", text(phase)),
        ("syncs", optional(counters.syncs, integer)),
        ("sync_ns", optional(counters.sync_ns, integer)),
        ("written_bytes", optional(counters.written_bytes, integer)),
        ("read_bytes", optional(counters.read_bytes, integer)),
        ("minor_faults", integer(counters.minor_faults)),
        ("major_faults", integer(counters.major_faults)),
        ("voluntary_switches", integer(counters.voluntary_switches)),
        ("involuntary_switches", integer(counters.involuntary_switches)),
    ];
    tables.insert("counters", fields)?;
    for (call, count) in &counters.syncs_by_call {
        let fields = vec![
            ("trial", trial.clone()),
            ("phase", text(phase)),
            ("call", text(call)),
            ("count", integer(*count)),
        ];
        tables.insert("sync_calls", fields)?;
    }
    Ok(())
}

fn settings(table: &str, settings: &[Setting], trial: &SqlValue, tables: &mut Tables<'_>) -> Result {
    for setting in settings {
        let source = match setting.source {
            SettingSource::ReadBack => "read-back",
            SettingSource::Given => "given",
        };
        let fields = vec![
            ("trial", trial.clone()),
            ("name", text(&setting.name)),
            ("value", text(&setting.value)),
            ("source", text(source)),
        ];
        tables.insert(table, fields)?;
    }
    Ok(())
}
