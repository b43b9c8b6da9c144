-- Format 1. FORMAT.md explains every table and column.
-- No STRICT tables: SQLite before 3.37 (RHEL 9's Python) could not open the file.

CREATE TABLE run (
    one INTEGER PRIMARY KEY CHECK (one = 1), -- there is one row
    run_id TEXT NOT NULL,
    version TEXT NOT NULL,      -- of hopcost
    revision TEXT NOT NULL,     -- of its source
    build TEXT NOT NULL,        -- JSON object
    argv TEXT NOT NULL,         -- JSON array of strings
    started TEXT NOT NULL,      -- RFC 3339, UTC
    ended TEXT,                 -- RFC 3339, UTC; NULL: cut off, or still running
    resumed INTEGER NOT NULL,   -- times
    plan TEXT NOT NULL          -- JSON object
);

CREATE TABLE planned_case (     -- run.plan's cases taken apart
    case_index INTEGER PRIMARY KEY, -- from 0
    case_id TEXT NOT NULL,
    skip TEXT,                  -- why it was not measured; NULL: it was to be
    workload TEXT,
    mechanism TEXT,
    payload_bytes INTEGER,
    boundary TEXT,
    placement TEXT,
    wait TEXT,                  -- both ends; 'caller:callee' where they differ
    wait_caller TEXT,
    wait_callee TEXT,
    spin_budget_ns INTEGER,
    parameters TEXT,            -- JSON object of strings
    sched TEXT
);

CREATE TABLE host_reading (
    moment TEXT NOT NULL,       -- 'before' or 'after' the run
    position INTEGER NOT NULL,  -- from 0
    section TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT,
    reason TEXT,                -- why there is no value
    PRIMARY KEY (moment, position)
) WITHOUT ROWID;

CREATE TABLE clock (
    position INTEGER PRIMARY KEY, -- from 0
    cpu INTEGER NOT NULL,
    source TEXT NOT NULL,
    ticks_per_second REAL NOT NULL,
    rate_spread_ppm REAL NOT NULL,
    resolution_ticks INTEGER NOT NULL,
    stamp_min_ns REAL NOT NULL,
    stamp_p50_ns REAL NOT NULL,
    stamp_p99_ns REAL NOT NULL,
    clock_gettime_p50_ns REAL NOT NULL
);

CREATE TABLE cpu_accounting (
    position INTEGER PRIMARY KEY, -- from 0, in time order
    round INTEGER NOT NULL,
    cpu INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    steal_ns INTEGER NOT NULL
);

CREATE TABLE trial (
    trial INTEGER PRIMARY KEY,  -- from 1, in time order
    case_index INTEGER NOT NULL,
    round INTEGER NOT NULL,     -- from 0
    position INTEGER NOT NULL,  -- within the round, from 0
    started_ns INTEGER NOT NULL,
    took_ns INTEGER NOT NULL,
    phases_ns INTEGER NOT NULL,
    error TEXT,                 -- why it failed; NULL: measured
    stamp TEXT,                 -- 'each', 'batch' or 'two-lengths'
    stamp_n INTEGER,            -- operations in a batch; NULL for 'each'
    wall_ns INTEGER NOT NULL,
    cpu_ns INTEGER NOT NULL,
    cpus_asked TEXT NOT NULL,   -- JSON array of numbers or null, caller first
    pin_errors TEXT NOT NULL,   -- JSON array of strings
    operations INTEGER NOT NULL,
    samples_taken INTEGER NOT NULL,
    samples_max_ticks INTEGER NOT NULL,
    samples_kept INTEGER NOT NULL,
    samples BLOB NOT NULL,      -- samples_kept little-endian u32 ticks, zlib
    UNIQUE (case_index, round)
);

CREATE TABLE trial_end (
    trial INTEGER NOT NULL,
    position INTEGER NOT NULL,  -- from 0
    role TEXT NOT NULL,         -- 'caller' or 'callee'
    count INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    max_ticks INTEGER NOT NULL,
    elapsed_ticks INTEGER NOT NULL,
    thread_cpu_ns INTEGER NOT NULL,
    voluntary INTEGER NOT NULL,
    involuntary INTEGER NOT NULL,
    minor_faults INTEGER NOT NULL,
    major_faults INTEGER NOT NULL,
    run_delay_ns INTEGER,       -- NULL: the kernel does not say
    cpu_before INTEGER NOT NULL,
    cpu_after INTEGER NOT NULL,
    cpu_changes INTEGER NOT NULL,
    pinned INTEGER NOT NULL,    -- 0 or 1
    PRIMARY KEY (trial, position)
) WITHOUT ROWID;

CREATE TABLE sentinel (
    trial INTEGER NOT NULL,
    moment TEXT NOT NULL,       -- 'before' or 'after' the trial
    position INTEGER NOT NULL,  -- from 0
    cpu INTEGER NOT NULL,
    call_ns,                    -- real; untyped, so that its bits stay as they are
    PRIMARY KEY (trial, moment, position)
) WITHOUT ROWID;

CREATE TABLE estimate (         -- derived; hopcost computes it anew when it reads
    case_id TEXT NOT NULL,
    statistic TEXT NOT NULL,
    point REAL,
    low REAL,
    high REAL,
    level REAL,
    n_trials INTEGER NOT NULL,
    pooled INTEGER NOT NULL,    -- 0 or 1
    at_most INTEGER NOT NULL,   -- 0 or 1
    digits INTEGER NOT NULL,
    detectable REAL,
    insufficient TEXT,
    estimand TEXT NOT NULL,
    validity TEXT NOT NULL,
    PRIMARY KEY (case_id, statistic)
) WITHOUT ROWID;

CREATE TABLE finding (          -- derived; hopcost computes it anew when it reads
    position INTEGER PRIMARY KEY, -- from 0, worst first
    code TEXT NOT NULL,
    severity TEXT NOT NULL,     -- 'note', 'suspect' or 'invalid'
    case_id TEXT,               -- NULL: the whole run
    evidence TEXT NOT NULL,
    "values" TEXT NOT NULL,     -- JSON object of numbers
    remedy TEXT NOT NULL
);

CREATE VIEW trials AS
SELECT t.trial, t.round, t.position, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.sched,
       t.error, t.stamp, t.stamp_n,
       t.started_ns, t.took_ns, t.wall_ns, t.cpu_ns, t.operations,
       CAST(t.wall_ns AS REAL) / NULLIF(t.operations, 0) AS wall_ns_per_operation,
       CAST(t.cpu_ns AS REAL) / NULLIF(t.operations, 0) AS cpu_ns_per_operation,
       (SELECT CAST(SUM(e.voluntary + e.involuntary) AS REAL) / NULLIF(t.operations, 0)
          FROM trial_end e WHERE e.trial = t.trial) AS switches_per_operation,
       t.samples_taken, t.samples_kept,
       t.samples_max_ticks *
         CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE 1e9 / k.ticks_per_second END
         AS sample_max_ns,
       CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE 1e9 / k.ticks_per_second END
         AS ns_per_tick,
       (SELECT AVG(s.call_ns) FROM sentinel s
         WHERE s.trial = t.trial AND s.position = 0) AS sentinel_ns
  FROM trial t
  JOIN planned_case c ON c.case_index = t.case_index
  LEFT JOIN clock k ON k.position = COALESCE(
       (SELECT MIN(k1.position) FROM trial_end e JOIN clock k1 ON k1.cpu = e.cpu_after
         WHERE e.trial = t.trial AND e.role = 'caller'),
       (SELECT MIN(position) FROM clock))
 ORDER BY t.trial;

CREATE VIEW estimates AS
SELECT c.case_index, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.sched,
       e.statistic, e.point, e.low, e.high, e.level, e.n_trials, e.pooled, e.at_most,
       e.digits, e.detectable, e.insufficient, e.estimand, e.validity
  FROM estimate e
  JOIN planned_case c ON c.case_id = e.case_id
 ORDER BY c.case_index, e.statistic;
