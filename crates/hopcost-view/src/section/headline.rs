//! What every answer begins with: its conclusion in words with values, how sure it is, and by what
//! it was disturbed.

use hopcost_model::text::count;
use hopcost_read::results::Results;

use super::model::{Block, Cell, Document, Section, facts, says};

/// Characters of a first line.
const TITLE_MAX: usize = 100;

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

    /// The same for programs.
    pub fn sentences(&self) -> Vec<String> {
        let named = self.facts.iter().map(|(name, said)| format!("{name}: {said}"));
        let first = std::iter::once(self.title.clone());
        first.chain(named).chain(self.says.iter().cloned()).collect()
    }
}

/// `Fastest wake-up (median, 6 rounds, disturbed: other tasks):`
pub(super) fn titled(about: &str, results: &Results) -> String {
    let (before, after) = (format!("{about}, "), "):");
    let room = TITLE_MAX.saturating_sub(before.chars().count() + after.len());
    format!("{before}{}{after}", rests_on(results, room))
}

/// `6 rounds, disturbed: other tasks`, within `room` characters.
pub(super) fn rests_on(results: &Results, room: usize) -> String {
    let rounds = count(results.plan.rounds_done as usize, "round");
    let disturbed = disturbed(results, room.saturating_sub(rounds.len()));
    format!("{rounds}{disturbed}")
}

/// `, disturbed: other tasks, …`: as many of the causes as have room; empty where nothing did.
pub(super) fn disturbed(results: &Results, room: usize) -> String {
    let Some(why) = &results.disturbed else { return String::new() };
    let ends = why.match_indices(", ").map(|(at, _)| format!(", disturbed: {}, …", &why[..at]));
    let mut parts: Vec<String> = std::iter::once(", disturbed".to_owned()).chain(ends).collect();
    parts.push(format!(", disturbed: {why}"));
    let fits = |text: &&String| text.chars().count() <= room;
    parts.iter().rfind(fits).unwrap_or(&parts[0]).clone()
}
