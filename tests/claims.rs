//! The claims files of the five documents have every claim and state no verdict; the example of
//! docs/claims.md is one that the parser reads.

use hopcost_model::case::Placement;
use hopcost_plan::{Ask, CLAIMS, Catalog, Machine, SuiteSource, claims, judging, parse_claims};
use hopcost_probe::mechanism::ALL;

use crate::fuzzed::targets::few_cpus;

/// The claims of each document.
const DOCUMENTS: [(&str, &str, u32); 5] = [
    ("threads-udp-websocket", "000", 12),
    ("runtimes", "001", 11),
    ("microkernel", "002", 12),
    ("wakeup", "003", 6),
    ("copies", "004", 20),
];

const PAGE: &str = include_str!("../docs/claims.md");

/// The shipped files but for the self-test.
fn published() -> impl Iterator<Item = (&'static str, &'static str)> {
    CLAIMS.iter().copied().filter(|(name, _)| *name != "self-test")
}

#[test]
fn every_claim_of_the_documents_is_in_its_file() {
    let names: Vec<&str> = published().map(|(name, _)| name).collect();
    assert_eq!(names, DOCUMENTS.map(|(name, ..)| name));
    for ((name, text), (_, document, count)) in published().zip(DOCUMENTS) {
        let parsed = parse_claims(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parsed.name, name);
        // Each meaning of an ambiguous sentence has a letter behind the sentence's id.
        let mut ids: Vec<&str> = Vec::new();
        for claim in &parsed.claims {
            ids.push(claim.id.trim_end_matches(|c: char| c.is_ascii_lowercase()));
        }
        ids.dedup();
        let all: Vec<String> = (1..=count).map(|n| format!("{document}-{n:02}")).collect();
        assert_eq!(ids, all, "{name}");
    }
}

#[test]
fn the_cases_of_all_files_are_such_as_their_mechanisms_have() {
    let rust = ALL.iter().map(|row| row.facts().clone()).collect();
    let machine = Machine { cross: Some(Placement::SameLlc), ..few_cpus() };
    let all: Vec<SuiteSource> = CLAIMS.iter().filter_map(|(name, _)| claims(name).ok()).collect();
    assert_eq!(all.len(), CLAIMS.len());
    let plan = judging(&Ask::default(), &all, &[], &Catalog::new(rust, Vec::new), &machine)
        .unwrap_or_else(|error| panic!("{error}"));
    // At a quarter of a second a trial, seven rounds are four minutes.
    assert!(plan.cases.len() < 160, "{} cases", plan.cases.len());
    for case in &plan.cases {
        let Some(skip) = &case.skip else { continue };
        assert!(skip.contains(" is absent: no worker of it was found"), "{}: {skip}", case.id());
    }
}

#[test]
fn the_example_of_the_page_is_read_and_every_statistic_is_on_it() {
    parse_claims("docs/claims.md", example()).unwrap_or_else(|error| panic!("{error}"));
    let strange = example().replacen("statistic = \"system-calls\"", "statistic = \"qqqqqqqq\"", 1);
    let error = parse_claims("docs/claims.md", &strange).expect_err("an unknown word").to_string();
    let known = error.split("known: ").nth(1).unwrap_or_else(|| panic!("{error}"));
    for word in known.split(", ").filter(|word| *word != "headline") {
        assert!(PAGE.contains(&format!("`{word}`")), "{word} is not on the page");
    }
}

fn example() -> &'static str {
    let example = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    example.expect("an example")
}
