use hopcost_model::advise::{AdviceRequest, Objective, Permission};
use hopcost_model::case::Boundary;
use hopcost_model::mechanism::Senders;
use hopcost_model::plan::Question;
use hopcost_model::results::{Advice, Answer, Basis, Estimate, Standing, Statistic};
use hopcost_stats::rng::Rng;

use crate::testing::{Builder, MECHANISMS, TrialBuilder};

fn request() -> AdviceRequest {
    AdviceRequest {
        payload_bytes: 64,
        rate: None,
        senders: 1,
        p99_ns: None,
        boundary: Boundary::Process,
        placement: None,
        runtimes: "rust".to_owned(),
        spinning: Permission::Allowed,
        loss: Permission::RuledOut,
        cpu_budget: None,
        objective: Objective::P50,
    }
}

fn id(mechanism: &str, wait: &str) -> String {
    format!("roundtrip/{mechanism}?payload=64&boundary=process&place=same-llc&wait={wait}")
}

fn load(mechanism: &str) -> String {
    id(mechanism, "block").replace("roundtrip", "load").replace("64&", "64&rate=20000&")
}

/// Operations about so long, 3 % of them `tail` times as long, spread by 3 % from trial to trial;
/// of a seed.
fn about(ns: f64, tail: f64, seed: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    let trial = libm::exp(0.03 * rng.normal());
    let mut one = || {
        let tail = if rng.uniform() < 0.03 { tail } else { 1.0 };
        (ns * tail * trial * libm::exp(0.05 * rng.normal())) as u32
    };
    (0..1200).map(|_| one()).collect()
}

fn timed(ns: f64, tail: f64, salt: u64) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| t.each(&about(ns, tail, 1000 * salt + u64::from(round)))
}

/// The same whose ends take so much CPU time of each message.
fn frugal(ns: f64, salt: u64, cpu_ns: u64) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| {
        timed(ns, 1.2, salt)(round, t);
        t.raw.cpu_ns = 2 * cpu_ns * t.raw.operations;
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

fn reason<'a>(of: &'a [hopcost_model::results::Excluded], name: &str) -> &'a str {
    of.iter().find(|of| of.name == name).map_or("", |of| &of.reason)
}

#[test]
fn the_fastest_that_meets_the_request_is_recommended_and_the_next_says_what_it_costs() {
    let advice = asked(three(), &request());
    assert_eq!((advice.answer, advice.basis), (Answer::Recommended, Basis::ClosedLoop));
    assert!(advice.says.starts_with("Use pipe: p50 of a round trip 6."), "{}", advice.says);
    let [pipe, tcp] = &advice.ranked[..] else { panic!("{advice:?}") };
    assert_eq!((pipe.standing, tcp.standing), (Standing::First, Standing::Worse));
    let regret = tcp.regret.unwrap();
    assert!((regret.point / 6_000.0 - 1.0).abs() < 0.1, "{regret:?}");
    assert!(regret.low.unwrap() > 4_500.0 && regret.high.unwrap() < 7_800.0, "{regret:?}");
    assert!(tcp.says.contains("µs worse at p50 than pipe, takes"), "{}", tcp.says);
    assert!(reason(&advice.ruled_out, "udp").contains("may be lost"), "{advice:?}");
    let lossy = AdviceRequest { loss: Permission::Allowed, ..request() };
    assert!(asked(three(), &lossy).says.starts_with("Use udp:"));
}

#[test]
fn of_equals_the_one_that_takes_less_cpu_time_is_recommended_and_then_the_one_that_needs_less() {
    let equal = |cpu: u64| {
        Builder::new().case(&id("futex", "block"), 12, frugal(6_000.0, 1, cpu)).case(
            &id("pipe", "block"),
            12,
            frugal(6_060.0, 2, 2_000),
        )
    };
    let advice = asked(equal(1_000), &request());
    assert!(advice.says.starts_with("Use futex:"), "{}", advice.says);
    let pipe = &advice.ranked[1];
    assert_eq!(pipe.standing, Standing::AsGood);
    assert!(pipe.says.contains("does not matter, takes 1.00 µs of CPU time"), "{}", pipe.says);
    // As frugal, but it needs shared memory.
    let advice = asked(equal(2_000), &request());
    assert!(advice.says.starts_with("Use pipe:"), "{}", advice.says);
    assert!(advice.remarks[0].contains("not told apart: futex"), "{:?}", advice.remarks);
    // What is faster by more than matters is not given up for CPU time.
    let fast = Builder::new().case(&id("futex", "block"), 12, frugal(5_000.0, 1, 9_000)).case(
        &id("pipe", "block"),
        12,
        frugal(6_000.0, 2, 1_000),
    );
    assert!(asked(fast, &request()).says.starts_with("Use futex:"));
}

#[test]
fn a_limit_rules_out_what_surely_misses_it_and_leaves_open_what_may() {
    // Their 99th percentiles are about 11, 13 and 22 µs.
    let with = |p99_ns: u64| AdviceRequest {
        p99_ns: Some(p99_ns),
        objective: Objective::P99,
        ..request()
    };
    let advice = asked(three(), &with(16_000));
    assert_eq!(advice.answer, Answer::Recommended);
    assert!(advice.says.starts_with("Use pipe: p99 of a round trip 1"), "{}", advice.says);
    let kinds: Vec<&str> = advice.ruled_out.iter().map(|of| of.kind.as_str()).collect();
    assert_eq!(kinds, ["p99 > 16.0 µs", "messages may be lost"]);
    let why = reason(&advice.ruled_out, "tcp");
    assert!(why.starts_with("p99 2") && why.ends_with("] > 16.0 µs"), "{why}");
    let tight = asked(three(), &with(5_000));
    assert_eq!((tight.answer, tight.ranked.len()), (Answer::NothingMeets, 2));
    assert!(tight.says.contains("here meets it; nearest is pipe: p99"), "{}", tight.says);
    let p99_ns = tight.ranked[0].p99.clone().unwrap().point.unwrap() as u64;
    let open = asked(three(), &with(p99_ns + 1));
    assert_eq!(open.answer, Answer::Open, "{}", open.says);
    let neither = AdviceRequest { p99_ns: Some(1_000_000), ..with(0) };
    assert!(asked(three(), &neither).ruled_out.iter().all(|of| of.name == "udp"));
}

#[test]
fn what_spins_is_ruled_out_by_a_budget_and_by_a_wish() {
    let spinning = || {
        Builder::new()
            .case(&id("pipe", "spin"), 9, timed(3_000.0, 1.1, 1))
            .case(&id("pipe", "block"), 9, frugal(6_000.0, 2, 2_000))
            .skipped(&id("flag", "block"), "flag has no wait `block`; it has spin")
            .skipped(&id("pipe", "epoll"), "pipe has no wait `epoll`; it has block, spin")
    };
    assert!(asked(spinning(), &request()).says.starts_with("Use pipe, spinning:"));
    let frugal = AdviceRequest { rate: Some(20_000), cpu_budget: Some(0.2), ..request() };
    let advice = asked(spinning(), &frugal);
    assert!(advice.says.starts_with("Use pipe: ") && advice.says.contains("0.04 CPU"));
    assert_eq!(reason(&advice.ruled_out, "pipe, spinning"), "spins: 1.0 CPU > 0.2");
    assert!(reason(&advice.ruled_out, "flag").contains("no wait"), "{advice:?}");
    assert_eq!(advice.ruled_out.len(), 2, "that pipe lacks a wait is no news");
    let calm = AdviceRequest { spinning: Permission::RuledOut, ..request() };
    assert!(asked(spinning(), &calm).says.starts_with("Use pipe: "));
    let poor = AdviceRequest { cpu_budget: Some(0.03), ..frugal };
    let nothing = asked(spinning(), &poor);
    assert_eq!((nothing.answer, nothing.ranked.len()), (Answer::NothingMeets, 0));
    assert_eq!(reason(&nothing.ruled_out, "pipe"), "0.04 CPU > 0.03");
}

#[test]
fn a_few_rounds_recommend_nothing() {
    let few = Builder::new().case(&id("pipe", "block"), 4, timed(6_000.0, 1.2, 1)).case(
        &id("tcp", "block"),
        4,
        timed(9_000.0, 1.2, 2),
    );
    let advice = asked(few, &request());
    assert_eq!(advice.answer, Answer::Open);
    assert!(
        advice.says.contains("too few rounds: pipe so far")
            && advice.says.contains("(4 trials; an interval needs 6)")
    );
}

#[test]
fn a_p99_of_too_few_samples_has_no_interval_and_neither_meets_a_limit_nor_misses_it() {
    // As a class of two cases whose yardstick was disturbed gave it: up to ten times the largest sample.
    let with = |rounds: u32, p99_ns: u64| {
        let asked = AdviceRequest { p99_ns: Some(p99_ns), objective: Objective::P99, ..request() };
        let raw = Builder::new().case(&id("pipe", "block"), rounds, timed(6_000.0, 1.2, 1)).build();
        let mut results = crate::read(&raw, &MECHANISMS);
        let p99 = results.results[0].estimates.as_mut().unwrap().get_mut(Statistic::P99).unwrap();
        if rounds == 6 {
            (p99.low, p99.high) = (Some(500.0), Some(80_000.0));
        }
        super::of(&raw.plan, &results, &MECHANISMS, &asked)
    };
    for limit in [1_000, 100_000] {
        let six = with(6, limit);
        assert_eq!(six.answer, Answer::Open, "{limit}: {}", six.says);
        assert!(six.says.contains("(6 trials: too few for an interval)"), "{}", six.says);
        let p99 = six.ranked[0].p99.as_ref().unwrap();
        assert!((p99.low, p99.high) == (None, None) && p99.insufficient.is_some(), "{p99:?}");
        assert_eq!(with(4, limit).answer, Answer::Open, "{limit}");
    }
    assert_eq!(with(40, 100_000).answer, Answer::Recommended);
}

#[test]
fn an_invalid_number_recommends_nothing() {
    let mut raw = three().build();
    raw.about.build.slow = vec!["debug assertions".into()];
    let advice = crate::advice(&raw, &MECHANISMS, &request());
    assert_eq!((advice.answer, advice.ranked.len()), (Answer::Invalid, 0));
    assert!(advice.says.contains("invalid: BUILD_SLOW") && advice.says.contains("cargo build"));
}

/// Loads of two mechanisms, whose sender is late by itself by so much; slow answers late.
fn loads(late_ticks: u64) -> Builder {
    let of = |service: u32| {
        move |round: u32, t: &mut TrialBuilder| {
            let lags: Vec<u32> = (0..1200).map(|i| (i * 7919 + round) % 300).collect();
            t.load(&lags, service);
            t.raw.load.as_mut().unwrap().generator_lag_p99_ticks = late_ticks;
        }
    };
    Builder::new()
        .case(&id("pipe", "block"), 9, timed(6_000.0, 1.2, 1))
        .case(&id("tcp", "block"), 9, timed(5_000.0, 1.2, 2))
        .case(&load("pipe"), 9, of(4_000))
        .case(&load("tcp"), 9, of(9_000))
}

#[test]
fn with_a_rate_loads_are_ranked_and_where_none_is_faithful_round_trips() {
    let asked_at = AdviceRequest { rate: Some(20_000), objective: Objective::P99, ..request() };
    let advice = asked(loads(30), &asked_at);
    assert_eq!((advice.answer, advice.basis), (Answer::Recommended, Basis::OpenLoop));
    assert!(advice.says.starts_with("Use pipe: p99 of a response 4."), "{}", advice.says);
    // 1000 ns are more than a tenth of the one response and of the other: pipe may be better.
    let late = asked(loads(1_000), &asked_at);
    assert_eq!((late.answer, late.basis), (Answer::Recommended, Basis::ClosedLoop));
    assert!(late.says.starts_with("Use tcp: p99 of a round trip"), "{}", late.says);
    assert!(late.remarks[0].contains("no faithful load for 2 of 2"), "{:?}", late.remarks);
    // What spins for less than the 50 µs between two messages sleeps then, unlike in a round trip.
    let spins = |ns: u32| {
        let id = format!("{}&spin={ns}", id("tcp", "spin-then-block"));
        asked(loads(1_000).case(&id, 9, timed(1_000.0, 1.2, 3)), &asked_at)
    };
    let short = spins(20_000);
    assert!(short.says.starts_with("Use tcp: p99 of a round trip"), "{}", short.says);
    let why = reason(&short.undecided, "tcp, wait=spin-then-block");
    assert!(why.starts_with("it spins for 20.0 µs and then sleeps"), "{short:?}");
    assert!(spins(60_000).says.starts_with("Use tcp, wait=spin-then-block"), "{short:?}");
    // Of one alone, which is slower by round trips too.
    let one = asked(loads(600), &asked_at);
    assert_eq!(one.basis, Basis::OpenLoop, "{:?}", one.remarks);
    assert!(one.says.starts_with("Use tcp:"), "{}", one.says);
    assert!(reason(&one.undecided, "pipe").starts_with("GENERATOR_LATE"), "{one:?}");
}

#[test]
fn what_does_not_carry_the_rate_is_ruled_out() {
    let mut raw = loads(30).build();
    for trial in raw.trials.iter_mut().filter(|trial| trial.case == 2) {
        let load = trial.load.as_mut().unwrap();
        load.received_ticks = 2 * load.intended_ticks;
    }
    let asked_at = AdviceRequest { rate: Some(20_000), objective: Objective::P99, ..request() };
    let advice = crate::advice(&raw, &MECHANISMS, &asked_at);
    assert!(advice.says.starts_with("Use tcp:"), "{}", advice.says);
    assert!(reason(&advice.ruled_out, "pipe").contains("of the offered rate"), "{advice:?}");
}

#[test]
fn further_rounds_are_for_what_may_still_be_the_best() {
    let wanted = |rounds: u32, near_ns: f64| {
        let mut raw = Builder::new()
            .case(&id("tcp", "block"), rounds, timed(12_000.0, 1.2, 1))
            .case(&id("pipe", "block"), rounds, timed(6_000.0, 1.2, 2))
            .case(&id("futex", "block"), rounds, timed(near_ns, 1.2, 3))
            .case(&id("udp", "block"), rounds, timed(5_000.0, 1.2, 4))
            .build();
        raw.plan.question = Some(Question::Advice(request()));
        crate::look(&raw, &MECHANISMS).wanted.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(wanted(0, 6_300.0), [0, 1, 2], "udp is ruled out by itself");
    assert_eq!(wanted(3, 6_300.0), [1, 2], "tcp is hopeless");
    assert_eq!(wanted(9, 6_300.0), [1, 2]);
    assert!(wanted(40, 6_000.0).is_empty(), "equal, as far as it matters");
    assert!(wanted(12, 7_500.0).is_empty(), "worse");
}

#[test]
fn ends_of_an_interval_have_their_unit_where_it_is_not_that_of_the_value() {
    let with = |low: f64, point: f64, high: f64| {
        let exact = Estimate::exact(point, 9, String::new());
        super::words::interval(&Estimate { low: Some(low), high: Some(high), ..exact })
    };
    assert_eq!(with(11_800.0, 12_100.0, 12_900.0), "12.1 µs [11.8, 12.9]");
    assert_eq!(with(980_000.0, 1_020_000.0, 1_100_000.0), "1.02 ms [980 µs, 1.10 ms]");
    assert_eq!(with(31_700.0, 3e6, 218e6), "3.00 ms [31.7 µs, 218 ms]");
    assert_eq!(with(9e8, 1.5e9, 2e9), "1.50 s [900 ms, 2.00 s]");
}

#[test]
fn of_several_senders_only_what_several_send_over_is_ranked() {
    let four = |id: &str| format!("{id}&senders=4");
    let of = |service: u32| move |_: u32, t: &mut TrialBuilder| t.load(&[100; 1200], service);
    let raw = Builder::new()
        .case(&id("pipe", "block"), 9, timed(6_000.0, 1.2, 1))
        .case(&id("tcp", "block"), 9, timed(3_000.0, 1.2, 2))
        .case(&load("pipe"), 9, of(2_000))
        .case(&four(&load("pipe")), 9, of(4_000))
        .build();
    let several = Senders::Several { share: "the pipe", whole_bytes: 4096 };
    let mut mechanisms = MECHANISMS.clone();
    let pipe = mechanisms.iter_mut().find(|known| known.name == "pipe").unwrap();
    pipe.here.senders = several;
    let asked =
        AdviceRequest { rate: Some(20_000), senders: 4, objective: Objective::P99, ..request() };
    let advice = crate::advice(&raw, &mechanisms, &asked);
    assert!(advice.says.starts_with("Use pipe: p99 of a response 4.1"), "{}", advice.says);
    assert!(advice.ranked[0].case.ends_with("senders=4"), "{advice:?}");
    assert!(reason(&advice.ruled_out, "tcp").starts_with("has one sender: "), "{advice:?}");
    let one = crate::advice(&raw, &mechanisms, &AdviceRequest { senders: 1, ..asked });
    assert!(one.says.starts_with("Use pipe: p99 of a response 2.1"), "{}", one.says);
}
