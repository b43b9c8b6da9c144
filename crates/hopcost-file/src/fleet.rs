//! The index of a fleet (`fleet.sqlite`), which its driver writes: a document for each attempt at a
//! host or a pair, and beside it one of what its run file holds. Nothing in it is believed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hopcost_model::text::escaped;
use hopcost_model::{IndexedRun, RawFleet, is_host_name};
use serde::Deserialize;

use crate::connect::{self, MakeFolder};
use crate::error::{Cell, Error, Result};
use crate::read::{Row, Source};

/// Its name in the fleet's directory.
const NAME: &str = "fleet.sqlite";
/// Attempts of a fleet at most: its driver plans no more than a million pairs at a time.
const TASKS_MAX: usize = 2_000_000;
/// Hosts of a fleet at most.
const HOSTS_MAX: usize = 100_000;

/// What of an attempt matters here.
#[derive(Deserialize)]
struct Task {
    kind: String,
    a: String,
    state: String,
    attempt: u32,
}

/// Whether a directory is that of a fleet.
pub fn is_fleet(directory: &Path) -> bool {
    directory.join(NAME).is_file()
}

/// Reads of an index what a comparison needs, as of one moment.
///
/// # Errors
/// Where it cannot be read, or holds what no driver would have written.
pub fn read_fleet(directory: &Path, folder: &MakeFolder) -> Result<RawFleet> {
    let path = directory.join(NAME);
    if directory.is_dir() && fs::symlink_metadata(&path).is_err() {
        let why = "the directory has no fleet.sqlite, which `hopcost fleet run` makes";
        return Err(Error::because(directory, why));
    }
    let path = connect::check_index(&path)?;
    let conn = connect::reading(&path, folder)?;
    let source = Source::of(&conn, &path)?;
    let settings = source.rows(("fleet", "rowid, key, value"), HOSTS_MAX, |row| {
        Ok((row.text(1)?.to_owned(), escaped(row.text(2)?)))
    })?;
    let mut settings: BTreeMap<String, String> = settings.into_iter().collect();
    let mut setting = |key: &str| settings.remove(key).unwrap_or_default();
    let (id, created) = (setting("id"), setting("created"));
    let tasks = source.rows(("task", "id, document, run"), TASKS_MAX, task)?;
    // One that was done counts before all others, and then the last.
    let mut best: BTreeMap<String, (bool, u32, IndexedRun)> = BTreeMap::new();
    for (task, run) in tasks.into_iter().filter(|(task, _)| task.kind == "host") {
        if !is_host_name(&task.a) {
            return Err(Error::content(&path, "task", &format!("no host is called {}", task.a)));
        }
        let Some(run) = run.filter(|run| run.error.is_none()) else { continue };
        let rank = (task.state == "done", task.attempt);
        if best.get(&task.a).is_none_or(|known| (known.0, known.1) <= rank) {
            best.insert(task.a, (rank.0, rank.1, run));
        }
    }
    if best.len() > HOSTS_MAX {
        return Err(Error::content(&path, "task", &format!("more than {HOSTS_MAX} hosts")));
    }
    let hosts = best.into_iter().map(|(name, (.., run))| (name, run)).collect();
    Ok(RawFleet { id, created, hosts })
}

/// An attempt, and what its run file holds where the index has it.
fn task(row: &Row<'_>) -> Cell<(Task, Option<IndexedRun>)> {
    Ok((row.document(1)?, row.document(2)?))
}
