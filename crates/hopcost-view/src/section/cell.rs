//! What a cell of a table holds, and how it reads as plain text.

use hopcost_model::finding::Validity;
use hopcost_model::results::{Estimate, Ratio};

use crate::number::{self, Shown};
use crate::style::Charset;

/// What a cell holds. Texts may use any character; a view that cannot show it
/// finds another spelling.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Words; empty where there is nothing to say.
    Text(String),
    /// A number as text, and what it is sorted by.
    Number(String, f64),
    /// An estimate.
    Estimate(Valued),
    /// A verdict.
    Validity(Validity),
    /// A number with its multiple, one of many that mean the same.
    Compared(Box<Compared>),
    /// None of many that mean the same.
    Missing {
        /// `failed (2)`, with the number of a note.
        mark: String,
        /// Index of the case.
        case: Option<usize>,
        /// Why, in full.
        why: Option<String>,
    },
}

/// A number among others that mean the same.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    /// The number.
    pub value: Valued,
    /// Its multiple of a common baseline (`×3.1`), and the interval of that.
    pub multiple: Option<(String, Option<String>)>,
    /// Its validity, unless it is valid.
    pub validity: Option<Validity>,
    /// Index of its case.
    pub case: Option<usize>,
}

/// An estimate as a cell shows it.
#[derive(Debug, Clone)]
pub(crate) struct Valued {
    /// Value and interval.
    pub shown: Shown,
    /// What it is sorted by.
    pub point: Option<f64>,
    /// Computed from the samples of all trials.
    pub pooled: bool,
    /// Its interval spans more than a factor of 2.
    pub wide: bool,
    /// Why there is no value or no interval.
    pub why: Option<String>,
}

impl Valued {
    /// An estimate as `show` writes it; a mark where it has no interval.
    pub fn of(estimate: &Estimate, show: impl Fn(&Estimate) -> Shown) -> Self {
        let mut shown = show(estimate);
        if estimate.point.is_some() && shown.interval.is_none() && !estimate.at_most {
            shown.interval = Some("[–]".to_owned());
        }
        Self {
            shown,
            point: estimate.point,
            pooled: estimate.pooled && estimate.point.is_some(),
            wide: number::is_wide(estimate),
            why: estimate.insufficient.clone(),
        }
    }

    /// Behind the interval: whether it was pooled or is wide.
    pub fn marks(&self, wide: &str) -> String {
        let pooled = if self.pooled { "*" } else { "" };
        format!("{pooled}{}", if self.wide { wide } else { "" })
    }
}

impl Cell {
    /// No value.
    pub fn none() -> Self {
        Cell::Text(String::new())
    }

    /// An estimate with its interval; `show` writes both.
    pub fn estimate(estimate: Option<&Estimate>, show: impl Fn(&Estimate) -> Shown) -> Self {
        estimate.map_or(Self::none(), |estimate| Cell::Estimate(Valued::of(estimate, show)))
    }

    /// A difference with its interval, which may hold 0.
    pub fn difference(estimate: Option<&Estimate>, show: impl Fn(&Estimate) -> Shown) -> Self {
        match Self::estimate(estimate, show) {
            Cell::Estimate(valued) => Cell::Estimate(Valued { wide: false, ..valued }),
            cell => cell,
        }
    }

    /// An estimate without its interval, for columns that have no room for one.
    pub fn point(estimate: Option<&Estimate>, show: impl Fn(&Estimate) -> Shown) -> Self {
        let Some(estimate) = estimate else { return Self::none() };
        Cell::Estimate(Valued {
            shown: Shown { interval: None, ..show(estimate) },
            point: estimate.point,
            pooled: estimate.pooled && estimate.point.is_some(),
            wide: false,
            why: estimate.insufficient.clone(),
        })
    }

    /// A multiple with its interval; the baseline itself is named so.
    pub fn ratio(ratio: Option<&Ratio>, own: Option<&str>) -> Self {
        match ratio {
            Some(ratio) if own == Some(ratio.baseline.as_str()) => Cell::Text("base".to_owned()),
            Some(ratio) => {
                let interval = number::ratio_interval(ratio).unwrap_or_else(|| "[–]".to_owned());
                let text = number::ratio(ratio, Charset::Unicode);
                Cell::Number(format!("{text} {interval}"), ratio.point)
            }
            None => Self::none(),
        }
    }

    /// A number that may be missing.
    pub fn maybe(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        value.map_or(Self::none(), |value| Cell::Number(show(value), value))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Cell::Text(text) if text.is_empty())
    }

    /// As plain text; `wide` stands behind an interval that spans more than a
    /// factor of 2.
    pub fn text(&self, wide: &str) -> String {
        match self {
            Cell::Text(text) | Cell::Number(text, _) => text.clone(),
            Cell::Validity(validity) => validity.word().to_owned(),
            Cell::Estimate(valued) => format!("{}{}", valued.shown, valued.marks(wide)),
            Cell::Compared(compared) => compared.text(wide),
            Cell::Missing { mark, .. } => mark.clone(),
        }
    }
}

impl Compared {
    /// In one line.
    fn text(&self, wide: &str) -> String {
        let mut text = format!("{}{}", self.value.shown, self.value.marks(wide));
        if let Some((multiple, interval)) = &self.multiple {
            let interval = interval.as_ref().map_or(String::new(), |i| format!(" {i}"));
            text.push_str(&format!(", {multiple}{interval}"));
        }
        if let Some(validity) = self.validity {
            text.push_str(&format!(", {}", validity.word()));
        }
        text
    }
}
