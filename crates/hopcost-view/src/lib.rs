#![forbid(unsafe_code)]
//! Results in, bytes out. Every view draws the one model
//! (`hopcost_read::results::Results`) and computes no statistic of its own: a
//! number that is missing there is added there, so that all views agree.

mod advice;
pub mod answer;
pub mod chart;
mod checkup;
pub mod csv;
pub mod export;
pub mod html;
pub mod markdown;
mod markup;
pub mod mechanisms;
mod names;
pub mod number;
pub mod plan;
mod rows;
mod runs;
mod section;
#[cfg(test)]
extern crate self as hopcost_view;
#[cfg(test)]
#[path = "../tests/stored/mod.rs"]
mod stored;
pub mod style;
pub mod text;

pub use runs::StoredRun;
pub use section::{Document, Medium};
