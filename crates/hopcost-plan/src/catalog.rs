//! Which mechanisms there are, in which runtime. Workers of other runtimes are
//! asked what they have only when one of them matters.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use hopcost_model::{
    Boundary, Description, Mechanism, ParameterDescription, PayloadRange, Runtime, RuntimeFacts,
    Runtimes, WaitKind, Workload,
};

use crate::ask::{Pattern, Values};
use crate::error::{nearest, plain, quote, unknown};
use crate::shipped::SHIPPED;

/// The runtimes that hopcost has workers for: known, and so no slip, where these are not here.
const SHIPPED_RUNTIMES: [&str; 5] = ["cpp", "go", "java", "node", "python"];

/// Everything that can be asked for.
pub struct Catalog<'a> {
    rust: Description,
    scan: Box<dyn Fn() -> Vec<RuntimeFacts> + 'a>,
    others: OnceCell<Vec<RuntimeFacts>>,
}

impl<'a> Catalog<'a> {
    /// Rust's mechanisms, and what looks for the other runtimes; it is called at most once, and only
    /// if another runtime, or a mechanism that Rust has not, is named.
    pub fn new(rust: Vec<Mechanism>, scan: impl Fn() -> Vec<RuntimeFacts> + 'a) -> Self {
        let rust = Description {
            protocol: hopcost_model::protocol::VERSION,
            runtime: Runtime::RUST.to_string(),
            mechanisms: rust,
            ..Description::default()
        };
        Self { rust, scan: Box::new(scan), others: OnceCell::new() }
    }

    /// The runtimes besides Rust, those that are absent too.
    pub(crate) fn others(&self) -> &[RuntimeFacts] {
        self.others.get_or_init(|| {
            let mut others = (self.scan)();
            for name in SHIPPED_RUNTIMES {
                if let (false, Ok(runtime)) =
                    (others.iter().any(|other| other.runtime.word() == name), name.parse())
                {
                    let why = format!(
                        "no worker of it was found; build it: hopcost worker install {name}"
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
    pub(crate) fn description(&self, runtime: &Runtime) -> Option<&Description> {
        match runtime.is_rust() {
            true => Some(&self.rust),
            false => self.other(runtime)?.state.as_ref().ok(),
        }
    }

    /// A mechanism of a runtime.
    pub(crate) fn mechanism(&self, runtime: &Runtime, name: &str) -> Option<&Mechanism> {
        self.description(runtime)?.mechanism(name)
    }

    /// The runtimes besides Rust, if one of them mattered.
    pub(crate) fn asked(&self) -> &[RuntimeFacts] {
        self.others.get().map_or(&[], Vec::as_slice)
    }

    /// Rust's mechanisms, and those of others that have been asked.
    pub(crate) fn known(&self) -> impl Iterator<Item = &Mechanism> {
        let others = self.asked().iter().filter_map(|other| other.state.as_ref().ok());
        std::iter::once(&self.rust).chain(others).flat_map(|described| &described.mechanisms)
    }

    /// Why a runtime is not here.
    pub(crate) fn absent(&self, runtime: &Runtime) -> Option<String> {
        if runtime.is_rust() {
            return None;
        }
        match self.other(runtime).map(|other| &other.state) {
            Some(Ok(_)) => None,
            Some(Err(why)) => Some(format!("runtime {runtime} is absent: {}", plain(why))),
            None => Some(match runtime.library() {
                Some(name) => format!("{runtime} is not installed: hopcost worker install {name}"),
                None => format!("there is no runtime {runtime} here"),
            }),
        }
    }

    /// Refuses a runtime that nobody has heard of; a library may be one that is not installed.
    pub(crate) fn check(&self, values: &Values) -> Result<(), String> {
        let said: Vec<Runtimes> = values.parsed("runtime").unwrap_or_default();
        for runtime in said.iter().flat_map(|ends| [&ends.caller, &ends.callee]) {
            let is_known = runtime.is_rust() || runtime.library().is_some();
            if !is_known && self.other(runtime).is_none() {
                let others = self.others().iter().map(|other| other.runtime.word());
                let known: Vec<&str> = std::iter::once("rust").chain(others).collect();
                return Err(unknown("runtime", runtime.word(), &known));
            }
        }
        Ok(())
    }

    /// The default runtimes: Rust if it has the mechanism, else the
    /// first that has.
    pub(crate) fn default_runtimes(&self, name: &str) -> Option<Runtimes> {
        if self.mechanism(&Runtime::RUST, name).is_some() {
            return Some(Runtimes::RUST);
        }
        let has = |other: &&RuntimeFacts| other.mechanism(name).is_some();
        let first = self.others().iter().find(has)?;
        Some(Runtimes::both(first.runtime.clone()))
    }

    /// The mechanism by which a case of these runtimes is made: that of the caller's
    /// runtime, or of the callee's where it goes over what the caller has.
    pub(crate) fn mechanism_of(&self, ends: &Runtimes, name: &str) -> Option<&Mechanism> {
        self.mechanism(&ends.caller, name).or_else(|| self.mechanism(&ends.callee, name))
    }

    /// What one end plays beside the other, if that is known.
    pub(crate) fn played(&self, own: &Runtime, other: &Runtime, name: &str) -> Option<&Mechanism> {
        let carrier = || self.mechanism(own, self.mechanism(other, name)?.carrier());
        self.mechanism(own, name).or_else(carrier)
    }

    /// The mechanisms out of which a glob over these runtimes selects, each once:
    /// those that one of them has, and Rust's where one is absent, which may have
    /// them too.
    fn all_within(&self, said: &[Runtimes]) -> Vec<&Mechanism> {
        let ends = said.iter().flat_map(|ends| [&ends.caller, &ends.callee]);
        let described = ends.map(|runtime| self.description(runtime).unwrap_or(&self.rust));
        let mut names = BTreeSet::new();
        let all = described.flat_map(|described| &described.mechanisms);
        all.filter(|mechanism| names.insert(&mechanism.name)).collect()
    }

    /// The mechanism of this name, of the named runtimes, or else of any.
    /// `None`: nobody has it, and nobody who may have it is absent.
    pub(crate) fn representative(
        &self,
        name: &str,
        said: &[Runtimes],
    ) -> Option<Cow<'_, Mechanism>> {
        let own = said.iter().find_map(|ends| self.mechanism_of(ends, name));
        let anybodys = || self.mechanism(&self.default_runtimes(name)?.caller, name);
        if let Some(mechanism) = own.or_else(anybodys) {
            return Some(Cow::Borrowed(mechanism));
        }
        let mut ends = said.iter().flat_map(|ends| [&ends.caller, &ends.callee]);
        let absent = ends.any(|runtime| self.absent(runtime).is_some());
        absent.then(|| Cow::Owned(supposed(name, &Values::default())))
    }
}

/// What selectors mean.
impl Catalog<'_> {
    /// The mechanisms that a pattern means, each with its name as it was written.
    pub(crate) fn of_pattern<'c>(
        &'c self,
        pattern: &Pattern,
        said: &[Runtimes],
    ) -> Result<Vec<(Cow<'c, Mechanism>, String)>, String> {
        match pattern {
            Pattern::Name(text) => {
                let bare = text.split(':').next().unwrap_or(text);
                let mechanism = self.representative(bare, said);
                let mechanism = mechanism.ok_or_else(|| self.unknown_mechanism(bare))?;
                check_argument(&mechanism, text)?;
                Ok(vec![(mechanism, text.clone())])
            }
            Pattern::Glob(text) => {
                let said = if said.is_empty() { &[Runtimes::RUST] } else { said };
                let matching = |one: &&Mechanism| pattern.matches(&one.name, one.hidden());
                let found = self.all_within(said).into_iter().filter(matching);
                let found: Vec<_> =
                    found.map(|one| (Cow::Borrowed(one), one.name.clone())).collect();
                match found.is_empty() {
                    true => Err(format!(
                        "no mechanism matches {}; `hopcost list` shows them all",
                        quote(text)
                    )),
                    false => Ok(found),
                }
            }
        }
    }

    /// What to write for a word that is the name of something else than a mechanism.
    fn of_another_kind(&self, name: &str) -> Option<String> {
        let is_suite = SHIPPED.iter().any(|(suite, _)| *suite == name);
        if is_suite {
            return Some(format!("{} is a suite; write hopcost run --suite {name}", quote(name)));
        }
        let is_it = |words: &str| words.split(' ').any(|word| word == name);
        let other = OTHER_WORDS.iter().find(|(_, words)| is_it(words));
        if let Some(workload) = name.parse().ok().or(other.map(|(workload, _)| *workload)) {
            let first = self.known().find(|mechanism| mechanism.workloads.contains(&workload));
            let example = first.map_or("MECHANISM", |mechanism| &mechanism.name);
            return Some(format!(
                "{} is a workload, not a mechanism; write hopcost run {workload}/{example}, or \
                 hopcost run '{workload}/*' for every one",
                quote(name)
            ));
        }
        let runtime: Runtime = name.parse().ok()?;
        (runtime.is_rust() || self.other(&runtime).is_some()).then(|| {
            format!("{} is a runtime; write hopcost run MECHANISM --runtime {name}", quote(name))
        })
    }

    fn unknown_mechanism(&self, name: &str) -> String {
        if let Some(message) = self.of_another_kind(name) {
            return message;
        }
        let absent = self.others().iter().filter(|other| other.state.is_err());
        let absent: Vec<&str> = absent.map(|other| other.runtime.word()).collect();
        let listed = self.known().filter(|mechanism| !mechanism.hidden());
        let listed: Vec<&str> = listed.map(|mechanism| mechanism.name.as_str()).collect();
        if nearest(name, &listed).is_some() {
            return unknown("mechanism", name, &listed);
        }
        let suites: Vec<&str> = SHIPPED.iter().map(|(suite, _)| *suite).collect();
        if let Some(suite) = nearest(name, &suites) {
            let name = quote(name);
            return format!("unknown mechanism {name}; did you mean hopcost run --suite {suite}?");
        }
        let mut message =
            format!("unknown mechanism {}; `hopcost list` shows them all", quote(name));
        if !absent.is_empty() {
            message.push_str(&format!(" but those of {}, which are not here", absent.join(", ")));
        }
        message
    }
}

/// Words that other tools have for a workload.
const OTHER_WORDS: [(Workload, &str); 2] = [
    (Workload::Roundtrip, "ping pingpong ping-pong latency rtt"),
    (Workload::Stream, "throughput bandwidth iperf"),
];

/// Only test engines have an argument, and some of them need theirs.
fn check_argument(mechanism: &Mechanism, text: &str) -> Result<(), String> {
    let argument = text.split_once(':').map(|(_, argument)| argument);
    match mechanism.here.argument {
        _ if !mechanism.hidden() && argument.is_some() => {
            Err(format!("{} takes no argument after a colon", quote(&mechanism.name)))
        }
        Some(wanted) if !(wanted.fits)(argument) => {
            Err(format!("{} is not a test engine: write {}", quote(text), wanted.form))
        }
        _ => Ok(()),
    }
}

/// A mechanism that no runtime here has: it takes any value, so that its case can be
/// spelled and kept with the reason.
pub(crate) fn supposed(name: &str, values: &Values) -> Mechanism {
    let sized = values.has("payload") || values.has("field");
    let parameters = values.parameters().map(|name| {
        let values: Vec<String> = values.parsed(name).unwrap_or_default();
        ParameterDescription {
            name: name.to_owned(),
            default: values.first().cloned().unwrap_or_default(),
            values,
            about: String::new(),
        }
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
        ..Mechanism::default()
    }
}
