//! Who makes a run: this binary, and when.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hopcost_model::raw::{Build, RunAbout};
use hopcost_stats::rng::SplitMix64;

/// How this binary was built.
pub fn build() -> Build {
    Build {
        profile: env!("HOPCOST_PROFILE").into(),
        compiler: env!("HOPCOST_COMPILER").into(),
        target: env!("HOPCOST_TARGET").into(),
        slow: hopcost_probe::slow(),
        checksum: checksum("/proc/self/exe".as_ref()).ok(),
    }
}

/// A checksum of a binary (64-bit FNV-1a of its whole words), against mistakes and not
/// against anybody who wants two to be alike.
fn checksum(binary: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(binary)?;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = 0xcbf2_9ce4_8422_2325 ^ rest.len() as u64;
    for word in words {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x0100_0000_01b3);
    }
    Ok(format!("{sum:016x}"))
}

/// A name for these bytes (64-bit FNV-1a), against mistakes like the checksum.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> String {
    let sum = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// Seconds since 1970.
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A number that differs from run to run; nothing depends on its quality.
pub fn random() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    SplitMix64(since.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32)).next_u64()
}

/// The head of a new run, made by this command line.
pub fn run(argv: Vec<String>, group: Option<String>) -> RunAbout {
    RunAbout {
        id: hopcost_file::new_id(unix_seconds(), random() as u32),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("HOPCOST_COMMIT").into(),
        build: build(),
        argv,
        started: hopcost_file::utc(unix_seconds()),
        ended: None,
        resumed: 0,
        group,
    }
}
