//! Stored runs, and comparisons of them.

use hopcost_read::results::{Results, RunComparison};

use crate::answer::{Answer, Content};
use crate::chart::model::Chart;
use crate::section::{Document, Medium, comparison, plots};
use crate::style::TextStyle;
use crate::text::Stored;
use crate::{html, markdown, text};

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
    fn plots(&self) -> Vec<(String, Chart)> {
        comparison::charts(self).into_iter().map(|chart| (chart.id.clone(), chart)).collect()
    }
}

/// A run, and where it is stored.
pub struct StoredRun<'a> {
    pub results: &'a Results,
    pub stored: Stored<'a>,
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

    fn sentences(&self) -> String {
        text::sentences(self.results)
    }

    fn plots(&self) -> Vec<(String, Chart)> {
        plots::of_run(self.results)
    }

    fn text(&self, whole: bool, style: &TextStyle) -> String {
        match self.percentiles {
            _ if whole => text::report(self.results, Some(self.stored), style),
            [] => text::answer(self.results, Some(self.stored), style),
            asked => text::percentiles(self.results, asked, style),
        }
    }

    fn markdown(&self) -> String {
        markdown::report(self.results)
    }

    fn html(&self) -> String {
        html::report(self.results)
    }
}
