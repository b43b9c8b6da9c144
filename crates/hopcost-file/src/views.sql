-- The views, as FORMAT.md describes them.

CREATE VIEW cases AS
SELECT case_index, json_extract(document, '$.case_id') AS case_id,
       json_extract(document, '$.skip') AS skip, {parts}
  FROM planned_case;

CREATE VIEW trials AS
WITH
clock AS MATERIALIZED (
  SELECT e.key AS position, json_extract(e.value, '$.cpu') AS cpu,
         json_extract(e.value, '$.runtime') AS runtime,
         1e9 / json_extract(e.value, '$.ticks_per_second') AS ns_per_tick
    FROM run, json_each(run.document, '$.clocks') e),
yardstick AS MATERIALIZED (
  SELECT e.key AS position, json_extract(e.value, '$.class') AS class,
         json_extract(e.value, '$.reference.operation_ns') AS reference_ns
    FROM run, json_each(run.document, '$.yardsticks') e),
one AS (
  SELECT t.trial, t.document AS d, t.samples_kept, c.*,
         json_extract(t.document, '$.operations') AS operations,
         CASE WHEN c.case_id LIKE '%clock=virtual%' THEN 1.0 ELSE COALESCE(
           (SELECT k.ns_per_tick FROM json_each(t.document, '$.ends') e
              JOIN clock k ON k.cpu = json_extract(e.value, '$.cpu_after')
             WHERE json_extract(e.value, '$.role') = 'caller'
               AND k.runtime = COALESCE(c.runtime_caller, 'rust')
             ORDER BY k.position LIMIT 1),
           (SELECT k.ns_per_tick FROM clock k
             WHERE k.runtime = COALESCE(c.runtime_caller, 'rust')
             ORDER BY k.position LIMIT 1)) END AS ns_per_tick
    FROM trial t JOIN cases c ON c.case_index = json_extract(t.document, '$.case'))
SELECT t.trial, json_extract(d, '$.round') AS round, json_extract(d, '$.position') AS position,
       t.case_index, t.case_id, {t.parts},
       json_extract(d, '$.error') AS error,
       json_extract(d, '$.stamp.kind') AS stamp, json_extract(d, '$.stamp.n') AS stamp_n,
       json_extract(d, '$.started_ns') AS started_ns, json_extract(d, '$.took_ns') AS took_ns,
       json_extract(d, '$.wall_ns') AS wall_ns, json_extract(d, '$.cpu_ns') AS cpu_ns,
       t.operations,
       CAST(json_extract(d, '$.wall_ns') AS REAL) / NULLIF(t.operations, 0)
         AS wall_ns_per_operation,
       CAST(json_extract(d, '$.cpu_ns') AS REAL) / NULLIF(t.operations, 0)
         AS cpu_ns_per_operation,
       CAST(COALESCE(
         (SELECT SUM(json_extract(e.value, '$.voluntary') + json_extract(e.value, '$.involuntary'))
            FROM json_each(d, '$.threads') e),
         (SELECT SUM(json_extract(e.value, '$.voluntary') + json_extract(e.value, '$.involuntary'))
            FROM json_each(d, '$.ends') e)
       ) AS REAL) / NULLIF(t.operations, 0) AS switches_per_operation,
       (SELECT CAST(json_extract(e.value, '$.value') AS REAL)
               / NULLIF(json_extract(d, '$.counted_operations'), 0)
          FROM json_each(d, '$.counted') e
         WHERE json_extract(e.value, '$.event') = 'system-calls') AS system_calls_per_operation,
       (SELECT SUM(json_extract(e.value, '$.bytes')) FROM json_each(d, '$.ends') e
         WHERE json_extract(e.value, '$.role') = 'callee') AS received_bytes,
       (SELECT SUM(json_extract(e.value, '$.lost')) FROM json_each(d, '$.ends') e) AS lost,
       (SELECT SUM(json_extract(e.value, '$.overruns')) FROM json_each(d, '$.ends') e) AS overruns,
       json_extract(d, '$.samples_taken') AS samples_taken, t.samples_kept,
       json_extract(d, '$.negative_samples') AS negative_samples,
       json_extract(d, '$.samples_max_ticks') * t.ns_per_tick AS sample_max_ns, t.ns_per_tick,
       (SELECT MAX(json_extract(e.value, '$.bound_ticks')) FROM json_each(d, '$.gates') e)
         * t.ns_per_tick AS clock_bound_ns,
       (SELECT MIN(y.class) FROM json_each(d, '$.yardsticks') e
          JOIN yardstick y ON y.position = json_extract(e.value, '$.yardstick'))
         AS yardstick_class,
       (SELECT AVG(json_extract(e.value, '$.operation_ns')) FROM json_each(d, '$.yardsticks') e)
         AS yardstick_ns,
       (SELECT MIN(y.reference_ns) FROM json_each(d, '$.yardsticks') e
          JOIN yardstick y ON y.position = json_extract(e.value, '$.yardstick'))
         AS yardstick_reference_ns
  FROM one t
 ORDER BY t.trial;

CREATE VIEW samples AS
SELECT v.trial, v.case_id, v.round, v.stamp, v.stamp_n, v.ns_per_tick, t.samples_kept, t.samples
  FROM trials v JOIN trial t USING (trial)
 WHERE v.error IS NULL
 ORDER BY v.trial;

CREATE VIEW estimates AS
SELECT t.case_index, t.case_id, {t.parts},
       json_extract(e.document, '$.statistic') AS statistic,
       json_extract(e.document, '$.point') AS point, json_extract(e.document, '$.low') AS low,
       json_extract(e.document, '$.high') AS high, json_extract(e.document, '$.level') AS level,
       json_extract(e.document, '$.n_trials') AS n_trials,
       json_extract(e.document, '$.pooled') AS pooled,
       json_extract(e.document, '$.at_most') AS at_most,
       json_extract(e.document, '$.digits') AS digits,
       json_extract(e.document, '$.insufficient') AS insufficient,
       json_extract(e.document, '$.validity') AS validity
  FROM estimate e
  JOIN cases t ON t.case_id = json_extract(e.document, '$.case_id')
 ORDER BY t.case_index, statistic;
