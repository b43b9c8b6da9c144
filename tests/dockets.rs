//! The dockets that hopcost brings have every claim of the five documents once, and tell no verdict;
//! what docs/dockets.md writes is what the parser reads.

use std::collections::BTreeMap;

use hopcost_model::case::Placement;
use hopcost_model::mechanism::Mechanism;
use hopcost_plan::{Ask, DOCKETS, Machine, SuiteSource, Test, docket, judging, parse_docket};
use hopcost_probe::mechanism::ALL;

use crate::suites::MISTAKES;

/// The claims of each document.
const CLAIMS: [(&str, &str, u32); 5] = [
    ("threads-udp-websocket", "000", 12),
    ("runtimes", "001", 11),
    ("microkernel", "002", 12),
    ("wakeup", "003", 6),
    ("copies", "004", 20),
];

const PAGE: &str = include_str!("../docs/dockets.md");

#[test]
fn every_claim_of_the_documents_is_in_its_docket_once() {
    let names: Vec<&str> = DOCKETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, CLAIMS.map(|(name, ..)| name));
    for ((name, text), (_, document, count)) in DOCKETS.iter().zip(CLAIMS) {
        let docket = parse_docket(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(docket.name, *name);
        let ids: Vec<&str> = docket.claims.iter().map(|claim| claim.id.as_str()).collect();
        let all: Vec<String> = (1..=count).map(|n| format!("{document}-{n:02}")).collect();
        assert_eq!(ids, all, "{name}");
    }
}

#[test]
fn the_cases_of_all_dockets_are_such_as_their_mechanisms_have() {
    let rust: Vec<Mechanism> = ALL.iter().map(|row| Mechanism::of(&row.facts)).collect();
    let machine = Machine {
        allowed_cpus: vec![0, 1],
        pairs: BTreeMap::from([(Placement::SameLlc, (0, 1))]),
        cross: Some(Placement::SameLlc),
        dma_latency: || Ok(()),
        namespaces: || Ok(()),
        one_way: |_, _| Ok(()),
        ..Machine::default()
    };
    let all: Vec<SuiteSource> = DOCKETS.iter().filter_map(|(name, _)| docket(name)).collect();
    assert_eq!(all.len(), DOCKETS.len());
    let plan = judging(&Ask::default(), &all, &[], &rust, &Vec::new, &machine)
        .unwrap_or_else(|error| panic!("{error}"));
    // At a quarter of a second a trial, seven rounds are four minutes.
    assert!(plan.cases.len() < 150, "{} cases", plan.cases.len());
    for case in &plan.cases {
        let Some(skip) = &case.skip else { continue };
        assert!(case.id().contains("runtime="), "{}: {skip}", case.id());
        let mistake = MISTAKES.iter().any(|mistake| skip.contains(mistake));
        assert!(!mistake, "{}: {skip}", case.id());
    }
}

#[test]
fn no_docket_tells_a_verdict() {
    for (name, text) in DOCKETS {
        for key in ["verdict", "expect", "expected", "result"] {
            for place in ["[[claim]]\n", "[[claim.check]]\n"] {
                let told = text.replacen(place, &format!("{place}{key} = \"holds\"\n"), 1);
                let error = parse_docket(name, &told).expect_err("a key that tells a verdict");
                assert!(error.to_string().contains(key), "{error}");
            }
        }
        let comments = text.lines().filter(|line| line.trim_start().starts_with('#'));
        for line in comments {
            let mut words = line.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
            let told = ["holds", "fails", "verdict", "expected", "true", "false", "wrong"];
            assert!(!words.any(|word| told.contains(&word.as_str())), "{name}: {line}");
        }
    }
}

/// What stands in backquotes in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What the parser says it knows, where a check has something that it does not.
fn known(check: &str) -> Vec<String> {
    let error = Test::parse(check).expect_err("nothing that is known").1;
    let list = error.split("known: ").nth(1).unwrap_or_else(|| panic!("{error}"));
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_page_writes_what_the_parser_reads() {
    parse_docket("docs/dockets.md", example()).unwrap_or_else(|error| panic!("{error}"));

    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let checks: Vec<&str> = rows.filter_map(|line| quoted(line).next()).collect();
    for check in &checks {
        Test::parse(check).unwrap_or_else(|(at, message)| panic!("{check}, byte {at}: {message}"));
    }
    for word in known("qqqqqqqq(a) > 1") {
        let is = |check: &&str| check.starts_with(&format!("{word}("));
        assert!(checks.iter().any(is), "{word} has no row");
    }
    let words: Vec<&str> = quoted(PAGE).collect();
    let others = [known("value(a.qqqqqqqq) > 1"), known("slope(a; qqqqqqqq) > 1")].concat();
    for word in others.iter().filter(|word| *word != "headline") {
        assert!(words.contains(&word.as_str()), "{word} is not on the page");
    }
}

fn example() -> &'static str {
    let example = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    example.expect("an example")
}
