//! What a worker does beside a trial, until it is killed: by the deadline at the latest.

use std::convert::Infallible;
use std::io;

use hopcost_model::protocol::Reply;

use super::lines;
use crate::sys;

/// Keeps a CPU from idling deeply. It has the policy SCHED_IDLE, so it runs only when nothing else on that CPU wants
/// to, and gives way at once. Answers when it is about to begin; returns only if it cannot.
pub(super) fn idle(cpu: u32) -> io::Result<Infallible> {
    sys::pin(cpu).map_err(|error| sys::context(error, &format!("pinning to CPU {cpu}")))?;
    sys::set_idle()?;
    lines::reply(&Reply::Spinning)?;
    loop {
        std::hint::spin_loop();
    }
}
