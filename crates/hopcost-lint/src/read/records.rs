//! Numbers that stand beside their names, over one line or several: what sockperf, fio and
//! Criterion print of a distribution, and lists of `name=value`.

use std::collections::BTreeMap;

use super::table::{Cell, Document, Form, Table};
use crate::number::Number;
use crate::unit::Unit;

/// Names with a number without which a line, or lines of one each, are prose.
const PAIRS_MIN: usize = 3;
/// Lines that numbers of one distribution lie apart at most.
const APART_MAX: usize = 3;
/// Records back from the last that a line can add to.
const BACK_MAX: usize = 16;
/// Numbers of a record, beyond which it is no distribution.
const NUMBERS_MAX: usize = 200;

/// Characters of a name and of a unit that are kept: each number has them again.
const NAME_MAX: usize = 100;
const UNIT_MAX: usize = 12;

/// What printed numbers; those of one tool are one table, lists one for each set of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Sockperf,
    Fio,
    Criterion,
    List,
}

/// A heading, and what stands there.
type Told = (String, String);

/// The numbers of one distribution.
struct Record {
    of: Of,
    name: String,
    numbers: Vec<(String, Cell)>,
}

impl Record {
    /// What those of one table have in common.
    fn kind(&self) -> Vec<&str> {
        match self.of {
            Of::List => self.numbers.iter().map(|(head, _)| head.as_str()).collect(),
            of => vec![["sockperf", "fio", "criterion"][of as usize]],
        }
    }
}

/// Reads lines one after the other.
#[derive(Default)]
pub struct Records {
    all: Vec<Record>,
    /// The job of fio whose lines these are, and the direction.
    job: String,
    direction: &'static str,
    /// Of which distribution percentiles of fio are, and in which unit.
    percentiles: Option<Told>,
}

impl Records {
    /// Whether a line is of a tool's output; what it says is kept. `above` is the last line of text.
    pub fn tool(&mut self, line: usize, text: &str, above: &str) -> bool {
        let mut numbers = sockperf(text);
        let found = !numbers.is_empty();
        // The mean is told twice: only another one is kept.
        let known = self.all.last().map_or(&[][..], |last| &last.numbers);
        numbers.retain(|(head, text)| {
            let head = if head == SUMMARY { "avg" } else { head };
            !known.iter().any(|(h, cell)| h == head && cell.text == *text)
        });
        self.add(Of::Sockperf, None, above, line, numbers);
        found
            || text.starts_with("sockperf: ")
            || text.starts_with("sockperf[")
            || (text.starts_with('[') && text.contains("] IP = "))
            || self.fio(line, text.trim_start_matches(['>', ' ']))
            || self.criterion(line, text.trim_start_matches(['/', '!', '>', '#', ' ']), above)
    }

    /// Whether a line is a list of names with numbers, which may go on in the next; lines that are
    /// one name with its number each are a list too.
    pub fn list(&mut self, line: usize, text: &str, above: &str) -> bool {
        let of = self.all.last().filter(|last| last.of == Of::List).map(|last| &last.numbers);
        let goes_on = of.and_then(|of| of.last()).is_some_and(|(_, cell)| cell.line + 1 == line);
        let has = if goes_on { of.map_or(0, Vec::len) } else { 0 };
        let (_, numbers) = pairs(text);
        let n_parts = text.split([',', ';']).count();
        let found = match numbers.len() {
            0 => false,
            1 => n_parts == 1,
            n => n >= PAIRS_MIN || has >= PAIRS_MIN,
        };
        let is_list = found && has + numbers.len() >= PAIRS_MIN;
        if found {
            self.add(Of::List, (!goes_on).then_some(above), above, line, numbers);
        }
        is_list
    }

    /// Adds numbers to the record of that name, or to the last one near where none is given; to a
    /// new one where it has such.
    fn add(&mut self, of: Of, name: Option<&str>, above: &str, line: usize, numbers: Vec<Told>) {
        if numbers.is_empty() {
            return;
        }
        let (name, above) = (name.map(kept), kept(above));
        let has = |record: &Record, head: &str| record.numbers.iter().any(|(own, _)| own == head);
        let fits = |record: &&mut Record| {
            let last = record.numbers.last().map_or(0, |(_, cell)| cell.line);
            let goes_on = match &name {
                Some(name) => record.name == *name,
                None => line - last <= APART_MAX,
            };
            let is_new = numbers.iter().all(|(head, _)| !has(record, head));
            record.of == of && goes_on && is_new && record.numbers.len() < NUMBERS_MAX
        };
        let cell = |(head, text)| (head, Cell { text, line });
        let near = if name.is_some() { BACK_MAX } else { 1 };
        match self.all.iter_mut().rev().take(near).find(fits) {
            Some(record) => record.numbers.extend(numbers.into_iter().map(cell)),
            None => {
                let name = name.unwrap_or(above).trim_end_matches(':').to_owned();
                self.all.push(Record {
                    of,
                    name,
                    numbers: numbers.into_iter().map(cell).collect(),
                });
            }
        }
    }

    /// Lines of a job: `read: IOPS=…`, `clat (usec): min=…`, `clat percentiles (usec):` with lines of
    /// `| 99.00th=[  104]` below, `issued rwts: total=…`.
    fn fio(&mut self, line: usize, text: &str) -> bool {
        const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
        if let Some((job, _)) = text.split_once(": (groupid=") {
            (self.job, self.direction) = (kept(job), "");
            return true;
        }
        let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if text.contains("IOPS=") || text.contains(", iops=") {
            let found = DIRECTIONS.iter().find(|direction| **direction == word);
            self.direction = found.copied().unwrap_or(self.direction);
            return found.is_some();
        }
        if let Some(list) = text.strip_prefix('|') {
            let Some((subject, unit)) = self.percentiles.clone() else { return false };
            let one = |part: &str| {
                let (rank, value) = part.split_once("th=[")?;
                let value = value.trim_matches([' ', ']']);
                Some((format!("{}th", rank.trim()), format!("{value} {unit}")))
            };
            let numbers: Vec<Told> = list.split(',').filter_map(one).collect();
            let found = !numbers.is_empty();
            self.add(Of::Fio, Some(&self.named(&subject)), "", line, numbers);
            return found;
        }
        if let Some((_, totals)) =
            text.strip_prefix("issued ").and_then(|text| text.split_once("total="))
        {
            let totals =
                totals.split([',', '/', ' ']).map(|n| n.trim_start_matches(['r', 'w', '=']));
            for (direction, n) in DIRECTIONS.into_iter().zip(totals) {
                for subject in ["slat", "clat", "lat"] {
                    let name = [&self.job, direction, subject].join(" ");
                    let mut back = self.all.iter_mut().rev().take(BACK_MAX);
                    if let Some(record) = back.find(|record| record.name == name.trim_start()) {
                        let cell = Cell { text: n.to_owned(), line };
                        record.numbers.push(("operations".to_owned(), cell));
                    }
                }
            }
            return true;
        }
        if !["slat", "clat", "lat"].contains(&word) {
            return false;
        }
        if let Some((subject, unit)) = text.split_once(" percentiles (") {
            let subject = subject.split(" (").next().unwrap_or_default();
            let unit = unit_of(unit.split(')').next().unwrap_or_default());
            self.percentiles = unit.map(|unit| (kept(subject), unit.to_owned()));
            return true;
        }
        let (ahead, numbers) = pairs(text);
        let found = numbers.len() >= PAIRS_MIN;
        if found {
            self.add(Of::Fio, Some(&self.named(&kept(ahead))), "", line, numbers);
        }
        found
    }

    fn named(&self, subject: &str) -> String {
        let parts = [&self.job, self.direction, subject];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// `NAME time: [1.2 µs 1.3 µs 1.4 µs]`, with `thrpt:` and `change:` below: an estimate between the
    /// ends of its interval. The name may stand above.
    fn criterion(&mut self, line: usize, text: &str, above: &str) -> bool {
        if text == "change:" {
            return self.all.last().is_some_and(|last| last.of == Of::Criterion);
        }
        let parsed = || {
            let (ahead, behind) = text.split_once('[')?;
            let words: Vec<&str> = behind.split_once(']')?.0.split_whitespace().collect();
            let ahead = ahead.trim_end().strip_suffix(':')?;
            let what = ["time", "thrpt", "change"].into_iter().find(|w| ahead.ends_with(w))?;
            let share = words.iter().all(|word| word.ends_with('%'));
            let values: Vec<String> = match words.len() {
                3 if share => words.iter().map(|word| (*word).to_owned()).collect(),
                6 => words.chunks(2).map(|pair| pair.join(" ")).collect(),
                _ => return None,
            };
            let is_told = |value: &String| Number::parse(value).is_some_and(|n| n.unit.is_some());
            let name = ahead.strip_suffix(what)?.trim();
            let name = if name.is_empty() { above } else { name };
            let what = match (what, share) {
                ("thrpt", true) => "thrpt change",
                (_, true) => "change",
                (what, false) => what,
            };
            let heads = [format!("{what} low"), what.to_owned(), format!("{what} high")];
            let name = (what == "time").then_some(name);
            values.iter().all(is_told).then(|| (name, heads.into_iter().zip(values).collect()))
        };
        let Some((name, numbers)) = parsed() else { return false };
        self.add(Of::Criterion, name, above, line, numbers);
        true
    }

    /// Adds the tables of all to a document.
    pub fn add_to(self, document: &mut Document) {
        let mut kinds: BTreeMap<Vec<&str>, Vec<&Record>> = BTreeMap::new();
        let is_told = |record: &&Record| record.of != Of::List || record.numbers.len() >= PAIRS_MIN;
        let told = self.all.iter().filter(is_told);
        told.for_each(|record| kinds.entry(record.kind()).or_default().push(record));
        for records in kinds.into_values() {
            let keys = vec![Cell { text: String::new(), line: records[0].numbers[0].1.line }];
            let form = if records[0].of == Of::List { Form::Csv } else { Form::Tool };
            let row = |record: &Record| {
                let line = record.numbers[0].1.line;
                (vec![Cell { text: record.name.clone(), line }], record.numbers.clone())
            };
            let rows = records.into_iter().map(row).collect();
            match Table::of_named(keys, form, rows, document.left()) {
                Some(table) => document.put(table),
                None => document.refuse(),
            }
        }
    }
}

/// The beginning of a name.
fn kept(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

/// The unit that a text is.
fn unit_of(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|unit| unit.len() <= UNIT_MAX && Unit::of(unit).is_some())
}

/// Heading of the mean that sockperf tells again.
pub const SUMMARY: &str = "summary avg";

/// What sockperf writes ahead of a number, and its heading; times are in microseconds.
const SOCKPERF: [(&str, &str); 7] = [
    ("> avg-latency=", "avg"),
    ("> avg-rtt=", "avg"),
    ("(std-dev=", "std-dev"),
    ("Summary: Latency is ", SUMMARY),
    ("Summary: Round trip is ", SUMMARY),
    ("> <MAX> observation =", "max"),
    ("> <MIN> observation =", "min"),
];

fn sockperf(text: &str) -> Vec<Told> {
    let number = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        (end > 0).then(|| text[..end].to_owned())
    };
    let one = |(ahead, head): &(&str, &str)| {
        let value = number(text.split_once(ahead)?.1)?;
        Some(((*head).to_owned(), format!("{value} usec")))
    };
    let percentile = || {
        let (rank, value) = text.split_once("> percentile ")?.1.split_once('=')?;
        Some((format!("percentile {}", rank.trim()), format!("{} usec", number(value)?)))
    };
    let observations = || {
        let (total, _) = text.split_once(" observations")?;
        Some(("observations".to_owned(), number(total.split_once("Total ")?.1)?))
    };
    let messages = |head: &str| {
        let (_, behind) = text.split_once("[Valid Duration]")?.1.split_once(&format!("{head}="))?;
        Some((head.to_owned(), number(behind)?))
    };
    let others =
        [percentile(), observations(), messages("SentMessages"), messages("ReceivedMessages")];
    SOCKPERF.iter().filter_map(one).chain(others.into_iter().flatten()).collect()
}

/// What stands ahead of `clat (usec): min=41, max=30964, avg=75.25`, and the names with their values
/// in that unit.
fn pairs(line: &str) -> (&str, Vec<Told>) {
    let (ahead, list) = line.split_once("): ").unwrap_or(("", line));
    let (ahead, unit) = ahead.rsplit_once('(').unwrap_or((ahead, ""));
    let unit = unit_of(unit).map_or(String::new(), |unit| format!(" {unit}"));
    let one = |part: &str| {
        let (name, value) = part.split_once(['=', ':'])?;
        let is_name = !name.trim().is_empty() && name.split_whitespace().count() <= 2;
        (is_name && Number::parse(value).is_some())
            .then(|| (name.trim().to_owned(), format!("{}{unit}", value.trim())))
    };
    (ahead.trim(), list.split([',', ';']).filter_map(one).collect())
}
