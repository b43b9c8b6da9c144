//! `call`: a real call and return, at an address that the compiler knows.
//!
//! The function has a name of its own and the call is one line of assembly,
//! because a compiler left to itself loads the address into a register once and
//! then calls through the register, which is the other row, `call-indirect`.
//! Anyone can look: `objdump -d` shows one `call hopcost_called` an operation.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<DirectCall>(Facts {
    name: "call",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct DirectCall;

/// Calls [`hopcost_called`] at its fixed address.
#[inline(always)]
fn call_directly(x: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a function of this signature, called by the C convention.
    unsafe {
        let result;
        std::arch::asm!("call {}", sym hopcost_called, in("rdi") x, out("rax") result, clobber_abi("C"));
        result
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a function of this signature, called by the C convention.
    unsafe {
        let result;
        std::arch::asm!("bl {}", sym hopcost_called, inout("x0") x => result, clobber_abi("C"));
        result
    }
}

/// What is called: adds one.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn hopcost_called(x: u64) -> u64 {
    x.wrapping_add(1)
}

impl Call for DirectCall {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(DirectCall)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        call_directly(x)
    }
}
