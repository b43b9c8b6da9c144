//! Charts for narrow screens.

use super::cells;
use super::model::{Chart, Fit, Names, Vertical};

/// Width of a drawing for a narrow screen: what the narrowest telephones have.
const NARROW: f64 = 328.0;
/// Height of a plot there.
const NARROW_HEIGHT: f64 = 230.0;

impl Chart {
    /// The same for a narrow screen, where its texts are as large as they are on a wide one.
    /// Nothing points at marks there, so that they say nothing.
    pub(super) fn narrow(&self) -> Self {
        let mut chart = Self { width: self.width.min(NARROW), ..self.clone() };
        match &mut chart.y {
            Vertical::Value(_, height) => *height = height.min(NARROW_HEIGHT),
            Vertical::Rows(rows) => {
                rows.names = Names::Above;
                rows.height += Names::Above.height();
            }
            Vertical::Cells(cells) => {
                cells.fit = Fit::Texts;
                chart.width = cells::width_of(cells);
            }
        }
        let marks = chart.series.iter_mut().flat_map(|series| &mut series.marks);
        marks.for_each(|mark| mark.tip.clear());
        chart
    }
}
