//! What of the machine matters to a plan: which CPUs may be used, and how they
//! are related.

use std::collections::BTreeMap;

use hopcost_model::{Placement, Value};

use crate::error::{Origin, PlanError, Result, words};

/// The machine as a plan sees it; the caller reads it from the system.
#[derive(Debug, Clone)]
pub struct Machine {
    /// CPUs that this process may use (`sched_getaffinity`), in ascending order.
    pub allowed_cpus: Vec<u32>,
    /// For each two-CPU relation that exists among the allowed CPUs, one pair of
    /// them: the caller's, then the callee's.
    pub pairs: BTreeMap<Placement, (u32, u32)>,
    /// What `place=cross` stands for: the nearest relation of two CPUs with a
    /// core each. Where absent, the first of `pairs`.
    pub cross: Option<Placement>,
    /// The relation of the two CPUs in [`Ask::cpus`](crate::Ask::cpus), where two
    /// were named.
    pub asked: Option<Placement>,
    /// The CPU of the end on another host, where there is one.
    pub peer_cpu: Option<u32>,
    /// Whether `/dev/cpu_dma_latency` may be opened for writing, or why not; asked
    /// once, if a case needs it.
    pub dma_latency: fn() -> Result<(), String>,
    /// Whether network namespaces can be made, or why not; asked in the same way.
    pub namespaces: fn() -> Result<(), String>,
    /// Whether stamps of these two CPUs may be compared, or why not.
    pub one_way: fn(u32, u32) -> Result<(), String>,
}

/// The CPUs that this plan may use, after `--cpus`.
#[derive(Debug, Clone)]
pub(crate) struct Cpus {
    /// Where one CPU is enough.
    pub first: u32,
    /// The pair of each two-CPU relation.
    pub pairs: BTreeMap<Placement, (u32, u32)>,
    /// What `cross` stands for.
    cross: Option<Placement>,
    /// Whether `--cpus` chose them.
    chosen: bool,
    /// Whether there are two at all, so that unpinned ends may run at the same time.
    pub two: bool,
}

impl Cpus {
    /// The machine's, or those that were named. With another host, the second that is named is
    /// there, and nobody here knows which it has.
    pub fn resolve(machine: &Machine, named: &[u32]) -> Result<Cpus> {
        let Some(peer_cpu) = machine.peer_cpu else { return Self::here(machine, named) };
        let (here, there) = match *named {
            [here, there] => (vec![here], there),
            _ => (named.to_vec(), peer_cpu),
        };
        let mut cpus = Self::here(machine, &here)?;
        cpus.pairs.insert(Placement::Pinned, (cpus.first, there));
        Ok(cpus)
    }

    fn here(machine: &Machine, named: &[u32]) -> Result<Cpus> {
        let origin = Origin::option("--cpus");
        let allowed = &machine.allowed_cpus;
        if let Some(cpu) = named.iter().find(|cpu| !allowed.contains(cpu)) {
            return Err(origin.error(format!(
                "this process may not use CPU {cpu}; it may use {}",
                words(allowed)
            )));
        }
        let (first, pair) = match *named {
            [] => return Self::all(machine),
            [one] => (one, None),
            [a, b] if a == b => {
                let message = format!("CPU {a} is named twice; name two CPUs, or one alone");
                return Err(origin.error(message));
            }
            [a, b] => {
                let known = machine.pairs.iter().find(|(_, pair)| **pair == (a, b));
                let relation = machine.asked.or(known.map(|(relation, _)| *relation));
                let unknown = || format!("the relation of CPUs {a} and {b} is not known");
                (a, Some((relation.ok_or_else(|| origin.error(unknown()))?, (a, b))))
            }
            _ => {
                return Err(origin.error(format!(
                    "{} CPUs are named; a case has two ends, so name one CPU or two",
                    named.len()
                )));
            }
        };
        Ok(Cpus {
            first,
            pairs: pair.into_iter().collect(),
            cross: pair.map(|(relation, _)| relation),
            chosen: true,
            two: pair.is_some(),
        })
    }

    fn all(machine: &Machine) -> Result<Cpus> {
        let mut pairs = machine.pairs.clone();
        pairs.retain(|relation, _| relation.is_two_cpu());
        let cross = machine.cross.filter(|relation| pairs.contains_key(relation));
        let cross = cross.or_else(|| pairs.keys().next().copied());
        let first = cross.and_then(|relation| pairs.get(&relation)).map(|pair| pair.0);
        let first = first.or(machine.allowed_cpus.first().copied()).ok_or_else(|| {
            PlanError::nothing_left("this process may use no CPU at all".to_owned())
        })?;
        let two = machine.allowed_cpus.len() > 1;
        Ok(Cpus { first, pairs, cross, chosen: false, two })
    }

    /// A placement's precise name. Where no two CPUs can be had, `cross` is
    /// spelled as the relation most machines have, and is then skipped.
    pub fn precise(&self, place: &Value) -> Placement {
        place.parsed().or(self.cross).unwrap_or(Placement::SameLlc)
    }

    /// Why a placement cannot be had.
    pub fn lacks(&self, placement: Placement) -> Option<String> {
        if !placement.is_two_cpu() || self.pairs.contains_key(&placement) {
            return None;
        }
        if !self.two {
            let who = if self.chosen { "--cpus names" } else { "this process may use" };
            return Some(format!("needs two CPUs; {who} only CPU {}", self.first));
        }
        if let (true, Some((relation, (a, b)))) = (self.chosen, self.pairs.first_key_value()) {
            return Some(format!("CPUs {a} and {b} are {relation}, not {placement}"));
        }
        let has: Vec<Placement> = self.pairs.keys().copied().collect();
        Some(match has.as_slice() {
            [] => "the relation of this machine's CPUs is not known".to_owned(),
            has => {
                format!("no two CPUs here are {placement}; there are pairs that are {}", words(has))
            }
        })
    }
}
