//! The suite `runtimes`, planned with what the shipped workers say of themselves
//! where nothing is missing (`tests/workers`).

use std::collections::{BTreeMap, BTreeSet};

use crate::common::runtimes::here;
use crate::common::*;
use hopcost_model::case::{Boundary, Case, Placement, Runtime};
use hopcost_model::plan::Plan;
use hopcost_plan::{Ask, RuntimeFacts, Selector, SuiteSource, claims_of, estimate_ns, level, plan};

const SECOND: u64 = 1_000_000_000;
const RUNTIMES: [&str; 6] = ["rust", "cpp", "go", "java", "node", "python"];

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

fn planned(workers: &dyn Fn() -> Vec<RuntimeFacts>) -> Plan {
    let suite = Some(SuiteSource::Shipped("runtimes".into()));
    plan(&Ask { suite, ..ask(&[]) }, mechanisms(), workers, &two()).unwrap()
}

fn cases(plan: &Plan) -> Vec<Case> {
    plan.live().map(|(_, case)| case.case.clone().unwrap()).collect()
}

#[test]
fn nothing_of_it_is_impossible_and_it_takes_about_a_quarter_of_an_hour() {
    let plan = planned(&workers);
    let skipped: Vec<_> = plan.cases.iter().filter(|case| case.skip.is_some()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
    assert_eq!(plan.rounds, 7);
    let minutes = estimate_ns(&plan, &workers()) as f64 / 60e9;
    assert!((12.0..=16.0).contains(&minutes), "{minutes}");
    assert_eq!(
        plan.baseline.as_deref(),
        Some("roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block")
    );
    // Java's warm-up alone may take two seconds of a busy machine.
    assert!(plan.trial.deadline_ms >= 10_000);
}

#[test]
fn every_runtime_calls_every_other() {
    let plan = planned(&workers);
    let all = cases(&plan);
    for caller in RUNTIMES {
        for callee in RUNTIMES {
            let ends: [Runtime; 2] = [caller, callee].map(|name| name.parse().unwrap());
            let found = all.iter().filter(|case| {
                case.mechanism == "tcp"
                    && case.payload_bytes == Some(64)
                    && case.boundary == Boundary::Process
                    && case.placement == Some(Placement::SameCpu)
                    && [&case.runtimes.caller, &case.runtimes.callee] == [&ends[0], &ends[1]]
            });
            assert_eq!(found.count(), 1, "{caller}:{callee}");
        }
    }
}

#[test]
fn each_claim_of_a_suite_has_its_cases_at_every_level_that_it_is_told_for() {
    let all = cases(&planned(&workers));
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

#[test]
fn whatever_a_worker_has_is_in_it() {
    let all = cases(&planned(&workers));
    for RuntimeFacts { runtime, state, .. } in workers() {
        for row in state.unwrap().mechanisms {
            // Two further kinds of Unix socket add nothing to the one that is.
            if ["unix-dgram", "unix-seqpacket"].contains(&row.name.as_str()) {
                continue;
            }
            let found = all
                .iter()
                .any(|case| case.mechanism == row.name && case.runtimes.caller == runtime);
            assert!(found, "{runtime} {}", row.name);
        }
    }
}

#[test]
fn without_workers_rust_is_left_and_the_rest_says_why() {
    let plan = planned(&Vec::new);
    let live = cases(&plan);
    assert!(live.len() >= 15 && live.iter().all(|case| case.runtimes.are_rust()));
    for case in plan.cases.iter().filter(|case| case.skip.is_some()) {
        let skip = case.skip.as_deref().unwrap();
        assert!(skip.contains(" is absent: no worker of it was found; build it"), "{case:?}");
    }
    assert_eq!(plan.cases.len(), planned(&workers).cases.len());
    assert!(estimate_ns(&plan, &[]) < 30 * SECOND);
}
