-- The tables of `storebench report RUN --sqlite FILE`. docs/exports.md describes them; units are the last part of a name.

CREATE TABLE run_json (
    run INTEGER PRIMARY KEY,
    header TEXT NOT NULL
);

CREATE TABLE cells (
    cell TEXT PRIMARY KEY,
    -- a column for each axis, and two more for the bounds of one whose values are ranges
);

CREATE TABLE left_out (
    run INTEGER NOT NULL REFERENCES run_json,
    cell TEXT NOT NULL REFERENCES cells,
    reason TEXT NOT NULL
);

CREATE TABLE trial_json (
    trial INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run_json,
    cell TEXT NOT NULL REFERENCES cells,
    method TEXT NOT NULL,
    result TEXT NOT NULL
);

CREATE TABLE operation_figures (
    trial INTEGER NOT NULL REFERENCES trial_json,
    position INTEGER NOT NULL,
    operation TEXT NOT NULL,
    -- a column for each figure of operations
    PRIMARY KEY (trial, position)
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
