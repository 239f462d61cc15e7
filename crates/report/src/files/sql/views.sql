-- Indices and views, made when all rows are in.

CREATE INDEX trials_by_cell ON trials (cell);
CREATE INDEX counters_by_trial ON counters (trial, phase);
CREATE INDEX figures_by_cell ON figures (cell, operation, figure);

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
WHERE trials.status <> 'ok';
