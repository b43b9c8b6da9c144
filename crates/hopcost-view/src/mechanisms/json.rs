//! Mechanisms for programs.

use hopcost_model::SCHEMA;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use serde_json::{Value, json};

pub(super) fn list(mechanisms: &[Mechanism], runtimes: &[RuntimeFacts]) -> String {
    let runtimes: Vec<Value> = runtimes.iter().map(|runtime| listed(runtime, mechanisms)).collect();
    let document = json!({ "schema": SCHEMA, "mechanisms": mechanisms, "runtimes": runtimes });
    format!("{document:#}\n")
}

/// A mechanism as Rust and as every other runtime has it.
pub(super) fn show(own: Option<&Mechanism>, rows: &[(String, Mechanism)]) -> String {
    let row = |(runtime, mechanism): &(String, Mechanism)| json!({ "runtime": runtime, "mechanism": mechanism });
    let runtimes: Vec<Value> = rows.iter().map(row).collect();
    let document = json!({ "schema": SCHEMA, "mechanism": own, "runtimes": runtimes });
    format!("{document:#}\n")
}

fn listed(runtime: &RuntimeFacts, mechanisms: &[Mechanism]) -> Value {
    let here = runtime.state.as_ref().ok();
    let all = here.map_or(&[][..], |described| &described.mechanisms);
    let is_own = |row: &&Mechanism| !mechanisms.iter().any(|own| own.name == row.name);
    let besides: Vec<&str> = all.iter().filter(is_own).map(|row| row.name.as_str()).collect();
    json!({
        "runtime": runtime.runtime.word(),
        "absent": runtime.state.as_ref().err(),
        "version": here.map(|described| &described.version),
        "libraries": here.map(|described| &described.libraries),
        "remarks": here.map(|described| &described.remarks),
        "clock": here.map(|described| &described.clock),
        "warm_up": here.map(|described| &described.warm_up),
        "mechanisms": all,
        "besides": besides,
    })
}
