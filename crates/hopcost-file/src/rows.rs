//! Rows as they are written: one function a table. `read.rs` is their inverse.

use hopcost_model::case::{Role, Workload};
use hopcost_model::describe::Description;
use hopcost_model::finding::{Finding, Severity};
use hopcost_model::host::Host;
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_model::protocol::{ClockReading, EndCounters, EventReading, GateReading, Stamp};
use hopcost_model::raw::{CpuAccounting, CpuSentinel, RawTrial, RunAbout, StampCheck, ThreadUse};
use rusqlite::{Transaction, params};

use crate::error::{Cell, Problem};
use crate::write::EstimateRow;

/// SQLite's integers are signed. No count or duration of a real run reaches
/// 2^63 (292 years of nanoseconds), so what does is a fault to be reported, not
/// a value to be kept.
pub(crate) fn int(name: &str, value: u64) -> Cell<i64> {
    i64::try_from(value)
        .map_err(|_| Problem::Value(format!("{name} is {value}, more than 2^63 - 1")))
}

pub(crate) fn real(name: &str, value: f64) -> Cell<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Problem::Value(format!("{name} is {value}, not a finite number")))
    }
}

pub(crate) fn json<T: serde::Serialize>(name: &str, value: &T) -> Cell<String> {
    serde_json::to_string(value).map_err(|error| Problem::Value(format!("{name}: {error}")))
}

pub(crate) fn put_run(tx: &Transaction<'_>, about: &RunAbout, plan: &Plan) -> Cell<()> {
    tx.execute(
        "INSERT INTO run VALUES (1,?1,?2,?3,?4,?5,?6,?7,?8,?9)",
        params![
            about.id,
            about.version,
            about.commit,
            json("build", &about.build)?,
            json("argv", &about.argv)?,
            about.started,
            about.ended,
            about.resumed,
            json("plan", plan)?,
        ],
    )?;
    for (index, case) in plan.cases.iter().enumerate() {
        put_case(tx, index, case)?;
    }
    Ok(())
}

fn put_case(tx: &Transaction<'_>, index: usize, planned: &PlannedCase) -> Cell<()> {
    // A spelling this version cannot take apart keeps its columns empty.
    let case = planned.known();
    let waits = case.and_then(|c| c.waits);
    tx.prepare_cached(
        "INSERT INTO planned_case VALUES
         (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
    )?
    .execute(params![
        index as i64,
        planned.id(),
        planned.skip,
        case.map(|c| c.workload.word()),
        case.map(|c| c.mechanism.as_str()),
        case.and_then(|c| c.payload_bytes),
        case.map(|c| c.boundary.word()),
        case.and_then(|c| c.placement).map(|p| p.word()),
        waits.map(|w| w.to_string()),
        waits.map(|w| w.of(Role::Caller).word()),
        waits.map(|w| w.of(Role::Callee).word()),
        case.and_then(|c| c.spin_budget_ns).map(|n| int("spin", n)).transpose()?,
        case.map(|c| json("parameters", &c.parameters)).transpose()?,
        case.map(|c| c.sched.to_string()),
        case.and_then(|c| c.fields),
        case.and_then(|c| c.flows),
        case.and_then(|c| c.ack).map(|ack| ack.to_string()),
        case.and_then(|c| c.gap_ns).map(|n| int("gap", n)).transpose()?,
        case.filter(|c| c.workload == Workload::Wake).map(|c| c.idle_knob.word()),
        case.map(|c| c.runtimes.caller.word()),
        case.map(|c| c.runtimes.callee.word()),
    ])?;
    Ok(())
}

pub(crate) fn put_host(tx: &Transaction<'_>, moment: &str, host: &Host) -> Cell<()> {
    let mut insert = tx.prepare_cached("INSERT INTO host_reading VALUES (?1,?2,?3,?4,?5,?6)")?;
    for (position, r) in host.readings.iter().enumerate() {
        insert.execute(params![moment, position as i64, r.section, r.key, r.value, r.reason])?;
    }
    Ok(())
}

pub(crate) fn put_trial(
    tx: &Transaction<'_>,
    number: i64,
    trial: &RawTrial,
    packed: &[u8],
) -> Cell<()> {
    let (stamp, stamp_n) = match trial.stamp {
        None => (None, None),
        Some(Stamp::Each) => (Some("each"), None),
        Some(Stamp::Batch { n }) => (Some("batch"), Some(int("stamp n", n)?)),
        Some(Stamp::TwoLengths { n }) => (Some("two-lengths"), Some(int("stamp n", n)?)),
    };
    tx.prepare_cached(
        "INSERT INTO trial VALUES
         (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
    )?
    .execute(params![
        number,
        trial.case,
        trial.round,
        trial.position,
        int("started_ns", trial.started_ns)?,
        int("took_ns", trial.took_ns)?,
        int("phases_ns", trial.phases_ns)?,
        trial.error,
        stamp,
        stamp_n,
        int("wall_ns", trial.wall_ns)?,
        int("cpu_ns", trial.cpu_ns)?,
        json("cpus_asked", &trial.cpus_asked)?,
        json("pin_errors", &trial.pin_errors)?,
        int("operations", trial.operations)?,
        int("samples_taken", trial.samples_taken)?,
        int("samples_max_ticks", trial.samples_max_ticks)?,
        trial.samples.len() as i64,
        packed,
        int("negative_samples", trial.negative_samples)?,
        int("counted_operations", trial.counted_operations)?,
    ])?;
    Ok(())
}

pub(crate) fn put_end(
    tx: &Transaction<'_>,
    trial: i64,
    position: usize,
    end: &EndCounters,
) -> Cell<()> {
    tx.prepare_cached(
        "INSERT INTO trial_end VALUES
         (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,
          ?18,?19,?20,?21,?22,?23,?24)",
    )?
    .execute(params![
        trial,
        position as i64,
        end.role.word(),
        int("count", end.count)?,
        int("samples", end.samples)?,
        int("max_ticks", end.max_ticks)?,
        int("elapsed_ticks", end.elapsed_ticks)?,
        int("thread_cpu_ns", end.thread_cpu_ns)?,
        int("voluntary", end.voluntary)?,
        int("involuntary", end.involuntary)?,
        int("minor_faults", end.minor_faults)?,
        int("major_faults", end.major_faults)?,
        end.run_delay_ns.map(|ns| int("run_delay_ns", ns)).transpose()?,
        end.cpu_before,
        end.cpu_after,
        int("cpu_changes", end.cpu_changes)?,
        end.pinned,
        end.flow,
        int("first_tick", end.first_tick)?,
        int("bytes", end.bytes)?,
        int("lost", end.lost)?,
        int("overruns", end.overruns)?,
        end.zero_copy.map(|sends| int("zero_copy completed", sends.completed)).transpose()?,
        end.zero_copy.map(|sends| int("zero_copy copied", sends.copied)).transpose()?,
    ])?;
    put_events(tx, trial, position as i64, &end.events)
}

/// `end_position` of what was counted for both ends together.
pub(crate) const BOTH_ENDS: i64 = -1;

pub(crate) fn put_events(
    tx: &Transaction<'_>,
    trial: i64,
    end_position: i64,
    events: &[EventReading],
) -> Cell<()> {
    let mut insert = tx.prepare_cached("INSERT INTO event VALUES (?1,?2,?3,?4,?5,?6,?7,?8)")?;
    for (position, event) in events.iter().enumerate() {
        insert.execute(params![
            trial,
            end_position,
            position as i64,
            event.event,
            event.value.map(|value| int(&event.event, value)).transpose()?,
            int("enabled_ns", event.enabled_ns)?,
            int("running_ns", event.running_ns)?,
            event.unavailable,
        ])?;
    }
    Ok(())
}

pub(crate) fn put_gates(tx: &Transaction<'_>, trial: i64, gates: &[GateReading]) -> Cell<()> {
    let mut insert = tx.prepare_cached("INSERT INTO clock_gate VALUES (?1,?2,?3,?4,?5,?6,?7)")?;
    for (position, gate) in gates.iter().enumerate() {
        insert.execute(params![
            trial,
            position as i64,
            gate.offset_ticks,
            int("bound_ticks", gate.bound_ticks)?,
            int("gate exchanges", gate.exchanges)?,
            int("gate steps", gate.steps)?,
            int("gate backward_steps", gate.backward_steps)?,
        ])?;
    }
    Ok(())
}

pub(crate) fn put_sentinels(
    tx: &Transaction<'_>,
    trial: i64,
    moment: &str,
    sentinels: &[CpuSentinel],
) -> Cell<()> {
    let mut insert = tx.prepare_cached("INSERT INTO sentinel VALUES (?1,?2,?3,?4,?5)")?;
    for (position, sentinel) in sentinels.iter().enumerate() {
        let call_ns = real("sentinel call_ns", sentinel.call_ns)?;
        insert.execute(params![trial, moment, position as i64, sentinel.cpu, call_ns])?;
    }
    Ok(())
}

pub(crate) fn put_worker(tx: &Transaction<'_>, position: usize, worker: &Description) -> Cell<()> {
    tx.prepare_cached("INSERT INTO worker VALUES (?1,?2,?3,?4)")?.execute(params![
        position as i64,
        worker.runtime,
        worker.version,
        json("description", worker)?,
    ])?;
    Ok(())
}

pub(crate) fn put_threads(tx: &Transaction<'_>, trial: i64, threads: &[ThreadUse]) -> Cell<()> {
    let mut insert =
        tx.prepare_cached("INSERT INTO thread_use VALUES (?1,?2,?3,?4,?5,?6,?7,?8)")?;
    for (position, thread) in threads.iter().enumerate() {
        insert.execute(params![
            trial,
            position as i64,
            thread.process.word(),
            thread.seat.map(Role::word),
            thread.name,
            int("thread cpu_ns", thread.cpu_ns)?,
            int("thread voluntary", thread.voluntary)?,
            int("thread involuntary", thread.involuntary)?,
        ])?;
    }
    Ok(())
}

pub(crate) fn put_warm_up(tx: &Transaction<'_>, trial: i64, parts_ns: &[f64]) -> Cell<()> {
    let mut insert = tx.prepare_cached("INSERT INTO warm_up VALUES (?1,?2,?3)")?;
    for (position, part_ns) in parts_ns.iter().enumerate() {
        insert.execute(params![trial, position as i64, real("warm-up", *part_ns)?])?;
    }
    Ok(())
}

pub(crate) fn put_stamp_check(tx: &Transaction<'_>, trial: i64, check: &StampCheck) -> Cell<()> {
    tx.prepare_cached("INSERT INTO stamp_check VALUES (?1,?2,?3,?4,?5,?6)")?.execute(params![
        trial,
        int("exchanges", check.exchanges)?,
        real("stamped_ns", check.stamped_ns)?,
        real("stamped_by_caller_ns", check.stamped_by_caller_ns)?,
        real("bare_before_ns", check.bare_before_ns)?,
        real("bare_after_ns", check.bare_after_ns)?,
    ])?;
    Ok(())
}

pub(crate) fn put_estimate(tx: &Transaction<'_>, row: &EstimateRow) -> Cell<()> {
    let e = &row.estimate;
    let number = |name: &str, value: Option<f64>| value.map(|v| real(name, v)).transpose();
    tx.prepare_cached(
        "INSERT INTO estimate VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
    )?
    .execute(params![
        row.case_id,
        row.statistic,
        number("point", e.point)?,
        number("low", e.low)?,
        number("high", e.high)?,
        number("level", e.level)?,
        e.n_trials,
        e.pooled,
        e.at_most,
        e.digits,
        number("detectable", e.detectable)?,
        e.insufficient,
        e.estimand,
        row.validity.word(),
    ])?;
    Ok(())
}

pub(crate) fn put_finding(tx: &Transaction<'_>, position: usize, finding: &Finding) -> Cell<()> {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Suspect => "suspect",
        Severity::Invalid => "invalid",
    };
    tx.prepare_cached("INSERT INTO finding VALUES (?1,?2,?3,?4,?5,?6,?7)")?.execute(params![
        position as i64,
        finding.code.word(),
        severity,
        finding.case,
        finding.evidence,
        json("values", &finding.values)?,
        finding.remedy,
    ])?;
    Ok(())
}

pub(crate) fn put_clock(tx: &Transaction<'_>, position: usize, clock: &ClockReading) -> Cell<()> {
    tx.prepare_cached("INSERT INTO clock VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)")?.execute(
        params![
            position as i64,
            clock.cpu,
            clock.source,
            real("ticks_per_second", clock.ticks_per_second)?,
            real("rate_spread_ppm", clock.rate_spread_ppm)?,
            int("resolution_ticks", clock.resolution_ticks)?,
            real("stamp_min_ns", clock.stamp_min_ns)?,
            real("stamp_p50_ns", clock.stamp_p50_ns)?,
            real("stamp_p99_ns", clock.stamp_p99_ns)?,
            real("clock_gettime_p50_ns", clock.clock_gettime_p50_ns)?,
            clock.runtime,
        ],
    )?;
    Ok(())
}

pub(crate) fn put_accounting(tx: &Transaction<'_>, row: &CpuAccounting) -> Cell<()> {
    tx.prepare_cached(
        "INSERT INTO cpu_accounting VALUES
         ((SELECT coalesce(max(position) + 1, 0) FROM cpu_accounting),?1,?2,?3,?4)",
    )?
    .execute(params![
        row.round,
        row.cpu,
        int("wall_ns", row.wall_ns)?,
        int("steal_ns", row.steal_ns)?
    ])?;
    Ok(())
}
