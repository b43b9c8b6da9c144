//! Suite files: the shipped ones, the documented one, and broken ones.

use crate::common::*;
use hopcost_model::case::Placement;
use hopcost_plan::{
    Ask, Machine, SHIPPED, SuiteSource, TRIAL_DEFAULT, estimate_ns, parse_suite, trial_ns,
};

const SECOND: u64 = 1_000_000_000;

fn shipped(name: &str) -> Ask {
    Ask { suite: Some(SuiteSource::Shipped(name.into())), ..ask(&[]) }
}
fn file(text: &str) -> Ask {
    Ask { suite: Some(SuiteSource::Text { file: "my.toml".into(), text: text.into() }), ..ask(&[]) }
}

#[test]
fn the_ladder_fits_its_promise() {
    let mut plan = planned(&ask(&[])).unwrap();
    for case in &mut plan.cases {
        case.skip = None;
    }
    assert!(plan.rounds >= 9);
    assert!(estimate_ns(&plan, &[]) <= 70 * SECOND, "{}", estimate_ns(&plan, &[]));
}

#[test]
fn quick_takes_fifteen_seconds() {
    let plan = planned(&shipped("quick")).unwrap();
    assert_eq!(plan.cases.len(), 12);
    assert!(plan.live().count() == 12 && plan.rounds >= 6);
    assert!(estimate_ns(&plan, &[]) <= 15 * SECOND);
}

#[test]
fn shipped_suites_say_what_they_are_for_and_work_on_one_cpu() {
    for (name, text) in SHIPPED {
        let suite = parse_suite(name, text).unwrap();
        assert_eq!(suite.name, *name);
        assert!(!suite.about.is_empty());
        let plan = hopcost_plan::plan(&shipped(name), mechanisms(), &Vec::new, &one()).unwrap();
        let skips: Vec<_> = plan.cases.iter().filter_map(|case| case.skip.as_deref()).collect();
        let needs_two = "needs two CPUs; this process may use only CPU 3";
        match *name {
            "pair" => assert!(
                skips.iter().all(|skip| skip.starts_with("boundary=host needs another host"))
            ),
            "copies" => assert_eq!(skips.len(), 2, "what needs namespaces: {skips:?}"),
            // One CPU is enough for it, and the other runtimes are not here.
            "runtimes" => assert!(plan.live().count() > 5 && !skips.contains(&needs_two)),
            // A CPU that idles while another notifies it takes two, and so does a sender that spins.
            "wakeup" | "wakeup-document" | "load" => assert_eq!(plan.live().count(), 0),
            _ => {
                assert!(plan.live().count() > 5, "{name}");
                assert!(skips.contains(&needs_two), "{name}");
            }
        }
    }
    for name in ["ladder", "quick"] {
        let plan = planned(&shipped(name)).unwrap();
        assert_eq!(plan.trial, TRIAL_DEFAULT, "{name} repeats the defaults for its reader");
    }
}

/// The plan of a suite on a machine that lacks nothing.
fn whole(name: &str) -> hopcost_model::plan::Plan {
    let plan = planned(&shipped(name)).unwrap();
    let not_here = |skip: &String| skip.starts_with("posix-mq is not available");
    for case in &plan.cases {
        assert!(case.skip.as_ref().is_none_or(not_here), "{case:?}");
    }
    assert!(plan.baseline.is_some());
    plan
}

#[test]
fn every_suite_ends_within_five_minutes() {
    for (name, _) in SHIPPED.iter().filter(|(name, _)| {
        !name.ends_with("-full") && !["runtimes", "wakeup-document", "pair"].contains(name)
    }) {
        let plan = whole(name);
        assert!(plan.rounds >= 6, "{name}");
        let takes = estimate_ns(&plan, &[]);
        assert!((5 * SECOND..300 * SECOND).contains(&takes), "{name}: {takes}");
    }
    let takes = estimate_ns(&whole("wakeup-document"), &[]);
    assert!((5 * 60 * SECOND..9 * 60 * SECOND).contains(&takes), "{takes}");
    let takes = estimate_ns(&whole("wakeup-full"), &[]);
    assert!((10 * 60 * SECOND..20 * 60 * SECOND).contains(&takes), "{takes}");
}

#[test]
fn a_pair_of_hosts_needs_the_other_host() {
    let far = Machine { peer_cpu: Some(7), ..two() };
    let plan = hopcost_plan::plan(&shipped("pair"), mechanisms(), &Vec::new, &far).unwrap();
    assert!(plan.live().count() == plan.cases.len() && plan.rounds >= 6, "{:?}", plan.cases);
    assert!(estimate_ns(&plan, &[]) < 20 * SECOND);
    assert_eq!(plan.cpus_for(Some(Placement::Pinned)).1, Some(7));
    assert!(!plan.local_cpus().contains(&7), "it is no CPU of this host");
    let named = Ask { cpus: vec![1, 5], ..shipped("pair") };
    let plan = hopcost_plan::plan(&named, mechanisms(), &Vec::new, &far).unwrap();
    assert_eq!(plan.cpus_for(Some(Placement::Pinned)), (Some(1), Some(5)));
    let ask = |selector: &str| Ask { selectors: vec![selector.to_owned()], ..Ask::default() };
    let of = |selector: &str, machine: &Machine| {
        hopcost_plan::plan(&ask(selector), mechanisms(), &Vec::new, machine).unwrap().cases[0]
            .clone()
    };
    assert!(of("roundtrip/tcp", &far).id().contains("boundary=host&place=pinned"));
    assert!(of("roundtrip/tcp", &two()).id().contains("boundary=process"));
    assert!(of("roundtrip/pipe", &far).id().contains("boundary=process"));
    for (selector, why) in [
        ("wake/tcp?boundary=host", "one-way times refused"),
        ("roundtrip/tcp?boundary=host&place=same-cpu", "place=same-cpu is of two CPUs of one host"),
        (
            "roundtrip/tcp?boundary=process&place=pinned",
            "place=pinned is a CPU of each of two hosts",
        ),
        ("roundtrip/pipe?boundary=host", "pipe has no boundary `host`"),
    ] {
        let skip = of(selector, &far).skip.unwrap_or_default();
        assert!(skip.starts_with(why), "{selector}: {skip}");
    }
}

#[test]
fn the_full_wake_up_suite_has_every_case_of_the_others() {
    let full = whole("wakeup-full");
    for name in ["wakeup", "wakeup-document"] {
        for case in &whole(name).cases {
            assert!(full.cases.iter().any(|other| other.id() == case.id()), "{}", case.id());
        }
    }
    let by_option = planned(&Ask { full: true, ..shipped("wakeup") }).unwrap();
    assert_eq!((by_option.suite.as_str(), &by_option.cases), ("wakeup-full", &full.cases));
    let text = error(&Ask { full: true, ..shipped("ladder") });
    assert_eq!(text, "--full: the suite `ladder` has no full form; write --suite wakeup --full");
    assert!(error(&Ask { full: true, ..file("") }).contains("a suite file has no full form"));
}

#[test]
fn the_documented_example_parses() {
    let doc = include_str!("../../../../docs/suites.md");
    let example = doc.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let plan = planned(&file(example)).unwrap();
    assert_eq!(plan.cases.len(), 18 + 4 + 1, "tcp with its defaults is in it twice");
    assert_eq!(plan.live().count(), 23 - 6, "64 KiB is over the limit of these mechanisms");
    assert_eq!(plan.trial, TRIAL_DEFAULT);
    assert!(plan.baseline.is_some());

    let example = doc.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
    let plan = planned(&file(example)).unwrap();
    assert_eq!((plan.cases.len(), plan.live().count()), (8 + 16, 8 + 16));
    let trial = plan.trial;
    assert_eq!((trial.operations, trial.warm_up_operations), (Some(100), Some(10)));
    assert_eq!((trial.counted_operations, trial.measure_ns), (50, 150_000_000));
}

#[test]
fn the_command_line_chooses_and_replaces() {
    let base = shipped("ladder");
    let plan = planned(&Ask { mechanism: strings(&["unix-*"]), ..base.clone() }).unwrap();
    assert_eq!(plan.cases.len(), 6);
    assert_eq!(plan.baseline, None, "it was not chosen");
    assert_eq!(plan.budget_ns, Some(65 * SECOND));

    let plan = planned(&Ask { workload: strings(&["call"]), ..base.clone() }).unwrap();
    assert_eq!(plan.cases.len(), 10);

    let plan = planned(&on([("place", "cross")], base.clone())).unwrap();
    assert_eq!(plan.cases.len(), 10 + 21 + 2, "calls have no placement and stay");

    let more = on([("payload", "64,4KiB")], base.clone());
    let plan = planned(&more).unwrap();
    assert!(plan.cases.len() > 53);
    assert_eq!((plan.rounds, plan.budget_ns), (12, None), "the budget was for 54 cases");

    let selector =
        Ask { selectors: strings(&["pipe?payload=1,2", "call/syscall"]), ..base.clone() };
    let plan = planned(&selector).unwrap();
    assert_eq!(plan.cases.len(), 2 * 2 + 1);
    assert_eq!(plan.suite, "ladder");

    for (ask, want) in [
        (Ask { selectors: strings(&["sleep:1ms"]), ..base.clone() }, "`ladder` has no such case"),
        (Ask { selectors: strings(&["pip"]), ..base.clone() }, "did you mean `pipe`"),
        (Ask { mechanism: strings(&["sleep:1ms"]), ..base.clone() }, "has no case of"),
        (on([("place", "cross")], Ask { workload: strings(&["call"]), ..base }), "--place"),
        (shipped("laddr"), "unknown suite `laddr`; did you mean `ladder`?"),
    ] {
        let text = error(&ask);
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn rounds_and_budget_of_the_command_line_replace_both() {
    let base = shipped("quick");
    let of = |ask: &Ask| planned(ask).map(|plan| (plan.rounds, plan.budget_ns)).unwrap();
    assert_eq!(of(&base), (9, Some(11 * SECOND)));
    assert_eq!(of(&Ask { rounds: Some(20), ..base.clone() }), (20, None));
    let (rounds, budget) = of(&Ask { budget_ns: Some(60 * SECOND), ..base.clone() });
    assert_eq!(budget, Some(60 * SECOND));
    let plan = planned(&base).unwrap();
    let round: u64 = plan.live_cases().map(|case| trial_ns(&TRIAL_DEFAULT, case, &[])).sum();
    assert_eq!(u64::from(rounds), 58 * SECOND / round);
    let measured = planned(&Ask { measure_ns: Some(SECOND), ..base }).unwrap();
    assert_eq!(measured.trial.measure_ns, SECOND);
    assert!(measured.trial.measure_max_ns >= SECOND);
    assert!(measured.trial.deadline_ms > 20_000);
}

const HEAD: &str = "name = \"x\"\n";

#[test]
fn every_mistake_in_a_suite_has_its_place() {
    let cases = |rest: &str| format!("{HEAD}[[cases]]\n{rest}");
    for (text, want) in [
        (String::new(), "my.toml:1:1: `name` is missing"),
        (HEAD.to_owned(), "my.toml:2:1: no cases; add a [[cases]]"),
        (format!("{HEAD}round = 3\n"), "my.toml:2:1: unknown key `round`; did you mean `rounds`?"),
        (format!("{HEAD}budget = 75\n"), "my.toml:2:10: budget: is a number; want a duration in"),
        (format!("{HEAD}budget = \"75\"\n"), "budget: `75` has no unit; write 75us, 75ms or 75s"),
        ("name = \"a b\"\n".to_owned(), "my.toml:1:8: name: `a b` is not a name"),
        (
            format!("{HEAD}[trial]\nmesure = \"5ms\""),
            "my.toml:3:1: trial: unknown key `mesure`; did you mean `measure`?",
        ),
        (
            format!("{HEAD}[trial]\nmeasure = \"50ms\"\nmeasure-max = \"20ms\""),
            "my.toml:4:15: trial.measure-max: is shorter",
        ),
        (format!("{HEAD}[trial]\nsamples-max = 70000"), "my.toml:3:15: trial.samples-max: want"),
        (
            cases("select = \"pipe\"\ngap = \"1ms\""),
            "my.toml:3:10: cases.select: only a wake-up has",
        ),
        (format!("{HEAD}[cases]\nselect = \"pipe\""), "write [[cases]], with two brackets"),
        (format!("{HEAD}cases = []"), "my.toml:2:9: cases: is empty"),
        (cases("place = \"cross\""), "my.toml:2:1: cases: has neither `select` nor `mechanism`"),
        (
            cases("select = \"pipe\"\nmechanism = \"tcp\""),
            "my.toml:4:13: cases.mechanism: stands beside",
        ),
        (
            cases("select = \"pipe\"\nworkload = \"call\""),
            "my.toml:4:12: cases.workload: write the",
        ),
        (
            cases("mechanism = [\"pipe\",\n  \"tpc\"]"),
            "my.toml:4:3: cases.mechanism: unknown mechanism `tpc`",
        ),
        (cases("select = \"pipe\"\npayload = [64, 1.5]"), "cases.payload: is a fraction"),
        (cases("select = \"pipe\"\npayload = []"), "my.toml:4:11: cases.payload: is an empty list"),
        (
            cases("select = \"pipe\"\nparameters = { nodelay = \"on\" }"),
            "`nodelay` is a parameter of tcp",
        ),
        (
            cases("select = \"tcp\"\nparameters = { nodelay = true }"),
            "is a truth value; write \"on\"",
        ),
        (
            format!("{HEAD}baseline = \"tcp\"\n[[cases]]\nselect = \"pipe\""),
            "my.toml:2:12: baseline: it selects no case",
        ),
        ("\u{0}".to_owned(), "my.toml:1:1: control character U+0000; remove it"),
        ("a = 1\na = 2".to_owned(), "my.toml:2:1: not TOML: duplicate key"),
        (format!("a = {}", "[".repeat(100_000)), "not TOML"),
        ("x".repeat(10_000_000), "my.toml:1:1: longer than the 1048576 bytes"),
    ] {
        let shown: String = text.chars().take(200).collect();
        let got = error(&file(&text));
        assert!(got.contains(want), "{shown}\n{got}");
    }
}

#[test]
fn a_megabyte_of_lists_ends_early() {
    let sizes: Vec<String> = (1..=80_000).map(|n| n.to_string()).collect();
    let list = sizes.join(",");
    for cases in [
        format!("select = [{}]", "\"*\",".repeat(200_000)),
        format!("select = [{}]\npayload = [{list}]", "\"*\",".repeat(50_000)),
        format!("mechanism = [{}]", "\"{*,a*}{*,b*}{*,c*}{*,d*}{*,e*}{*,f*}\",".repeat(20_000)),
        format!("select = [{}]\npayload = [{list}]", "\"pipe\",".repeat(50_000)),
        "select = \"pipe\"\n[[cases]]\n".repeat(30_000),
    ] {
        let got = error(&file(&format!("{HEAD}[[cases]]\n{cases}")));
        assert!(got.contains("up to here the suite has "), "{got}");
    }
}

#[test]
fn a_file_name_cannot_break_the_line() {
    let error = parse_suite("a\nb\u{1b}.toml", "").unwrap_err();
    assert!(one_line(error).starts_with("a b .toml:1:1: "));
}

#[test]
fn what_reports_show_is_checked_too() {
    let of = |more: &str| {
        let text = format!("name = \"mine\"\n[[cases]]\nselect = \"roundtrip/pipe\"\n{more}");
        let suite = Some(SuiteSource::Text { file: "mine.toml".to_owned(), text });
        planned(&Ask { suite, ..ask(&[]) })
            .map(|plan| plan.suite)
            .map_err(|error| error.to_string())
    };
    assert_eq!(of("[[published]]\nfile = \"copies.csv\""), Ok("mine".to_owned()));
    for (more, part) in [
        (
            "[[published]]\nfiles = \"copies.csv\"",
            "mine.toml:5:1: published.files: unknown field `files`",
        ),
        (
            "[case]\na = \"call/sleep\"\n[[claim]]\nid = \"a\"\nsentence = \"a\"\ncheck = [{ of = \"a\", over = \"b\" }]",
            "mine.toml:9:10: claim.check: unknown case `b`",
        ),
        (
            "[[published]]\nfile = \"copie.csv\"",
            "mine.toml:5:8: published.file: unknown table `copie.csv`; did you mean `copies.csv`?",
        ),
        (
            "[[label]]\nname = \"a\"\ncases = \"roundtrip/pip\"",
            "mine.toml:6:9: label.cases: unknown mechanism `pip`; did you mean `pipe`?",
        ),
        (
            "[[variance]]\nof = \"a\"\ncases = \"wake/pipe?gap=1\"",
            "mine.toml:6:9: variance.cases: `1` has no unit",
        ),
        (
            "[export]\nneeds = \"a\"\nsort = []\ncolumns = []\nrows = { a = [\"roundtrip/pipe\", \"call/pip\"] }",
            "mine.toml:8:33: export.rows.a: unknown mechanism `pip`",
        ),
    ] {
        let error = of(more).unwrap_err();
        assert!(error.starts_with(part), "{error}");
    }
}

#[test]
fn the_name_of_a_shipped_suite_is_not_for_another() {
    let (name, shipped) = SHIPPED[0];
    assert!(parse_suite("./copy.toml", shipped).is_ok());
    let error =
        parse_suite("mine.toml", &format!("name = \"{name}\"\n[[cases]]\nselect = \"pipe\""));
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("mine.toml:1:8: name: `ladder` is a suite of hopcost's own"),
        "{error}"
    );
}
