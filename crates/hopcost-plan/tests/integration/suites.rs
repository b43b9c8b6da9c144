//! Suite files: the shipped ones, the documented one, and broken ones.

use crate::common::*;
use hopcost_model::{Placement, Plan};
use hopcost_plan::{Ask, Machine, SHIPPED, TRIAL_DEFAULT, expected, parse_suite, trial_ns};

#[test]
fn shipped_suites_say_what_they_are_for_and_work_on_one_cpu() {
    for (name, text) in SHIPPED {
        let suite = parse_suite(name, text).unwrap();
        assert_eq!(suite.name, *name);
        assert!(!suite.about.is_empty());
        let plan = planned_on(&one(), &shipped(name)).unwrap();
        let (live, skips) = (plan.live().count(), skips(&plan).into_iter().flatten());
        let skips: Vec<&str> = skips.collect();
        let needs_two = skips.contains(&"needs two CPUs; this process may use only CPU 3");
        match *name {
            "pair" => assert!(
                skips.iter().all(|skip| skip.starts_with("boundary=host needs another host"))
            ),
            // One CPU is enough for these, and the other runtimes are not here.
            "copies" => assert_eq!(skips.len(), 0),
            "runtimes" => assert!(live > 5 && !needs_two),
            "middleware" => assert!(live == 3 && needs_two, "no library is here"),
            // A CPU that idles while another notifies it takes two, and so does a sender that spins.
            "wakeup" | "wakeup-document" | "load" => assert_eq!(live, 0),
            _ => assert!(live > 5 && needs_two, "{name}"),
        }
    }
}

/// The plan of a suite on a machine that lacks nothing.
fn whole(name: &str) -> Plan {
    let plan = planned(&shipped(name)).unwrap();
    let skips = skips(&plan).into_iter().flatten();
    let others: Vec<&str> =
        skips.filter(|skip| !skip.starts_with("posix-mq is not available")).collect();
    assert!(others.is_empty() && plan.baseline.is_some(), "{name}: {others:?}");
    plan
}

/// As timed where a round trip between two quiet CPUs takes 72 µs.
#[test]
fn every_suite_takes_as_long_as_it_says() {
    for (name, takes_s) in [
        ("ladder", 65.5),
        ("quick", 10.1),
        ("threads-udp-websocket", 240.0),
        ("microkernel", 60.9),
        ("wakeup", 120.9),
        ("copies", 178.1),
        ("load", 40.6),
        ("wakeup-document", 383.4),
        ("wakeup-full", 1000.1),
    ] {
        let plan = whole(name);
        let says_s = expected(&plan, &[], Some(72_000)).ns as f64 / 1e9;
        assert!(plan.rounds >= 6, "{name}");
        assert!((says_s / takes_s - 1.0f64).abs() < 0.15, "{name}: {says_s}");
    }
    for name in ["ladder", "quick"] {
        assert_eq!(whole(name).trial, TRIAL_DEFAULT, "{name} repeats the defaults for its reader");
    }
    assert_eq!(whole("quick").live().count(), 12);
}

#[test]
fn a_pair_of_hosts_needs_the_other_host() {
    let far = Machine { peer_cpu: Some(7), ..two() };
    let plan = planned_on(&far, &shipped("pair")).unwrap();
    assert!(plan.live().count() == plan.cases.len() && plan.rounds >= 6, "{:?}", plan.cases);
    let says_s = expected(&plan, &[], Some(72_000)).ns as f64 / 1e9;
    assert!((says_s / 9.7 - 1.0).abs() < 0.15, "{says_s}");
    assert_eq!(plan.cpus_for(Some(Placement::Pinned)).1, Some(7));
    assert!(!plan.local_cpus().contains(&7), "it is no CPU of this host");
    let plan = planned_on(&far, &Ask { cpus: vec![1, 5], ..shipped("pair") }).unwrap();
    assert_eq!(plan.cpus_for(Some(Placement::Pinned)), (Some(1), Some(5)));
    for (machine, selector, part) in [
        (&far, "roundtrip/tcp", "boundary=host&place=pinned"),
        (&two(), "roundtrip/tcp", "boundary=process"),
        (&far, "roundtrip/pipe", "boundary=process"),
        (&far, "wake/tcp?boundary=host", "one-way times refused"),
        (
            &far,
            "roundtrip/tcp?boundary=host&place=same-cpu",
            "place=same-cpu is of two CPUs of one host",
        ),
        (
            &far,
            "roundtrip/tcp?boundary=process&place=pinned",
            "place=pinned is a CPU of each of two hosts",
        ),
        (&far, "roundtrip/pipe?boundary=host", "pipe has no boundary `host`"),
    ] {
        let first = &planned_on(machine, &ask(&[selector])).unwrap().cases[0];
        let said = first.skip.clone().unwrap_or_else(|| first.id());
        assert!(said.contains(part), "{selector}: {said}");
    }
}

#[test]
fn the_full_wake_up_suite_has_every_case_of_the_others() {
    let full = whole("wakeup-full");
    let known = ids(&full);
    for name in ["wakeup", "wakeup-document"] {
        assert!(ids(&whole(name)).iter().all(|id| known.contains(id)), "{name}");
    }
}

#[test]
fn the_documented_example_parses() {
    let page = include_str!("../../../../docs/suites.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let plan = planned(&file(example)).unwrap();
    assert!(plan.cases.len() > 20 && plan.live().count() == plan.cases.len(), "{plan:?}");
    assert!(plan.trial == TRIAL_DEFAULT && plan.baseline.is_some());
}

#[test]
fn the_command_line_chooses_and_replaces() {
    let chosen = |selectors: &[&str]| Ask { selectors: strings(selectors), ..shipped("ladder") };
    let plan = planned(&chosen(&["unix-*"])).unwrap();
    assert_eq!((plan.cases.len(), plan.budget_ns), (6, Some(65 * SECOND)));
    assert_eq!(plan.baseline, None, "it was not chosen");
    assert_eq!(planned(&chosen(&["call/*", "null"])).unwrap().cases.len(), 10);
    let plan = planned(&on([("place", "cross")], shipped("ladder"))).unwrap();
    assert_eq!(plan.cases.len(), 10 + 21 + 2, "calls have no placement and stay");
    let plan = planned(&on([("payload", "64,4KiB")], shipped("ladder"))).unwrap();
    assert!(plan.cases.len() > 53);
    assert_eq!((plan.rounds, plan.budget_ns), (12, None), "the budget was for 54 cases");
    let plan = planned(&chosen(&["pipe?payload=1,2", "call/syscall"])).unwrap();
    assert_eq!((plan.cases.len(), plan.suite.as_str()), (2 * 2 + 1, "ladder"));
}

#[test]
fn rounds_and_budget_of_the_command_line_replace_both() {
    let base = shipped("quick");
    let of = |ask: &Ask| planned(ask).map(|plan| (plan.rounds, plan.budget_ns)).unwrap();
    assert_eq!(of(&base), (9, Some(11 * SECOND)));
    assert_eq!(of(&Ask { rounds: Some(20), ..base.clone() }), (20, None));
    let plan = planned(&base).unwrap();
    let round: u64 = plan.live_cases().map(|case| trial_ns(&TRIAL_DEFAULT, case, &[])).sum();
    let budget_ns = Some(60 * SECOND);
    let rounds = (59 * SECOND / round) as u32;
    assert_eq!(of(&Ask { budget_ns, ..base.clone() }), (rounds, budget_ns));
    let measured = planned(&Ask { measure_ns: Some(SECOND), ..base }).unwrap();
    assert_eq!(measured.trial.measure_ns, SECOND);
    assert!(measured.trial.measure_max_ns >= SECOND && measured.trial.deadline_ms > 20_000);
}

const HEAD: &str = "name = \"x\"\n";

#[test]
fn every_mistake_in_a_suite_has_its_place() {
    answers("suites.txt", |text| error(&file(text)));
    for (text, want) in [
        (String::new(), "my.toml:1:1: missing field `name`"),
        ("\u{0}".to_owned(), "my.toml:1:1: control character U+0000; remove it"),
        (format!("a = {}", "[".repeat(100_000)), "not TOML"),
        ("x".repeat(10_000_000), "my.toml:1:1: longer than the 1048576 bytes"),
    ] {
        let got = error(&file(&text));
        assert!(got.contains(want), "{got}");
    }
}

#[test]
fn a_megabyte_of_lists_ends_early() {
    let sizes: Vec<String> = (1..=80_000).map(|n| n.to_string()).collect();
    let list = sizes.join(",");
    for cases in [
        format!("select = [{}]", "\"*\",".repeat(200_000)),
        format!("select = [{}]\npayload = [{list}]", "\"*\",".repeat(50_000)),
        format!("select = [{}]\npayload = [{list}]", "\"pipe\",".repeat(50_000)),
    ] {
        let got = error(&file(&format!("{HEAD}[[cases]]\n{cases}")));
        assert!(got.contains("at most"), "{got}");
    }
}

#[test]
fn a_file_name_cannot_break_the_line() {
    let error = parse_suite("a\nb\u{1b}.toml", "").unwrap_err();
    assert!(one_line(error).starts_with("a b .toml:1:1: "));
}
