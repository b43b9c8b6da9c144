//! `spin:N`: N multiplications, each waiting for the one before, so its time is N
//! times the processor's latency of one (3 cycles on most), proportional to N and
//! to nothing else. In virtual time an operation takes N ns exactly.

use std::io;

use hopcost_model::mechanism::{Argument, Facts};

use super::{FACTS, attach};
use crate::clock::Virtual;
use crate::registry::Row;
use crate::shape::{Attaching, Call};
use crate::workload::call::opaque;

pub static ROW: Row = Row::without_link(
    Facts {
        name: "spin",
        argument: Some(Argument {
            form: "spin:1000",
            fits: |argument| argument.is_some_and(|n| n.parse::<u64>().is_ok()),
        }),
        ..FACTS
    },
    attach::<Spin, VirtualSpin>,
);

fn argument(attaching: &Attaching<'_>) -> io::Result<u64> {
    let number = attaching.case.argument().and_then(|argument| argument.parse().ok());
    number.ok_or_else(|| super::bad_argument(attaching, "spin:N with a whole number N"))
}

struct Spin {
    multiplications: u64,
}

impl Call for Spin {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Spin { multiplications: argument(attaching)? })
    }
    #[inline(always)]
    fn call(&mut self, mut x: u64) -> u64 {
        for _ in 0..self.multiplications {
            // Opaque, or two multiplications would become one.
            x = opaque(x.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        x
    }
}

struct VirtualSpin {
    ns: u64,
}

impl Call for VirtualSpin {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(VirtualSpin { ns: argument(attaching)? })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        Virtual::advance(self.ns);
        x
    }
}
