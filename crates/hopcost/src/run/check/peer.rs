//! What a worker does when the other end of a link misbehaves: hopcost itself plays
//! that end, sends a message with a byte changed, or hangs up.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Case, Role, Workload};
use hopcost_model::mechanism::{LinkSource, Mechanism, PeerExit, Peers};
use hopcost_model::plan::Plan;
use hopcost_model::protocol::{Command, LinkHalf, Offer, Phase, Reply, Seat, Stamp};
use hopcost_probe::mechanism;
use hopcost_probe::party;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::sys;

use super::bench::{Bench, Check, answer};
use crate::run::trial::dial;
use crate::run::worker::{Launch, Worker};

/// How long a worker may take to notice.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to start and attach.
const START: Duration = Duration::from_secs(10);
/// A token, which no secret depends on here.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// What the other end does.
#[derive(Clone, Copy, PartialEq)]
enum Mischief {
    /// Answers for a while, then changes a byte.
    Flip,
    /// Answers for a while, then closes the link.
    HangUp,
    /// Knows another token than it should.
    WrongToken,
}

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
    let link = Link { mechanism, row, case };
    let mut checks = Vec::new();
    for role in [Role::Caller, Role::Callee] {
        let mut check = |mischief: Mischief, what: &str| {
            let what = format!("{} as {role}: {what}", mechanism.name);
            checks.push(Check::of(what, provoke(bench, &link, role, mischief)));
        };
        check(Mischief::Flip, "fails when a byte of a message was changed");
        if row.facts().here.peer_exit == PeerExit::Noticed {
            check(Mischief::HangUp, "fails when the other end is gone");
        }
        if mechanism.link == LinkSource::Address {
            check(Mischief::WrongToken, "refuses a connection without the token");
        }
    }
    checks
}

/// The worker's half as it is told, what it inherits, and hopcost's own end.
struct Laid {
    told: LinkHalf,
    inherited: Vec<OwnedFd>,
    own: Vec<OwnedFd>,
}

/// A mechanism that hopcost plays the partner of.
struct Link<'a> {
    mechanism: &'a Mechanism,
    row: &'a Row,
    case: &'a Case,
}

fn lay(bench: &Bench<'_>, link: &Link<'_>, role: Role) -> Result<Laid, String> {
    if link.mechanism.link == LinkSource::Address {
        let offer = Offer {
            carrier: link.mechanism.carrier().to_owned(),
            directory: bench.setup.scratch.path().display().to_string(),
            token: TOKEN.to_owned(),
        };
        let told = LinkHalf { offer: Some(offer), ..LinkHalf::default() };
        return Ok(Laid { told, inherited: Vec::new(), own: Vec::new() });
    }
    let opening = Opening { case: link.case, scratch: bench.setup.scratch.path() };
    let link = link.row.open(&opening).map_err(|e| e.to_string())?;
    let (theirs, ours): (Half, Half) = match role {
        Role::Caller => (link.caller, link.callee),
        Role::Callee => (link.callee, link.caller),
    };
    let fds = theirs.fds.iter().map(AsRawFd::as_raw_fd).collect();
    let told = LinkHalf { fds, names: theirs.names, ..LinkHalf::default() };
    Ok(Laid { told, inherited: theirs.fds, own: ours.fds })
}

fn provoke(
    bench: &Bench<'_>,
    link: &Link<'_>,
    role: Role,
    mischief: Mischief,
) -> Result<(), String> {
    let mut laid = lay(bench, link, role)?;
    let launch = Launch {
        deadline_ms: (START + 2 * PATIENCE).as_millis() as u64,
        cpus: Vec::new(),
        fifo: None,
    };
    let mut worker = Worker::launch(&bench.ready.program, &launch, laid.inherited, 0)
        .map_err(|e| e.to_string())?;
    let attach = Command::Attach {
        case: link.case.id(),
        seats: vec![Seat { role, flow: 0, cpu: None, link: Some(laid.told) }],
        samples_fd: None,
        meeting_fd: None,
        deadline_ms: launch.deadline_ms,
        parent: Some(std::process::id()),
        scratch: Some(bench.setup.scratch.path().display().to_string()),
        trial: 0,
        schedule: None,
    };
    worker.send(&attach);
    let Reply::Attached { seats, .. } = answer(bench, &mut worker, START)? else {
        return Err("its reply does not answer `attach`".to_owned());
    };
    if let Some(address) = seats.into_iter().find_map(|seat| seat.offers) {
        let token = match mischief {
            Mischief::WrongToken => TOKEN.replace('0', "f"),
            Mischief::Flip | Mischief::HangUp => TOKEN.to_owned(),
        };
        worker.send(&Command::Meet);
        let socket =
            dial::connect(link.mechanism.carrier(), &address, &token, bench.setup.scratch.path());
        laid.own = vec![socket.map_err(|_| "it does not listen where it says".to_owned())?];
        if mischief == Mischief::WrongToken {
            return fails(bench, &mut worker);
        }
        if answer(bench, &mut worker, START)? != Reply::Met {
            return Err("its reply does not answer `meet`".to_owned());
        }
    }
    let run = Command::Run { phase: Phase::WarmUp, count: 1000, stamp: Stamp::Each, cap_ns: None };
    worker.send(&run);
    let open = play(bench, laid.own, &link.case.payload_bytes, role.other(), mischief)?;
    // The link stays up until the worker has answered: one that compares nothing would
    // otherwise fail all the same, because its partner is gone.
    let verdict = fails(bench, &mut worker);
    drop(open);
    verdict
}

/// Whether the worker says that it failed.
fn fails(bench: &Bench<'_>, worker: &mut Worker) -> Result<(), String> {
    match answer(bench, worker, PATIENCE) {
        Ok(_) => Err("it went on as if nothing had happened".to_owned()),
        Err(error) if error.is_answer() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Exchanges that go well before the mischief.
const GOOD: u64 = 20;

/// Plays an end: the lead-in and some exchanges, then the mischief. The link, unless that
/// was to hang up.
fn play(
    bench: &Bench<'_>,
    own: Vec<OwnedFd>,
    payload: &Option<u32>,
    role: Role,
    mischief: Mischief,
) -> Result<Option<[File; 2]>, String> {
    let mut fds = own.into_iter().map(File::from);
    // One socket for both ways, or a pipe for each.
    let mut incoming = fds.next().ok_or("there is no link")?;
    let mut outgoing = match fds.next() {
        Some(outgoing) => outgoing,
        None => incoming.try_clone().map_err(|e| e.to_string())?,
    };
    let size = payload.unwrap_or(1) as usize;
    let until = Instant::now() + PATIENCE;
    let mut receive = |number: u64| -> Result<(), String> {
        let mut message = vec![0; size];
        let mut filled = 0;
        while filled < size {
            let left = until.saturating_duration_since(Instant::now()).as_millis() as i32;
            let fds = [incoming.as_raw_fd(), bench.setup.interrupt.as_raw_fd()];
            let ready = sys::poll_readable(&fds, left).map_err(|e| e.to_string())?;
            if !ready[0] {
                return Err("it sends nothing".to_owned());
            }
            match incoming.read(&mut message[filled..]).map_err(|e| e.to_string())? {
                0 => return Err("it hung up".to_owned()),
                n => filled += n,
            }
        }
        match party::verify(&message, number) {
            true => Ok(()),
            false => Err(format!("message {number} has the wrong contents")),
        }
    };
    let mut message = vec![0; size];
    for exchange in 0..=GOOD {
        let request = 2 * exchange + 1;
        let number = match role {
            Role::Caller => request,
            Role::Callee => {
                receive(request)?;
                request + 1
            }
        };
        party::fill(&mut message, number);
        if exchange == GOOD {
            if mischief == Mischief::HangUp {
                return Ok(None);
            }
            message[size / 2] ^= 0x10;
        }
        outgoing.write_all(&message).map_err(|e| e.to_string())?;
        if role == Role::Caller && exchange < GOOD {
            receive(request + 1)?;
        }
    }
    Ok(Some([incoming, outgoing]))
}
