//! `call-indirect`: the same function through a pointer whose value the compiler
//! does not know, as in a virtual method, a callback or a plug-in.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

use super::call::hopcost_called;

pub static ROW: Row = Row::call::<IndirectCall>(Facts {
    name: "call-indirect",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
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
