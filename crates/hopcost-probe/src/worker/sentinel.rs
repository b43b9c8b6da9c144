//! The sentinel: a fixed piece of work, timed on the CPU of the trial right
//! before and after it, that tells in which state the host was. It classifies
//! trials; nothing is ever divided by it.

use hopcost_model::protocol::Reply;

use super::counters::Time;
use crate::sys;

/// Chunks; their median survives a preemption.
const CHUNKS: usize = 9;
/// Aimed length of a chunk: nine of them and their probe take most of a millisecond.
const CHUNK_NS: u64 = 80_000;
/// System calls of the short run that sizes the chunk.
const PROBE_CALLS: u64 = 64;
/// What a virtual sentinel says of each call.
const VIRTUAL_CALL_NS: u64 = 100;

/// Times getppid in equal chunks.
pub fn time(time: Time) -> Reply {
    let cpu = sys::current_cpu();
    if time == Time::Virtual {
        let calls = PROBE_CALLS;
        return Reply::Sentinel { chunks_ns: vec![calls * VIRTUAL_CALL_NS; CHUNKS], calls, cpu };
    }
    let probe_ns = chunk_ns(PROBE_CALLS).max(1);
    let calls = (PROBE_CALLS * CHUNK_NS / probe_ns).clamp(PROBE_CALLS, 4096);
    let chunks_ns = (0..CHUNKS).map(|_| chunk_ns(calls)).collect();
    Reply::Sentinel { chunks_ns, calls, cpu }
}

fn chunk_ns(calls: u64) -> u64 {
    let start = sys::clock_ns(libc::CLOCK_MONOTONIC);
    for _ in 0..calls {
        std::hint::black_box(sys::getppid());
    }
    sys::clock_ns(libc::CLOCK_MONOTONIC) - start
}
