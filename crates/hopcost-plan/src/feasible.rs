//! Why a case cannot be measured here. Such a case stays in the plan with its
//! reason: an error is a row, never a gap.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;

use hopcost_model::case::{
    Ack, Boundary, Case, IdleKnob, Placement, Role, Runtime, WaitKind, Waits, Workload,
};
use hopcost_model::mechanism::{Facts, Payload};

use crate::cast::{Part, cast};
use crate::error::plain;
use crate::known::Known;
use crate::machine::{Cpus, Machine, is_two_cpu};
use crate::message::{Message, uneven};

/// What can be done here.
pub(crate) struct Feasible {
    /// The CPUs to use.
    pub cpus: Cpus,
    dma_latency: fn() -> Result<(), String>,
    namespaces: fn() -> Result<(), String>,
    one_way: fn(u32, u32) -> Result<(), String>,
    /// Each mechanism is asked once whether it is available.
    available: RefCell<BTreeMap<&'static str, Option<String>>>,
}

/// Whether this wait keeps its CPU busy until its time slice ends.
pub(crate) fn spins(wait: WaitKind) -> bool {
    matches!(wait, WaitKind::Spin | WaitKind::SpinThenBlock)
}

impl Feasible {
    /// With these CPUs of this machine.
    pub fn new(cpus: Cpus, machine: &Machine) -> Self {
        let Machine { dma_latency, namespaces, one_way, .. } = *machine;
        Self { cpus, dma_latency, namespaces, one_way, available: RefCell::default() }
    }

    /// The first reason that stands against a case: what the mechanism is comes
    /// before what this machine has, since only the latter may be mended.
    pub fn reason_against(&self, case: &Case, known: &Known) -> Option<String> {
        let reason = match case.runtimes.are_rust() {
            true => self.rust_lacks(case, known),
            false => self.runtimes_lack(case, known),
        };
        reason.or_else(|| self.machine_lacks(case))
    }

    fn rust_lacks(&self, case: &Case, known: &Known) -> Option<String> {
        match known.facts_in(&Runtime::RUST, case.mechanism_name()) {
            None => Some(format!("rust has no mechanism {}", plain(&case.mechanism))),
            Some(facts) => {
                mechanism_lacks(case, facts, facts.name).or_else(|| self.unavailable(facts))
            }
        }
    }

    /// Where an end is not in Rust.
    fn runtimes_lack(&self, case: &Case, known: &Known) -> Option<String> {
        let runtimes = [&case.runtimes.caller, &case.runtimes.callee];
        if let Some(reason) = runtimes.into_iter().find_map(|runtime| known.absent(runtime)) {
            return Some(reason);
        }
        let caller = &case.runtimes.caller;
        if !case.runtimes.are_mixed()
            && let Some(facts) = known.facts_in(caller, case.mechanism_name())
            && let Some(reason) = mechanism_lacks(case, facts, &whose(caller, facts.name))
        {
            return Some(reason);
        }
        let find = |runtime: &Runtime| known.description(runtime);
        match cast(case, &find) {
            Err(reason) => Some(plain(&reason)),
            Ok(cast) => [Role::Caller, Role::Callee]
                .into_iter()
                .find_map(|role| self.part_lacks(cast.of(role), role, known)),
        }
    }

    /// What stands against one end's part.
    fn part_lacks(&self, part: &Part, role: Role, known: &Known) -> Option<String> {
        let name = whose(&part.runtime, &part.mechanism);
        let facts = known.facts_in(&part.runtime, &part.mechanism)?;
        let row = known.row(&part.runtime, &part.mechanism)?;
        // The other end's wait is the other's business.
        let waits = part.case.waits.map(|waits| Waits::both(waits.of(role)));
        let case = Case { waits, ..part.case.clone() };
        if let Some(reason) = mechanism_lacks(&case, facts, &name) {
            return Some(reason);
        }
        for parameter in &row.parameters {
            let Some(said) = case.parameters.get(&parameter.name) else { continue };
            if !parameter.values.contains(said) {
                let (key, has) = (&parameter.name, words(&parameter.values));
                return Some(plain(&format!("{name} has no {key}={said}; it has {has}")));
            }
        }
        if let Some(placement) = case.placement
            && !row.placements.is_empty()
            && !row.placements.contains(&placement)
        {
            let has = words(&row.placements);
            return Some(format!("{name} has no placement `{placement}`; it has {has}"));
        }
        // Another runtime says so in its description, which `cast` has looked at.
        part.runtime.is_rust().then(|| self.unavailable(facts)).flatten()
    }

    fn unavailable(&self, facts: &'static Facts) -> Option<String> {
        self.ask_once(facts.name, facts.available)
    }

    /// What stands against something, found out when it is first needed.
    fn ask_once(&self, what: &'static str, ask: fn() -> Result<(), String>) -> Option<String> {
        let mut known = self.available.borrow_mut();
        let probe = || {
            let error = ask().err()?;
            Some(format!("{what} is not available here: {}", plain(&error)))
        };
        known.entry(what).or_insert_with(probe).clone()
    }

    fn knob_lacks(&self, case: &Case) -> Option<String> {
        match case.idle_knob {
            IdleKnob::None => None,
            IdleKnob::DmaLatency => self.ask_once("idle-knob=dma-latency", self.dma_latency),
            IdleKnob::Spinner => (case.placement == Some(Placement::Free)).then(|| {
                "idle-knob=spinner needs a receiver that is pinned; name a place".to_owned()
            }),
        }
    }

    fn machine_lacks(&self, case: &Case) -> Option<String> {
        let (placement, waits) = (case.placement?, case.waits?);
        if case.boundary == Boundary::Inline {
            return is_two_cpu(placement).then(|| {
                "an inline boundary is one thread, so it has one CPU; use place=same-cpu".to_owned()
            });
        }
        if let Some(reason) = self.cpus.lacks(placement) {
            return Some(reason);
        }
        let one_cpu = placement == Placement::SameCpu
            || (placement == Placement::Free && !self.cpus.has_two());
        if case.boundary == Boundary::Namespace
            && let Some(reason) = self.ask_once("boundary=namespace", self.namespaces)
        {
            return Some(reason);
        }
        if case.workload == Workload::Wake
            && let Some(&(sender, receiver)) = self.cpus.pairs.get(&placement)
            && let Err(reason) = (self.one_way)(sender, receiver)
        {
            return Some(format!("one-way times refused: {}", plain(&reason)));
        }
        if let Some(reason) = self.knob_lacks(case) {
            return Some(reason);
        }
        let spinning = [waits.caller, waits.callee].into_iter().any(spins);
        (one_cpu && spinning).then(|| {
            "spinning ends on one CPU only measure the scheduler's time slice; use wait=block or \
             two CPUs"
                .to_owned()
        })
    }
}

/// A mechanism as reasons speak of it: only Rust's has no owner.
fn whose(runtime: &Runtime, mechanism: &str) -> String {
    match runtime.is_rust() {
        true => plain(mechanism),
        false => plain(&format!("{runtime}'s {mechanism}")),
    }
}

fn mechanism_lacks(case: &Case, facts: &Facts, name: &str) -> Option<String> {
    if !facts.workloads.contains(&case.workload) {
        let has = words(facts.workloads);
        return Some(format!("{name} has no workload `{}`; it has {has}", case.workload));
    }
    if let Some(waits) = case.waits {
        if !facts.boundaries.contains(&case.boundary) {
            let has = words(facts.boundaries);
            return Some(format!("{name} has no boundary `{}`; it has {has}", case.boundary));
        }
        for kind in [Role::Caller, Role::Callee].map(|role| waits.of(role)) {
            if facts.wait(kind).is_none() {
                let has: Vec<WaitKind> = facts.waits.iter().map(|facts| facts.wait).collect();
                return Some(format!("{name} has no wait `{kind}`; it has {}", words(&has)));
            }
        }
    }
    if matches!(case.workload, Workload::Wake | Workload::Stream)
        && case.boundary == Boundary::Inline
    {
        return Some(format!(
            "a {} has two ends that run side by side, so not inline",
            case.workload
        ));
    }
    if case.ack == Some(Ack::None) && facts.keeps_buffers {
        return Some(format!(
            "{name} must not write a message's buffers again before it is received, so it needs \
             an ack"
        ));
    }
    let message = Message { payload_bytes: case.payload_bytes, fields: case.fields };
    if let Some(reason) = uneven(message) {
        return Some(reason);
    }
    let Payload::Bytes { min, max, .. } = facts.payload else { return None };
    match case.payload_bytes {
        Some(bytes) if bytes > max => {
            Some(format!("payload {bytes} is over the limit of {max} bytes of {name}"))
        }
        Some(bytes) if bytes < min => {
            Some(format!("payload {bytes} is under the least of {min} bytes of {name}"))
        }
        _ => None,
    }
}

fn words<T: Display>(all: &[T]) -> String {
    match all {
        [] => "none".to_owned(),
        _ => all.iter().map(T::to_string).collect::<Vec<_>>().join(", "),
    }
}
