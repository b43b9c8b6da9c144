//! The text around tables, as sentences, and what it says of the number of operations.

use crate::number::Number;
use crate::role::is_in;

/// The text around tables.
#[derive(Debug, Default)]
pub struct Prose {
    /// Its sentences, in order.
    pub sentences: Vec<Sentence>,
    /// Numbers of operations that it names; not those of a warm-up.
    pub counts: Vec<f64>,
}

/// A sentence and the line in which it begins.
#[derive(Debug)]
pub struct Sentence {
    /// Line of the file, from 1.
    pub line: usize,
    /// Its words.
    pub text: String,
}

/// What is counted where a number of operations is named.
const NOUNS: &str = "iterations iteration operations ops samples messages trips trip exchanges observations requests";
/// How many words may stand between a number and what it counts (`10,000 ping/pong cycles`).
const APART_MAX: usize = 1;

/// Numbers of operations that are compared with each row.
const COUNTS_MAX: usize = 100;

impl Prose {
    /// Of lines with their number.
    pub fn of(lines: &[(usize, String)]) -> Self {
        let of_line = |(line, text): &(usize, String)| {
            let ends = [". ", "! ", "? "].iter().fold(text.clone(), |text, end| {
                text.replace(end, &format!("{}\n", end.trim_end()))
            });
            let one = |text: &str| Sentence { line: *line, text: text.to_owned() };
            ends.lines().map(one).collect::<Vec<_>>()
        };
        let sentences: Vec<Sentence> = lines.iter().flat_map(of_line).collect();
        let warm = |sentence: &&Sentence| !sentence.text.to_lowercase().contains("warm");
        let counts = sentences.iter().filter(warm).flat_map(|s| counts(&s.text));
        let counts = counts.take(COUNTS_MAX).collect();
        Self { sentences, counts }
    }
}

/// Numbers of operations in a sentence: `10,000 round trips`, `Iterations: 10,000`.
fn counts(text: &str) -> Vec<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    // `--operations` is what was typed.
    let is_noun = |word: &&str| {
        let mut parts = word.split(|c: char| !c.is_alphanumeric());
        !word.starts_with('-') && parts.any(|word| is_in(NOUNS, word))
    };
    let whole = |word: &str| {
        let number = Number::parse(word.trim_start_matches('(').trim_end_matches([')', ',']))?;
        let is_count = number.unit.is_none() && number.value >= 2.0 && number.value.fract() == 0.0;
        is_count.then_some(number.value)
    };
    let of = |at: usize| {
        let number = whole(words[at])?;
        let behind = words[at + 1..].iter().take(1 + APART_MAX).any(is_noun);
        let before = at > 0 && words[at - 1].ends_with(':') && is_noun(&words[at - 1]);
        (behind || before).then_some(number)
    };
    (0..words.len()).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_and_warm_ups_left_out() {
        let lines = [
            "- Iterations: 10,000 ping/pong cycles per benchmark",
            "- Warm-up: 1,000 iterations before measurement",
            "Averaged over 1K samples after warm-up on 100 notifications.",
            "Table 1: Overhead (20,000 Iterations). It took 5 s for 3 mechanisms.",
            "latency of 30,000 round trips",
            "--rounds 6 --operations 300",
        ];
        let lines: Vec<_> = lines.iter().map(|text| (1, (*text).to_owned())).collect();
        assert_eq!(Prose::of(&lines).counts, [10_000.0, 20_000.0, 30_000.0]);
    }
}
