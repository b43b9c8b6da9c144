//! Verdicts on claims, and what claims are of.

use crate::document;

document! {
    /// What the data says of a claim.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Ruling {
        /// It is true here.
        Holds,
        /// The numbers do not decide, or this machine cannot measure them.
        Undecided,
        /// It is true under one condition and false under another.
        Depends,
        /// It is false here.
        Fails,
    }
}

impl Ruling {
    /// Verdicts on claims, the worst first; `None` is that of a claim which is not checkable.
    pub const ALL: [Option<Ruling>; 5] = [
        Some(Ruling::Fails),
        Some(Ruling::Depends),
        Some(Ruling::Undecided),
        Some(Ruling::Holds),
        None,
    ];

    /// What so many claims with a verdict do: `fails`, `fail`.
    pub fn verb(verdict: Option<Ruling>, n: usize) -> &'static str {
        let words = match verdict {
            Some(Ruling::Holds) => ["holds", "hold"],
            Some(Ruling::Fails) => ["fails", "fail"],
            Some(Ruling::Depends) => ["depends", "depend"],
            Some(Ruling::Undecided) => ["undecided"; 2],
            None => ["not checkable"; 2],
        };
        words[usize::from(n != 1)]
    }

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Ruling::Holds => "holds",
            Ruling::Undecided => "undecided",
            Ruling::Depends => "depends",
            Ruling::Fails => "fails",
        }
    }
}

document! {
    /// The unit of a number.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum JudgedUnit {
        /// A multiple of another number.
        Times,
        /// A count.
        Number,
        /// A share, 0 to 1.
        Share,
        /// Nanoseconds.
        Ns,
        /// Gigabits (10⁹ bits) per second.
        Gbps,
    }

    /// The numbers from `low` to `high`; `null` is an open end.
    #[derive(Copy, Default)]
    pub struct Region {
        /// Least.
        pub low: Option<f64>,
        /// Greatest.
        pub high: Option<f64>,
    }
}
