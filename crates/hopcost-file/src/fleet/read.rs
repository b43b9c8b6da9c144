//! Reads of the index of a fleet what a comparison needs. What nobody who drives a fleet would
//! have written is left out and counted, and texts show as what they are.

use std::collections::{BTreeMap, HashMap};

use hopcost_model::fleet::{HEADLINE, HostRun, HostValue, RawFleet, is_host_name};
use hopcost_model::text::escaped;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::Fleet;
use crate::error::{Error, Result};

/// The longest text that is taken over.
const TEXT_MAX_CHARS: usize = 1000;
/// The greatest number that can be one of a unit that is measured in: thirty years in nanoseconds.
const NUMBER_MAX: f64 = 1e18;
/// Hosts of a fleet at most.
const HOSTS_MAX: usize = 100_000;

/// The names of hosts by the run file that counts.
type Names = HashMap<String, String>;

impl Fleet {
    /// Reads it, as of one moment.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&self) -> Result<RawFleet> {
        let fleet = all(self).map_err(|error| self.sqlite(error))?;
        if fleet.hosts.len() > HOSTS_MAX {
            let why = format!("it has more than {HOSTS_MAX} hosts");
            return Err(Error::not_a_fleet(&self.path, why));
        }
        Ok(fleet)
    }
}

fn all(of: &Fleet) -> rusqlite::Result<RawFleet> {
    let tx = of.conn.unchecked_transaction()?;
    let mut fleet = RawFleet::default();
    let about = "SELECT key, value FROM fleet NOT INDEXED WHERE key IN ('id', 'created')";
    each(&tx, about, |row| {
        let (key, value) = (text(row, 0)?, text(row, 1)?);
        *(if key == "id" { &mut fleet.id } else { &mut fleet.created }) = value;
        Some(())
    })?;
    if of.has("run_file")? && of.has("fact")? && of.has("estimate")? {
        let (names, strange) = runs(&tx)?;
        fleet.hosts = names.values().map(|name| (name.clone(), HostRun::default())).collect();
        let strange = strange + facts(&tx, &mut fleet, &names)? + values(&tx, &mut fleet, &names)?;
        if strange > 0 {
            fleet.left_out.push(format!("Left out of the index: {strange} impossible rows."));
        }
    }
    Ok(fleet)
}

/// Reads every row of a query, and counts those of which `of` makes nothing.
fn each(
    conn: &Connection,
    query: &str,
    mut of: impl FnMut(&Row<'_>) -> Option<()>,
) -> rusqlite::Result<usize> {
    let mut query = conn.prepare(query)?;
    let mut rows = query.query([])?;
    let mut strange = 0;
    while let Some(row) = rows.next()? {
        strange += usize::from(of(row).is_none());
    }
    Ok(strange)
}

/// A text, as it shows, no longer than most are.
fn text(row: &Row<'_>, at: usize) -> Option<String> {
    let ValueRef::Text(bytes) = row.get_ref(at).ok()? else { return None };
    let bytes = &bytes[..bytes.len().min(4 * TEXT_MAX_CHARS)];
    let text: String = String::from_utf8_lossy(bytes).chars().take(TEXT_MAX_CHARS).collect();
    Some(escaped(&text))
}

/// The run that counts of each host: one that was done before all others, and then the last.
fn runs(conn: &Connection) -> rusqlite::Result<(Names, usize)> {
    let query = "SELECT task.a, task.file, task.state = 'done', task.attempt
        FROM task NOT INDEXED JOIN run_file USING (file)
        WHERE task.kind = 'host' AND run_file.error IS NULL";
    let mut best: BTreeMap<String, (bool, i64, String)> = BTreeMap::new();
    let strange = each(conn, query, |row| {
        let (name, file) = (text(row, 0).filter(|name| is_host_name(name))?, text(row, 1)?);
        let run = (row.get(2).ok()?, row.get(3).ok()?, file);
        let known = best.entry(name).or_insert_with(|| run.clone());
        if (run.0, run.1) >= (known.0, known.1) {
            *known = run;
        }
        Some(())
    })?;
    Ok((best.into_iter().map(|(name, (.., file))| (file, name)).collect(), strange))
}

fn facts(conn: &Connection, fleet: &mut RawFleet, names: &Names) -> rusqlite::Result<usize> {
    each(conn, "SELECT file, key, value FROM fact NOT INDEXED", |row| {
        let Some(name) = names.get(&text(row, 0)?) else { return Some(()) };
        let fact = (text(row, 1)?, text(row, 2)?);
        fleet.hosts.get_mut(name)?.facts.push(fact);
        Some(())
    })
}

fn values(conn: &Connection, fleet: &mut RawFleet, names: &Names) -> rusqlite::Result<usize> {
    let query = "SELECT file, case_id, statistic, point FROM estimate NOT INDEXED
        WHERE point IS NOT NULL AND validity IS NOT 'invalid'";
    each(conn, query, |row| {
        let statistic = text(row, 2)?;
        let statistic = HEADLINE.iter().position(|(known, _)| *known == statistic);
        let (Some(statistic), Some(name)) = (statistic, names.get(&text(row, 0)?)) else {
            return Some(());
        };
        let value: f64 = row.get(3).ok()?;
        let value = Some(value).filter(|value| *value > 0.0 && *value < NUMBER_MAX)?;
        let case = text(row, 1)?;
        fleet.hosts.get_mut(name)?.values.push(HostValue { case, statistic, value });
        Some(())
    })
}
