//! What storing a trial costs, by journal mode, zlib level and page size:
//! `cargo run --release -p hopcost-file --example store_cost [DIRECTORY]`.
//!
//! The directory (default: the current one) must lie on the disk in question; a
//! tmpfs costs nothing to synchronise. The numbers behind the choices made in
//! `connect.rs` and `samples.rs` come from here.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hopcost_file::samples::{pack_at, unpack};
use rusqlite::{Connection, params};

const SAMPLES: usize = 16_384;
const TRIALS: usize = 200;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Round trips of some 9 µs at 2.1 GHz: a narrow body, a second mode and a long
/// tail, from a fixed seed.
fn ticks(seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..SAMPLES)
        .map(|_| {
            // Even, as many TSCs are; four uniforms make something like a bell.
            let bell: u64 = (0..4).map(|_| next() % 400).sum();
            let mode = if next() % 10 == 0 { 4_000 } else { 0 };
            let tail = if next() % 200 == 0 { next() % 200_000 } else { 0 };
            ((18_000 + bell + mode + tail) & !1) as u32
        })
        .collect()
}

/// Median and 99th percentile, in microseconds.
fn quantiles(mut us: Vec<f64>) -> (f64, f64) {
    us.sort_by(f64::total_cmp);
    let at = |q: f64| us.get(((us.len() - 1) as f64 * q) as usize).copied().unwrap_or(f64::NAN);
    (at(0.5), at(0.99))
}

fn zlib(trials: &[Vec<u32>]) -> Outcome<()> {
    println!("zlib level, {SAMPLES} samples: pack p50 [us]  unpack p50 [us]  bytes of raw");
    for level in 0..=9 {
        let (mut pack_us, mut unpack_us, mut bytes) = (Vec::new(), Vec::new(), 0);
        for ticks in trials.iter().take(50) {
            let start = Instant::now();
            let blob = pack_at(ticks, level);
            pack_us.push(start.elapsed().as_secs_f64() * 1e6);
            bytes += blob.len();
            let start = Instant::now();
            unpack(&blob, ticks.len())?;
            unpack_us.push(start.elapsed().as_secs_f64() * 1e6);
        }
        let share = bytes as f64 / (pack_us.len() * SAMPLES * 4) as f64;
        let (pack_us, unpack_us) = (quantiles(pack_us).0, quantiles(unpack_us).0);
        println!("  {level}   {pack_us:8.0}   {unpack_us:8.0}   {:5.1} %", share * 100.0);
    }
    Ok(())
}

fn store(path: &Path, journal: &str, page: u32, blobs: &[Vec<u8>]) -> Outcome<(f64, f64)> {
    let _ = std::fs::remove_file(path);
    let mut conn = Connection::open(path)?;
    conn.pragma_update(None, "page_size", page)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(()))?;
    // As many columns as the tables had when the figures were taken.
    conn.execute_batch(
        "CREATE TABLE trial (trial INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p,
                             q, samples, UNIQUE (a, b));
         CREATE TABLE trial_end (trial, position, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o,
                                 PRIMARY KEY (trial, position)) WITHOUT ROWID",
    )?;
    let mut us = Vec::new();
    for (i, blob) in blobs.iter().enumerate() {
        let start = Instant::now();
        let tx = conn.transaction()?;
        tx.prepare_cached(
            "INSERT INTO trial VALUES (NULL,?1,?2,0,1,2,3,NULL,'each',NULL,4,5,'[0,1]','[]',6,7,8,?3,?4)",
        )?
        .execute(params![(i % 33) as i64, (i / 33) as i64, SAMPLES as i64, blob])?;
        for end in 0..2 {
            tx.prepare_cached(
                "INSERT INTO trial_end VALUES (last_insert_rowid(),?1,'caller',1,2,3,4,5,6,7,8,9,10,0,1,11,1)",
            )?
            .execute([end])?;
        }
        tx.commit()?;
        us.push(start.elapsed().as_secs_f64() * 1e6);
    }
    drop(conn);
    std::fs::remove_file(path)?;
    let _ = std::fs::remove_file(path.with_extension("db-journal"));
    Ok(quantiles(us))
}

fn main() -> Outcome<()> {
    let directory = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let path = directory.join(format!("store-cost-{}.db", std::process::id()));
    let trials: Vec<_> = (0..TRIALS as u64).map(ticks).collect();
    zlib(&trials)?;
    let blobs: Vec<_> = trials.iter().map(|ticks| pack_at(ticks, 1)).collect();
    println!("a transaction, {TRIALS} trials, without packing: p50 [us]  p99 [us]");
    // Twice, in turn, so that a change of the disk's mood shows.
    for _ in 0..2 {
        for journal in ["delete", "truncate", "persist"] {
            for page in [4096, 16_384] {
                let (p50, p99) = store(&path, journal, page, &blobs)?;
                println!("  {journal:8} page {page:5}   {p50:8.0}   {p99:8.0}");
            }
        }
    }
    Ok(())
}
