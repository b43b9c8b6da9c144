//! Workers of other runtimes to plan with: what they would say of themselves.

use hopcost_model::Description;
use hopcost_plan::RuntimeFacts;

pub const PYTHON: &str = include_str!("python.json");
pub const CPP: &str = include_str!("cpp.json");
pub const GO: &str = include_str!("go.json");
pub const JAVA: &str = include_str!("java.json");

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

/// Python, C++ and Java are here, Go is not, and Node is not even looked for.
pub fn scan() -> Vec<RuntimeFacts> {
    let state = Err("not built: run scripts/setup workers go".to_owned());
    let go = RuntimeFacts { state, ..here(GO) };
    vec![here(PYTHON), here(CPP), go, here(JAVA)]
}
