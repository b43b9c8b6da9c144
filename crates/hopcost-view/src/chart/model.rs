//! What a chart is, before it is drawn: axes, series and marks, in the units of
//! the data. `section::shapes` decides what is shown, `draw` decides where.

use hopcost_read::results::Estimate;

use crate::names::quantile;
use crate::number;

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Quantiles, 0 to 1.
    Quantile,
    Bytes,
    /// Gigabits (10⁹ bits) a second.
    GigabitsPerSecond,
    /// Counts and multiples.
    Count,
}

impl Unit {
    /// A value in the largest unit that keeps it at or above one, with no digit more than a tick
    /// needs.
    pub fn text(self, value: f64) -> String {
        let (value, unit) = match self {
            Unit::Bytes if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) => {
                return number::bytes(value as u32);
            }
            Unit::Quantile => return quantile(value),
            Unit::Bytes => (value, " B"),
            Unit::Count => (value, ""),
            Unit::GigabitsPerSecond => (value, " Gbit/s"),
            Unit::Ns => match value {
                v if v >= 0.999_999_9e9 => (v / 1e9, " s"),
                v if v >= 0.999_999_9e6 => (v / 1e6, " ms"),
                v if v >= 0.999_999_9e3 => (v / 1e3, " µs"),
                v => (v, " ns"),
            },
        };
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned() + unit
    }
}

/// A chart with its text alternative and its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Unique within a document; letters, digits and `-` only.
    pub id: String,
    /// Heading, drawn above the plot.
    pub title: String,
    /// What is to be seen, in a sentence or two, for those who do not see it.
    pub description: String,
    /// The horizontal axis; always a value axis.
    pub x: Axis,
    /// The vertical one.
    pub y: Vertical,
    /// What is drawn, the first lowest.
    pub series: Vec<Series>,
    /// Said under it, where it stands alone.
    pub notes: Vec<String>,
}

/// The vertical axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Vertical {
    Value(Axis),
    /// Rows, from above, under the heading of their names.
    Rows(String, Vec<Row>),
}

/// A named row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Written left of the plot.
    pub name: String,
    /// Written right of the plot.
    pub end: String,
}

/// A value axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is plotted, without its unit: the ticks carry it.
    pub label: String,
    /// How a value becomes a length.
    pub scale: Scale,
    /// What the values are.
    pub unit: Unit,
    /// Ends of the axis.
    pub domain: (f64, f64),
    /// Values that get a tick (those that were swept); found from the scale if empty, but for nines.
    pub at: Vec<f64>,
}

impl Axis {
    /// An axis for no value yet, that finds its ticks itself.
    pub fn new(label: impl Into<String>, scale: Scale, unit: Unit) -> Self {
        let domain = domain(scale, std::iter::empty());
        Self { label: label.into(), scale, unit, domain, at: Vec::new() }
    }
    /// What is written beside it.
    pub fn title(&self) -> String {
        format!("{}{}", self.label, if self.scale == Scale::Log { " (log scale)" } else { "" })
    }
}

/// How a value becomes a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
    /// For quantiles: logarithmic in 1/(1-q), so that each further nine takes
    /// the same length.
    Nines,
}

/// Ends that leave a little room around the values.
pub(crate) fn domain(scale: Scale, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let usable = |v: &f64| v.is_finite() && (scale != Scale::Log || *v > 0.0);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(usable) {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return if scale == Scale::Log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    match scale {
        Scale::Linear => {
            let room = if high > low { (high - low) * 0.03 } else { high.abs().max(1.0) * 0.1 };
            let low = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
            (low.max(f64::MIN), (high + room).min(f64::MAX))
        }
        Scale::Log => {
            let room = (high / low).powf(0.04).max(1.04);
            ((low / room).max(f64::MIN_POSITIVE), (high * room).min(f64::MAX))
        }
        Scale::Nines => (low.min(0.01), high.max(0.99)),
    }
}

/// What belongs together and looks alike: a line, or marks in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend; empty where something else tells what it is.
    pub name: String,
    /// How it looks.
    pub style: Style,
    pub points: Vec<Point>,
}

/// A value with its place: on the horizontal axis, or its row, counted from 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    pub at: f64,
    pub value: f64,
    /// Of its interval.
    pub ends: Option<(f64, f64)>,
    /// The upper of two levels, of which the value is the lower: a second mark, to which a thin line
    /// leads.
    pub other: Option<f64>,
    /// The value is an upper bound.
    pub at_most: bool,
    /// What its mark says when pointed at; without, it has no mark.
    pub tip: Option<String>,
}

impl Point {
    /// A value with its interval.
    pub fn new(at: f64, value: f64, ends: Option<(f64, f64)>) -> Self {
        Self { at, value, ends, ..Self::default() }
    }

    /// An estimate, or two levels instead; of an upper bound, only the bound is known.
    pub fn of(at: f64, of: &Estimate, levels: Option<(f64, f64)>) -> Option<Self> {
        let ends = of.low.zip(of.high).filter(|_| levels.is_none() && !of.at_most);
        let (value, other) = levels.map_or((of.point?, None), |(low, high)| (low, Some(high)));
        Some(Self { other, at_most: of.at_most, ..Self::new(at, value, ends) })
    }

    /// What it takes on the axis of values.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.value).chain(self.other)
    }
}

/// How a series looks: the CSS classes of its colour and of how its line is broken, and the shape of its
/// markers, as an SVG path from the middle. Colour never stands alone: marker and dash differ too.
///
/// The colours are those of Okabe and Ito that stand out from paper and from a dark screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) marker: &'static str,
}

impl Style {
    /// Six looks that differ in colour, marker and dash at once.
    pub const DISTINCT: [Style; 6] = [
        Style::of("c-blue", "d-solid", "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"),
        Style::of("c-vermilion", "d-long", "m-3.5-3.5h7v7h-7z"),
        Style::of("c-green", "d-short", "m0-4.6l4.4 7.8h-8.8z"),
        Style::of("c-purple", "d-long-short", "m0-5l5 5l-5 5l-5-5z"),
        Style::of("c-ink", "d-dots", "m0 4.6l4.4-7.8h-8.8z"),
        Style::of("c-amber", "d-long-dots", "m-4-4l8 8m-8 0l8-8"),
    ];
    /// Bars from the left end of the axis; what has two levels has marks.
    pub const BARS: Self = Style { dash: "d-bars", ..Style::DISTINCT[0] };

    const fn of(colour: &'static str, dash: &'static str, marker: &'static str) -> Self {
        Self { colour, dash, marker }
    }
}
