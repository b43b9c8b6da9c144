//! The format's versions: what each adds to the one before.
//!
//! A released step is never edited. A new format is a new step at the end of
//! [`STEPS`]; files of every older format then still open, because resuming one
//! applies the missing steps to it, and reading one applies them to a copy.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, Result};

/// `PRAGMA application_id` of a run file: "hopc".
pub const APPLICATION_ID: i32 = 0x686f_7063;

/// `PRAGMA user_version` of a run file written by this hopcost.
pub const VERSION: i64 = STEPS.len() as i64;

/// Step `i` makes format `i + 1` of format `i`.
pub(crate) const STEPS: &[&str] =
    &[include_str!("schema/1.sql"), include_str!("schema/2.sql"), include_str!("schema/3.sql")];

/// Applies the steps after format `from`. The caller holds the transaction.
pub(crate) fn apply(conn: &Connection, steps: &[&str], from: i64) -> rusqlite::Result<()> {
    for (index, step) in steps.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
        conn.execute_batch(step)?;
        conn.pragma_update(None, "user_version", index as i64 + 1)?;
    }
    Ok(())
}

/// The format of an open file.
pub(crate) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Name, and the columns in order, of every plain table.
type Tables = Vec<(String, Vec<String>)>;

fn tables(conn: &Connection) -> rusqlite::Result<Tables> {
    // Virtual tables and views may run code when they are read; generated
    // columns (hidden > 0) too.
    let mut names = conn.prepare(
        "SELECT name FROM sqlite_schema
          WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          ORDER BY name",
    )?;
    let names =
        names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut columns =
        conn.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY cid")?;
    names
        .into_iter()
        .map(|name| {
            let found = columns.query_map([&name], |row| row.get(0))?;
            let found = found.collect::<rusqlite::Result<Vec<String>>>()?;
            Ok((name, found))
        })
        .collect()
}

/// Checks that every table of the file's format is there as a plain table with
/// the format's columns. Further tables and views are nobody's business here:
/// they are never read. Triggers would run when a run is resumed, so there must
/// be none.
pub(crate) fn check(conn: &Connection, path: &Path, steps: &[&str]) -> Result<()> {
    let sqlite = |error| Error::sqlite(path, "read its tables", error);
    let reached = usize::try_from(version(conn).map_err(sqlite)?).unwrap_or(0).min(steps.len());
    let model = Connection::open_in_memory().map_err(sqlite)?;
    apply(&model, &steps[..reached], 0).map_err(sqlite)?;
    let found = tables(conn).map_err(sqlite)?;
    let content = |place: String, why: &str| Error::Content {
        path: path.to_owned(),
        place,
        why: why.to_owned(),
    };
    for (name, columns) in tables(&model).map_err(sqlite)? {
        match found.iter().find(|(other, _)| *other == name) {
            None => return Err(content(format!("table {name}"), "it is missing")),
            Some((_, other)) if *other != columns => {
                return Err(content(
                    format!("table {name}"),
                    "its columns are not those of the format",
                ));
            }
            Some(_) => {}
        }
    }
    let triggers: i64 = conn
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", [], |row| {
            row.get(0)
        })
        .map_err(sqlite)?;
    if triggers > 0 {
        return Err(content("schema".to_owned(), "it has a trigger"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a further format might be.
    const NEXT: &[&str] = &[
        STEPS[0],
        STEPS[1],
        STEPS[2],
        "ALTER TABLE run ADD COLUMN mood TEXT; UPDATE run SET mood = 'calm';
         CREATE TABLE weather (at INTEGER)",
    ];

    #[test]
    fn steps_are_applied_in_order_and_once() {
        let conn = Connection::open_in_memory().unwrap();
        apply(&conn, STEPS, 0).unwrap();
        assert_eq!(version(&conn).unwrap(), 3);
        conn.execute_batch("INSERT INTO run VALUES (1,'i','v','r','{}','[]','s',NULL,0,'{}')")
            .unwrap();
        check(&conn, Path::new("f"), NEXT).unwrap();
        apply(&conn, NEXT, 3).unwrap();
        assert_eq!(version(&conn).unwrap(), 4);
        let mood: String = conn.query_row("SELECT mood FROM run", [], |r| r.get(0)).unwrap();
        assert_eq!(mood, "calm");
        check(&conn, Path::new("f"), NEXT).unwrap();
        apply(&conn, NEXT, 4).unwrap();
        // A file that claims a format without being of it.
        let half = Connection::open_in_memory().unwrap();
        apply(&half, STEPS, 0).unwrap();
        half.pragma_update(None, "user_version", 4).unwrap();
        assert!(check(&half, Path::new("f"), NEXT).is_err());
    }

    #[test]
    fn a_released_format_is_not_edited() {
        // Files of it are out there. If this fails, add a step instead.
        let checksums: Vec<u32> = STEPS
            .iter()
            .map(|step| {
                let mut crc = flate2::Crc::new();
                crc.update(step.as_bytes());
                crc.sum()
            })
            .collect();
        assert_eq!(checksums, [1_770_428_601, 580_396_773, 3_355_849_614]);
    }
}
