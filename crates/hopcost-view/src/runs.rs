//! Stored runs, and comparisons of them.

use hopcost_read::results::{Results, RunComparison};

use crate::answer::{Answer, Content};
use crate::chart::model::Chart;
use crate::section::{self, Document, Medium, Stored, comparison, plots};
use crate::style::TextStyle;
use crate::text;

impl Content for RunComparison {
    fn name(&self) -> String {
        "comparison".to_owned()
    }

    fn answer(&self) -> Answer {
        Answer::of_comparison(self)
    }

    fn document(&self, medium: Medium, _: bool) -> Document {
        comparison::document(self, medium)
    }

    /// Each case in a sentence to paste, then what they rest on.
    fn sentences(&self) -> String {
        text::pasted(comparison::sentences(self))
    }

    /// The ratio along an axis.
    fn plots(&self) -> Vec<Chart> {
        comparison::charts(self)
    }
}

/// A run, and where it is stored, if that is to be said.
pub struct StoredRun<'a> {
    pub results: &'a Results,
    pub stored: Option<Stored<'a>>,
    /// The percentiles that are asked for instead of the usual ones, as text.
    pub percentiles: &'a [f64],
}

impl Content for StoredRun<'_> {
    fn name(&self) -> String {
        self.results.about.id.clone()
    }

    fn answer(&self) -> Answer {
        Answer::of_run(self.results)
    }

    fn document(&self, medium: Medium, _: bool) -> Document {
        section::report(self.results, medium, None)
    }

    /// Its conclusion in a line to paste, of claims a line each.
    fn sentences(&self) -> String {
        text::pasted(section::sentences(self.results))
    }

    fn plots(&self) -> Vec<Chart> {
        plots::of_run(self.results)
    }

    fn text(&self, whole: bool, style: &TextStyle) -> String {
        let lines = |of: &Document| of.text(style).lines().count();
        let document = match self.percentiles {
            _ if whole => section::report(self.results, Medium::Document, self.stored),
            [] => section::answer(self.results, self.stored, lines),
            asked => section::percentiles(self.results, asked),
        };
        document.text(style)
    }
}
