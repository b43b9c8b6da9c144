//! Runs whose files go with the command.

use std::ffi::OsString;

use anyhow::Context;
use hopcost_model::plan::Plan;
use hopcost_model::results::Results;

use crate::cli::recompute;
use crate::cli::run;
use crate::cli::session::{RunSession, begun};
use crate::run::Ending;
use crate::run::runtimes::Runtimes;
use crate::run::scratch::Scratch;

/// What runs have in common that are nobody's: their files go with the command.
pub struct Measuring<'a> {
    words: &'a [OsString],
    folder: Scratch,
}

impl<'a> Measuring<'a> {
    /// None yet.
    pub fn new(words: &'a [OsString]) -> anyhow::Result<Self> {
        Ok(Self { words, folder: Scratch::create("selftest")? })
    }

    /// Measures a plan, stores the run, and says what is read back; none where the user interrupted.
    pub fn results(&self, plan: Plan) -> anyhow::Result<Option<Results>> {
        let (about, setup) = begun(self.words, Runtimes::new(Vec::new()))?;
        let path = self.folder.path().join(&about.id);
        let mut session = RunSession::begin(setup, &about, plan, Some(&path))?;
        if run::measure(&mut session)? == Ending::Interrupted {
            return Ok(None);
        }
        let results = session.results()?;
        drop(session);
        let computed = recompute::estimates(&results);
        let again = hopcost_file::recomputed(&path, &Scratch::for_copy, &computed)?;
        if let Some(first) = again.differing.first() {
            anyhow::bail!("what was stored is not what was computed: {first}");
        }
        std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        Ok(Some(results))
    }
}
