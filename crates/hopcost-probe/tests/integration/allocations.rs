//! An end allocates nothing between its stamps, however it waits.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hopcost_model::{Case, Stamp, WaitKind, Workload};

use crate::support::{alone, both_end_well, case, measure, none_failed, rows, too_slow_here};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The allocator of the system, with a count for each thread.
struct Counting;

// SAFETY: what the system's allocator gives and takes, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Exchanges of a phase.
const EXCHANGES: u64 = 100;
/// Mechanisms whose library allocates: a queue that grows, and a WebSocket's messages.
const OF_A_LIBRARY: [&str; 5] =
    ["channel-std", "channel-crossbeam", "websocket", "websocket-threaded", "websocket-connect"];

/// What both ends of a phase allocate.
fn allocated(case: &Case) -> Result<u64, String> {
    let ends = both_end_well(case, |_, end| {
        let before = ALLOCATIONS.get();
        end.run(&measure(EXCHANGES, Stamp::Each), &mut []).map_err(|e| e.to_string())?;
        Ok(ALLOCATIONS.get() - before)
    })?;
    Ok(ends.iter().sum())
}

#[test]
fn nothing_is_allocated_for_an_exchange() {
    let _alone = alone();
    let mut failed = Vec::new();
    for row in rows(Workload::Roundtrip) {
        if OF_A_LIBRARY.contains(&row.name) {
            continue;
        }
        for wait in row.facts().waits.iter().copied() {
            let mut case = case(Workload::Roundtrip, row, wait);
            if wait == WaitKind::SpinThenBlock {
                // Too little to find a message in: the end sleeps after all.
                case.spin_budget_ns = Some(1);
            }
            if too_slow_here(&case) {
                continue;
            }
            match allocated(&case) {
                Ok(allocations) if allocations < EXCHANGES / 10 => {}
                other => failed.push(format!("{case}: {other:?} in {EXCHANGES} exchanges")),
            }
        }
    }
    none_failed(failed);
}
