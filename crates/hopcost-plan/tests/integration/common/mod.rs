//! Machines to plan for, and the binary's mechanisms without its code.

pub mod runtimes;

use std::collections::BTreeMap;
use std::path::Path;

use hopcost_model::units::parse_duration_ns;
use hopcost_model::{Argument, Case, Mechanism, Placement, Plan, TABLE};
use hopcost_plan::{Ask, Catalog, Machine, PlanError, RuntimeFacts, SuiteSource};

pub const SECOND: u64 = 1_000_000_000;

/// Mechanisms, of which POSIX queues and a request of io_uring are not available here.
pub fn mechanisms() -> Vec<Mechanism> {
    let mut all = TABLE.clone();
    let mut engine = |name: &str, form, fits| {
        all.get_mut(name).unwrap().here.argument = Some(Argument { form, fits });
    };
    engine("null", "null", |argument| argument.is_none());
    engine("sleep", "sleep:1ms", |text| text.is_some_and(|t| parse_duration_ns(t).is_ok()));
    engine("spin", "spin:1000", |text| text.is_some_and(|n| n.parse::<u64>().is_ok()));
    let queues = || Err("mq_open: function not\nimplemented".to_owned());
    all.get_mut("posix-mq").unwrap().here.available = queues;
    all.get_mut("tcp-uring-zc").unwrap().here.available_as = |case| match case.parameter("sends") {
        Some("field") => Err("this kernel's io_uring has no SEND_ZC".to_owned()),
        _ => Ok(()),
    };
    all.into_values().collect()
}

/// Compares a file of questions and answers with what `answer` says of each question. Blank lines
/// separate the questions, and `=> ` begins a line of an answer. With ACCEPT=1 the file is written anew.
pub fn answers(file: &str, answer: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration").join(file);
    let written = std::fs::read_to_string(&path).unwrap();
    let is_answer = |line: &&str| line.starts_with("=> ");
    let found = written.trim_end().split("\n\n").map(|block| {
        let question: Vec<&str> = block.lines().filter(|line| !is_answer(line)).collect();
        let question = question.join("\n");
        let lines: Vec<String> =
            answer(&question).lines().map(|line| format!("\n=> {line}")).collect();
        question + &lines.concat()
    });
    let found: Vec<String> = found.collect();
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&path, found.join("\n\n") + "\n").unwrap();
        return;
    }
    for (found, written) in found.iter().zip(written.trim_end().split("\n\n")) {
        assert_eq!(found, written, "{file}");
    }
}

/// Two CPUs, as the machine that this was written on.
pub fn two() -> Machine {
    Machine {
        allowed_cpus: vec![0, 1],
        pairs: BTreeMap::from([(Placement::SameLlc, (0, 1))]),
        cross: Some(Placement::SameLlc),
        asked: None,
        peer_cpu: None,
        dma_latency: || Ok(()),
        namespaces: || Ok(()),
        one_way: |_, _| Ok(()),
    }
}
/// A container with one CPU.
pub fn one() -> Machine {
    Machine { allowed_cpus: vec![3], pairs: BTreeMap::new(), ..two() }
}
/// Two sockets with hardware threads.
pub fn big() -> Machine {
    let pairs =
        [(Placement::Smt, (0, 32)), (Placement::SameLlc, (0, 1)), (Placement::CrossNode, (0, 16))];
    Machine { allowed_cpus: (0..64).collect(), pairs: pairs.into(), ..two() }
}

pub fn ask(selectors: &[&str]) -> Ask {
    Ask { selectors: strings(selectors), seed: 7, ..Ask::default() }
}
/// With a text on each of these axes.
pub fn on<const N: usize>(axes: [(&'static str, &str); N], ask: Ask) -> Ask {
    Ask { axes: axes.map(|(axis, text)| (axis, strings(&[text]))).into(), ..ask }
}
pub fn shipped(name: &str) -> Ask {
    Ask { suite: Some(hopcost_plan::suite(name).unwrap()), ..ask(&[]) }
}
pub fn file(text: &str) -> Ask {
    Ask { suite: Some(SuiteSource { file: "my.toml".into(), text: text.into() }), ..ask(&[]) }
}
pub fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}
pub fn planned(ask: &Ask) -> Result<Plan, PlanError> {
    planned_on(&two(), ask)
}
pub fn planned_on(machine: &Machine, ask: &Ask) -> Result<Plan, PlanError> {
    hopcost_plan::plan(ask, &Catalog::new(mechanisms(), Vec::new), machine)
}
pub fn planned_beside(
    workers: impl Fn() -> Vec<RuntimeFacts>,
    ask: &Ask,
) -> Result<Plan, PlanError> {
    hopcost_plan::plan(ask, &Catalog::new(mechanisms(), workers), &two())
}
pub fn cases(plan: &Plan) -> Vec<Case> {
    plan.cases.iter().map(|case| case.case.clone()).collect()
}
pub fn ids(plan: &Plan) -> Vec<String> {
    plan.cases.iter().map(|case| case.id()).collect()
}
pub fn skips(plan: &Plan) -> Vec<Option<&str>> {
    plan.cases.iter().map(|case| case.skip.as_deref()).collect()
}
/// Every case selects exactly itself.
pub fn select_themselves(plan: &Plan, planned: impl Fn(&Ask) -> Result<Plan, PlanError>) {
    for case in &plan.cases {
        let parsed: Case = case.case.clone();
        assert_eq!(parsed.to_string(), &*case.id());
        let again = planned(&ask(&[&case.id()])).unwrap();
        assert_eq!(&again.cases, std::slice::from_ref(case));
    }
}
/// The error's line, checked to be one.
pub fn error(ask: &Ask) -> String {
    one_line(planned(ask).unwrap_err())
}
pub fn one_line(error: PlanError) -> String {
    let text = error.to_string();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(text.len() < 1000, "{text}");
    text
}
