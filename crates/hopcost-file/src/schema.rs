//! The format: the tables and views of a file, and whether a file has them.

use std::path::Path;

use hopcost_model::{CaseParts, Document};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Error, Result};

/// `PRAGMA application_id` of a run file: "hopc".
pub const APPLICATION_ID: i32 = 0x686f_7063;

/// `PRAGMA user_version` of a run file: its format. No other is read.
pub const VERSION: i64 = 10;

/// The statements that make the tables. FORMAT.md explains them.
const TABLES: &str = include_str!("tables.sql");

/// Every table with its statement, as it stands in a file.
fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.split(';').map(str::trim).filter_map(|of| Some((of.split(' ').nth(2)?, of)))
}

/// Makes the tables and views of an empty file. The caller holds the transaction.
pub(crate) fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(TABLES)?;
    let each = |spell: fn(&str) -> String| {
        let parts = CaseParts::FIELDS.iter().map(|field| spell(field.key));
        parts.collect::<Vec<_>>().join(",\n       ")
    };
    let of_document = each(|name| format!("json_extract(document, '$.{name}') AS {name}"));
    let of_case = each(|name| format!("t.{name}"));
    let views = include_str!("views.sql").replace("{parts}", &of_document);
    conn.execute_batch(&views.replace("{t.parts}", &of_case))?;
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
        _ => Err(Error::because(
            path,
            format!(
                "a run file of format {found}; this hopcost reads format {VERSION} alone: use the \
                 one that wrote it"
            ),
        )),
    }
}

/// Checks that every table is there as hopcost makes it: a view, a virtual table or a generated
/// column may run code when it is read. Further tables and views are never read. Triggers would
/// run when a run is resumed.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<()> {
    let sqlite = |error| Error::sqlite(path, "read its tables", error);
    let content = |place: &str, why: &str| Err(Error::content(path, place, why));
    for (table, statement) in tables() {
        let query = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = conn.query_row(query, [table], |row| row.get::<_, String>(0)).optional();
        let place = format!("table {table}");
        match found.map_err(sqlite)? {
            None => return content(&place, "it is missing"),
            Some(found) if found != statement => {
                return content(&place, "its columns are not those of the format");
            }
            Some(_) => {}
        }
    }
    let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'";
    let triggers: i64 = conn.query_row(query, [], |row| row.get(0)).map_err(sqlite)?;
    if triggers > 0 {
        return content("schema", "it has a trigger");
    }
    Ok(())
}
