//! The checks of claims, a small language. docs/dockets.md has the grammar.

use hopcost_model::results::{JudgedUnit, Region, Statistic};

use crate::error::unknown;

use super::arithmetic;
use super::cursor::{Cursor, Parsed};

/// Cases that a check may name: of all pairs of them, each is compared.
const TERMS_MAX: usize = 32;

/// What is checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// A number lies in a region; in an open one it is told, and nothing is claimed of it.
    Number(Number, Region),
    /// Each takes less than the next.
    Order(Vec<Term>),
    /// None differs from another by more than this share.
    Equivalent(Vec<Term>, f64),
    /// The case can be measured.
    Exists(Term),
    /// Printed figures agree within the rounding of their digits: the two sides.
    Consistent(Region, Region),
}

/// A number that follows from what is measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// The first over the second, by round.
    Ratio(Term, Term),
    /// The first less the second, by round.
    Difference(Term, Term),
    Value(Term),
    /// What a unit of an axis adds.
    Slope(Term, String),
    /// The share of the variance between cases that their mechanisms explain, over all axes that
    /// the selectors sweep.
    Share(Vec<Term>),
    /// The least value of an axis from which on the first takes less than the second.
    Crossover(Term, Term, String),
}

/// A quantity of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The name under which the docket has the case.
    pub name: String,
    pub quantity: Quantity,
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
    /// CPU time of both ends for a message.
    Cpu,
    /// Context switches of both ends for an operation.
    Switches,
    /// An event that is counted, of both ends for an operation.
    Event(String),
    /// What all flows move together.
    Throughput,
    /// The share of the sends that were to be without a copy and were copied after all.
    CopiedShare,
    /// The share of the messages that wait for a timer of TCP.
    StalledShare,
    /// The share of the exchanges that were lost.
    LostShare,
    /// By what share a run differs from the one before.
    BetweenRuns,
}

/// The words of quantities that are neither statistics nor events.
const WORDS: [(&str, Quantity); 9] = [
    ("headline", Quantity::Headline),
    ("ticks", Quantity::Ticks),
    ("cpu", Quantity::Cpu),
    ("context-switches", Quantity::Switches),
    ("throughput", Quantity::Throughput),
    ("copied-share", Quantity::CopiedShare),
    ("stalled-share", Quantity::StalledShare),
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
        let labels = Statistic::ALL.iter().map(|statistic| statistic.label());
        let known: Vec<&str> =
            WORDS.iter().map(|(word, _)| *word).chain(EVENTS).chain(labels).collect();
        Err(unknown("quantity", word, &known))
    }

    /// What it is given in.
    pub fn unit(&self) -> JudgedUnit {
        match self {
            Quantity::Headline | Quantity::Statistic(_) | Quantity::Cpu => JudgedUnit::Ns,
            Quantity::Ticks | Quantity::Switches | Quantity::Event(_) => JudgedUnit::Number,
            Quantity::Throughput => JudgedUnit::Gbps,
            Quantity::CopiedShare
            | Quantity::StalledShare
            | Quantity::LostShare
            | Quantity::BetweenRuns => JudgedUnit::Share,
        }
    }
}

impl Number {
    /// What it is given in.
    pub fn unit(&self) -> JudgedUnit {
        match self {
            Number::Ratio(..) => JudgedUnit::Times,
            Number::Difference(a, _) | Number::Value(a) | Number::Slope(a, _) => a.quantity.unit(),
            Number::Share(_) => JudgedUnit::Share,
            Number::Crossover(_, _, axis) => match axis.as_str() {
                "payload" | "field" => JudgedUnit::Bytes,
                "gap" => JudgedUnit::Ns,
                _ => JudgedUnit::Number,
            },
        }
    }
}

impl Test {
    /// The quantities that it is about.
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Test::Number(number, _) => match number {
                Number::Ratio(a, b) | Number::Difference(a, b) | Number::Crossover(a, b, _) => {
                    vec![a, b]
                }
                Number::Value(a) | Number::Slope(a, _) => vec![a],
                Number::Share(all) => all.iter().collect(),
            },
            Test::Order(all) | Test::Equivalent(all, _) => all.iter().collect(),
            Test::Exists(a) => vec![a],
            Test::Consistent(..) => Vec::new(),
        }
    }

    /// Whether a name stands for one case, and not for several along an axis.
    pub fn wants_one(&self) -> bool {
        let sweeps = |number: &Number| {
            matches!(number, Number::Slope(..) | Number::Share(_) | Number::Crossover(..))
        };
        !matches!(self, Test::Number(number, _) if sweeps(number))
    }

    /// Whether it tells a number of which it claims nothing.
    pub fn is_told(&self) -> bool {
        matches!(self, Test::Number(_, Region { low: None, high: None }))
    }

    /// Parses a check.
    ///
    /// # Errors
    /// At which byte, and what is wrong.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut at = Cursor { text, at: 0 };
        let start = at.at;
        let word = at.word("a check, such as ratio(a, b) < 2")?;
        at.expect('(')?;
        let test = match word {
            "less" | "order" => {
                let terms = at.terms()?;
                match (word, terms.len()) {
                    ("less", 2) | ("order", 2..) => Test::Order(terms),
                    _ => return Err((start, "want two names: less(a, b)".to_owned())),
                }
            }
            "equivalent" => {
                let terms = at.terms()?;
                if terms.len() < 2 {
                    return Err((start, "want two names or more: equivalent(a, b; 20%)".into()));
                }
                at.expect(';')?;
                let share = at.share()?;
                Test::Equivalent(terms, share)
            }
            "exists" => Test::Exists(at.term()?),
            "consistent" => {
                let left = arithmetic::side(&mut at)?;
                let right = if at.takes("in") {
                    at.range(JudgedUnit::Number)?
                } else {
                    at.expect('=')?;
                    arithmetic::side(&mut at)?
                };
                Test::Consistent(left, right)
            }
            _ => {
                let number = at.of_number(word, start)?;
                at.expect(')')?;
                let region = at.region(number.unit())?;
                at.end()?;
                return Ok(Test::Number(number, region));
            }
        };
        at.expect(')')?;
        at.end()?;
        Ok(test)
    }
}

impl Cursor<'_> {
    fn term(&mut self) -> Parsed<Term> {
        let name = self.word("the name of a case")?.to_owned();
        let quantity = match self.text.get(self.at..).unwrap_or("").starts_with('.') {
            false => Quantity::Headline,
            true => {
                self.at += 1;
                let start = self.at;
                let is = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
                let word = self.while_of(is, "a quantity, such as p99")?;
                Quantity::parse(word).map_err(|message| (start, message))?
            }
        };
        Ok(Term { name, quantity })
    }

    fn terms(&mut self) -> Parsed<Vec<Term>> {
        let mut terms = vec![self.term()?];
        while self.takes(",") {
            let at = self.next_at();
            let term = self.term()?;
            if terms.contains(&term) {
                return Err((at, format!("{} is there already", term.name)));
            }
            if terms.len() == TERMS_MAX {
                return Err((at, format!("more than {TERMS_MAX} cases")));
            }
            terms.push(term);
        }
        Ok(terms)
    }

    fn share(&mut self) -> Parsed<f64> {
        let at = self.next_at();
        let share = self.number(JudgedUnit::Share)?;
        match share >= 0.0 {
            true => Ok(share),
            false => Err((at, "a tolerance is not below 0 %".to_owned())),
        }
    }

    fn axis(&mut self) -> Parsed<String> {
        self.expect(';')?;
        let start = self.next_at();
        let axis = self.word("an axis")?;
        let known = ["payload", "field", "gap", "flows", "rate"];
        match known.contains(&axis) {
            true => Ok(axis.to_owned()),
            false => Err((start, unknown("axis", axis, &known))),
        }
    }

    fn of_number(&mut self, word: &str, start: usize) -> Parsed<Number> {
        let pair = |at: &mut Self, between: &str| {
            let first = at.term()?;
            if !at.takes(between) {
                return Err((at.at, format!("want `{between}` here")));
            }
            let second_at = at.next_at();
            let second = at.term()?;
            if first == second {
                return Err((second_at, format!("{} is there already", second.name)));
            }
            match first.quantity.unit() == second.quantity.unit() {
                true => Ok((first, second)),
                false => Err((second_at, "it is given in another unit than the first".to_owned())),
            }
        };
        Ok(match word {
            "ratio" => pair(self, ",").map(|(a, b)| Number::Ratio(a, b))?,
            "difference" => pair(self, ",").map(|(a, b)| Number::Difference(a, b))?,
            "value" => Number::Value(self.term()?),
            "slope" => {
                let term = self.term()?;
                Number::Slope(term, self.axis()?)
            }
            "crossover" => {
                let (first, second) = pair(self, "over")?;
                Number::Crossover(first, second, self.axis()?)
            }
            "share" => {
                let at = self.next_at();
                match self.word("a factor")? {
                    "mechanism" => self.expect(';')?,
                    other => return Err((at, unknown("factor", other, &["mechanism"]))),
                }
                Number::Share(self.terms()?)
            }
            _ => {
                let known = [
                    "ratio",
                    "difference",
                    "value",
                    "slope",
                    "share",
                    "crossover",
                    "less",
                    "order",
                    "equivalent",
                    "exists",
                    "consistent",
                ];
                return Err((start, unknown("check", word, &known)));
            }
        })
    }

    /// `2..4`
    fn range(&mut self, unit: JudgedUnit) -> Parsed<Region> {
        let at = self.next_at();
        let low = self.number(unit)?;
        if !self.takes("..") {
            return Err((self.at, "want `..` here, as in `in 2..4`".to_owned()));
        }
        let high = self.number(unit)?;
        match low > high {
            true => Err((at, "the range does not rise".to_owned())),
            false => Ok(Region { low: Some(low), high: Some(high) }),
        }
    }

    fn region(&mut self, unit: JudgedUnit) -> Parsed<Region> {
        let one = |low: Option<f64>, high: Option<f64>| Ok(Region { low, high });
        if self.peek().is_none() {
            return one(None, None);
        }
        // A number that is no other is beyond it.
        if self.takes("<=") {
            let most = self.number(unit)?;
            return one(None, Some(most));
        }
        if self.takes(">=") {
            let least = self.number(unit)?;
            return one(Some(least), None);
        }
        if self.takes("<") {
            let beyond = self.number(unit)?;
            return one(None, Some(beyond.next_down()));
        }
        if self.takes(">") {
            let below = self.number(unit)?;
            return one(Some(below.next_up()), None);
        }
        if self.takes("~") {
            let about = self.number(unit)?;
            if !self.takes("±") && !self.takes("+-") {
                return Err((self.at, "want `± 20%` here, or how much it may be off".to_owned()));
            }
            let share = self.share()?;
            let (a, b) = (about * (1.0 - share), about * (1.0 + share));
            return one(Some(a.min(b)), Some(a.max(b)));
        }
        if self.takes("in") {
            return self.range(unit);
        }
        let want = "want ~, <, <=, >, >= or in here, as in `ratio(a, b) ~ 2.7 ± 20%`";
        Err((self.at, want.to_owned()))
    }
}
