#![forbid(unsafe_code)]
//! The words of hopcost (GLOSSARY.md) as types, shared by every stage of the
//! pipeline. This crate does no I/O, reads no clock and computes no statistic.

mod alike;
pub mod axis;
pub mod case;
pub mod columns;
pub mod describe;
pub mod finding;
pub mod fleet;
pub mod group;
pub mod host;
pub mod mechanism;
pub mod plan;
pub mod protocol;
pub mod raw;
pub mod results;
mod spelling;
pub mod text;
pub mod trace;
pub mod units;
pub mod workload;

/// The name and major version of the JSON documents hopcost prints.
pub const SCHEMA: &str = "hopcost/1";

/// Derives the serialisation that every stored or printed type carries.
#[doc(hidden)]
#[macro_export]
macro_rules! document {
    ($(#[$meta:meta])* $vis:vis enum $($rest:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        $vis enum $($rest)*
    };
    ($(#[$meta:meta])* $vis:vis struct $($rest:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        $vis struct $($rest)*
    };
}
