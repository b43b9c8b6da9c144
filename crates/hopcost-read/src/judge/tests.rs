//! Every check on machines on which it holds, fails and cannot be told.

use hopcost_model::plan::{DocketPlan, Question};
use hopcost_model::raw::RawRun;
use hopcost_model::results::{Faster, Judged, JudgedPart, Results, Ruling};
use hopcost_stats::rng::Rng;

use crate::testing::{Builder, FUTEX, MECHANISMS, PIPE, PIPE_4K, TCP, TrialBuilder, event, read};

const HOLDS: Ruling = Ruling::Holds;
const FAILS: Ruling = Ruling::Fails;
const OPEN: Ruling = Ruling::CannotTell;

const CASES: &str = r#"
name = "d"
[case]
pipe = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block"
tcp = "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block"
futex = "roundtrip/futex?payload=0&boundary=process&place=same-cpu&wait=block"
udp = "roundtrip/udp?payload=64&boundary=process&place=same-cpu&wait=block"
pipes = "roundtrip/pipe?payload=64,4KiB&boundary=process&place=same-cpu&wait=block"
send = "stream/tcp-send?payload=2048&fields=8&flows=1&ack=per-message&boundary=process&place=free&wait=block&more=off&nodelay=off"
tcps = "roundtrip/tcp?payload=64,4KiB&boundary=process&place=same-cpu&wait=block"
"#;

fn docket(claims: &str) -> DocketPlan {
    let text = format!("{CASES}\n{claims}");
    hopcost_plan::parse_docket("d.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    DocketPlan::of("d.toml", &text, &[])
}

fn judged(mut raw: RawRun, docket: DocketPlan) -> Judged {
    raw.plan.question = Some(Question::Dockets(vec![docket]));
    read(&raw).judged.unwrap()
}

fn claim(test: &str) -> DocketPlan {
    docket(&format!("[[claim]]\nid = \"1\"\nsentence = \"s\"\n[[claim.check]]\ntest = \"{test}\""))
}

/// Trials of about so many nanoseconds, that differ by this share from round to round.
fn about(ns: f64, spread: f64, seed: u64) -> impl Fn(u32, &mut TrialBuilder) {
    move |round, t| {
        let mut rng = Rng::new(seed * 1000 + u64::from(round));
        let ns = ns * libm::exp(spread * rng.normal());
        t.each(&[ns as u32; 200]);
    }
}

/// A machine on which TCP takes so many times what a pipe does, 4 KiB through the pipe so many
/// times what 64 bytes do, and through TCP so many.
fn machine(rounds: u32, spread: f64, tcp: f64, larger: (f64, f64)) -> RawRun {
    let ns = 10_000.0;
    let tcp_4k = TCP.replace("payload=64", "payload=4096");
    let calls = |round: u32, t: &mut TrialBuilder| {
        about(ns, 0.0, 9)(round, t);
        t.raw.counted = vec![event("system-calls", 400)];
        t.raw.counted_operations = 100;
    };
    Builder::new()
        .case(PIPE, rounds, about(ns, spread, 1))
        .case(TCP, rounds, about(tcp * ns, spread, 2))
        .case(FUTEX, rounds, calls)
        .case(PIPE_4K, rounds, about(larger.0 * ns, spread, 3))
        .case(&tcp_4k, rounds, about(larger.1 * tcp * ns, spread, 4))
        .skipped("roundtrip/udp?payload=64&boundary=process&place=same-cpu&wait=block", "no UDP")
        .build()
}

fn ruled(test: &str, raw: RawRun) -> (Ruling, JudgedPart) {
    let judged = judged(raw, claim(test));
    let claim = &judged.claims[0];
    assert_eq!(claim.verdict, claim.parts[0].verdict, "{test}");
    (claim.verdict.expect(test), claim.parts[0].clone())
}

#[test]
fn each_check_has_machines_on_which_it_holds_fails_and_cannot_be_told() {
    // The check, and on which machines: TCP over pipe, and 4 KiB over 64 bytes of each.
    let (slow, fast) = ((2.5, (2.0, 2.0)), (0.8, (1.0, 1.0)));
    for (test, holds, fails) in [
        ("ratio(tcp, pipe) ~ 2.7 ± 20%", slow, fast),
        ("ratio(tcp, pipe) >= 2", slow, fast),
        ("difference(tcp, pipe) > 10us", slow, fast),
        ("value(tcp) in 20us..40us", slow, fast),
        ("value(tcp.p90) >= 20us", slow, fast),
        ("less(tcp, pipe)", fast, slow),
        ("order(futex, tcp)", slow, fast),
        ("equivalent(tcp, pipe; 30%)", fast, slow),
        ("slope(pipes; payload) > 1ns", slow, fast),
        ("share(mechanism; pipes, tcps) < 80%", slow, fast),
        ("crossover(tcps over pipes; payload) <= 4KiB", fast, slow),
        ("value(pipe.cpu) <= 15us", fast, (2.5, (1.0, 1.0))),
    ] {
        let on = |of: (f64, (f64, f64)), rounds, spread| machine(rounds, spread, of.0, of.1);
        let (verdict, part) = ruled(test, on(holds, 16, 0.01));
        assert_eq!(verdict, HOLDS, "{test}: {part:?}");
        if !test.contains("cpu") {
            let (verdict, part) = ruled(test, on(fails, 16, 0.01));
            assert_eq!(verdict, FAILS, "{test}: {part:?}");
            let (verdict, part) = ruled(test, on(holds, 3, 0.3));
            assert_eq!(verdict, OPEN, "{test}: {part:?}");
            assert!(part.rounds_to_decide.is_some(), "{test}: {part:?}");
        }
    }
}

#[test]
fn counts_are_exact_and_what_was_not_counted_says_why() {
    let on = || machine(16, 0.01, 2.0, (1.0, 1.0));
    let mut once = on();
    once.trials.iter_mut().filter(|trial| trial.round > 0).for_each(|trial| trial.counted.clear());
    assert_eq!(ruled("value(futex.system-calls) in 4..4", once).0, HOLDS, "counted once");
    assert_eq!(ruled("value(futex.system-calls) in 4..4", on()).0, HOLDS);
    assert_eq!(ruled("value(futex.system-calls) > 4", on()).0, FAILS);
    let (verdict, part) = ruled("value(pipe.cycles) < 1k", on());
    assert_eq!((verdict, part.rounds_to_decide), (OPEN, None));
    assert!(part.because.starts_with("cycles could not be counted"), "{}", part.because);
    for (rounds, spread, verdict) in [(16, 0.01, HOLDS), (16, 0.2, FAILS), (3, 0.05, OPEN)] {
        let on = machine(rounds, spread, 2.0, (1.0, 1.0));
        assert_eq!(ruled("value(pipe.between-runs) <= 5%", on).0, verdict, "{spread}");
    }
}

#[test]
fn a_case_that_is_not_here_cannot_be_told_and_does_not_exist() {
    let on = || machine(16, 0.01, 2.0, (1.0, 1.0));
    let (verdict, part) = ruled("ratio(udp, pipe) < 9", on());
    assert_eq!((verdict, part.because.as_str(), part.rounds_to_decide), (OPEN, "no UDP", None));
    assert_eq!(ruled("exists(udp)", on()).0, FAILS);
    assert_eq!(ruled("exists(pipe)", on()).0, HOLDS);
}

#[test]
fn printed_figures_need_no_machine() {
    for (test, verdict) in [
        ("consistent(4.9936 / 0.0434 = 115)", HOLDS),
        ("consistent(21.98 / 8.04 = 2.5)", FAILS),
        ("consistent(440000 / 20000 in 10..30)", HOLDS),
        ("consistent(440000 / 20000 in 10..20)", FAILS),
    ] {
        assert_eq!(ruled(test, Builder::new().build()).0, verdict, "{test}");
    }
}

#[test]
fn levels_and_meanings_that_disagree_depend() {
    let on = || machine(16, 0.01, 2.5, (2.0, 0.5));
    let text = r#"
[[claim]]
id = "levels"
sentence = "TCP is slower"
vary = { payload = ["64", "4KiB"] }
check = [{ test = "ratio(tcp, pipe) > 1" }]
[[claim]]
id = "meanings"
sentence = "A pipe is fast"
check = [
  { test = "value(pipe) < 20us", meaning = "under 20 µs" },
  { test = "value(pipe) < 5us", meaning = "under 5 µs" },
]
[[claim]]
id = "both"
sentence = "both"
check = [{ test = "value(pipe) < 20us" }, { test = "value(pipe) < 5us" }, { test = "value(pipe)" }]
[[claim]]
id = "cause"
sentence = "because"
not-checkable = [{ part = "because", reason = "a cause" }]
[[claim]]
id = "one meaning is not here"
sentence = "it takes 10 µs, or some thousand cycles, and 4.0 is 2 × 2"
vary = { flows = ["1", "2"] }
check = [
  { test = "value(pipe) ~ 10us ± 20%", meaning = "time" },
  { test = "value(pipe.cycles) < 1k", meaning = "cycles, which are not counted here" },
  { test = "consistent(4.0 / 2 = 2)" },
]
[[claim]]
id = "size"
sentence = "at most 5 µs, and less than TCP from 4 KiB on"
check = [{ test = "value(pipe) < 5us" }, { test = "crossover(pipes over tcps; payload) <= 4096" }]
[[question]]
id = "E1"
asks = "Is it?"
claims = ["levels", "cause"]
[[question]]
id = "E2"
asks = "One and the other?"
claims = ["both", "one meaning is not here"]
[[question]]
id = "E3"
asks = "Why?"
claims = ["cause"]
[[question]]
id = "E4"
asks = "From which size on?"
claims = ["size"]
"#;
    let judged = judged(on(), docket(text));
    let verdicts: Vec<Option<Ruling>> = judged.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(
        verdicts,
        [Some(Ruling::Depends), Some(Ruling::Depends), Some(FAILS), None, Some(HOLDS), Some(FAILS)],
        "{:#?}",
        judged.claims[0]
    );
    let levels: Vec<&str> =
        judged.claims[0].parts.iter().filter_map(|part| part.level.as_deref()).collect();
    assert_eq!(levels, ["payload=64", "payload=4KiB"]);
    assert!(judged.claims[0].because.contains("payload=64"), "{}", judged.claims[0].because);
    let parts = &judged.claims[4].parts;
    assert!(parts.len() == 3 && parts.iter().all(|part| part.level.is_none()), "{parts:#?}");
    let answers: Vec<&str> = judged.questions.iter().map(|asked| asked.answer.as_str()).collect();
    let [levels, mixed, untold, size] = answers[..] else { panic!("{answers:?}") };
    assert!(levels.starts_with("Supported in part. Claim levels depends: "), "{levels}");
    assert!(mixed.starts_with("Supported in part. Claim both fails: "), "{mixed}");
    assert!(
        untold.starts_with("Cannot be tested here. Claim cause is not checkable: "),
        "{untold}"
    );
    let told = "Not supported. Measured: the payload from which on pipes takes less than tcps ";
    assert!(size.starts_with(told) && size.contains(" Claim size fails: pipe is "), "{size}");
}

#[test]
fn a_stall_is_explained_by_its_timer() {
    let id = |nodelay: &str| {
        format!(
            "stream/tcp-send?payload=2048&fields=8&flows=1&ack=per-message&boundary=process\
             &place=free&wait=block&more=off&nodelay={nodelay}"
        )
    };
    let of = |ns: u32| {
        move |round: u32, t: &mut TrialBuilder| {
            let ns = ns + round;
            t.stream(1, 100, 2048, &[ns; 100], 100 * u64::from(ns));
        }
    };
    let raw = Builder::new().case(&id("off"), 16, of(40_900_000)).case(&id("on"), 16, of(31_000));
    let one = claim("value(send) ~ 40.9ms ± 5%");
    let judged = judged(raw.build(), one);
    let because = &judged.claims[0].because;
    assert_eq!(judged.claims[0].verdict, Some(HOLDS), "{because}");
    let want = "40.9 ms is 1.02 × the timer of the delayed acknowledgement (40 ms); with \
                TCP_NODELAY the same takes 31.0 µs";
    assert!(because.ends_with(want), "{because}");
}

/// What a run of this suite says.
fn of_run(suite: &str, builder: Builder) -> Results {
    let mut raw = builder.build();
    raw.plan.suite = suite.to_owned();
    read(&raw)
}

#[test]
fn pairs_are_told_in_every_runtime_that_has_both() {
    let of = |id: &str, runtime: &str| {
        let and = if id.contains('?') { '&' } else { '?' };
        format!("{id}{and}runtime={runtime}")
    };
    let (lock, send) = ("call/mutex-uncontended", "call/udp-send?payload=64");
    let condvar = "roundtrip/condvar?payload=64&boundary=thread&place=free&wait=block";
    let udp = "roundtrip/udp?payload=64&boundary=thread&place=free&wait=block&timeout=200ms";
    let all = || {
        Builder::new()
            .case(&of(lock, "python"), 8, |_, t| t.batch(100, &[5000; 50]))
            .case(&of(send, "python"), 8, |_, t| t.batch(10, &[60_000; 50]))
            .case(lock, 8, |_, t| t.batch(100, &[2000; 50]))
            .case(condvar, 8, |round, t| t.each(&[20_000 << round; 50]))
            .case(udp, 8, |round, t| t.each(&[30_000 << round; 50]))
            // Another size is another thing.
            .case(&condvar.replace("64", "1024"), 8, |_, t| t.each(&[9000; 50]))
    };
    let results = of_run("runtimes", all());
    let told: Vec<(&str, Option<&str>, f64)> = (results.checks.iter())
        .filter(|claim| claim.verdict.is_none())
        .flat_map(|claim| claim.parts.iter().map(move |part| (claim, part)))
        .map(|(claim, part)| {
            let point = part.value.as_ref().and_then(|value| value.estimate.point).unwrap();
            (claim.id.as_str(), part.level.as_deref(), (point * 1000.0).round() / 1000.0)
        })
        .collect();
    let first = "uncontended lock against a datagram to nobody";
    let second = "hand-off against round trip, 64 bytes";
    assert_eq!(told, [(first, None, 120.0), (second, None, 1.5)]);
    // Of the docket, what the same cases tell.
    let locks = results.checks.iter().find(|claim| claim.id == "001-01").expect("a lock in Python");
    assert_eq!(locks.verdict, Some(FAILS), "{locks:#?}");
    assert_eq!(of_run("quick", all()).checks, []);
}

#[test]
fn the_first_overtakes_where_it_stays_faster() {
    let id = |mechanism: &str, field: u32, flows: u32, nodelay: &str| {
        let more = if mechanism == "tcp-send" { "&more=off" } else { "" };
        format!(
            "stream/{mechanism}?payload={}&fields=8&flows={flows}&ack=per-message&boundary=process\
             &place=free&wait=block{more}&nodelay={nodelay}",
            8 * field
        )
    };
    let run = |multiples: &[(u32, u32, f64)]| {
        let stream = |ns: f64| {
            move |round: u32, t: &mut TrialBuilder| {
                let ns = ns as u32 + round % 3;
                t.stream(1, 100, 2048, &[ns; 100], 100 * u64::from(ns));
            }
        };
        let with = |builder: Builder, (field, flows, multiple): &(u32, u32, f64)| {
            let first = id("tcp-send", *field, *flows, "on");
            let second = id("tcp-sendmsg", *field, *flows, "off");
            builder.case(&first, 8, stream(20_000.0)).case(&second, 8, stream(20_000.0 * multiple))
        };
        of_run("copies", multiples.iter().fold(Builder::new(), with))
    };
    let crossed = |results: &Results| {
        let told = results.checks.iter().find(|claim| claim.id == "A2 against A1 NODELAY");
        told.map_or(Vec::new(), |claim| claim.parts.clone())
    };
    let at = [
        (256, 1, 0.5),
        (1024, 1, 1.5),
        (4096, 1, 0.8),
        (65536, 1, 0.7),
        (256, 2, 2.0),
        (1024, 2, 2.0),
    ];
    let results = run(&at);
    let found = crossed(&results);
    let from = |part: &JudgedPart| part.value.as_ref().and_then(|value| value.estimate.high);
    let of: Vec<(Option<&str>, Option<f64>)> =
        found.iter().map(|part| (part.level.as_deref(), from(part))).collect();
    assert_eq!(of, [(Some("flows=1"), Some(4096.0)), (Some("flows=2"), None)]);
    let faster: Vec<Faster> = found[0].points.iter().map(|point| point.faster).collect();
    assert_eq!(faster, [Faster::Second, Faster::First, Faster::Second, Faster::Second]);
    assert!((found[0].points[3].ratio.as_ref().unwrap().point - 0.7).abs() < 1e-3);
    assert_eq!(crossed(&run(&at[..1])), [], "one size");
}

#[test]
fn rounds_go_to_what_is_open() {
    let text = r#"
[[claim]]
id = "clear"
sentence = "s"
check = [{ test = "ratio(tcp, futex) > 1.2" }]
[[claim]]
id = "close"
sentence = "s"
check = [{ test = "ratio(pipe, futex) < 1.05" }]
"#;
    let looked = |rounds: u32| {
        let mut raw = machine(rounds, 0.08, 2.5, (1.0, 1.0));
        let mut planned = docket(text);
        let names = [("pipe", PIPE), ("tcp", TCP), ("futex", FUTEX)];
        let docket = hopcost_plan::parse_docket("d.toml", &planned.text()).unwrap();
        for (name, id) in names {
            let selector = docket.selector(name, &Default::default()).unwrap();
            planned.cases.insert(selector, vec![id.to_owned()]);
        }
        raw.plan.question = Some(Question::Dockets(vec![planned]));
        let look = crate::look(&raw, &MECHANISMS);
        (look.wanted.into_iter().collect::<Vec<u32>>(), look.decided)
    };
    assert_eq!(looked(0), (vec![0, 1, 2], Some((0, 2))), "before the first round: all of both");
    assert_eq!(looked(8), (vec![0, 2], Some((1, 2))), "TCP is decided");
}

#[test]
fn nonsense_in_a_stored_docket_is_read_without_a_panic() {
    let mut raw = machine(8, 0.1, 2.0, (1.0, 1.0));
    for text in ["", "name = 1", "[[claim]]", CASES] {
        let mut planned = DocketPlan::of("", text, &["E9".into()]);
        planned.cases.insert("x".to_owned(), vec!["y".to_owned()]);
        raw.plan.question = Some(Question::Dockets(vec![planned]));
        assert_eq!(read(&raw).judged.unwrap().claims, []);
    }
}
