//! Claims files: what is refused, where, and what is planned.

use std::collections::BTreeSet;

use hopcost_model::{Plan, Question};
use hopcost_plan::{Ask, Catalog, PlanError, SuiteSource, judging, parse_claims};

use crate::common::{answers, mechanisms, two};

const HEAD: &str = r#"name = "d"
[case]
a = "roundtrip/pipe?payload=4&wait=block"
b = "roundtrip/tcp?payload=4&wait=block"
"#;

fn with(check: &str) -> String {
    format!("{HEAD}[[claim]]\nid = \"1\"\nsentence = \"s\"\ncheck = [{{ {check} }}]\n")
}

fn refused(text: &str) -> String {
    let error = parse_claims("d.toml", text).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn bounds_take_the_units_of_their_statistic() {
    let region = |check: &str| {
        let claims =
            parse_claims("d.toml", &with(check)).unwrap_or_else(|e| panic!("{check}: {e}"));
        let region = claims.claims[0].checks().next().unwrap().region;
        (region.low, region.high)
    };
    let about = |x: f64| (Some(x / 1.2), Some(x * 1.2));
    for (check, wanted) in [
        ("of = 'a', over = 'b', about = 2.73", about(2.73)),
        ("of = 'a', over = 'b', statistic = 'p99.9', to = 2", (None, Some(2.0))),
        ("of = 'a', minus = 'b', about = -10", (Some(-12.0), Some(-10.0 / 1.2))),
        ("of = 'a', from = '1us', to = '2ms'", (Some(1e3), Some(2e6))),
        ("of = 'a', statistic = 'system-calls', from = 4, to = 4", (Some(4.0), Some(4.0))),
        ("of = 'a', statistic = 'throughput', from = 1.5", (Some(1.5), None)),
        ("of = 'a', statistic = 'copied-share', to = '1%'", (None, Some(0.01))),
        ("of = 'a', statistic = 'DRIFT.relative_change', from = 0.1", (Some(0.1), None)),
        ("of = 219_786, over = 80_411, from = 2.725, to = 2.735", (Some(2.725), Some(2.735))),
        ("of = 'a', fails = 'why'", (None, None)),
    ] {
        assert_eq!(region(check), wanted, "{check}");
    }
}

/// A question that begins with a check or a claim stands below two cases, `a` and `b`.
#[test]
fn mistakes_have_their_place() {
    answers("claims.txt", |text| match text.split_once(' ') {
        Some(("check", check)) => refused(&with(check)),
        _ if text.starts_with("[[claim]]") => refused(&format!("{HEAD}{text}\n")),
        _ => refused(text),
    });
    let hidden = refused(&(with("of = 'a', to = '1us'") + "at = \"\\u202e\"\n"));
    assert!(hidden.contains("d.toml:9:6: has a line break or a character that does not show"));
    assert!(refused("").contains("d.toml:1:1: missing field `name`"));
}

fn planned(texts: &[&str], questions: &[&str]) -> Result<Plan, PlanError> {
    let files = texts
        .iter()
        .map(|text| SuiteSource { file: "d.toml".to_owned(), text: (*text).to_owned() });
    let ask = Ask { seed: 1, budget_ns: Some(60_000_000_000), ..Ask::default() };
    let questions: Vec<String> = questions.iter().map(|id| (*id).to_owned()).collect();
    let catalog = Catalog::new(mechanisms(), Vec::new);
    judging(&ask, &files.collect::<Vec<_>>(), &questions, &catalog, &two())
}

#[test]
fn several_files_share_their_cases() {
    let one = with("of = 'a', over = 'b', to = 2")
        .replace("sentence", "vary = { place = [\"same-cpu\", \"cross\"] }\nsentence");
    let two = with("of = 'b', statistic = 'system-calls', to = 9")
        .replace("wait=block", "wait=block&place=cross");
    let plan = planned(&[&one, &two], &[]).unwrap();
    let ids: Vec<String> = plan.cases.iter().map(|case| case.id()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(plan.trial.counted_operations > 0, "a check is about system calls");
    let Some(Question::Claims(files)) = &plan.question else { panic!("{plan:?}") };
    let ids: Vec<usize> = files.iter().flat_map(|of| of.cases.values().map(Vec::len)).collect();
    assert_eq!(ids, [2, 2, 1]);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
}

#[test]
fn the_cases_of_a_name_differ_in_what_it_lists() {
    let error = planned(&[&with("of = 'a', over = 'b', to = 2")], &[]).unwrap_err().to_string();
    let message = "d.toml:3:5: case.a: it selects 2 cases that differ in what it does not list";
    assert!(error.starts_with(message), "{error}");
    let swept = with("of = 'a', over = 'b', to = 2")
        .replace("payload=4&", "payload=4,4KiB&place=same-cpu&");
    assert_eq!(planned(&[&swept], &[]).unwrap().cases.len(), 4);
    let unknown = with("of = 'a', to = '1us'").replace("roundtrip/pipe", "roundtrip/piep");
    let error = planned(&[&unknown], &[]).unwrap_err().to_string();
    assert!(error.starts_with("d.toml:3:5: case.a: unknown mechanism `piep`"), "{error}");
}

#[test]
fn a_question_needs_only_its_claims() {
    let text = format!(
        "{}[[claim]]\nid = \"2\"\nsentence = \"t\"\ncheck = [{{ of = 'b', to = '1us' }}]\n\
         [[question]]\nid = \"E1\"\nasks = \"?\"\nclaims = [\"2\"]\n",
        with("of = 'a', to = '1us'")
    )
    .replace("wait=block", "wait=block&place=same-cpu");
    assert_eq!(planned(&[&text], &[]).unwrap().cases.len(), 2);
    let plan = planned(&[&text], &["E1"]).unwrap();
    assert_eq!(plan.cases.len(), 1, "{:?}", plan.cases);
    let error = planned(&[&text], &["E9"]).unwrap_err().to_string();
    assert!(error.contains("--question: unknown question `E9`"), "{error}");
}
