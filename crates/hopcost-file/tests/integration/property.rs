//! Whatever can be stored reads back bit for bit; whatever cannot be a run is
//! refused without a panic.

use std::fs;

use crate::common::{begun, fresh, made, open};
use hopcost_file::{Error, open_for_resume};
use hopcost_model::case::Role;
use hopcost_model::protocol::{EndCounters, EventReading, GateReading, Stamp, ZeroCopySends};
use hopcost_model::raw::{
    CpuUse, Moment, RawLoad, RawTrial, Reference, StampCheck, ThreadUse, Throttling, Yardstick,
    YardstickClass, YardstickReading,
};
use hopcost_model::text::escaped;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Every count that fits the format, small and huge ones alike.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..10u64, 0..=i64::MAX as u64, Just(i64::MAX as u64)]
}

/// Times and rates.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0.0..i64::MAX as f64),
        (0..1000).prop_map(f64::from),
        Just(f64::MIN_POSITIVE),
        Just(-0.0),
        Just(9_007_199_254_740_993.0),
    ]
}

fn event() -> impl Strategy<Value = EventReading> {
    (text(), option::of(count()), count(), count(), option::of(text())).prop_map(
        |(event, value, enabled_ns, running_ns, unavailable)| EventReading {
            event,
            value,
            enabled_ns,
            running_ns,
            unavailable,
        },
    )
}

fn gate() -> impl Strategy<Value = GateReading> {
    (any::<i64>(), proptest::array::uniform4(count())).prop_map(|(offset_ticks, c)| GateReading {
        offset_ticks,
        bound_ticks: c[0],
        exchanges: c[1],
        steps: c[2],
        backward_steps: c[3],
    })
}

/// What the ends of wake-ups and streams count besides.
fn further() -> impl Strategy<Value = EndCounters> {
    let counts = proptest::array::uniform4(count());
    let zero_copy = option::of((count(), count()));
    let touch = proptest::array::uniform2(option::of(0.0..1e9));
    let all = (any::<u32>(), counts, zero_copy, touch, vec(event(), 0..3));
    all.prop_map(|(flow, c, sends, [fill_ns, verify_ns], events)| EndCounters {
        fill_ns,
        verify_ns,
        flow,
        first_tick: c[0] % (1 << 62),
        bytes: c[1],
        lost: c[2],
        overruns: c[3],
        zero_copy: sends.map(|(completed, copied)| ZeroCopySends { completed, copied }),
        events,
        ..EndCounters::empty(Role::Caller)
    })
}

fn end() -> impl Strategy<Value = EndCounters> {
    let counts = proptest::array::uniform9(count());
    let delay = option::of(count());
    (prop::bool::ANY, counts, delay, any::<(u32, u32)>(), prop::bool::ANY, further()).prop_map(
        |(callee, c, run_delay_ns, (cpu_before, cpu_after), pinned, further)| EndCounters {
            role: if callee { Role::Callee } else { Role::Caller },
            count: c[0] % (1 << 42),
            samples: c[1],
            max_ticks: c[2] % (1 << 62),
            elapsed_ticks: c[3] % (1 << 62),
            thread_cpu_ns: c[4],
            voluntary: c[5],
            involuntary: c[6],
            minor_faults: c[7],
            major_faults: c[8],
            run_delay_ns,
            cpu_before,
            cpu_after,
            cpu_changes: c[0],
            pinned,
            ..further
        },
    )
}

fn stamp() -> impl Strategy<Value = Option<Stamp>> {
    prop_oneof![
        Just(None),
        Just(Some(Stamp::Each)),
        count().prop_map(|n| Some(Stamp::Batch { n })),
        count().prop_map(|n| Some(Stamp::TwoLengths { n })),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Caller), Just(Role::Callee)]
}

fn thread() -> impl Strategy<Value = ThreadUse> {
    let counts = proptest::array::uniform3(count());
    (role(), option::of(role()), text(), counts).prop_map(|(process, seat, name, c)| {
        let [cpu_ns, voluntary, involuntary] = c;
        ThreadUse { process, seat, name, cpu_ns, voluntary, involuntary }
    })
}

fn stamp_check() -> impl Strategy<Value = StampCheck> {
    (count(), proptest::array::uniform4(finite())).prop_map(|(exchanges, ns)| StampCheck {
        exchanges,
        stamped_ns: ns[0],
        stamped_by_caller_ns: ns[1],
        bare_before_ns: ns[2],
        bare_after_ns: ns[3],
    })
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![Just(Moment::Before), Just(Moment::After)]
}

/// Readings of one of two yardsticks.
fn readings() -> impl Strategy<Value = Vec<YardstickReading>> {
    let reading =
        |(yardstick, moment, operation_ns)| YardstickReading { yardstick, moment, operation_ns };
    vec((0..2u32, moment(), finite()).prop_map(reading), 0..4)
}

fn reference() -> impl Strategy<Value = Reference> {
    (1e-3..1e9, 0.0..1e3, count(), text()).prop_map(|(operation_ns, log_error, readings, from)| {
        Reference { operation_ns, log_error, readings, learnt_from: from }
    })
}

fn yardstick() -> impl Strategy<Value = Yardstick> {
    let class = proptest::sample::select(YardstickClass::ALL.to_vec());
    let all = (class, text(), vec(any::<u32>(), 1..3), count());
    (all, option::of(reference()), option::of(text())).prop_map(
        |((class, case, cpus, operations), reference, gone)| Yardstick {
            class,
            case,
            cpus,
            operations,
            reference,
            gone,
        },
    )
}

fn cpu_use() -> impl Strategy<Value = CpuUse> {
    let counts = proptest::array::uniform5(option::of(count()));
    (any::<u32>(), counts).prop_map(|(cpu, c)| CpuUse {
        cpu,
        steal_ns: c[0],
        interrupt_ns: c[1],
        interrupts: c[2],
        softirqs: c[3],
        network_softirqs: c[4],
    })
}

fn throttling() -> impl Strategy<Value = Option<Throttling>> {
    option::of((count(), count()).prop_map(|(times, ns)| Throttling { times, ns }))
}

/// Any text as it is read: what does not show as itself is written out then.
fn text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| escaped(&text))
}

fn trial() -> impl Strategy<Value = RawTrial> {
    (
        (0..4u32, any::<u32>(), any::<u32>(), proptest::array::uniform8(count())),
        (option::of(text()), stamp(), vec(end(), 0..3)),
        (vec(option::of(any::<u32>()), 0..3), vec(text(), 0..3)),
        vec(any::<u32>(), 0..300),
        (vec(gate(), 0..3), count(), vec(event(), 0..4), count()),
        (vec(thread(), 0..4), vec(finite(), 0..5), option::of(stamp_check()), readings()),
        (count(), vec(cpu_use(), 0..3), throttling()),
    )
        .prop_map(
            |((case, round, position, c), (error, stamp, ends), (asked, pins), s, n, r, w)| {
                // Of every other trial, as many as it has samples.
                let load = (round % 2 == 0).then(|| RawLoad {
                    offered: c[5] % (1 << 42),
                    delivered: c[6],
                    intended_ticks: c[7] % (1 << 62),
                    sent_ticks: c[0],
                    received_ticks: c[1],
                    generator_messages: c[2],
                    generator_lag_p99_ticks: c[3],
                    generator_lag_last_ticks: c[4],
                    lags: s.iter().rev().copied().collect(),
                    gaps: s.clone(),
                    own_lags: (round % 4 == 0).then(|| s.clone()),
                });
                RawTrial {
                    case,
                    round,
                    position,
                    started_ns: c[0],
                    took_ns: c[1],
                    phases_ns: c[2],
                    error,
                    stamp,
                    wall_ns: c[3],
                    cpu_ns: c[4],
                    ends,
                    cpus_asked: asked,
                    pin_errors: pins,
                    operations: c[5] % (1 << 42),
                    samples_taken: c[6],
                    samples_max_ticks: c[7] % (1 << 62),
                    samples: s,
                    gates: n.0,
                    negative_samples: n.1,
                    counted: n.2,
                    counted_operations: n.3,
                    threads: r.0,
                    warm_up_ns: r.1,
                    stamp_check: r.2,
                    yardsticks: r.3,
                    watched_ns: w.0,
                    cpu_uses: w.1,
                    throttling: w.2,
                    load,
                    trace: (round % 3 == 0).then(crate::common::trace),
                }
            },
        )
}

fn bits(trial: &RawTrial) -> Vec<u64> {
    let check = trial
        .stamp_check
        .iter()
        .flat_map(|c| [c.stamped_ns, c.stamped_by_caller_ns, c.bare_before_ns, c.bare_after_ns]);
    let warm_ups = trial.warm_up_ns.iter().copied();
    warm_ups
        .chain(trial.yardsticks.iter().map(|read| read.operation_ns))
        .chain(check)
        .map(f64::to_bits)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn trials_read_back_bit_for_bit(
        mut trials in vec(trial(), 0..12),
        yardsticks in proptest::collection::vec(yardstick(), 2..4),
    ) {
        let mut seen = std::collections::BTreeSet::new();
        trials.retain(|t| seen.insert((t.case, t.round)));
        let (_dir, path, mut file) = begun();
        file.put_yardsticks(&[]).unwrap();
        file.put_yardsticks(&yardsticks).unwrap();
        for trial in &trials {
            file.append_trial(trial).unwrap();
        }
        prop_assert_eq!(file.finished(), &seen);
        drop(file);
        let run = open(&path).unwrap();
        prop_assert_eq!(&run.yardsticks, &yardsticks);
        prop_assert_eq!(&run.trials, &trials);
        // Equality takes -0 for 0; bits do not.
        prop_assert!(run.trials.iter().map(bits).eq(trials.iter().map(bits)));
    }

    #[test]
    fn counts_beyond_the_format_are_refused(over in (i64::MAX as u64 + 1)..=u64::MAX, which in 0..14) {
        let (_dir, path, mut file) = begun();
        let mut trial = crate::common::rich(0, 0);
        match which {
            0 => trial.operations = over,
            1 => trial.samples_max_ticks = over,
            2 => trial.stamp = Some(Stamp::Batch { n: over }),
            3 => trial.ends[0].run_delay_ns = Some(over),
            4 => trial.ends[1].first_tick = over,
            5 => trial.ends[1].bytes = over,
            6 => trial.gates[1].bound_ticks = over,
            7 => trial.counted[0].value = Some(over),
            8 => trial.ends[0].events[0].enabled_ns = over,
            9 => trial.counted_operations = over,
            10 => trial.threads[1].cpu_ns = over,
            11 => trial.threads[0].involuntary = over,
            12 => trial.stamp_check.as_mut().unwrap().exchanges = over,
            _ => trial.ends[0].zero_copy = Some(ZeroCopySends { completed: over, copied: 0 }),
        }
        let unstorable = matches!(file.append_trial(&trial), Err(Error::Unstorable { .. }));
        prop_assert!(unstorable);
        prop_assert!(open(&path).unwrap().trials.is_empty());
    }
}

/// Opening may succeed or fail, for reading and for resuming; it returns.
fn opens_or_fails(bytes: &[u8]) {
    let (_dir, path) = fresh();
    fs::write(&path, bytes).unwrap();
    for error in [open(&path).err(), open_for_resume(&path).err()].into_iter().flatten() {
        let line = error.to_string();
        assert!(line.contains("/run: ") && !line.contains('\n'), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..2000), header in 0..3) {
        let mut file = match header {
            0 => Vec::new(),
            1 => b"SQLite format 3\0".to_vec(),
            _ => good_header(),
        };
        file.extend(bytes);
        opens_or_fails(&file);
    }
}

fn good_header() -> Vec<u8> {
    let (_dir, path, _) = made(0);
    fs::read(path).unwrap()[..100].to_vec()
}

#[test]
fn a_run_with_bytes_changed_never_panics() {
    let (_dir, path, _) = made(3);
    let good = fs::read(path).unwrap();
    let mut seed = 1u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..300 {
        let mut bent = good.clone();
        for _ in 0..=next(4) {
            let at = next(bent.len());
            bent[at] = next(256) as u8;
        }
        if next(4) == 0 {
            bent.truncate(next(good.len()));
        }
        opens_or_fails(&bent);
    }
}
