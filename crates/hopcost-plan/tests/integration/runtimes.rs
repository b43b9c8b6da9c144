//! The runtime as an axis: what is asked for in other languages.

use std::cell::Cell;

use crate::common::runtimes::{CPP, JAVA, PYTHON, absent, here};
use crate::common::*;
use hopcost_model::plan::Plan;
use hopcost_plan::{Ask, PlanError, RuntimeFacts, SuiteSource, plan};

/// Python, C++ and Java are here, Go is not, and Node is not even looked for.
fn scan() -> Vec<RuntimeFacts> {
    let go = absent("go", "not built: run scripts/setup workers go");
    vec![here(PYTHON), here(CPP), go, here(JAVA)]
}

fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    plan(ask, mechanisms(), &scan, &two())
}

fn of(selector: &str) -> Plan {
    planned(&ask(&[selector])).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

/// Ids, the skipped ones with their reason behind a space.
fn rows(plan: &Plan) -> Vec<String> {
    let row = |case: &hopcost_model::plan::PlannedCase| match &case.skip {
        None => case.id().clone(),
        Some(reason) => format!("{} {reason}", case.id()),
    };
    plan.cases.iter().map(row).collect()
}

const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
const TCP: &str = "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block";

#[test]
fn a_runtime_stands_in_the_id_and_rust_is_not_said() {
    for (selector, want) in [
        ("pipe?place=same-cpu", vec![PIPE.to_owned()]),
        ("pipe?place=same-cpu&runtime=rust", vec![PIPE.to_owned()]),
        ("pipe?place=same-cpu&runtime=python", vec![format!("{PIPE}&runtime=python")]),
        ("pipe?place=same-cpu&runtime=python:rust", vec![format!("{PIPE}&runtime=python:rust")]),
        ("call/mutex-uncontended?runtime=python", vec!["call/mutex-uncontended?runtime=python".into()]),
        // What Rust has not is measured in the first runtime that has it.
        (
            "simple-queue?place=same-cpu",
            vec![
                "roundtrip/simple-queue?payload=64&boundary=thread&place=same-cpu&wait=block&runtime=python"
                    .into(),
            ],
        ),
    ] {
        assert_eq!(rows(&of(selector)), want, "{selector}");
    }
}

#[test]
fn what_is_compared_stands_side_by_side() {
    let larger = PIPE.replace("64", "256");
    let runtimes = ["", "&runtime=python", "&runtime=cpp:python"];
    let of_size = |id: &str| runtimes.map(|runtime| format!("{id}{runtime}"));
    assert_eq!(
        rows(&of("pipe?payload=64,256&place=same-cpu&runtime=rust,python,cpp:python")),
        [of_size(PIPE), of_size(&larger)].concat()
    );
}

#[test]
fn each_runtime_has_its_own_defaults_parameters_and_limits() {
    // Rust's TCP has a parameter that Python's has not, Java's has none.
    let plan = of("tcp?place=same-cpu&runtime=rust,python,java&nodelay=off");
    assert_eq!(
        rows(&plan),
        [
            format!("{TCP}&congestion=cubic&nodelay=off"),
            format!("{TCP}&nodelay=off&runtime=python"),
            format!("{TCP}&runtime=java"),
        ]
    );
    let wait = of("tcp?place=cross&wait=spin&runtime=rust,python,java,python:java");
    let reason = "java's tcp has no wait `spin`; it has block";
    let skips: Vec<_> = wait.cases.iter().map(|case| case.skip.as_deref()).collect();
    assert_eq!(skips, [None, None, Some(reason), Some(reason)]);
    // A value that one of them takes is no slip; the other's row says why not.
    let on = r#""peers":"any","parameters":[{"name":"nodelay","values":["on"],"default":"on"}]"#;
    let java = JAVA.replace(r#""peers":"any""#, on);
    let scan = || vec![here(PYTHON), here(&java)];
    let rows = |runtime: &str| {
        let selector = format!("tcp?place=same-cpu&nodelay=off&runtime={runtime}");
        hopcost_plan::plan(&ask(&[&selector]), mechanisms(), &scan, &two())
    };
    let plan_of_three = rows("python,java,python:java").unwrap();
    let skips: Vec<_> = plan_of_three.cases.iter().map(|case| case.skip.as_deref()).collect();
    let reason = Some("java's tcp has no nodelay=off; it has on");
    assert_eq!(skips, [None, reason, reason]);
    let text = one_line(rows("java").unwrap_err());
    assert!(text.contains("unknown value of `nodelay` `off`"), "{text}");
    // Other runtimes always touch every byte.
    let touch = of("tcp?place=same-cpu&touch=none&runtime=rust,python,python:rust");
    let skips: Vec<_> = touch.cases.iter().map(|case| case.skip.as_deref()).collect();
    let whole = "a worker of another runtime writes and compares every byte; touch=none needs \
                 both ends in rust";
    assert_eq!(skips, [None, Some(whole), Some(whole)]);
    // Either end has to take the size: Python's pipe is shorter here.
    let plan = of("pipe?payload=64KiB&place=same-cpu&runtime=cpp,python,cpp:python,python:cpp");
    let skips: Vec<_> = plan.cases.iter().map(|case| case.skip.as_deref()).collect();
    let short = Some("payload 65536 is over the limit of 4096 bytes of python's pipe");
    assert_eq!(skips, [None, short, short, short]);
}

#[test]
fn what_cannot_be_is_a_row_with_the_reason() {
    let go = "runtime go is absent: not built: run scripts/setup workers go";
    for (selector, reason) in [
        ("pipe?runtime=go", go),
        // Nobody here has these: they are spelled as they were said.
        ("channel-unbuffered?runtime=go", go),
        ("call/goroutine-start?runtime=go", go),
        ("pipe?runtime=node", "runtime node is absent: no worker of it was found"),
        ("simple-queue?runtime=rust", "rust has no mechanism simple-queue"),
        ("pipe?boundary=thread&runtime=cpp:python", "cpp and python are two processes, so"),
        ("simple-queue?runtime=python:cpp", "python's simple-queue stays inside one runtime"),
        ("call/mutex-uncontended?runtime=python:rust", "a call has one end, so one runtime"),
        ("uvloop?runtime=python", "python's uvloop is not available here: uvloop is not installed"),
        (
            "mp-queue?place=cross",
            "python's mp-queue has no placement `same-llc`; it has same-cpu, free",
        ),
    ] {
        let plan = of(selector);
        assert!(!plan.cases.is_empty(), "{selector}");
        for case in &plan.cases {
            let skip = case.skip.as_deref().unwrap_or_default();
            assert!(skip.starts_with(reason), "{selector}: {} {skip:?}", case.id());
            let _: hopcost_model::case::Case = case.case.clone().unwrap();
        }
    }
    let plan = of("call/goroutine-start?runtime=go");
    assert_eq!(plan.cases[0].id(), "call/goroutine-start?runtime=go");
    let plan =
        of("channel-buffered?payload=8&place=same-cpu&capacity=16&boundary=thread&runtime=go");
    assert_eq!(
        plan.cases[0].id(),
        "roundtrip/channel-buffered?payload=8&boundary=thread&place=same-cpu&wait=block&capacity=16&runtime=go"
    );
}

#[test]
fn a_glob_selects_what_a_runtime_has() {
    let names = |selector: &str| {
        let plan = of(selector);
        let name = |id: &str| {
            let path = id.split('?').next().unwrap();
            let runtime = id.split_once("runtime=").map_or("rust", |(_, runtime)| runtime);
            format!("{path} {runtime}")
        };
        let mut names: Vec<String> = plan.cases.iter().map(|case| name(&case.id())).collect();
        names.dedup();
        names
    };
    assert_eq!(
        names("call/*?runtime=python"),
        ["call/mutex-uncontended python", "call/udp-send python"]
    );
    assert_eq!(names("roundtrip/mp-*?runtime=rust,python"), ["roundtrip/mp-queue python"]);
    assert_eq!(names("pip*?place=free&runtime=java,cpp"), ["roundtrip/pipe cpp"]);
    // A carrier plays what a library of the other runtime is called by.
    assert_eq!(names("websocket-b*?runtime=cpp:python"), ["roundtrip/websocket-beast cpp:python"]);
    // Both have their own.
    assert_eq!(names("mutex-*?runtime=python,rust").len(), 2);
    // Who is not here may have whatever Rust has.
    assert_eq!(names("unix-*?runtime=go").len(), 4);
    assert!(names("*").iter().all(|name| name.ends_with(" rust")));
}

#[test]
fn both_ends_wait_as_their_own_runtime_does_where_nothing_is_said() {
    let epoll = JAVA.replace(r#""waits":["block"]"#, r#""waits":["epoll"]"#);
    let scan = || vec![here(PYTHON), here(&epoll)];
    let ask = ask(&["tcp?place=same-cpu&runtime=java,python:java,java:rust"]);
    let plan = plan(&ask, mechanisms(), &scan, &two()).unwrap();
    let waits: Vec<String> = plan
        .cases
        .iter()
        .map(|case| {
            assert_eq!(case.skip, None, "{case:?}");
            case.known().unwrap().waits.unwrap().to_string()
        })
        .collect();
    assert_eq!(waits, ["epoll", "block:epoll", "epoll:block"]);
}

#[test]
fn workers_are_asked_once_and_only_if_one_matters() {
    let scans = Cell::new(0);
    let scan = || {
        scans.set(scans.get() + 1);
        scan()
    };
    let suite = |name: &str| Ask { suite: Some(SuiteSource::Shipped(name.into())), ..ask(&[]) };
    for (ask, times) in [
        (ask(&[]), 0),
        (ask(&["*"]), 0),
        (ask(&["pipe?runtime=rust", "call/*"]), 0),
        (suite("copies"), 0),
        (ask(&["pipe?runtime=python", "tcp?runtime=java", "simple-queue"]), 1),
        (ask(&["simple-queue"]), 1),
        (ask(&["no-such"]), 1),
        (on([("runtime", "python")], ask(&["pipe"])), 1),
    ] {
        scans.set(0);
        let _ = plan(&ask, mechanisms(), &scan, &two());
        assert_eq!(scans.get(), times, "{ask:?}");
    }
}

#[test]
fn mistakes_are_one_line_with_a_suggestion() {
    for (selector, part) in [
        ("pipe?runtime=pyton", "unknown runtime `pyton`; did you mean `python`?"),
        (
            "pipe?runtime=erlang",
            "unknown runtime `erlang`; known: rust, python, cpp, go, java, node",
        ),
        ("pipe?runtime=Python", "`Python` is not a value for `runtime`"),
        ("simpel-queue", "unknown mechanism `simpel-queue`; did you mean `simple-queue`?"),
        ("zeromq", "`hopcost list` shows them all but those of go, node, which are not here"),
        (
            "pipe?runtime=python&nodelay=on",
            "`nodelay` is a parameter of tcp, not of `pipe` in python",
        ),
        ("simple-queue:1", "`simple-queue` takes no argument"),
        // What nobody here has is told as it was written, but for what a terminal would obey.
        ("a\u{7}b:1?runtime=go", "`a\\u{7}b` takes no argument"),
    ] {
        let text = one_line(planned(&ask(&[selector])).unwrap_err());
        assert!(text.contains(part), "{selector}: {text}");
    }
    let option = on([("runtime", "pyton")], ask(&["pipe"]));
    let text = one_line(planned(&option).unwrap_err());
    assert!(text.starts_with("--runtime: unknown runtime"), "{text}");
}

#[test]
fn the_option_replaces_what_a_suite_says() {
    let text = "name = \"x\"\n[[cases]]\nselect = [\"pipe\", \"call/mutex-uncontended\"]\n\
                place = \"same-cpu\"\nruntime = [\"rust\", \"cpp\"]\n";
    let suite = Some(SuiteSource::Text { file: "x.toml".into(), text: text.into() });
    let base = Ask { suite, ..ask(&[]) };
    let plan = planned(&base).unwrap();
    assert_eq!(plan.cases.len(), 4);
    let python = planned(&on([("runtime", "python")], base.clone())).unwrap();
    assert_eq!(
        ids(&python),
        [format!("{PIPE}&runtime=python"), "call/mutex-uncontended?runtime=python".to_owned()]
    );
    let chosen =
        planned(&Ask { selectors: strings(&["pipe?runtime=python:rust"]), ..base }).unwrap();
    assert_eq!(ids(&chosen), [format!("{PIPE}&runtime=python:rust")]);
}

#[test]
fn a_baseline_in_rust_does_not_say_so() {
    let selectors = ["pipe?place=same-cpu&runtime=python,rust"];
    let of = |baseline: &str| {
        planned(&Ask { baseline: Some(baseline.into()), ..ask(&selectors) }).unwrap().baseline
    };
    assert_eq!(of(PIPE).as_deref(), Some(PIPE));
    assert_eq!(of("pipe?runtime=python"), Some(format!("{PIPE}&runtime=python")));
    assert_eq!(of(&format!("{PIPE}&runtime=python")), Some(format!("{PIPE}&runtime=python")));
}

#[test]
fn every_id_selects_exactly_its_case() {
    let selectors = [
        "*?runtime=rust,python,cpp,java,go",
        "*?runtime=python:rust,rust:java,cpp:python,go:cpp",
        "tcp-asyncio?runtime=python,python:rust,java:python&flush=on,off",
        "channel-unbuffered?runtime=go",
    ];
    for selector in selectors {
        let all = of(selector);
        assert!(!all.cases.is_empty());
        for case in &all.cases {
            let parsed: hopcost_model::case::Case = case.case.clone().unwrap();
            assert_eq!(parsed.to_string(), case.id());
            assert_eq!(of(&case.id()).cases, std::slice::from_ref(case), "{selector}");
        }
    }
}
