//! The stored runs of `tests/runs`, read as `hopcost report` reads them.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use hopcost_model::raw::RawRun;
use hopcost_model::results::Results;

/// Names of the runs, one a suite and one that was cut off.
pub const RUNS: [&str; 7] =
    ["ladder", "quick", "microkernel", "threads-udp-websocket", "wakeup", "copies", "interrupted"];

/// What a run says.
pub fn results(name: &str) -> Results {
    static READ: OnceLock<Mutex<HashMap<String, Results>>> = OnceLock::new();
    let mut read = READ.get_or_init(Mutex::default).lock().unwrap();
    let entry = read.entry(name.to_owned());
    entry
        .or_insert_with(|| hopcost_read::read(&raw(name), &hopcost_probe::worker::mechanisms()))
        .clone()
}

/// A run as it was stored.
pub fn raw(name: &str) -> RawRun {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/runs");
    let packed = std::fs::read(runs.join(name).with_extension("hopcost.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    hopcost_file::open(file.path()).unwrap()
}
