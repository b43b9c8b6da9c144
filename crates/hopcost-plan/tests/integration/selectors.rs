//! Selectors, options, defaults and reasons.

use crate::common::runtimes::scan;
use crate::common::*;
use hopcost_model::{Axis, Placement};
use hopcost_plan::{Ask, Catalog, Machine, ensure_live, expected, suite};

/// The plan of a selector.
fn of(selector: &str) -> hopcost_model::plan::Plan {
    planned(&ask(&[selector])).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

/// What a command line asks for, without the words of its lines that begin with `#`.
fn asked(question: &str) -> Ask {
    let lines = question.lines().filter(|line| !line.starts_with('#'));
    let (mut asked, lines) = (ask(&[]), lines.collect::<Vec<_>>().join(" "));
    let mut words = lines.split(' ').filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else {
            asked.selectors.push(word.replace('_', " "));
            continue;
        };
        let value = words.next().unwrap();
        match option {
            "suite" => asked.suite = Some(suite(value).unwrap()),
            "rounds" => asked.rounds = Some(value.parse().unwrap()),
            "operations" => asked.operations = Some(value.parse().unwrap()),
            "budget" => asked.budget_ns = Some(value.parse::<u64>().unwrap() * SECOND),
            axis => {
                let key = Axis::of_key(axis).unwrap().key;
                asked.axes.entry(key).or_default().push(value.to_owned());
            }
        }
    }
    asked
}

/// Each case with the reason that stands against it, and the baseline; or the error.
#[test]
fn what_is_asked_for_becomes_a_plan_or_an_error() {
    answers("asked.txt", |question| match planned_beside(scan, &asked(question)) {
        Err(error) => format!("error: {}", one_line(error)),
        Ok(plan) => {
            let case = |case: &hopcost_model::plan::PlannedCase| match &case.skip {
                None => format!("{}\n", case.id()),
                Some(skip) => format!("{} ({skip})\n", case.id()),
            };
            let cases: String = plan.cases.iter().map(case).collect();
            let baseline = plan.baseline.map(|baseline| format!("baseline: {baseline}\n"));
            cases + &baseline.unwrap_or_default()
        }
    });
}

#[test]
fn a_slip_cannot_make_a_plan_of_millions_nor_an_error_of_several_lines() {
    let sizes: Vec<String> = (1..=5000).map(|n| n.to_string()).collect();
    let (sizes, spins) = (sizes.join(","), sizes.join("ns,") + "ns");
    for (selector, want) in [
        (&*format!("*?payload={sizes}"), "a plan has at most 10000, so shorten a list"),
        (&format!("pipe?payload={sizes}&wait=spin-then-block&spin={spins}"), "at most 10000"),
        (&("*,".repeat(10_001) + "*"), "at most 10000"),
        ("pi\u{1b}[2Jpe\nx", "unknown mechanism `pi\\u{1b}[2Jpe\\u{a}x`"),
        ("", "a mechanism's name is empty"),
    ] {
        let text = error(&ask(&[selector]));
        assert!(text.contains(want), "{selector:.100}: {text}");
    }
}

#[test]
fn a_glob_means_what_is_listed_and_a_plan_without_a_live_case_says_why() {
    let listed = mechanisms().iter().filter(|mechanism| !mechanism.hidden()).count();
    let mut names: Vec<String> = cases(&of("*")).into_iter().map(|case| case.mechanism).collect();
    names.dedup();
    assert_eq!(names.len(), listed, "test engines answer to their names only");
    let every = planned(&on([("place", "same-cpu")], ask(&[]))).unwrap();
    assert_eq!(ids(&every), ids(&of("*?place=same-cpu")));
    let error = ensure_live(&of("websocket?boundary=inline")).unwrap_err();
    let line = one_line(error);
    assert!(line.starts_with("nothing is left to measure: "), "{line}");
    assert!(line.contains("websocket has no boundary `inline`"), "{line}");
    assert_eq!(ensure_live(&of("pipe")), Ok(()));
    let plan = planned(&Ask { operations: Some(1_000_000), ..ask(&["pipe?place=cross"]) }).unwrap();
    assert!(plan.trial.deadline_ms >= 100_000, "it must have the time");
    assert!(expected(&plan, &[], None).ns > 20 * expected(&of("pipe?place=cross"), &[], None).ns);
}

#[test]
fn what_a_machine_lacks_is_a_row_with_the_reason() {
    let denied = || Err("permission\ndenied".to_owned());
    let plain_user = Machine { dma_latency: denied, namespaces: denied, ..two() };
    let clocks = Machine { one_way: |_, _| Err("not invariant".to_owned()), ..two() };
    for (machine, selector, want) in [
        (
            &plain_user,
            "wake/pipe?place=cross&idle-knob=none,dma-latency",
            "idle-knob=dma-latency is not available here: permission denied",
        ),
        (
            &plain_user,
            "tcp-send?boundary=process,namespace",
            "boundary=namespace is not available here: permission denied",
        ),
        (
            &clocks,
            "roundtrip,wake/pipe?place=same-cpu,cross",
            "one-way times refused: not invariant",
        ),
        (&one(), "pipe", "needs two CPUs; this process may use only CPU 3"),
    ] {
        let plan = planned_on(machine, &ask(&[selector])).unwrap();
        let (last, before) = plan.cases.split_last().unwrap();
        assert_eq!(last.skip.as_deref(), Some(want), "{selector}");
        assert!(before.iter().all(|case| case.skip.is_none()), "{selector}");
    }
    let plan = planned_on(&one(), &ask(&["pipe", "flag?place=free&wait=spin"])).unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.relation, plan.pairs.len()), (&[3][..], None, 0));
    assert!(skips(&plan)[2].unwrap().contains("spinning ends on one CPU"));
}

#[test]
fn a_plan_knows_the_cpus_of_every_placement_and_they_can_be_named() {
    let on = |cpus: &[u32], asked, selector| {
        let ask = Ask { cpus: cpus.to_vec(), ..ask(&[selector]) };
        planned_on(&Machine { asked, ..big() }, &ask)
    };
    let plan = on(&[], None, "pipe?place=same-cpu,smt,cross,cross-node,cross-llc").unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.live().count()), (&[0, 1, 32, 16][..], 4));
    assert_eq!(plan.cpus_for(Some(Placement::Smt)), (Some(0), Some(32)));
    assert_eq!(plan.cpus_for(Some(Placement::SameCpu)), (Some(0), Some(0)));
    let plan = on(&[], None, "pipe?place=same-cpu").unwrap();
    assert_eq!((plan.cpus, plan.relation), (vec![0], None));
    let plan = on(&[5, 37], Some(Placement::Smt), "pipe?place=same-cpu,cross,cross-node").unwrap();
    assert_eq!((plan.cpus.as_slice(), plan.relation), (&[5, 37][..], Some(Placement::Smt)));
    assert_eq!(skips(&plan), [None, None, Some("CPUs 5 and 37 are smt, not cross-node")]);
    let plan = on(&[5], None, "pipe").unwrap();
    assert_eq!(skips(&plan), [None, Some("needs two CPUs; --cpus names only CPU 5")]);
    for (cpus, want) in [
        (&[99][..], "--cpus: this process may not use CPU 99"),
        (&[1, 1], "named twice"),
        (&[1, 2, 3], "3 CPUs are named"),
        (&[1, 2], "the relation of CPUs 1 and 2 is not known"),
    ] {
        let text = one_line(on(cpus, None, "pipe").unwrap_err());
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn only_what_the_kernels_events_show_is_explained() {
    let explained = |ask: &Ask| {
        let catalog = Catalog::new(mechanisms(), Vec::new);
        hopcost_plan::explanation(ask, &catalog, &two())
    };
    let gaps = |gaps, selectors: &[&str]| on([("gap", gaps)], ask(selectors));
    for (gap, traced) in [("1us", 1_000), ("10ms", 100)] {
        let plan = explained(&gaps(gap, &["wake/pipe", "wake/eventfd"])).unwrap();
        assert_eq!((plan.cases.len(), plan.trial.traced_operations), (2, Some(traced)));
    }
    for (ask, why) in [
        (gaps("10us,1ms", &["wake/pipe", "wake/eventfd"]), "it selects 2 cases"),
        (ask(&["wake/flag"]), "an end that spins"),
        (ask(&["stream/tcp-send"]), "explains round trips and wake-ups"),
    ] {
        let text = one_line(explained(&ask).unwrap_err());
        assert!(text.contains(why), "{text}");
    }
}
