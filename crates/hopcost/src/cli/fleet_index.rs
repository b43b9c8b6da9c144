//! The index of a fleet, brought up to date: what `hopcost report` computes of each run file, as rows.

use std::path::Path;
use std::thread;

use hopcost_file::{EstimateRow, Fleet, Indexed, IndexedRow, Kind, Unread};
use hopcost_model::fleet::RawFleet;
use hopcost_model::results::Results;
use hopcost_read::stored;

use super::exit::usage;
use super::{estimates, output, report};
use crate::run::scratch::Scratch;

/// Files that are written into the index at once: the driver waits meanwhile.
const AT_ONCE: usize = 32;
/// Threads that read run files at most, for each holds a whole run.
const THREADS_MAX: usize = 8;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Files that were read, …
    pub read: usize,
    /// … of which so many cannot be.
    pub broken: usize,
}

/// Reads a fleet, after its index is brought up to date where it can be written.
pub fn read(directory: &Path) -> anyhow::Result<RawFleet> {
    refresh(directory)?;
    let fleet = Fleet::open_to_read(directory, &Scratch::for_copy).map_err(usage)?;
    fleet.read().map_err(usage)
}

/// Reads the run files that the index does not have as they are now; `None` where it cannot be
/// written.
pub fn refresh(directory: &Path) -> anyhow::Result<Option<Done>> {
    match index(directory) {
        Ok(done) => Ok(Some(done)),
        Err(error) => match error.kind() {
            Kind::Denied | Kind::Shared | Kind::Busy | Kind::Full => {
                output::say(&format!("hopcost: not indexed: {error}"));
                Ok(None)
            }
            _ => Err(usage(error)),
        },
    }
}

fn index(directory: &Path) -> hopcost_file::Result<Done> {
    let mut fleet = Fleet::open(directory)?;
    let unread = fleet.unread()?;
    let mut done = Done { read: unread.len(), broken: 0 };
    for files in unread.chunks(AT_ONCE) {
        let found = read_all(files);
        done.broken += found.iter().filter(|(_, found)| found.is_err()).count();
        fleet.put(&found)?;
    }
    Ok(done)
}

/// Reads a few files, in their order, on as many CPUs as there are.
fn read_all(files: &[Unread]) -> Vec<(Unread, Result<Indexed, String>)> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let read = |files: &[Unread]| files.iter().map(|file| (file.clone(), one(file))).collect();
    thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(threads).max(1));
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || -> Vec<_> { read(part) })).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn one(file: &Unread) -> Result<Indexed, String> {
    let path = file.path.as_ref().map_err(String::clone)?;
    let raw = hopcost_file::open(path, &Scratch::for_copy).map_err(|error| {
        let (line, place) = (error.to_string(), format!("{}: ", path.display()));
        // The row says of which file.
        line.strip_prefix(&place).unwrap_or(&line).to_owned()
    })?;
    let results = report::results(&raw);
    Ok(Indexed {
        run_id: raw.about.id.clone(),
        started: raw.about.started.clone(),
        facts: stored::fingerprint(&raw, &hopcost_probe::worker::mechanisms()),
        estimates: rows(&results),
    })
}

/// The estimates as they are stored beside a run, and a row for each case without any.
fn rows(results: &Results) -> Vec<IndexedRow> {
    let mut rows: Vec<IndexedRow> = estimates::of(results).iter().map(row).collect();
    let bare = results.results.iter().filter(|case| case.validity.is_none());
    rows.extend(bare.map(|case| IndexedRow {
        case_id: case.id.clone(),
        skip: Some(case.reason.clone().unwrap_or_else(|| "not measured".to_owned())),
        ..IndexedRow::default()
    }));
    rows
}

fn row(of: &EstimateRow) -> IndexedRow {
    let found = &of.estimate;
    // What cannot be told from the empty loop is no value to compare hosts by.
    let [point, low, high] =
        [found.point, found.low, found.high].map(|x| x.filter(|_| !found.at_most));
    let bound = found.at_most.then(|| "not distinguishable from the empty loop".to_owned());
    IndexedRow {
        case_id: of.case_id.clone(),
        statistic: of.statistic.clone(),
        unit: if of.statistic.ends_with("_gbps") { "Gbit/s" } else { "ns" },
        numbers: [point, low, high],
        trials: found.n_trials,
        validity: Some(of.validity.word()),
        skip: bound.or_else(|| found.insufficient.clone()),
    }
}
