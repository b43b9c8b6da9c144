//! The same work for each of several things, on all CPUs.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// What a function makes of each number below `n`, in order, by as many threads as this process may
/// use CPUs. It goes on with fewer where no more can be had.
pub fn each<T: Send>(n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let some = || -> Vec<(usize, T)> {
        let at = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        at.take_while(|at| *at < n).map(|at| (at, of(at))).collect()
    };
    let others =
        thread::available_parallelism().map_or(0, |cpus| cpus.get().min(n).saturating_sub(1));
    let mut made = thread::scope(|scope| {
        let begun = (0..others).map_while(|_| Builder::new().spawn_scoped(scope, some).ok());
        let begun: Vec<_> = begun.collect();
        let mut made = some();
        begun
            .into_iter()
            .for_each(|one| made.extend(one.join().unwrap_or_else(|of| resume_unwind(of))));
        made
    });
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, of)| of).collect()
}
