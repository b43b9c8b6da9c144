//! Whatever cannot be a run is refused without a panic.

use std::fs;

use crate::common::{fresh, made, open};
use hopcost_file::open_for_resume;

/// Opening may succeed or fail, for reading and for resuming; it returns.
fn opens_or_fails(bytes: &[u8]) {
    let (_dir, path) = fresh();
    fs::write(&path, bytes).unwrap();
    for error in [open(&path).err(), open_for_resume(&path).err()].into_iter().flatten() {
        let line = error.to_string();
        assert!(line.contains("/run: ") && !line.contains('\n'), "{line}");
    }
}

#[test]
fn a_run_with_bytes_changed_never_panics() {
    let (_dir, path, _) = made(3);
    let good = fs::read(path).unwrap();
    let mut state = 1u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below as u64) as usize
    };
    for _ in 0..200 {
        let mut bent = good.clone();
        for _ in 0..=next(4) {
            let at = next(bent.len());
            bent[at] = next(256) as u8;
        }
        // Behind the header anything, or nothing.
        match next(6) {
            0 => bent.truncate(next(good.len())),
            1 => bent[100..].iter_mut().for_each(|byte| *byte = next(256) as u8),
            _ => {}
        }
        opens_or_fails(&bent);
    }
}
