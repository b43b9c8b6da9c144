//! What is known of the runtimes besides Rust.

use hopcost_model::case::Runtime;
use hopcost_model::describe::Description;

/// A runtime whose worker was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeFacts {
    /// Its name.
    pub runtime: Runtime,
    /// What its worker says of itself, or why it is absent (`not built: run
    /// scripts/setup workers go`).
    pub state: Result<Description, String>,
}

/// The runtimes whose workers come with hopcost: their names are known, and so
/// no slip, where their workers are not.
pub(crate) const SHIPPED_RUNTIMES: &[&str] = &["cpp", "python", "go", "java", "node"];
