//! Which mechanisms there are, in which runtime. Workers of other runtimes are
//! asked what they have only when one of them matters.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Runtime, Runtimes, WaitKind, Workload};
use hopcost_model::describe::{Description, RuntimeFacts, WarmUp};
use hopcost_model::mechanism::{
    Facts, Mechanism, Parameter, Payload, PerOperation, Shape, WaitFacts,
};

use crate::axes::Axes;
use crate::error::{plain, unknown};

/// The runtimes whose workers come with hopcost: their names are known, and so
/// no slip, where their workers are not.
const SHIPPED_RUNTIMES: &[&str] = &["cpp", "python", "go", "java", "node"];

/// A runtime besides Rust.
struct Other {
    runtime: Runtime,
    state: Result<(Description, Vec<&'static Facts>), String>,
}

/// Everything that can be asked for.
pub(crate) struct Known<'a> {
    rust: &'a [&'static Facts],
    rust_described: OnceCell<Description>,
    scan: &'a dyn Fn() -> Vec<RuntimeFacts>,
    others: OnceCell<Vec<Other>>,
    /// Facts of mechanisms that nobody here has, by name and parameters.
    supposed: RefCell<BTreeMap<String, &'static Facts>>,
}

impl<'a> Known<'a> {
    pub fn new(rust: &'a [&'static Facts], scan: &'a dyn Fn() -> Vec<RuntimeFacts>) -> Self {
        Self {
            rust,
            rust_described: OnceCell::new(),
            scan,
            others: OnceCell::new(),
            supposed: RefCell::default(),
        }
    }

    /// The runtimes besides Rust, those that are absent too; scans for them once.
    fn others(&self) -> &[Other] {
        self.others.get_or_init(|| {
            let scanned = (self.scan)().into_iter().map(|RuntimeFacts { runtime, state }| Other {
                runtime,
                state: state.map(|described| {
                    let facts = described.mechanisms.iter().map(keep).collect();
                    (described, facts)
                }),
            });
            let mut others: Vec<Other> = scanned.collect();
            for name in SHIPPED_RUNTIMES {
                if let Ok(runtime) = name.parse()
                    && !others.iter().any(|other| other.runtime == runtime)
                {
                    let why = format!(
                        "no worker of it was found; build it in a copy of hopcost's source with \
                         scripts/setup workers {name}, and set HOPCOST_WORKERS to the absolute path of its folder workers"
                    );
                    others.push(Other { runtime, state: Err(why) });
                }
            }
            others
        })
    }

    fn other(&self, runtime: &Runtime) -> Option<&Other> {
        self.others().iter().find(|other| other.runtime == *runtime)
    }

    /// Rust's mechanisms, and those of others that have been asked.
    pub fn facts(&self) -> Vec<&'static Facts> {
        let asked = self.others.get().into_iter().flatten();
        let others = asked.filter_map(|other| Some(other.state.as_ref().ok()?.1.iter()));
        self.rust.iter().chain(others.flatten()).copied().collect()
    }

    /// The mechanisms of a runtime; none of one that is absent.
    fn list(&self, runtime: &Runtime) -> &[&'static Facts] {
        if runtime.is_rust() {
            return self.rust;
        }
        match self.other(runtime).map(|other| &other.state) {
            Some(Ok((_, facts))) => facts,
            _ => &[],
        }
    }

    /// A runtime's facts of a mechanism.
    pub fn facts_in(&self, runtime: &Runtime, name: &str) -> Option<&'static Facts> {
        self.list(runtime).iter().find(|facts| facts.name == name).copied()
    }

    /// What a runtime says of itself.
    pub fn description(&self, runtime: &Runtime) -> Option<&Description> {
        if !runtime.is_rust() {
            return Some(&self.other(runtime)?.state.as_ref().ok()?.0);
        }
        Some(self.rust_described.get_or_init(|| Description {
            protocol: hopcost_model::protocol::VERSION,
            runtime: runtime.word().to_owned(),
            version: String::new(),
            libraries: BTreeMap::new(),
            remarks: Vec::new(),
            clock: Default::default(),
            warm_up: WarmUp::Planned,
            mechanisms: self.rust.iter().map(|facts| Mechanism::of(facts)).collect(),
        }))
    }

    /// What a runtime says of a mechanism.
    pub fn row(&self, runtime: &Runtime, name: &str) -> Option<&Mechanism> {
        self.description(runtime)?.mechanisms.iter().find(|row| row.name == name)
    }

    /// Why a runtime is not here.
    pub fn absent(&self, runtime: &Runtime) -> Option<String> {
        if runtime.is_rust() {
            return None;
        }
        match self.other(runtime).map(|other| &other.state) {
            Some(Ok(_)) => None,
            Some(Err(why)) => Some(format!("runtime {runtime} is absent: {}", plain(why))),
            None => Some(format!("there is no runtime {runtime} here")),
        }
    }

    /// Refuses a name that no runtime has.
    pub fn check(&self, said: &[Runtimes]) -> Result<(), String> {
        for runtime in said.iter().flat_map(|ends| [&ends.caller, &ends.callee]) {
            if !runtime.is_rust() && self.other(runtime).is_none() {
                let others = self.others().iter().map(|other| other.runtime.word());
                let known: Vec<&str> = std::iter::once("rust").chain(others).collect();
                return Err(unknown("runtime", runtime.word(), &known));
            }
        }
        Ok(())
    }

    /// The runtimes where nothing is said: Rust if it has the mechanism, else the
    /// first that has.
    pub fn default_runtimes(&self, name: &str) -> Option<Runtimes> {
        if self.rust.iter().any(|facts| facts.name == name) {
            return Some(Runtimes::RUST);
        }
        let has = |other: &&Other| self.facts_in(&other.runtime, name).is_some();
        let first = self.others().iter().find(has)?;
        Some(Runtimes::both(first.runtime.clone()))
    }

    /// The facts by which a case of these runtimes is made: those of the caller's
    /// runtime, or of the callee's where it goes over what the caller has.
    pub fn facts_for(&self, ends: &Runtimes, name: &str) -> Option<&'static Facts> {
        self.facts_in(&ends.caller, name).or_else(|| self.facts_in(&ends.callee, name))
    }

    /// The facts of what the callee plays, as far as they can be told.
    pub fn facts_of_callee(&self, ends: &Runtimes, name: &str) -> Option<&'static Facts> {
        if let Some(own) = self.facts_in(&ends.callee, name) {
            return Some(own);
        }
        self.facts_in(&ends.callee, self.row(&ends.caller, name)?.carrier())
    }

    /// The same of the caller.
    pub fn facts_of_caller(&self, ends: &Runtimes, name: &str) -> Option<&'static Facts> {
        let turned = Runtimes { caller: ends.callee.clone(), callee: ends.caller.clone() };
        self.facts_of_callee(&turned, name)
    }

    /// The mechanisms out of which a glob over these runtimes selects, each once:
    /// those that one of them has, and Rust's where one is absent, which may have
    /// them too.
    pub fn all_within(&self, said: &[Runtimes]) -> Vec<&'static Facts> {
        let mut runtimes: Vec<&Runtime> = Vec::new();
        let mut all: Vec<&'static Facts> = Vec::new();
        for runtime in said.iter().flat_map(|ends| [&ends.caller, &ends.callee]) {
            let stands_in = self.absent(runtime).map(|_| &Runtime::RUST);
            let runtime = stands_in.unwrap_or(runtime);
            if runtimes.contains(&runtime) {
                continue;
            }
            runtimes.push(runtime);
            for facts in self.list(runtime) {
                if !all.iter().any(|known| known.name == facts.name) {
                    all.push(facts);
                }
            }
        }
        all
    }

    /// The facts of a mechanism by this name, for the runtimes that were said, or
    /// else of anybody. `None`: nobody has it, and nobody who may have it is absent.
    pub fn representative(&self, name: &str, said: Option<&[Runtimes]>) -> Option<&'static Facts> {
        let mut said = said.into_iter().flatten();
        if let Some(facts) = said.clone().find_map(|ends| self.facts_for(ends, name)) {
            return Some(facts);
        }
        if let Some(ends) = self.default_runtimes(name) {
            return self.facts_in(&ends.caller, name);
        }
        let mut ends = said.by_ref().flat_map(|ends| [&ends.caller, &ends.callee]);
        let absent = ends.any(|runtime| self.absent(runtime).is_some());
        absent.then(|| self.supposed(name, &Axes::default()))
    }

    /// Facts of a mechanism that nobody here has: it takes whatever was said, so
    /// that its case can be spelled and kept with the reason.
    pub fn supposed(&self, name: &str, axes: &Axes) -> &'static Facts {
        let sized = axes.payload.is_some() || axes.field.is_some();
        let key = format!("{name}?{sized}{:?}", axes.parameters);
        let mut supposed = self.supposed.borrow_mut();
        supposed.entry(key).or_insert_with(|| {
            let parameters = axes.parameters.iter().map(|(name, values)| {
                let values = words(values);
                let default = values.first().copied().unwrap_or_default();
                Parameter { name: text(name), values, default, about: "" }
            });
            let parameters = parameters.collect();
            Box::leak(Box::new(Facts {
                name: text(name),
                workloads: &[Workload::Roundtrip, Workload::Call, Workload::Wake, Workload::Stream],
                boundaries: Boundary::ALL,
                waits: leak(WaitKind::ALL.iter().map(|wait| wait_facts(*wait, UNTOLD)).collect()),
                payload: match sized {
                    true => Payload::Bytes { min: 0, max: u32::MAX, default: 1 },
                    false => Payload::None,
                },
                parameters: leak(parameters),
                ..Facts::BASE
            }))
        })
    }

    /// The names that an error may suggest.
    pub fn names(&self) -> Vec<&'static str> {
        self.others();
        self.facts().into_iter().filter(|facts| !facts.hidden).map(|facts| facts.name).collect()
    }

    /// The runtimes that are not here.
    pub fn absentees(&self) -> Vec<&str> {
        let absent = self.others().iter().filter(|other| other.state.is_err());
        absent.map(|other| other.runtime.word()).collect()
    }
}

/// Nobody has told how often.
const UNTOLD: PerOperation = PerOperation::Between(0.0, f64::INFINITY, "");

const fn wait_facts(wait: WaitKind, system_calls: PerOperation) -> WaitFacts {
    WaitFacts { wait, system_calls, switches_one_cpu: UNTOLD, switches_two_cpus: UNTOLD }
}

/// A description as facts, kept for the rest of the process: a worker is described
/// once, and its description is a line of the protocol.
fn keep(row: &Mechanism) -> &'static Facts {
    let call = row.workloads.iter().all(|workload| *workload == Workload::Call);
    let counts = row.system_calls.map_or(UNTOLD, |n| PerOperation::Between(n.min, n.max, ""));
    let parameters = row.parameters.iter().map(|parameter| Parameter {
        name: text(&parameter.name),
        values: words(&parameter.values),
        default: text(&parameter.default),
        about: text(&parameter.about),
    });
    let waits = row.waits.iter().map(|wait| wait_facts(*wait, counts));
    let bytes = |range: hopcost_model::mechanism::PayloadRange| Payload::Bytes {
        min: range.min,
        max: range.max,
        default: range.default,
    };
    Box::leak(Box::new(Facts {
        name: text(&row.name),
        family: text(&row.family),
        about: text(&row.about),
        shape: if call { Shape::Call } else { Shape::Channel },
        workloads: leak(row.workloads.clone()),
        boundaries: if call { &[Boundary::Inline] } else { leak(row.boundaries.clone()) },
        waits: leak(waits.collect()),
        payload: row.payload.map_or(Payload::None, bytes),
        parameters: leak(parameters.collect()),
        ..Facts::BASE
    }))
}

fn text(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn leak<T>(all: Vec<T>) -> &'static [T] {
    Box::leak(all.into_boxed_slice())
}

fn words(all: &[String]) -> &'static [&'static str] {
    leak(all.iter().map(|word| text(word)).collect())
}
