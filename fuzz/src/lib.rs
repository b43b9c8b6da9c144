//! What is fuzzed: a function for each parser, which panics where input breaks a promise.
//! Nothing panics; a refusal is one line; what is accepted is spelled in one way, which is
//! read back as the same; nothing that a file says reaches a terminal unescaped.
//!
//! The fuzz targets call these functions, and so does `./test` with every file of `corpus/`.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hopcost_model::case::{Case, Placement};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{Command, Reply};
use hopcost_model::text::is_plain;
use hopcost_model::units::{parse_duration_ns, parse_size, spaced_size};
use hopcost_plan::{Ask, CASES_MAX, Catalog, Machine, RuntimeFacts, Selector, SuiteSource};
use serde::Serialize;
use serde::de::DeserializeOwned;

mod run_file;
mod tree;

pub use run_file::run_file;

/// A fuzz target: its name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("suite", suite),
    ("claims", claims),
    ("case", case),
    ("protocol", protocol),
    ("machine", machine),
    ("published", published),
    ("samples", samples),
    ("run_file", run_file),
];

/// A suite file: parsed, planned, and the plan stored as JSON.
pub fn suite(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = SuiteSource { file: "fuzz.toml".to_owned(), text: text.to_owned() };
    plan(&Ask { suite: Some(source), ..Ask::default() });
}

/// A claims file: parsed, planned, and the plan stored as JSON.
pub fn claims(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let files = [SuiteSource { file: "fuzz.toml".to_owned(), text: text.to_owned() }];
    let ask = Ask::default();
    match hopcost_plan::judging(&ask, &files, &[], &rust(), &few_cpus()) {
        Err(error) => one_line(&error.to_string()),
        Ok(plan) => same_from_json::<Plan>(&plan),
    }
}

/// What a user types: a case, a selector, a size, a duration.
pub fn case(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match text.parse::<Case>() {
        Ok(case) => {
            let id = case.to_string();
            assert_eq!(id.parse::<Case>().as_ref(), Ok(&case), "{id}");
        }
        Err(error) => drop(error.to_string()),
    }
    if let Ok(bytes) = parse_size(text) {
        assert_eq!(parse_size(&spaced_size(bytes)), Ok(bytes));
    }
    if let Ok(ns) = parse_duration_ns(text) {
        assert_eq!(parse_duration_ns(&format!("{ns}ns")), Ok(ns));
    }
    match Selector::parse(text) {
        Ok(_) => plan(&Ask { selectors: vec![text.to_owned()], ..Ask::default() }),
        Err(error) => one_line(&error),
    }
    for axis in ["wait", "runtime"] {
        let (selectors, axes) = (vec!["pipe".to_owned()], [(axis, vec![text.to_owned()])]);
        plan(&Ask { selectors, axes: axes.into(), ..Ask::default() });
    }
}

static RUST: LazyLock<Vec<Mechanism>> = LazyLock::new(hopcost_probe::worker::mechanisms);

/// Rust, a runtime that is here, and one that is not.
fn rust() -> Catalog<'static> {
    Catalog::new(RUST.clone(), || {
        let python = include_str!("../../crates/hopcost-plan/tests/integration/common/python.json");
        let python = serde_json::from_str(python).expect("a description");
        let facts = |runtime: &str, state| {
            let runtime = runtime.parse().expect("a runtime");
            RuntimeFacts { runtime, start_ns: None, state }
        };
        vec![facts("python", Ok(python)), facts("go", Err("not\nbuilt".to_owned()))]
    })
}

/// A machine of two CPUs.
pub fn few_cpus() -> Machine {
    Machine {
        allowed_cpus: vec![0, 1],
        pairs: [(Placement::SameLlc, (0, 1))].into(),
        cross: None,
        asked: None,
        peer_cpu: None,
        dma_latency: || Ok(()),
        namespaces: || Ok(()),
        one_way: |_, _| Ok(()),
    }
}

fn plan(ask: &Ask) {
    match hopcost_plan::plan(ask, &rust(), &few_cpus()) {
        Err(error) => one_line(&error.to_string()),
        Ok(plan) => {
            assert!(plan.cases.len() <= CASES_MAX);
            for planned in &plan.cases {
                let id = planned.id();
                assert_eq!(id.parse::<Case>().as_ref(), Ok(&planned.case), "{id}");
                planned.skip.iter().for_each(|reason| one_line(reason));
            }
            same_from_json::<Plan>(&plan);
        }
    }
}

/// A line that a worker reads, or one that the control process reads.
pub fn protocol(data: &[u8]) {
    if let Ok(command) = serde_json::from_slice::<Command>(data) {
        same_from_json(&command);
    }
    if let Ok(reply) = serde_json::from_slice::<Reply>(data) {
        same_from_json(&reply);
    }
}

/// The files below /proc and /sys that describe a machine.
pub fn machine(data: &[u8]) {
    const STATUS: &str = "proc/self/status";
    const ALLOWED: &str = "cpu.allowed";
    let tree = tree::Tree::of(&String::from_utf8_lossy(data));
    let root = hopcost_machine::Root::new(tree.path());
    let host = hopcost_machine::fingerprint(&root, &[0, 1]);
    for reading in &host.readings {
        assert!(reading.value.is_some() != reading.reason.is_some(), "{reading:?}");
        let told = reading.value.iter().chain(&reading.reason);
        told.for_each(|text| assert!(!text.contains('\u{1b}'), "{reading:?}"));
    }
    let topology = hopcost_machine::topology(&root, &[0, 1]);
    assert_eq!(topology.relation(0, 1), topology.relation(1, 0));
    let _ = hopcost_machine::steal_ns(&root, 0);
    let _ = hopcost_machine::clocks_comparable(&root, &[0, 1]);
    let _ = hopcost_machine::shared_pages(&root, 1);
    let before = hopcost_machine::Counted::now(&root, &[0, 1]);
    let _ = (before.cpus_since(&before), before.throttled_since(&before));
    // A list of CPUs is spelled as the kernel does, and read back as the same.
    let allowed = |host: &hopcost_model::host::Host| host.get(ALLOWED).map(str::to_owned);
    if let Some(list) = allowed(&host) {
        tree.write(STATUS, &format!("Cpus_allowed_list:\t{list}\n"));
        assert_eq!(allowed(&hopcost_machine::fingerprint(&root, &[0])), Some(list));
    }
}

/// A table that others published.
pub fn published(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(source) = hopcost_read::PublishedSource::parse("x", text) {
        assert!(source.rows.0.len() < text.len());
        let rows = source.rows.0.iter().map(|row| &row.shown);
        let numbers = rows.flat_map(|row| row.published.iter().chain(&row.published_high));
        numbers.for_each(|number| assert!(number.is_finite()));
    }
}

/// Stored samples: how many there may be, as two bytes, and the packed ones.
pub fn samples(data: &[u8]) {
    let Some((count, blob)) = data.split_first_chunk::<2>() else { return };
    let count = usize::from(u16::from_le_bytes(*count));
    match hopcost_file::samples::unpack(blob, count) {
        Ok(ticks) => {
            assert!(ticks.len() <= count);
            let packed = hopcost_file::samples::pack(&ticks);
            assert_eq!(hopcost_file::samples::unpack(&packed, count), Ok(ticks));
        }
        Err(error) => one_line(&error),
    }
}

fn same_from_json<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("what was read can be written");
    assert_eq!(&serde_json::from_str::<T>(&text).expect("what was written can be read"), value);
}

/// An error is a line, without anything that a terminal would obey.
fn one_line(error: &str) {
    assert!(!error.is_empty() && error.chars().all(is_plain), "{error:?}");
}

/// The file of a folder that is gone with it.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let shm = Path::new("/dev/shm");
    let folder = tempfile::tempdir_in(shm).or_else(|_| tempfile::tempdir()).expect("a folder");
    let file = folder.path().join("run");
    (folder, file)
}
