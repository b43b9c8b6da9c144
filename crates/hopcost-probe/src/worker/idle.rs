//! The idle spinner: a process that keeps a CPU from idling deeply. It has the
//! policy SCHED_IDLE, so it runs only when nothing else on that CPU wants to, and
//! gives way at once.

use std::convert::Infallible;
use std::io;

use hopcost_model::protocol::Reply;

use super::lines;
use crate::sys;

/// Spins on `cpu` until killed, by the deadline at the latest; answers when it is
/// about to begin. Returns only if it cannot begin.
pub fn spin(cpu: u32, deadline_ms: u64, parent: Option<u32>) -> io::Result<Infallible> {
    if let Some(parent) = parent {
        sys::die_with_parent(parent)?;
    }
    sys::arm_deadline(deadline_ms)?;
    sys::pin(cpu).map_err(|error| sys::context(error, &format!("pinning to CPU {cpu}")))?;
    sys::set_idle()?;
    lines::reply(&Reply::Spinning)?;
    loop {
        std::hint::spin_loop();
    }
}
