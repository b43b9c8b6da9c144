//! `call-inline`: a call that the compiler has dissolved into its caller: what
//! is left is one addition and the chain from each operation to the next. The
//! floor of every other call, and the first thing to check when a number of the
//! `call` workload looks too good.
//!
//! The loop really has one `inc` an operation. Where it comes out below one
//! cycle, the processor itself folds them: Intel's cores since Golden Cove (2021)
//! carry out additions of small constants while renaming registers.

use std::io;

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Call};

/// The row.
pub static ROW: Row = Row::call::<CallInline>(Facts {
    name: "call-inline",
    family: "call",
    about: "a call that the compiler inlines: one addition",
    shape: Shape::Call,
    workloads: &[Workload::Call],
    boundaries: &[Boundary::Inline],
    waits: &[],
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    payload: Payload::None,
    parameters: &[],
    crosses: "nothing",
    copies: "nobody",
    wakes: "nobody",
    between_stamps: "batches of dependent additions",
    limits: "one cycle an operation at most, and less where the processor folds additions of constants; the loop counter once in sixteen",
    sources: &["https://doc.rust-lang.org/reference/attributes/codegen.html#the-inline-attribute"],
    hidden: false,
    available: always_available,
});

struct CallInline;

#[inline(always)]
fn next(x: u64) -> u64 {
    x.wrapping_add(1)
}

impl Call for CallInline {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(CallInline)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        next(x)
    }
}
