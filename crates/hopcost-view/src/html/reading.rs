//! What the words and numbers of the report mean.

use hopcost_model::results::Results;

use super::parts;
use crate::markup::{Esc, put};

const TERMS: &[(&str, &str)] = &[
    (
        "Trial, round",
        "A trial measures one case once, in fresh processes. A round measures every case once, in \
         random order. Trials are what the intervals count, not samples: samples of one process \
         resemble each other.",
    ),
    (
        "p50, p99",
        "The median over trials of each trial's own percentile, unless marked “pooled”: then one \
         trial alone is too short for the percentile, and the samples of all are taken together. \
         A percentile with fewer than ten samples above it is not shown.",
    ),
    (
        "Interval",
        "Two trials' values by rank, chosen so that the range between them covers the true \
         median over trials with at least 95 % probability, whatever the distribution; the exact \
         coverage stands in the details of each case. Below six trials there is none. \
         Pooled values have an interval from resampling whole trials (about 95 %). “wide”: the \
         interval spans more than a factor of 2. An interval covers this run on this host in the \
         state it was in, not the next run.",
    ),
    (
        "Detectable",
        "The smallest difference that a comparison with a result of the same spread could have \
         found. What is smaller was not seen, which does not mean that it is not there.",
    ),
    (
        "Round trip",
        "From sending a request to having read the whole reply, one outstanding. It is never \
         halved: the two ways need not cost the same.",
    ),
    (
        "Cost (batches)",
        "Operations too short to be stamped one by one are timed many at once. That gives the \
         cost of one on average, and no percentiles. “≤” means that it cannot be told from the \
         empty loop.",
    ),
    (
        "CPU per message, per operation",
        "CPU time of both ends together over messages. A round trip is two messages, a call is \
         one. An end that spins buys a low p50 with CPU time: read the two together.",
    ),
    (
        "× baseline",
        "Median over rounds of the ratio of two trials of the same round, so that slow drift of \
         the host cancels. Only where both numbers mean the same.",
    ),
    (
        "Closed loop",
        "The next request starts when the last reply has arrived. A stall is one long sample, \
         however many requests would have met it. Nothing here is, or is corrected into, the \
         latency under arrivals on a schedule (no claim about coordinated omission).",
    ),
    (
        "Host state, sentinel",
        "A fixed piece of work (system calls) timed right before and after each trial. Where it \
         falls into several speeds, the host was in several states; results are shown by state \
         and never divided by it.",
    ),
    (
        "Validity",
        "valid: nothing worse than a note. suspect: a finding says that the number may mislead. \
         invalid: a finding says that it is not what its label says. Nothing is dropped for it.",
    ),
    ("Digits", "No more than the spread between trials supports."),
];

/// What only comparisons of runtimes have.
const OF_RUNTIMES: &[(&str, &str)] = &[
    (
        "Runtime",
        "What an end is written in. One that is not Rust is a program of its own, which speaks \
         the worker protocol; a pair is written caller:callee.",
    ),
    (
        "Hidden thread",
        "A thread that a runtime or a library has besides those that play the ends. CPU time and \
         switches of all threads are read by hopcost from outside, in /proc.",
    ),
    (
        "Cost of a stamp",
        "What reading the clock adds to an exchange. Each runtime stamps with its own call; where \
         that is dear, so is each of its samples, and nothing is subtracted.",
    ),
];

pub(super) fn write(out: &mut String, results: &Results) {
    parts::section(out, "reading", "How to read this", "");
    put!(out, "<dl class=\"terms\">\n");
    let more: &[_] = if results.runtimes.is_some() { OF_RUNTIMES } else { &[] };
    for (term, meaning) in TERMS.iter().chain(more) {
        put!(out, "<dt>{}</dt><dd>{}</dd>\n", Esc(term), Esc(meaning));
    }
    put!(out, "</dl>\n</section>\n");
}
