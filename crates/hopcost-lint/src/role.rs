//! What a column holds, from the words of its heading.

use crate::number::Number;
use crate::unit::{Dimension, Unit};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Sum over all operations.
    Total,
    /// Mean of one operation.
    Mean,
    /// The least.
    Min,
    /// The most.
    Max,
    /// Standard deviation.
    Stdev,
    /// This quantile; the median is that of 0.5.
    Quantile(f64),
    /// A cost that says no more.
    Latency,
    /// Amount a second.
    Throughput,
    /// Multiple of another row.
    Ratio,
    /// How many operations or samples.
    Count,
    /// Size of a message.
    Payload,
    /// Threads, flows, clients.
    Flows,
    /// Something else that was set and not measured.
    Parameter,
    /// What the kernel or the CPU counted in a whole run.
    Counter(Counter),
    /// Names of rows, and whatever else is not checked.
    Other,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Context switches.
    Switches,
    /// Cache misses.
    Misses,
    /// Cycles of the CPU.
    Cycles,
    /// Instructions.
    Instructions,
}

/// Roles as a user says them, and as they are shown.
const SPELLED: [(&str, Role); 18] = [
    ("total", Role::Total),
    ("mean", Role::Mean),
    ("median", Role::Quantile(0.5)),
    ("min", Role::Min),
    ("max", Role::Max),
    ("stdev", Role::Stdev),
    ("latency", Role::Latency),
    ("throughput", Role::Throughput),
    ("ratio", Role::Ratio),
    ("n", Role::Count),
    ("payload", Role::Payload),
    ("flows", Role::Flows),
    ("parameter", Role::Parameter),
    ("context-switches", Role::Counter(Counter::Switches)),
    ("cache-misses", Role::Counter(Counter::Misses)),
    ("cycles", Role::Counter(Counter::Cycles)),
    ("instructions", Role::Counter(Counter::Instructions)),
    ("other", Role::Other),
];

/// The roles that a user can say, but for percentiles (`p99`).
pub fn roles() -> impl Iterator<Item = &'static str> {
    SPELLED.iter().map(|(word, _)| *word)
}

impl Role {
    /// As it is spelled.
    pub fn word(self) -> String {
        match (SPELLED.iter().find(|(_, role)| *role == self), self) {
            (Some((word, _)), _) => (*word).to_owned(),
            (None, Role::Quantile(q)) => format!("p{}", (q * 1e7).round() / 1e5),
            (None, _) => String::new(),
        }
    }

    /// Whether it is measured of operations, so that rows can be compared by it.
    pub fn is_measured(self) -> bool {
        matches!(self, Role::Total | Role::Throughput) || self.is_typical()
    }

    /// Whether it is what one operation costs as a rule.
    pub fn is_typical(self) -> bool {
        matches!(self, Role::Mean | Role::Latency) || self == Role::Quantile(0.5)
    }
}

impl std::str::FromStr for Role {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = SPELLED.iter().find(|(word, _)| *word == text).map(|(_, role)| *role);
        known.or_else(|| quantile(text, "").map(Role::Quantile)).ok_or_else(|| {
            let words: Vec<&str> = roles().collect();
            format!("`{text}` is no role; it is one of {} or p99", words.join(", "))
        })
    }
}

/// What a heading says.
#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// What the column holds.
    pub role: Role,
    /// In which unit.
    pub unit: Option<Unit>,
    /// Of what: the words left over (`send`, `one way`).
    pub subject: String,
    /// A number of operations in it (`Total Time (10,000 ops)`).
    pub count: Option<f64>,
}

/// Words that say of what something was counted.
const NOUNS: &str = "n count iterations iters samples ops messages msgs operations requests trips observations pings exchanges";
/// Words that say nothing of what a number is of.
const GENERIC: &str = "time times latency latencies lat duration per op ops operation operations \
    message msg call of the in cost elapsed wall observation value measured rtt round trip percentile \
    standard overall each";
/// Words of roles, the first that fits; a role that needs more than words is decided in `role`.
const ROLES: [(&str, Role); 12] = [
    (
        "sleep gap interval think pause budget timeout warmup timestamp id seed port date",
        Role::Parameter,
    ),
    (
        "cpu user system sys ci confidence low high lower upper error err sem change diff difference delta level jitter",
        Role::Other,
    ),
    ("switches ctxsw csw cs", Role::Counter(Counter::Switches)),
    ("misses miss", Role::Counter(Counter::Misses)),
    ("instructions instrs insn", Role::Counter(Counter::Instructions)),
    ("stdev stddev std sd σ sigma mdev deviation dev", Role::Stdev),
    ("median", Role::Quantile(0.5)),
    ("min minimum best fastest lowest", Role::Min),
    ("max maximum worst slowest highest", Role::Max),
    ("ratio relative speedup slowdown factor vs faster slower", Role::Ratio),
    ("total sum elapsed", Role::Total),
    ("mean avg average", Role::Mean),
];

/// Words of statistics of samples; a heading with two is of statistics.
const STATISTICS: &str =
    "stdev stddev std sd σ sigma mdev median min minimum max maximum mean avg average";
/// How a subject begins that is a statistic itself.
pub const OF_STATISTICS: &str = "of ";

/// Words of what goes on at the same time.
const AT_ONCE: &str = "threads flows clients connections streams workers senders flight inflight \
    outstanding concurrency iodepth qd";

/// Words above which a heading is a sentence.
const WORDS_MAX: usize = 6;

/// Reads a heading; the unit is that of the cells, where the heading says none.
pub fn heading(text: &str, of_cells: Option<Unit>) -> Heading {
    let (mut unit, mut count, mut words) = (None, None, Vec::new());
    // `10 µs` is what was set.
    if Number::parse(text)
        .and_then(|number| number.unit)
        .is_some_and(|u| u.dimension != Dimension::Share)
    {
        return Heading { role: Role::Other, unit: None, subject: text.to_owned(), count: None };
    }
    // Behind ± stands how wide it is.
    let text = text.split('±').next().unwrap_or_default();
    for part in text.replace(['[', '('], "\u{0}(").split('\u{0}') {
        let (inside, behind) = match part.strip_prefix('(').and_then(|p| p.split_once([')', ']'])) {
            Some((inside, behind)) => (inside, behind),
            None => ("", part.trim_start_matches('(')),
        };
        // What is counted in brackets is how many operations there were.
        match Number::leading(inside).filter(|(number, _)| number.unit.is_none()) {
            Some((number, noun)) => {
                let is_count = noun.split_whitespace().any(|word| is_in(NOUNS, word));
                count = count.or(is_count.then_some(number.value));
            }
            None => split(inside, &mut unit, &mut words),
        }
        split(behind, &mut unit, &mut words);
    }
    let of = |unit| if words.len() > WORDS_MAX { Role::Other } else { role(&words, unit) };
    // A unit in the cells alone does not make a time a latency.
    let role = match (of(unit), of(of_cells)) {
        (Role::Other, by_cells @ (Role::Total | Role::Throughput)) => by_cells,
        (by_words, _) => by_words,
    };
    let unit = unit.or(of_cells);
    let of_role = |word: &str| ROLES.iter().any(|(of, _)| is_in(of, word));
    let subject = words.iter().enumerate().filter(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at].as_str());
        !of_role(word) && !is_in(GENERIC, word) && quantile(word, before).is_none()
    });
    let mut subject = subject.map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ");
    // The least of means is no sample.
    let statistic = |word: &&String| is_in(STATISTICS, word) || quantile(word, "").is_some();
    if let (Some(_), Some(of)) =
        (words.iter().find(statistic), words.iter().filter(statistic).nth(1))
    {
        subject = format!("{OF_STATISTICS}{of} {subject}");
    }
    Heading { role, unit, subject, count }
}

/// Whether a word is in a list of them.
pub fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one.eq_ignore_ascii_case(word))
}

/// `ops_per_s` as `ops/s`; what is no unit keeps that it is `per` second.
fn slashed(word: &str) -> String {
    let ends = ["_per_second", "_per_sec", "_per_s"];
    let Some(what) = ends.iter().find_map(|end| word.strip_suffix(end)) else {
        return word.to_owned();
    };
    let counted = what.rsplit('_').next().unwrap_or_default();
    match Unit::of(&format!("{counted}/s")) {
        Some(_) => format!("{what}/s"),
        None => format!("{what} per /s"),
    }
}

/// The words of a part of a heading, and its unit.
fn split(text: &str, unit: &mut Option<Unit>, words: &mut Vec<String>) {
    let text = text.split(' ').map(slashed).collect::<Vec<_>>().join(" ");
    for chunk in text.split([' ', '_', ',', '\t', ':']).filter(|chunk| !chunk.is_empty()) {
        match Unit::of(chunk) {
            // `%99` is a percentile, and `x` may be one of two axes.
            Some(found) if unit.is_none() => *unit = Some(found),
            _ => {
                let is_mark = |c: char| !c.is_alphanumeric() && !"%.".contains(c);
                // `NumThreads` is two words.
                let mut before = ' ';
                let apart = chunk.chars().flat_map(|c| {
                    let begins = before.is_ascii_lowercase() && c.is_ascii_uppercase();
                    before = c;
                    [begins.then_some(' '), Some(c)].into_iter().flatten()
                });
                let apart: String = apart.collect();
                let of_chunk = apart.split(is_mark).filter(|word| !word.is_empty());
                words.extend(of_chunk.map(str::to_lowercase));
            }
        }
    }
}

/// The quantile that a word names: `p99`, `%99`, `99th`, `p999`; `99` behind `percentile`.
fn quantile(word: &str, before: &str) -> Option<f64> {
    let bare = word.trim_start_matches(['p', '%']);
    let number = bare.trim_end_matches("ile").trim_end_matches(['%', 't', 'h', 's', 'n', 'd', 'r']);
    if number.len() == word.len() && before != "percentile" {
        return None;
    }
    let (mut whole, mut fraction) = number.split_once('.').unwrap_or((number, ""));
    if word.starts_with("p99") && whole.len() > 2 {
        (whole, fraction) = whole.split_at(2);
    }
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let known = (1..=2).contains(&whole.len()) && digits(whole) && digits(fraction);
    let value: f64 = known.then(|| format!("0.{whole:0>2}{fraction}").parse().ok())??;
    (value > 0.0).then_some(value)
}

fn role(words: &[String], unit: Option<Unit>) -> Role {
    let has = |list: &str| words.iter().any(|word| is_in(list, word));
    let dimension = unit.map(|unit| unit.dimension);
    let found = words.iter().enumerate().find_map(|(at, word)| {
        quantile(word, at.checked_sub(1).map_or("", |at| words[at].as_str()))
    });
    let listed = ROLES.iter().find(|(list, _)| has(list)).map(|(_, role)| *role);
    let per = has("per op operation byte kib mib");
    match (listed, dimension) {
        (Some(Role::Parameter), _) => Role::Parameter,
        (Some(Role::Other), _) => Role::Other,
        (Some(Role::Counter(_)), _) if per => Role::Other,
        (Some(role @ Role::Counter(_)), _) => role,
        (None, _) if found.is_some() => Role::Quantile(found.unwrap_or_default()),
        (_, _) if found.is_some() && listed != Some(Role::Stdev) => {
            Role::Quantile(found.unwrap_or_default())
        }
        // Of per cent, what they are of is not known.
        (Some(Role::Ratio), Some(Dimension::Times) | None) => Role::Ratio,
        (Some(Role::Ratio), _) => Role::Other,
        (Some(Role::Total), None) if has(NOUNS) => Role::Count,
        (Some(Role::Total), Some(Dimension::Time | Dimension::Cycles) | None) => Role::Total,
        (Some(Role::Total), Some(Dimension::Bytes)) => Role::Other,
        (Some(role), _) => role,
        (None, Some(Dimension::Times)) => Role::Ratio,
        (None, Some(Dimension::Cycles)) if !per => Role::Counter(Counter::Cycles),
        (None, Some(Dimension::BitRate | Dimension::Rate)) => Role::Throughput,
        (None, Some(Dimension::Time)) if has("sample") => Role::Total,
        (None, Some(Dimension::Time | Dimension::Cycles)) => Role::Latency,
        (None, Some(Dimension::Bytes)) => Role::Payload,
        (None, Some(Dimension::Share)) => Role::Other,
        (None, None) if has(AT_ONCE) || (has("queue") && has("depth")) => Role::Flows,
        (None, None) if has("payload size bytes") => Role::Payload,
        // How much an operation moves, in Criterion's raw.csv.
        (None, None) if has("throughput") && has("num") => Role::Payload,
        (None, None) if has("throughput bandwidth bitrate goodput") => Role::Throughput,
        (None, None) if has(NOUNS) => Role::Count,
        (None, None) if has("latency rtt time trip") => Role::Latency,
        (None, None) => Role::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        let time = |scale| Some(Unit { dimension: Dimension::Time, scale });
        for (text, role, unit, subject) in [
            ("Total Time (μs)", Role::Total, time(1e3), ""),
            ("Avg Latency (μs)", Role::Mean, time(1e3), ""),
            ("Total Time (10,000 ops)", Role::Total, None, ""),
            ("latency_us", Role::Latency, time(1e3), ""),
            ("sleep us", Role::Parameter, time(1e3), ""),
            ("%99", Role::Quantile(0.99), None, ""),
            ("ow_p99_us", Role::Quantile(0.99), time(1e3), "ow"),
            ("p999", Role::Quantile(0.999), None, ""),
            ("99.9th percentile [ms]", Role::Quantile(0.999), time(1e6), ""),
            ("mean ±stdev", Role::Mean, None, ""),
            ("Mean [ms]", Role::Mean, time(1e6), ""),
            ("rt_mean_us", Role::Mean, time(1e3), "rt"),
            ("Relative Speed", Role::Ratio, None, "speed"),
            ("Overhead factor", Role::Ratio, None, "overhead"),
            ("slower than pipe", Role::Ratio, None, "than pipe"),
            ("context_switches", Role::Counter(Counter::Switches), None, "context"),
            ("misses per op", Role::Other, None, ""),
            ("cache_misses", Role::Counter(Counter::Misses), None, "cache"),
            ("msg_size", Role::Payload, None, "size"),
            ("NumThreads", Role::Flows, None, "num threads"),
            ("threads", Role::Flows, None, "threads"),
            ("in_flight", Role::Flows, None, "flight"),
            ("queue depth", Role::Flows, None, "queue depth"),
            ("total_messages", Role::Count, None, "messages"),
            ("timestamp_ns", Role::Parameter, time(1.0), ""),
            ("iterations", Role::Count, None, "iterations"),
            ("stddev", Role::Stdev, None, ""),
            ("95% CI", Role::Other, None, ""),
            ("10 µs", Role::Other, None, "10 µs"),
            ("95%", Role::Quantile(0.95), None, ""),
            ("Method", Role::Other, None, "method"),
            (
                "Overhead (%)",
                Role::Other,
                Some(Unit { dimension: Dimension::Share, scale: 0.01 }),
                "overhead",
            ),
        ] {
            let found = heading(text, None);
            assert_eq!(
                (found.role, found.unit, found.subject.as_str()),
                (role, unit, subject),
                "{text}"
            );
        }
        assert_eq!(heading("Total Time (10,000 ops)", None).count, Some(10_000.0));
        for text in ["ops_per_s", "msgs_per_s", "req_per_sec", "ops/s"] {
            assert_eq!(heading(text, None).role, Role::Throughput, "{text}");
        }
        assert_eq!(heading("events_per_s", None).role, Role::Throughput);
        assert_eq!(heading("switches_per_s", None).role, Role::Other);
        assert_eq!(heading("us_per_step", None).role, Role::Latency);
        assert_eq!(heading("Avg cycles/operation", None).role, Role::Mean);
        assert_eq!(heading("Total cycles", None).role, Role::Total);
        let gbps = heading("throughput_gbps", None);
        assert_eq!((gbps.role, gbps.unit.map(|unit| unit.scale)), (Role::Throughput, Some(1e9)));
    }

    #[test]
    fn roles_as_they_are_said() {
        for word in ["total", "median", "p99", "p99.9", "cache-misses"] {
            let role: Role = word.parse().expect("a role");
            assert_eq!(role.word(), word);
        }
        assert!("p100".parse::<Role>().is_err() && "fast".parse::<Role>().is_err());
    }
}
