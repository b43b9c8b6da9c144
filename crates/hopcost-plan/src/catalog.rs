//! Which mechanisms there are, in which runtime. Workers of other runtimes are
//! asked what they have only when one of them matters.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Runtime, Runtimes, WaitKind, Workload};
use hopcost_model::describe::{Description, RuntimeFacts};
use hopcost_model::mechanism::{Facts, Mechanism, ParameterDescription, PayloadRange};

use crate::asked::Asked;
use crate::error::{plain, unknown};
use crate::shipped::SHIPPED;
use crate::suite::parse_suite;

/// The runtimes that the shipped suites name: known, and so no slip, where their workers
/// are not here.
fn of_suites() -> impl Iterator<Item = Runtime> {
    let suites = SHIPPED.iter().filter_map(|(name, text)| parse_suite(name, text).ok());
    let entries = suites.flat_map(|suite| suite.entries);
    let ends = entries.flat_map(|entry| entry.selector.asked.runtimes().unwrap_or_default());
    ends.flat_map(|ends| [ends.caller, ends.callee]).filter(|runtime| !runtime.is_rust())
}

/// Everything that can be asked for.
pub(crate) struct Catalog<'a> {
    rust: Description,
    scan: &'a dyn Fn() -> Vec<RuntimeFacts>,
    others: OnceCell<Vec<RuntimeFacts>>,
}

impl<'a> Catalog<'a> {
    pub fn new(rust: Vec<Mechanism>, scan: &'a dyn Fn() -> Vec<RuntimeFacts>) -> Self {
        let rust = Description {
            protocol: hopcost_model::protocol::VERSION,
            runtime: Runtime::RUST.to_string(),
            version: String::new(),
            libraries: BTreeMap::new(),
            remarks: Vec::new(),
            clock: Default::default(),
            warm_up: Default::default(),
            mechanisms: rust,
        };
        Self { rust, scan, others: OnceCell::new() }
    }

    /// The runtimes besides Rust, those that are absent too; scans for them once.
    fn others(&self) -> &[RuntimeFacts] {
        self.others.get_or_init(|| {
            let mut others = (self.scan)();
            for runtime in of_suites() {
                if !others.iter().any(|other| other.runtime == runtime) {
                    let why = format!(
                        "no worker of it was found; build it: hopcost worker install {runtime}"
                    );
                    others.push(RuntimeFacts { runtime, start_ns: None, state: Err(why) });
                }
            }
            others
        })
    }

    fn other(&self, runtime: &Runtime) -> Option<&RuntimeFacts> {
        self.others().iter().find(|other| other.runtime == *runtime)
    }

    /// What a runtime says of itself; nothing if it is absent.
    pub fn description(&self, runtime: &Runtime) -> Option<&Description> {
        match runtime.is_rust() {
            true => Some(&self.rust),
            false => self.other(runtime)?.state.as_ref().ok(),
        }
    }

    /// A mechanism of a runtime.
    pub fn mechanism(&self, runtime: &Runtime, name: &str) -> Option<&Mechanism> {
        self.description(runtime)?.mechanisms.iter().find(|mechanism| mechanism.name == name)
    }

    /// The runtimes besides Rust, if one of them mattered.
    pub fn asked(&self) -> &[RuntimeFacts] {
        self.others.get().map_or(&[], Vec::as_slice)
    }

    /// Rust's mechanisms, and those of others that have been asked.
    pub fn known(&self) -> impl Iterator<Item = &Mechanism> {
        let others = self.asked().iter().filter_map(|other| other.state.as_ref().ok());
        std::iter::once(&self.rust).chain(others).flat_map(|described| &described.mechanisms)
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
        if self.mechanism(&Runtime::RUST, name).is_some() {
            return Some(Runtimes::RUST);
        }
        let has = |other: &&RuntimeFacts| other.mechanism(name).is_some();
        let first = self.others().iter().find(has)?;
        Some(Runtimes::both(first.runtime.clone()))
    }

    /// The mechanism by which a case of these runtimes is made: that of the caller's
    /// runtime, or of the callee's where it goes over what the caller has.
    pub fn mechanism_of(&self, ends: &Runtimes, name: &str) -> Option<&Mechanism> {
        self.mechanism(&ends.caller, name).or_else(|| self.mechanism(&ends.callee, name))
    }

    /// What the callee plays, as far as it can be told.
    pub fn played_by_callee(&self, ends: &Runtimes, name: &str) -> Option<&Mechanism> {
        if let Some(own) = self.mechanism(&ends.callee, name) {
            return Some(own);
        }
        self.mechanism(&ends.callee, self.mechanism(&ends.caller, name)?.carrier())
    }

    /// The same of the caller.
    pub fn played_by_caller(&self, ends: &Runtimes, name: &str) -> Option<&Mechanism> {
        let turned = Runtimes { caller: ends.callee.clone(), callee: ends.caller.clone() };
        self.played_by_callee(&turned, name)
    }

    /// The mechanisms out of which a glob over these runtimes selects, each once:
    /// those that one of them has, and Rust's where one is absent, which may have
    /// them too.
    pub fn all_within(&self, said: &[Runtimes]) -> Vec<&Mechanism> {
        let mut runtimes: Vec<&str> = Vec::new();
        let mut all: Vec<&Mechanism> = Vec::new();
        for runtime in said.iter().flat_map(|ends| [&ends.caller, &ends.callee]) {
            let described = self.description(runtime).unwrap_or(&self.rust);
            if runtimes.contains(&described.runtime.as_str()) {
                continue;
            }
            runtimes.push(&described.runtime);
            for mechanism in &described.mechanisms {
                if !all.iter().any(|known| known.name == mechanism.name) {
                    all.push(mechanism);
                }
            }
        }
        all
    }

    /// The mechanism of this name, of the runtimes that were said, or else of anybody.
    /// `None`: nobody has it, and nobody who may have it is absent.
    pub fn representative(
        &self,
        name: &str,
        said: Option<&[Runtimes]>,
    ) -> Option<Cow<'_, Mechanism>> {
        let said = said.unwrap_or_default();
        let own = said.iter().find_map(|ends| self.mechanism_of(ends, name));
        let anybodys = || self.mechanism(&self.default_runtimes(name)?.caller, name);
        if let Some(mechanism) = own.or_else(anybodys) {
            return Some(Cow::Borrowed(mechanism));
        }
        let mut ends = said.iter().flat_map(|ends| [&ends.caller, &ends.callee]);
        let absent = ends.any(|runtime| self.absent(runtime).is_some());
        absent.then(|| Cow::Owned(supposed(name, &Asked::default())))
    }

    /// The names that an error may suggest.
    pub fn names(&self) -> Vec<&str> {
        self.others();
        let listed = self.known().filter(|mechanism| !mechanism.hidden());
        listed.map(|mechanism| mechanism.name.as_str()).collect()
    }

    /// The runtimes that are not here.
    pub fn absentees(&self) -> Vec<&str> {
        let absent = self.others().iter().filter(|other| other.state.is_err());
        absent.map(|other| other.runtime.word()).collect()
    }
}

/// A mechanism that nobody here has: it takes whatever was said, so that its case can be
/// spelled and kept with the reason.
pub(crate) fn supposed(name: &str, asked: &Asked) -> Mechanism {
    let sized = asked.get("payload").is_some() || asked.get("field").is_some();
    let parameters = asked.parameters.iter().map(|(name, values)| ParameterDescription {
        name: name.clone(),
        values: values.clone(),
        default: values.first().cloned().unwrap_or_default(),
        about: String::new(),
    });
    // The first is what is measured where no workload is named.
    let mut workloads = Workload::ALL.to_vec();
    workloads.sort_by_key(|workload| *workload != Workload::Roundtrip);
    Mechanism {
        name: name.to_owned(),
        workloads,
        boundaries: Boundary::ALL.to_vec(),
        waits: WaitKind::ALL.to_vec(),
        payload: sized.then_some(PayloadRange { min: 0, max: u32::MAX, default: 1 }),
        parameters: parameters.collect(),
        ..Mechanism::of(&Facts::BASE)
    }
}
