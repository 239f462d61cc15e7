-- The tables of `storebench report RUN --sqlite FILE`. docs/exports.md describes them; units are the last part of a name.

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    study TEXT NOT NULL,
    title TEXT NOT NULL,
    hardware TEXT NOT NULL,
    started TEXT NOT NULL,
    storebench TEXT NOT NULL,
    command TEXT NOT NULL,
    plan TEXT NOT NULL,
    cpu TEXT,
    cores INTEGER NOT NULL,
    memory_bytes INTEGER,
    kernel TEXT NOT NULL,
    distribution TEXT,
    virtualisation TEXT,
    governor TEXT,
    load_1min REAL,
    clock TEXT NOT NULL,
    clock_ns REAL NOT NULL
);

CREATE TABLE places (
    run INTEGER NOT NULL REFERENCES runs,
    place TEXT NOT NULL,
    path TEXT NOT NULL,
    file_system TEXT,
    mount_options TEXT,
    driver TEXT,
    device TEXT,
    device_model TEXT,
    rotates INTEGER,
    free_bytes INTEGER NOT NULL
);

CREATE TABLE stores (
    run INTEGER NOT NULL REFERENCES runs,
    store TEXT NOT NULL,
    version TEXT NOT NULL
);

CREATE TABLE cells (
    cell TEXT PRIMARY KEY,
    -- a column for each axis, and two more for the bounds of one whose values are ranges
);

CREATE TABLE left_out (
    run INTEGER NOT NULL REFERENCES runs,
    cell TEXT NOT NULL REFERENCES cells,
    reason TEXT NOT NULL
);

CREATE TABLE trials (
    trial INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs,
    cell TEXT NOT NULL REFERENCES cells,
    method TEXT NOT NULL,
    block INTEGER NOT NULL,
    position INTEGER NOT NULL,
    started TEXT NOT NULL,
    wall_s REAL NOT NULL,
    load_1min REAL,
    others_processors REAL,
    file_creation_ns INTEGER,
    status TEXT NOT NULL,
    reason TEXT,
    message TEXT,
    log TEXT,
    background_description TEXT,
    background_unit TEXT,
    background_progress REAL,
    background_at_work_share REAL,
    guarantee_given TEXT,
    power_cut TEXT,
    store_version TEXT,
    store_build TEXT,
    store_build_flags TEXT,
    store_build_assertions INTEGER,
    store_build_not_ranked TEXT,
    load_records INTEGER,
    load_value_bytes INTEGER,
    load_store_ns INTEGER,
    load_rest_ns INTEGER,
    load_at_rest INTEGER,
    settle_ns INTEGER,
    memory_base_bytes INTEGER,
    memory_peak_above_base_bytes INTEGER,
    cpu_user_ns INTEGER,
    cpu_system_ns INTEGER,
    disk_allocated_bytes INTEGER,
    disk_apparent_bytes INTEGER,
    files INTEGER,
    stored_records INTEGER,
    stored_key_bytes INTEGER,
    stored_value_bytes INTEGER,
    written_records INTEGER,
    written_key_bytes INTEGER,
    written_value_bytes INTEGER,
    device TEXT,
    device_shared INTEGER,
    device_burst_read_bytes INTEGER,
    device_burst_written_bytes INTEGER,
    device_burst_flushes INTEGER,
    device_settled_read_bytes INTEGER,
    device_settled_written_bytes INTEGER,
    device_settled_flushes INTEGER,
    device_idle_written_bytes_per_s REAL,
    idle_share REAL,
    io_wait_share REAL,
    cache_emptied_by TEXT,
    cache_left_warm TEXT,
    audit_records INTEGER,
    audit_read_back INTEGER,
    audit_seen_gone INTEGER,
    audit_removed INTEGER,
    audit_reopened INTEGER,
    audit_took_ns INTEGER,
    kill_check TEXT,
    kill_check_steps INTEGER,
    kill_check_undone INTEGER
);

CREATE TABLE operations (
    trial INTEGER NOT NULL REFERENCES trials,
    operation TEXT NOT NULL,
    position INTEGER NOT NULL,
    count INTEGER NOT NULL,
    warm_up INTEGER NOT NULL,
    put_back INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    rate_over_ns INTEGER NOT NULL,
    value_bytes INTEGER NOT NULL,
    -- a column for each figure of operations
    histogram TEXT NOT NULL,
    PRIMARY KEY (trial, position)
);

CREATE TABLE rounds (
    trial INTEGER NOT NULL REFERENCES trials,
    round INTEGER NOT NULL,
    operation TEXT NOT NULL,
    count INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    sum_ns INTEGER NOT NULL,
    rate_over_ns INTEGER NOT NULL,
    mean_ns REAL NOT NULL,
    p50_ns INTEGER NOT NULL,
    p99_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    syncs INTEGER,
    disk_allocated_bytes INTEGER NOT NULL,
    disk_apparent_bytes INTEGER NOT NULL,
    files INTEGER NOT NULL,
    PRIMARY KEY (trial, round, operation)
);

CREATE TABLE counters (
    trial INTEGER NOT NULL REFERENCES trials,
    phase TEXT NOT NULL,
    syncs INTEGER,
    sync_ns INTEGER,
    written_bytes INTEGER,
    read_bytes INTEGER,
    minor_faults INTEGER NOT NULL,
    major_faults INTEGER NOT NULL,
    voluntary_switches INTEGER NOT NULL,
    involuntary_switches INTEGER NOT NULL
);

CREATE TABLE sync_calls (
    trial INTEGER NOT NULL REFERENCES trials,
    phase TEXT NOT NULL,
    call TEXT NOT NULL,
    count INTEGER NOT NULL
);

CREATE TABLE seconds (
    trial INTEGER NOT NULL REFERENCES trials,
    operation TEXT NOT NULL,
    at_s INTEGER NOT NULL,
    count INTEGER NOT NULL,
    p50_ns INTEGER NOT NULL,
    p99_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL
);

CREATE TABLE settings (
    trial INTEGER NOT NULL REFERENCES trials,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL
);

CREATE TABLE statistics (
    trial INTEGER NOT NULL REFERENCES trials,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL
);

CREATE TABLE unknown (
    trial INTEGER NOT NULL REFERENCES trials,
    figure TEXT NOT NULL,
    reason TEXT NOT NULL
);

CREATE TABLE clients (
    trial INTEGER NOT NULL REFERENCES trials,
    host TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    processors INTEGER NOT NULL,
    clock_uncertainty_ns INTEGER NOT NULL,
    late_ns INTEGER NOT NULL,
    operation TEXT NOT NULL,
    count INTEGER NOT NULL,
    harness_share REAL,
    cpu_share REAL NOT NULL,
    busy_share REAL,
    behind_ns INTEGER
);

CREATE TABLE doubts (
    trial INTEGER NOT NULL REFERENCES trials,
    figure TEXT NOT NULL,
    reason TEXT NOT NULL
);

CREATE TABLE columns (
    figure TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    unit TEXT NOT NULL,
    better TEXT NOT NULL,
    of TEXT NOT NULL
);

CREATE TABLE figures (
    hardware TEXT NOT NULL,
    cell TEXT NOT NULL REFERENCES cells,
    guarantee_given TEXT,
    method TEXT NOT NULL,
    operation TEXT,
    figure TEXT NOT NULL REFERENCES columns,
    trials INTEGER NOT NULL,
    mean_kind TEXT NOT NULL,
    mean REAL NOT NULL,
    mean_low REAL,
    mean_high REAL,
    median REAL NOT NULL,
    median_low REAL,
    median_high REAL
);

CREATE TABLE contests (
    hardware TEXT NOT NULL,
    cell TEXT NOT NULL REFERENCES cells,
    guarantee_given TEXT,
    method TEXT NOT NULL,
    contest TEXT NOT NULL,
    figure TEXT NOT NULL REFERENCES columns,
    rank INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    rule TEXT,
    mean REAL NOT NULL,
    times_worse REAL,
    times_worse_low REAL,
    times_worse_high REAL,
    blocks INTEGER
);
