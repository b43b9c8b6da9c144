//! `multiply`: a chain of multiplications of 64 bits, each of which waits for the result of the
//! one before (`imul` on x86-64, `mul` on AArch64). It needs no memory and no branch that can be
//! mispredicted, so its time tells the clock rate of the core and who else uses its multiplier.
//!
//! The factor is not a constant to the compiler, which would otherwise shift and add.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<Multiply>(Facts {
    name: "multiply",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct Multiply {
    factor: u64,
}

impl Call for Multiply {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        // Odd, so that no number of multiplications ends in zero.
        Ok(Multiply { factor: std::hint::black_box(0x9e37_79b9_7f4a_7c15) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x.wrapping_mul(self.factor)
    }
}
