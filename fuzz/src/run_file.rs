//! A run file that somebody has edited: a small stored run, changed as each line says.
//!
//! ```text
//! trial samples_kept 2 -5                   the rows whose first column is 2, or all of them: *
//! run document$.plan.cases[0].id * call/x   a part of a document
//! trial samples * x'00ff'                   null, a number, a blob, or a text
//! at 4096 00ff                              bytes of the file
//! cut 8192                                  its length
//! ```

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use hopcost_file::{Error, RunFile};
use hopcost_model::raw::RawRun;
use hopcost_view::StoredRun;
use hopcost_view::answer::Content;
use hopcost_view::style::TextStyle;
use rusqlite::Connection;
use rusqlite::types::Value;

/// Edits of one input at most.
const EDITS_MAX: usize = 40;

/// The run that is edited: a call, a pipe, a wake-up and a stream, six rounds each.
static STORED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let packed = include_bytes!("../run.hopcost.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("a stored run");
    bytes
});

/// A run file: opened, read, shown, and stored again.
pub fn run_file(data: &[u8]) {
    let (folder, path) = super::scratch();
    fs::write(&path, &*STORED).expect("a file in an own folder");
    let text = String::from_utf8_lossy(data);
    let lines = || text.lines().take(EDITS_MAX);
    let connection = Connection::open(&path).expect("the stored run");
    let _ = connection.execute_batch(
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; \
         PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN",
    );
    for line in lines() {
        edit(&connection, line);
    }
    let _ = connection.execute_batch("COMMIT");
    drop(connection);
    for line in lines() {
        patch(&path, line);
    }
    match open(&path) {
        Err(error) => super::one_line(&error.to_string()),
        Ok(raw) => {
            show(&raw);
            let again = folder.path().join("again");
            store(&raw, &again).expect("what was read can be stored");
            assert_eq!(open(&again).expect("what was stored can be read"), raw);
        }
    }
}

fn open(path: &Path) -> Result<RawRun, Error> {
    hopcost_file::open(path, &|| Ok(Box::new(tempfile::tempdir()?)))
}

/// Changes cells of the database; what is no edit of a cell changes nothing.
fn edit(connection: &Connection, line: &str) -> Option<usize> {
    let mut words = line.splitn(4, ' ');
    let [table, column, row, value] = [words.next()?, words.next()?, words.next()?, words.next()?];
    let (column, part) = column.split_once('$').unwrap_or((column, ""));
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if !is_name(table) || !is_name(column) {
        return None;
    }
    let first = "SELECT name FROM pragma_table_info(?1) WHERE cid = 0";
    let first: String = connection.query_row(first, [table], |row| row.get(0)).ok()?;
    let new = if part.is_empty() { "?1".to_owned() } else { format!("json_set({column}, ?3, ?1)") };
    let sql =
        format!("UPDATE {table} SET {column} = {new} WHERE ?2 = '*' OR {first} = ?2 OR ?3 = 0");
    let row = row.parse().map_or(Value::Text(row.to_owned()), Value::Integer);
    let changed = connection.execute(&sql, (cell(value), row, format!("${part}")));
    changed.ok()
}

fn cell(text: &str) -> Value {
    let blob = || bytes(text.strip_prefix("x'")?.strip_suffix('\'')?);
    if text == "null" {
        Value::Null
    } else if let Ok(whole) = text.parse() {
        Value::Integer(whole)
    } else if let Ok(number) = text.parse() {
        Value::Real(number)
    } else {
        blob().map_or_else(|| Value::Text(text.to_owned()), Value::Blob)
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(pair).collect()
}

/// Changes bytes of the file, or cuts it short.
fn patch(path: &Path, line: &str) -> Option<()> {
    let mut file = fs::read(path).ok()?;
    let (word, rest) = line.split_once(' ')?;
    match word {
        "cut" => file.truncate(rest.parse().ok()?),
        "at" => {
            let (at, new) = rest.split_once(' ')?;
            let (at, new): (usize, _) = (at.parse().ok()?, bytes(new)?);
            file.get_mut(at..at.checked_add(new.len())?)?.copy_from_slice(&new);
        }
        _ => return None,
    }
    fs::write(path, file).ok()
}

/// What every view says of it, which a terminal must not obey and JSON must hold.
fn show(raw: &RawRun) {
    let results = hopcost_read::read(raw, &[]);
    let shown = StoredRun { results: &results, stored: None, percentiles: &[] };
    let text = shown.text(true, &TextStyle::plain(100));
    let strange = text.chars().find(|c| *c != '\n' && !hopcost_model::text::is_plain(*c));
    assert_eq!(strange, None, "{text}");
    let answer = shown.answer();
    let json = answer.json();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    let _ = (answer.csv(None), shown.html());
}

fn store(raw: &RawRun, path: &Path) -> Result<(), Error> {
    let mut file = RunFile::create(path, &raw.about, &raw.plan, &raw.host_before)?;
    let trials = Vec::new();
    file.change("store it", |run| *run = RawRun { trials, ..raw.clone() })?;
    raw.trials.iter().try_for_each(|trial| file.append_trial(trial.clone()))
}
