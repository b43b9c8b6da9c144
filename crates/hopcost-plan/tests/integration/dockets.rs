//! Dockets: what is refused, where, and what is planned.

use std::collections::BTreeSet;

use hopcost_model::plan::{Plan, Question};
use hopcost_plan::{Ask, Machine, PlanError, SuiteSource, Test, judging, parse_docket};

use crate::common::{mechanisms, two};

const HEAD: &str = r#"name = "d"
[case]
a = "roundtrip/pipe?payload=4&wait=block"
b = "roundtrip/tcp?payload=4&wait=block"
"#;

fn with(test: &str) -> String {
    format!("{HEAD}[[claim]]\nid = \"1\"\nsentence = \"s\"\ncheck = [{{ test = \"{test}\" }}]\n")
}

fn refused(text: &str) -> String {
    let error = parse_docket("d.toml", text).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn every_form_of_a_check_is_read() {
    for test in [
        "ratio(a, b) ~ 2.73 ± 20%",
        "ratio( a.p99.9 ,b.p99.9 )<=2",
        "difference(a, b) in -4us..4.5 us",
        "value(a.system-calls) in 4..4",
        "value(a.throughput) > 1.5 Gbit/s",
        "value(a.copied-share) < 1%",
        "slope(a; payload) < 0.5ns",
        "share(mechanism; a, b) < 10%",
        "crossover(a over b; payload) <= 4KiB",
        "crossover(a over b; gap) >= 1ms",
        "less(a, b)",
        "order(a.p99, b.p99, a)",
        "equivalent(a, b; 20%)",
        "exists(a)",
        "consistent((1.5 + 2.5) * 2 / 4 - 1 = 1)",
    ] {
        let test = test.replace("4.5 us", "4.5us").replace("1.5 Gbit/s", "1.5Gbit/s");
        parse_docket("d.toml", &with(&test)).unwrap_or_else(|error| panic!("{test}: {error}"));
    }
}

#[test]
fn regions_are_open_where_they_are_said_to_be() {
    let region = |test: &str| match Test::parse(test) {
        Ok(Test::Number(_, region)) => (region.low, region.high),
        other => panic!("{other:?}"),
    };
    assert_eq!(region("value(a.cycles) >= 1k"), (Some(1000.0), None));
    assert_eq!(region("value(a.cycles) > 4"), (Some(4f64.next_up()), None));
    assert_eq!(region("value(a) < 2us"), (None, Some(2000f64.next_down())));
    assert_eq!(region("value(a) in 1us..2ms"), (Some(1e3), Some(2e6)));
    assert_eq!(region("difference(a, b) ~ -10us ± 50%"), (Some(-15e3), Some(-5e3)));
    assert_eq!(region("crossover(a over b; payload) <= 4KiB"), (None, Some(4096.0)));
}

#[test]
fn figures_are_as_exact_as_they_are_printed() {
    let agrees = |test: &str| match Test::parse(test) {
        Ok(Test::Consistent(left, right)) => left.low <= right.high && right.low <= left.high,
        other => panic!("{other:?}"),
    };
    assert!(agrees("consistent(80411 / 10000 = 8.0411)"));
    assert!(agrees("consistent(21.98 / 8.04 = 2.73)"));
    assert!(!agrees("consistent(21.98 / 8.04 = 2.75)"));
    assert!(agrees("consistent(4.9936 / 0.0434 = 115)"));
    assert!(!agrees("consistent(1 + 1 = 3)"));
    assert!(!agrees("consistent(440000 / 20000 in 10..20)"));
    assert!(agrees("consistent(440000 / 20000 in 10..22)"));
    assert!(!agrees("consistent(10 × 2.0 - 1 = 25)"));
}

#[test]
fn mistakes_in_a_check_have_their_place() {
    // The check begins in column 20 of line 8.
    for (test, column, message) in [
        ("ratoi(a, b) < 2", 20, "did you mean `ratio`?"),
        ("ratio(a b) < 2", 28, "want `,` here"),
        ("ratio(a, c) < 2", 29, "unknown case `c`; known: a, b"),
        ("ratio(a.p98, b) < 2", 28, "unknown quantity `p98`"),
        ("ratio(a, b.cycles) < 2", 29, "given in another unit than the first"),
        ("ratio(a, b) ~ 2", 35, "want `± 20%` here"),
        ("ratio(a, b) = 2", 32, "want ~, <, <=, >, >= or in here"),
        ("ratio(a, b) < 2us", 34, "`us` is no unit of it; want %, k, M"),
        ("value(a) < 2", 31, "2 has no unit; want one of ns, us"),
        ("value(a) in 3us..2us", 32, "the range does not rise"),
        ("value(a) < 2us or so", 35, "nothing more is wanted here"),
        ("less(a)", 20, "want two names"),
        ("equivalent(a, b)", 35, "want `;` here"),
        ("slope(a; place) < 1ns", 29, "unknown axis `place`"),
        ("order(a, b, a)", 32, "a is there already"),
        ("ratio(a, a) < 2", 29, "a is there already"),
        ("equivalent(a, b; -20%)", 37, "a tolerance is not below 0 %"),
        ("consistent(1 / 0 = 1)", 31, "divides by what may be 0"),
        ("value(", 26, "want the name of a case here"),
        ("", 20, "`test` is missing"),
    ] {
        let error = refused(&with(test));
        let at =
            if test.is_empty() { "d.toml:8:".to_owned() } else { format!("d.toml:8:{column}: ") };
        assert!(error.starts_with(&at) && error.contains(message), "{test}: {error}");
    }
    let deep = format!("consistent({}1 = 1)", "(".repeat(100_000));
    assert!(refused(&with(&deep)).contains("parentheses within each other"));
    let quantities = ["p50", "mean", "min", "max", "p90", "p95", "p99", "p99.9", "cpu"];
    let many = ["a", "b"].iter().flat_map(|case| quantities.map(|of| format!("{case}.{of}")));
    let many: Vec<String> = many.collect();
    assert!(parse_docket("d.toml", &with(&format!("order({})", many.join(", ")))).is_ok());
    let cases: String = (0..40).map(|i| format!("c{i} = \"roundtrip/pipe\"\n")).collect();
    let names: Vec<String> = (0..40).map(|i| format!("c{i}")).collect();
    let test = format!("equivalent({}; 20%)", names.join(", "));
    let text = with(&test).replace("[[claim]]", &format!("{cases}[[claim]]"));
    assert!(refused(&text).contains("more than 32 cases"));
}

#[test]
fn mistakes_in_the_file_have_their_place() {
    let claim = "[[claim]]\nid = \"1\"\nsentence = \"s\"\ncheck = [{ test = \"exists(a)\" }]\n";
    for (text, message) in [
        ("", "d.toml:1:1: `name` is missing"),
        ("name = \"d\"", "no claims; add a [[claim]]"),
        ("name = \"d\"\nverdict = 1", "d.toml:2:1: unknown key `verdict`"),
        ("name = \"d\"\nclaim = 1", "write [[claim]], with two brackets"),
        ("name = \"d\"\n[case]\na = \"pipe\"", "case.a: says no workload"),
        (&format!("{HEAD}{claim}{claim}"), "d.toml:9:1: claim.id: `1` is there already"),
        (&format!("{HEAD}[[claim]]\nid = \"1\"\nsentence = \"s\""), "has no [[claim.check]]"),
        (&with("ratio(a, b)"), "d.toml:5:1: claim: no check of it has a relation"),
        (
            &format!("{HEAD}{claim}vary = {{ size = [\"4\"] }}"),
            "claim.vary.size: is neither an axis nor a parameter",
        ),
        (
            &format!(
                "{HEAD}{claim}vary = {{ payload = [{0}], wait = [{0}] }}",
                "\"1\",".repeat(900)
            ),
            "makes 900 levels, 64 at most",
        ),
        (
            &format!("{HEAD}{claim}[[question]]\nid = \"E\"\nasks = \"?\"\nclaims = [\"2\"]"),
            "question.claims: unknown claim `2`",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(message), "{error}");
    }
}

fn planned(texts: &[&str], questions: &[&str]) -> Result<Plan, PlanError> {
    let files = texts
        .iter()
        .map(|text| SuiteSource::Text { file: "d.toml".to_owned(), text: (*text).to_owned() });
    let ask = Ask { seed: 1, budget_ns: Some(60_000_000_000), ..Ask::default() };
    let questions: Vec<String> = questions.iter().map(|id| (*id).to_owned()).collect();
    let machine: Machine = two();
    judging(&ask, &files.collect::<Vec<_>>(), &questions, &mechanisms(), &Vec::new, &machine)
}

#[test]
fn several_dockets_share_their_cases() {
    let one = with("ratio(a, b) < 2")
        .replace("sentence", "vary = { place = [\"same-cpu\", \"cross\"] }\nsentence");
    let two = with("value(b.system-calls) < 9").replace("wait=block", "wait=block&place=cross");
    let plan = planned(&[&one, &two], &[]).unwrap();
    let ids: Vec<String> = plan.cases.iter().map(|case| case.id()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(plan.trial.counted_operations > 0, "a check is about system calls");
    let Some(Question::Dockets(dockets)) = &plan.question else { panic!("{plan:?}") };
    assert_eq!((dockets.len(), dockets[0].cases.len()), (2, 4));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
}

#[test]
fn a_name_stands_for_one_case_but_for_sweeps() {
    let error = planned(&[&with("ratio(a, b) < 2")], &[]).unwrap_err().to_string();
    assert!(error.starts_with("d.toml:3:5: case.a: it selects 2 cases"), "{error}");
    let swept = with("crossover(a over b; payload) <= 4KiB")
        .replace("payload=4&", "payload=4,4KiB&place=same-cpu&");
    assert_eq!(planned(&[&swept], &[]).unwrap().cases.len(), 4);
    let unknown = with("exists(a)").replace("roundtrip/pipe", "roundtrip/piep");
    let error = planned(&[&unknown], &[]).unwrap_err().to_string();
    assert!(error.starts_with("d.toml:3:5: case.a: unknown mechanism `piep`"), "{error}");
}

#[test]
fn a_question_is_of_its_claims_alone() {
    let text = format!(
        "{}[[claim]]\nid = \"2\"\nsentence = \"t\"\ncheck = [{{ test = \"exists(b)\" }}]\n\
         [[question]]\nid = \"E1\"\nasks = \"?\"\nclaims = [\"2\"]\n",
        with("exists(a)")
    )
    .replace("wait=block", "wait=block&place=same-cpu");
    assert_eq!(planned(&[&text], &[]).unwrap().cases.len(), 2);
    let plan = planned(&[&text], &["E1"]).unwrap();
    assert_eq!(plan.cases.len(), 1, "{:?}", plan.cases);
    let error = planned(&[&text], &["E9"]).unwrap_err().to_string();
    assert!(error.contains("--question: unknown question `E9`"), "{error}");
}
