//! What something costs, as the difference of two cases of a run: what each idle knob changes, and what
//! libraries add to the mechanisms beneath them.

use std::collections::BTreeMap;

use hopcost_model::{Boundary, Case, Estimate, IdleKnob, Ratio, Workload, document};

use crate::case::{CaseResult, Reading};
use crate::estimate::widen;
use crate::ratio::{difference, ratio};
use crate::run::Run;

document! {
    /// A case with an idle knob against the same case without.
    pub struct KnobPrice {
        /// The case without.
        pub without: String,
        /// The case with.
        pub with: String,
        /// The knob.
        pub knob: IdleKnob,
        /// p50 without minus p50 with, paired by round: what idling costs.
        pub difference_ns: Estimate,
    }

    /// A library against the mechanism of the kernel beneath it, with the same payload, ends and CPUs.
    pub struct LibraryCost {
        /// The library's case.
        pub case: String,
        /// The case beneath: over TCP where `transport=tcp`, by a condition variable between threads,
        /// otherwise by the carrier that the worker describes, or a Unix socket.
        pub beneath: String,
        /// p50 less that of the case beneath, paired by round.
        pub adds_ns: Estimate,
        /// How many times as long that takes, paired by round.
        pub times: Option<Ratio>,
        /// System calls of an operation beyond those of the case beneath, all processes together.
        pub system_calls: Option<f64>,
        /// CPU time of a message beyond that of the case beneath, all processes together.
        pub cpu_ns_per_message: Option<f64>,
        /// The process that is neither end's, such as a broker, by its name.
        pub other: Option<String>,
        /// Its share of the CPU time, 0 to 1.
        pub other_share: f64,
    }
}

/// Every pair of measured wake-ups that differ in the knob alone, in the order of the
/// plan; none without a round in which both were measured.
pub fn knobs(readings: &[Reading]) -> Vec<KnobPrice> {
    let is_wake = |of: &&Reading| of.case.workload == Workload::Wake && of.is_measured();
    let wakes = || readings.iter().filter(is_wake);
    let by_case: BTreeMap<&Case, &Reading> = wakes().map(|of| (of.case, of)).collect();
    let knobs = wakes().filter(|with| with.case.idle_knob != IdleKnob::None);
    let price = |with: &Reading| {
        let same = Case { idle_knob: IdleKnob::None, ..with.case.clone() };
        price(with.case.idle_knob, by_case.get(&same)?, with)
    };
    knobs.filter_map(price).collect()
}

fn price(knob: IdleKnob, without: &Reading, with: &Reading) -> Option<KnobPrice> {
    let (longer, base) = (without.headline_by_round(), with.headline_by_round());
    let mut difference_ns = difference(&longer, &base)?;
    // Each of the two may be off by what the clocks are not known to agree by.
    let bounds_ns = [without, with].into_iter().filter_map(|of| of.result.clock_bound_ns()).sum();
    widen(&mut difference_ns, bounds_ns, f64::NEG_INFINITY);
    Some(KnobPrice {
        without: without.result.id.clone(),
        with: with.result.id.clone(),
        knob,
        difference_ns,
    })
}

/// Those of every library's case that was measured beside the case beneath, the least first.
pub fn libraries(run: &Run, readings: &[Reading]) -> Vec<LibraryCost> {
    let measured = || readings.iter().filter(|reading| reading.is_measured());
    let of_library = measured().filter(|of| of.case.runtimes.caller.library().is_some());
    let cost = |of: &Reading| {
        let beneath = beneath(run, of.case);
        cost(of, measured().find(|base| is_beneath(base.case, of.case, beneath))?)
    };
    let mut all: Vec<LibraryCost> = of_library.filter_map(cost).collect();
    all.sort_by(|a, b| {
        let point = |of: &LibraryCost| of.adds_ns.point.unwrap_or(f64::INFINITY);
        point(a).total_cmp(&point(b))
    });
    all
}

/// The mechanism of hopcost that a library's messages go over.
fn beneath<'a>(run: &'a Run, case: &Case) -> &'a str {
    let runtime = case.runtimes.caller.word();
    let worker = run.raw.workers.iter().find(|worker| worker.runtime == runtime);
    let described = worker.and_then(|worker| worker.mechanism(case.mechanism_name()));
    match case.parameters.get("transport").map(String::as_str) {
        _ if case.boundary == Boundary::Thread => "condvar",
        Some("tcp") => "tcp",
        Some("ipc") => "unix-stream",
        _ => described.and_then(|of| of.carrier.as_deref()).unwrap_or("unix-stream"),
    }
}

fn is_beneath(base: &Case, case: &Case, mechanism: &str) -> bool {
    let key = |of: &Case| (of.workload, of.payload_bytes, of.boundary, of.placement, of.waits);
    base.runtimes.are_rust() && base.mechanism == mechanism && key(base) == key(case)
}

fn cost(reading: &Reading, base: &Reading) -> Option<LibraryCost> {
    let (values, of_base) = (reading.headline_by_round(), base.headline_by_round());
    let calls = |of: &CaseResult| {
        let counted = of.counters.iter().filter(|of| of.event == "system-calls");
        counted.map(|of| of.per_operation).sum::<Option<f64>>().filter(|calls| *calls > 0.0)
    };
    let (own, beneath) = (&reading.result, &base.result);
    let less = |(a, b): (f64, f64)| a - b;
    let others = || own.threads.iter().filter(|thread| thread.other.is_some());
    Some(LibraryCost {
        case: own.id.clone(),
        beneath: beneath.id.clone(),
        adds_ns: difference(&values, &of_base)?,
        times: ratio(base, &values, &of_base),
        system_calls: calls(own).zip(calls(beneath)).map(less),
        cpu_ns_per_message: own.cpu_ns_per_message.zip(beneath.cpu_ns_per_message).map(less),
        other: others().next().and_then(|thread| thread.other.clone()),
        other_share: others().fold(0.0, |sum, thread| sum + thread.cpu_share),
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::ThreadUse;

    use crate::testing::{Builder, PIPE, WAKE, event, read, thread};

    #[test]
    fn the_difference_is_paired_by_round() {
        let with = format!("{WAKE}&idle-knob=spinner");
        let elsewhere = with.replace("gap=1000000", "gap=1000");
        let raw = Builder::new()
            .case(WAKE, 8, |round, t| t.wake(&[60_000 << round; 100], 1_000_000))
            .case(&with, 8, |round, t| t.wake(&[(60_000 << round) - 5000 - round; 100], 1_000_000))
            .case(&elsewhere, 8, |_, t| t.wake(&[100; 100], 1_000_000))
            .build();
        let knobs = read(&raw).knobs;
        assert_eq!(knobs.len(), 1, "another gap is another case");
        assert_eq!((knobs[0].without.as_str(), knobs[0].with.as_str()), (WAKE, with.as_str()));
        let price = &knobs[0].difference_ns;
        assert_eq!(price.point, Some(5003.5));
        assert_eq!((price.low, price.high), (Some(5000.0), Some(5007.0)));
        assert_eq!(price.n_trials, 8);
    }

    #[test]
    fn a_library_is_held_against_the_socket_beneath_it() {
        let unix = PIPE.replace("pipe", "unix-stream");
        let tcp = PIPE.replace("pipe", "tcp");
        let of = |key: &str| format!("{}{key}&runtime=c+lib", PIPE.replace("pipe", "lib"));
        let raw = Builder::new()
            .case(&unix, 8, |_, t| {
                t.each(&[3000; 50]);
                t.raw.counted = vec![event("system-calls", 40)];
                t.raw.counted_operations = 10;
            })
            .case(&tcp, 8, |_, t| t.each(&[5000; 50]))
            .case(&of(""), 8, |round, t| {
                t.each(&[9000 + round; 50]);
                t.raw.counted = vec![event("system-calls", 120)];
                t.raw.counted_operations = 10;
                let ends = thread("lib", Some(hopcost_model::case::Role::Caller), 600, 10);
                let broker = Some("broker".to_owned());
                t.raw.threads = vec![ends.clone(), ThreadUse { seat: None, other: broker, ..ends }];
            })
            .case(&of("&transport=tcp"), 8, |_, t| {
                t.each(&[6000; 50]);
            })
            .build();
        let results = read(&raw);
        assert!(results.runtimes.is_empty(), "the ladder has them");
        let [tcp, unix] = results.libraries.as_slice() else { panic!("{:?}", results.libraries) };
        assert!(tcp.beneath.contains("/tcp?") && tcp.adds_ns.point == Some(1000.0), "{tcp:?}");
        assert_eq!(unix.adds_ns.point, Some(6003.5));
        let times = unix.times.as_ref().unwrap();
        assert!((times.point - 3.001).abs() < 0.001 && times.low < Some(times.point), "{times:?}");
        assert_eq!(unix.system_calls.map(f64::round), Some(8.0));
        assert_eq!((unix.other.as_deref(), unix.other_share), (Some("broker"), 0.5));
    }
}
