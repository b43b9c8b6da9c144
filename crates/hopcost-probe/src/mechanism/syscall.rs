//! `syscall`: the cheapest call that really enters the kernel and returns.

use std::io;

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Call};
use crate::sys;

/// The row.
pub static ROW: Row = Row::call::<Syscall>(Facts {
    name: "syscall",
    family: "call",
    about: "getppid(2): into the kernel and back",
    shape: Shape::Call,
    workloads: &[Workload::Call],
    boundaries: &[Boundary::Inline],
    waits: &[],
    call_system_calls: Some(PerOperation::Exactly(1.0)),
    payload: Payload::None,
    parameters: &[],
    crosses: "nothing but control: the boundary between user mode and the kernel, both ways",
    copies: "nobody",
    wakes: "nobody",
    between_stamps: "batches of getppid; the C library does not cache it",
    limits: "mitigations and seccomp filters are part of the number",
    sources: &["getppid(2)", "syscall(2)"],
    available: always_available,
    ..Facts::BASE
});

struct Syscall;

impl Call for Syscall {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(Syscall)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x.wrapping_add(sys::getppid())
    }
}
