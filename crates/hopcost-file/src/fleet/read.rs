//! Reads the index of a fleet: what cannot be is left out and counted, and texts show as what they are.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use hopcost_model::finding::Validity;
use hopcost_model::fleet::{
    IndexedEstimate, IndexedFile, RawFleet, RawHost, RawTask, is_host_name,
};
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
/// Labels of a host at most.
const LABELS_MAX: usize = 32;
/// Statistics by which hosts are compared.
const HEADLINE: [&str; 3] = ["cost_ns", "p50_ns", "aggregate_gbps"];

/// What was left out, by what it is.
#[derive(Default)]
struct LeftOut(BTreeMap<String, usize>);

impl LeftOut {
    fn add(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    fn sentences(self) -> Vec<String> {
        let one =
            |(what, n): (String, usize)| format!("Left out of the index: {what} ({n} of them).");
        self.0.into_iter().map(one).collect()
    }
}

/// A row whose cells may hold anything.
struct Cells<'a, 'r> {
    row: &'a Row<'r>,
    table: &'static str,
    left_out: &'a mut LeftOut,
}

impl Cells<'_, '_> {
    fn wrong(&mut self, at: usize, what: &str) {
        let column = self.row.as_ref().column_name(at).unwrap_or("a column").to_owned();
        self.left_out.add(&format!("{what} in {}.{column}", self.table));
    }

    /// A text, as it shows, no longer than most are.
    fn text(&mut self, at: usize) -> Option<String> {
        match self.row.get_ref(at).ok()? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) => {
                let bytes = &bytes[..bytes.len().min(4 * TEXT_MAX_CHARS)];
                let text: String =
                    String::from_utf8_lossy(bytes).chars().take(TEXT_MAX_CHARS).collect();
                Some(escaped(&text))
            }
            ValueRef::Integer(value) => Some(value.to_string()),
            ValueRef::Real(value) => Some(value.to_string()),
            ValueRef::Blob(_) => {
                self.wrong(at, "a blob where a text belongs");
                None
            }
        }
    }

    fn word(&mut self, at: usize) -> String {
        self.text(at).unwrap_or_default()
    }

    fn number(&mut self, at: usize) -> Option<f64> {
        let number = match self.row.get_ref(at).ok()? {
            ValueRef::Null => return None,
            ValueRef::Integer(value) => Some(value as f64),
            ValueRef::Real(value) => Some(value),
            _ => None,
        };
        let sound = number.filter(|number| number.is_finite() && number.abs() < NUMBER_MAX);
        if sound.is_none() {
            self.wrong(at, "what is no plausible number");
        }
        sound
    }

    fn whole(&mut self, at: usize) -> u32 {
        self.number(at).map_or(0, |number| number.clamp(0.0, f64::from(u32::MAX)) as u32)
    }
}

/// Texts, each held once.
#[derive(Default)]
struct Texts(HashSet<Arc<str>>);

impl Texts {
    fn one(&mut self, text: &str) -> Arc<str> {
        match self.0.get(text) {
            Some(known) => Arc::clone(known),
            None => {
                let text: Arc<str> = text.into();
                self.0.insert(Arc::clone(&text));
                text
            }
        }
    }
}

/// Reads every row of a query.
fn each(
    conn: &Connection,
    query: (&'static str, &str),
    left_out: &mut LeftOut,
    mut of: impl FnMut(&mut Cells<'_, '_>),
) -> rusqlite::Result<()> {
    let (table, columns) = query;
    let mut query = conn.prepare(&format!("SELECT {columns} FROM {table} NOT INDEXED"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        of(&mut Cells { row, table, left_out });
    }
    Ok(())
}

impl Fleet {
    /// Reads the whole index, as of one moment.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&self) -> Result<RawFleet> {
        let fleet = all(self).map_err(|error| self.sqlite(error))?;
        if fleet.hosts.len() > HOSTS_MAX {
            let why = format!("it has more than {HOSTS_MAX} hosts");
            return Err(Error::NotAFleet { path: self.path.clone(), why });
        }
        Ok(fleet)
    }
}

fn all(of: &Fleet) -> rusqlite::Result<RawFleet> {
    let tx = of.conn.unchecked_transaction()?;
    let mut left_out = LeftOut::default();
    let mut fleet = RawFleet::default();
    each(&tx, ("fleet", "key, value"), &mut left_out, |row| {
        fleet.about.insert(row.word(0), row.word(1));
    })?;
    hosts(&tx, &mut fleet, &mut left_out)?;
    let mut files = HashMap::new();
    if of.has("run_file")? && of.has("fact")? && of.has("estimate")? {
        run_files(&tx, &mut fleet, &mut files, &mut left_out)?;
        facts(&tx, &mut fleet, &files, &mut left_out)?;
        estimates(&tx, &mut fleet, &files, &mut left_out)?;
    }
    tasks(&tx, &mut fleet, &files, &mut left_out)?;
    fleet.left_out = left_out.sentences();
    Ok(fleet)
}

fn hosts(conn: &Connection, fleet: &mut RawFleet, left_out: &mut LeftOut) -> rusqlite::Result<()> {
    let columns = "name, address, labels, state, reason, hopcost, clock_off_s, agent_cpu_percent, \
                   agent_wakeups_per_s, frozen_cpu_percent, frozen_wakeups_per_s";
    let mut hosts = BTreeMap::new();
    each(conn, ("host", columns), left_out, |row| {
        let name = row.word(0);
        if !is_host_name(&name) {
            return row.wrong(0, "a host of an impossible name");
        }
        let host = RawHost {
            name: name.clone(),
            address: row.text(1),
            labels: labels(row),
            state: row.word(3),
            reason: row.text(4),
            hopcost: row.text(5),
            clock_off_s: row.number(6),
            agent: [7, 8, 9, 10].map(|at| row.number(at).filter(|number| *number >= 0.0)),
        };
        hosts.insert(name, host);
    })?;
    fleet.hosts = hosts.into_values().collect();
    Ok(())
}

fn labels(row: &mut Cells<'_, '_>) -> BTreeMap<String, String> {
    let Some(text) = row.text(2).filter(|text| !text.is_empty()) else { return BTreeMap::new() };
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(&text) else {
        row.wrong(2, "labels that are no JSON object");
        return BTreeMap::new();
    };
    let word = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => escaped(&text),
        other => escaped(&other.to_string()),
    };
    object.into_iter().take(LABELS_MAX).map(|(key, value)| (escaped(&key), word(value))).collect()
}

fn run_files(
    conn: &Connection,
    fleet: &mut RawFleet,
    files: &mut HashMap<String, usize>,
    left_out: &mut LeftOut,
) -> rusqlite::Result<()> {
    each(conn, ("run_file", "file, run_id, started, error"), left_out, |row| {
        let file = row.word(0);
        files.insert(file.clone(), fleet.files.len());
        let (run_id, started, error) = (row.text(1), row.text(2), row.text(3));
        fleet.files.push(IndexedFile { file, run_id, started, error, ..IndexedFile::default() });
    })
}

/// The file of a row; rows of one file lie beside each other.
fn file_of(
    row: &mut Cells<'_, '_>,
    files: &HashMap<String, usize>,
    last: &mut Option<(String, usize)>,
) -> Option<usize> {
    let name = row.word(0);
    if let Some((_, file)) = last.as_ref().filter(|(known, _)| *known == name) {
        return Some(*file);
    }
    let Some(file) = files.get(&name) else {
        row.wrong(0, "a row of no run file");
        return None;
    };
    *last = Some((name, *file));
    Some(*file)
}

fn facts(
    conn: &Connection,
    fleet: &mut RawFleet,
    files: &HashMap<String, usize>,
    left_out: &mut LeftOut,
) -> rusqlite::Result<()> {
    let (mut texts, mut last) = (Texts::default(), None);
    each(conn, ("fact", "file, key, value"), left_out, |row| {
        let Some(file) = file_of(row, files, &mut last) else { return };
        let (key, value) = (row.word(1), row.word(2));
        fleet.files[file].facts.push((texts.one(&key), texts.one(&value)));
    })
}

fn estimates(
    conn: &Connection,
    fleet: &mut RawFleet,
    files: &HashMap<String, usize>,
    left_out: &mut LeftOut,
) -> rusqlite::Result<()> {
    let columns = "file, case_id, statistic, unit, point, low, high, trials, validity, skip";
    let (mut texts, mut last) = (Texts::default(), None);
    let mut cases: HashMap<String, usize> = HashMap::new();
    each(conn, ("estimate", columns), left_out, |row| {
        let statistic = row.word(2);
        if !statistic.is_empty() && !HEADLINE.contains(&statistic.as_str()) {
            return;
        }
        let Some(file) = file_of(row, files, &mut last) else { return };
        let case_id = row.word(1);
        let case = *cases.entry(case_id).or_insert_with_key(|case_id| {
            fleet.cases.push(case_id.clone());
            fleet.cases.len() - 1
        });
        let point = row.number(4);
        let positive = point.filter(|point| *point > 0.0);
        if positive.is_none() && point.is_some() {
            row.wrong(4, "a value that is not above 0");
        }
        let ends = row.number(5).zip(row.number(6));
        let ends = ends.filter(|(low, high)| positive.is_some_and(|p| *low <= p && p <= *high));
        let validity = row.text(8);
        let known = [Validity::Valid, Validity::Suspect, Validity::Invalid];
        fleet.files[file].estimates.push(IndexedEstimate {
            case,
            statistic: texts.one(&statistic),
            unit: texts.one(&row.word(3)),
            point: positive,
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
            trials: row.whole(7),
            validity: known.into_iter().find(|one| validity.as_deref() == Some(one.word())),
            skip: row.text(9).map(|text| texts.one(&text)),
        });
    })
}

fn tasks(
    conn: &Connection,
    fleet: &mut RawFleet,
    files: &HashMap<String, usize>,
    left_out: &mut LeftOut,
) -> rusqlite::Result<()> {
    let columns = "kind, a, b, attempt, state, reason, file";
    each(conn, ("task", columns), left_out, |row| {
        let kind = row.word(0);
        let (a, b) = (row.word(1), row.text(2).filter(|_| kind == "pair"));
        let is_sound = is_host_name(&a) && b.as_deref().is_none_or(is_host_name);
        if !is_sound || (kind == "pair") != b.is_some() || !["host", "pair"].contains(&&*kind) {
            return row.wrong(0, "a task of no host");
        }
        let file = row.text(6).and_then(|file| files.get(&file).copied());
        let (attempt, state, reason) = (row.whole(3), row.word(4), row.text(5));
        fleet.tasks.push(RawTask { a, b, attempt, state, reason, file });
    })
}
