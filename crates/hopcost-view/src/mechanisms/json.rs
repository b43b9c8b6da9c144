//! Mechanisms for programs.

use hopcost_model::SCHEMA;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::{Facts, Mechanism, Payload, PerOperation};
use serde_json::{Value, json};

use super::runtimes::{Row, besides};

pub(super) fn list(mechanisms: &[&Facts], runtimes: &[RuntimeFacts]) -> String {
    let runtimes: Vec<Value> = runtimes.iter().map(|runtime| listed(runtime, mechanisms)).collect();
    let mechanisms: Vec<Value> = mechanisms.iter().map(|facts| object(facts)).collect();
    let document = json!({ "schema": SCHEMA, "mechanisms": mechanisms, "runtimes": runtimes });
    format!("{document:#}\n")
}

/// A mechanism; where Rust has it not, as the first runtime has it.
pub(super) fn show(facts: Option<&Facts>, rows: &[Row]) -> String {
    let mut document = match (facts, rows.first()) {
        (Some(facts), _) => object(facts),
        (None, Some(row)) => described(row.mechanism),
        (None, None) => json!({}),
    };
    document["schema"] = json!(SCHEMA);
    document["runtimes"] = rows
        .iter()
        .map(|row| json!({ "runtime": row.runtime.word(), "mechanism": row.mechanism }))
        .collect();
    format!("{document:#}\n")
}

fn listed(runtime: &RuntimeFacts, mechanisms: &[&Facts]) -> Value {
    let here = runtime.state.as_ref().ok();
    let besides: Vec<&str> =
        besides(runtime, mechanisms).into_iter().map(|row| row.name.as_str()).collect();
    json!({
        "runtime": runtime.runtime.word(),
        "absent": runtime.state.as_ref().err(),
        "version": here.map(|described| &described.version),
        "libraries": here.map(|described| &described.libraries),
        "remarks": here.map(|described| &described.remarks),
        "clock": here.map(|described| &described.clock),
        "warm_up": here.map(|described| &described.warm_up),
        "mechanisms": here.map_or(&[][..], |described| &described.mechanisms),
        "besides": besides,
    })
}

/// What another runtime says of a mechanism, in the fields of hopcost's own.
fn described(row: &Mechanism) -> Value {
    let untold = || json!({ "least": 0.0, "most": null, "reason": "the worker does not say" });
    let calls = || match row.system_calls {
        Some(range) => json!({ "least": range.min, "most": range.max, "reason": null }),
        None => untold(),
    };
    let call = row.waits.is_empty();
    let waits = row.waits.iter().enumerate().map(|(at, wait)| {
        json!({
            "wait": wait.word(),
            // They are said of the default.
            "system_calls": if at == 0 { calls() } else { untold() },
            "switches_one_cpu": untold(),
            "switches_two_cpus": untold(),
        })
    });
    json!({
        "name": row.name,
        "family": row.family,
        "about": row.about,
        "shape": if call { "call" } else { "channel" },
        "available": row.unavailable.is_none(),
        "unavailable_reason": row.unavailable,
        "workloads": row.workloads,
        "boundaries": row.boundaries,
        "payload_bytes": row.payload,
        "waits": waits.collect::<Vec<_>>(),
        "call_system_calls": (call && row.system_calls.is_some()).then(calls),
        "parameters": row.parameters,
        "crosses": row.crosses,
        "copies": row.copies,
        "wakes": row.wakes,
        "between_stamps": row.between_stamps,
        "limits": row.limits,
        "sources": row.sources,
        "hidden": false,
    })
}

fn object(facts: &Facts) -> Value {
    let words = |all: Vec<&'static str>| json!(all);
    let available = (facts.available)();
    json!({
        "name": facts.name,
        "family": facts.family,
        "about": facts.about,
        "shape": facts.shape.word(),
        "available": available.is_ok(),
        "unavailable_reason": available.err(),
        "workloads": words(facts.workloads.iter().map(|workload| workload.word()).collect()),
        "boundaries": words(facts.boundaries.iter().map(|boundary| boundary.word()).collect()),
        "payload_bytes": match facts.payload {
            Payload::None => Value::Null,
            Payload::Bytes { min, max, default } => {
                json!({ "min": min, "max": max, "default": default })
            }
        },
        "waits": facts.waits.iter().map(|wait| json!({
            "wait": wait.wait.word(),
            "system_calls": count(wait.system_calls),
            "switches_one_cpu": count(wait.switches_one_cpu),
            "switches_two_cpus": count(wait.switches_two_cpus),
        })).collect::<Vec<_>>(),
        "call_system_calls": facts.call_system_calls.map(count),
        "parameters": facts.parameters.iter().map(|parameter| json!({
            "name": parameter.name,
            "values": parameter.values,
            "default": parameter.default,
            "about": parameter.about,
        })).collect::<Vec<_>>(),
        "crosses": facts.crosses,
        "copies": facts.copies,
        "wakes": facts.wakes,
        "between_stamps": facts.between_stamps,
        "limits": facts.limits,
        "sources": facts.sources,
        "hidden": facts.hidden,
    })
}

fn count(count: PerOperation) -> Value {
    let reason = match count {
        PerOperation::Exactly(_) => None,
        PerOperation::Between(_, _, reason) => Some(reason),
    };
    json!({ "least": count.least(), "most": count.most(), "reason": reason })
}
