//! `hopcost doctor`: what of this machine will disturb a measurement.

use std::io::IsTerminal;
use std::time::Instant;

use hopcost_machine::{Root, topology};
use hopcost_model::text::count;
use hopcost_model::{Code, EventReading, Plan, RawRun, RawTrial};
use hopcost_plan::{Ask, Catalog};
use hopcost_probe::mechanism;
use hopcost_probe::worker::events::{CALL, Events, KERNEL};
use hopcost_read::results::{Checkup, Right};

use super::exit::{self, usage};
use super::shown::{Printed, Shown};
use super::{host, judge, output};
use crate::about;
use crate::run::doctor;
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::Program;
use crate::run::{clocks, ensure_descriptors};

/// Check this machine for sources of noise and say what to fix first
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    shown: Shown,
    /// Check hopcost itself by cases whose answers are known (a minute)
    #[arg(long, conflicts_with_all = ["format", "output"])]
    self_test: bool,
}

impl Args {
    /// Measures, and prints what was found.
    pub fn run(&self) -> anyhow::Result<u8> {
        if self.self_test {
            return judge::self_test();
        }
        self.shown.ensure_answer(&Checkup::default())?;
        ensure_descriptors()?;
        let started = Instant::now();
        let setup = Setup::new("doctor", Program::own()?, Runtimes::new(Vec::new()))?;
        let machine = host::machine(&[])?;
        let topology = topology(&Root::default(), &machine.allowed_cpus);
        let plan = plan(&machine, topology.spread(&machine.allowed_cpus, doctor::CPUS_MAX))?;
        let host_before = host::of_run(&plan, &setup.scratch);
        if std::io::stderr().is_terminal() {
            output::say(&format!(
                "hopcost: watching {} for up to 15 s",
                count(plan.cpus.len(), "CPU")
            ));
        }
        let clocks = clocks::of_cpus(&plan.local_cpus(), &setup)?;
        let (mut trials, accounting) = doctor::measure(&plan, &setup, &topology)?;
        let mut rights = rights(&machine);
        rights.extend(real_time(&plan, &mut trials));
        let raw = RawRun {
            host_after: Some(host::of_run(&plan, &setup.scratch)),
            clocks,
            trials,
            accounting,
            about: about::run(std::env::args().collect()),
            plan,
            host_before,
            ..RawRun::default()
        };
        let (cpus_allowed, took_s) = (machine.allowed_cpus, started.elapsed().as_secs_f64());
        let known = Checkup { cpus_allowed, rights, took_s, ..Checkup::default() };
        let found = hopcost_read::checkup(&raw, known);
        self.shown.show(&found, Printed::Always)?;
        let is_slow = found.findings.iter().any(|finding| finding.code == Code::BuildSlow);
        let all_failed = raw.trials.iter().all(|trial| trial.error.is_some());
        Ok(match () {
            () if is_slow => exit::INVALID,
            () if all_failed => exit::ERROR,
            () => exit::OK,
        })
    }
}

/// The plan of these CPUs: every kind of trial on every relation that they have.
fn plan(machine: &hopcost_plan::Machine, cpus: Vec<u32>) -> anyhow::Result<Plan> {
    let selectors = doctor::CASES.lines().map(str::to_owned).collect();
    let catalog = Catalog::new(hopcost_probe::worker::mechanisms(), Vec::new);
    let ask = Ask { selectors, ..Ask::default() };
    let mut plan = hopcost_plan::plan(&ask, &catalog, machine).map_err(usage)?;
    "doctor".clone_into(&mut plan.suite);
    // The first stays where it is: ends on one CPU are there.
    plan.cpus.truncate(1);
    let first = plan.cpus.first().copied();
    plan.cpus.extend(cpus.into_iter().filter(|cpu| Some(*cpu) != first));
    Ok(plan)
}

/// What may be done here; nothing of it is done.
fn rights(machine: &hopcost_plan::Machine) -> Vec<Right> {
    let counted = |set| {
        let readings = Events::of_caller(set, &[]).read();
        let missing = |reading: EventReading| reading.unavailable;
        readings.into_iter().next().and_then(missing).map_or(Ok(()), Err)
    };
    let available = |name: &str| match mechanism::find(name) {
        Some(row) => (row.facts().here.available)(),
        None => Err(format!("no mechanism `{name}` in this build")),
    };
    let all = [
        ("hardware counters", counted(CALL)),
        ("counting system calls", counted(KERNEL)),
        ("io_uring", available("tcp-uring")),
        ("POSIX queues", available("posix-mq")),
        ("network namespaces", (machine.namespaces)()),
        ("holding off idle states", (machine.dma_latency)()),
    ];
    all.map(|(what, may)| Right { what: what.to_owned(), missing: may.err() }).into()
}

/// Whether the real-time trial ran, which is no measurement.
fn real_time(plan: &Plan, trials: &mut Vec<RawTrial>) -> Option<Right> {
    let is_it = |trial: &RawTrial| {
        plan.case(trial.case).is_some_and(|case| case.sched != hopcost_model::case::Sched::Other)
    };
    let at = trials.iter().position(is_it)?;
    let missing = trials.remove(at).error;
    Some(Right { what: "real-time scheduling".to_owned(), missing })
}
