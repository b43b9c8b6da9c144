//! Who makes a run: this binary, and when.

use std::hash::{DefaultHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use hopcost_model::{Build, RunAbout};
use hopcost_stats::rng::SplitMix64;

/// How this binary was built.
pub fn build() -> Build {
    Build {
        profile: env!("HOPCOST_PROFILE").into(),
        compiler: env!("HOPCOST_COMPILER").into(),
        target: env!("HOPCOST_TARGET").into(),
        slow: hopcost_probe::slow(),
        checksum: std::fs::read("/proc/self/exe").ok().map(|binary| hash(&binary)),
    }
}

/// A name for these bytes, against mistakes and not against anybody who wants two to be alike. A build
/// by another compiler may give them another one.
pub fn hash(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
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
pub fn run(argv: Vec<String>) -> RunAbout {
    RunAbout {
        id: hopcost_file::new_id(unix_seconds(), random() as u32),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("HOPCOST_COMMIT").into(),
        build: build(),
        argv,
        started: hopcost_file::utc(unix_seconds()),
        ended: None,
        resumed: 0,
    }
}
