//! The dockets that hopcost brings have every claim of the five documents once, and tell no verdict;
//! what docs/dockets.md writes is what the parser reads, and the schema knows its keys.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::Placement;
use hopcost_model::mechanism::Mechanism;
use hopcost_plan::{Ask, DOCKETS, Machine, SuiteSource, Test, docket, judging, parse_docket};
use hopcost_probe::mechanism::ALL;
use schemars::JsonSchema;
use serde_json::{Value, json};

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
fn the_six_questions_of_the_copies_document_name_their_claims() {
    let (name, text) = DOCKETS.iter().find(|(name, _)| *name == "copies").expect("copies");
    let docket = parse_docket(name, text).unwrap_or_else(|error| panic!("{error}"));
    let ids: Vec<&str> = docket.questions.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(ids, ["E1", "E2", "E3", "E4", "E5", "E6"]);
    assert!(docket.questions.iter().all(|question| !question.claims.is_empty()));
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

/// A docket as TOML has it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct DocketFile {
    /// Its name.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{1,100}$"))]
    name: String,
    /// What it is about, in a sentence.
    about: Option<String>,
    /// Who published its claims.
    source: Option<String>,
    /// Names for cases: selectors with their workload, as in docs/suites.md.
    #[schemars(default)]
    case: BTreeMap<String, String>,
    /// The claims.
    #[schemars(length(min = 1))]
    claim: Vec<ClaimTable>,
    /// Questions that are answered from the claims.
    #[schemars(default)]
    question: Vec<QuestionTable>,
}

/// A sentence with its checks; it has one, or a part that is not checkable.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("anyOf" = [
    { "required": ["check"], "properties": { "check": { "minItems": 1 } } },
    { "required": ["not-checkable"], "properties": { "not-checkable": { "minItems": 1 } } },
]))]
#[allow(dead_code)]
struct ClaimTable {
    /// An id that no other claim of the docket has.
    #[schemars(length(min = 1))]
    id: String,
    /// As it was published.
    #[schemars(length(min = 1))]
    sentence: String,
    /// Where it stands in the source.
    at: Option<String>,
    /// Keys of selectors with the values at each of which the checks are made.
    #[schemars(default)]
    vary: BTreeMap<String, Texts>,
    /// The checks, each of which has to hold.
    #[schemars(default)]
    check: Vec<CheckTable>,
    /// Parts that no measurement can tell.
    #[schemars(rename = "not-checkable", default)]
    not_checkable: Vec<NotCheckableTable>,
}

/// A text or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code)]
enum Texts {
    /// One.
    One(String),
    /// Several.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

/// A check.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct CheckTable {
    /// What it says, if not what the sentence says.
    says: Option<String>,
    /// The check, as docs/dockets.md lists them.
    #[schemars(length(min = 1))]
    test: String,
    /// What an ambiguous sentence is taken to mean.
    meaning: Option<String>,
}

/// A part of a sentence that no measurement can tell.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct NotCheckableTable {
    /// The words.
    #[schemars(length(min = 1))]
    part: String,
    /// Why not.
    #[schemars(length(min = 1))]
    reason: String,
}

/// A question whose answer follows from claims.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct QuestionTable {
    /// Its id, for `--question`.
    #[schemars(length(min = 1))]
    id: String,
    /// The question.
    #[schemars(length(min = 1))]
    asks: String,
    /// Ids of claims.
    claims: Texts,
}

/// The keys of a docket.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(DocketFile).to_value();
    schema["title"] = json!("hopcost docket");
    schema
}

/// A docket as JSON.
fn as_json(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
}

fn example() -> &'static str {
    let example = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    example.expect("an example")
}

#[test]
fn every_docket_follows_the_schema() {
    let schema = jsonschema::validator_for(&schema()).expect("a valid schema");
    let dockets = DOCKETS.iter().copied().chain([("docs/dockets.md", example())]);
    for (name, text) in dockets {
        let docket = as_json(text);
        let faults = schema.iter_errors(&docket);
        let faults: Vec<String> = faults.map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(faults, [""; 0], "{name}");
    }
}

#[test]
fn the_schema_and_the_parser_know_the_same_keys_and_refuse_all_others() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let of = |name: &str| &schema["$defs"][name];
    for (place, table) in [
        ("name = ", &schema),
        ("[[claim]]\n", of("ClaimTable")),
        ("[[claim.check]]\n", of("CheckTable")),
        ("[[claim.not-checkable]]\n", of("NotCheckableTable")),
        ("[[question]]\n", of("QuestionTable")),
    ] {
        let begin = example().lines().find(|line| line.starts_with(place.trim_end()));
        let begin = begin.expect("such a line");
        let strange = match place {
            "name = " => format!("qqqqqqqq = 1\n{begin}"),
            _ => format!("{begin}\nqqqqqqqq = 1"),
        };
        let text = example().replacen(begin, &strange, 1);
        assert!(!validator.is_valid(&as_json(&text)), "{place}");
        let error = parse_docket("d.toml", &text).expect_err("an unknown key").to_string();
        let known = error.split("known: ").nth(1).unwrap_or_else(|| panic!("{place}: {error}"));
        let known: BTreeSet<&str> = known.trim_end().split(", ").collect();
        let keys = table["properties"].as_object().expect("properties").keys();
        assert_eq!(keys.map(String::as_str).collect::<BTreeSet<_>>(), known, "{place}");
    }
    for (from, to) in [
        ("id = \"1\"\n", ""),
        ("claims = [\"1\", \"2\"]", "claims = 1"),
        ("name = \"mine\"", "name = \"my docket\""),
    ] {
        let text = example().replacen(from, to, 1);
        assert_ne!(text, example(), "{from}");
        assert!(!validator.is_valid(&as_json(&text)), "{to}");
        assert!(parse_docket("d.toml", &text).is_err(), "{to}");
    }
}
