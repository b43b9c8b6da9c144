//! What a worker does in the background of a trial: the same over and over, until it is killed by
//! the deadline at the latest.

use std::convert::Infallible;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt;

use hopcost_model::protocol::{BackgroundWork, Reply};

use super::lines;
use crate::sys;

/// Additions and multiplications between two notes of progress, some 0.3 ms.
const STEPS: u64 = 1 << 18;
/// Cache lines written to between two of them.
const LINES: usize = 1 << 14;
/// What a line is taken to have.
const LINE_BYTES: usize = 64;
/// As far apart as first writes are.
const PAGE_BYTES: usize = 4096;

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

/// Answers when it is about to begin; returns only if it cannot go on.
pub(super) fn work(work: BackgroundWork, progress: &File) -> io::Result<Infallible> {
    match work {
        BackgroundWork::Compute => {
            let mut x = 1u64;
            forever(progress, || {
                x = (0..STEPS).fold(x, |x, step| black_box(x.wrapping_mul(3).wrapping_add(step)));
            })
        }
        BackgroundWork::Walk { bytes } => {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(LINES * LINE_BYTES);
            let mut memory = vec![0u8; bytes];
            // Its pages come into being where they are first written to.
            memory.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
            let mut at = 0;
            forever(progress, || {
                for line in memory[at..].chunks_mut(LINE_BYTES).take(LINES) {
                    line[0] = line[0].wrapping_add(1);
                }
                black_box(&memory);
                at = if at + 2 * LINES * LINE_BYTES > bytes { 0 } else { at + LINES * LINE_BYTES };
            })
        }
    }
}

/// Does a part of the work after the other and notes each that is done.
fn forever(progress: &File, mut part: impl FnMut()) -> io::Result<Infallible> {
    lines::reply(&Reply::Spinning)?;
    for done in 1u64.. {
        part();
        progress.write_all_at(&done.to_le_bytes(), 0)?;
    }
    Err(sys::failure("the work is done"))
}
