//! What a worker does when the other end of a link misbehaves: the worker in Rust plays that end with
//! an engine that changes a byte or fails, and hopcost connects without the token. Where the worker
//! makes the link itself, it changes the byte itself, and hopcost kills its processes.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hopcost_model::{
    Boundary, Case, Command, LinkSource, Mechanism, PeerExit, Peers, Phase, PhaseSpec, Placement,
    Plan, Role, Stamp, Workload,
};
use hopcost_probe::{mechanism, sys};

use super::bench::{Bench, Check};
use crate::run::runtimes::Workers;
use crate::run::trial::open::open;
use crate::run::trial::spec::{TOKEN, TrialSpec};
use crate::run::trial::workers::TrialWorkers;
use crate::run::worker::Worker;

/// How long a worker may take to notice.
const PATIENCE: Duration = Duration::from_secs(5);
/// The engines of Rust's end that misbehave at message 100, and exchanges that reach it.
const FLIPS: &str = "fault:corrupt";
/// The same at message 5, the first of a load: those before are exchanged as in a round trip.
const FLIPS_OF_LOAD: &str = "fault:corrupt-third";
const HANGS_UP: &str = "fault:error";
const EXCHANGES: u64 = 1000;
/// More exchanges than there is time for.
const ENDLESS: u64 = 1 << 24;
/// After so long they are under way.
const UNDER_WAY: Duration = Duration::from_millis(100);
const WENT_ON: &str = "it went on as if nothing had happened";

/// The checks of a mechanism whose bytes hopcost can speak.
pub fn checks(bench: &Bench<'_>, mechanism: &Mechanism, plan: &Plan) -> Vec<Check> {
    let row = mechanism::find(mechanism.carrier()).filter(|_| mechanism.peers == Peers::Any);
    let row = row.filter(|row| row.facts().here.bare_messages);
    if bench.ready.description.spoils && (mechanism.link == LinkSource::Own || row.is_none()) {
        return of_own_link(bench, mechanism, plan);
    }
    let mut checks = Vec::new();
    for role in [Role::Caller, Role::Callee] {
        let with_rust = plan.live_cases().find(|case| {
            case.boundary == Boundary::Process
                && *case.runtimes.of(role) == bench.found.runtime
                && case.runtimes.of(role.other()).is_rust()
        });
        let Some((row, case)) = row.zip(with_rust) else { continue };
        let link = Link { bench, plan, case, role };
        let mut check = |result, what: &str| {
            checks.push(Check::of(format!("{} as {role}: {what}", mechanism.name), result));
        };
        let exchanges = |engine| link.provoked(Workload::Roundtrip, engine);
        check(exchanges(FLIPS), "fails when a byte of a message was changed");
        if mechanism.workloads.contains(&Workload::Load) && role == Role::Callee {
            let taken = link.provoked(Workload::Load, FLIPS_OF_LOAD);
            check(taken, "fails when a byte of a message of a load was changed");
        }
        if row.facts().here.peer_exit == PeerExit::Noticed {
            check(exchanges(HANGS_UP), "fails when the other end is gone");
        }
        if mechanism.link == LinkSource::Address {
            check(link.shown_another_token(), "refuses a connection without the token");
        }
    }
    if checks.is_empty() && mechanism.workloads.contains(&Workload::Roundtrip) {
        let what =
            format!("{}: notices a changed byte, and a partner that is gone", mechanism.name);
        let why = "hopcost cannot play its partner: that takes peers `any` over plain bytes, or a \
                   worker that says `spoils`";
        checks.push(Check::skipped(what, why));
    }
    checks
}

/// A mechanism of which a worker plays an end, and Rust the other.
struct Link<'a> {
    bench: &'a Bench<'a>,
    plan: &'a Plan,
    case: &'a Case,
    role: Role,
}

impl Link<'_> {
    /// Whether the worker fails where an engine plays its partner.
    fn provoked(&self, workload: Workload, engine: &str) -> Result<()> {
        let (bench, case) = (self.bench, self.case);
        let mut workers = Workers::assemble(case, &bench.setup.runtimes)?;
        let of_end = if self.role == Role::Caller { "-callee" } else { "" };
        let payload = case.payload_bytes.unwrap_or(1);
        let engine: Case = format!(
            "roundtrip/{engine}{of_end}?payload={payload}&boundary=process&place=free&wait=block"
        )
        .parse()?;
        let ends = &mut workers.roles.ends;
        let (mine, own, partner) = match self.role {
            Role::Caller => (0, &mut ends.caller, &mut ends.callee),
            Role::Callee => (1, &mut ends.callee, &mut ends.caller),
        };
        own.case.workload = workload;
        partner.case = engine;
        let cpus = self.plan.cpus_for(case.placement);
        let spec = TrialSpec::exactly(bench.setup, case.clone(), workers, cpus, (0, EXCHANGES));
        let mut workers = open(&spec)?;
        let (phase, stamp) = (Phase::WarmUp, Stamp::Each);
        let run = Command::Run(PhaseSpec { phase, count: EXCHANGES, stamp, cap_ns: None });
        for one in workers.all.iter_mut().rev() {
            one.worker.send(&run);
        }
        // The link is up until all are dropped: a worker that compares nothing would otherwise fail
        // all the same, because its partner is gone.
        fails(&mut workers.all[mine].worker)
    }

    /// Whether the worker fails where somebody connects who shows another token.
    fn shown_another_token(&self) -> Result<()> {
        let (bench, case) = (self.bench, self.case);
        let workers = Workers::assemble(case, &bench.setup.runtimes)?;
        let cpus = self.plan.cpus_for(case.placement);
        let spec = TrialSpec::exactly(bench.setup, case.clone(), workers, cpus, (0, EXCHANGES));
        match open(&TrialSpec { spoil: Some(TOKEN), ..spec }) {
            Ok(_) => bail!(WENT_ON),
            Err(why) if why.to_string().contains("deadline") => Err(why),
            Err(_) => Ok(()),
        }
    }
}

/// The checks of a mechanism whose link the worker makes itself, between threads at least.
fn of_own_link(bench: &Bench<'_>, mechanism: &Mechanism, plan: &Plan) -> Vec<Check> {
    // An empty message has no byte to change.
    let usual = mechanism.payload.map(|payload| payload.default.max(1));
    let is_usual = |case: &&Case| {
        let is_free = case.placement == Some(Placement::Free);
        let is_own = mechanism.link == LinkSource::Own || case.boundary == Boundary::Thread;
        case.workload == Workload::Roundtrip && case.payload_bytes == usual && is_free && is_own
    };
    let cases = || plan.live_cases().filter(is_usual);
    let mut checks = Vec::new();
    for case in cases() {
        for (number, whose) in [(101, "caller's"), (102, "callee's")] {
            let what =
                format!("{}: fails when a byte of the {whose} message was changed", case.id());
            let spoiled = own(bench, case, Some(number)).and_then(|mut own| {
                own.all[0].worker.send(&endless());
                fails(&mut own.all[0].worker)
            });
            checks.push(Check::of(what, spoiled));
        }
    }
    let processes = cases().find(|case| case.boundary == Boundary::Process);
    let victims = processes.map(|case| own(bench, case, None).map(|own| own.all[0].started()));
    for (at, (name, _)) in victims.into_iter().flatten().flatten().enumerate() {
        let killed = processes.context("it has no process").and_then(|case| {
            let mut own = own(bench, case, None)?;
            own.all[0].worker.send(&endless());
            thread::sleep(UNDER_WAY);
            let started = own.all[0].started();
            let (_, pid) = started.get(at).context("it started fewer processes")?;
            let process = sys::open_process(*pid)?;
            let _ = sys::signal_process(&process, sys::Signal::KILL);
            fails(&mut own.all[0].worker)
        });
        let what = format!("{}: fails when {name} is killed", mechanism.name);
        checks.push(Check::of(what, killed));
    }
    checks
}

fn endless() -> Command {
    let (phase, stamp) = (Phase::WarmUp, Stamp::Each);
    Command::Run(PhaseSpec { phase, count: ENDLESS, stamp, cap_ns: None })
}

/// Has a worker make the link of a case itself, and maybe change a byte of a message.
fn own<'a>(bench: &Bench<'a>, case: &Case, spoil: Option<u64>) -> Result<TrialWorkers<'a>> {
    let workers = Workers::assemble(case, &bench.setup.runtimes)?;
    let spec = TrialSpec::exactly(bench.setup, case.clone(), workers, (None, None), (0, 1));
    open(&TrialSpec { spoil, ..spec })
}

/// Whether the worker says that it failed.
fn fails(worker: &mut Worker) -> Result<()> {
    let error = worker.reply(Instant::now() + PATIENCE).err().context(WENT_ON)?;
    ensure!(error.is_answer(), error);
    Ok(())
}
