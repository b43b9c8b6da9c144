//! A tree of files below /proc and /sys, given as text: a line `proc/stat<TAB>content` is a
//! file, and each line `| more` below it a further line of its content.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Files in one tree at most.
const FILES_MAX: usize = 300;

/// The unpacked tree; removed when dropped.
pub struct Tree(TempDir);

impl Tree {
    /// Unpacks a text; lines that are no file's are left out.
    pub fn of(text: &str) -> Self {
        let tree = Tree(super::scratch().0);
        let mut files: Vec<(&str, String)> = Vec::new();
        for line in text.lines() {
            if let Some(more) = line.strip_prefix("| ") {
                files.last_mut().into_iter().for_each(|(_, content)| content.extend([more, "\n"]));
            } else if let Some((path, content)) = line.split_once('\t') {
                let end = if content.is_empty() { "" } else { "\n" };
                files.push((path, format!("{content}{end}")));
            }
        }
        files.iter().take(FILES_MAX).for_each(|(path, content)| tree.write(path, content));
        tree
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, unless its path leaves the tree or is in the way of another.
    pub fn write(&self, path: &str, content: &str) {
        let is_inside = path.starts_with("proc/") || path.starts_with("sys/");
        let is_name = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !is_inside || path.contains('\0') || !path.split('/').all(is_name) {
            return;
        }
        let file = self.path().join(path);
        if file.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
            let _ = fs::write(file, content);
        }
    }
}
