//! The JSON documents that hopcost prints, and their schema.

use std::path::Path;

use flate2::read::GzDecoder;
use hopcost_model::SCHEMA;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::results::{Advice, Checkup, Results, RunComparison};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::artefacts::loads;
use crate::support::wait::InTime;
use crate::support::{Home, alone};

/// What `run --dry-run --format json` prints.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct DryRun {
    /// Always `hopcost/1`.
    schema: String,
    /// How long the run will take.
    estimate_ns: u64,
    /// The plan, every default filled in.
    plan: Plan,
}

/// What `list --format json` prints.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct MechanismList {
    /// Always `hopcost/1`.
    schema: String,
    /// Every mechanism, in the order of the documentation.
    mechanisms: Vec<Mechanism>,
    /// The runtimes besides Rust.
    runtimes: Vec<RuntimeListed>,
}

/// A runtime whose worker was looked for.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct RuntimeListed {
    /// How cases spell it.
    runtime: String,
    /// Why it cannot be used, and how to get it; `null` if it is here, all below
    /// but `mechanisms` and `besides` if it is not.
    absent: Option<String>,
    /// Version of the worker.
    version: Option<String>,
    /// What it is made of, with versions.
    libraries: Option<std::collections::BTreeMap<String, String>>,
    /// What of the runtime itself shapes its numbers.
    remarks: Option<Vec<String>>,
    /// The clock of its stamps.
    clock: Option<hopcost_model::describe::WorkerClock>,
    /// How long it has to be warmed up.
    warm_up: Option<hopcost_model::describe::WarmUp>,
    /// What its worker says of its mechanisms.
    mechanisms: Vec<Mechanism>,
    /// Those among them that Rust has not.
    besides: Vec<String>,
}

/// A mechanism as another runtime has it.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct RuntimeShown {
    /// The runtime.
    runtime: String,
    /// What its worker says.
    mechanism: Mechanism,
}

/// What `show --format json` prints.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct MechanismShown {
    /// Always `hopcost/1`.
    schema: String,
    /// The mechanism in Rust.
    mechanism: Option<Mechanism>,
    /// The mechanism in every other runtime that is here and has it.
    runtimes: Vec<RuntimeShown>,
}

/// The schema of everything that is printed as JSON.
///
/// It is of what is written, so every field is required. Fields may be added
/// within `hopcost/1`, so others are allowed.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    for declare in [
        schemars::SchemaGenerator::subschema_for::<Results>,
        schemars::SchemaGenerator::subschema_for::<Checkup>,
        schemars::SchemaGenerator::subschema_for::<RunComparison>,
        schemars::SchemaGenerator::subschema_for::<Advice>,
        schemars::SchemaGenerator::subschema_for::<DryRun>,
        schemars::SchemaGenerator::subschema_for::<MechanismList>,
        schemars::SchemaGenerator::subschema_for::<MechanismShown>,
    ] {
        let _: Schema = declare(&mut generator);
    }
    let mut definitions = Value::Object(generator.take_definitions(true));
    for name in KINDS {
        definitions[name]["properties"]["schema"]["const"] = json!(SCHEMA);
    }
    let alternatives = KINDS.map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "description": "Every JSON document that hopcost prints. Times are nanoseconds. `null`: not \
            known. Fields may be added within hopcost/1; none is removed or changes its meaning.",
        "anyOf": alternatives,
        "$defs": definitions,
    })
}

/// The documents: of a run, of a machine, of a comparison of runs, of a recommendation, of a plan, of all mechanisms, of one.
const KINDS: [&str; 7] =
    ["Results", "Checkup", "RunComparison", "Advice", "DryRun", "MechanismList", "MechanismShown"];

/// A copy of a schema that admits no field which it does not name, so that the
/// tests notice fields that are printed but not published.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut copy: serde_json::Map<_, _> =
                members.iter().map(|(name, value)| (name.clone(), closed(value))).collect();
            if members.get("properties").is_some_and(Value::is_object)
                && members.get("type").is_some_and(|t| t == "object")
            {
                copy.insert("additionalProperties".into(), json!(false));
            }
            Value::Object(copy)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

/// What a document breaks of its definition, fields that are not published included.
fn faults(kind: &str, text: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(text).expect("JSON");
    let whole = self::document();
    let open = jsonschema::validator_for(&whole).expect("a valid schema");
    let mut strict = closed(&whole);
    strict.as_object_mut().expect("an object").remove("anyOf");
    strict["$ref"] = json!(format!("#/$defs/{kind}"));
    let strict = jsonschema::validator_for(&strict).expect("a valid schema");
    let mut faults: Vec<String> = strict
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    if faults.is_empty() && !open.is_valid(&document) {
        faults.push(format!("is a {kind} but not a {SCHEMA}"));
    }
    faults
}

#[track_caller]
pub fn valid(kind: &str, text: &str) {
    assert_eq!(faults(kind, text), [""; 0], "{kind}");
}

#[test]
fn runs_and_reports_follow_the_schema() {
    let _alone = alone();
    let home = Home::new();
    let arguments = [
        "run",
        "roundtrip/sleep:5us?clock=virtual&place=same-cpu",
        "roundtrip/fault:error?place=same-cpu",
        "roundtrip/udp?payload=70000&place=same-cpu",
        "roundtrip/pipe?place=same-cpu,free",
        "call/call",
        "--baseline",
        "roundtrip/pipe?place=same-cpu",
        "--rounds",
        "2",
        "--measure",
        "5ms",
        "--format",
        "json",
    ];
    let ran = home.expect(&arguments, 1);
    valid("Results", &ran);
    let again = home.expect(&["report", "--format", "json"], 0);
    assert_eq!(ran, again, "a report says what the run said");
    let document: Value = serde_json::from_str(&ran).expect("JSON");
    // JSON writes what is infinite or not a number as null.
    let read: Results = serde_json::from_str(&ran).expect("results");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), document);
    let results = document["results"].as_array().expect("results");
    for status in ["measured", "skipped", "failed"] {
        assert!(results.iter().any(|r| r["status"] == status), "nothing was {status}");
    }
    assert!(results.iter().any(|r| r["ratio"].is_object()), "no ratio");
    assert!(results.iter().any(|r| r["estimates"]["cost_ns"].is_object()), "no cost");
    assert!(!document["findings"].as_array().expect("findings").is_empty());
}

#[test]
fn stored_runs_follow_the_schema() {
    let home = Home::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/runs");
    let mut runs = 0;
    for entry in std::fs::read_dir(folder).expect("the stored runs") {
        let packed = entry.expect("an entry").path();
        let name = packed.file_name().map(ToOwned::to_owned);
        if packed.extension().is_some_and(|ending| ending == "gz") {
            let packed = std::fs::File::open(packed).expect("a stored run");
            let mut run = std::fs::File::create(home.path().join("run.hopcost")).expect("a file");
            std::io::copy(&mut GzDecoder::new(packed), &mut run).expect("a run file");
            valid("Results", &home.expect(&["report", "./run.hopcost", "--format", "json"], 0));
            let page = home.expect(&["report", "./run.hopcost", "--format", "html"], 0);
            assert_eq!(loads(&page), [""; 0], "{name:?}");
            runs += 1;
        }
    }
    assert!(runs > 5, "{runs}");
}

#[test]
fn plans_and_mechanisms_follow_the_schema() {
    let home = Home::new();
    let json = ["--format", "json"];
    let of = |arguments: &[&str]| home.expect(&[arguments, &json].concat(), 0);
    valid("DryRun", &of(&["run", "--dry-run"]));
    valid("DryRun", &of(&["run", "--dry-run", "udp?payload=64,70000", "--budget", "10s"]));
    valid("MechanismList", &of(&["list"]));
    for facts in crate::support::mechanisms() {
        // Without workers, which take a while to say each time what they have.
        let mut show = home.hopcost(&["show", facts.name, "--format", "json"]);
        let shown = show.env("HOPCOST_WORKERS", home.path()).finish();
        valid("MechanismShown", &String::from_utf8_lossy(&shown.stdout));
    }
    valid("MechanismShown", &of(&["show", "pipe"]));
    // What only another runtime has, where its worker is here.
    let list: Value = serde_json::from_str(&of(&["list"])).expect("JSON");
    for runtime in list["runtimes"].as_array().expect("runtimes") {
        if let Some(name) = runtime["besides"][0].as_str() {
            valid("MechanismShown", &of(&["show", name]));
        }
    }
}
