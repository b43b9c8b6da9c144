//! Synthetic runs for tests: one tick is one nanosecond, everything is quiet.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hopcost_model::{
    Case, ClockReading, Code, CpuUse, Description, EndCounters, Estimate, EventReading,
    GateReading, Host, Mechanism, Moment, PerOperation, Placement, Plan, PlannedCase, RawLoad,
    RawRun, RawTrial, Reading, Reference, Role, RunAbout, Severity, Stamp, Statistic, TABLE,
    ThreadUse, WaitKind, WarmUp, Yardstick, YardstickClass, YardstickReading,
};
use hopcost_stats::rng::Rng;
use serde_json::Value;

use crate::results::Results;

pub const PIPE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
/// Between two CPUs.
pub const PIPE_TWO_CPUS: &str =
    "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block";
pub const PIPE_4K: &str = "roundtrip/pipe?payload=4096&boundary=process&place=same-cpu&wait=block";
pub const PIPE_PYTHON: &str =
    "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block&runtime=python";
pub const TCP: &str = "roundtrip/tcp?payload=64&boundary=process&place=same-cpu&wait=block";
pub const FUTEX: &str = "roundtrip/futex?payload=0&boundary=process&place=same-cpu&wait=block";
pub const CALL: &str = "call/syscall";
pub const WAKE: &str = "wake/pipe?payload=1&gap=1000000&boundary=process&place=same-llc&wait=block";
pub const LOAD: &str = "load/pipe?payload=64&rate=10000&boundary=process&place=same-llc&wait=block";
/// Eight fields of 256 bytes.
pub const STREAM: &str = "stream/tcp-sendmsg?payload=2048&fields=8&flows=1&ack=per-message\
    &boundary=process&place=free&wait=block";
pub const STREAM_TWO_FLOWS: &str = "stream/tcp-sendmsg?payload=2048&fields=8&flows=2\
    &ack=per-message&boundary=process&place=free&wait=block";
pub const STREAM_NO_ACK: &str = "stream/tcp-sendmsg?payload=2048&fields=8&flows=1&ack=none\
    &boundary=process&place=free&wait=block";

/// Mechanisms in Rust, of which a pipe switches so often that a trial can fall short of it.
pub static MECHANISMS: LazyLock<Vec<Mechanism>> = LazyLock::new(|| {
    let mut all = TABLE.clone();
    let pipe = all.get_mut("pipe").and_then(|pipe| pipe.own.as_mut());
    if let Some(blocks) = pipe.and_then(|own| own.waits.first_mut()) {
        blocks.switches_one_cpu = PerOperation::exactly(4.0);
        blocks.switches_two_cpus = PerOperation { most: 4.0, ..PerOperation::exactly(2.0) };
    }
    all.into_values().collect()
});

/// Reads a run with these.
pub fn read(raw: &RawRun) -> Results {
    crate::read(raw, &MECHANISMS)
}

/// Reads a run of eight trials of one case, each a thousand round trips of 3 µs with a change.
pub fn read_changed(id: &str, change: impl Fn(u32, &mut TrialBuilder)) -> Results {
    let make = |round: u32, t: &mut TrialBuilder| {
        t.each(&[3000; 1000]);
        change(round, t);
    };
    Builder::new().case(id, 8, make).read()
}

/// The worst severity of a code among all findings.
pub fn severity(results: &Results, code: Code) -> Option<Severity> {
    results.findings.iter().filter(|f| f.code == code).map(|f| f.severity).max()
}

/// How grave the first finding of a code is, and what it says.
pub fn found(results: &Results, code: Code) -> Option<(Severity, String)> {
    let found = results.findings.iter().find(|finding| finding.code == code);
    found.map(|finding| (finding.severity, finding.evidence.clone()))
}

/// Expects the first finding of a code to be so grave, with these words; or none.
pub fn expect(results: &Results, code: Code, expected: Option<(Severity, &str)>) {
    match (found(results, code), expected) {
        (None, None) => {}
        (Some((severity, evidence)), Some((wanted, words))) => {
            assert!(
                severity == wanted && evidence.contains(words),
                "{code}: {severity:?}: {evidence}"
            );
        }
        (found, expected) => panic!("{code}: {found:?}, not {expected:?}"),
    }
}

/// A finding that a change of the trials of a case has to make, with these words, or not to make.
pub type Row = (Code, &'static str, fn(u32, &mut TrialBuilder), Option<(Severity, &'static str)>);

pub fn note(words: &'static str) -> Option<(Severity, &'static str)> {
    Some((Severity::Note, words))
}
pub fn suspect(words: &'static str) -> Option<(Severity, &'static str)> {
    Some((Severity::Suspect, words))
}
pub fn invalid(words: &'static str) -> Option<(Severity, &'static str)> {
    Some((Severity::Invalid, words))
}

/// The estimate of a statistic of the run's first case.
pub fn estimate(results: &Results, statistic: Statistic) -> Estimate {
    results.results[0].estimates.as_ref().unwrap().get(statistic).unwrap().clone()
}

/// A clock of 20 ns a stamp.
pub fn clock(cpu: u32, ticks_per_second: f64) -> ClockReading {
    ClockReading {
        cpu,
        resolution_ticks: 20,
        stamp_p50_ns: 20.0,
        clock_gettime_p50_ns: 25.0,
        ..ClockReading::of_rate("rust", "tsc", ticks_per_second)
    }
}

/// A clock of another runtime: nanoseconds, 60 ns a stamp.
pub fn foreign_clock(runtime: &str, cpu: u32) -> ClockReading {
    ClockReading {
        cpu,
        stamp_p50_ns: 60.0,
        ..ClockReading::of_rate(runtime, "CLOCK_MONOTONIC", 1e9)
    }
}

/// A fingerprint of these readings.
pub fn host(readings: &[(&str, &str)]) -> Host {
    let known = |(key, value): &(&str, &str)| Reading::known("test", key, (*value).to_owned());
    let readings = readings.iter().map(known);
    Host { readings: readings.collect() }
}

/// `n` durations around 3 µs, spread by 5 %, with a tail; of a seed.
pub fn noisy(n: usize, seed: u32) -> Vec<u32> {
    let mut rng = Rng::new(u64::from(seed) + 1);
    let mut one = || {
        let tail = if rng.uniform() < 0.02 { 1.0 + rng.uniform() } else { 1.0 };
        (3000.0 * tail * libm::exp(0.05 * rng.normal())) as u32
    };
    (0..n).map(|_| one()).collect()
}

/// An event that was counted all the time.
pub fn event(name: &str, value: u64) -> EventReading {
    EventReading {
        event: name.into(),
        value: Some(value),
        enabled_ns: 1000,
        running_ns: 1000,
        unavailable: None,
    }
}

/// An event that could not be counted.
pub fn uncounted(name: &str, why: &str) -> EventReading {
    EventReading { value: None, unavailable: Some(why.into()), ..event(name, 0) }
}

/// The packets that a CPU took in.
pub fn taken_in(cpu: u32, packets: u64) -> CpuUse {
    CpuUse { cpu, network_softirqs: Some(packets), ..CpuUse::default() }
}

fn ticks(durations: &[u32]) -> Vec<u64> {
    durations.iter().copied().map(u64::from).collect()
}

/// Reads a run of which numbers are as small or as large as their types admit, and lists lack their end, in
/// many combinations.
pub fn survive_nonsense(raw: &RawRun, read: impl Fn(&RawRun)) {
    let parsed = |value: &Value| -> Option<RawRun> {
        let (run, trials) = serde_json::from_value(value.clone()).ok()?;
        Some(RawRun { trials, ..run })
    };
    let whole = serde_json::to_value((raw, &raw.trials)).unwrap();
    let mut names = BTreeSet::new();
    visit(&mut whole.clone(), &mut |name, value| {
        names.extend((value.is_number() || value.is_array()).then(|| name.to_owned()));
    });
    let whole_numbers = [0, u32::MAX.into(), 1 << 62, u64::MAX].map(Value::from);
    let extremes = [&whole_numbers[..], &[i64::MIN.into(), 1e300.into()]].concat();
    let mut rng = Rng::new(1);
    for _ in 0..10 {
        let mut value = whole.clone();
        for name in names.iter().filter(|_| rng.below(2) == 0).collect::<Vec<_>>() {
            let (mut changed, extreme) = (value.clone(), &extremes[rng.below(6) as usize]);
            visit(&mut changed, &mut |own, value| match value {
                _ if own != name || rng.below(6) > 0 => {}
                Value::Number(_) => *value = extreme.clone(),
                Value::Array(list) => list.truncate(rng.below(list.len() as u64 + 1) as usize),
                _ => {}
            });
            // Unless the type admits no such number.
            value = if parsed(&changed).is_some() { changed } else { value };
        }
        read(&parsed(&value).unwrap());
    }
}

/// Every named value of a document.
fn visit(value: &mut Value, change: &mut dyn FnMut(&str, &mut Value)) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| {
            change(name, value);
            visit(value, change);
        }),
        Value::Array(list) => list.iter_mut().for_each(|one| visit(one, change)),
        _ => {}
    }
}

/// A trial being made.
pub struct TrialBuilder {
    pub raw: RawTrial,
}

impl TrialBuilder {
    fn samples(&mut self, stamp: Stamp, samples: &[u32], per_sample: u64) {
        let raw = &mut self.raw;
        raw.stamp = Some(stamp);
        raw.samples = ticks(samples);
        raw.samples_taken = samples.len() as u64;
        raw.samples_max_ticks = samples.iter().copied().max().unwrap_or(0).into();
        raw.operations = samples.len() as u64 * per_sample;
        raw.wall_ns = samples.iter().map(|s| u64::from(*s)).sum();
        raw.cpu_ns = raw.wall_ns;
        let sleeps = raw.ends.iter().map(|end| end.voluntary).sum::<u64>() > 0;
        for end in &mut raw.ends {
            end.count = raw.operations;
            end.thread_cpu_ns = raw.wall_ns / 2;
            // Four switches an operation, as the facts say.
            (end.voluntary, end.involuntary) =
                if sleeps { (raw.operations, raw.operations) } else { (0, 0) };
        }
    }
    /// One stamp an operation.
    pub fn each(&mut self, samples: &[u32]) {
        self.samples(Stamp::Each, samples, 1);
    }
    /// Batches of `n`.
    pub fn batch(&mut self, n: u64, samples: &[u32]) {
        self.samples(Stamp::Batch { n }, samples, n);
    }
    /// Batches of `n` and `2n` in turn.
    pub fn two_lengths(&mut self, n: u64, samples: &[u32]) {
        self.samples(Stamp::TwoLengths { n }, samples, n * 3 / 2);
    }
    /// One-way times, and the ticks from one notification to the next; the receiver
    /// sleeps once a wake-up, both clocks agree exactly.
    pub fn wake(&mut self, samples: &[u32], gap_ticks: u64) {
        self.samples(Stamp::Each, samples, 1);
        let count = samples.len() as u64;
        let raw = &mut self.raw;
        raw.wall_ns = gap_ticks * count;
        raw.cpu_ns = 2_000 * count;
        for end in &mut raw.ends {
            end.thread_cpu_ns = 1_000 * count;
            (end.voluntary, end.involuntary) = (count, 0);
        }
        raw.ends[0].elapsed_ticks = gap_ticks * count.saturating_sub(1);
        self.gates(0, 0, 0);
    }
    /// Messages at the rate of the case, with how long each waited for the sender and what the
    /// channel took.
    pub fn load(&mut self, lags: &[u32], service_ticks: u32) {
        let responses: Vec<u32> = lags.iter().map(|lag| lag + service_ticks).collect();
        let gap = 100_000;
        self.wake(&responses, gap);
        let (offered, span) = (lags.len() as u64, lags.len() as u64 * gap);
        self.raw.load = Some(RawLoad {
            offered,
            delivered: offered,
            intended_ticks: span,
            sent_ticks: span,
            received_ticks: span + u64::from(service_ticks),
            generator_lag_p99_ticks: 30,
            lags: ticks(lags),
            gaps: vec![gap; lags.len()],
            own_lags: Some(vec![0; lags.len()]),
        });
    }
    /// The gates: the offset before, what it moved by until after, and the bound.
    pub fn gates(&mut self, offset_ticks: i64, moved: i64, bound_ticks: u64) {
        let gate = |offset_ticks| GateReading {
            offset_ticks,
            bound_ticks,
            exchanges: 10_000,
            steps: 100_000,
            backward_steps: 0,
        };
        self.raw.gates = vec![gate(offset_ticks), gate(offset_ticks + moved)];
    }
    /// Flows of `count` messages each, of this size, with their latencies (none
    /// without acknowledgements), each taking `elapsed_ticks`.
    pub fn stream(
        &mut self,
        flows: u32,
        count: u64,
        bytes: u64,
        latencies: &[u32],
        elapsed_ticks: u64,
    ) {
        self.samples(Stamp::Each, latencies, 1);
        let raw = &mut self.raw;
        raw.operations = count * u64::from(flows);
        raw.wall_ns = elapsed_ticks;
        raw.cpu_ns = 2 * elapsed_ticks;
        let end = |role, flow| EndCounters {
            flow,
            count,
            bytes: count * bytes,
            first_tick: 5_000_000,
            elapsed_ticks,
            thread_cpu_ns: elapsed_ticks,
            voluntary: count,
            run_delay_ns: Some(0),
            ..EndCounters::empty(role)
        };
        raw.ends = [Role::Caller, Role::Callee]
            .into_iter()
            .flat_map(|role| (0..flows).map(move |flow| end(role, flow)))
            .collect();
        raw.cpus_asked.resize(raw.ends.len(), None);
    }
    /// An error instead of samples.
    pub fn fails(&mut self, why: &str) {
        self.raw.error = Some(why.into());
        self.raw.stamp = None;
    }
    /// The run's yardstick before and after.
    pub fn yardstick(&mut self, before: f64, after: f64) {
        self.raw.yardsticks = [(Moment::Before, before), (Moment::After, after)]
            .map(|(moment, operation_ns)| YardstickReading { yardstick: 0, moment, operation_ns })
            .to_vec();
    }
}

/// A run being made.
pub struct Builder(RawRun);

impl Builder {
    /// An empty run on CPUs 0 and 1.
    pub fn new() -> Self {
        #[derive(serde::Deserialize)]
        struct Empty {
            about: RunAbout,
            plan: Plan,
        }
        let empty = serde_json::from_str(include_str!("testing.json")).unwrap();
        let Empty { about, plan } = empty;
        let about = RunAbout { version: env!("CARGO_PKG_VERSION").into(), ..about };
        let clocks = vec![clock(0, 1e9), clock(1, 1e9)];
        Self(RawRun { about, plan, clocks, ..RawRun::default() })
    }
    /// A yardstick of 2000 ns on the quiet machine.
    pub fn yardstick(mut self) -> Self {
        self.0.yardsticks.push(Yardstick {
            class: YardstickClass::Switch,
            case: PIPE.into(),
            cpus: vec![0],
            operations: 900,
            reference: Some(Reference {
                operation_ns: 2000.0,
                log_error: 0.001,
                ..Reference::default()
            }),
            gone: None,
        });
        self
    }
    /// The readings of the host before.
    pub fn host(mut self, readings: &[(&str, &str)]) -> Self {
        self.0.host_before = host(readings);
        self
    }
    /// A runtime: its clocks on both CPUs and what it says of itself.
    pub fn runtime(mut self, worker: Description) -> Self {
        self.0.clocks.extend([0, 1].map(|cpu| foreign_clock(&worker.runtime, cpu)));
        self.0.workers.push(worker);
        self
    }
    /// The case that multiples refer to.
    pub fn baseline(mut self, id: &str) -> Self {
        self.0.plan.baseline = Some(id.into());
        self
    }
    /// A case that cannot be measured.
    pub fn skipped(mut self, id: &str, why: &str) -> Self {
        let (case, skip) = (id.parse().unwrap(), Some(why.to_owned()));
        self.0.plan.cases.push(PlannedCase { case, skip });
        self
    }
    /// A case and its trials, each made from its round. A runtime that is not known yet
    /// gets clocks.
    pub fn case(self, id: &str, trials: u32, make: impl Fn(u32, &mut TrialBuilder)) -> Self {
        self.with(id, trials, &make)
    }
    /// Not generic: three hundred closures would make as many copies of it and of its sorting.
    fn with(mut self, id: &str, trials: u32, make: &dyn Fn(u32, &mut TrialBuilder)) -> Self {
        let index = self.0.plan.cases.len() as u32;
        let case: Case = id.parse().unwrap();
        self.0.plan.cases.push(PlannedCase::live(case.clone()));
        let caller = case.runtimes.caller.word();
        if !self.0.clocks.iter().any(|clock| clock.runtime == caller) {
            self.0.clocks.extend([0, 1].map(|cpu| foreign_clock(caller, cpu)));
        }
        self.0.plan.rounds = self.0.plan.rounds.max(trials);
        for round in 0..trials {
            let mut trial = TrialBuilder { raw: empty(&case, index, round) };
            make(round, &mut trial);
            self.0.trials.push(trial.raw);
        }
        self.0.trials.sort_by_key(|trial| (trial.round, trial.case));
        self
    }
    /// The run as it is read.
    pub fn read(self) -> Results {
        read(&self.build())
    }
    pub fn build(mut self) -> RawRun {
        let mut begins_ns = 0;
        for trial in &mut self.0.trials {
            let elapsed = trial.ends.iter().map(|end| end.elapsed_ticks).max().unwrap_or(0);
            trial.started_ns = begins_ns;
            trial.took_ns = trial.wall_ns.max(elapsed).max(trial.watched_ns).max(90_000_000);
            begins_ns += trial.took_ns + 10_000_000;
        }
        self.0
    }
}

fn empty(case: &Case, index: u32, round: u32) -> RawTrial {
    let cpus_asked = match case.placement {
        None => vec![Some(0)],
        Some(Placement::SameCpu) => vec![Some(0), Some(0)],
        Some(Placement::Free) => vec![None, None],
        Some(_) => vec![Some(0), Some(1)],
    };
    let roles = [Role::Caller, Role::Callee];
    let ends = cpus_asked.iter().zip(roles).map(|(cpu, role)| EndCounters {
        // A mark for `samples`: a blocking end switches, a spinning one does not.
        voluntary: u64::from(case.wait(role) != WaitKind::Spin),
        run_delay_ns: Some(0),
        cpu_before: cpu.unwrap_or(0),
        cpu_after: cpu.unwrap_or(0),
        pinned: cpu.is_some(),
        ..EndCounters::empty(role)
    });
    RawTrial { case: index, round, ends: ends.collect(), cpus_asked, ..RawTrial::default() }
}

/// A thread of an end, or else one of the caller's process; half of its switches are
/// voluntary.
pub fn thread(name: &str, seat: Option<Role>, cpu_ns: u64, switches: u64) -> ThreadUse {
    ThreadUse {
        process: seat.unwrap_or(Role::Caller),
        seat,
        other: None,
        name: name.into(),
        cpu_ns,
        voluntary: switches / 2,
        involuntary: switches - switches / 2,
    }
}

/// A worker that describes itself and these mechanisms, all of round trips.
pub fn worker(runtime: &str, warm_up: WarmUp, mechanisms: &[&str]) -> Description {
    let mechanism = |name: &&str| {
        let text = format!(r#"{{"name":"{name}","workloads":["roundtrip"]}}"#);
        serde_json::from_str(&text).unwrap()
    };
    Description {
        runtime: runtime.into(),
        libraries: [(runtime.to_owned(), "1.2.3".to_owned())].into(),
        remarks: vec!["the lock is on".into()],
        warm_up,
        mechanisms: mechanisms.iter().map(mechanism).collect(),
        ..Description::default()
    }
}
