//! What a worker does when the other end of a link misbehaves: the worker in Rust plays that end with
//! an engine that changes a byte or fails, and hopcost connects without the token. Where the worker
//! makes the link itself, it changes the byte itself, and hopcost kills its processes.

use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use hopcost_model::case::{Boundary, Case, Placement, Role, Workload};
use hopcost_model::mechanism::{LinkSource, Mechanism, PeerExit, Peers};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{Command, LinkHalf, Offer, Phase, Reply, Seat, Stamp};
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::{mechanism, sys};

use super::bench::{Bench, Check, answer};
use crate::run::scratch::TrialScratch;
use crate::run::trial::open::dial;
use crate::run::trial::snapshot::{Other, Seated};
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
/// More exchanges than there is time for.
const ENDLESS: u64 = 1 << 24;
/// After so long they are under way.
const UNDER_WAY: Duration = Duration::from_millis(100);

/// The checks of a mechanism whose bytes hopcost can speak.
pub fn checks(bench: &Bench<'_>, mechanism: &Mechanism, plan: &Plan) -> Vec<Check> {
    if mechanism.link == LinkSource::Own && bench.ready.description.spoils {
        return of_own_link(bench, mechanism, plan);
    }
    let row = mechanism::find(mechanism.carrier());
    let row = row.filter(|row| row.facts().here.bare_messages);
    let itself = plan.live_cases().find(|case| {
        case.boundary == Boundary::Process && !case.runtimes.are_mixed() && case.two_ends()
    });
    let (Some(row), Some(case), Peers::Any) = (row, itself, mechanism.peers) else {
        let what =
            format!("{}: notices a changed byte, and a partner that is gone", mechanism.name);
        let why = "hopcost cannot play its partner: that takes peers `any` over plain bytes, or a \
                   worker that says `spoils`";
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
            prefix: None,
            spoil: None,
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

/// The checks of a mechanism whose link the worker makes itself.
fn of_own_link(bench: &Bench<'_>, mechanism: &Mechanism, plan: &Plan) -> Vec<Check> {
    let default = mechanism.payload.map(|payload| payload.default);
    let is_usual = |case: &&Case| {
        let is_free = case.placement == Some(Placement::Free);
        case.workload == Workload::Roundtrip && case.payload_bytes == default && is_free
    };
    let cases = || plan.live_cases().filter(is_usual);
    let mut checks = Vec::new();
    for case in cases() {
        for (number, whose) in [(101, "caller's"), (102, "callee's")] {
            let what =
                format!("{}: fails when a byte of the {whose} message was changed", case.id());
            let spoiled = own(bench, case, Some(number)).and_then(|mut own| {
                own.worker.send(&endless());
                fails(bench, &mut own.worker)
            });
            checks.push(Check::of(what, spoiled));
        }
    }
    let processes = cases().find(|case| case.boundary == Boundary::Process);
    let victims = processes.map(|case| own(bench, case, None).map(|own| own.processes));
    for (at, (name, _)) in victims.into_iter().flatten().flatten().enumerate() {
        let killed = processes.ok_or_else(String::new).and_then(|case| {
            let mut own = own(bench, case, None)?;
            own.worker.send(&endless());
            thread::sleep(UNDER_WAY);
            let (_, pid) = own.processes.get(at).ok_or("it started fewer processes")?;
            let process = sys::open_process(*pid).map_err(|error| error.to_string())?;
            let _ = sys::signal_process(&process, sys::Signal::KILL);
            fails(bench, &mut own.worker)
        });
        let what = format!("{}: fails when {name} is killed", mechanism.name);
        checks.push(Check::of(what, killed));
    }
    checks
}

fn endless() -> Command {
    Command::Run { phase: Phase::WarmUp, count: ENDLESS, stamp: Stamp::Each, cap_ns: None }
}

/// A worker that has attached to a link of its own.
struct Own {
    worker: Worker,
    /// Those besides the worker: each end's and all others.
    processes: Vec<(String, u32)>,
    /// Removed after the worker.
    _scratch: TrialScratch,
}

/// Has a worker make the link of a case itself, and maybe change a byte of a message.
fn own(bench: &Bench<'_>, case: &Case, spoil: Option<u64>) -> Result<Own, String> {
    let deadline_ms = (START + 2 * PATIENCE).as_millis() as u64;
    let launch = Launch { deadline_ms, cpus: Vec::new(), fifo: None };
    let worker = Worker::launch(&bench.ready.program, &launch, Vec::new(), 0);
    let mut worker = worker.map_err(|error| error.to_string())?;
    let scratch = bench.setup.scratch.of_trial().map_err(|error| error.to_string())?;
    let seat = |role| Seat { role, flow: 0, cpu: None, link: None };
    worker.send(&Command::Attach {
        case: case.id(),
        seats: [Role::Caller, Role::Callee].map(seat).into(),
        samples_fd: None,
        meeting_fd: None,
        deadline_ms,
        parent: Some(std::process::id()),
        scratch: Some(scratch.path().display().to_string()),
        prefix: Some(scratch.prefix().to_owned()),
        spoil,
        trial: 0,
        schedule: None,
    });
    let Reply::Attached { seats, .. } = answer(bench, &mut worker, START)? else {
        return Err("its reply does not answer `attach`".to_owned());
    };
    let pid = |pid: Option<u32>| pid.unwrap_or(worker.id());
    let seated = seats.iter().map(|seat| Seated::new(seat.role, pid(seat.pid), None));
    let seated: Vec<Seated> = seated.collect();
    let ends = seated.iter().filter(|seat| seat.pid != worker.id());
    let ends = ends.map(|seat| (format!("the {}", seat.role), seat.pid));
    let others = Other::of(worker.id(), &seated).into_iter().map(|other| (other.name, other.pid));
    let processes = ends.chain(others).collect();
    Ok(Own { worker, processes, _scratch: scratch })
}

/// Whether the worker says that it failed.
fn fails(bench: &Bench<'_>, worker: &mut Worker) -> Result<(), String> {
    match answer(bench, worker, PATIENCE) {
        Ok(_) => Err("it went on as if nothing had happened".to_owned()),
        Err(error) if error.is_answer() => Ok(()),
        Err(error) => Err(error.into()),
    }
}
