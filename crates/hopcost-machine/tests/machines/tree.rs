//! Unpacks the machines of `tests/fixtures` (see the README there).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hopcost_machine::Root;
use tempfile::TempDir;

/// An unpacked machine; removed when dropped.
pub struct Machine {
    pub root: Root,
    dir: TempDir,
}

impl Machine {
    /// Unpacks `tests/fixtures/<name>.tree`.
    pub fn unpack(name: &str) -> Self {
        Self::from_text(&text(name))
    }

    /// Unpacks a tree given as text.
    pub fn from_text(text: &str) -> Self {
        // Hundreds of tiny files: in memory where there is such a file system.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if line.is_empty() || line.starts_with(['#', '=', '~']) {
                continue;
            }
            let (path, content) = match line.split_once('\t') {
                Some((path, content)) => (path, content.to_owned()),
                None => {
                    let mut content = Vec::new();
                    while let Some(more) = lines.next_if(|line| line.starts_with('|')) {
                        content.push(more[1..].strip_prefix(' ').unwrap_or_default());
                    }
                    assert!(!content.is_empty(), "no content: {line}");
                    (line, content.join("\n"))
                }
            };
            for path in expand(path) {
                write(dir.path(), &path, &content);
            }
        }
        Machine { root: Root::new(dir.path()), dir }
    }

    /// Replaces or adds a file.
    pub fn set(&self, path: &str, content: &str) {
        write(self.dir.path(), path, content);
    }

    /// Removes a file or directory.
    pub fn remove(&self, path: &str) {
        let path = self.dir.path().join(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
}

/// What a fixture holds.
pub fn text(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read_to_string(fixtures.join(format!("{name}.tree"))).unwrap()
}

fn write(dir: &Path, path: &str, content: &str) {
    let target = dir.join(path.trim_end_matches(['/', '@']));
    if path.ends_with('/') {
        return fs::create_dir_all(target).unwrap();
    }
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    if path.ends_with('@') {
        return symlink(content, target).unwrap();
    }
    let mut bytes = unescape(content);
    if !bytes.is_empty() {
        bytes.push(b'\n');
    }
    fs::write(target, bytes).unwrap();
}

/// Bytes with `\n` for the end of a line, and `\x1b` for any other.
fn unescape(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (byte, rest) = match part.strip_prefix('x') {
            Some(hex) => (u8::from_str_radix(&hex[..2], 16).unwrap(), &hex[2..]),
            None => (b'\n', part.strip_prefix('n').expect("no such escape")),
        };
        bytes.push(byte);
        bytes.extend(rest.as_bytes());
    }
    bytes
}

fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let (list, after) = rest.split_once('}').unwrap();
    let mut paths = Vec::new();
    for part in list.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.parse().unwrap(), high.parse().unwrap());
        for number in low..=high {
            paths.extend(expand(&format!("{before}{number}{after}")));
        }
    }
    paths
}
