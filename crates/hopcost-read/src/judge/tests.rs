//! Every check on machines on which it holds, fails and is undecided.

use crate::judge::Judged;
use crate::judge::words::JudgedPart;
use hopcost_model::{ClaimsPlan, Question, RawRun, Ruling};
use hopcost_stats::rng::Rng;

use crate::testing::{Builder, FUTEX, MECHANISMS, PIPE, PIPE_4K, TCP, TrialBuilder, event, read};

const HOLDS: Ruling = Ruling::Holds;
const FAILS: Ruling = Ruling::Fails;
const OPEN: Ruling = Ruling::Undecided;

const CASES: &str = include_str!("cases.toml");

fn claims(claims: &str) -> ClaimsPlan {
    let text = format!("{CASES}\n{claims}");
    hopcost_plan::parse_claims("d.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    ClaimsPlan::of("d.toml", &text, &[])
}

fn judged(mut raw: RawRun, claims: ClaimsPlan) -> Judged {
    raw.plan.question = Some(Question::Claims(vec![claims]));
    read(&raw).judged.unwrap()
}

fn claim(check: &str) -> ClaimsPlan {
    claims(&format!("[[claim]]\nid = \"1\"\nsentence = \"s\"\ncheck = [{{ {check} }}]"))
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

fn ruled(check: &str, raw: RawRun) -> (Ruling, JudgedPart) {
    let judged = judged(raw, claim(check));
    let claim = &judged.claims[0];
    assert_eq!(claim.verdict, claim.parts[0].verdict, "{check}");
    (claim.verdict.expect(check), claim.parts[0].clone())
}

#[test]
fn each_check_has_machines_on_which_it_holds_fails_and_cannot_be_told() {
    // The check, and on which machines: TCP over pipe, and 4 KiB over 64 bytes of each.
    let (slow, fast) = ((2.5, (2.0, 2.0)), (0.8, (1.0, 1.0)));
    for (test, holds, fails) in [
        ("of = 'tcp', over = 'pipe', about = 2.7", slow, fast),
        ("of = 'tcp', over = 'pipe', from = 2", slow, fast),
        ("of = 'tcp', minus = 'pipe', from = '10us'", slow, fast),
        ("of = 'tcp', from = '20us', to = '40us'", slow, fast),
        ("of = 'tcp', statistic = 'p90', from = '20us'", slow, fast),
        ("of = 'tcp', over = 'pipe', to = 1", fast, slow),
        ("of = 'pipe-4k', over = 'pipe', from = 1.5", slow, fast),
        ("of = 'pipe', statistic = 'cpu', to = '15us'", fast, (2.5, (1.0, 1.0))),
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
    let four = "of = 'futex', statistic = 'system-calls', from = 4, to = 4";
    let mut once = on();
    once.trials.iter_mut().filter(|trial| trial.round > 0).for_each(|trial| trial.counted.clear());
    assert_eq!(ruled(four, once).0, HOLDS, "counted once");
    assert_eq!(ruled(four, on()).0, HOLDS);
    assert_eq!(ruled("of = 'futex', statistic = 'system-calls', from = 4.01", on()).0, FAILS);
    let (verdict, part) = ruled("of = 'pipe', statistic = 'cycles', to = 1000", on());
    assert_eq!((verdict, part.rounds_to_decide), (OPEN, None));
    assert!(part.because.starts_with("cycles could not be counted"), "{}", part.because);
    for (rounds, spread, verdict) in [(16, 0.01, HOLDS), (16, 0.2, FAILS), (3, 0.05, OPEN)] {
        let on = machine(rounds, spread, 2.0, (1.0, 1.0));
        let check = "of = 'pipe', statistic = 'between-runs', to = '5%'";
        assert_eq!(ruled(check, on).0, verdict, "{spread}");
    }
}

#[test]
fn findings_and_failures_are_numbers_too() {
    let mut failed = machine(16, 0.01, 2.0, (1.0, 1.0));
    for trial in failed.trials.iter_mut().filter(|trial| trial.case == 0) {
        trial.error = Some("message 3 arrived a second time".to_owned());
        trial.stamp = None;
        trial.samples.clear();
    }
    assert_eq!(ruled("of = 'pipe', fails = 'a second time'", failed.clone()).0, HOLDS);
    assert_eq!(ruled("of = 'pipe', fails = 'too early'", failed.clone()).0, FAILS);
    assert_eq!(ruled("of = 'tcp', fails = 'a second time'", failed).0, FAILS);
    let on = || machine(16, 0.01, 2.0, (1.0, 1.0));
    assert_eq!(ruled("of = 'pipe', statistic = 'MULTIMODAL', to = 0", on()).0, HOLDS);
    assert_eq!(ruled("of = 'pipe', statistic = 'MULTIMODAL', from = 1", on()).0, FAILS);
    assert_eq!(ruled("of = 'pipe', statistic = 'DRIFT.relative_change', to = 1", on()).0, FAILS);
}

#[test]
fn printed_figures_need_no_machine() {
    for (check, verdict) in [
        ("of = 4.9936, over = 0.0434, from = 114.5, to = 115.5", HOLDS),
        ("of = 21.98, over = 8.04, from = 2.45, to = 2.55", FAILS),
    ] {
        assert_eq!(ruled(check, Builder::new().build()).0, verdict, "{check}");
    }
}

#[test]
fn levels_that_disagree_depend_and_checks_all_have_to_hold() {
    let text = include_str!("levels.toml");
    let judged = judged(machine(16, 0.01, 2.5, (2.0, 0.5)), claims(text));
    let verdicts: Vec<Option<Ruling>> = judged.claims.iter().map(|claim| claim.verdict).collect();
    let depends = Some(Ruling::Depends);
    assert_eq!(verdicts, [depends, Some(FAILS), None, Some(HOLDS)], "{judged:#?}");
    let levels: Vec<&str> =
        judged.claims[0].parts.iter().filter_map(|part| part.level.as_deref()).collect();
    assert_eq!(levels, ["payload=64", "payload=4096"]);
    let because = "tcp took 2.51 × the time of pipe at 64 bytes and 0.628 × at 4 KiB";
    assert_eq!(judged.claims[0].because, because, "{judged:?}");
    let answers: Vec<&str> = judged.questions.iter().map(|asked| asked.answer.as_str()).collect();
    let [levels, mixed, cause, sizes] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(sizes, "tcp takes less than pipe: at 4 KiB; not at 64 bytes.");
    assert_eq!(levels, format!("Here in part: {because}. Because: a cause."));
    assert!(mixed.starts_with("Here in part: pipe took "), "{mixed}");
    assert_eq!(mixed.matches("ipe took").count(), 1, "each number once: {mixed}");
    assert_eq!(cause, "Cannot be tested here: because: a cause.");
}

#[test]
fn rounds_go_to_what_is_open() {
    let text = include_str!("open.toml");
    let looked = |rounds: u32| {
        let mut raw = machine(rounds, 0.08, 2.5, (1.0, 1.0));
        let mut planned = claims(text);
        let names = [("pipe", PIPE), ("tcp", TCP), ("futex", FUTEX)];
        let parsed = hopcost_plan::parse_claims("d.toml", &planned.text()).unwrap();
        for (name, id) in names {
            let selector = parsed.selector(name, &parsed.claims[0]).unwrap();
            planned.cases.insert(selector, vec![id.to_owned()]);
        }
        raw.plan.question = Some(Question::Claims(vec![planned]));
        let look = crate::look(&raw, &MECHANISMS);
        (look.wanted.into_iter().collect::<Vec<u32>>(), look.decided)
    };
    assert_eq!(looked(0), (vec![0, 1, 2], Some((0, 2))), "before the first round: all of both");
    assert_eq!(looked(8), (vec![0, 2], Some((1, 2))), "TCP is decided");
}

#[test]
fn nonsense_in_stored_claims_is_read_without_a_panic() {
    let mut raw = machine(8, 0.1, 2.0, (1.0, 1.0));
    for text in ["", "name = 1", "[[claim]]", CASES] {
        let mut planned = ClaimsPlan::of("", text, &["E9".into()]);
        planned.cases.insert("x".to_owned(), vec!["y".to_owned()]);
        raw.plan.question = Some(Question::Claims(vec![planned]));
        assert_eq!(read(&raw).judged.unwrap().claims, []);
    }
}
