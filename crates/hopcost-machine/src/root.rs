//! The tree that is read: `/`, or a recorded copy of the parts that matter.

use std::fmt;
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

/// A file that gave no value, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The path as on the real machine (`/proc/stat`), without the root.
    pub path: String,
    /// What went wrong.
    pub why: Why,
}

/// Why a file gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// There is no such file.
    Missing,
    /// It exists, but this user may not read it.
    Denied,
    /// It exists and holds nothing.
    Empty,
    /// It holds bytes that are not printable text.
    NotText,
    /// It holds text that is not what the file is documented to hold.
    Strange(String),
    /// Any other error of the operating system.
    Other(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.why {
            Why::Missing => write!(f, "{path} does not exist"),
            Why::Denied => write!(f, "no permission to read {path}"),
            Why::Empty => write!(f, "{path} is empty"),
            Why::NotText => write!(f, "{path} does not hold text"),
            Why::Strange(got) => write!(f, "{path} holds `{got}`, which hopcost cannot read"),
            Why::Other(error) => write!(f, "cannot read {path}: {error}"),
        }
    }
}

impl std::error::Error for Unreadable {}

impl Unreadable {
    /// Text that was read but is not what was expected; cut to a line of 60
    /// characters, since garbage may be long.
    pub(crate) fn strange(path: &str, got: &str) -> Self {
        let got = got.trim();
        let line = got.lines().next().unwrap_or_default();
        let mut cut: String = line.chars().take(60).collect();
        if cut.len() < got.len() {
            cut.push('…');
        }
        Unreadable { path: path.to_owned(), why: Why::Strange(cut) }
    }

    fn io(path: &str, error: &io::Error) -> Self {
        let why = match error.kind() {
            // ENOTDIR: a parent is a file, so the path does not exist either.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::Missing,
            io::ErrorKind::PermissionDenied => Why::Denied,
            _ => Why::Other(error.to_string()),
        };
        Unreadable { path: path.to_owned(), why }
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
    /// [`Unreadable`] with the path and the reason.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unreadable> {
        let failed = |e: io::Error| Unreadable::io(path, &e);
        let mut bytes = Vec::new();
        let file = File::open(self.at(path)).map_err(failed)?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// The text of a file without white space and NULs at its ends; may be empty.
    ///
    /// Control characters other than tabs and line ends make it `NotText`: what
    /// is read here ends up on terminals.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason.
    pub fn text_or_empty(&self, path: &str) -> Result<String, Unreadable> {
        let not_text = || Unreadable { path: path.to_owned(), why: Why::NotText };
        let text = String::from_utf8(self.bytes(path)?).map_err(|_| not_text())?;
        // Device-tree strings end in NUL.
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
            return Err(not_text());
        }
        Ok(text.to_owned())
    }

    /// As [`Root::text_or_empty`], but an empty file is an error.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason.
    pub fn text(&self, path: &str) -> Result<String, Unreadable> {
        let text = self.text_or_empty(path)?;
        if text.is_empty() {
            return Err(Unreadable { path: path.to_owned(), why: Why::Empty });
        }
        Ok(text)
    }

    /// The one number that a file holds.
    ///
    /// # Errors
    /// [`Unreadable`], also where the text is not a number.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Result<T, Unreadable> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unreadable::strange(path, &text))
    }

    /// The names in a directory, sorted.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason.
    pub fn names(&self, path: &str) -> Result<Vec<String>, Unreadable> {
        let entries = std::fs::read_dir(self.at(path)).map_err(|e| Unreadable::io(path, &e))?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// The numbers N of the entries `<prefix>N` in a directory, ascending.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason.
    pub fn numbered(&self, path: &str, prefix: &str) -> Result<Vec<u32>, Unreadable> {
        let names = self.names(path)?;
        let mut numbers: Vec<u32> = names
            .iter()
            .filter_map(|n| n.strip_prefix(prefix))
            .filter_map(|n| n.parse().ok())
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// What a symbolic link points to, as text.
    ///
    /// # Errors
    /// [`Unreadable`] with the path and the reason.
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

    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(dir.path().join(name), content).unwrap();
        }
        let root = Root::new(dir.path());
        (dir, root)
    }

    #[test]
    fn every_kind_of_trouble_has_its_own_reason() {
        let (_dir, root) = tree(&[
            ("empty", b""),
            ("blank", b" \n"),
            ("binary", b"\xff\xfe\0\x01"),
            ("escape", b"\x1b[31mred"),
            ("nul", b"linux,dummy-virt\0"),
            ("word", b"abc\n"),
        ]);
        let why = |path: &str| root.text(path).unwrap_err().why;
        assert_eq!(why("/empty"), Why::Empty);
        assert_eq!(why("/blank"), Why::Empty);
        assert_eq!(why("/binary"), Why::NotText);
        assert_eq!(why("/escape"), Why::NotText);
        assert_eq!(why("/none"), Why::Missing);
        assert_eq!(why("/word/below"), Why::Missing);
        assert!(matches!(why("/"), Why::Other(_)));
        assert_eq!(root.text("/nul").unwrap(), "linux,dummy-virt");
        assert_eq!(root.text_or_empty("/empty").unwrap(), "");
        let error = root.number::<u64>("/word").unwrap_err();
        assert_eq!(error.to_string(), "/word holds `abc`, which hopcost cannot read");
    }

    #[test]
    fn a_refusal_is_told_apart_from_absence() {
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = Unreadable::io("/sys/x", &error);
        assert_eq!(error.to_string(), "no permission to read /sys/x");
    }

    #[test]
    fn long_garbage_is_cut() {
        let error = Unreadable::strange("/x", &"é".repeat(500));
        let Why::Strange(text) = error.why else { panic!("not strange") };
        assert_eq!(text.chars().count(), 61);
        let error = Unreadable::strange("/x", "one\ntwo");
        assert_eq!(error.why, Why::Strange("one…".into()));
    }
}
