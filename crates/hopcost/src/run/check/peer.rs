//! What a worker does when the other end of a link misbehaves: the worker in Rust plays that end with
//! an engine that changes a byte or fails, and hopcost connects without the token.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use hopcost_model::case::{Boundary, Case, Role, Workload};
use hopcost_model::mechanism::{LinkSource, Mechanism, PeerExit, Peers};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{Command, LinkHalf, Offer, Phase, Reply, Seat, Stamp};
use hopcost_probe::mechanism;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Half, Opening};

use super::bench::{Bench, Check, answer};
use crate::run::trial::open::dial;
use crate::run::worker::{Launch, Worker};

/// How long a worker may take to notice.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to start and attach.
const START: Duration = Duration::from_secs(10);
/// A token, which no secret depends on here.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// The engines of Rust's end that misbehave at message 100, and exchanges that reach it.
const FLIPS: &str = "fault:corrupt";
const HANGS_UP: &str = "fault:error";
const EXCHANGES: u64 = 1000;

/// The checks of a mechanism whose bytes hopcost can speak.
pub fn checks(bench: &Bench<'_>, mechanism: &Mechanism, plan: &Plan) -> Vec<Check> {
    let row = mechanism::find(mechanism.carrier());
    let row = row.filter(|row| row.facts().here.bare_messages);
    let itself = plan.live_cases().find(|case| {
        case.boundary == Boundary::Process && !case.runtimes.are_mixed() && case.two_ends()
    });
    let (Some(row), Some(case), Peers::Any) = (row, itself, mechanism.peers) else {
        let what =
            format!("{}: notices a changed byte, and a partner that is gone", mechanism.name);
        let why = "hopcost cannot play its partner: that takes peers `any` over plain bytes";
        let two_ends = mechanism.workloads.contains(&Workload::Roundtrip);
        return if two_ends { vec![Check::skipped(what, why)] } else { Vec::new() };
    };
    let mut checks = Vec::new();
    for role in [Role::Caller, Role::Callee] {
        let link = Link { bench, mechanism, row, case, role };
        let mut check = |result, what: &str| {
            checks.push(Check::of(format!("{} as {role}: {what}", mechanism.name), result));
        };
        check(link.provoked(FLIPS), "fails when a byte of a message was changed");
        if row.facts().here.peer_exit == PeerExit::Noticed {
            check(link.provoked(HANGS_UP), "fails when the other end is gone");
        }
        if mechanism.link == LinkSource::Address {
            check(link.shown_another_token(), "refuses a connection without the token");
        }
    }
    checks
}

/// A mechanism of which a worker plays an end, and Rust the other.
struct Link<'a> {
    bench: &'a Bench<'a>,
    mechanism: &'a Mechanism,
    row: &'a Row,
    case: &'a Case,
    role: Role,
}

impl Link<'_> {
    /// Whether the worker fails where an engine plays its partner.
    fn provoked(&self, engine: &str) -> Result<(), String> {
        let (mut worker, partner) = match self.mechanism.link {
            LinkSource::Address => {
                let (mut worker, address) = self.offering()?;
                worker.send(&Command::Meet);
                let socket = self.connected(&address, TOKEN)?;
                if answer(self.bench, &mut worker, START)? != Reply::Met {
                    return Err("its reply does not answer `meet`".to_owned());
                }
                (worker, Half::of_fds([socket]))
            }
            LinkSource::Own | LinkSource::Descriptors => {
                let scratch = self.bench.setup.scratch.path();
                let opened = self.row.open(&Opening { case: self.case, scratch });
                let link = opened.map_err(|error| error.to_string())?;
                let (theirs, partner) = match self.role {
                    Role::Caller => (link.caller, link.callee),
                    Role::Callee => (link.callee, link.caller),
                };
                (self.attached(theirs)?, partner)
            }
        };
        let mut partner = self.partner(engine, partner)?;
        let run = Command::Run {
            phase: Phase::WarmUp,
            count: EXCHANGES,
            stamp: Stamp::Each,
            cap_ns: None,
        };
        worker.send(&run);
        partner.send(&run);
        // One that changes a byte keeps the link up until it is dropped: a worker that compares nothing
        // would otherwise fail all the same, because its partner is gone.
        fails(self.bench, &mut worker)
    }

    /// Whether the worker fails where somebody connects who shows another token.
    fn shown_another_token(&self) -> Result<(), String> {
        let (mut worker, address) = self.offering()?;
        worker.send(&Command::Meet);
        let _open = self.connected(&address, &TOKEN.replace('0', "f"))?;
        fails(self.bench, &mut worker)
    }

    fn connected(&self, address: &str, token: &str) -> Result<OwnedFd, String> {
        let scratch = self.bench.setup.scratch.path();
        dial(self.mechanism.carrier(), address, token, scratch)
            .map_err(|_| "it does not listen where it says".to_owned())
    }

    /// The worker, and the address that it offers.
    fn offering(&self) -> Result<(Worker, String), String> {
        let offer = Offer {
            carrier: self.mechanism.carrier().to_owned(),
            directory: self.bench.setup.scratch.path().display().to_string(),
            token: TOKEN.to_owned(),
        };
        let half = LinkHalf { offer: Some(offer), ..LinkHalf::default() };
        let (worker, address) = self.launched(half, Vec::new())?;
        Ok((worker, address.ok_or("it offers no address to connect to")?))
    }

    /// The worker at its half of a link.
    fn attached(&self, half: Half) -> Result<Worker, String> {
        let fds = half.fds.iter().map(AsRawFd::as_raw_fd).collect();
        let told = LinkHalf { fds, names: half.names, ..LinkHalf::default() };
        self.launched(told, half.fds).map(|(worker, _)| worker)
    }

    fn launched(
        &self,
        half: LinkHalf,
        inherited: Vec<OwnedFd>,
    ) -> Result<(Worker, Option<String>), String> {
        let deadline_ms = (START + 2 * PATIENCE).as_millis() as u64;
        let launch = Launch { deadline_ms, cpus: Vec::new(), fifo: None };
        let worker = Worker::launch(&self.bench.ready.program, &launch, inherited, 0);
        let worker = worker.map_err(|error| error.to_string())?;
        self.attaching(worker, self.case.id(), self.role, half)
    }

    /// Rust's end, which misbehaves.
    fn partner(&self, engine: &str, half: Half) -> Result<Worker, String> {
        let of_end = if self.role == Role::Caller { "-callee" } else { "" };
        let payload = self.case.payload_bytes.unwrap_or(1);
        let case = format!(
            "roundtrip/{engine}{of_end}?payload={payload}&boundary=process&place=free&wait=block"
        );
        let fds = half.fds.iter().map(AsRawFd::as_raw_fd).collect();
        let worker = Worker::spawn(&self.bench.setup.native, half.fds, 0);
        let worker = worker.map_err(|error| error.to_string())?;
        let half = LinkHalf { fds, names: half.names, ..LinkHalf::default() };
        self.attaching(worker, case, self.role.other(), half).map(|(worker, _)| worker)
    }

    /// A worker that has attached, and the address that it offers.
    fn attaching(
        &self,
        mut worker: Worker,
        case: String,
        role: Role,
        half: LinkHalf,
    ) -> Result<(Worker, Option<String>), String> {
        worker.send(&Command::Attach {
            case,
            seats: vec![Seat { role, flow: 0, cpu: None, link: Some(half) }],
            samples_fd: None,
            meeting_fd: None,
            deadline_ms: (START + 2 * PATIENCE).as_millis() as u64,
            parent: Some(std::process::id()),
            scratch: Some(self.bench.setup.scratch.path().display().to_string()),
            trial: 0,
            schedule: None,
        });
        match answer(self.bench, &mut worker, START)? {
            Reply::Attached { seats, .. } => {
                Ok((worker, seats.into_iter().find_map(|seat| seat.offers)))
            }
            _ => Err("its reply does not answer `attach`".to_owned()),
        }
    }
}

/// Whether the worker says that it failed.
fn fails(bench: &Bench<'_>, worker: &mut Worker) -> Result<(), String> {
    match answer(bench, worker, PATIENCE) {
        Ok(_) => Err("it went on as if nothing had happened".to_owned()),
        Err(error) if error.is_answer() => Ok(()),
        Err(error) => Err(error.into()),
    }
}
