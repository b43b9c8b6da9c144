#![forbid(unsafe_code)]
//! The words of hopcost (GLOSSARY.md) as types, shared by every stage of the
//! pipeline. This crate does no I/O, reads no clock and computes no statistic.

#[macro_use]
pub mod document;
#[macro_use]
pub mod case;

pub mod axis;
pub mod columns;
pub mod describe;
pub mod finding;
pub mod fleet;
pub mod group;
pub mod host;
pub mod mechanism;
pub mod parallel;
pub mod plan;
pub mod protocol;
pub mod raw;
pub mod results;
mod spelling;
pub mod text;
pub mod trace;
pub mod units;
pub mod workload;

pub use self::{
    axis::*, case::*, columns::*, describe::*, document::*, finding::*, fleet::*, host::*,
    mechanism::*, plan::*, protocol::*, raw::*, results::*, trace::*, units::Rate, workload::*,
};

/// The name and major version of the JSON documents hopcost prints.
pub const SCHEMA: &str = "hopcost/2";
