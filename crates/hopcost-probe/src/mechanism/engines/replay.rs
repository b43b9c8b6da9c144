//! `replay:FILE`: latencies from a file, in virtual time, so that what comes out
//! of statistics and reports can be compared with what went in.
//!
//! The file has one latency in whole nanoseconds per line; lines that begin with
//! `#` are comments; a blank line starts a new block. Trial t replays block t
//! modulo the number of blocks. Every phase starts so that its first stamped
//! operation is the block's first line, and begins again after the last line.

use std::io;

use hopcost_model::case::Workload;
use hopcost_model::mechanism::{Argument, Facts, Parameter};

use super::{Alone, FACTS, bad_argument, only_caller};
use crate::clock::Virtual;
use crate::registry::Row;
use crate::shape::{Attaching, Call, Half};
use crate::sys;
use crate::workload::Endpoint;
use crate::workload::{PhaseSpec, Stamped, roundtrip};

pub static ROW: Row = Row::without_link(
    Facts {
        name: "replay",
        workloads: &[Workload::Roundtrip],
        parameters: &[Parameter {
            name: "clock",
            values: &["virtual"],
            default: "virtual",
            about: "whose time passes: one that only the engine moves",
        }],
        argument: Some(Argument {
            form: "replay:FILE",
            fits: |argument| argument.is_some_and(|file| !file.is_empty()),
        }),
        ..FACTS
    },
    attach,
);

fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    only_caller(attaching)?;
    Ok(Box::new(Alone(Replay::new(attaching)?)))
}

struct Replay {
    latencies_ns: Vec<u64>,
    next: usize,
}

impl Replay {
    /// Goes to where the first stamped operation of a phase is the first line.
    fn restart(&mut self) {
        let len = self.latencies_ns.len();
        self.next = (len - roundtrip::LEAD_IN as usize % len) % len;
    }
}

impl Call for Replay {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        let file = attaching.case.argument().filter(|file| !file.is_empty());
        let file = file.ok_or_else(|| bad_argument(attaching, "replay:FILE"))?;
        let text = std::fs::read_to_string(file)
            .map_err(|error| sys::context(error, &format!("reading {file} to replay it")))?;
        let mut blocks = blocks(&text).map_err(|error| sys::failure(format!("{file}:{error}")))?;
        if blocks.is_empty() {
            return Err(sys::failure(format!(
                "{file}: nothing to replay; write one latency in ns per line"
            )));
        }
        let block = attaching.trial as usize % blocks.len();
        Ok(Replay { latencies_ns: blocks.swap_remove(block), next: 0 })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        Virtual::advance(self.latencies_ns.get(self.next).copied().unwrap_or_default());
        self.next += 1;
        if self.next == self.latencies_ns.len() {
            self.next = 0;
        }
        x
    }
}

/// The blocks of a file, none of them empty; or the line and what is wrong there.
fn blocks(text: &str) -> Result<Vec<Vec<u64>>, String> {
    let mut blocks = Vec::new();
    let mut block = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() {
            if !block.is_empty() {
                blocks.push(std::mem::take(&mut block));
            }
        } else if !line.starts_with('#') {
            block.push(line.parse().map_err(|_| {
                format!("{}: `{line}` is not a whole number of nanoseconds", at + 1)
            })?);
        }
    }
    if !block.is_empty() {
        blocks.push(block);
    }
    Ok(blocks)
}

impl Endpoint for Alone<Replay> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        self.0.restart();
        roundtrip::caller::<_, Virtual>(self, 1, spec.count, spec.stamp, out)
    }
}
