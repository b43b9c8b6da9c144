//! Workers of other runtimes: asked to describe themselves, absent with a reason otherwise; and which of
//! them play the ends of a case.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, anyhow, bail, ensure};
use hopcost_model::protocol;
use hopcost_model::{
    Axis, Boundary, Case, Command, CountRange, Description, EndsOf, Facts, LinkSource, Mechanism,
    ParameterDescription, PayloadRange, Plan, Reply, Role, Runtime, WarmUp, Workload,
};
use hopcost_plan::{Catalog, Expected, Roles, RuntimeFacts, assign};
use hopcost_probe::orphans::{Launch, Orphans};
use hopcost_probe::registry::Row;
use hopcost_probe::{mechanism, sys};

use super::reference::{self, Machine};
use super::search::{self, Candidate};
use super::worker::{Program, ReplyError, Worker};

/// How long a worker may take to describe itself: a cold JVM on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// Mechanisms that a worker may have.
const MECHANISMS_MAX: usize = 200;
/// Bytes of a message that a worker may offer.
const PAYLOAD_MAX: u32 = 1 << 26;

/// A worker that can be used.
pub struct Ready {
    /// How it is started.
    pub program: Program,
    /// What it says of itself.
    pub description: Description,
    /// What it takes until it is attached: what its folder says, or what it took to answer just
    /// now where that is more.
    start_ns: Option<u64>,
}

/// A runtime that was found.
pub struct Found {
    pub runtime: Runtime,
    /// Its worker, or why there is none.
    pub state: Result<Ready, String>,
    /// Its folder, or the program that was named.
    pub place: PathBuf,
}

impl Found {
    /// What a plan needs to know of it.
    pub fn facts(&self) -> RuntimeFacts {
        let ready = self.state.as_ref();
        RuntimeFacts {
            runtime: self.runtime.clone(),
            start_ns: ready.ok().and_then(|ready| ready.start_ns),
            state: ready.map(|ready| ready.description.clone()).map_err(Clone::clone),
        }
    }
}

/// Every runtime besides Rust: looked for when one is first asked about, and asked
/// what it is when it is needed, since that takes starting it.
pub struct Runtimes {
    /// The programs that were named.
    pub programs: Vec<PathBuf>,
    /// What they leave behind.
    pub orphans: Orphans,
    slots: OnceCell<Vec<Slot>>,
    rust: OnceCell<Description>,
}

/// A worker that may be asked what it is.
struct Slot {
    candidate: Candidate,
    found: OnceCell<Found>,
}

impl Runtimes {
    /// Those of the usual folders, and these programs, which come first.
    pub fn new(programs: Vec<PathBuf>) -> Self {
        let (orphans, slots, rust) = (Orphans::adopt(), OnceCell::new(), OnceCell::new());
        Self { programs, orphans, slots, rust }
    }

    fn slots(&self) -> &[Slot] {
        self.slots.get_or_init(|| {
            let candidates = search::candidates(&self.programs);
            let slot = |candidate| Slot { candidate, found: OnceCell::new() };
            candidates.into_iter().map(slot).collect()
        })
    }

    /// Asks those workers what they are: all are started before the first is listened to.
    fn describe(&self, which: impl Fn(usize, &Slot) -> bool) {
        let slots = self.slots().iter().enumerate();
        let asked: Vec<_> = slots
            .filter(|&(at, slot)| slot.found.get().is_none() && which(at, slot))
            .map(|(at, slot)| (at, slot, ask(&slot.candidate)))
            .collect();
        for (at, slot, asked) in asked {
            let found = self.found(at, slot, asked);
            let _ = slot.found.set(found);
        }
    }

    fn found(&self, at: usize, slot: &Slot, asked: Result<Worker, String>) -> Found {
        let Candidate { runtime, program, start_ns, place, facts } = &slot.candidate;
        let described = asked.and_then(|worker| listen(worker, runtime.as_ref(), facts));
        let mut state = described.and_then(|(description, cpu_ns)| {
            let program = program.as_ref().map_err(ToString::to_string)?.clone();
            Ok(Ready { program, description, start_ns: cpu_ns.max(*start_ns) })
        });
        let said = || state.as_ref().ok()?.description.runtime.parse().ok();
        // A program that was named and does not even say what it is stays unnamed.
        let mut name = runtime.clone().or_else(said).unwrap_or_else(|| unnamed(at));
        let mut earlier = self.slots()[..at].iter().filter_map(|slot| slot.found.get());
        // Of two builds of one worker the second has a name of its own.
        if at < self.programs.len() && earlier.any(|found| found.runtime == name) {
            let second = format!("{}+{}", name.word(), at + 1);
            name = second.parse().unwrap_or_else(|_| unnamed(at));
            if let Ok(ready) = &mut state {
                ready.description.runtime = name.word().to_owned();
            }
        }
        Found { runtime: name, state, place: place.clone() }
    }

    /// Every runtime found; a program that was named hides a folder's of its name.
    pub fn all(&self) -> Vec<&Found> {
        self.describe(|_, _| true);
        let mut all: Vec<&Found> = Vec::new();
        for found in self.slots().iter().filter_map(|slot| slot.found.get()) {
            if !all.iter().any(|other| other.runtime == found.runtime) {
                all.push(found);
            }
        }
        all
    }

    /// Those that were named by their path, in the order they were named.
    pub fn named(&self) -> impl Iterator<Item = &Found> {
        self.describe(|at, _| at < self.programs.len());
        self.slots().iter().take(self.programs.len()).filter_map(|slot| slot.found.get())
    }

    /// How the workers of a plan's live cases describe themselves, and the facts of all
    /// its mechanisms in Rust.
    pub fn taking_part(&self, plan: &Plan) -> Vec<Description> {
        let named: BTreeSet<&str> =
            plan.cases.iter().map(|planned| planned.case.mechanism_name()).collect();
        let rust = hopcost_probe::worker::description_of(&|name| named.contains(name));
        let foreign = foreign(plan).into_iter();
        let foreign = foreign.filter_map(|runtime| self.description(runtime).cloned());
        std::iter::once(rust).chain(foreign).collect()
    }

    /// Everything that can be asked for.
    pub fn catalog(&self) -> Catalog<'_> {
        Catalog::new(hopcost_probe::worker::mechanisms(), || self.facts())
    }

    /// How long a plan takes on a machine, and in how many rounds.
    pub fn expected(&self, plan: &Plan, machine: &Machine) -> Expected {
        let found = foreign(plan).into_iter().filter_map(|runtime| self.find(runtime));
        let facts: Vec<RuntimeFacts> = found.map(Found::facts).collect();
        hopcost_plan::expected(plan, &facts, reference::two_cpus_ns(machine, plan))
    }

    fn find(&self, runtime: &Runtime) -> Option<&Found> {
        // Programs that were named say themselves whether they are it.
        let named = self.named().find(|found| found.runtime == *runtime);
        named.or_else(|| {
            self.describe(|_, slot| slot.candidate.runtime.as_ref() == Some(runtime));
            let mut found = self.slots().iter().filter_map(|slot| slot.found.get());
            found.find(|found| found.runtime == *runtime)
        })
    }

    /// The worker of a runtime.
    pub fn ready(&self, runtime: &Runtime) -> anyhow::Result<&Ready> {
        if let Some(found) = self.find(runtime) {
            return found.state.as_ref().map_err(|why| anyhow!("{why}"));
        }
        // One that was named and does not say what it is may be the one.
        let named = self.named().find_map(|found| found.state.as_ref().err());
        let why = named.map_or(String::new(), |why| format!(" ({why})"));
        bail!("no worker of the runtime `{runtime}` is here{why}")
    }

    /// What a runtime's worker says of itself, that of Rust included.
    pub fn description(&self, runtime: &Runtime) -> Option<&Description> {
        if runtime.is_rust() {
            return Some(self.rust.get_or_init(hopcost_probe::worker::description));
        }
        self.ready(runtime).ok().map(|ready| &ready.description)
    }

    /// What a plan needs to know.
    pub fn facts(&self) -> Vec<RuntimeFacts> {
        self.all().into_iter().map(Found::facts).collect()
    }
}

/// The workers of a case.
pub struct Workers<'a> {
    /// What each end plays.
    pub roles: Roles,
    /// What opens the link, or knows its kind; none of a link that is the workers' own.
    pub link: Option<&'static Row>,
    /// The worker of each end; none where it is the one inside this binary.
    foreign: [Option<&'a Ready>; 2],
}

impl<'a> Workers<'a> {
    /// Finds everybody that a case needs, or says who is missing.
    pub fn assemble(case: &Case, runtimes: &'a Runtimes) -> anyhow::Result<Self> {
        let ready = |runtime: &Runtime| match runtime.is_rust() {
            true => Ok(None),
            false => runtimes.ready(runtime).map(Some),
        };
        let foreign = [ready(&case.runtimes.caller)?, ready(&case.runtimes.callee)?];
        let roles = assign(case, &|runtime| runtimes.description(runtime)).map_err(Error::msg)?;
        // A mechanism of Rust carries a test engine's argument, which is no part of its name.
        let row = |name: &str| {
            let name = name.split(':').next().unwrap_or(name);
            mechanism::find(name).with_context(|| format!("no mechanism `{name}` in this build"))
        };
        if case.runtimes.are_rust() {
            row(&case.mechanism)?;
        }
        let opened = roles.carrier.as_deref().filter(|_| roles.ends.caller.link != LinkSource::Own);
        let link = opened.map(row).transpose()?;
        Ok(Self { roles, link, foreign })
    }

    /// The worker of an end; `None` where it is the one inside this binary.
    pub fn foreign(&self, role: Role) -> Option<&'a Ready> {
        self.foreign[role as usize]
    }

    /// Whether an end is of another runtime than Rust.
    pub fn has_foreign(&self) -> bool {
        self.foreign.iter().any(Option::is_some)
    }

    /// Whether each end has a worker of its own.
    pub fn two_workers(&self) -> bool {
        self.roles.carrier.is_some()
    }

    /// Whether an end compiles while it runs.
    pub fn warms_up_until_steady(&self) -> bool {
        let mut foreign = self.foreign.into_iter().flatten();
        foreign.any(|ready| ready.description.warm_up == WarmUp::UntilSteady)
    }
}

/// The runtimes besides Rust that take part in a plan's live cases.
fn foreign(plan: &Plan) -> BTreeSet<&Runtime> {
    let ends = plan.live_cases().flat_map(|case| [&case.runtimes.caller, &case.runtimes.callee]);
    ends.filter(|runtime| !runtime.is_rust()).collect()
}

fn unnamed(number: usize) -> Runtime {
    format!("unnamed-{number}").parse().unwrap_or(Runtime::RUST)
}

fn ask(candidate: &Candidate) -> Result<Worker, String> {
    let program = candidate.program.as_ref().map_err(|why| format!("{why:#}"))?;
    // Of the two deadlines, the one that gives the reason comes first.
    let deadline_ms = 2 * PATIENCE.as_millis() as u64;
    let launch = Launch { deadline_ms, cpus: Vec::new(), fifo: None };
    let mut worker =
        Worker::launch(program, launch, Vec::new(), 0).map_err(|error| error.to_string())?;
    worker.send(&Command::Describe);
    Ok(worker)
}

/// What a worker says of itself, and the CPU time that it took until then.
fn listen(
    mut worker: Worker,
    expected: Option<&Runtime>,
    facts: &Facts,
) -> Result<(Description, Option<u64>), String> {
    let description = match worker.reply(Instant::now() + PATIENCE) {
        Ok(Reply::Described(said)) => Description::completed(said, facts)?,
        Ok(_) => return Err("its reply does not answer `describe`".to_owned()),
        Err(ReplyError::Closed) => {
            worker.leave(Duration::from_millis(200));
            return Err(format!("asked to describe itself, it {}", worker.epitaph()));
        }
        Err(ReplyError::Deadline) => {
            return Err(format!("it did not describe itself within {} s", PATIENCE.as_secs()));
        }
        Err(error) => return Err(format!("asked to describe itself: {error}")),
    };
    sound(&description, expected).map_err(|why| format!("{why:#}"))?;
    let cpu_ns = sys::process_cpu_ns(worker.id());
    worker.send(&Command::Stop);
    worker.leave(Duration::from_millis(500));
    Ok((description, cpu_ns))
}

/// Whether a description can be believed.
fn sound(description: &Description, expected: Option<&Runtime>) -> anyhow::Result<()> {
    let (its, own) = (description.protocol, protocol::VERSION);
    ensure!(its == own, "it speaks version {its} of the protocol, this hopcost {own}");
    let runtime: Runtime = description.runtime.parse().context("its description")?;
    let (rate, all) = (description.clock.ticks_per_second, &description.mechanisms);
    ensure!(!runtime.is_rust(), "it calls its runtime `rust`, which is the worker inside hopcost");
    ensure!(expected.is_none_or(|of| *of == runtime), "it says that it is `{runtime}`");
    ensure!((1e3..=1e12).contains(&rate), "a clock cannot have {rate} ticks per second");
    ensure!(all.len() <= MECHANISMS_MAX, "it has {} mechanisms", all.len());
    for (at, mechanism) in all.iter().enumerate() {
        let name = &mechanism.name;
        let is_new = all[..at].iter().all(|other| other.name != *name);
        ensure!(is_new, "it has the mechanism `{name}` twice");
        let is_timed = !mechanism.workloads.contains(&Workload::Load)
            || description.clock.source == "CLOCK_MONOTONIC";
        ensure!(is_timed, "its mechanism `{name}`: loads are stamped by CLOCK_MONOTONIC");
        sound_mechanism(mechanism).with_context(|| format!("its mechanism `{name}`"))?;
    }
    Ok(())
}

fn sound_mechanism(mechanism: &Mechanism) -> anyhow::Result<()> {
    let Mechanism { name, workloads, payload, .. } = mechanism;
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    let is_name = (1..=48).contains(&name.len()) && name.bytes().all(fits);
    ensure!(is_name, "a name has lower-case letters, digits, `-` and `_`");
    let takes_streams = mechanism.link == LinkSource::Own;
    let mut others = workloads.iter().copied();
    let other = others.find(|w| *w == Workload::Wake || *w == Workload::Stream && !takes_streams);
    if let Some(other) = other {
        bail!("only hopcost's own worker plays the workload `{other}` so far");
    }
    let row = mechanism::find(mechanism.carrier()).filter(|row| !row.facts().hidden());
    let carrier_fits = match mechanism.link {
        LinkSource::Own => true,
        LinkSource::Descriptors => {
            row.is_some_and(|row| row.facts().boundaries.contains(&Boundary::Process))
        }
        LinkSource::Address => row.is_some_and(|row| row.facts().here.address.is_some()),
    };
    ensure!(carrier_fits, "it cannot take the link of a `{}`", mechanism.carrier());
    let calls_fit = |c: CountRange| c.min >= 0.0 && c.min <= c.max && c.max < 1e6;
    ensure!(mechanism.system_calls.is_none_or(calls_fit), "want system_calls with 0 <= min <= max");
    let two_ends = workloads.iter().any(|workload| workload.spec().ends != EndsOf::One);
    let has_place = !two_ends || !mechanism.boundaries.is_empty();
    ensure!(has_place, "what has two ends has boundaries");
    let payload_fits =
        |p: PayloadRange| p.min <= p.default && p.default <= p.max && p.max <= PAYLOAD_MAX;
    ensure!(payload.is_none_or(payload_fits), "want payload min <= default <= max <= 64 MiB");
    let plain = |word: &String| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
    };
    for ParameterDescription { name, values, default, .. } in &mechanism.parameters {
        ensure!(Axis::of_key(name).is_none(), "`{name}` is a key of every case");
        let are_plain = plain(name) && values.iter().all(plain);
        ensure!(are_plain, "parameters and values have letters, digits and `-_.:`");
        ensure!(values.contains(default), "the default of `{name}` is not among its values");
    }
    Ok(())
}
