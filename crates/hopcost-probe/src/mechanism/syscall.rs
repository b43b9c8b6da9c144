//! `syscall`: the cheapest call that really enters the kernel and returns.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};
use crate::sys;

pub static ROW: Row = Row::call::<Syscall>(Facts {
    name: "syscall",
    call_system_calls: Some(PerOperation::Exactly(1.0)),
    ..CALL
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
