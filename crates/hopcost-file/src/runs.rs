//! Finding runs: the runs directory, and what `RUN` on the command line means.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::id::is_id;

/// What a run file is called: its id, and this after a dot.
pub const EXTENSION: &str = "hopcost";

const NO_HOME: &str = "nowhere to keep runs: neither XDG_DATA_HOME nor HOME is an absolute path; \
                       set one or give the run file's path";
/// Ids that are named where a prefix is that of several.
const IDS_SHOWN: usize = 8;

/// A directory of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    directory: PathBuf,
}

impl Runs {
    /// Runs in a directory of one's choice.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Runs of this user: `$XDG_DATA_HOME/hopcost/runs`, or
    /// `~/.local/share/hopcost/runs` where that is not set.
    ///
    /// # Errors
    /// Where neither variable names an absolute path.
    pub fn of_user() -> Result<Self> {
        let data = data_folder().ok_or_else(|| Error::line(NO_HOME))?;
        Ok(Self::new(data.join("hopcost/runs")))
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a run with this id belongs. Makes the directory.
    ///
    /// # Errors
    /// Where the directory cannot be made.
    pub fn path_for(&self, id: &str) -> Result<PathBuf> {
        let io = |error| Error::io(&self.directory, "create the runs directory", error);
        fs::create_dir_all(&self.directory).map_err(io)?;
        Ok(self.directory.join(format!("{id}.{EXTENSION}")))
    }

    /// Every run file of the directory by its id, which is its name without the extension and sorts by
    /// time. A directory that does not exist yet has none.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn list(&self) -> Result<BTreeMap<String, PathBuf>> {
        let io = |error| Error::io(&self.directory, "list the runs directory", error);
        let mut runs = BTreeMap::new();
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(runs),
            other => other.map_err(io)?,
        };
        for entry in entries {
            let path = entry.map_err(io)?.path();
            let id = path.file_stem().and_then(OsStr::to_str).map(str::to_owned);
            let is_run = path.extension() == Some(OsStr::new(EXTENSION));
            if let Some(id) = id.filter(|_| is_run && path.is_file()) {
                runs.insert(id, path);
            }
        }
        Ok(runs)
    }

    /// The file that `spec` means: `last`, `last~1` (the one before, and so on),
    /// a path, or the beginning of an id. A file called `last` is `./last`.
    ///
    /// # Errors
    /// Where no run, or more than one, is meant. A spec with a slash or the extension is a path,
    /// whether or not a file is there.
    pub fn resolve(&self, spec: &str) -> Result<PathBuf> {
        if let Some(back) = last(spec) {
            return self.last(spec, back);
        }
        let is_path = spec.contains('/') || spec.ends_with(&format!(".{EXTENSION}"));
        if is_path || Path::new(spec).is_file() {
            return Ok(PathBuf::from(spec));
        }
        let runs = self.list()?;
        if let Some(path) = runs.get(spec) {
            return Ok(path.clone());
        }
        let directory = self.directory.display();
        let is_meant = |(id, _): &(&String, &PathBuf)| !spec.is_empty() && id.starts_with(spec);
        match runs.iter().filter(is_meant).collect::<Vec<_>>().as_slice() {
            [] => Err(Error::line(format!(
                "`{spec}` is neither a file nor the beginning of a run's id in {directory}"
            ))),
            [(_, path)] => Ok((*path).clone()),
            several => {
                let ids = several.iter().take(IDS_SHOWN).map(|(id, _)| id.as_str());
                let mut ids = ids.collect::<Vec<_>>().join(", ");
                if several.len() > IDS_SHOWN {
                    ids.push_str(&format!(" and {} more", several.len() - IDS_SHOWN));
                }
                Err(Error::line(format!(
                    "`{spec}` is the beginning of several runs' ids ({ids}); write more of it"
                )))
            }
        }
    }

    fn last(&self, spec: &str, back: usize) -> Result<PathBuf> {
        // Names that are no ids have no place in time.
        let mut runs = self.list()?;
        runs.retain(|id, _| is_id(id));
        let held = match runs.len() {
            0 => "no run yet".to_owned(),
            1 => "only one run".to_owned(),
            n => format!("only {n} runs"),
        };
        runs.into_values().rev().nth(back).ok_or_else(|| {
            let directory = self.directory.display();
            let line = format!("`{spec}`: {directory} holds {held}; do a run first or give a path");
            Error::line(line)
        })
    }
}

/// Where this user's data is: `$XDG_DATA_HOME`, or `~/.local/share`.
pub fn data_folder() -> Option<PathBuf> {
    data_of(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn data_of(xdg_data_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    absolute(xdg_data_home).or_else(|| absolute(home).map(|home| home.join(".local/share")))
}

/// A relative path is ignored (XDG base directory specification), so that nothing comes from the
/// current directory.
fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// How far back `last` or `last~N` goes.
fn last(spec: &str) -> Option<usize> {
    match spec.strip_prefix("last")? {
        "" => Some(0),
        tail => {
            let digits = tail.strip_prefix('~')?;
            let only_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            only_digits.then(|| digits.parse().unwrap_or(usize::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(names: &[&str]) -> (tempfile::TempDir, Runs) {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        let runs = Runs::new(dir.path());
        (dir, runs)
    }

    #[test]
    fn the_directory_follows_xdg_then_home() {
        for (xdg, home, data) in [
            (Some("/d"), Some("/h"), Some("/d")),
            (None, Some("/h"), Some("/h/.local/share")),
            (Some(""), Some("/h"), Some("/h/.local/share")),
            (Some("rel"), Some("/h"), Some("/h/.local/share")),
            (Some("rel"), Some(""), None),
            (None, Some("h"), None),
        ] {
            let found = data_of(xdg.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, data.map(PathBuf::from), "{xdg:?} {home:?}");
        }
    }

    #[test]
    fn a_run_is_found_by_age_prefix_and_path() {
        let (dir, runs) = runs(&[
            "20260101-000000-0001.hopcost",
            "20260102-000000-0002.hopcost",
            "20260102-000000-00ff.hopcost",
            "zz-mine.hopcost",
            "20270101-000000-0001.hopcost-journal",
            "20270101-000000-0001.txt",
        ]);
        fs::create_dir(dir.path().join("20280101-000000-0001.hopcost")).unwrap();
        let id = |spec: &str| {
            let path = runs.resolve(spec).unwrap();
            path.file_stem().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(id("last"), "20260102-000000-00ff");
        assert_eq!(id("last~0"), "20260102-000000-00ff");
        assert_eq!(id("last~2"), "20260101-000000-0001");
        assert_eq!(id("20260101"), "20260101-000000-0001");
        assert_eq!(id("20260102-000000-0002"), "20260102-000000-0002");
        assert_eq!(id("zz"), "zz-mine");
        assert_eq!(runs.resolve("./last").unwrap(), Path::new("./last"));
        assert_eq!(runs.resolve("a.hopcost").unwrap(), Path::new("a.hopcost"));
        assert_eq!(runs.list().unwrap().len(), 4);
    }

    #[test]
    fn what_is_not_found_or_not_clear_says_so() {
        let (_dir, some) = runs(&["20260102-000000-0002.hopcost", "20260102-000000-00ff.hopcost"]);
        let line = |runs: &Runs, spec: &str| runs.resolve(spec).unwrap_err().to_string();
        let both = line(&some, "2026");
        assert!(both.contains("20260102-000000-0002, 20260102-000000-00ff"), "{both}");
        assert!(line(&some, "last~2").contains("only 2 runs"));
        assert!(line(&some, "last~99999999999999999999999").contains("only 2 runs"));
        for spec in ["2027", "", "last~", "last~-1", "lastly"] {
            assert!(line(&some, spec).contains("neither a file nor"), "{spec}");
        }
        let (_dir, none) = runs(&[]);
        assert!(line(&none, "last").contains("no run yet"));
        let missing = Runs::new("/nonexistent/hopcost/runs");
        assert!(line(&missing, "last").contains("no run yet"));
        assert!(missing.list().unwrap().is_empty());
    }
}
