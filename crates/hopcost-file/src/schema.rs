//! The formats: creating a file, bringing an older one up to date, telling whether a file is
//! of the format that it claims.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::tables::{PLANNED_LATER, TABLES, Table};

/// `PRAGMA application_id` of a run file: "hopc".
pub const APPLICATION_ID: i32 = 0x686f_7063;

/// `PRAGMA user_version` of a run file written by this hopcost: the format of the newest
/// column or table.
pub const VERSION: i64 = newest(TABLES);

const fn newest(tables: &[&Table]) -> i64 {
    let (mut newest, mut table) = (1, 0);
    while table < tables.len() {
        let mut list = 0;
        while list < tables[table].columns.len() {
            let columns = tables[table].columns[list];
            let mut at = 0;
            while at < columns.len() {
                if columns[at].since > newest {
                    newest = columns[at].since;
                }
                at += 1;
            }
            list += 1;
        }
        table += 1;
    }
    newest
}

/// In rows of formats 1 and 2 every end was in Rust; a spelling that could not be taken
/// apart has no ends.
const OF_RUST: &str = "UPDATE planned_case SET runtime_caller = 'rust', runtime_callee = 'rust'
     WHERE workload IS NOT NULL";

/// The statement that makes a table of a format.
fn create(table: &Table, version: i64) -> String {
    let columns = table.columns_of(version);
    let columns: Vec<String> =
        columns.iter().map(|column| format!("    {} {}", column.name, column.sql)).collect();
    format!("CREATE TABLE {} (\n{}{}", table.name, columns.join(",\n"), table.end)
}

/// Makes a file of this format of one of format `from`; 0 is an empty one. The caller holds
/// the transaction.
pub(crate) fn bring_up_to_date(conn: &Connection, from: i64) -> rusqlite::Result<()> {
    for table in TABLES {
        if table.since > from {
            conn.execute_batch(&create(table, VERSION))?;
            continue;
        }
        for column in table.columns_of(VERSION).iter().filter(|column| column.since > from) {
            let (name, sql) = (column.name, column.sql);
            conn.execute_batch(&format!("ALTER TABLE {} ADD COLUMN {name} {sql}", table.name))?;
        }
    }
    if from < 3 {
        conn.execute_batch(OF_RUST)?;
    }
    if from < VERSION {
        let later = PLANNED_LATER.iter().map(|column| format!(", c.{}", column.name));
        let views = include_str!("views.sql").replace("/* later */", &later.collect::<String>());
        conn.execute_batch(&views)?;
    }
    conn.pragma_update(None, "user_version", VERSION)
}

/// The format of an open file.
pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The columns of a plain table, in order; none where there is no such table.
fn columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    // Virtual tables and views may run code when they are read; generated columns
    // (hidden > 0) too.
    let mut query = conn.prepare_cached(
        "SELECT c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c
          WHERE s.type = 'table' AND s.sql LIKE 'CREATE TABLE %' AND s.name = ?1 AND c.hidden = 0
          ORDER BY c.cid",
    )?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Checks that every table of the file's format is there as a plain table with the
/// format's columns, and none of a later one. Further tables and views are nobody's
/// business here: they are never read. Triggers would run when a run is resumed, so there
/// must be none.
pub(crate) fn check(conn: &Connection, path: &Path, version: i64) -> Result<()> {
    let sqlite = |error| Error::sqlite(path, "read its tables", error);
    let content = |place: String, why: &str| {
        Err(Error::Content { path: path.to_owned(), place, why: why.to_owned() })
    };
    for table in TABLES {
        let found = columns(conn, table.name).map_err(sqlite)?;
        let wanted = table.columns_of(version);
        let wanted = wanted.iter().map(|column| column.name.trim_matches('"'));
        if table.since > version {
            if !found.is_empty() {
                let why = format!("table {} already exists, which a later format adds", table.name);
                return content("schema".to_owned(), &why);
            }
        } else if found.is_empty() {
            return content(format!("table {}", table.name), "it is missing");
        } else if !wanted.eq(found) {
            let place = format!("table {}", table.name);
            return content(place, "its columns are not those of the format");
        }
    }
    let triggers: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", [], |row| {
            row.get(0)
        })
        .map_err(sqlite)?;
    if triggers > 0 {
        return content("schema".to_owned(), "it has a trigger");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty file of a format.
    fn made(version: i64) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        for table in TABLES.iter().filter(|table| table.since <= version) {
            conn.execute_batch(&create(table, version)).unwrap();
        }
        conn.pragma_update(None, "user_version", version).unwrap();
        conn
    }

    #[test]
    fn every_format_is_brought_up_to_date_once() {
        for from in 1..=VERSION {
            let conn = made(from);
            check(&conn, Path::new("f"), from).unwrap();
            bring_up_to_date(&conn, from).unwrap();
            bring_up_to_date(&conn, VERSION).unwrap();
            assert_eq!(version(&conn).unwrap(), VERSION);
            check(&conn, Path::new("f"), VERSION).unwrap();
            // A file that claims a format without being of it.
            assert!(from == VERSION || check(&made(from), Path::new("f"), VERSION).is_err());
            assert!(from == VERSION || check(&conn, Path::new("f"), from).is_err());
        }
    }
}
