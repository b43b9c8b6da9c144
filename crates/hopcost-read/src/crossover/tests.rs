use hopcost_model::plan::Question;
use hopcost_model::protocol::ZeroCopySends;
use hopcost_model::results::Results;

use super::*;
use crate::testing::{Builder, TrialBuilder, read};

const VALUES: [u64; 9] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];
const COARSE: [u32; 5] = [0, 2, 4, 6, 8];

fn id(mechanism: &str, payload: u64) -> String {
    let more = if mechanism.starts_with("tcp") { "&nodelay=off" } else { "" };
    format!(
        "roundtrip/{mechanism}?payload={payload}&boundary=process&place=same-cpu&wait=block{more}"
    )
}

/// A search in which the second takes so many times the first's time at each value; rounds are made where
/// they are said.
fn search(second: &str, rounds: &[u32], ratio: &dyn Fn(u64) -> f64) -> RawRun {
    let host_ns = |round: u32| 50_000.0 * (1.0 + 0.5 * f64::from(round / 2 % 2));
    let mut builder = Builder::new();
    for (payload, rounds) in VALUES.into_iter().zip(rounds) {
        let factor = ratio(payload);
        let first = move |round: u32, t: &mut TrialBuilder| t.each(&[host_ns(round) as u32; 50]);
        let spread = |round: u32| 1.0 + 0.004 * (f64::from(round % 5) - 2.0);
        builder = builder.case(&id("pipe", payload), *rounds, first);
        builder = builder.case(&id(second, payload), *rounds, move |round, t| {
            t.each(&[(host_ns(round) * spread(round) * factor) as u32; 50]);
        });
    }
    let mut raw = builder.build();
    let plan = CrossoverPlan {
        axis: "payload".to_owned(),
        values: VALUES.to_vec(),
        coarse: COARSE.to_vec(),
        margin: 0.03,
    };
    raw.plan.question = Some(Question::Crossover(plan));
    raw
}

fn wanted_of(raw: &RawRun) -> Vec<u64> {
    let places: BTreeSet<u32> =
        crate::look(raw, &[]).wanted.iter().map(|index| index / 2).collect();
    places.iter().map(|at| VALUES[*at as usize]).collect()
}

fn found(raw: &RawRun) -> Crossover {
    let results: Results = read(raw);
    results.crossover.unwrap()
}

const FALLS: fn(u64) -> f64 = |payload| if payload < 3000 { 1.3 } else { 0.8 };

#[test]
fn rounds_go_to_the_coarse_points_and_then_between_those_where_it_crosses() {
    assert_eq!(wanted_of(&search("fifo", &[0; 9], &FALLS)), [64, 256, 1024, 4096, 16_384]);
    let coarse = [12, 0, 12, 0, 12, 0, 12, 0, 12];
    assert_eq!(
        wanted_of(&search("fifo", &coarse, &FALLS)),
        [0; 0],
        "1024 and 4096 are two steps apart"
    );
    // With only both ends to begin with, what lies between is halved.
    let mut ends = search("fifo", &[12, 0, 0, 0, 0, 0, 0, 0, 12], &FALLS);
    let Some(Question::Crossover(plan)) = &mut ends.plan.question else { panic!() };
    plan.coarse = vec![0, 8];
    assert_eq!(wanted_of(&ends), [1024]);
    let one = found(&ends).crossings[0];
    assert_eq!((one.after, one.until, one.faster), (64, 16_384, Faster::Second));
}

#[test]
fn the_answer_says_where_it_crosses() {
    let raw = search("fifo", &[12, 0, 12, 0, 12, 12, 12, 0, 12], &FALLS);
    let all = found(&raw);
    let [one] = all.crossings.as_slice() else { panic!("{all:?}") };
    assert_eq!((one.after, one.until, one.faster), (2048, 4096, Faster::Second));
    assert_eq!((all.undecided.len(), all.seconds_to_decide), (0, None));
    assert_eq!(all.first, "roundtrip/pipe?boundary=process&place=same-cpu&wait=block");
    assert!((all.ratio_least.unwrap() - 0.8).abs() < 0.01 && all.ratio_most.unwrap() > 1.29);
    // Points that were not needed stand nowhere.
    assert_eq!(all.points.len(), 6);
    let results = read(&raw);
    assert_eq!(results.results.len(), 12);
    let same = search("fifo", &[12; 9], &|_| 1.0);
    assert!(found(&same).points.iter().all(|point| point.faster == Faster::Equal));
    let plot = results.plots.iter().find(|plot| plot.id == "crossover").unwrap();
    assert_eq!((plot.series[0].points.len(), plot.crossings[0].x), (6, 4096.0));
}

#[test]
fn what_is_open_says_between_which_values_and_how_much_more_time_it_needs() {
    let raw = search("fifo", &[12, 0, 12, 0, 4, 0, 12, 0, 12], &|_| 1.5);
    let all = found(&raw);
    assert_eq!(all.undecided, [Span { from: 256, to: 4096 }]);
    assert!(all.seconds_to_decide.is_some() && all.crossings.is_empty());
    assert_eq!(wanted_of(&raw), [1024]);
    let none = found(&search("fifo", &[0; 9], &FALLS));
    assert_eq!(none.ratio_least, None);
    assert_eq!(none.undecided, [Span { from: 64, to: 16_384 }]);
}

#[test]
fn points_at_which_messages_stall_are_left_out() {
    let mut builder = Builder::new();
    for payload in VALUES {
        let ns = if payload == 1024 { 40_500_000 } else { 60_000 };
        builder = builder.case(&id("pipe", payload), 12, |_, t| t.each(&[50_000; 50]));
        builder = builder.case(&id("tcp", payload), 12, move |_, t| {
            let samples: Vec<u32> = (0..50).map(|i| if i % 2 == 0 { ns } else { 60_000 }).collect();
            t.each(&samples);
        });
    }
    let mut raw = builder.build();
    raw.plan.question = search("tcp", &[0; 9], &FALLS).plan.question;
    let all = found(&raw);
    let stalled: Vec<&CrossoverPoint> =
        all.points.iter().filter(|point| point.left_out.is_some()).collect();
    let [one] = stalled.as_slice() else { panic!("{stalled:?}") };
    let why = one.left_out.as_ref().unwrap();
    assert!(one.at == 1024 && why.contains("tcp stalls (NAGLE_DELACK)"), "{why}");
    assert_eq!((one.faster, &one.ratio), (Faster::Neither, &None));
    assert!(all.crossings.is_empty() && all.undecided.is_empty());
}

#[test]
fn what_cannot_be_played_is_not_waited_for() {
    let mut raw = search("fifo", &[12, 0, 12, 0, 3, 0, 12, 0, 12], &|_| 1.5);
    let failing = raw.trials.iter_mut().filter(|trial| trial.case == 9);
    failing.for_each(|trial| trial.error = Some("it hung".to_owned()));
    assert_eq!(wanted_of(&raw).len(), 0);
    let all = found(&raw);
    let point = all.points.iter().find(|point| point.at == 1024).unwrap();
    assert!(point.left_out.as_ref().unwrap().contains("it hung"), "{point:?}");
}

#[test]
fn a_bend_has_a_line_below_and_one_above() {
    // 3 µs up to 1 KiB, and 2 ns a byte from there on.
    let cost = |payload: u64| if payload < 2000 { 3000 + payload / 8 } else { 2 * payload };
    let mut builder = Builder::new();
    for payload in VALUES {
        builder =
            builder.case(&id("pipe", payload), 12, move |_, t| t.each(&[cost(payload) as u32; 50]));
        builder = builder.case(&id("fifo", payload), 12, |_, t| t.each(&[90_000; 50]));
    }
    let mut raw = builder.build();
    raw.plan.question = search("fifo", &[0; 9], &FALLS).plan.question;
    let Some(Question::Crossover(plan)) = &mut raw.plan.question else { panic!() };
    plan.coarse = (0..9).collect();
    let model = read(&raw).cost_models[0].clone();
    assert!(model.refused.is_some() && model.fixed_ns.is_none());
    let [below, above] = model.segments.as_slice() else { panic!("{model:?}") };
    assert_eq!(
        (below.from_bytes, below.to_bytes, above.from_bytes, above.to_bytes),
        (64, 1024, 2048, 16_384)
    );
    assert!((above.per_byte_ns.point.unwrap() - 2.0).abs() < 1e-6 && above.residual_max < 0.01);
    // Of any other run there is one line or none.
    raw.plan.question = None;
    assert_eq!(read(&raw).cost_models[0].segments, []);
}

#[test]
fn nonsense_in_a_file_is_read_without_a_panic() {
    let mut raw = search("fifo", &[12; 9], &FALLS);
    for change in [0, 1, 2, 3] {
        let Some(Question::Crossover(plan)) = &mut raw.plan.question else { panic!() };
        match change {
            0 => plan.coarse = vec![u32::MAX, 3, 3],
            1 => plan.values.truncate(3),
            2 => plan.margin = f64::NAN,
            _ => (plan.axis, plan.values) = ("nobody".to_owned(), Vec::new()),
        }
        read(&raw);
        crate::look(&raw, &[]);
    }
    raw.plan.cases.truncate(3);
    crate::look(&raw, &[]);
    read(&raw);
}

/// A search over these values of an axis, all of them coarse, in which each way is made so.
fn along(
    axis: &str,
    values: &[u64],
    ids: [&dyn Fn(u64) -> String; 2],
    make: impl Fn(usize, u64, &mut TrialBuilder) + Copy,
) -> RawRun {
    let mut builder = Builder::new();
    for at in values.iter().copied() {
        for (way, id) in ids.iter().enumerate() {
            builder = builder.case(&id(at), 12, move |_, t| make(way, at, t));
        }
    }
    let mut raw = builder.build();
    raw.plan.question = Some(Question::Crossover(CrossoverPlan {
        axis: axis.to_owned(),
        values: values.to_vec(),
        coarse: (0..values.len() as u32).collect(),
        margin: 0.03,
    }));
    raw
}

#[test]
fn what_the_kernel_copied_all_the_same_is_said_beside_the_answer() {
    let id = |mechanism: &'static str| {
        move |payload: u64| {
            format!(
                "stream/{mechanism}?payload={payload}&fields=8&flows=1&ack=per-message\
                 &boundary=process&place=free&wait=block&nodelay=off"
            )
        }
    };
    let caveats = |copied: fn(u64) -> u64| {
        let make = |way: usize, payload: u64, t: &mut TrialBuilder| {
            let ns = if way == 0 { 20_000 } else { 30_000 };
            t.stream(1, 100, payload, &[ns; 100], 100 * u64::from(ns));
            let sends = ZeroCopySends { completed: 1000, copied: copied(payload) };
            t.raw.ends[0].zero_copy = (way == 1).then_some(sends);
        };
        let ids: [&dyn Fn(u64) -> String; 2] = [&id("tcp-sendmsg"), &id("tcp-zerocopy")];
        found(&along("payload", &VALUES[2..], ids, make)).caveats
    };
    let [all] = &caveats(|_| 1000)[..] else { panic!("one way has no such sends") };
    assert!(all.starts_with("The kernel copied all of the sends of tcp-zerocopy"), "{all}");
    assert!(all.ends_with("(ZC_COPIED), so its time is that of a copy."), "{all}");
    let part = caveats(|payload| if payload < 1000 { 0 } else { 500 });
    assert!(part[0].contains("copied 0 % to 50 % of") && part[0].contains("partly that"));
    assert_eq!(caveats(|_| 1), [""; 0], "one in a thousand");
}

#[test]
fn points_whose_load_is_invalid_are_left_out() {
    let id = |mechanism: &'static str| {
        move |rate: u64| {
            format!(
                "load/{mechanism}?payload=64&rate={rate}&boundary=process&place=same-llc&wait=block"
            )
        }
    };
    let ids: [&dyn Fn(u64) -> String; 2] = [&id("pipe"), &id("tcp")];
    let raw = along("rate", &[1_000, 2_000, 4_000, 8_000], ids, |way, rate, t| {
        t.load(&[100; 1000], if way == 0 { 4_000 } else { 9_000 });
        let load = t.raw.load.as_mut().unwrap();
        load.generator_lag_p99_ticks = if rate == 4_000 { 3_000 } else { 30 };
        if rate == 8_000 && way == 1 {
            load.sent_ticks = load.intended_ticks * 2;
        }
    });
    let all = found(&raw);
    let fates: Vec<(bool, Faster)> =
        all.points.iter().map(|of| (of.left_out.is_some(), of.faster)).collect();
    assert_eq!(
        fates,
        [
            (false, Faster::First),
            (false, Faster::First),
            (true, Faster::Neither),
            (true, Faster::Neither)
        ],
        "{all:?}"
    );
    for (at, says) in [
        (2, "pipe is not a valid load (GENERATOR_LATE): In 12 of 12 trials"),
        (3, "tcp is not a valid load (RATE_MISSED): In 12 of 12 trials"),
    ] {
        let why = all.points[at].left_out.as_ref().unwrap();
        assert!(why.starts_with(says), "{why}");
    }
    let look = crate::look(&raw, &[]);
    assert_eq!((look.decided, look.wanted.len()), (Some((2, 2)), 0));
}
