//! The text of a check, read from left to right.

use hopcost_model::results::JudgedUnit;

use crate::error::quote;

/// A text and how far it is read.
pub struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

pub type Parsed<T> = Result<T, (usize, String)>;

impl<'a> Cursor<'a> {
    pub fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        self.at += rest.len() - rest.trim_start().len();
        rest.trim_start()
    }

    /// Where the next word begins.
    pub fn next_at(&mut self) -> usize {
        self.rest();
        self.at
    }

    pub fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes these letters if they come next.
    pub fn takes(&mut self, what: &str) -> bool {
        let next = self.rest().starts_with(what);
        self.at += if next { what.len() } else { 0 };
        next
    }

    pub fn expect(&mut self, what: char) -> Parsed<()> {
        match self.peek() {
            Some(c) if c == what => {
                self.at += c.len_utf8();
                Ok(())
            }
            Some(c) => Err((self.at, format!("want `{what}` here, not {}", quote(&c.to_string())))),
            None => Err((self.at, format!("it ends here; want `{what}`"))),
        }
    }

    pub fn end(&mut self) -> Parsed<()> {
        match self.rest() {
            "" => Ok(()),
            rest => Err((self.at, format!("nothing more is wanted here, not {}", quote(rest)))),
        }
    }

    /// As long as the letters are of this kind; not none.
    pub fn while_of(&mut self, is: impl Fn(char) -> bool, want: &str) -> Parsed<&'a str> {
        let rest = self.rest();
        let length = rest.find(|c| !is(c)).unwrap_or(rest.len());
        match length {
            0 => Err((self.at, format!("want {want} here"))),
            _ => {
                self.at += length;
                Ok(&rest[..length])
            }
        }
    }

    pub fn word(&mut self, want: &str) -> Parsed<&'a str> {
        self.while_of(|c| c.is_ascii_alphanumeric() || "-_".contains(c), want)
    }

    /// A number of this unit.
    pub fn number(&mut self, unit: JudgedUnit) -> Parsed<f64> {
        self.rest();
        let start = self.at;
        let sign = if self.takes("-") { -1.0 } else { 1.0 };
        let digits = self.digits()?;
        let value: f64 =
            digits.parse().map_err(|_| (start, format!("{} is no number", quote(digits))))?;
        let is_unit = |c: char| c.is_alphabetic() || "%/µμ".contains(c);
        let rest = self.text.get(self.at..).unwrap_or("");
        let said = &rest[..rest.find(|c| !is_unit(c)).unwrap_or(rest.len())];
        self.at += said.len();
        let known = units(unit);
        match known.iter().find(|(name, _)| *name == said) {
            Some((_, factor)) => Ok(sign * value * factor),
            None => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let names = names.iter().filter(|name| !name.is_empty());
                let names: Vec<&str> = names.copied().collect();
                let message = match said {
                    "" => format!("{digits} has no unit; want one of {}", names.join(", ")),
                    said if names.is_empty() => format!("{} is no unit of it", quote(said)),
                    said => format!("{} is no unit of it; want {}", quote(said), names.join(", ")),
                };
                Err((start, message))
            }
        }
    }

    /// Digits with at most one point between them; `..` ends them.
    pub fn digits(&mut self) -> Parsed<&'a str> {
        let rest = self.rest();
        let whole = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let fraction = rest[whole..]
            .strip_prefix('.')
            .map_or(0, |after| after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
        let length = if fraction > 0 { whole + 1 + fraction } else { whole };
        if whole == 0 || length > 30 {
            return Err((self.at, "want a number of up to 30 digits here".to_owned()));
        }
        self.at += length;
        Ok(&rest[..length])
    }
}

fn units(unit: JudgedUnit) -> &'static [(&'static str, f64)] {
    match unit {
        JudgedUnit::Times | JudgedUnit::Number | JudgedUnit::Share => {
            &[("", 1.0), ("%", 0.01), ("k", 1e3), ("M", 1e6)]
        }
        JudgedUnit::Ns => {
            &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)]
        }
        JudgedUnit::Bytes => &[
            ("", 1.0),
            ("B", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
        ],
        JudgedUnit::Gbps => &[
            ("Gbit/s", 1.0),
            ("Mbit/s", 1e-3),
            ("GB/s", 8.0),
            ("MB/s", 8e-3),
            ("GiB/s", 8.589_934_592),
            ("MiB/s", 8.388_608e-3),
        ],
    }
}
