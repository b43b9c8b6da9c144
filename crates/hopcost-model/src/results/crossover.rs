//! Where one way of doing something overtakes another along an axis.

use super::ratio::Ratio;
use crate::document;

document! {
    /// Two ways compared along an axis, more closely where one overtakes the other.
    pub struct Crossover {
        /// Key of the axis.
        pub axis: String,
        /// The way that may be overtaken, without its value on the axis.
        pub first: String,
        /// The way that may overtake it.
        pub second: String,
        /// Ratios off 1 by no more than this share are those of equals.
        pub margin: f64,
        /// Where another one is faster than before, along the axis.
        pub crossings: Vec<Crossed>,
        /// Between which values it is not told who is faster.
        pub undecided: Vec<Span>,
        /// About how much more time would tell; `null` where nothing is open, or nobody knows.
        pub seconds_to_decide: Option<f64>,
        /// The least ratio of the second to the first at any point; `null` where none was measured.
        pub ratio_least: Option<f64>,
        /// The greatest.
        pub ratio_most: Option<f64>,
        /// What is to be known beside the answer: that sends without a copy were copied.
        pub caveats: Vec<String>,
        /// The points that were measured or should have been, ascending.
        pub points: Vec<CrossoverPoint>,
    }
}

document! {
    /// A change of who is faster.
    #[derive(Copy)]
    pub struct Crossed {
        /// The last value at which the other is faster.
        pub after: u64,
        /// The first value at which this one is.
        pub until: u64,
        /// Who is faster from there on.
        pub faster: Faster,
    }
}

document! {
    /// A part of the axis.
    #[derive(Copy)]
    pub struct Span {
        /// Its first value.
        pub from: u64,
        /// Its last.
        pub to: u64,
    }
}

document! {
    /// Both ways at one value of the axis.
    pub struct CrossoverPoint {
        /// The value: bytes, flows, nanoseconds or messages a second.
        pub at: u64,
        /// The case of the second way.
        pub case: String,
        /// What the first took: median over trials.
        pub first_ns: Option<f64>,
        /// What the second took.
        pub second_ns: Option<f64>,
        /// The second as a multiple of the first (the baseline), paired by round, with its part of a band that
        /// holds all points together with 95 %; of a suite's claim, by itself. Below 1 the second is faster.
        pub ratio: Option<Ratio>,
        /// Which one is faster, as far as the band tells.
        pub faster: Faster,
        /// Why this point does not count; `null` where it does.
        pub left_out: Option<String>,
    }
}

document! {
    /// Which of two is faster.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Faster {
        /// The first.
        First,
        /// The second.
        Second,
        /// They are not told apart.
        Neither,
        /// They are told to be equal within the margin of a search.
        Equal,
    }
}
