//! Workers of other runtimes to plan with: what they would say of themselves.

use hopcost_model::case::Runtime;
use hopcost_model::describe::Description;
use hopcost_plan::RuntimeFacts;

pub const PYTHON: &str = r#"{"protocol":3,"runtime":"python","version":"0.1.0",
 "libraries":{"python":"3.11.7"},"remarks":["the GIL is on"],
 "mechanisms":[
  {"name":"mutex-uncontended","workloads":["call"]},
  {"name":"udp-send","workloads":["call"],"payload":{"min":1,"max":65507,"default":64}},
  {"name":"condvar","workloads":["roundtrip"],"boundaries":["thread"],"waits":["block"],
   "payload":{"min":0,"max":65536,"default":0}},
  {"name":"pipe","workloads":["roundtrip"],"boundaries":["process","thread"],"waits":["block"],
   "payload":{"min":1,"max":4096,"default":64},"link":"descriptors","peers":"any"},
  {"name":"udp","workloads":["roundtrip"],"boundaries":["process","thread"],"waits":["block"],
   "payload":{"min":1,"max":65507,"default":64},"link":"descriptors","peers":"any"},
  {"name":"tcp","workloads":["roundtrip"],"boundaries":["process","thread"],
   "waits":["block","spin"],"payload":{"min":1,"max":65536,"default":64},"link":"descriptors",
   "peers":"any","parameters":[{"name":"nodelay","values":["on","off"],"default":"on"}]},
  {"name":"tcp-asyncio","workloads":["roundtrip"],"boundaries":["process","thread"],
   "waits":["block"],"payload":{"min":1,"max":65536,"default":64},"link":"address",
   "carrier":"tcp","peers":"any","parameters":[
    {"name":"flush","values":["on","off"],"default":"off"},
    {"name":"nodelay","values":["on","off"],"default":"on"}]},
  {"name":"websocket","workloads":["roundtrip"],"boundaries":["process","thread"],
   "waits":["block"],"payload":{"min":1,"max":65536,"default":64},"link":"address","peers":"any"},
  {"name":"uvloop","workloads":["roundtrip"],"boundaries":["process"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"address","carrier":"tcp","peers":"any",
   "unavailable":"uvloop is not installed"},
  {"name":"mp-queue","workloads":["roundtrip"],"boundaries":["process"],"waits":["block"],
   "placements":["same-cpu","free"],"payload":{"min":1,"max":65536,"default":64}},
  {"name":"simple-queue","workloads":["roundtrip"],"boundaries":["thread"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64}}]}"#;

pub const CPP: &str = r#"{"protocol":3,"runtime":"cpp","version":"0.1.0",
 "mechanisms":[
  {"name":"pipe","workloads":["roundtrip"],"boundaries":["process","thread"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"descriptors","peers":"any"},
  {"name":"websocket-beast","workloads":["roundtrip"],"boundaries":["process"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"descriptors","carrier":"websocket",
   "peers":"any"}]}"#;

pub const GO: &str = r#"{"protocol":3,"runtime":"go","version":"0.1.0",
 "mechanisms":[
  {"name":"tcp","workloads":["roundtrip"],"boundaries":["process"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"descriptors","peers":"any"},
  {"name":"channel-unbuffered","workloads":["roundtrip"],"boundaries":["thread"],
   "waits":["block"],"payload":{"min":1,"max":65536,"default":64}}]}"#;

pub const JAVA: &str = r#"{"protocol":3,"runtime":"java","version":"0.1.0",
 "warm_up":"until-steady",
 "mechanisms":[
  {"name":"tcp","workloads":["roundtrip"],"boundaries":["process","thread"],"waits":["block"],
   "payload":{"min":1,"max":65536,"default":64},"link":"address","peers":"any"}]}"#;

pub fn describe(text: &str) -> Description {
    serde_json::from_str(text).unwrap()
}

/// Rust, with the mechanisms of these tests.
pub fn rust() -> Description {
    let rows = super::mechanisms().into_iter().filter(|mechanism| !mechanism.hidden());
    let mut rust = describe(r#"{"protocol":3,"runtime":"rust","version":"0.1.0","mechanisms":[]}"#);
    rust.mechanisms = rows.collect();
    rust
}

/// A runtime that is there.
pub fn here(text: &str) -> RuntimeFacts {
    let described = describe(text);
    let runtime = described.runtime.parse().unwrap();
    RuntimeFacts { runtime, start_ns: None, state: Ok(described) }
}

/// A runtime that is not.
pub fn absent(runtime: &str, why: &str) -> RuntimeFacts {
    let runtime: Runtime = runtime.parse().unwrap();
    RuntimeFacts { runtime, start_ns: None, state: Err(why.to_owned()) }
}

/// Python, C++ and Java are here, Go is not, and Node is not even looked for.
pub fn scan() -> Vec<RuntimeFacts> {
    let go = absent("go", "not built: run scripts/setup workers go");
    vec![here(PYTHON), here(CPP), go, here(JAVA)]
}
