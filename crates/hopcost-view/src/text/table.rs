//! Tables for the terminal: columns that do not fit go below their row, the least
//! important first; where none may, they go on below each other.

use hopcost_model::Severity;

use crate::section::model::{Cell, Column, Form, Kind, Table, What};
use crate::style::{Align, Paint, TextStyle, pad, width_of, wrap};

/// Blanks before the first column and between two.
const GAP: usize = 2;
/// Longest text of a column of words; what is longer is wrapped.
const WORDS_MAX: usize = 40;
const WORDS_MIN: usize = 12;
/// Shortest of a table whose rows are lines, before columns are left out of it.
const CUT_MIN: usize = 24;

/// Writes a table.
pub(super) fn write(out: &mut String, table: &Table, style: &TextStyle) {
    if !table.rows.is_empty() {
        Grid::of(table, style).write(out);
    }
}

/// Which columns stand side by side where there is room for `width` characters; the others go below
/// their row.
pub(crate) fn side_by_side(table: &Table, width: usize) -> Vec<bool> {
    let style = TextStyle::plain(width);
    Grid::of(table, &style).widths.iter().map(Option::is_some).collect()
}

/// How a verdict looks.
pub(super) fn paint_of(bad: Option<Severity>) -> Paint {
    match bad {
        None => Paint::Green,
        Some(Severity::Note) => Paint::Plain,
        Some(Severity::Suspect) => Paint::Yellow,
        Some(Severity::Invalid) => Paint::Red,
    }
}

/// A value, what stands behind it, and how the value looks.
type Piece = (String, String, Paint);

/// What a cell says, in any character.
fn piece(cell: &Cell) -> Option<Piece> {
    let paint = match cell.what {
        What::Empty => return None,
        What::Verdict(bad) => paint_of(bad),
        _ => Paint::Plain,
    };
    let (value, mark) = (cell.shown.amount(), cell.mark("*"));
    Some(match &cell.shown.interval {
        Some(interval) => (value, format!("{interval}{mark}"), paint),
        None => (value + mark, String::new(), paint),
    })
}

/// A cell in one line.
pub(super) fn plain(cell: &Cell) -> String {
    cell.shown.to_string() + cell.mark("*")
}

/// A line of a cell.
type Line = (String, Paint);

/// A table with its texts and the widths of its columns.
struct Grid<'a> {
    columns: &'a [Column],
    form: Form,
    style: &'a TextStyle,
    rows: Vec<Vec<Option<Line>>>,
    /// `None` for a column that goes below its row.
    widths: Vec<Option<usize>>,
}

impl<'a> Grid<'a> {
    fn of(table: &'a Table, style: &'a TextStyle) -> Self {
        let mut rows: Vec<Vec<Option<Line>>> = table.rows.iter().map(|_| Vec::new()).collect();
        for (at, column) in table.columns.iter().enumerate() {
            let cells = table.rows.iter().map(|row| row.get(at).and_then(piece));
            let texts = lined_up(cells, column.kind, style);
            rows.iter_mut().zip(texts).for_each(|(row, text)| row.push(text));
        }
        let (columns, form, widths) = (&table.columns, table.form, Vec::new());
        let mut grid = Self { columns, form, style, rows, widths };
        grid.widths = (0..table.columns.len()).map(|at| Some(grid.widest(at))).collect();
        grid.reach();
        grid.quiet();
        grid.fit();
        grid
    }

    fn widest(&self, at: usize) -> usize {
        let lines = self.rows.iter().filter_map(|row| row.get(at)).flatten();
        let cells = lines.map(|(text, _)| width_of(text)).max().unwrap_or(0);
        cells.max(width_of(&self.style.clean(&self.columns[at].heading())))
    }

    /// Widens columns to what stands over them.
    fn reach(&mut self) {
        let mut at = 0;
        for group in self.columns.chunk_by(|a, b| a.over == b.over) {
            let own = at..at + group.len();
            let wanted = width_of(&self.style.clean(&group[0].over)) + GAP;
            let missing = wanted.saturating_sub(self.width(own.clone()));
            let first = own.clone().find(|at| self.widths[*at].is_some());
            // The heading of the table may stand over the first column.
            if let Some(width) = first.filter(|at| *at > 0).and_then(|at| self.widths[at].as_mut())
            {
                *width += missing;
            }
            at = own.end;
        }
    }

    /// Leaves out words that the row above has said.
    fn quiet(&mut self) {
        for row in (1..self.rows.len()).rev() {
            let (above, below) = self.rows.split_at_mut(row);
            for (at, column) in self.columns.iter().enumerate() {
                if column.kind != Kind::Repeated || above[row - 1].get(at) != below[0].get(at) {
                    break;
                }
                below[0][at] = None;
            }
        }
    }

    /// Width of these columns, with the blanks before each.
    fn width(&self, columns: impl IntoIterator<Item = usize>) -> usize {
        columns.into_iter().filter_map(|at| self.widths[at]).map(|width| width + GAP).sum()
    }

    fn is_too_wide(&self) -> bool {
        self.width(0..self.widths.len()) > self.style.width
    }

    /// Shortens the columns of words, and puts columns below until the rest fits.
    fn fit(&mut self) {
        self.shorten(WORDS_MAX);
        if self.form == Form::Lines {
            self.give_way(CUT_MIN);
        }
        while self.is_too_wide() {
            let shown = (0..self.widths.len()).filter(|at| self.widths[*at].is_some());
            let fold = shown.max_by_key(|at| self.columns[*at].fold);
            let Some(last) = fold.filter(|at| self.columns[*at].fold > 0) else { break };
            // What is left out is left out at every place.
            let is_brief = self.form == Form::Brief;
            let goes = |at: usize| is_brief && self.columns[at].fold == self.columns[last].fold;
            for at in (0..self.widths.len()).filter(|at| *at == last || goes(*at)) {
                self.widths[at] = None;
            }
            self.reach();
        }
        // Nothing left to put below: the words give way.
        self.give_way(WORDS_MIN);
        // What is left goes to the words.
        let mut left = self.style.width.saturating_sub(self.width(0..self.widths.len()));
        for at in 0..self.widths.len() {
            let widest = self.widest(at);
            if let Some(width) = &mut self.widths[at] {
                let more = left.min(widest.saturating_sub(*width));
                *width += more;
                left -= more;
            }
        }
    }

    /// Shortens the columns of words until all fits, down to so much.
    fn give_way(&mut self, least: usize) {
        let mut limit = WORDS_MAX;
        while self.is_too_wide() && limit > least {
            limit -= 1;
            self.shorten(limit);
        }
    }

    fn shorten(&mut self, limit: usize) {
        let most = self.style.width - 2 * GAP - WORDS_MIN;
        for (width, column) in self.widths.iter_mut().zip(self.columns) {
            let limit = if column.kind.is_words() { limit } else { most };
            *width = width.map(|width| width.min(limit));
        }
    }

    /// The columns that stand side by side: those that name the rows with as many of the others as
    /// fit, those together that have a heading in common.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> =
            (0..self.widths.len()).filter(|at| self.widths[*at].is_some()).collect();
        let over = |at: usize| self.columns[at].over.as_str();
        let names = all.iter().take_while(|at| over(**at).is_empty()).count();
        // Where no columns have anything in common, the first of them names the rows.
        let names = if names == all.len() { names.min(1) } else { names.max(1) };
        let (names, others) = all.split_at(names);
        let mut packed: Vec<Vec<usize>> = vec![names.to_vec()];
        for group in others.chunk_by(|a, b| over(*a) == over(*b) && !over(*a).is_empty()) {
            let fits = |block: &Vec<usize>| {
                self.width(block.iter().chain(group).copied()) <= self.style.width
            };
            match packed.last_mut().filter(|block| block.len() == names.len() || fits(block)) {
                Some(block) => block.extend(group),
                None => packed.push([names, group].concat()),
            }
        }
        packed
    }

    fn write(&self, out: &mut String) {
        let style = self.style;
        let head = |column: &Column| Some((style.clean(&column.heading()), Paint::Dim));
        let heads: Vec<Option<Line>> = self.columns.iter().map(head).collect();
        for (at, block) in self.blocks().into_iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            self.over(out, &block);
            if block.iter().any(|at| !self.columns[*at].heading().is_empty()) {
                self.lines(out, &heads, &block);
            }
            for row in &self.rows {
                self.lines(out, row, &block);
                if !matches!(self.form, Form::Brief | Form::Lines) {
                    self.below(out, row);
                }
            }
        }
    }

    /// What neighbouring columns have in common, where the first of them begins.
    fn over(&self, out: &mut String, block: &[usize]) {
        let (mut line, mut column, mut above) = (String::new(), 0, "");
        for &at in block {
            let Some(width) = self.widths[at] else { continue };
            let over = self.columns[at].over.as_str();
            if over != above && !over.is_empty() {
                let text = self.style.clean(over);
                let blank = (column + GAP).saturating_sub(width_of(&line)).max(GAP);
                line.push_str(&" ".repeat(blank));
                line.push_str(&text);
            }
            above = over;
            column += width + GAP;
        }
        if !line.is_empty() {
            out.push_str(&self.style.paint(Paint::Dim, line.trim_end()));
            out.push('\n');
        }
    }

    /// Sets texts into their columns, on as many lines as the highest has.
    fn lines(&self, out: &mut String, row: &[Option<Line>], block: &[usize]) {
        let cells: Vec<(usize, usize, Vec<Line>)> = block
            .iter()
            .filter_map(|at| Some((*at, self.widths[*at]?, row.get(*at)?)))
            .map(|(at, width, line)| match (line, self.form) {
                (None, _) => (at, width, Vec::new()),
                (Some(line), Form::Lines) => (at, width, vec![self.cut(line, width)]),
                (Some(line), _) => (at, width, broken(line, width)),
            })
            .collect();
        let most = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
        for index in 0..most {
            let mut line = String::new();
            for (at, width, lines) in &cells {
                let (text, paint) = lines.get(index).map_or(("", Paint::Plain), |(t, p)| (t, *p));
                let left = self.columns[*at].kind.is_words();
                let text = pad(text, *width, if left { Align::Left } else { Align::Right });
                line.push_str(&" ".repeat(GAP));
                line.push_str(&self.style.paint(paint, &text));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    /// A line of at most this width, cut off between words where it is longer.
    fn cut(&self, (text, paint): &Line, width: usize) -> Line {
        if width_of(text) <= width {
            return (text.clone(), *paint);
        }
        let end = self.style.clean("…");
        let first = wrap(text, width.saturating_sub(width_of(&end))).into_iter().next();
        (first.unwrap_or_default() + &end, *paint)
    }

    /// What has no column, named, on as few lines as hold it.
    fn below(&self, out: &mut String, row: &[Option<Line>]) {
        const INDENT: &str = "      ";
        let (dot, room) = (self.style.clean(" · "), self.style.width - INDENT.len());
        let mut lines: Vec<String> = Vec::new();
        for ((column, text), _) in
            self.columns.iter().zip(row).zip(&self.widths).filter(|(_, width)| width.is_none())
        {
            let Some(item) = text.as_ref().and_then(|of| self.named(column, of)) else { continue };
            match lines.last_mut() {
                Some(line) if width_of(line) + width_of(&dot) + width_of(&item) <= room => {
                    line.push_str(&dot);
                    line.push_str(&item);
                }
                _ => lines.extend(wrap(&item, room)),
            }
        }
        for line in lines {
            out.push_str(&self.style.paint(Paint::Dim, &format!("{INDENT}{line}")));
            out.push('\n');
        }
    }

    /// `p95 84.4 µs`: a value with the name and the unit of its column.
    fn named(&self, column: &Column, (text, _): &Line) -> Option<String> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match column.kind.is_words() {
            _ if text.is_empty() => None,
            true => Some(text),
            false => Some(self.style.clean(&format!("{} {text}", column.label()))),
        }
    }
}

/// Cells in one line each, in which values end and intervals begin below each other.
fn lined_up(
    cells: impl Iterator<Item = Option<Piece>>,
    kind: Kind,
    style: &TextStyle,
) -> Vec<Option<Line>> {
    let clean = |(value, behind, paint): Piece| (style.clean(&value), style.clean(&behind), paint);
    let lines: Vec<Option<Piece>> = cells.map(|cell| cell.map(clean)).collect();
    let with = lines.iter().flatten().filter(|(_, behind, _)| !behind.is_empty());
    let (value, behind) = with.fold((0, 0), |(value, behind), (v, b, _)| {
        (value.max(width_of(v)), behind.max(width_of(b)))
    });
    let set = |(text, interval, paint): Piece| {
        let fits = !kind.is_words() && behind > 0 && width_of(&text) <= value;
        if interval.is_empty() && !fits {
            return (text, paint);
        }
        let (text, interval) =
            (pad(&text, value, Align::Right), pad(&interval, behind, Align::Left));
        (format!("{text} {interval}"), paint)
    };
    lines.into_iter().map(|line| line.map(set)).collect()
}

/// Lines of at most this width; what fits keeps the blanks that line it up.
fn broken((text, paint): &Line, width: usize) -> Vec<Line> {
    let fits = width_of(text) <= width;
    let texts = if fits { vec![text.clone()] } else { wrap(text, width) };
    texts.into_iter().map(|text| (text, *paint)).collect()
}
