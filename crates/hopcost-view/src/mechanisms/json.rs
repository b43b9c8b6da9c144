//! Mechanisms for programs.

use hopcost_model::SCHEMA;
use hopcost_model::case::WaitKind;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::{CountRange, Mechanism, PerOperation};
use serde_json::{Value, json};

pub(super) fn list(mechanisms: &[Mechanism], runtimes: &[RuntimeFacts]) -> String {
    let runtimes: Vec<Value> = runtimes.iter().map(|runtime| listed(runtime, mechanisms)).collect();
    let mechanisms: Vec<Value> = mechanisms.iter().map(object).collect();
    let document = json!({ "schema": SCHEMA, "mechanisms": mechanisms, "runtimes": runtimes });
    format!("{document:#}\n")
}

/// A mechanism; where Rust has it not, as the first runtime has it.
pub(super) fn show(own: Option<&Mechanism>, rows: &[(String, Mechanism)]) -> String {
    let first = own.or(rows.first().map(|(_, mechanism)| mechanism));
    let mut document = first.map_or(json!({}), object);
    document["schema"] = json!(SCHEMA);
    let row = |(runtime, mechanism)| json!({ "runtime": runtime, "mechanism": mechanism });
    document["runtimes"] = rows.iter().map(|(runtime, row_of)| row((runtime, row_of))).collect();
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

/// A mechanism in the same fields, whoever has it.
fn object(mechanism: &Mechanism) -> Value {
    let own = mechanism.own.as_ref();
    let waits = mechanism.waits.iter().enumerate();
    let waits: Vec<Value> = waits.map(|(at, wait)| cost(mechanism, at, *wait)).collect();
    let calls = match own {
        Some(own) => own.call_system_calls.map(count),
        None => mechanism.system_calls.filter(|_| waits.is_empty()).map(|calls| told(Some(calls))),
    };
    json!({
        "name": mechanism.name,
        "family": mechanism.family,
        "about": mechanism.about,
        "shape": mechanism.shape().word(),
        "available": mechanism.unavailable.is_none(),
        "unavailable_reason": mechanism.unavailable,
        "workloads": mechanism.workloads,
        "boundaries": mechanism.boundaries,
        "payload_bytes": mechanism.payload,
        "waits": waits,
        "call_system_calls": calls,
        "parameters": mechanism.parameters,
        "crosses": mechanism.crosses,
        "copies": mechanism.copies,
        "wakes": mechanism.wakes,
        "between_stamps": mechanism.between_stamps,
        "limits": mechanism.limits,
        "sources": mechanism.sources,
        "hidden": mechanism.hidden(),
    })
}

/// What a wait costs.
fn cost(mechanism: &Mechanism, at: usize, wait: WaitKind) -> Value {
    match mechanism.wait(wait) {
        Some(facts) => json!({
            "wait": wait.word(),
            "system_calls": count(facts.system_calls),
            "switches_one_cpu": count(facts.switches_one_cpu),
            "switches_two_cpus": count(facts.switches_two_cpus),
        }),
        None => json!({
            "wait": wait.word(),
            // They are said of the default.
            "system_calls": told(mechanism.system_calls.filter(|_| at == 0)),
            "switches_one_cpu": told(None),
            "switches_two_cpus": told(None),
        }),
    }
}

/// What a worker tells of.
fn told(calls: Option<CountRange>) -> Value {
    match calls {
        Some(range) => json!({ "least": range.min, "most": range.max, "reason": null }),
        None => json!({ "least": 0.0, "most": null, "reason": "the worker does not say" }),
    }
}

fn count(count: PerOperation) -> Value {
    json!({ "least": count.least(), "most": count.most(), "reason": count.reason() })
}
