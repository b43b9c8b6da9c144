//! What one event costs whoever causes it: the shortest system call with and without its two.

use std::time::Instant;

use super::Recorder;
use super::event::EVENTS;
use crate::sys;

/// Calls to a batch: 1 MiB takes the events of all.
const CALLS: u32 = 500;
/// Batches of each kind, in turn.
const BATCHES: usize = 7;
/// Of a batch: 128 bytes an event are more than enough.
const BYTES: usize = 1 << 20;

/// Median over batches of what an event adds, in nanoseconds, on this CPU. The slower way that
/// the kernel takes into a system call that is traced is in it.
///
/// # Errors
/// In words, if nothing can be recorded, or if events were lost.
pub fn event_cost_ns(cpu: u32) -> Result<f64, String> {
    // A thread of its own, so that the affinity of the calling one stays as it is.
    let measured = std::thread::scope(|scope| scope.spawn(|| measure(cpu)).join());
    measured.map_err(|_| "the thread that measures what an event costs ended".to_owned())?
}

fn measure(cpu: u32) -> Result<f64, String> {
    sys::pin(cpu).map_err(|error| error.to_string())?;
    // Before any is opened: what is open slows the system calls of the whole machine.
    let bare_ns: Vec<f64> = (0..BATCHES).map(|_| call_ns()).collect();
    let recorder = Recorder::opened(&[cpu], BYTES, &EVENTS[..2])?;
    let buffer = &recorder.buffers[0];
    let mut traced_ns = Vec::new();
    for _ in 0..BATCHES {
        buffer.start()?;
        traced_ns.push(call_ns());
        buffer.stop()?;
    }
    match buffer.lost()? {
        0 => {
            let cost_ns = (median(traced_ns) - median(bare_ns)) / 2.0;
            let cost_ns = Some(cost_ns).filter(|cost_ns| *cost_ns > 0.0);
            cost_ns.ok_or("calls with events were not slower than calls without".to_owned())
        }
        lost => Err(format!("{lost} events were lost")),
    }
}

/// Time of one getppid(2).
fn call_ns() -> f64 {
    let started = Instant::now();
    for _ in 0..CALLS {
        // SAFETY: no arguments.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    started.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
