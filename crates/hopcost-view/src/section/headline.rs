//! What every answer begins with: its conclusion in words with values, how sure it is, and by what
//! it was disturbed.

use hopcost_model::text::count;
use hopcost_read::results::Results;

use super::model::{Block, Cell, Document, Section, facts, says};

/// The first lines of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Headline {
    /// The conclusion, or what the lines below it are about.
    pub title: String,
    /// Conclusions, each behind what it is about.
    pub facts: Vec<(String, String)>,
    /// What they rest on.
    pub says: Vec<String>,
}

impl Headline {
    /// An answer that begins so.
    pub fn document(self, rest: Vec<Block>, sections: Vec<Section>) -> Document {
        let head = self.blocks().into_iter().chain(rest).collect();
        Document { title: self.title, head, sections, ..Document::default() }
    }

    /// All of it, above a page that has another title.
    pub fn banner(&self) -> Vec<Block> {
        std::iter::once(says(self.title.as_str())).chain(self.blocks()).collect()
    }

    /// What stands under the title.
    pub fn blocks(&self) -> Vec<Block> {
        let named =
            self.facts.iter().map(|(name, said)| (name.as_str(), Cell::text(said.as_str())));
        let named = (!self.facts.is_empty()).then(|| facts(named));
        named.into_iter().chain(self.says.iter().map(|said| says(said.as_str()))).collect()
    }

    /// All of it in a line to paste.
    pub fn in_a_line(&self) -> String {
        let all = self.sentences();
        let rest = all[1..].iter().map(|said| said.trim_end_matches('.'));
        format!("{} {}", self.title, rest.collect::<Vec<_>>().join("; "))
    }

    /// The same for programs.
    pub fn sentences(&self) -> Vec<String> {
        let named = self.facts.iter().map(|(name, said)| format!("{name}: {said}"));
        let first = std::iter::once(self.title.clone());
        first.chain(named).chain(self.says.iter().cloned()).collect()
    }
}

/// `Fastest wake-up (median, 6 rounds, disturbed):`
pub(super) fn titled(about: &str, results: &Results) -> String {
    format!("{about}, {}):", rests_on(results))
}

/// `6 rounds, disturbed`
pub(super) fn rests_on(results: &Results) -> String {
    let rounds = count(results.plan.rounds_done as usize, "round");
    rounds + disturbed(results)
}

/// Whether something disturbed the run: by what, stands below.
pub(super) fn disturbed(results: &Results) -> &'static str {
    if results.disturbed.is_some() { ", disturbed" } else { "" }
}
