//! `sleep:T`: clock_nanosleep(2) for T. Takes at least T; what it takes more is
//! the timer's slack and the wake-up. In virtual time it takes T exactly.

use std::io;

use hopcost_model::mechanism::{Argument, Facts};
use hopcost_model::units::parse_duration_ns;

use super::{FACTS, attach};
use crate::clock::Virtual;
use crate::registry::Row;
use crate::shape::{Attaching, Call};
use crate::sys;

pub static ROW: Row = Row::without_link(
    Facts {
        name: "sleep",
        argument: Some(Argument {
            form: "sleep:1ms",
            fits: |argument| argument.is_some_and(|t| parse_duration_ns(t).is_ok()),
        }),
        ..FACTS
    },
    attach::<Sleep, VirtualSleep>,
);

fn argument(attaching: &Attaching<'_>) -> io::Result<u64> {
    let duration = attaching.case.argument().and_then(|text| parse_duration_ns(text).ok());
    duration.ok_or_else(|| super::bad_argument(attaching, "sleep:T with a duration such as 1ms"))
}

struct Sleep {
    time: libc::timespec,
}

impl Call for Sleep {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Sleep { time: sys::timespec(argument(attaching)?) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        sys::sleep(self.time);
        x
    }
}

struct VirtualSleep {
    ns: u64,
}

impl Call for VirtualSleep {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(VirtualSleep { ns: argument(attaching)? })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        Virtual::advance(self.ns);
        x
    }
}
