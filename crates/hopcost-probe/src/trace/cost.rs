//! What one event costs its cause: two threads on one CPU that hand a byte back and forth
//! over two pipes, with and without their events.
//!
//! The shortest system call in a loop tells too little: there the kernel's code that writes events
//! is in the nearest caches, and in a hop it is not.

use std::io::{self, Read, Write};
use std::time::Instant;

use super::Recorder;
use crate::sys::{self, Doing, ensure};

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
    /// If there are no pipes or threads to be had.
    pub fn measured(cpu: u32) -> io::Result<Self> {
        let hop_ns = on(cpu, hop_ns)?;
        Ok(Self { cpu, hop_ns })
    }

    /// What an event adds to a round trip, in nanoseconds: the difference of medians over the
    /// number of events. What calls and switches take more because they are traced at all is in it.
    ///
    /// # Errors
    /// If nothing can be recorded, or if events were lost.
    pub fn event_cost_ns(&self) -> io::Result<f64> {
        let (traced_ns, events) = on(self.cpu, || {
            let recorder = Recorder::open(&[self.cpu], BYTES, libc::CLOCK_MONOTONIC_RAW)?;
            let buffer = &recorder.buffers[0];
            buffer.switch(true)?;
            let traced_ns = hop_ns()?;
            buffer.switch(false)?;
            let lost = buffer.lost()?;
            ensure!(lost == 0, "{lost} events were lost");
            Ok((traced_ns, buffer.samples()?.0.len()))
        })?;
        let hops = (WARM_UP + HOPS) as f64;
        let cost_ns = (traced_ns - self.hop_ns) * hops / events as f64;
        let is_slower = cost_ns > 0.0 && cost_ns.is_finite();
        ensure!(is_slower, "round trips with events were not slower than without");
        Ok(cost_ns)
    }
}

/// Does something on a CPU, in a thread of its own.
fn on<T: Send>(cpu: u32, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    sys::on_a_thread(|| sys::pin(cpu).and_then(|()| work()))
}

/// The median round trip to another thread on this CPU, once both are warm.
fn hop_ns() -> io::Result<f64> {
    let (mut asked, mut request) = io::pipe()?;
    let (mut reply, mut answer) = io::pipe()?;
    let echo = move || {
        let mut byte = [0];
        while asked.read_exact(&mut byte).is_ok() && answer.write_all(&byte).is_ok() {}
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, echo).doing("starting a thread")?;
        // Dropped at the end of this scope, which ends the other thread.
        let mut hop = move || -> io::Result<f64> {
            let started = Instant::now();
            request.write_all(&[0])?;
            reply.read_exact(&mut [0])?;
            Ok(started.elapsed().as_nanos() as f64)
        };
        let mut hops = |n: usize| (0..n).map(|_| hop()).collect::<io::Result<Vec<f64>>>();
        hops(WARM_UP)?;
        let mut all_ns = hops(HOPS)?;
        all_ns.sort_by(f64::total_cmp);
        Ok(all_ns[all_ns.len() / 2])
    })
}
