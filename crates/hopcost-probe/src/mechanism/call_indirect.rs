//! `call-indirect`: the same function through a pointer whose value the compiler
//! does not know, as in a virtual method, a callback or a plug-in.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

use super::call::hopcost_called;

pub static ROW: Row = Row::call::<IndirectCall>(Facts {
    name: "call-indirect",
    about: "a function call through a pointer",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    crosses: "one number in a register, there and back (C calling convention)",
    copies: "nobody",
    wakes: "nobody",
    between_stamps: "batches of indirect call, addition, return, each call waiting for the result of the last",
    limits: "always the same target, so always predicted; a target that changes costs a misprediction on top",
    sources: &["System V ABI, AMD64 supplement, section 3.2"],
    ..CALL
});

struct IndirectCall(extern "C" fn(u64) -> u64);

impl Call for IndirectCall {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        // Behind the black box, or the compiler would call the function directly.
        Ok(IndirectCall(std::hint::black_box(hopcost_called as extern "C" fn(u64) -> u64)))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        (self.0)(x)
    }
}
