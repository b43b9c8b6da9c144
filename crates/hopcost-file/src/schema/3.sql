-- Format 3: runtimes. FORMAT.md explains every table and column. Rows of older
-- formats get the values that are true of them: every end was in Rust.

ALTER TABLE planned_case ADD COLUMN runtime_caller TEXT;
ALTER TABLE planned_case ADD COLUMN runtime_callee TEXT;
UPDATE planned_case SET runtime_caller = 'rust', runtime_callee = 'rust'
 WHERE workload IS NOT NULL;    -- NULL: a spelling that could not be taken apart

ALTER TABLE clock ADD COLUMN runtime TEXT NOT NULL DEFAULT 'rust';

CREATE TABLE worker (           -- of another runtime, as it described itself
    position INTEGER PRIMARY KEY, -- from 0
    runtime TEXT NOT NULL,
    version TEXT NOT NULL,
    description TEXT NOT NULL   -- JSON object
);

CREATE TABLE thread_use (       -- what a thread did over the measured phase
    trial INTEGER NOT NULL,
    position INTEGER NOT NULL,  -- from 0
    process TEXT NOT NULL,      -- whose: 'caller' or 'callee'
    seat TEXT,                  -- the end it plays; NULL: none
    name TEXT NOT NULL,
    cpu_ns INTEGER NOT NULL,
    voluntary INTEGER NOT NULL,
    involuntary INTEGER NOT NULL,
    PRIMARY KEY (trial, position)
) WITHOUT ROWID;

CREATE TABLE warm_up (          -- parts of a warm-up that goes on until nothing changes
    trial INTEGER NOT NULL,
    position INTEGER NOT NULL,  -- from 0, in time order
    operation_ns,               -- real; untyped, so that its bits stay as they are
    PRIMARY KEY (trial, position)
) WITHOUT ROWID;

CREATE TABLE stamp_check (      -- the same exchanges with and without stamps
    trial INTEGER PRIMARY KEY,
    exchanges INTEGER NOT NULL,
    stamped_ns,                 -- real, and the three that follow; untyped likewise
    stamped_by_caller_ns,
    bare_before_ns,
    bare_after_ns
);

DROP VIEW IF EXISTS trials;
CREATE VIEW trials AS
SELECT t.trial, t.round, t.position, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.fields, c.flows, c.ack, c.gap_ns,
       c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.idle_knob, c.sched,
       c.runtime_caller, c.runtime_callee,
       t.error, t.stamp, t.stamp_n,
       t.started_ns, t.took_ns, t.wall_ns, t.cpu_ns, t.operations,
       CAST(t.wall_ns AS REAL) / NULLIF(t.operations, 0) AS wall_ns_per_operation,
       CAST(t.cpu_ns AS REAL) / NULLIF(t.operations, 0) AS cpu_ns_per_operation,
       (SELECT CAST(SUM(e.voluntary + e.involuntary) AS REAL) / NULLIF(t.operations, 0)
          FROM trial_end e WHERE e.trial = t.trial) AS switches_per_operation,
       (SELECT CAST(v.value AS REAL) / NULLIF(t.counted_operations, 0) FROM event v
         WHERE v.trial = t.trial AND v.end_position = -1 AND v.event = 'system-calls')
         AS system_calls_per_operation,
       (SELECT SUM(e.bytes) FROM trial_end e
         WHERE e.trial = t.trial AND e.role = 'callee') AS received_bytes,
       (SELECT SUM(e.lost) FROM trial_end e WHERE e.trial = t.trial) AS lost,
       (SELECT SUM(e.overruns) FROM trial_end e WHERE e.trial = t.trial) AS overruns,
       t.samples_taken, t.samples_kept, t.negative_samples,
       t.samples_max_ticks *
         CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE 1e9 / k.ticks_per_second END
         AS sample_max_ns,
       CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE 1e9 / k.ticks_per_second END
         AS ns_per_tick,
       (SELECT MAX(g.bound_ticks) FROM clock_gate g WHERE g.trial = t.trial) *
         CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE 1e9 / k.ticks_per_second END
         AS clock_bound_ns,
       (SELECT AVG(s.call_ns) FROM sentinel s
         WHERE s.trial = t.trial AND s.position = 0) AS sentinel_ns
  FROM trial t
  JOIN planned_case c ON c.case_index = t.case_index
  LEFT JOIN clock k ON k.position = COALESCE(
       (SELECT MIN(k1.position) FROM trial_end e JOIN clock k1 ON k1.cpu = e.cpu_after
         WHERE e.trial = t.trial AND e.role = 'caller'
           AND k1.runtime = COALESCE(c.runtime_caller, 'rust')),
       (SELECT MIN(k2.position) FROM clock k2
         WHERE k2.runtime = COALESCE(c.runtime_caller, 'rust')))
 ORDER BY t.trial;

DROP VIEW IF EXISTS estimates;
CREATE VIEW estimates AS
SELECT c.case_index, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.fields, c.flows, c.ack, c.gap_ns,
       c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.idle_knob, c.sched,
       c.runtime_caller, c.runtime_callee,
       e.statistic, e.point, e.low, e.high, e.level, e.n_trials, e.pooled, e.at_most,
       e.digits, e.detectable, e.insufficient, e.estimand, e.validity
  FROM estimate e
  JOIN planned_case c ON c.case_id = e.case_id
 ORDER BY c.case_index, e.statistic;
