//! `sched-yield`: the system call by which a thread gives its CPU away, with nobody there to
//! take it: the kernel asks its scheduler, which picks the caller again.
//!
//! It is what a context switch by sched_yield(2) costs without the switch. The switch itself
//! is in the round trip of `flag` with `wait=yield` on one CPU, where each end gives the CPU to
//! the other once.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};
use crate::sys;

pub static ROW: Row = Row::call::<SchedYield>(Facts {
    name: "sched-yield",
    call_system_calls: Some(PerOperation::Exactly(1.0)),
    ..CALL
});

struct SchedYield;

impl Call for SchedYield {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(SchedYield)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        sys::sched_yield();
        x.wrapping_add(1)
    }
}
