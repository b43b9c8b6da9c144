use crate::advice::{Advice, Answer, Fit};
use hopcost_model::{AdviceRequest, Boundary, SortedBy};
use hopcost_stats::rng::Rng;

use crate::testing::{Builder, MECHANISMS, TrialBuilder};

fn request() -> AdviceRequest {
    AdviceRequest {
        payload_bytes: 64,
        rate: None,
        p99_ns: None,
        boundary: Boundary::Process,
        placement: None,
        runtimes: "rust".to_owned(),
        spinning: true,
        loss: false,
        sort: SortedBy::P50,
    }
}

fn id(mechanism: &str, wait: &str) -> String {
    format!("roundtrip/{mechanism}?payload=64&boundary=process&place=same-llc&wait={wait}")
}

fn load(mechanism: &str) -> String {
    id(mechanism, "block").replace("roundtrip", "load").replace("64&", "64&rate=20000&")
}

/// Operations about so long, 3 % of them `tail` times as long, spread by 3 % from trial to trial;
/// both ends take half of that as CPU time.
fn timed(ns: f64, tail: f64, salt: u64) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| {
        let mut rng = Rng::new(1000 * salt + u64::from(round));
        let trial = libm::exp(0.03 * rng.normal());
        let mut one = || {
            let tail = if rng.uniform() < 0.03 { tail } else { 1.0 };
            (ns * tail * trial * libm::exp(0.05 * rng.normal())) as u32
        };
        let all: Vec<u32> = (0..1200).map(|_| one()).collect();
        t.each(&all);
        t.raw.cpu_ns = ns as u64 * t.raw.operations;
        t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = 0);
    }
}

fn asked(builder: Builder, request: &AdviceRequest) -> Advice {
    crate::advice(&builder.build(), &MECHANISMS, request)
}

fn three() -> Builder {
    Builder::new()
        .case(&id("tcp", "block"), 9, timed(12_000.0, 2.0, 1))
        .case(&id("pipe", "block"), 9, timed(6_000.0, 2.0, 2))
        .case(&id("udp", "block"), 9, timed(5_000.0, 2.0, 3))
}

fn names(of: &Advice) -> Vec<&str> {
    of.candidates.iter().map(|of| of.name.as_str()).collect()
}

fn reason<'a>(of: &'a Advice, name: &str) -> &'a str {
    let found = of.candidates.iter().find(|of| of.name == name);
    found.and_then(|of| of.reason.as_deref()).unwrap_or_default()
}

#[test]
fn the_fastest_that_meets_the_requirements_is_recommended() {
    let advice = asked(three(), &request());
    assert_eq!(advice.answer, Answer::Recommended);
    assert!(advice.says[0].starts_with("Use pipe: p50 of a round trip 6."), "{:?}", advice.says);
    assert_eq!(names(&advice), ["pipe", "tcp", "udp"]);
    assert!(reason(&advice, "udp").contains("may lose"), "{advice:?}");
    assert!(!advice.candidates[1].overlaps);
    let lossy = AdviceRequest { loss: true, ..request() };
    assert!(asked(three(), &lossy).says[0].starts_with("Use udp:"));
    let near = three().case(&id("fifo", "block"), 9, timed(6_010.0, 2.0, 5));
    assert!(asked(near, &request()).candidates[1].overlaps);
    assert!(asked(Builder::new(), &request()).candidates.is_empty());
}

#[test]
fn a_limit_rules_out_what_surely_misses_it_and_leaves_open_what_may() {
    // Their 99th percentiles are about 11, 13 and 22 µs.
    let with =
        |p99_ns: u64| AdviceRequest { p99_ns: Some(p99_ns), sort: SortedBy::P99, ..request() };
    let advice = asked(three(), &with(16_000));
    assert!(advice.says[0].starts_with("Use pipe: p99 of a round trip 1"), "{:?}", advice.says);
    let why = reason(&advice, "tcp");
    assert!(why.starts_with("p99 2") && why.ends_with("] exceeds 16.0 µs"), "{why}");
    let tight = asked(three(), &with(5_000));
    assert_eq!(tight.answer, Answer::NothingMeets);
    assert_eq!(tight.says[0], "No mechanism here meets it.");
    assert!(tight.says[1].starts_with("Nearest is pipe: p99 "), "{:?}", tight.says);
    let pipe = tight.candidates.iter().find(|of| of.name == "pipe").unwrap();
    let open = asked(three(), &with(pipe.p99.as_ref().unwrap().point.unwrap() as u64 + 1));
    assert_eq!((open.answer, open.candidates[0].fit), (Answer::Open, Fit::Open));
    assert!(reason(&open, "pipe").contains("may exceed"), "{open:?}");
}

#[test]
fn what_spins_is_named_and_ruled_out_where_it_may_not() {
    let spinning = || {
        Builder::new()
            .case(&id("pipe", "spin"), 9, timed(3_000.0, 1.1, 1))
            .case(&id("pipe", "block"), 9, timed(6_000.0, 1.1, 2))
            .skipped(&id("flag", "block"), "flag has no wait `block`; it has spin")
            .skipped(&id("pipe", "epoll"), "pipe has no wait `epoll`; it has block, spin")
    };
    let free = asked(spinning(), &request());
    assert!(free.says[0].starts_with("Use pipe, spinning:"), "{:?}", free.says);
    assert!(free.says[1].starts_with("The best that sleeps: pipe, 6."), "{:?}", free.says);
    let calm = asked(spinning(), &AdviceRequest { spinning: false, ..request() });
    assert!(calm.says[0].starts_with("Use pipe: "), "{:?}", calm.says);
    assert_eq!(reason(&calm, "pipe, spinning"), "spins while it waits");
    assert!(reason(&calm, "flag").contains("no wait"));
    assert_eq!(calm.candidates.len(), 3, "that pipe lacks a wait is no news: {calm:?}");
}

#[test]
fn too_few_rounds_and_invalid_numbers_recommend_nothing() {
    let few =
        asked(Builder::new().case(&id("pipe", "block"), 4, timed(6_000.0, 1.2, 1)), &request());
    assert_eq!(few.answer, Answer::Open);
    assert!(few.says[1].starts_with("Nearest is pipe: "), "{:?}", few.says);
    let mut raw = three().build();
    raw.about.build.slow = vec!["debug assertions".into()];
    let invalid = crate::advice(&raw, &MECHANISMS, &request());
    assert_eq!(invalid.answer, Answer::Invalid);
    assert!(invalid.says[1].starts_with("BUILD_SLOW: "), "{:?}", invalid.says);
}

#[test]
fn with_a_rate_loads_are_sorted_and_what_does_not_carry_it_is_ruled_out() {
    let of = |service: u32| {
        move |round: u32, t: &mut TrialBuilder| {
            let lags: Vec<u32> = (0..1200).map(|i| (i * 7919 + round) % 300).collect();
            t.load(&lags, service);
        }
    };
    let mut raw = Builder::new()
        .case(&id("pipe", "block"), 9, timed(6_000.0, 1.2, 1))
        .case(&load("pipe"), 9, of(4_000))
        .case(&load("tcp"), 9, of(9_000))
        .build();
    let at_rate = AdviceRequest { rate: Some(20_000.into()), sort: SortedBy::P99, ..request() };
    let advice = crate::advice(&raw, &MECHANISMS, &at_rate);
    assert!(advice.says[0].starts_with("Use pipe: p99 of a response 4."), "{:?}", advice.says);
    for trial in raw.trials.iter_mut().filter(|trial| trial.case == 1) {
        let load = trial.load.as_mut().unwrap();
        load.received_ticks = 2 * load.intended_ticks;
    }
    let advice = crate::advice(&raw, &MECHANISMS, &at_rate);
    assert!(advice.says[0].starts_with("Use tcp:"), "{:?}", advice.says);
    assert!(reason(&advice, "pipe").contains("of the offered rate"), "{advice:?}");
}
