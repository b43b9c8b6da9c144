//! The checks: one table, and a function each.

mod arithmetic;
mod machine;
mod sentence;
mod statistics;

use crate::finding::Finding;
use crate::prose::Prose;
use crate::sheet::Sheet;

/// What a check looks at.
pub(crate) enum Looks {
    /// Each table, with the text around it.
    Table(fn(&Sheet, &Prose) -> Vec<Finding>),
    /// The text, with all tables.
    Text(fn(&[Sheet], &Prose) -> Vec<Finding>),
    /// Each table, and then the text.
    Both(fn(&Sheet, &Prose) -> Vec<Finding>, fn(&[Sheet], &Prose) -> Vec<Finding>),
}

/// A check.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What it compares, and when it says something.
    pub about: &'static str,
    pub(crate) looks: Looks,
}

/// Every check, in the order in which they are told.
pub const CHECKS: &[Check] = &[
    Check {
        name: "total",
        about: "A total is the mean times the number of operations. Said where the total is less than that, or where it is more and other rows agree; the number is that of a column, of a heading, or named in the text. A total that is nowhere near is told of where nothing says that there were pauses or several operations at once. A throughput is the number over the total, twice that (there and back), or that times the flows. A last row that is called sum or total, and such a column beside two or more costs that say of what they are, is their sum; not said of totals that are no more than the largest part or more than three times the sum.",
        looks: Looks::Table(arithmetic::total),
    },
    Check {
        name: "ratio",
        about: "A multiple is the quotient of some column of its row and of the row of the baseline (the one with 1), or of two columns of its row: of the same columns and the same way round in all rows, but for a range and for what is said to be faster here and slower there. Said of rows that do not fit the columns that most rows fit; where no row of three or more fits, it is a multiple of something else.",
        looks: Looks::Table(arithmetic::ratio),
    },
    Check {
        name: "little",
        about: "Throughput times latency is what is under way (Little's law). Said where that does not grow with the number of threads or flows: the throughput is then that of one of them, and not of all. Said also where it is more than a column of flows, concurrency, queue depth or operations in flight says.",
        looks: Looks::Table(arithmetic::little),
    },
    Check {
        name: "order",
        about: "Minimum, percentiles and maximum come in this order. Against a minimum or maximum, 2 % are left for the classes of histograms. sockperf receives no more messages than it sent.",
        looks: Looks::Table(statistics::order),
    },
    Check {
        name: "interval",
        about: "An estimate lies between the ends of its interval (`low` and `high` in a table with a number a line; Criterion's brackets).",
        looks: Looks::Table(statistics::interval),
    },
    Check {
        name: "mean",
        about: "A mean lies between minimum and maximum, and within what the percentiles leave open (5 % are left for the classes of histograms). The summary of sockperf is its mean, and the `lat` of fio at least `slat` and `clat`.",
        looks: Looks::Table(statistics::mean),
    },
    Check {
        name: "stdev",
        about: "A standard deviation is at most (max − min)/2 · √(n/(n−1)), and at least the distance of mean and median. What stands behind ± is taken for one only where the text says so.",
        looks: Looks::Table(statistics::stdev),
    },
    Check {
        name: "samples",
        about: "A percentile rests on at least ten samples beyond it. Not said of what sockperf and fio print, which tell the same percentiles of every run.",
        looks: Looks::Table(statistics::samples),
    },
    Check {
        name: "digits",
        about: "A mean is printed with at most one digit more than its standard error supports, which is known to two. Not said of CSV, which programs write.",
        looks: Looks::Table(statistics::digits),
    },
    Check {
        name: "timer",
        about: "Three or more costs just above one to three times 40 ms (delayed acknowledgement), 200 ms (retransmission) or 1, 4 or 10 ms (scheduler tick, sleep), whatever the size or number of threads, where other rows are ten times faster.",
        looks: Looks::Table(machine::timer),
    },
    Check {
        name: "floor",
        about: "What no machine does: a round trip by a mechanism that blocks below 1 µs, a message by way of the kernel below 100 ns, a round trip between two CPUs below 20 ns, more than eight instructions a cycle. In a sentence: the latency of threads with a lock below 1 µs.",
        looks: Looks::Both(machine::floor, sentence::floor),
    },
    Check {
        name: "zero",
        about: "A counter of cycles, instructions or (where other rows have thousands) cache misses that is 0, a 0 in a column that has `<not counted>` elsewhere, and a throughput of 0 beside a latency: not counted, or rounded away.",
        looks: Looks::Table(machine::zero),
    },
    Check {
        name: "constant",
        about: "A measured column of three digits or more that is the same in all rows, four or more, while another measured column varies by half or more. Context switches may be as many as operations, and are left out.",
        looks: Looks::Table(machine::constant),
    },
    Check {
        name: "switches",
        about: "More than 20 context switches an operation.",
        looks: Looks::Table(machine::switches),
    },
    Check {
        name: "sentence",
        about: "A sentence with a factor or per cents between two rows (`2.7 times slower`, `30 % faster`) fits some column, and one that says that there is no difference fits some setting: there the rows differ by less than a quarter, or by less than their standard deviation. `a / b ≈ c` in the text is right.",
        looks: Looks::Text(sentence::sentences),
    },
];

/// What is not checked, because there is too much of it.
pub(crate) fn notes(sheets: &[Sheet], prose: &Prose) -> Vec<String> {
    [sentence::note(sheets, prose), arithmetic::note(sheets)].into_iter().flatten().collect()
}

/// Runs all of them.
pub(crate) fn all(sheets: &[Sheet], prose: &Prose) -> Vec<Finding> {
    let at_tables = |run: &fn(&Sheet, &Prose) -> Vec<Finding>| -> Vec<Finding> {
        sheets.iter().flat_map(|sheet| run(sheet, prose)).collect()
    };
    let of = |check: &Check| match &check.looks {
        Looks::Table(run) => at_tables(run),
        Looks::Text(run) => run(sheets, prose),
        Looks::Both(table, text) => [at_tables(table), text(sheets, prose)].concat(),
    };
    let mut found: Vec<Finding> = CHECKS.iter().flat_map(of).map(Finding::harmless).collect();
    found.sort_by_key(Finding::line);
    found
}
