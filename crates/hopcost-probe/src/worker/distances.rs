//! What a cache line takes between every two CPUs.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hopcost_model::Reply;

use crate::memory::Line;
use crate::sys;

/// Round trips of a batch, and batches of a pair, of which the first warms up.
const ROUND_TRIPS: u32 = 200;
const BATCHES: u32 = 6;
/// All pairs together; those that are left then are not timed.
const AT_MOST: Duration = Duration::from_secs(2);

/// Times all pairs of these CPUs, as many as there is time for.
pub fn between(cpus: &[u32]) -> io::Result<Reply> {
    let started = Instant::now();
    let pairs = cpus.iter().enumerate().flat_map(|(at, a)| cpus[at + 1..].iter().map(|b| (*a, *b)));
    let timed = pairs.take_while(|_| started.elapsed() < AT_MOST);
    let line_ns = timed.map(|(a, b)| Ok((a, b, round_trip_ns(a, b)?)));
    Ok(Reply::Distances { line_ns: line_ns.collect::<io::Result<_>>()? })
}

/// The median over batches of what a round trip takes: a CPU that others use looks far.
fn round_trip_ns(caller: u32, callee: u32) -> io::Result<u32> {
    let (request, reply) = (Line(AtomicU32::new(0)), Line(AtomicU32::new(0)));
    let wait_for = |line: &Line<AtomicU32>, number: u32| {
        while line.0.load(Ordering::Acquire) != number {
            std::hint::spin_loop();
        }
    };
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let pinned = sys::pin(callee);
            for number in 1..=BATCHES * ROUND_TRIPS {
                wait_for(&request, number);
                reply.0.store(number, Ordering::Release);
            }
            pinned
        });
        let pinned = sys::pin(caller);
        let batch_ns = |batch: u32| {
            let begun = Instant::now();
            for number in batch * ROUND_TRIPS + 1..=(batch + 1) * ROUND_TRIPS {
                request.0.store(number, Ordering::Release);
                wait_for(&reply, number);
            }
            begun.elapsed().as_nanos() as u32 / ROUND_TRIPS
        };
        let mut batches_ns: Vec<u32> = (0..BATCHES).map(batch_ns).skip(1).collect();
        batches_ns.sort_unstable();
        answering.join().map_err(|_| sys::failure("the answering thread ended"))?.and(pinned)?;
        Ok(batches_ns[batches_ns.len() / 2])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_time() {
        let mut cpus = sys::allowed_cpus().unwrap();
        cpus.truncate(3);
        let Ok(Reply::Distances { line_ns }) = between(&cpus) else { panic!("no distances") };
        assert_eq!(line_ns.len(), cpus.len() * (cpus.len() - 1) / 2);
        assert!(line_ns.iter().all(|(a, b, ns)| a < b && *ns > 0), "{line_ns:?}");
        assert!(between(&[cpus[0], 100_000]).is_err());
    }
}
