//! `--worker PATH`: what is asked of a worker of one's own, and of Rust beside it.

use std::collections::BTreeMap;

use hopcost_model::axis::Axis;
use hopcost_model::case::{Boundary, Workload};
use hopcost_model::describe::Description;
use hopcost_model::mechanism::Mechanism;
use hopcost_plan::Ask;

/// Where no runtime is named, workers play what is asked for at both ends, or else everything
/// that they have; each case after that of Rust which has the same mechanism or its carrier, so
/// that there is something to compare it with.
pub fn beside_rust(mut ask: Ask, workers: &[&Description], rust: &[Mechanism]) -> Ask {
    let says = ask.selectors.iter().any(|selector| selector.contains("runtime="));
    let is_named = ask.axes.get("runtime").is_some_and(|runtimes| !runtimes.is_empty());
    if workers.is_empty() || says || is_named {
        return ask;
    }
    if ask.suite.is_some() {
        let runtimes = ask.axes.entry("runtime").or_default();
        runtimes.extend(workers.iter().map(|worker| worker.runtime.clone()));
        return ask;
    }
    let asked = std::mem::take(&mut ask.selectors);
    for worker in workers {
        let all = worker.mechanisms.iter().map(|mechanism| mechanism.name.clone()).collect();
        for selector in if asked.is_empty() { &all } else { &asked } {
            ask.selectors.extend(in_rust(selector, worker, rust, &ask.axes));
            ask.selectors.push(with(selector, "runtime", &worker.runtime));
        }
    }
    ask
}

/// The selector of what Rust has to compare a selector's one mechanism with.
fn in_rust(
    selector: &str,
    worker: &Description,
    rust: &[Mechanism],
    axes: &BTreeMap<&'static str, Vec<String>>,
) -> Option<String> {
    let (path, query) = selector.split_once('?').unwrap_or((selector, ""));
    let (workload, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mechanism = worker.mechanisms.iter().find(|mechanism| mechanism.name == name)?;
    let has = |name: &&str| rust.iter().any(|known| known.name == *name);
    let same = [name, mechanism.carrier()].into_iter().find(has)?;
    let path = if workload.is_empty() { same.to_owned() } else { format!("{workload}/{same}") };
    // The parameters of a carrier are not those of what goes over it.
    let pairs = query.split('&').filter(|pair| {
        let key = pair.split('=').next().unwrap_or(pair);
        !pair.is_empty() && (same == name || Axis::of_key(key).is_some())
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    let mut beside = if query.is_empty() { path } else { format!("{path}?{query}") };
    let is_said = |key: &str| {
        let option = axes.get(key).is_some_and(|values| !values.is_empty());
        option || query.split('&').any(|pair| pair.split('=').next() == Some(key))
    };
    if let Some(payload) = mechanism.payload.filter(|_| !is_said("payload") && !is_said("field")) {
        beside = with(&beside, "payload", &payload.default.to_string());
    }
    // Where the worker's ends are, as the planner chooses it.
    let all = workload.parse().into_iter().chain(mechanism.workloads.first().copied());
    let two_ends = all.take(1).any(Workload::has_two_ends);
    let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
    let boundary = preferred.iter().find(|boundary| mechanism.boundaries.contains(boundary));
    if let Some(boundary) = boundary.filter(|_| two_ends && !is_said("boundary")) {
        beside = with(&beside, "boundary", boundary.word());
    }
    Some(with(&beside, "runtime", "rust"))
}

/// A selector with one more key.
fn with(selector: &str, key: &str, value: &str) -> String {
    let separator = if selector.contains('?') { '&' } else { '?' };
    format!("{selector}{separator}{key}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> Description {
        let text = r#"{"protocol": 2, "runtime": "mine", "version": "1", "mechanisms": [
            {"name": "tcp", "workloads": ["roundtrip"], "boundaries": ["thread"],
             "waits": ["block"], "payload": {"min": 1, "max": 9, "default": 8}},
            {"name": "my-rpc", "workloads": ["roundtrip"], "boundaries": ["process"],
             "waits": ["block"], "payload": {"min": 1, "max": 99, "default": 32}, "carrier": "tcp"},
            {"name": "my-call", "workloads": ["call"], "boundaries": ["inline"], "waits": []}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn selectors(words: &[&str], payload: &[&str]) -> Vec<String> {
        let selectors: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let payload = payload.iter().map(|size| (*size).to_owned()).collect();
        let axes = BTreeMap::from([("payload", payload)]);
        let ask = Ask { selectors, axes, ..Ask::default() };
        beside_rust(ask, &[&worker()], &hopcost_probe::worker::mechanisms()).selectors
    }

    #[test]
    fn a_worker_stands_beside_rust() {
        assert_eq!(
            selectors(&[], &[]),
            [
                "tcp?payload=8&boundary=thread&runtime=rust",
                "tcp?runtime=mine",
                "tcp?payload=32&boundary=process&runtime=rust",
                "my-rpc?runtime=mine",
                "my-call?runtime=mine"
            ]
        );
        assert_eq!(
            selectors(&["roundtrip/my-rpc?deadline=5&place=same-cpu"], &["64"]),
            [
                "roundtrip/tcp?place=same-cpu&boundary=process&runtime=rust",
                "roundtrip/my-rpc?deadline=5&place=same-cpu&runtime=mine"
            ]
        );
        assert_eq!(selectors(&["my-*"], &[]), ["my-*?runtime=mine"]);
        assert_eq!(selectors(&["tcp?runtime=rust:mine"], &[]), ["tcp?runtime=rust:mine"]);
    }
}
