//! Which yardstick belongs to the trials of a case: chosen by what the case does, before
//! anything is measured, and never by an outcome.

use hopcost_model::{
    Boundary, Case, Ends, Mechanism, Placement, Plan, Reference, Runtime, WaitKind, Workload,
    Yardstick, YardstickClass,
};

/// What a message of the yardsticks that sleep carries, in bytes.
const PAYLOAD_BYTES: u32 = 64;

/// The yardsticks of a plan.
#[derive(Debug, Default)]
pub struct Yardsticks {
    /// One of each class on each CPU or pair of CPUs that needs it.
    pub all: Vec<Yardstick>,
    /// Of each case of the plan, the index of its yardstick in `all`; none for one that is not
    /// pinned, is skipped or is timed by a made-up clock.
    pub of_case: Vec<Option<u32>>,
}

/// The yardsticks that the live cases of a plan need. `mechanism` finds what a runtime says of
/// a mechanism.
pub fn yardsticks<'m>(
    plan: &Plan,
    mechanism: &dyn Fn(&Runtime, &str) -> Option<&'m Mechanism>,
) -> Yardsticks {
    let mut found = Yardsticks { all: Vec::new(), of_case: vec![None; plan.cases.len()] };
    for (index, planned) in plan.live() {
        let case = &planned.case;
        let said = mechanism(&case.runtimes.caller, case.mechanism_name());
        let simulated = simulated(case);
        let of_case =
            if simulated.is_some() { Some(YardstickClass::Alu) } else { class(case, said) };
        let Some(class) = of_case else { continue };
        let (Some(caller), callee) = plan.cpus_for(case.placement) else { continue };
        // A simulated host says itself what an operation takes when it is quiet.
        let reference = simulated.is_some().then(|| Reference {
            operation_ns: SIMULATED_NS,
            learnt_from: "simulated".to_owned(),
            ..Reference::default()
        });
        let is_across = matches!(class, YardstickClass::Wake | YardstickClass::Line);
        let callee = callee.filter(|_| is_across);
        let cpus: Vec<u32> = [caller].into_iter().chain(callee).collect();
        let mut played = simulated.unwrap_or_else(|| played(class, case.placement));
        let said = mechanism(&Runtime::RUST, played.mechanism_name());
        for parameter in said.into_iter().flat_map(|said| &said.parameters) {
            let value = || parameter.default.clone();
            played.parameters.entry(parameter.name.clone()).or_insert_with(value);
        }
        let id = played.id();
        let known = found.all.iter().position(|one| (&one.case, &one.cpus) == (&id, &cpus));
        let at = known.unwrap_or_else(|| {
            found.all.push(Yardstick {
                class,
                case: id,
                cpus,
                operations: 0,
                reference,
                gone: None,
            });
            found.all.len() - 1
        });
        found.of_case[index] = u32::try_from(at).ok();
    }
    found
}

/// What an operation of the engine `known` takes on its quiet host.
const SIMULATED_NS: f64 = 10_000.0;

/// The yardstick of a test engine on a simulated host: one that follows that host alone.
fn simulated(case: &Case) -> Option<Case> {
    let host = case.parameter("host").filter(|host| *host != "none" && case.has_virtual_clock())?;
    let parameters = [("clock", "virtual"), ("host", host)];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Some(Case { parameters, ..Case::new(Workload::Call, "known:level") })
}

/// What kind of work a case's cost is made of; none where nobody can tell, because its ends are
/// where the scheduler puts them or its clock is made up, or because it waits for a schedule, so
/// that a response does not grow in proportion to what an operation takes.
pub fn class(case: &Case, mechanism: Option<&Mechanism>) -> Option<YardstickClass> {
    let placement = case.placement.unwrap_or(Placement::SameCpu);
    if case.has_virtual_clock() || placement == Placement::Free || case.workload == Workload::Load {
        return None;
    }
    // Of the near end's host alone: the far one has yardsticks of its own, if any.
    if case.boundary == Boundary::Host {
        return Some(YardstickClass::Switch);
    }
    Some(match case.two_ends() {
        false => alone(case, mechanism),
        // Whatever its wait, an end that spins there gives its CPU away to be answered.
        true if !placement.is_two_cpu() => YardstickClass::Switch,
        true if sleeps(case) => YardstickClass::Wake,
        true if calls_kernel(case, mechanism) => POLLING,
        true => YardstickClass::Line,
    })
}

/// Ends on two CPUs that look for a message by system calls and do not sleep. Between `syscall`
/// and `line` a measurement decided, weakly: over 24 rounds on two busy virtual CPUs a pipe and
/// a Unix socket that were polled followed getppid in the same round with elasticity 0.65 and
/// 1.02, the cache line with -0.16 and 0.57; dividing by getppid left 0.101 of a standard
/// deviation of 0.105 and 0.083 of 0.094, by the cache line 0.132 and 0.089.
const POLLING: YardstickClass = YardstickClass::Syscall;

/// One operation in one thread.
fn alone(case: &Case, mechanism: Option<&Mechanism>) -> YardstickClass {
    let own = mechanism.and_then(|said| said.own.as_ref());
    match own.and_then(|own| own.call_switches) {
        Some(switches) if switches.least > 0.0 => YardstickClass::Switch,
        _ if calls_kernel(case, mechanism) => YardstickClass::Syscall,
        _ => YardstickClass::Alu,
    }
}

/// Whether an end is asleep whenever its message comes. One that spins before it blocks is not:
/// across CPUs an answer comes within its budget.
fn sleeps(case: &Case) -> bool {
    case.waits.is_some_and(|waits| waits.any(WaitKind::Block) || waits.any(WaitKind::Epoll))
}

/// Whether every operation makes a system call. A range from 0 counts as none: that is a call
/// which the C library answers wherever the kernel lets it.
fn calls_kernel(case: &Case, mechanism: Option<&Mechanism>) -> bool {
    let Some(said) = mechanism else { return false };
    let least = match (&said.own, case.waits) {
        (None, _) => said.system_calls.map(|calls| calls.min),
        (Some(own), None) => own.call_system_calls.map(|calls| calls.least),
        (Some(_), Some(waits)) => said.wait(waits.caller).map(|wait| wait.system_calls.least),
    };
    least.is_some_and(|least| least > 0.0)
}

/// The case that a yardstick of a class plays, without its mechanism's parameters.
fn played(class: YardstickClass, placement: Option<Placement>) -> Case {
    let two = |mechanism: &str, payload_bytes: u32, placement: Option<Placement>, wait| Case {
        payload_bytes: Some(payload_bytes),
        boundary: Boundary::Process,
        placement,
        waits: Some(Ends::both(wait)),
        ..Case::new(Workload::Roundtrip, mechanism)
    };
    match class {
        YardstickClass::Alu => Case::new(Workload::Call, "multiply"),
        YardstickClass::Syscall => Case::new(Workload::Call, "syscall"),
        YardstickClass::Switch => {
            two("pipe", PAYLOAD_BYTES, Some(Placement::SameCpu), WaitKind::Block)
        }
        YardstickClass::Wake => two("pipe", PAYLOAD_BYTES, placement, WaitKind::Block),
        YardstickClass::Line => two("flag", 0, placement, WaitKind::Spin),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hopcost_model::{PlannedCase, TABLE};

    use super::*;

    #[test]
    fn a_case_is_classed_by_what_it_does() {
        let pipe = |sides: &str| format!("roundtrip/pipe?payload=64&boundary=process&{sides}");
        let ring = |sides: &str| pipe(sides).replace("pipe", "shm-ring");
        let across = ["smt", "same-llc", "cross-llc", "cross-node"];
        let mut rows = vec![
            ("call/multiply".to_owned(), Some(YardstickClass::Alu)),
            // The C library answers it where the kernel lets it.
            ("call/vdso-clock".to_owned(), Some(YardstickClass::Alu)),
            ("call/syscall".to_owned(), Some(YardstickClass::Syscall)),
            ("call/thread-start".to_owned(), Some(YardstickClass::Switch)),
            (pipe("place=same-cpu&wait=block"), Some(YardstickClass::Switch)),
            (pipe("place=same-cpu&wait=spin"), Some(YardstickClass::Switch)),
            (pipe("place=free&wait=block"), None),
            (pipe("place=same-cpu&wait=block&clock=virtual"), None),
        ];
        rows.extend(across.into_iter().flat_map(|place| {
            [
                (pipe(&format!("place={place}&wait=block")), Some(YardstickClass::Wake)),
                (pipe(&format!("place={place}&wait=spin")), Some(POLLING)),
                (ring(&format!("place={place}&wait=spin:block")), Some(YardstickClass::Wake)),
                (ring(&format!("place={place}&wait=spin")), Some(YardstickClass::Line)),
                (
                    ring(&format!("place={place}&wait=spin-then-block&spin=20000")),
                    Some(YardstickClass::Line),
                ),
            ]
        }));
        for (id, expected) in rows {
            let case: Case = id.parse().unwrap();
            assert_eq!(class(&case, TABLE.get(&case.mechanism)), expected, "{id}");
        }
        let of = |id: &str| simulated(&id.parse().unwrap()).map(|played| played.id());
        assert_eq!(of("call/known:ar1?clock=virtual&host=none"), None);
        assert_eq!(of("call/x?host=steady"), None, "a host of this name");
        let own = of("call/known:ar1?clock=virtual&host=steady");
        assert_eq!(own.as_deref(), Some("call/known:level?clock=virtual&host=steady"));
    }

    #[test]
    fn a_plan_has_one_of_each_class_and_cpus_and_none_for_what_is_skipped() {
        let across = |mechanism: &str, place: &str| {
            format!("roundtrip/{mechanism}?payload=1&boundary=process&place={place}&wait=block")
        };
        let of = |id: &str| PlannedCase::live(id.parse().unwrap());
        let plan = Plan {
            cpus: vec![2, 3],
            relation: Some(Placement::SameLlc),
            pairs: BTreeMap::from([(Placement::SameLlc, (2, 3)), (Placement::CrossNode, (2, 9))]),
            cases: vec![
                of(&across("pipe", "same-llc")),
                of(&across("futex", "same-llc")),
                of(&across("pipe", "cross-node")),
                of(&across("pipe", "same-cpu")),
                of(&across("pipe", "free")),
                of("call/x"),
                PlannedCase { skip: Some("not here".to_owned()), ..of("call/syscall") },
            ],
            ..Plan::default()
        };
        let found = yardsticks(&plan, &|_, _| None);
        let all: Vec<_> = found.all.iter().map(|one| (one.class, one.cpus.clone())).collect();
        assert_eq!(
            all,
            [
                (YardstickClass::Wake, vec![2, 3]),
                (YardstickClass::Wake, vec![2, 9]),
                (YardstickClass::Switch, vec![2]),
                (YardstickClass::Alu, vec![2]),
            ]
        );
        assert_eq!(
            found.all[1].case,
            "roundtrip/pipe?payload=64&boundary=process&place=cross-node&wait=block"
        );
        let of_case = [Some(0), Some(0), Some(1), Some(2), None, Some(3), None];
        assert_eq!(found.of_case, of_case);
    }
}
