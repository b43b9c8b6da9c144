//! What one event costs its cause: two threads on one CPU that hand a byte back and forth
//! over two pipes, with and without their events.
//!
//! The shortest system call in a loop tells too little: there the kernel's code that writes events
//! is in the nearest caches, and in a hop it is not.

use std::io::{self, Read, Write};
use std::time::Instant;

use super::Recorder;
use crate::sys;

/// Round trips of each kind.
const HOPS: usize = 1_000;
/// Round trips before them.
const WARM_UP: usize = 100;
/// For the events of all, of which a round trip makes some 14 of up to 128 bytes.
const BYTES: usize = 4 << 20;

/// What a round trip takes without events, on a CPU: measured before any is open, since what is
/// open slows the system calls of the whole machine, even switched off.
pub struct Bare {
    cpu: u32,
    hop_ns: f64,
}

impl Bare {
    /// Measures it.
    ///
    /// # Errors
    /// In words, if there are no pipes or threads to be had.
    pub fn measured(cpu: u32) -> Result<Self, String> {
        let hop_ns = on(cpu, hop_ns)?;
        Ok(Self { cpu, hop_ns })
    }

    /// What an event adds to a round trip, in nanoseconds: the difference of medians over the
    /// number of events. What calls and switches take more because they are traced at all is in it.
    ///
    /// # Errors
    /// In words, if nothing can be recorded, or if events were lost.
    pub fn event_cost_ns(&self) -> Result<f64, String> {
        let (traced_ns, events) = on(self.cpu, || {
            let recorder = Recorder::open(&[self.cpu], BYTES, libc::CLOCK_MONOTONIC_RAW)?;
            let buffer = &recorder.buffers[0];
            buffer.switch(true)?;
            let traced_ns = hop_ns()?;
            buffer.switch(false)?;
            match buffer.lost()? {
                0 => Ok((traced_ns, buffer.samples()?.0.len())),
                lost => Err(format!("{lost} events were lost")),
            }
        })?;
        let hops = (WARM_UP + HOPS) as f64;
        let cost_ns = (traced_ns - self.hop_ns) * hops / events as f64;
        let cost_ns = Some(cost_ns).filter(|cost_ns| *cost_ns > 0.0 && cost_ns.is_finite());
        cost_ns.ok_or("round trips with events were not slower than without".to_owned())
    }
}

/// Does something on a CPU, in a thread of its own.
fn on<T: Send>(cpu: u32, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let pinned = || sys::pin(cpu).map_err(|error| error.to_string()).and_then(|()| work());
    sys::on_a_thread(pinned).map_err(|error| error.to_string())?
}

/// The median round trip to another thread on this CPU, once both are warm.
fn hop_ns() -> Result<f64, String> {
    let pipe = || io::pipe().map_err(|error| error.to_string());
    let (mut asked, mut request) = pipe()?;
    let (mut reply, mut answer) = pipe()?;
    let echo = move || {
        let mut byte = [0];
        while asked.read_exact(&mut byte).is_ok() && answer.write_all(&byte).is_ok() {}
    };
    std::thread::scope(|scope| {
        let echoing = std::thread::Builder::new().spawn_scoped(scope, echo);
        echoing.map_err(|error| format!("starting a thread: {error}"))?;
        // Dropped at the end of this scope, which ends the other thread.
        let mut hop = move || -> io::Result<f64> {
            let started = Instant::now();
            request.write_all(&[0])?;
            reply.read_exact(&mut [0])?;
            Ok(started.elapsed().as_nanos() as f64)
        };
        let mut hops = |n: usize| {
            (0..n)
                .map(|_| hop())
                .collect::<io::Result<Vec<f64>>>()
                .map_err(|error| error.to_string())
        };
        hops(WARM_UP)?;
        let mut all_ns = hops(HOPS)?;
        all_ns.sort_by(f64::total_cmp);
        Ok(all_ns[all_ns.len() / 2])
    })
}
