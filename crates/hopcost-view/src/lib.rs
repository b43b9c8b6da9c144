#![forbid(unsafe_code)]
//! Results in, bytes out. Every view draws the one model
//! (`hopcost_model::results::Results`) and computes no statistic of its own: a
//! number that is missing there is added there, so that all views agree.

pub mod chart;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod html;
pub mod number;
pub mod style;
