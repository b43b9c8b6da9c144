//! The fields of a check.

use hopcost_model::results::{JudgedUnit, Region, Statistic};
use serde::Deserialize;

use crate::error::unknown;

/// What `about` allows: the number may be so many times as large, or as small.
const ABOUT: f64 = 1.2;

/// A number and the bounds that are claimed of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Check {
    /// What it states, if not what the sentence does.
    pub says: Option<String>,
    /// The name of the case, or nothing for a printed figure.
    pub of: String,
    pub quantity: Quantity,
    pub number: Number,
    /// Open at both ends if nothing is claimed.
    pub region: Region,
}

/// Which number of a case it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// The quantity itself.
    Value,
    /// Divided by that of another case, by round.
    Over(String),
    /// Less that of another case, by round.
    Minus(String),
    /// A quotient of printed figures.
    Printed(f64),
    /// None: every trial fails, for a reason that contains this.
    Fails(String),
}

/// What of a case is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// p50, or the cost in batches.
    Headline,
    /// A statistic of its times.
    Statistic(Statistic),
    /// The headline in ticks of the clock that stamps.
    Ticks,
    /// CPU time of both ends per message.
    Cpu,
    /// Context switches of both ends per operation.
    Switches,
    /// A counted event of both ends per operation.
    Event(String),
    /// What all flows move together.
    Throughput,
    /// The share of the zero-copy sends that the kernel copied.
    CopiedShare,
    /// The share of the exchanges that were lost.
    LostShare,
    /// By what share a run differs from the one before.
    BetweenRuns,
    /// A value of a finding, by its code and the value's name; without a name, 1 if there is one.
    /// The code `INVALID` is that of every finding which makes a case invalid.
    Finding(String, Option<String>),
}

/// The words of quantities that are neither statistics nor events.
const WORDS: [(&str, Quantity); 8] = [
    ("headline", Quantity::Headline),
    ("ticks", Quantity::Ticks),
    ("cpu", Quantity::Cpu),
    ("context-switches", Quantity::Switches),
    ("throughput", Quantity::Throughput),
    ("copied-share", Quantity::CopiedShare),
    ("lost-share", Quantity::LostShare),
    ("between-runs", Quantity::BetweenRuns),
];
/// Events that a run may count.
const EVENTS: [&str; 7] = [
    "system-calls",
    "cycles",
    "instructions",
    "l1d-misses",
    "llc-misses",
    "migrations",
    "page-faults",
];

impl Quantity {
    fn parse(word: &str) -> Result<Self, String> {
        if let Some((_, found)) = WORDS.iter().find(|(known, _)| *known == word) {
            return Ok(found.clone());
        }
        if let Some(statistic) = Statistic::of_label(word) {
            return Ok(Quantity::Statistic(statistic));
        }
        if EVENTS.contains(&word) {
            return Ok(Quantity::Event(word.to_owned()));
        }
        if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            let (code, name) = word.split_once('.').map_or((word, None), |(a, b)| (a, Some(b)));
            return Ok(Quantity::Finding(code.to_owned(), name.map(str::to_owned)));
        }
        let labels = Statistic::ALL.iter().map(|statistic| statistic.label());
        let known: Vec<&str> =
            WORDS.iter().map(|(word, _)| *word).chain(EVENTS).chain(labels).collect();
        Err(unknown("statistic", word, &known))
    }

    /// Whether a host's state changes it as it changes times.
    pub fn is_time(&self) -> bool {
        matches!(self, Quantity::Headline | Quantity::Statistic(_) | Quantity::Ticks)
    }

    fn unit(&self) -> JudgedUnit {
        match self {
            Quantity::Headline | Quantity::Statistic(_) | Quantity::Cpu => JudgedUnit::Ns,
            Quantity::Throughput => JudgedUnit::Gbps,
            Quantity::CopiedShare | Quantity::LostShare | Quantity::BetweenRuns => {
                JudgedUnit::Share
            }
            Quantity::Ticks | Quantity::Switches | Quantity::Event(_) | Quantity::Finding(..) => {
                JudgedUnit::Number
            }
        }
    }
}

impl Check {
    /// The unit of its number.
    pub fn unit(&self) -> JudgedUnit {
        match &self.number {
            Number::Value | Number::Minus(_) | Number::Fails(_) => self.quantity.unit(),
            Number::Over(_) => JudgedUnit::Times,
            Number::Printed(_) => JudgedUnit::Number,
        }
    }

    /// The other case, if there is one.
    pub fn over(&self) -> Option<&str> {
        match &self.number {
            Number::Over(name) | Number::Minus(name) => Some(name),
            Number::Value | Number::Printed(_) | Number::Fails(_) => None,
        }
    }

    /// The names of its cases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        Some(self.of.as_str()).filter(|of| !of.is_empty()).into_iter().chain(self.over())
    }

    /// Whether it reports a number and claims nothing of it.
    pub fn claims_nothing(&self) -> bool {
        self.region == Region { low: None, high: None } && !matches!(self.number, Number::Fails(_))
    }
}

/// A check as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    says: Option<String>,
    of: Operand,
    over: Option<Operand>,
    minus: Option<String>,
    statistic: Option<String>,
    from: Option<Bound>,
    to: Option<Bound>,
    about: Option<Bound>,
    fails: Option<String>,
}

/// A name of a case, or a printed figure.
#[derive(Deserialize)]
#[serde(untagged)]
enum Operand {
    Figure(f64),
    Name(String),
}

/// A number, or a text with its unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bound {
    Number(f64),
    Text(String),
}

impl Bound {
    fn value(&self, unit: JudgedUnit) -> Result<f64, String> {
        let text = match self {
            Bound::Number(number) if number.is_finite() => return Ok(*number),
            Bound::Number(number) => return Err(format!("{number} is no bound")),
            Bound::Text(text) => text,
        };
        let units: &[(&str, f64)] = match unit {
            JudgedUnit::Ns => &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
            JudgedUnit::Share => &[("%", 0.01)],
            JudgedUnit::Times | JudgedUnit::Number | JudgedUnit::Gbps => &[],
        };
        let read = |(suffix, factor): &(&str, f64)| {
            let number: f64 = text.strip_suffix(suffix)?.trim_end().parse().ok()?;
            number.is_finite().then_some(number * factor)
        };
        let names: Vec<&str> = units.iter().map(|(suffix, _)| *suffix).collect();
        let refused = || match names.as_slice() {
            [] => format!("{text:?} must be a number without quotes"),
            names => format!("{text:?} must be a number with one of {}", names.join(", ")),
        };
        units.iter().find_map(read).ok_or_else(refused)
    }
}

impl TryFrom<Fields> for Check {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let quantity = Quantity::parse(fields.statistic.as_deref().unwrap_or("headline"))?;
        let name = |operand| match operand {
            Operand::Name(name) => Ok(name),
            Operand::Figure(_) => Err("a figure has no case beside it".to_owned()),
        };
        let (of, number) = match (fields.of, fields.over, fields.minus, fields.fails) {
            (Operand::Figure(a), Some(Operand::Figure(b)), None, None) if b != 0.0 => {
                (String::new(), Number::Printed(a / b))
            }
            (of, None, None, None) => (name(of)?, Number::Value),
            (of, Some(over), None, None) => (name(of)?, Number::Over(name(over)?)),
            (of, None, Some(minus), None) => (name(of)?, Number::Minus(minus)),
            (of, None, None, Some(why)) => (name(of)?, Number::Fails(why)),
            _ => return Err("use one of `over`, `minus` and `fails`".to_owned()),
        };
        let mut check =
            Check { says: fields.says, of, quantity, number, region: Region::default() };
        let unit = check.unit();
        let value = |bound: Option<Bound>| bound.map(|bound| bound.value(unit)).transpose();
        check.region = match (value(fields.about)?, value(fields.from)?, value(fields.to)?) {
            (Some(about), None, None) => {
                let ends = (about / ABOUT, about * ABOUT);
                Region { low: Some(ends.0.min(ends.1)), high: Some(ends.0.max(ends.1)) }
            }
            (None, low, high) => Region { low, high },
            _ => return Err("`about` stands alone; `from` and `to` may stand together".to_owned()),
        };
        match check.region {
            Region { low: Some(low), high: Some(high) } if low > high => {
                Err("`from` is greater than `to`".to_owned())
            }
            _ => Ok(check),
        }
    }
}
