//! `call-inline`: a call that the compiler has dissolved into its caller: what
//! is left is one addition and the chain from each operation to the next. The
//! floor of every other call, and the first thing to check when a number of the
//! `call` workload looks too good.
//!
//! What is added is not a constant to the compiler or the processor: additions of
//! small constants are folded by some processors while they rename registers
//! (Intel's since Golden Cove), and come out at a fraction of a cycle.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<CallInline>(Facts {
    name: "call-inline",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct CallInline {
    step: u64,
}

#[inline(always)]
fn advance(x: u64, step: u64) -> u64 {
    x.wrapping_add(step)
}

impl Call for CallInline {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(CallInline { step: std::hint::black_box(1) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        advance(x, self.step)
    }
}
