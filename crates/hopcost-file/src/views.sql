-- The views, as FORMAT.md describes them.

CREATE VIEW trials AS
SELECT t.trial, t.round, t.position, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.fields, c.flows, c.ack, c.gap_ns,
       c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.idle_knob, c.sched,
       c.runtime_caller, c.runtime_callee, c.touch, c.rate, c.arrivals,
       t.error, t.stamp, t.stamp_n,
       t.started_ns, t.took_ns, t.wall_ns, t.cpu_ns, t.operations,
       CAST(t.wall_ns AS REAL) / NULLIF(t.operations, 0) AS wall_ns_per_operation,
       CAST(t.cpu_ns AS REAL) / NULLIF(t.operations, 0) AS cpu_ns_per_operation,
       CAST(COALESCE(
         (SELECT SUM(u.voluntary + u.involuntary) FROM thread_use u WHERE u.trial = t.trial),
         (SELECT SUM(e.voluntary + e.involuntary) FROM trial_end e WHERE e.trial = t.trial)
       ) AS REAL) / NULLIF(t.operations, 0) AS switches_per_operation,
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
       (SELECT MIN(y.class) FROM yardstick_reading r JOIN yardstick y ON y.position = r.yardstick
         WHERE r.trial = t.trial) AS yardstick_class,
       (SELECT AVG(r.operation_ns) FROM yardstick_reading r WHERE r.trial = t.trial)
         AS yardstick_ns,
       (SELECT MIN(y.reference_ns) FROM yardstick_reading r
          JOIN yardstick y ON y.position = r.yardstick WHERE r.trial = t.trial)
         AS yardstick_reference_ns
  FROM trial t
  JOIN planned_case c ON c.case_index = t.case_index
  LEFT JOIN clock k ON k.position = COALESCE(
       (SELECT MIN(k1.position) FROM trial_end e JOIN clock k1 ON k1.cpu = e.cpu_after
         WHERE e.trial = t.trial AND e.role = 'caller'
           AND k1.runtime = COALESCE(c.runtime_caller, 'rust')),
       (SELECT MIN(k2.position) FROM clock k2
         WHERE k2.runtime = COALESCE(c.runtime_caller, 'rust')))
 ORDER BY t.trial;

CREATE VIEW estimates AS
SELECT c.case_index, c.case_id,
       c.workload, c.mechanism, c.payload_bytes, c.fields, c.flows, c.ack, c.gap_ns,
       c.boundary, c.placement,
       c.wait, c.wait_caller, c.wait_callee, c.spin_budget_ns, c.parameters, c.idle_knob, c.sched,
       c.runtime_caller, c.runtime_callee, c.touch, c.rate, c.arrivals,
       e.statistic, e.point, e.low, e.high, e.level, e.n_trials, e.pooled, e.at_most,
       e.digits, e.detectable, e.insufficient, e.estimand, e.validity
  FROM estimate e
  JOIN planned_case c ON c.case_id = e.case_id
 ORDER BY c.case_index, e.statistic;
