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
    call_system_calls: Some(PerOperation::Between(
        0.0,
        1.0,
        "none where the vDSO can read the clock source, one where it cannot (hpet, acpi_pm)",
    )),
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
