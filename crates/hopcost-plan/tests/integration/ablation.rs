//! What stands beside a case that is taken apart, and what its parts are made of.

use std::collections::BTreeMap;

use crate::common::*;
use hopcost_model::plan::{AblationOf, AblationPlan, AblationTerm, ExplanationPlan, Plan};
use hopcost_plan::{Ask, PlanError, ensure_live};

fn taken_apart(ask: &Ask) -> Result<Plan, PlanError> {
    let refused = Some("no rights".to_owned());
    let ablation = Some(AblationPlan { refused, cases: Vec::new() });
    let asked = ExplanationPlan { tail: None, ablation };
    hopcost_plan::explanation(ask, asked, &mechanisms(), &Vec::new, &two())
}

fn added<'a>(terms: impl Iterator<Item = &'a AblationTerm>) -> BTreeMap<u32, i32> {
    let mut sum = BTreeMap::new();
    terms.for_each(|term| *sum.entry(term.case).or_default() += term.times);
    sum.retain(|_, times| *times != 0);
    sum
}

/// Its parts add up to it, and its bounds leave one another what there is.
fn add_up(of: &AblationOf) {
    let whole = BTreeMap::from([(of.case, 1)]);
    assert_eq!(added(of.parts.iter().flat_map(|part| &part.sum)), whole, "{of:?}");
    if let [one, other] = of.bounds.as_slice() {
        assert_eq!(added(one.least.iter().chain(&other.most)), whole, "{of:?}");
        assert_eq!(added(one.most.iter().chain(&other.least)), whole, "{of:?}");
    }
}

#[test]
fn a_pipe_on_one_cpu_stands_beside_what_does_a_part_of_its_work() {
    let plan = taken_apart(&ask(&["pipe?place=same-cpu"])).unwrap();
    ensure_live(&plan).unwrap();
    assert_eq!(
        ids(&plan),
        [
            "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block",
            "call/pipe-inline?payload=64",
            "call/pipe-inline?payload=1",
            "call/syscall",
            "roundtrip/flag?payload=0&boundary=process&place=same-cpu&wait=yield",
            "call/sched-yield",
        ]
    );
    assert!(plan.trial.traced_operations.is_none() && plan.pairs_neighbours());
    let ablation = plan.ablation().unwrap();
    assert_eq!(ablation.refused.as_deref(), Some("no rights"));
    let [of] = ablation.cases.as_slice() else { panic!("{ablation:?}") };
    add_up(of);
    assert_eq!((of.parts.len(), of.bounds.len()), (5, 2));
}

#[test]
fn parts_add_up_whatever_the_case() {
    for (selectors, parts, bounds, all) in [
        (&["pipe?place=same-cpu&payload=1"][..], 4, 2, 5),
        (&["pipe?place=cross"], 6, 0, 7),
        (&["eventfd?place=same-cpu"], 5, 2, 6),
        (&["unix-stream?place=same-cpu&boundary=thread&payload=4KiB"], 6, 2, 7),
        (&["pipe?place=same-cpu", "tcp?place=same-cpu"], 5, 2, 7),
    ] {
        let plan = taken_apart(&ask(selectors)).unwrap();
        ensure_live(&plan).unwrap();
        let of = &plan.ablation().unwrap().cases;
        assert_eq!(of.len(), selectors.len());
        of.iter().for_each(add_up);
        let counts = (of[0].parts.len(), of[0].bounds.len(), plan.cases.len());
        assert_eq!(counts, (parts, bounds, all), "{selectors:?}");
    }
    // What is said of all cases is of those that are asked for.
    let asked = on([("place", "same-cpu"), ("payload", "4096")], ask(&["tcp"]));
    let plan = taken_apart(&asked).unwrap();
    let own = ids(&plan);
    assert!(own[0].starts_with("roundtrip/tcp?payload=4096"), "{own:?}");
    assert!(own[2..4] == ["call/pipe-inline?payload=4096", "call/pipe-inline?payload=1"]);
}

#[test]
fn what_no_other_case_does_a_part_of_is_refused() {
    for (selector, why) in [
        ("stream/tcp-send", "round trips"),
        ("pipe?place=cross&wait=spin", "an end that spins"),
        ("shm-ring?place=same-cpu&payload=65537&wait=block", "64 KiB"),
    ] {
        let error = one_line(taken_apart(&ask(&[selector])).unwrap_err());
        assert!(error.contains(why), "{selector}: {error}");
    }
}
