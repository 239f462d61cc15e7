-- Indices and views, made when all rows are in. Views take what results hold from their JSON, by functions that SQLite has had for
-- long: a reader's may be old.

CREATE INDEX trials_by_cell ON trial_json (cell);
CREATE INDEX trials_that_failed ON trial_json (trial) WHERE json_extract(result, '$.outcome.status') <> 'ok';
CREATE INDEX figures_by_cell ON figures (cell, operation, figure);

CREATE VIEW runs AS
SELECT run,
    json_extract(header, '$.study') AS study,
    json_extract(header, '$.title') AS title,
    json_extract(header, '$.hardware') AS hardware,
    json_extract(header, '$.started') AS started,
    json_extract(header, '$.storebench') AS storebench,
    json_extract(header, '$.command') AS command,
    json_extract(header, '$.plan') AS plan,
    json_extract(header, '$.environment.cpu') AS cpu,
    json_extract(header, '$.environment.cores') AS cores,
    json_extract(header, '$.environment.memory_bytes') AS memory_bytes,
    json_extract(header, '$.environment.kernel') AS kernel,
    json_extract(header, '$.environment.distribution') AS distribution,
    json_extract(header, '$.environment.virtualisation') AS virtualisation,
    json_extract(header, '$.environment.governor') AS governor,
    json_extract(header, '$.environment.load_1min') AS load_1min,
    json_extract(header, '$.environment.clock') AS clock,
    json_extract(header, '$.environment.clock_ns') AS clock_ns
FROM run_json;

CREATE VIEW locations AS
SELECT run,
    json_extract(location.value, '$.name') AS place,
    json_extract(location.value, '$.path') AS path,
    json_extract(location.value, '$.file_system') AS file_system,
    json_extract(location.value, '$.mount_options') AS mount_options,
    json_extract(location.value, '$.driver') AS driver,
    json_extract(location.value, '$.device') AS device,
    json_extract(location.value, '$.device_model') AS device_model,
    json_extract(location.value, '$.rotates') AS rotates,
    json_extract(location.value, '$.free_bytes') AS free_bytes
FROM run_json, json_each(header, '$.locations') AS location;

CREATE VIEW stores AS
SELECT run,
    json_extract(store.value, '$.name') AS store,
    json_extract(store.value, '$.version') AS version
FROM run_json, json_each(header, '$.stores') AS store;

CREATE VIEW trials AS
SELECT trial, run, cell, method,
    json_extract(result, '$.block') AS block,
    json_extract(result, '$.position') AS position,
    json_extract(result, '$.started') AS started,
    json_extract(result, '$.wall_s') AS wall_s,
    json_extract(result, '$.load_1min') AS load_1min,
    json_extract(result, '$.others_processors') AS others_processors,
    json_extract(result, '$.file_creation_ns') AS file_creation_ns,
    json_extract(result, '$.outcome.status') AS status,
    json_extract(result, '$.outcome.reason') AS reason,
    json_extract(result, '$.outcome.message') AS message,
    json_extract(result, '$.outcome.log') AS log,
    json_extract(result, '$.background.description') AS background_description,
    json_extract(result, '$.background.unit') AS background_unit,
    json_extract(result, '$.background.progress') AS background_progress,
    json_extract(result, '$.background.at_work_share') AS background_at_work_share,
    json_extract(result, '$.measured.guarantee') AS guarantee_given,
    json_extract(result, '$.measured.power_cut') AS power_cut,
    json_extract(result, '$.measured.store_version') AS store_version,
    json_extract(result, '$.measured.store_build.source') AS store_build,
    json_extract(result, '$.measured.store_build.flags') AS store_build_flags,
    json_extract(result, '$.measured.store_build.assertions') AS store_build_assertions,
    json_extract(result, '$.measured.store_build.not_ranked') AS store_build_not_ranked,
    json_extract(result, '$.measured.load.records') AS load_records,
    json_extract(result, '$.measured.load.value_bytes') AS load_value_bytes,
    json_extract(result, '$.measured.load.store_ns') AS load_store_ns,
    json_extract(result, '$.measured.load.rest.took_ns') AS load_rest_ns,
    json_extract(result, '$.measured.load.rest.at_rest') AS load_at_rest,
    json_extract(result, '$.measured.settle_ns') AS settle_ns,
    json_extract(result, '$.measured.memory.base_bytes') AS memory_base_bytes,
    json_extract(result, '$.measured.memory.peak_above_base_bytes') AS memory_peak_above_base_bytes,
    json_extract(result, '$.measured.cpu.user_ns') AS cpu_user_ns,
    json_extract(result, '$.measured.cpu.system_ns') AS cpu_system_ns,
    CASE WHEN instr(json_extract(result, '$.measured.unknown'), '"figure":"disk"') THEN NULL
        ELSE json_extract(result, '$.measured.disk.allocated_bytes') END AS disk_allocated_bytes,
    CASE WHEN instr(json_extract(result, '$.measured.unknown'), '"figure":"disk"') THEN NULL
        ELSE json_extract(result, '$.measured.disk.apparent_bytes') END AS disk_apparent_bytes,
    CASE WHEN instr(json_extract(result, '$.measured.unknown'), '"figure":"disk"') THEN NULL
        ELSE json_extract(result, '$.measured.disk.files') END AS files,
    json_extract(result, '$.measured.stored.records') AS stored_records,
    json_extract(result, '$.measured.stored.key_bytes') AS stored_key_bytes,
    json_extract(result, '$.measured.stored.value_bytes') AS stored_value_bytes,
    json_extract(result, '$.measured.written.records') AS written_records,
    json_extract(result, '$.measured.written.key_bytes') AS written_key_bytes,
    json_extract(result, '$.measured.written.value_bytes') AS written_value_bytes,
    json_extract(result, '$.measured.device.name') AS device,
    json_extract(result, '$.measured.device.shared') AS device_shared,
    json_extract(result, '$.measured.device.burst.read_bytes') AS device_burst_read_bytes,
    json_extract(result, '$.measured.device.burst.written_bytes') AS device_burst_written_bytes,
    json_extract(result, '$.measured.device.burst.flushes') AS device_burst_flushes,
    json_extract(result, '$.measured.device.settled.read_bytes') AS device_settled_read_bytes,
    json_extract(result, '$.measured.device.settled.written_bytes') AS device_settled_written_bytes,
    json_extract(result, '$.measured.device.settled.flushes') AS device_settled_flushes,
    json_extract(result, '$.measured.device.idle_written_bytes_per_s') AS device_idle_written_bytes_per_s,
    json_extract(result, '$.measured.processors.idle_share') AS idle_share,
    json_extract(result, '$.measured.processors.io_wait_share') AS io_wait_share,
    json_extract(result, '$.measured.cache_emptied_by') AS cache_emptied_by,
    json_extract(result, '$.measured.cache_left_warm') AS cache_left_warm,
    json_extract(result, '$.measured.audit.records') AS audit_records,
    json_extract(result, '$.measured.audit.read_back') AS audit_read_back,
    json_extract(result, '$.measured.audit.seen_gone') AS audit_seen_gone,
    json_extract(result, '$.measured.audit.removed') AS audit_removed,
    json_extract(result, '$.measured.audit.reopened') AS audit_reopened,
    json_extract(result, '$.measured.audit.took_ns') AS audit_took_ns,
    json_extract(result, '$.measured.kill_check.outcome') AS kill_check,
    json_extract(result, '$.measured.kill_check.steps') AS kill_check_steps,
    json_extract(result, '$.measured.kill_check.undone') AS kill_check_undone
FROM trial_json;

CREATE VIEW operations AS
SELECT trial, operation, position,
    json_extract(result, '$.measured.operations[' || position || '].count') AS count,
    ifnull(json_extract(result, '$.measured.operations[' || position || '].warm_up'), 0) AS warm_up,
    ifnull(json_extract(result, '$.measured.operations[' || position || '].put_back'), 0) AS put_back,
    json_extract(result, '$.measured.operations[' || position || '].wall_ns') AS wall_ns,
    ifnull(json_extract(result, '$.measured.operations[' || position || '].rate_over_ns'),
        json_extract(result, '$.measured.operations[' || position || '].sum_ns')) AS rate_over_ns,
    json_extract(result, '$.measured.operations[' || position || '].value_bytes') AS value_bytes,
    -- a column for each figure of operations
    json_extract(result, '$.measured.operations[' || position || '].latency.histogram') AS histogram
FROM operation_figures JOIN trial_json USING (trial);

CREATE VIEW rounds AS
SELECT trial, round.key + 1 AS round,
    json_extract(operation.value, '$.operation') AS operation,
    json_extract(operation.value, '$.count') AS count,
    json_extract(operation.value, '$.errors') AS errors,
    json_extract(operation.value, '$.wall_ns') AS wall_ns,
    json_extract(operation.value, '$.sum_ns') AS sum_ns,
    ifnull(json_extract(operation.value, '$.rate_over_ns'), json_extract(operation.value, '$.sum_ns')) AS rate_over_ns,
    json_extract(operation.value, '$.latency.mean_ns') AS mean_ns,
    json_extract(operation.value, '$.latency.p50_ns') AS p50_ns,
    json_extract(operation.value, '$.latency.p99_ns') AS p99_ns,
    json_extract(operation.value, '$.latency.max_ns') AS max_ns,
    json_extract(operation.value, '$.counters.syncs') AS syncs,
    json_extract(round.value, '$.disk.allocated_bytes') AS disk_allocated_bytes,
    json_extract(round.value, '$.disk.apparent_bytes') AS disk_apparent_bytes,
    json_extract(round.value, '$.disk.files') AS files
FROM trial_json, json_each(result, '$.measured.rounds') AS round, json_each(round.value, '$.operations') AS operation;

CREATE VIEW phase_json AS
SELECT trial, json_extract(value, '$.operation') AS phase, value AS source, '$.counters' AS at
FROM trial_json, json_each(result, '$.measured.operations')
UNION ALL
SELECT trial, 'load', result, '$.measured.load.counters' FROM trial_json
UNION ALL
SELECT trial, 'settle', result, '$.measured.settle_counters' FROM trial_json;

CREATE VIEW counters AS
SELECT trial, phase,
    json_extract(source, at || '.syncs') AS syncs,
    json_extract(source, at || '.sync_ns') AS sync_ns,
    json_extract(source, at || '.written_bytes') AS written_bytes,
    json_extract(source, at || '.read_bytes') AS read_bytes,
    json_extract(source, at || '.minor_faults') AS minor_faults,
    json_extract(source, at || '.major_faults') AS major_faults,
    json_extract(source, at || '.voluntary_switches') AS voluntary_switches,
    json_extract(source, at || '.involuntary_switches') AS involuntary_switches
FROM phase_json WHERE json_extract(source, at) IS NOT NULL;

CREATE VIEW sync_calls AS
SELECT trial, phase, call.key AS call, call.value AS count
FROM phase_json, json_each(source, at || '.syncs_by_call') AS call;

CREATE VIEW seconds AS
SELECT trial, json_extract(operation.value, '$.operation') AS operation,
    json_extract(second.value, '$.at_s') AS at_s,
    json_extract(second.value, '$.count') AS count,
    json_extract(second.value, '$.p50_ns') AS p50_ns,
    json_extract(second.value, '$.p99_ns') AS p99_ns,
    json_extract(second.value, '$.max_ns') AS max_ns
FROM trial_json, json_each(result, '$.measured.operations') AS operation, json_each(operation.value, '$.series') AS second;

CREATE VIEW settings AS
SELECT trial,
    json_extract(value, '$.name') AS name,
    json_extract(value, '$.value') AS value,
    json_extract(value, '$.source') AS source
FROM trial_json, json_each(result, '$.measured.settings');

CREATE VIEW statistics AS
SELECT trial,
    json_extract(value, '$.name') AS name,
    json_extract(value, '$.value') AS value,
    json_extract(value, '$.source') AS source
FROM trial_json, json_each(result, '$.measured.statistics');

CREATE VIEW unknown AS
SELECT trial,
    json_extract(value, '$.figure') AS figure,
    json_extract(value, '$.reason') AS reason
FROM trial_json, json_each(result, '$.measured.unknown');

CREATE VIEW clients AS
SELECT trial,
    json_extract(client.value, '$.host') AS host,
    json_extract(client.value, '$.sessions') AS sessions,
    json_extract(client.value, '$.processors') AS processors,
    json_extract(client.value, '$.clock_uncertainty_ns') AS clock_uncertainty_ns,
    json_extract(client.value, '$.late_ns') AS late_ns,
    json_extract(phase.value, '$.operation') AS operation,
    json_extract(phase.value, '$.count') AS count,
    json_extract(phase.value, '$.harness_share') AS harness_share,
    json_extract(phase.value, '$.cpu_share') AS cpu_share,
    json_extract(phase.value, '$.busy_share') AS busy_share,
    json_extract(phase.value, '$.behind_ns') AS behind_ns
FROM trial_json, json_each(result, '$.measured.clients') AS client, json_each(client.value, '$.phases') AS phase;

CREATE VIEW warnings AS
SELECT trial,
    json_extract(value, '$.figure') AS figure,
    json_extract(value, '$.reason') AS reason
FROM trial_json, json_each(result, '$.measured.warnings');

CREATE VIEW results AS
SELECT runs.hardware, cells.*, trials.guarantee_given, trials.method, trials.store_version, trials.trial, trials.run, trials.block,
    operations.operation, operations.count, operations.mean_ns, operations.p50_ns, operations.p90_ns,
    operations.p99_ns, operations.p999_ns, operations.max_ns, operations.sum_ns
FROM operations JOIN trials USING (trial) JOIN runs USING (run) JOIN cells USING (cell);

CREATE VIEW latencies AS
SELECT figures.hardware, cells.*, figures.guarantee_given, figures.method, figures.operation, figures.trials,
    max(CASE figure WHEN 'latency_mean' THEN mean END) AS mean_ns,
    max(CASE figure WHEN 'latency_mean' THEN mean_low END) AS mean_low_ns,
    max(CASE figure WHEN 'latency_mean' THEN mean_high END) AS mean_high_ns,
    max(CASE figure WHEN 'latency_p50' THEN mean END) AS p50_ns,
    max(CASE figure WHEN 'latency_p99' THEN mean END) AS p99_ns,
    max(CASE figure WHEN 'latency_p999' THEN mean END) AS p999_ns,
    max(CASE figure WHEN 'throughput' THEN mean END) AS throughput_per_s,
    max(CASE figure WHEN 'syncs_per_operation' THEN mean END) AS syncs_per_operation
FROM figures JOIN cells USING (cell)
WHERE figures.operation IS NOT NULL
GROUP BY figures.hardware, figures.cell, figures.guarantee_given, figures.method, figures.operation;

CREATE VIEW spaces AS
SELECT figures.hardware, cells.*, figures.guarantee_given, figures.method, figures.trials,
    max(CASE figure WHEN 'disk_allocated' THEN mean END) AS disk_allocated_bytes,
    max(CASE figure WHEN 'space_amplification_allocated' THEN mean END) AS space_amplification_allocated,
    max(CASE figure WHEN 'space_efficiency' THEN mean END) AS space_efficiency_share,
    max(CASE figure WHEN 'write_amplification_settled' THEN mean END) AS write_amplification_settled,
    max(CASE figure WHEN 'memory_peak_above_base' THEN mean END) AS memory_peak_above_base_bytes,
    max(CASE figure WHEN 'load_time' THEN mean END) AS load_time_ns,
    max(CASE figure WHEN 'settle_time' THEN mean END) AS settle_time_ns
FROM figures JOIN cells USING (cell)
WHERE figures.operation IS NULL
GROUP BY figures.hardware, figures.cell, figures.guarantee_given, figures.method;

CREATE VIEW winners AS
SELECT contests.hardware, cells.*, contests.guarantee_given, contests.method, contests.contest, contests.figure, contests.mean,
    contests.times_worse
FROM contests JOIN cells USING (cell)
WHERE contests.wins;

CREATE VIEW failures AS
SELECT runs.hardware, cells.*, trials.method, trials.trial, trials.run, trials.block, trials.status, trials.reason, trials.message,
    trials.log
FROM trials JOIN runs USING (run) JOIN cells USING (cell)
WHERE trial IN (SELECT trial FROM trial_json WHERE json_extract(result, '$.outcome.status') <> 'ok');
