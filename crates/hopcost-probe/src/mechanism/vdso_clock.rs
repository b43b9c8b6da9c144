//! `vdso-clock`: clock_gettime(CLOCK_MONOTONIC), which looks like a system call
//! and is none: the kernel maps code into the process (vdso(7)) that reads the
//! processor's counter and scales it.
//!
//! Where the kernel's clock source cannot be read from user mode (hpet,
//! acpi_pm, some hypervisors' clocks), the same function does enter the kernel:
//! that is why its count of system calls is a range. In one process it is always
//! 0 or always 1.

use std::io;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::{CALL, Row};
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::call::<VdsoClock>(Facts {
    name: "vdso-clock",
    about: "clock_gettime(2) through the vDSO",
    call_system_calls: Some(PerOperation::Between(
        0.0,
        1.0,
        "none where the vDSO can read the clock source, one where it cannot (hpet, acpi_pm)",
    )),
    crosses: "nothing: the code of the vDSO runs in user mode",
    copies: "nobody",
    wakes: "nobody",
    between_stamps: "batches of clock_gettime through the C library",
    limits: "the clock source is part of the number (/sys/devices/system/clocksource/clocksource0/current_clocksource)",
    sources: &["vdso(7)", "clock_gettime(2)"],
    ..CALL
});

struct VdsoClock;

impl Call for VdsoClock {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(VdsoClock)
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid for writing.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        x.wrapping_add(time.tv_nsec as u64)
    }
}
