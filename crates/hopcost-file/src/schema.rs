//! The format: creating a file, telling whether a file is of it.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::tables::TABLES;

/// `PRAGMA application_id` of a run file: "hopc".
pub const APPLICATION_ID: i32 = 0x686f_7063;

/// `PRAGMA user_version` of a run file: its format. No other is read.
pub const VERSION: i64 = 9;

/// Makes the tables and views of an empty file. The caller holds the transaction.
pub(crate) fn create(conn: &Connection) -> rusqlite::Result<()> {
    for table in TABLES {
        let columns = table.all_columns();
        let columns: Vec<String> =
            columns.iter().map(|column| format!("    {} {}", column.name, column.sql)).collect();
        let (name, columns, end) = (table.name, columns.join(",\n"), table.end);
        conn.execute_batch(&format!("CREATE TABLE {name} (\n{columns}{end}"))?;
    }
    conn.execute_batch(include_str!("views.sql"))?;
    conn.pragma_update(None, "user_version", VERSION)
}

/// The format of an open file.
pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Refuses another format than this hopcost's.
pub(crate) fn check_version(path: &Path, found: i64) -> Result<()> {
    match found {
        VERSION => Ok(()),
        _ => Err(Error::Format { path: path.to_owned(), found, known: VERSION }),
    }
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

/// Checks that every table of the format is there as a plain table with its columns. Further tables and views are nobody's
/// business here: they are never read. Triggers would run when a run is resumed, so there
/// must be none.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<()> {
    let sqlite = |error| Error::sqlite(path, "read its tables", error);
    let content = |place: String, why: &str| {
        Err(Error::Content { path: path.to_owned(), place, why: why.to_owned() })
    };
    for table in TABLES {
        let found = columns(conn, table.name).map_err(sqlite)?;
        let wanted = table.all_columns();
        let wanted = wanted.iter().map(|column| column.name.trim_matches('"'));
        if found.is_empty() {
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
