//! Mechanisms for programs.

use hopcost_model::SCHEMA;
use hopcost_model::mechanism::{Facts, Payload, PerOperation};
use serde_json::{Value, json};

pub(super) fn list(mechanisms: &[&Facts]) -> String {
    let mechanisms: Vec<Value> = mechanisms.iter().map(|facts| object(facts)).collect();
    format!("{:#}\n", json!({ "schema": SCHEMA, "mechanisms": mechanisms }))
}

pub(super) fn show(facts: &Facts) -> String {
    let mut document = object(facts);
    document["schema"] = json!(SCHEMA);
    format!("{document:#}\n")
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
