//! Which claims hold on a machine.

use super::statistic::Estimate;
use crate::document;

document! {
    /// The claims of one or several files, judged by what was measured.
    #[derive(Default)]
    pub struct Judged {
        /// The files.
        pub files: Vec<JudgedFile>,
        /// Their claims, in the order of the files.
        pub claims: Vec<JudgedClaim>,
        /// The questions that the files ask of their claims.
        pub questions: Vec<JudgedQuestion>,
    }
}

document! {
    /// Where claims come from.
    pub struct JudgedFile {
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
            Some(Ruling::Undecided) => ["is undecided", "are undecided"],
            None => ["is not checkable", "are not checkable"],
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
    /// A claim.
    pub struct JudgedClaim {
        /// Id, unique among the claims of its file.
        pub id: String,
        /// The file's name.
        pub file: String,
        /// The sentence as published.
        pub sentence: String,
        /// Where the source has it.
        pub at: Option<String>,
        /// What an ambiguous sentence means here; `null` if it has one meaning.
        pub meaning: Option<String>,
        /// The verdict; `null` if no measurement can decide it.
        pub verdict: Option<Ruling>,
        /// The numbers that decide it, or why there are none.
        pub because: String,
        /// What explains these numbers; `null` if no finding does.
        pub cause: Option<String>,
        /// What was checked: each check at each level of what its cases vary.
        pub parts: Vec<JudgedPart>,
        /// What of it no measurement can decide, and why.
        pub not_checkable: Option<String>,
    }
}

document! {
    /// A check at one level.
    pub struct JudgedPart {
        /// What is checked, in words.
        pub check: String,
        /// At which level of what its cases vary (`place=cross`); `null` if there is one.
        pub level: Option<String>,
        /// The verdict; `null` if the check reports a number and claims nothing of it.
        pub verdict: Option<Ruling>,
        /// What was measured, with the interval that decides; `null` if nothing was.
        pub value: Option<Estimate>,
        /// The unit of the value and the bounds.
        pub unit: JudgedUnit,
        /// What is claimed of the number.
        pub region: Region,
        /// The cases that it is about.
        pub cases: Vec<String>,
        /// The number in a sentence, or why there is none.
        pub because: String,
        /// Rounds that would probably decide; `null` if it is decided or if no number would.
        pub rounds_to_decide: Option<u32>,
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
}

document! {
    /// The numbers from `low` to `high`; `null` is an open end.
    #[derive(Copy, Default)]
    pub struct Region {
        /// Least.
        pub low: Option<f64>,
        /// Greatest.
        pub high: Option<f64>,
    }
}

document! {
    /// A question whose answer follows from claims.
    pub struct JudgedQuestion {
        /// Id.
        pub id: String,
        /// The file's name.
        pub file: String,
        /// The question.
        pub asks: String,
        /// The claims that answer it.
        pub claims: Vec<String>,
        /// What its claims say together; `null` if no measurement can decide them.
        pub verdict: Option<Ruling>,
        /// The answer in up to three sentences: the verdicts, the numbers, what explains them.
        pub answer: String,
    }
}
