//! The table of one group of the ladder.

use hopcost_model::results::{LadderGroup, LadderRow, Results, Status};

use super::axis::Axis;
use super::calls::Calls;
use super::cells::{Amount, Cells, has_ratio};
use crate::names::{Place, row_label};
use crate::number::{self, DIGITS_MAX};
use crate::section::covers;
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

/// Least width of the mechanism's column.
const LEFT_MIN: usize = 15;
/// Width of `suspect` and `invalid`.
pub(super) const VALIDITY: usize = 7;
/// Longest bar.
const BAR_MAX: usize = 30;
/// Blanks between two sides.
const GAP: usize = 2;

/// Whether the trials, validity and bar stand beside the numbers or below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Wide,
    Narrow,
}

/// Column widths, common to all groups so that they line up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    form: Form,
    digits_max: u8,
    left: usize,
    value: usize,
    interval: usize,
    multiple: usize,
    trials: usize,
    /// Columns left over, for the bar of each side.
    extra: usize,
}

impl Layout {
    /// The widest form with the most digits that fits; a form with fewer digits
    /// before a narrower form, and never fewer than two.
    pub fn choose(results: &Results, style: &TextStyle) -> Self {
        let tries = [
            (Form::Wide, 4),
            (Form::Wide, 3),
            (Form::Narrow, 4),
            (Form::Narrow, 3),
            (Form::Narrow, 2),
        ];
        let mut layout = Self::with(results, style, Form::Narrow, 2);
        for (form, digits_max) in tries {
            layout = Self::with(results, style, form, digits_max.min(DIGITS_MAX));
            if layout.left >= LEFT_MIN {
                return layout;
            }
        }
        layout.left = LEFT_MIN;
        layout
    }

    fn with(results: &Results, style: &TextStyle, form: Form, digits_max: u8) -> Self {
        let mut layout = Self {
            form,
            digits_max,
            left: 0,
            value: width_of("insuff"),
            interval: width_of("[a, b]"),
            multiple: width_of("CPU/msg"),
            trials: 1,
            extra: 0,
        };
        let (mut sides, mut left) = (1, LEFT_MIN);
        let ladder = results.ladder.iter().filter(|group| !covers(group, results));
        for group in ladder.filter(|group| !is_calls(group)) {
            left =
                group.rows.iter().map(|row| left_width(row, results)).max().unwrap_or(0).max(left);
            sides = sides.max(tables(results, group).iter().map(Vec::len).max().unwrap_or(1));
            for (row, side) in pairs(group) {
                let cells = Cells::of(side.case(row, results), digits_max, style);
                for (value, interval) in [cells.first.widths(), cells.second.widths()] {
                    layout.value = layout.value.max(value);
                    layout.interval = layout.interval.max(interval);
                }
                layout.multiple =
                    layout.multiple.max(width_of(&cells.ratio)).max(width_of(&cells.cpu));
                layout.trials = layout.trials.max(width_of(&cells.trials));
            }
        }
        let taken = sides * (layout.side() + GAP);
        let room = style.columns().saturating_sub(taken);
        layout.left = room.min(left);
        layout.extra = ((room - layout.left) / sides).min(BAR_MAX - VALIDITY);
        layout
    }

    fn amount(&self) -> usize {
        self.value + 1 + self.interval
    }

    fn verdict(&self) -> usize {
        self.trials + 1 + VALIDITY
    }

    fn side(&self) -> usize {
        let numbers = self.amount() + 1 + self.multiple;
        let form = match self.form {
            Form::Wide => numbers + 1 + self.verdict(),
            Form::Narrow => numbers,
        };
        form + self.extra
    }
}

/// Whether a group has but calls: no second party, so a table of its own shape.
pub(crate) fn is_calls(group: &LadderGroup) -> bool {
    group.rows.iter().all(|row| row.wait.is_none() && row.two_cpus.is_none() && row.free.is_none())
}

/// Width that a row's mechanism, boundary and wait take unwrapped.
fn left_width(row: &LadderRow, results: &Results) -> usize {
    let how = 2 + row.boundary.word().len() + row.wait.as_deref().map_or(0, width_of);
    width_of(&row_label(row, results)).max(how) + 1
}

fn pairs(group: &LadderGroup) -> impl Iterator<Item = (&LadderRow, Place)> {
    group.rows.iter().flat_map(|row| Place::ALL.map(|side| (row, side)))
}

/// The sides that occur in a group, two to a table: one CPU and two CPUs stand
/// side by side, and what was left to the scheduler follows in a table of its own.
fn tables(results: &Results, group: &LadderGroup) -> Vec<Vec<Place>> {
    let measured = |side: &Place| group.rows.iter().any(|row| is_measured(results, row, &[*side]));
    let sides: Vec<Place> = Place::ALL.into_iter().filter(measured).collect();
    sides.chunks(2).map(<[Place]>::to_vec).collect()
}

fn is_measured(results: &Results, row: &LadderRow, sides: &[Place]) -> bool {
    sides
        .iter()
        .filter_map(|side| side.case(row, results))
        .any(|result| result.status == Status::Measured)
}

/// Writes a group: heading, sentence, axis, tables.
pub(super) fn write(
    out: &mut String,
    results: &Results,
    group: &LadderGroup,
    layout: &Layout,
    style: &TextStyle,
) {
    out.push('\n');
    for line in wrap(&style.clean(&group.title), style.columns()) {
        push(out, &style.paint(Paint::Bold, &line));
    }
    let axis = Axis::around(pairs(group).filter_map(|(row, side)| {
        Cells::of(side.case(row, results), layout.digits_max, style).bar_ns
    }));
    let mut meaning = group.meaning.clone();
    let calls = is_calls(group).then(|| Calls::of(results, group, style));
    let bars = calls.as_ref().is_none_or(|calls| calls.bar.is_some());
    if let Some(axis) = axis.filter(|_| bars) {
        let end = |ns| number::decade(ns, style.charset);
        meaning.push_str(&format!(
            " Bars: {} on a log axis from {} to {}.",
            if group.batched { "cost" } else { "p50" },
            end(axis.low_ns),
            end(axis.high_ns)
        ));
    }
    style.paragraph(out, "  ", "  ", &meaning);
    for sides in tables(results, group) {
        let table = Table { results, group, sides: &sides, axis, layout: *layout, style };
        out.push('\n');
        match &calls {
            Some(calls) => super::calls::write(out, &table, calls),
            None => table.write(out),
        }
    }
}

/// One table of a group.
pub(super) struct Table<'a> {
    pub results: &'a Results,
    pub group: &'a LadderGroup,
    pub sides: &'a [Place],
    pub axis: Option<Axis>,
    pub layout: Layout,
    pub style: &'a TextStyle,
}

impl Table<'_> {
    fn write(&self, out: &mut String) {
        self.header(out);
        for row in &self.group.rows {
            if !is_measured(self.results, row, self.sides) {
                continue;
            }
            let sides: Vec<Vec<String>> = self
                .sides
                .iter()
                .map(|side| {
                    let result = side.case(row, self.results);
                    self.side(&Cells::of(result, self.layout.digits_max, self.style))
                })
                .collect();
            self.lines(out, &self.left(row), &sides);
        }
    }

    fn header(&self, out: &mut String) {
        let (layout, style) = (&self.layout, self.style);
        let titles = self.sides.iter().map(|side| {
            let rule = style.pick("─", "-");
            let title = format!("{rule}{rule} {} ", side.title());
            let rest = layout.side().saturating_sub(width_of(&title));
            vec![style.paint(Paint::Bold, &format!("{title}{}", rule.repeat(rest)))]
        });
        self.lines(out, &[String::new()], &titles.collect::<Vec<_>>());
        let (first, second) = match self.group.batched {
            true => ("cost [interval]", ""),
            false => ("p50 [interval]", "p99 [interval]"),
        };
        let multiple = match has_ratio(self.results, self.group, self.sides) {
            true => style.pick("×base", "x base"),
            false => "",
        };
        let verdict = format!("{} valid?", pad("n", layout.trials, Align::Right));
        let amount = |text: &str| pad(text, layout.amount(), Align::Left);
        let top = format!("{} {}", amount(first), pad(multiple, layout.multiple, Align::Right));
        let below = format!("{} {}", amount(second), pad("CPU/msg", layout.multiple, Align::Right));
        let lines = match layout.form {
            Form::Wide => vec![format!("{top} {verdict}"), format!("{below} bar")],
            Form::Narrow => vec![top, below, format!("{verdict}  bar")],
        };
        let lines: Vec<String> = lines
            .iter()
            .map(|line| style.paint(Paint::Dim, &pad(line, layout.side(), Align::Left)))
            .collect();
        let left = ["mechanism", " boundary wait"].map(|text| style.paint(Paint::Dim, text));
        let sides: Vec<Vec<String>> = self.sides.iter().map(|_| lines.clone()).collect();
        self.lines(out, &left, &sides);
    }

    /// The mechanism's column.
    fn left(&self, row: &LadderRow) -> Vec<String> {
        let width = self.layout.left.saturating_sub(1);
        let mut lines: Vec<String> = wrap(&self.style.clean(&row_label(row, self.results)), width)
            .iter()
            .map(|line| self.style.paint(Paint::Bold, line))
            .collect();
        let how = match &row.wait {
            Some(wait) => format!("{} {wait}", row.boundary),
            None => row.boundary.to_string(),
        };
        let how = wrap(&self.style.clean(&how), width.saturating_sub(1));
        lines.extend(how.iter().map(|line| format!(" {line}")));
        lines
    }

    /// The lines of one side, each exactly as wide as the side.
    fn side(&self, cells: &Cells) -> Vec<String> {
        let (layout, style) = (&self.layout, self.style);
        let first = self.amount(&cells.first, Paint::Plain);
        let second = self.amount(&cells.second, Paint::Dim);
        let ratio = pad(&cells.ratio, layout.multiple, Align::Right);
        let cpu = style.paint(Paint::Dim, &pad(&cells.cpu, layout.multiple, Align::Right));
        let verdict = self.verdict(cells);
        match layout.form {
            Form::Wide => vec![
                format!("{first} {ratio} {verdict}"),
                format!("{second} {cpu} {}", self.bar(cells, layout.verdict() + layout.extra)),
            ],
            Form::Narrow => {
                let room = layout.side().saturating_sub(layout.verdict() + 2);
                vec![
                    format!("{first} {ratio}"),
                    format!("{second} {cpu}"),
                    format!("{verdict}  {}", self.bar(cells, room)),
                ]
            }
        }
    }

    /// The same table with other column widths.
    pub fn with_widths(&self, value: usize, interval: usize, trials: usize) -> Self {
        Self { layout: Layout { value, interval, trials, ..self.layout }, ..*self }
    }

    pub fn amount(&self, amount: &Amount, paint: Paint) -> String {
        let layout = &self.layout;
        match amount {
            Amount::Words(words) => {
                self.style.paint(Paint::Dim, &pad(words, layout.amount(), Align::Left))
            }
            Amount::Value(shown) => {
                let value = pad(&shown.amount(), layout.value, Align::Right);
                let interval = shown.interval.as_deref().unwrap_or_default();
                let interval = pad(interval, layout.interval, Align::Left);
                let value = self.style.paint(paint, &value);
                format!("{value} {}", self.style.paint(Paint::Dim, &interval))
            }
        }
    }

    pub fn verdict(&self, cells: &Cells) -> String {
        let trials = pad(&cells.trials, self.layout.trials, Align::Right);
        let validity = pad(cells.validity.map_or("", |v| v.word()), VALIDITY, Align::Left);
        format!("{trials} {}", self.style.paint(cells.paint(), &validity))
    }

    pub fn bar(&self, cells: &Cells, width: usize) -> String {
        let bar = match (self.axis, cells.bar_ns) {
            (Some(axis), Some(ns)) => axis.bar(ns, width.min(BAR_MAX), self.style.charset),
            _ => String::new(),
        };
        self.style.paint(Paint::Cyan, &pad(&bar, width, Align::Left))
    }

    /// Sets the mechanism's column and the sides beside each other.
    fn lines(&self, out: &mut String, left: &[String], sides: &[Vec<String>]) {
        let count = sides.iter().map(Vec::len).chain([left.len()]).max().unwrap_or(0);
        for index in 0..count {
            let text = left.get(index).map_or("", String::as_str);
            let mut line = pad_painted(text, self.layout.left);
            for side in sides {
                let text = side.get(index).map_or("", String::as_str);
                line.push_str(&" ".repeat(GAP));
                line.push_str(&pad_painted(text, self.layout.side()));
            }
            push(out, &line);
        }
    }
}

/// Pads text that may hold escape sequences, which take no column.
fn pad_painted(text: &str, width: usize) -> String {
    let mut visible = 0;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        visible += width_of(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    visible += width_of(rest);
    format!("{text}{}", " ".repeat(width.saturating_sub(visible)))
}

/// A line without the blanks at its end.
pub(super) fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}
