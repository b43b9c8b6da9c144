//! The host, as what readings have in common: what they share, and how a file becomes a value.

use crate::cpuinfo::CpuInfo;
use crate::root::{Root, Unreadable};
use crate::topology::Topology;

/// A value, or the reason why there is none.
pub(super) type Found = Result<String, String>;

/// The host, with what several readings share.
pub(super) struct Seen<'a> {
    pub(super) root: &'a Root,
    pub(super) info: Result<CpuInfo, Unreadable>,
    pub(super) topology: Topology,
    /// Ascending, each once.
    pub(super) cpus: Vec<u32>,
}

impl Seen<'_> {
    /// The text of a file as a value. `missing` is the reason if there is no such
    /// file, if it is not empty; any other trouble explains itself.
    pub(super) fn text(&self, path: &str, missing: &str) -> Found {
        self.root.text(path).map_err(because(missing))
    }

    /// The same of a list; `none` of an empty one, or of a null mask of the kernel.
    pub(super) fn list(&self, path: &str, missing: &str) -> Found {
        let text = self.root.text_or_empty(path).map_err(because(missing))?;
        let is_empty = text.is_empty() || text == "(null)";
        Ok(if is_empty { "none".to_owned() } else { text })
    }

    /// What `find` finds in the text of a file.
    pub(super) fn found(
        &self,
        path: &str,
        find: fn(&str) -> Option<String>,
        missing: &str,
    ) -> Found {
        let text = self.text(path, missing)?;
        find(&text).ok_or_else(|| Unreadable::strange(path, &text).into())
    }

    /// What `read` finds in /proc/cpuinfo for the first CPU that has it, of those asked for;
    /// `missing` where none has.
    pub(super) fn first(
        &self,
        missing: &str,
        read: impl Fn(&CpuInfo, u32) -> Option<String>,
    ) -> Found {
        let info = self.info.as_ref().map_err(|error| error.reason.clone())?;
        let mut cpus = self.cpus.iter().copied().chain(info.first());
        cpus.find_map(|cpu| read(info, cpu)).ok_or_else(|| missing.to_owned())
    }
}

/// The reason in words.
pub(super) fn because(missing: &str) -> impl Fn(Unreadable) -> String {
    move |error| match error.is_missing && !missing.is_empty() {
        true => missing.to_owned(),
        false => error.into(),
    }
}
