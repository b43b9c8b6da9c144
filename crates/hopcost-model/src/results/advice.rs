//! Which mechanism to use for what was asked.

use super::ratio::Ratio;
use super::statistic::Estimate;
use crate::advise::AdviceRequest;
use crate::document;
use crate::finding::Code;

document! {
    /// What to use, what else there is, and why the rest is no answer.
    pub struct Advice {
        /// Always `hopcost/1`.
        pub schema: String,
        /// What was asked.
        pub request: AdviceRequest,
        /// The run that it rests on.
        pub run: String,
        /// What became of the question.
        pub answer: Answer,
        /// The same in a sentence.
        pub says: String,
        /// What the ranking rests on.
        pub basis: Basis,
        /// What else is to be known of it.
        pub remarks: Vec<String>,
        /// What was measured and meets the request, or does so nearly where nothing meets it:
        /// what is recommended first, then by the objective.
        pub ranked: Vec<RankedCandidate>,
        /// What does not meet it.
        pub ruled_out: Vec<Excluded>,
        /// Of what it is not known.
        pub undecided: Vec<Excluded>,
        /// Commands that measure it again.
        pub commands: Vec<String>,
    }
}

document! {
    /// What became of the question.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Answer {
        /// The first of those ranked is recommended.
        Recommended,
        /// Nothing meets the request; the first of those ranked is nearest.
        NothingMeets,
        /// It is not known whether anything does, because intervals are too wide or trials failed.
        Open,
        /// It is not known, because the numbers are invalid.
        Invalid,
    }
}

document! {
    /// What a ranking rests on.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Basis {
        /// Round trips, of which one begins when the one before has ended.
        ClosedLoop,
        /// Messages at the rate that was asked for, timed from when each was to be sent.
        OpenLoop,
        /// Messages offered faster than any mechanism carries them.
        Saturation,
    }
}

document! {
    /// A mechanism with its wait, and what it takes.
    pub struct RankedCandidate {
        /// The case by which it is ranked.
        pub case: String,
        /// Mechanism, wait and parameters, as far as they tell it from others.
        pub name: String,
        /// The objective: nanoseconds, CPUs or messages a second.
        pub objective: Estimate,
        /// The 99th percentile, where it is known.
        pub p99: Option<Estimate>,
        /// CPU time of both ends over messages, of round trips.
        pub cpu_ns_per_message: Option<f64>,
        /// CPUs at the rate; `null` without a rate.
        pub cpus: Option<f64>,
        /// How it stands to what is recommended.
        pub standing: Standing,
        /// The objective over that of the first, paired by round; where too few rounds have
        /// both, from the two intervals.
        pub ratio: Option<Ratio>,
        /// How much worse its objective is than that of the first, in the objective's unit;
        /// below 0 where it is better.
        pub regret: Option<Regret>,
        /// The same in words; what it takes, of the first.
        pub says: String,
        /// What it needs that not every mechanism needs.
        pub needs: Vec<String>,
        /// Findings that make its numbers suspect.
        pub doubts: Vec<Code>,
    }
}

document! {
    /// A difference with its interval.
    #[derive(Copy)]
    pub struct Regret {
        /// The difference.
        pub point: f64,
        /// Lower end; `null` where there is no interval.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
    }
}

document! {
    /// How a candidate stands to what is recommended.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Standing {
        /// It is what is recommended, or what is nearest.
        First,
        /// As good, as far as it matters: the first takes less CPU time or needs less.
        AsGood,
        /// Worse.
        Worse,
    }
}

document! {
    /// What is no answer.
    pub struct Excluded {
        /// Mechanism, or mechanism with its wait where others of its waits are ranked.
        pub name: String,
        /// The cases.
        pub cases: Vec<String>,
        /// Why, in a few words that others have in common with it.
        pub kind: String,
        /// Why, with the evidence.
        pub reason: String,
    }
}
