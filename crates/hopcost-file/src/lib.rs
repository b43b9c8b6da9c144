#![forbid(unsafe_code)]
//! The run file: one run is one SQLite file, complete in itself (FORMAT.md).
//!
//! * [`RunFile`] writes: every finished trial is durable before
//!   [`RunFile::append_trial`] returns, and a kill at any moment loses no trial
//!   that was reported as stored.
//! * [`open`] reads, trusting nothing: a foreign, damaged or hostile file is an
//!   error with one clear line, never a panic.
//! * [`read_fleet`] reads the index of a fleet.
//! * [`Runs`] finds runs by path, id prefix, `last` or `last~1`.
//!
//! This crate knows no statistic and reads no clock.

mod connect;
mod document;
mod error;
mod fleet;
mod id;
mod limits;
mod read;
mod runs;
pub mod samples;
mod schema;
mod trace;
mod write;

pub use connect::MakeFolder;
pub use document::as_read;
pub use error::{Error, Result};
pub use fleet::{is_fleet, read_fleet};
pub use id::{new_id, utc};
pub use read::open;
pub use runs::{EXTENSION, Runs, data_folder};
pub use schema::{APPLICATION_ID, VERSION};
pub use write::{EstimateRow, RunFile, open_for_resume};
