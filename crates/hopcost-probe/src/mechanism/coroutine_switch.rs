//! `coroutine-switch`: into a stackful coroutine and out again: one resume and
//! one suspend an operation, so two switches of the stack, all in user mode.

use std::io;

use corosensei::{Coroutine, CoroutineResult};
use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<CoroutineSwitch>(Facts {
    name: "coroutine-switch",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct CoroutineSwitch(Coroutine<u64, u64, ()>);

impl Call for CoroutineSwitch {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(CoroutineSwitch(Coroutine::new(|yielder, mut x: u64| {
            loop {
                x = yielder.suspend(x.wrapping_add(1));
            }
        })))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        match self.0.resume(x) {
            CoroutineResult::Yield(next) => next,
            // Never happens: the coroutine's loop has no end.
            CoroutineResult::Return(()) => x,
        }
    }
}
