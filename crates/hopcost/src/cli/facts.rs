//! `hopcost facts`: what is known of this host and this binary, for whoever looks after many.

use std::time::{SystemTime, UNIX_EPOCH};

use hopcost_machine::Root;
use hopcost_model::protocol;
use serde_json::json;

use super::{exit, host, output};
use crate::about;

/// Prints one JSON object; measures nothing.
pub fn run() -> anyhow::Result<u8> {
    let cpus = host::allowed_cpus()?;
    let cpus = &cpus[..cpus.len().min(2)];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let facts = json!({
        "hopcost": env!("CARGO_PKG_VERSION"),
        "commit": env!("HOPCOST_COMMIT"),
        "checksum": about::build().checksum,
        "protocol": protocol::VERSION,
        "host": hopcost_machine::fingerprint(&Root::default(), cpus),
        "clock": { "utc_ns": now.as_nanos() as u64 },
    });
    output::write(format!("{facts}\n").as_bytes(), None)?;
    Ok(exit::OK)
}
