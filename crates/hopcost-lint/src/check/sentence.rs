//! Sentences against the tables that they speak of.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Cited, Finding, rounded, shown};
use crate::number::{Number, Span};
use crate::prose::{Prose, Sentence};
use crate::role::Role;
use crate::sheet::{Column, Sheet};
use crate::unit::Dimension;

/// Words of sentences that are of other measurements than the table's.
const ELSEWHERE: [&str; 12] = [
    "previous",
    "prior",
    "earlier",
    "separate",
    "literature",
    "et al",
    "expected",
    "theor",
    "up to",
    "would",
    "could",
    "typically",
];

/// Comparisons of rows with each other, for each sentence that compares, above which none is made.
const COMPARED_MAX: usize = 20_000_000;
/// Words above which a text is no sentence.
const WORDS_MAX: usize = 500;
/// Rows that a sentence can compare.
const NAMED_MAX: usize = 20;

/// Whether a sentence has a factor, or says that there is no difference.
fn compares(sentence: &Sentence) -> bool {
    let parts: Vec<&str> = sentence.text.split_whitespace().collect();
    let factor = || (0..parts.len()).any(|at| meant(&parts, at).is_some());
    parts.len() <= WORDS_MAX && (says_alike(&sentence.text.to_lowercase()) || factor())
}

/// What is said where there are too many sentences and rows.
pub fn note(sheets: &[Sheet], prose: &Prose) -> Option<String> {
    let rows: usize = sheets.iter().map(|sheet| sheet.names.len().pow(2)).sum();
    let sentences = prose.sentences.iter().filter(|sentence| compares(sentence)).count();
    (rows.saturating_mul(sentences) > COMPARED_MAX).then(|| {
        format!("{sentences} sentences that compare, times the squares of the tables' rows, are more than {COMPARED_MAX}, which is the limit: no sentence is held against a table")
    })
}

/// Every sentence that can be checked.
pub fn sentences(sheets: &[Sheet], prose: &Prose) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let few = note(sheets, prose).is_none();
    let mut before = "";
    for sentence in &prose.sentences {
        let text = sentence.text.to_lowercase();
        found.extend(quotient(sentence));
        if few && compares(sentence) && !ELSEWHERE.iter().any(|word| text.contains(word)) {
            found.extend(factors(sheets, sentence));
            found.extend(no_difference(sheets, sentence, before));
        }
        before = &sentence.text;
    }
    found
}

/// `a / b ≈ c`.
fn quotient(sentence: &Sentence) -> Option<Finding> {
    let parts: Vec<&str> = sentence.text.split_whitespace().collect();
    let at = parts.windows(5).find(|w| matches!(w[1], "/" | "÷") && matches!(w[3], "≈" | "="))?;
    let number = |text: &str| Number::parse(text.trim_matches(['(', ')', ',', ';', '.']));
    let (a, b, told) = (number(at[0])?, number(at[2])?, number(at[4])?);
    let is = a.scaled(None).span.over(b.scaled(None).span)?;
    (!is.meets(told.span)).then(|| Finding {
        check: "sentence",
        cells: vec![Cited::sentence(sentence.line, &at.join(" "))],
        arithmetic: format!("it is {}", shown(is.mid())),
        explanation: "one of the three numbers is of another state of the table",
    })
}

/// The lower-case words of a text; the plural is the singular.
fn words(text: &str) -> Vec<String> {
    let words = text.to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
    words
        .map(|word| word.strip_suffix('s').filter(|w| w.len() > 2).unwrap_or(word).to_owned())
        .collect()
}

/// The names of rows, each with the first word of it that no other has, and where a sentence says that.
fn named<'a>(sheet: &'a Sheet, sentence: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = sheet.names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let said = words(sentence);
    let of_names: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    // In how many names a word is.
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for of_name in &of_names {
        let once: BTreeSet<&str> = of_name.iter().map(String::as_str).collect();
        once.into_iter().for_each(|word| *times.entry(word).or_default() += 1);
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    said.iter().enumerate().for_each(|(at, word)| {
        places.entry(word).or_insert(at);
    });
    let place = |of_name: &Vec<String>| {
        let own = of_name.iter().find(|word| times.get(word.as_str()) == Some(&1))?;
        places.get(own.as_str()).copied()
    };
    let placed = names.iter().zip(&of_names);
    let mut found: Vec<_> = placed.filter_map(|(name, of)| Some((place(of)?, *name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// What two names lie apart in a column: the range over rows that are alike otherwise, the column,
/// and two of these rows.
type Apart = (Span, usize, usize, usize);

fn apart(sheet: &Sheet, a: &str, b: &str) -> Vec<Apart> {
    let rows =
        |name: &str| sheet.rows().filter(|row| sheet.names[*row] == name).collect::<Vec<_>>();
    let (of_a, of_b) = (rows(a), rows(b));
    let pairs = of_a.iter().flat_map(|x| of_b.iter().map(move |y| (*x, *y)));
    let pairs: Vec<_> = pairs.filter(|(x, y)| sheet.setting(*x) == sheet.setting(*y)).collect();
    let is_told = |role: Role| {
        role.is_measured() || matches!(role, Role::Other | Role::Counter(_) | Role::Quantile(_))
    };
    let columns = sheet.columns.iter().enumerate().filter(|(_, column)| is_told(column.is.role));
    let of = |(at, column): (usize, &Column)| {
        let quotient = |(x, y): &(usize, usize)| {
            Some((column.at(*x)?.span.over(column.at(*y)?.span)?, at, *x, *y))
        };
        // Between the least and the most of its rows, a factor is right of some of them.
        pairs
            .iter()
            .filter_map(quotient)
            .reduce(|all, one| (all.0.with(one.0), all.1, all.2, all.3))
    };
    columns.filter_map(of).collect()
}

/// What a factor or a share of a sentence may mean as a quotient.
fn meant(words: &[&str], at: usize) -> Option<Vec<Span>> {
    let text = words[at..words.len().min(at + 2)].join(" ");
    let (number, _) = Number::leading(text.trim_start_matches('('))?;
    let behind = words[at + 1..words.len().min(at + 4)].join(" ").to_lowercase();
    let compares = ["slower", "faster", "as fast", "as slow", "r latency", "r throughput"];
    compares.iter().any(|word| behind.contains(word)).then_some(())?;
    match number.unit?.dimension {
        Dimension::Times => Some(vec![number.span]),
        Dimension::Share => {
            let share = number.scaled(None).span;
            let (less, more) = (
                Span { low: 1.0 - share.high, high: 1.0 - share.low },
                Span { low: 1.0 + share.low, high: 1.0 + share.high },
            );
            Some(vec![less, more])
        }
        _ => None,
    }
}

/// `UDP is 2.7 times slower than threads`.
fn factors(sheets: &[Sheet], sentence: &Sentence) -> Vec<Finding> {
    let parts: Vec<&str> = sentence.text.split_whitespace().collect();
    let pairs = |sheet| {
        let mut names = named(sheet, &sentence.text);
        names.truncate(NAMED_MAX);
        let both = names.iter().flat_map(|a| names.iter().map(move |b| (*a, *b)));
        let of = both.filter(|(a, b)| a != b).flat_map(|(a, b)| apart(sheet, a, b));
        of.map(|apart| (sheet, apart)).collect::<Vec<_>>()
    };
    let all: Vec<(&Sheet, Apart)> = sheets.iter().flat_map(pairs).collect();
    let wrong = |at: usize| {
        let meant = meant(&parts, at)?;
        let fits = |(_, (range, ..)): &(&Sheet, Apart)| meant.iter().any(|one| one.meets(*range));
        let far = |(_, (range, ..)): &(&Sheet, Apart)| (range.mid() / meant[0].mid()).ln().abs();
        let nearest = all.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
        (!all.iter().any(fits)).then(|| unlike(sentence, nearest.0, nearest.1, parts[at]))
    };
    (0..parts.len()).filter_map(wrong).collect()
}

fn unlike(sentence: &Sentence, sheet: &Sheet, (range, column, x, y): Apart, told: &str) -> Finding {
    let column = &sheet.columns[column];
    let cells = [x, y].map(|row| Cited::cell(sheet, column, row));
    let printed = column.at(x).zip(column.at(y)).map_or(range.mid(), |(a, b)| a.value / b.value);
    Finding {
        check: "sentence",
        arithmetic: format!(
            "{} against {} is {}, and not {told}",
            cells[0].text,
            cells[1].text,
            rounded(printed)
        ),
        cells: std::iter::once(Cited::sentence(sentence.line, &sentence.text))
            .chain(cells)
            .collect(),
        explanation: "the sentence was written for other numbers than the table's",
    }
}

/// How a sentence says that two are alike: words that come in this order.
const ALIKE: [&[&str]; 9] = [
    &["no difference"],
    &["no significant difference"],
    &["no measurable difference"],
    &["little difference"],
    &["difference", " is minimal"],
    &["difference", " is negligible"],
    &["not", "significant advantage"],
    &["not", "strong advantage"],
    &["equally fast"],
];
/// Rows that are for reference and not among those that a sentence compares.
const REFERENCE: [&str; 3] = ["reference", "baseline", "busy"];
/// A quotient that is a difference.
const DIFFERS: f64 = 1.25;

/// Whether a text says that two are alike.
fn says_alike(text: &str) -> bool {
    let says = |pattern: &&[&str]| {
        let mut rest = text;
        pattern.iter().all(|words| match rest.split_once(words) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    };
    ALIKE.iter().any(says)
}

/// `There is almost no difference between …`, where all settings show one.
fn no_difference(sheets: &[Sheet], sentence: &Sentence, before: &str) -> Option<Finding> {
    let text = sentence.text.to_lowercase();
    says_alike(&text).then_some(())?;
    // Of the table that it follows, or of the only one.
    let sheet = sheets.iter().rev().find(|sheet| sheet.line < sentence.line).or(sheets.first())?;
    let mut names = named(sheet, &sentence.text);
    if names.len() < 2 {
        names = named(sheet, before);
    }
    if names.len() < 2 {
        ["between the ", "among "].iter().any(|all| text.contains(all)).then_some(())?;
        names = sheet.names.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
    }
    names.retain(|name| !REFERENCE.iter().any(|word| name.to_lowercase().contains(word)));
    let said: Vec<&str> = text.split_whitespace().collect();
    // `256 bytes` in the sentence means the rows with 256.
    let is_meant = |row: &usize| {
        let sizes = sheet.having(|role| role == Role::Payload).filter_map(|column| column.at(*row));
        let of = |size: &Number| {
            said.windows(2).any(|w| {
                let bytes = Number::parse(w[0].trim_start_matches('(')).map(|n| n.value);
                bytes == Some(size.value) && w[1].starts_with("byte")
            })
        };
        sizes.into_iter().all(of)
    };
    let sized = sheet.rows().any(|row| is_meant(&row));
    let rows: Vec<usize> = sheet
        .rows()
        .filter(|row| names.contains(&sheet.names[*row].as_str()) && (!sized || is_meant(row)))
        .collect();
    differing(sheet, &rows, sentence)
}

/// The finding, where in all settings some two rows differ.
fn differing(sheet: &Sheet, rows: &[usize], sentence: &Sentence) -> Option<Finding> {
    let column = sheet.having(|role| role.is_typical() && role != Role::Total).next()?;
    let mut settings: Vec<_> = rows.iter().map(|row| sheet.setting(*row)).collect();
    settings.sort();
    settings.dedup();
    let ends = |setting: &Vec<&str>| {
        let of = rows.iter().filter(|row| sheet.setting(**row) == *setting);
        let mut of: Vec<_> = of.filter_map(|row| Some((column.at(*row)?, *row))).collect();
        of.sort_by(|a, b| a.0.value.total_cmp(&b.0.value));
        let ((low, x), (high, y)) = (of.first()?, of.last()?);
        let spread =
            [low, high].iter().filter_map(|n| n.spread.map(|s| s.high)).fold(0.0, f64::max);
        let apart = high.span.low - low.span.high > spread;
        (apart && low.value > 0.0 && of.len() > 1).then_some((high.value / low.value, *y, *x))
    };
    let all: Vec<(f64, usize, usize)> = settings.iter().map(ends).collect::<Option<_>>()?;
    let (least, y, x) = all.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
    (least > DIFFERS).then(|| Finding {
        check: "sentence",
        cells: std::iter::once(Cited::sentence(sentence.line, &sentence.text))
            .chain([y, x].map(|row| Cited::cell(sheet, column, row)))
            .collect(),
        arithmetic: format!("{} lies apart by a factor of {} or more in every setting", column.head, shown(least)),
        explanation: "the sentence is of other rows, or takes a difference for none because something else is larger",
    })
}

/// A time in a sentence below which nothing is woken.
const WOKEN_NS: f64 = 1000.0;

/// Sentences of a line that speak of the same.
const LINE_MAX: usize = 50;

/// `Thread latency was measured at 0.0434 µs …, because locks are …`.
pub fn floor(_: &[Sheet], prose: &Prose) -> Vec<Finding> {
    let has = |text: &str, of: &[&str]| of.iter().any(|word| text.contains(word));
    let of = |(at, sentence): (usize, &Sentence)| {
        let text = sentence.text.to_lowercase();
        let of_line =
            prose.sentences.iter().skip(at).take_while(|s| s.line == sentence.line).take(LINE_MAX);
        let line = of_line.map(|s| s.text.to_lowercase()).collect::<Vec<_>>().join(" ");
        let speaks =
            has(&text, &["thread latency", "thread communication", "hand-off", "ping-pong"]);
        if !speaks || !has(&line, &["lock", "mutex"]) || has(&line, &["uncontended", "spin"]) {
            return None;
        }
        let parts: Vec<&str> = sentence.text.split_whitespace().collect();
        let cost = (0..parts.len()).find_map(|at| {
            let pair = parts[at..parts.len().min(at + 2)].join(" ");
            let number = Number::parse(&pair)?.scaled(None);
            let is_time = number.unit.is_some_and(|unit| unit.dimension == Dimension::Time);
            (is_time && number.value > 0.0).then_some((pair, number))
        });
        let (pair, number) = cost.filter(|(_, number)| number.span.high < WOKEN_NS)?;
        Some(Finding {
            check: "floor",
            cells: vec![Cited::sentence(sentence.line, &sentence.text)],
            arithmetic: format!(
                "{pair} is {} ns; to wake a thread takes more than {WOKEN_NS} ns",
                shown(number.value)
            ),
            explanation: "no message was handed over: an uncontended lock was timed, which a round trip must not be divided by",
        })
    };
    prose.sentences.iter().enumerate().filter_map(of).collect()
}
