//! `atomic-rmw`: one atomic read-modify-write on a cache line that nobody else
//! touches (`lock xadd` on x86-64, `ldaddal` on AArch64 with LSE): what every
//! lock, reference count and queue pays at least once.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::memory::Line;
use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<AtomicRmw>(Facts {
    name: "atomic-rmw",
    call_system_calls: Some(PerOperation::Exactly(0.0)),
    ..CALL
});

struct AtomicRmw(Box<Line<AtomicU64>>);

impl Call for AtomicRmw {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(AtomicRmw(Box::new(Line(AtomicU64::new(1)))))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        self.0.0.fetch_add(x, Ordering::SeqCst)
    }
}
