//! Why a case cannot be measured here. Such a case stays in the plan with its
//! reason: an error is a row, never a gap.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;

use hopcost_model::{
    AXES, Ack, AckSize, Boundary, Case, EndsOf, IdleKnob, Mechanism, PayloadRange, Placement, Role,
    Runtime, Touch, WaitKind, Waits, Workload,
};

use crate::catalog::Catalog;
use crate::error::{plain, words};
use crate::machine::{Cpus, Machine};
use crate::roles::{RoleAssignment, assign};

/// What can be done here.
pub(crate) struct Feasible {
    /// The CPUs to use.
    pub cpus: Cpus,
    machine: Machine,
    /// Each mechanism is asked once whether it is available.
    available: RefCell<BTreeMap<String, Option<String>>>,
}

/// Bytes that the buffers of every mechanism with a `window` have room for.
const WINDOW_BYTES_MAX: u64 = 64 << 10;

/// Whether this wait keeps its CPU busy until its time slice ends.
pub(crate) fn spins(wait: WaitKind) -> bool {
    matches!(wait, WaitKind::Spin | WaitKind::SpinThenBlock)
}

impl Feasible {
    /// With these CPUs of this machine.
    pub fn new(cpus: Cpus, machine: &Machine) -> Self {
        Self { cpus, machine: machine.clone(), available: RefCell::default() }
    }

    /// The first reason that stands against a case: what the mechanism is comes
    /// before what this machine has, since only the latter may be mended.
    pub fn reason_against(&self, case: &Case, catalog: &Catalog) -> Option<String> {
        let reason = only_in_rust(case).or_else(|| self.ends_lack(case, catalog));
        reason.or_else(|| links_lack(case)).or_else(|| self.machine_lacks(case))
    }

    /// What stands against what the ends play.
    fn ends_lack(&self, case: &Case, catalog: &Catalog) -> Option<String> {
        let mut runtimes = [&case.runtimes.caller, &case.runtimes.callee].into_iter();
        if let Some(reason) = runtimes.find_map(|runtime| catalog.absent(runtime)) {
            return Some(reason);
        }
        match assign(case, &|runtime| catalog.description(runtime)) {
            Err(reason) => Some(plain(&reason)),
            Ok(roles) => [Role::Caller, Role::Callee]
                .into_iter()
                .find_map(|role| self.end_lacks(roles.ends.of(role), role, catalog)),
        }
    }

    /// What stands against what one end plays.
    fn end_lacks(&self, end: &RoleAssignment, role: Role, catalog: &Catalog) -> Option<String> {
        let runtime = end.case.runtimes.of(role);
        let Some(mechanism) = catalog.mechanism(runtime, end.case.mechanism_name()) else {
            return Some(format!("{runtime} has no mechanism {}", plain(&end.case.mechanism)));
        };
        let name = whose(runtime, &mechanism.name);
        // The other end's wait is the other's business.
        let waits = end.case.waits.map(|waits| Waits::both(*waits.of(role)));
        let case = Case { waits, ..end.case.clone() };
        if let Some(reason) = mechanism_lacks(&case, mechanism, &name) {
            return Some(reason);
        }
        let placements = &mechanism.placements;
        if let Some(placement) = case.placement.filter(|_| !placements.is_empty())
            && let Some(reason) = lacks(&name, "placement", &placement, placements)
        {
            return Some(reason);
        }
        // Another runtime says so in its description, which `assign` has looked at.
        runtime.is_rust().then(|| self.unavailable(mechanism, &case)).flatten()
    }

    fn unavailable(&self, mechanism: &Mechanism, case: &Case) -> Option<String> {
        let name = &mechanism.name;
        self.ask_once(name, mechanism.here.available).or_else(|| {
            let error = (mechanism.here.available_as)(case).err()?;
            Some(format!("{name} is not available here with these parameters: {}", plain(&error)))
        })
    }

    /// What stands against something, found out when it is first needed.
    fn ask_once(&self, what: &str, ask: fn() -> Result<(), String>) -> Option<String> {
        let mut known = self.available.borrow_mut();
        let probe = || {
            let error = ask().err()?;
            Some(format!("{what} is not available here: {}", plain(&error)))
        };
        known.entry(what.to_owned()).or_insert_with(probe).clone()
    }

    fn knob_lacks(&self, case: &Case) -> Option<String> {
        match case.idle_knob {
            IdleKnob::None => None,
            IdleKnob::DmaLatency => {
                self.ask_once("idle-knob=dma-latency", self.machine.dma_latency)
            }
            IdleKnob::Spinner => (case.placement == Some(Placement::Free)).then(|| {
                "idle-knob=spinner needs a receiver that is pinned; name a place".to_owned()
            }),
        }
    }

    /// What stands against ends on two hosts, or against what only these have.
    fn hosts_lack(&self, case: &Case, placement: Placement) -> Option<String> {
        let is_pinned = placement == Placement::Pinned;
        if case.boundary != Boundary::Host {
            return is_pinned.then(|| {
                "place=pinned is a CPU of each of two hosts, so it needs boundary=host".to_owned()
            });
        }
        if !self.cpus.pairs.contains_key(&Placement::Pinned) {
            return Some(
                "boundary=host needs another host: --peer 'ssh HOST hopcost worker'".to_owned(),
            );
        }
        if case.workload.is_stamped_by(Role::Callee) {
            return Some(format!(
                "one-way times refused: a {} needs the clocks of both hosts, which agree to half a \
                 round trip at best, as much as the time itself; use roundtrip, which needs one \
                 clock",
                case.workload
            ));
        }
        (!is_pinned && placement != Placement::Free).then(|| {
            format!("place={placement} is of two CPUs of one host; use place=pinned or free")
        })
    }

    fn machine_lacks(&self, case: &Case) -> Option<String> {
        let (placement, waits) = (case.placement?, case.waits?);
        if case.boundary == Boundary::Inline {
            return placement.is_two_cpu().then(|| {
                "an inline boundary is one thread, so it has one CPU; use place=same-cpu".to_owned()
            });
        }
        let namespaces = || match case.boundary {
            Boundary::Namespace => self.ask_once("boundary=namespace", self.machine.namespaces),
            _ => None,
        };
        let one_way = || {
            let &(sender, receiver) = self.cpus.pairs.get(&placement)?;
            let stamps = case.workload.is_stamped_by(Role::Callee);
            let reason = stamps.then(|| (self.machine.one_way)(sender, receiver))?.err()?;
            Some(format!("one-way times refused: {}", plain(&reason)))
        };
        let one_cpu = placement == Placement::SameCpu
            || (placement == Placement::Free && case.boundary != Boundary::Host && !self.cpus.two);
        let spinning = || match () {
            () if !one_cpu => None,
            () if case.workload == Workload::Load && !case.has_virtual_clock() => Some(
                "the sender of a load spins until each message is due, so it needs a CPU that the \
                 receiver does not use; use place=cross",
            ),
            () if spins(waits.caller) || spins(waits.callee) => Some(
                "spinning ends on one CPU only measure the scheduler's time slice; use wait=block \
                 or two CPUs",
            ),
            () => None,
        };
        self.hosts_lack(case, placement)
            .or_else(|| self.cpus.lacks(placement))
            .or_else(namespaces)
            .or_else(one_way)
            .or_else(|| self.knob_lacks(case))
            .or_else(|| spinning().map(str::to_owned))
    }
}

/// Why a case takes workers in Rust, if one is not.
fn only_in_rust(case: &Case) -> Option<String> {
    let Case { touch, ack_size, fields, flows, .. } = case;
    let one = |count: &Option<u32>| count.is_none_or(|count| count == 1);
    let (does, asked) = match () {
        () if case.runtimes.are_rust() => return None,
        () if *touch != Touch::Verify => {
            ("writes and compares every byte", format!("touch={touch}"))
        }
        () if !one(fields) || !one(flows) => (
            "sends a message in one piece, over one flow",
            format!("fields={} and flows={}", fields.unwrap_or(1), flows.unwrap_or(1)),
        ),
        () if *ack_size != AckSize::Number => {
            ("acknowledges with 8 bytes", format!("ack-size={ack_size}"))
        }
        () => return None,
    };
    Some(format!("a worker of another runtime {does}; {asked} needs both ends in rust"))
}

/// A mechanism as reasons speak of it: only Rust's has no owner.
fn whose(runtime: &Runtime, mechanism: &str) -> String {
    match runtime.is_rust() {
        true => plain(mechanism),
        false => plain(&format!("{runtime}'s {mechanism}")),
    }
}

/// Why something is not among what a mechanism has.
fn lacks<T: Display + PartialEq>(name: &str, what: &str, wanted: &T, has: &[T]) -> Option<String> {
    let reason = || format!("{name} has no {what} `{wanted}`; it has {}", words(has));
    (!has.contains(wanted)).then(reason)
}

fn mechanism_lacks(case: &Case, mechanism: &Mechanism, name: &str) -> Option<String> {
    let sides = || {
        let waits = case.waits?;
        let wait = |wait| lacks(name, "wait", &wait, &mechanism.waits);
        let boundary = lacks(name, "boundary", &case.boundary, &mechanism.boundaries);
        boundary.or_else(|| wait(waits.caller)).or_else(|| wait(waits.callee))
    };
    let parameters = || {
        mechanism.parameters.iter().find_map(|parameter| {
            let said = case.parameters.get(&parameter.name)?;
            let (key, has) = (&parameter.name, &parameter.values);
            let reason = || plain(&format!("{name} has no {key}={said}; it has {}", words(has)));
            (!has.contains(said)).then(reason)
        })
    };
    let size = || {
        let PayloadRange { min, max, .. } = mechanism.payload?;
        let bytes = case.payload_bytes.filter(|bytes| !(min..=max).contains(bytes))?;
        Some(match bytes > max {
            true => format!("payload {bytes} is over the limit of {max} bytes of {name}"),
            false => format!("payload {bytes} is under the least of {min} bytes of {name}"),
        })
    };
    let axis = || {
        let mut spelled = AXES.iter().filter(|axis| axis.spelled(case).is_some());
        let foreign = spelled.find(|axis| !mechanism.has(axis))?;
        Some(format!("{name} has no {}", foreign.key))
    };
    lacks(name, "workload", &case.workload, &mechanism.workloads)
        .or_else(sides)
        .or_else(axis)
        .or_else(|| ends_lack(case, mechanism, name))
        .or_else(|| uneven(case.payload_bytes, case.fields))
        .or_else(parameters)
        .or_else(size)
}

/// Why the ends of a mechanism cannot do together what was asked of them.
fn ends_lack(case: &Case, mechanism: &Mechanism, name: &str) -> Option<String> {
    let workload = case.workload;
    Some(match () {
        () if workload.spec().ends == EndsOf::SideBySide && case.boundary == Boundary::Inline => {
            format!("a {workload} has two ends that run side by side, so not inline")
        }
        () if case.ack == Some(Ack::None) && mechanism.keeps_buffers() => format!(
            "{name} must not write a message's buffers again before it is received, so it needs \
             an ack"
        ),
        () if case.ack_size == AckSize::Field && case.ack != Some(Ack::PerMessage) => {
            "ack-size=field needs ack=per-message: with more messages under way, both ends may \
             wait for room to send"
                .to_owned()
        }
        () => return Some(format!("{name} {}", mechanism.senders.lack(case)?)),
    })
}

/// Why round trips cannot be in flight together, or over several connections.
fn links_lack(case: &Case) -> Option<String> {
    let Case { window, connections, boundary, .. } = case;
    let in_flight = u64::from(*window) * u64::from(case.payload_bytes.unwrap_or(0));
    // What an end cannot send, since the other does not receive before it has sent.
    let buffers = [case.sndbuf_bytes, case.rcvbuf_bytes].into_iter().filter(|bytes| *bytes > 0);
    let room = buffers.min().map_or(WINDOW_BYTES_MAX, |own| WINDOW_BYTES_MAX.min(own.into()));
    Some(match () {
        () if *window > 1 && in_flight > room => format!(
            "window={window} messages are {in_flight} bytes, over the {room} that surely have room \
             on their way: with more, both ends may wait for room to send"
        ),
        () if *connections > 1 && !matches!(boundary, Boundary::Process | Boundary::Thread) => {
            format!("connections={connections} need boundary=process or thread")
        }
        () if *connections > 1 && case.wait(Role::Callee) != WaitKind::Epoll => format!(
            "the callee of several connections waits for all of them by epoll: want wait={}:epoll",
            case.wait(Role::Caller)
        ),
        () => return None,
    })
}

/// Why a message does not divide into its fields.
pub(crate) fn uneven(payload_bytes: Option<u32>, fields: Option<u32>) -> Option<String> {
    let (payload, fields) = (payload_bytes?, fields?);
    (payload < fields || payload % fields != 0).then(|| {
        format!(
            "payload {payload} does not divide into fields {fields}; make it a multiple, or give \
             `field`, the bytes of one field"
        )
    })
}
