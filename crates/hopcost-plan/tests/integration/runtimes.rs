//! The runtime as an axis: what is asked for in other languages; and the suite `runtimes`, planned
//! with what the shipped workers say of themselves where nothing is missing (`tests/workers`).

use std::cell::Cell;

use crate::common::runtimes::{JAVA, PYTHON, here, scan};
use crate::common::*;
use hopcost_model::{Boundary, Case, Placement, Plan};
use hopcost_plan::{Ask, PlanError, RuntimeFacts, expected};

fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    planned_beside(scan, ask)
}

fn of(selector: &str) -> Plan {
    planned(&ask(&[selector])).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";

/// A value that one of them takes is no slip; the other's row says why not.
#[test]
fn a_value_that_nobody_takes_is_a_slip() {
    let on = r#""peers":"any","parameters":[{"name":"nodelay","values":["on"],"default":"on"}]"#;
    let java = JAVA.replace(r#""peers":"any""#, on);
    let rows = |runtime: &str| {
        let selector = format!("tcp?place=same-cpu&nodelay=off&runtime={runtime}");
        planned_beside(|| vec![here(PYTHON), here(&java)], &ask(&[&selector]))
    };
    let reason = Some("java's tcp has no nodelay=off; it has on");
    assert_eq!(skips(&rows("python,java,python:java").unwrap()), [None, reason, reason]);
    let text = one_line(rows("java").unwrap_err());
    assert!(text.contains("unknown value of `nodelay` `off`"), "{text}");
    // What a terminal would obey is no part of an error.
    let text = one_line(planned(&ask(&["a\u{7}b:1?runtime=go"])).unwrap_err());
    assert!(text.contains("`a\\u{7}b` takes no argument"), "{text}");
}

#[test]
fn both_ends_wait_as_their_own_runtime_does_where_nothing_is_said() {
    let epoll = JAVA.replace(r#""waits":["block"]"#, r#""waits":["epoll"]"#);
    let scan = || vec![here(PYTHON), here(&epoll)];
    let ask = ask(&["tcp?place=same-cpu&runtime=java,python:java,java:rust"]);
    let plan = planned_beside(scan, &ask).unwrap();
    assert_eq!(skips(&plan), [None; 3]);
    let waits: Vec<String> =
        cases(&plan).iter().map(|case| case.waits.unwrap().to_string()).collect();
    assert_eq!(waits, ["epoll", "block:epoll", "epoll:block"]);
}

#[test]
fn workers_are_asked_once_and_only_if_one_matters() {
    let scans = Cell::new(0);
    let scan = || {
        scans.set(scans.get() + 1);
        scan()
    };
    for (ask, times) in [
        (ask(&[]), 0),
        (ask(&["*"]), 0),
        (ask(&["pipe?runtime=rust", "call/*"]), 0),
        (shipped("copies"), 0),
        (ask(&["pipe?runtime=python", "tcp?runtime=java", "simple-queue"]), 1),
        (ask(&["simple-queue"]), 1),
        (ask(&["no-such"]), 1),
        (on([("runtime", "python")], ask(&["pipe"])), 1),
    ] {
        scans.set(0);
        let _ = planned_beside(scan, &ask);
        assert_eq!(scans.get(), times, "{ask:?}");
    }
}

#[test]
fn the_option_replaces_what_a_suite_says() {
    let text = "name = \"x\"\n[[cases]]\nselect = [\"pipe\", \"call/mutex-uncontended\"]\n\
                place = \"same-cpu\"\nruntime = [\"rust\", \"cpp\"]\n";
    let base = file(text);
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
        select_themselves(&all, planned);
    }
}

fn workers() -> Vec<RuntimeFacts> {
    macro_rules! worker {
        ($name:literal) => {{
            let described = include_str!(concat!("../workers/", $name, ".json"));
            let folder = include_str!(concat!("../../../../workers/", $name, "/worker.toml"));
            let folder: toml::Table = folder.parse().unwrap();
            let start_ms = u64::try_from(folder["start_ms"].as_integer().unwrap()).unwrap();
            RuntimeFacts { start_ns: Some(start_ms * 1_000_000), ..here(described) }
        }};
    }
    vec![worker!("cpp"), worker!("go"), worker!("java"), worker!("node"), worker!("python")]
}

fn suite(workers: impl Fn() -> Vec<RuntimeFacts>) -> Plan {
    planned_beside(workers, &shipped("runtimes")).unwrap()
}

#[test]
fn nothing_of_the_suite_is_impossible_and_it_takes_as_long_as_it_says() {
    let plan = suite(workers);
    let skipped: Vec<_> = plan.cases.iter().filter(|case| case.skip.is_some()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
    assert_eq!((plan.rounds, plan.baseline.as_deref()), (7, Some(PIPE)));
    // As timed on a quiet machine with two CPUs, in 444 s, and what 100,000 operations add to warm-ups.
    let says_s = expected(&plan, &workers(), Some(72_000)).ns as f64 / 1e9;
    assert!((says_s / 575.0 - 1.0).abs() < 0.15, "{says_s}");
    // Java's warm-up alone may take two seconds of a busy machine.
    assert!(plan.trial.deadline_ms >= 10_000);
    // Without workers Rust is left, and the rest says why.
    let alone = suite(Vec::new);
    let live: Vec<&Case> = alone.live_cases().collect();
    assert!(live.len() >= 15 && live.iter().all(|case| case.runtimes.are_rust()));
    let why = " is absent: no worker of it was found; build it";
    assert!(skips(&alone).iter().flatten().all(|skip| skip.contains(why)));
    assert_eq!(alone.cases.len(), plan.cases.len());
    assert!(expected(&alone, &[], None).ns < 30 * SECOND);
}

#[test]
fn the_suite_has_every_pair_of_runtimes_and_whatever_a_worker_has() {
    let all = cases(&suite(workers));
    let count = |is_it: &dyn Fn(&Case) -> bool| all.iter().filter(|case| is_it(case)).count();
    let runtimes = ["rust", "cpp", "go", "java", "node", "python"];
    for (caller, callee) in
        runtimes.into_iter().flat_map(|caller| runtimes.map(|callee| (caller, callee)))
    {
        let is_it = |case: &Case| {
            let ends = (case.runtimes.caller.word(), case.runtimes.callee.word());
            case.mechanism == "tcp"
                && case.payload_bytes == Some(64)
                && case.boundary == Boundary::Process
                && case.placement == Some(Placement::SameCpu)
                && ends == (caller, callee)
        };
        assert_eq!(count(&is_it), 1, "{caller}:{callee}");
    }
    for RuntimeFacts { runtime, state, .. } in workers() {
        for row in state.unwrap().mechanisms {
            // Two further kinds of Unix socket add nothing to the one that is.
            let is_left_out = ["unix-dgram", "unix-seqpacket"].contains(&row.name.as_str());
            let is_it = |case: &Case| case.mechanism == row.name && case.runtimes.caller == runtime;
            assert!(is_left_out || count(&is_it) > 0, "{runtime} {}", row.name);
        }
    }
}
