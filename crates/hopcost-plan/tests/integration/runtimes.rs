//! The runtime as an axis: what is asked for in other languages; and the suite `runtimes`, planned
//! with what the shipped workers say of themselves where nothing is missing (`tests/workers`).

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::runtimes::{CPP, JAVA, PYTHON, absent, here};
use crate::common::*;
use hopcost_model::case::{Boundary, Case, Placement};
use hopcost_model::plan::Plan;
use hopcost_plan::{Ask, PlanError, RuntimeFacts, Selector, claims_of, estimate_ns, level};

/// Python, C++ and Java are here, Go is not, and Node is not even looked for.
fn scan() -> Vec<RuntimeFacts> {
    let go = absent("go", "not built: run scripts/setup workers go");
    vec![here(PYTHON), here(CPP), go, here(JAVA)]
}

fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    planned_beside(scan, ask)
}

fn of(selector: &str) -> Plan {
    planned(&ask(&[selector])).unwrap_or_else(|error| panic!("{selector}: {error}"))
}

const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
const TCP: &str = "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block";

#[test]
fn a_runtime_stands_in_the_id_and_rust_is_not_said() {
    let larger = PIPE.replace("64", "256");
    let of_size =
        |id: &str| ["", "&runtime=python", "&runtime=cpp:python"].map(|of| format!("{id}{of}"));
    for (selector, want) in [
        ("pipe?place=same-cpu", vec![PIPE.to_owned()]),
        ("pipe?place=same-cpu&runtime=rust", vec![PIPE.to_owned()]),
        ("pipe?place=same-cpu&runtime=python:rust", vec![format!("{PIPE}&runtime=python:rust")]),
        (
            "call/mutex-uncontended?runtime=python",
            vec!["call/mutex-uncontended?runtime=python".into()],
        ),
        // What Rust has not is measured in the first runtime that has it.
        (
            "simple-queue?place=same-cpu",
            vec![
                PIPE.replace("/pipe", "/simple-queue").replace("process", "thread")
                    + "&runtime=python",
            ],
        ),
        // What is compared stands side by side.
        (
            "pipe?payload=64,256&place=same-cpu&runtime=rust,python,cpp:python",
            [of_size(PIPE), of_size(&larger)].concat(),
        ),
        // Rust's TCP has a parameter that Python's has not, Java's has none.
        (
            "tcp?place=same-cpu&runtime=rust,python,java&nodelay=off",
            vec![
                format!("{TCP}&nodelay=off"),
                format!("{TCP}&nodelay=off&runtime=python"),
                format!("{TCP}&runtime=java"),
            ],
        ),
        // What nobody here has is spelled as it was said.
        ("call/goroutine-start?runtime=go", vec!["call/goroutine-start?runtime=go".into()]),
        (
            "channel-buffered?payload=64&place=same-cpu&capacity=16&boundary=thread&runtime=go",
            vec![
                PIPE.replace("/pipe", "/channel-buffered").replace("process", "thread")
                    + "&capacity=16&runtime=go",
            ],
        ),
    ] {
        assert_eq!(ids(&of(selector)), want, "{selector}");
    }
}

#[test]
fn each_runtime_has_its_own_defaults_parameters_and_limits() {
    let wait = of("tcp?place=cross&wait=spin&runtime=rust,python,java,python:java");
    let reason = Some("java's tcp has no wait `spin`; it has block");
    assert_eq!(skips(&wait), [None, None, reason, reason]);
    // A value that one of them takes is no slip; the other's row says why not.
    let on = r#""peers":"any","parameters":[{"name":"nodelay","values":["on"],"default":"on"}]"#;
    let java = JAVA.replace(r#""peers":"any""#, on);
    let scan = || vec![here(PYTHON), here(&java)];
    let rows = |runtime: &str| {
        let selector = format!("tcp?place=same-cpu&nodelay=off&runtime={runtime}");
        planned_beside(scan, &ask(&[&selector]))
    };
    let reason = Some("java's tcp has no nodelay=off; it has on");
    let three = rows("python,java,python:java").unwrap();
    assert_eq!(skips(&three), [None, reason, reason]);
    let text = one_line(rows("java").unwrap_err());
    assert!(text.contains("unknown value of `nodelay` `off`"), "{text}");
    // Other runtimes always touch every byte.
    let touch = of("tcp?place=same-cpu&touch=none&runtime=rust,python,python:rust");
    let whole = Some(
        "a worker of another runtime writes and compares every byte; touch=none needs both ends in \
         rust",
    );
    assert_eq!(skips(&touch), [None, whole, whole]);
    // Either end has to take the size: Python's pipe is shorter here.
    let plan = of("pipe?payload=64KiB&place=same-cpu&runtime=cpp,python,cpp:python,python:cpp");
    let short = Some("payload 65536 is over the limit of 4096 bytes of python's pipe");
    assert_eq!(skips(&plan), [None, short, short, short]);
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
        }
    }
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
fn nothing_of_the_suite_is_impossible_and_it_takes_about_a_quarter_of_an_hour() {
    let plan = suite(workers);
    let skipped: Vec<_> = plan.cases.iter().filter(|case| case.skip.is_some()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
    assert_eq!((plan.rounds, plan.baseline.as_deref()), (7, Some(PIPE)));
    let minutes = estimate_ns(&plan, &workers()) as f64 / 60e9;
    assert!((12.0..=16.0).contains(&minutes), "{minutes}");
    // Java's warm-up alone may take two seconds of a busy machine.
    assert!(plan.trial.deadline_ms >= 10_000);
    // Without workers Rust is left, and the rest says why.
    let alone = suite(Vec::new);
    let live: Vec<&Case> = alone.live_cases().collect();
    assert!(live.len() >= 15 && live.iter().all(|case| case.runtimes.are_rust()));
    let why = " is absent: no worker of it was found; build it";
    assert!(skips(&alone).iter().flatten().all(|skip| skip.contains(why)));
    assert_eq!(alone.cases.len(), plan.cases.len());
    assert!(estimate_ns(&alone, &[]) < 30 * SECOND);
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

#[test]
fn each_claim_of_a_suite_has_its_cases_at_every_level_that_it_is_told_for() {
    let all = cases(&suite(workers));
    let claims = claims_of("runtimes").pop().unwrap();
    let mut told = 0;
    for claim in &claims.claims {
        for check in claim.checks() {
            let levels = |name: &str| -> Vec<BTreeMap<String, String>> {
                let text = claims.selector(name, claim).unwrap();
                let selector: Selector = text.clone().try_into().unwrap();
                all.iter()
                    .filter(|case| selector.fits(case))
                    .map(|case| level(&text, case))
                    .collect()
            };
            let others = levels(check.over().unwrap());
            let both: BTreeSet<_> =
                levels(&check.of).into_iter().filter(|level| others.contains(level)).collect();
            assert!(!both.is_empty(), "{}", claim.id);
            told += both.len();
        }
    }
    assert_eq!(told, 15);
}
