//! The tree that is read: `/`, or a recorded copy of the parts that matter.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Longest file that is read; /proc/cpuinfo of 1024 CPUs has about 2 MiB.
const MAX_BYTES: u64 = 16 << 20;

/// Where /proc and /sys are looked for. All reads of this crate go through it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Root(PathBuf::from("/"))
    }
}

/// Why a file gave no value, in words that name it as on the real machine (`/proc/stat`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub reason: String,
    /// Whether there is no such file.
    pub is_missing: bool,
}

impl From<Unreadable> for String {
    fn from(error: Unreadable) -> Self {
        error.reason
    }
}

impl Unreadable {
    fn because(reason: String) -> Self {
        Unreadable { reason, is_missing: false }
    }

    /// Text that was read but is not what was expected; cut to a line of 60
    /// characters, since garbage may be long.
    pub(crate) fn strange(path: &str, got: &str) -> Self {
        let got = got.trim();
        let line = got.lines().next().unwrap_or_default();
        let mut cut: String = line.chars().take(60).collect();
        if cut.len() < got.len() {
            cut.push('…');
        }
        Self::because(format!("{path} holds `{cut}`, which hopcost cannot read"))
    }

    fn io(path: &str, error: &io::Error) -> Self {
        match error.kind() {
            // ENOTDIR: a parent is a file, so the path does not exist either.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Unreadable { reason: format!("{path} does not exist"), is_missing: true }
            }
            io::ErrorKind::PermissionDenied => {
                Self::because(format!("no permission to read {path}"))
            }
            _ => Self::because(format!("cannot read {path}: {error}")),
        }
    }
}

impl Root {
    /// A tree that has `proc` and `sys` directly below `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Root(path.into())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// The bytes of a file, at most 16 MiB of them.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason, as of every reading below.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unreadable> {
        let failed = |e: io::Error| Unreadable::io(path, &e);
        let mut bytes = Vec::new();
        let file = File::open(self.at(path)).map_err(failed)?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// The text of a file without white space and NULs at its ends; may be empty.
    ///
    /// Control characters other than tabs and line ends make it no text: what
    /// is read here ends up on terminals.
    pub fn text_or_empty(&self, path: &str) -> Result<String, Unreadable> {
        let not_text = || Unreadable::because(format!("{path} does not hold text"));
        let text = String::from_utf8(self.bytes(path)?).map_err(|_| not_text())?;
        // Device-tree strings end in NUL.
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
            return Err(not_text());
        }
        Ok(text.to_owned())
    }

    /// As [`Root::text_or_empty`], but an empty file is an error.
    pub fn text(&self, path: &str) -> Result<String, Unreadable> {
        let text = self.text_or_empty(path)?;
        if text.is_empty() {
            return Err(Unreadable::because(format!("{path} is empty")));
        }
        Ok(text)
    }

    /// The one number that a file holds.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Result<T, Unreadable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unreadable::strange(path, &text))
    }

    /// The names in a directory, sorted.
    pub fn names(&self, path: &str) -> Result<Vec<String>, Unreadable> {
        let entries = std::fs::read_dir(self.at(path)).map_err(|e| Unreadable::io(path, &e))?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// The numbers N of the entries `<prefix>N` in a directory, ascending.
    pub fn numbered(&self, path: &str, prefix: &str) -> Result<Vec<u32>, Unreadable> {
        let names = self.names(path)?;
        let numbers = names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// What a symbolic link points to, as text.
    pub fn link(&self, path: &str) -> Result<String, Unreadable> {
        let target = std::fs::read_link(self.at(path)).map_err(|e| Unreadable::io(path, &e))?;
        Ok(target.to_string_lossy().into_owned())
    }

    /// Whether a path exists (a link that points nowhere does not).
    pub fn exists(&self, path: &str) -> bool {
        self.at(path).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_trouble_has_its_own_reason() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path());
        for (content, expected) in [
            (&b"linux,dummy-virt\0"[..], Ok("linux,dummy-virt")),
            (b" \n", Err("/x is empty")),
            (b"\xff\xfe\0\x01", Err("/x does not hold text")),
            (b"\x1b[31mred", Err("/x does not hold text")),
        ] {
            std::fs::write(dir.path().join("x"), content).unwrap();
            assert_eq!(
                root.text("/x"),
                expected.map(str::to_owned).map_err(|reason| {
                    Unreadable { reason: reason.to_owned(), is_missing: false }
                })
            );
        }
        for (path, is_missing) in [("/none", true), ("/x/below", true), ("/", false)] {
            assert_eq!(root.text(path).unwrap_err().is_missing, is_missing, "{path}");
        }
        let denied = Unreadable::io("/sys/x", &io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.reason, "no permission to read /sys/x");
        let long = Unreadable::strange("/x", &format!("{}\ntwo", "é".repeat(500))).reason;
        assert_eq!(long, format!("/x holds `{}…`, which hopcost cannot read", "é".repeat(60)));
    }
}
