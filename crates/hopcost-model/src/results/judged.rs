//! Which claims hold on a machine.

use super::ratio::Ratio;
use super::statistic::Estimate;
use crate::document;

document! {
    /// The claims of one or several dockets, judged by what was measured.
    pub struct Judged {
        /// The dockets.
        pub dockets: Vec<JudgedDocket>,
        /// Their claims, in the order of the dockets.
        pub claims: Vec<JudgedClaim>,
        /// The questions that the dockets ask of their claims.
        #[serde(default)]
        pub questions: Vec<JudgedQuestion>,
    }
}

document! {
    /// Where claims come from.
    pub struct JudgedDocket {
        /// Name.
        pub name: String,
        /// What it is about, in a sentence.
        pub about: String,
        /// What published its claims.
        pub source: String,
    }
}

document! {
    /// What the data says of a claim.
    #[derive(Copy, Eq, Hash, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Ruling {
        /// It is true here.
        Holds,
        /// There is not enough to tell.
        CannotTell,
        /// It is true under one condition and false under another.
        Depends,
        /// It is false here.
        Fails,
    }
}

impl Ruling {
    /// All of them, the worst last.
    pub const ALL: [Ruling; 4] =
        [Ruling::Holds, Ruling::CannotTell, Ruling::Depends, Ruling::Fails];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Ruling::Holds => "holds",
            Ruling::CannotTell => "cannot-tell",
            Ruling::Depends => "depends",
            Ruling::Fails => "fails",
        }
    }
}

document! {
    /// A claim.
    pub struct JudgedClaim {
        /// Id, unique among the claims of its docket.
        pub id: String,
        /// The docket's name.
        pub docket: String,
        /// The sentence as published.
        pub sentence: String,
        /// Where it stands in the source.
        pub at: Option<String>,
        /// The verdict; `null` where nothing of it can be checked.
        pub verdict: Option<Ruling>,
        /// Why, in a sentence.
        pub because: String,
        /// What was checked: each check at each level of the factors that it is made at.
        pub parts: Vec<JudgedPart>,
        /// What of it no measurement can tell.
        pub not_checkable: Vec<NotCheckable>,
    }
}

document! {
    /// A check at one level.
    pub struct JudgedPart {
        /// What it says; the claim's sentence where it is `null`.
        pub says: Option<String>,
        /// The check as written.
        pub test: String,
        /// What an ambiguous sentence is taken to mean here; `null` where it has one meaning.
        pub meaning: Option<String>,
        /// At which level of the factors that are varied (`place=cross`); `null` where none is.
        pub level: Option<String>,
        /// The verdict; `null` where the check tells a number and claims nothing of it.
        pub verdict: Option<Ruling>,
        /// What was measured; `null` where the check is of no number or nothing was measured.
        pub value: Option<JudgedValue>,
        /// What the number would have to be; `null` where the check is of no number.
        pub region: Option<Region>,
        /// Of a crossover, both at each value of the axis; the first of the check is the second here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub points: Vec<CrossoverPoint>,
        /// The cases that it is about.
        pub cases: Vec<String>,
        /// Why, in a sentence.
        pub because: String,
        /// Rounds that would probably decide; `null` where it is decided or where no number would.
        pub rounds_to_decide: Option<u32>,
    }
}

document! {
    /// Both cases of a crossover at one value of the axis.
    pub struct CrossoverPoint {
        /// The value: bytes, flows, nanoseconds or messages a second.
        pub at: u64,
        /// The case of the second way.
        pub case: String,
        /// What the first took: median over trials.
        pub first_ns: Option<f64>,
        /// What the second took.
        pub second_ns: Option<f64>,
        /// The second as a multiple of the first (the baseline), paired by round. Below 1 the second
        /// is faster.
        pub ratio: Option<Ratio>,
        /// Which one is faster, as far as the ratio tells.
        pub faster: Faster,
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
        /// The data does not decide.
        Neither,
    }
}

document! {
    /// A number that a check is about.
    pub struct JudgedValue {
        /// With the interval that the verdict is read from.
        pub estimate: Estimate,
        /// What it is given in.
        pub unit: JudgedUnit,
    }
}

document! {
    /// What a number is given in.
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
        /// Bytes.
        Bytes,
        /// Gigabits (10⁹ bits) a second.
        Gbps,
    }
}

document! {
    /// The numbers from `low` to `high`; `null` is an open end.
    #[derive(Copy)]
    pub struct Region {
        /// Least.
        pub low: Option<f64>,
        /// Greatest.
        pub high: Option<f64>,
    }
}

document! {
    /// A part of a claim that no measurement can tell.
    pub struct NotCheckable {
        /// The part, as published.
        pub part: String,
        /// Why not.
        pub reason: String,
    }
}

document! {
    /// A question whose answer follows from claims.
    pub struct JudgedQuestion {
        /// Id.
        pub id: String,
        /// The docket's name.
        pub docket: String,
        /// The question.
        pub asks: String,
        /// The claims that answer it.
        pub claims: Vec<String>,
        /// Supported (holds), not supported (fails), or what else the claims say together; `null`
        /// where nothing of them can be checked.
        pub verdict: Option<Ruling>,
        /// The answer in a short paragraph with its figures.
        pub answer: String,
    }
}
