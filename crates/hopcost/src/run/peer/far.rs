//! The far end: `hopcost serve`. One run at a time; a trial at a time; everything is asked for by the near
//! end, and nothing is kept.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use hopcost_machine::Root;
use hopcost_model::host::Reading;
use hopcost_model::protocol::{self, ClockReading};
use hopcost_model::raw::{Yardstick, YardstickClass};
use hopcost_model::text::count;
use hopcost_probe::{interrupt, sys};

use super::far_trial::{self, Here};
use super::key::Key;
use super::lobby::{self, Asked, Lobby};
use super::net;
use super::wire::{self, Answer, Ask, FarHost, Lines, TrialAsk};
use crate::about;
use crate::run::clocks;
use crate::run::setup::Setup;
use crate::run::yardstick;

/// What tells how fast this host is: see [`Far::level`].
const LEVEL_CASE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";

/// How often an idle far end looks whether it is to end.
const IDLE: Duration = Duration::from_millis(200);

/// When it ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When it is interrupted.
    Interrupted,
    /// Also when a run is over.
    RunOver,
}

/// How much is served.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Trials at most.
    pub trials: u64,
    /// How long a trial may take at most.
    pub trial: Duration,
    /// When it ends by itself.
    pub until: Until,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// It was interrupted, or its time was over.
    Interrupted,
    /// A run was over.
    Complete,
}

/// The far end.
pub struct Far<'a> {
    setup: &'a Setup,
    lobby: Arc<Lobby>,
    asked: Receiver<Asked>,
    limits: Limits,
    trials: u64,
    /// Of these, those of the runs before.
    trials_before: u64,
    /// Of this binary.
    checksum: Option<String>,
    /// Calibrated once a CPU.
    clocks: BTreeMap<u32, ClockReading>,
    /// The CPU of its end.
    cpu: u32,
}

impl<'a> Far<'a> {
    /// Accepts from now on.
    pub fn open(
        setup: &'a Setup,
        listener: TcpListener,
        key: Key,
        limits: Limits,
        cpu: u32,
    ) -> io::Result<Self> {
        let (lobby, asked) = Lobby::open(listener, key)?;
        let (checksum, clocks) = (about::build().checksum, BTreeMap::new());
        let (trials, trials_before) = (0, 0);
        Ok(Self { setup, lobby, asked, limits, trials, trials_before, checksum, clocks, cpu })
    }

    /// Answers until it is to end; `say` is told what happens, a line each.
    pub fn serve(&mut self, say: &dyn Fn(&str)) -> io::Result<Served> {
        loop {
            if interrupt::came() {
                return Ok(Served::Interrupted);
            }
            if let Some(run) = self.lobby.ended()
                && self.is_last(&run, say)
            {
                return Ok(Served::Complete);
            }
            let Asked { ask, mut lines } = match self.asked.recv_timeout(IDLE) {
                Ok(asked) => asked,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(sys::failure("nobody accepts connections any more"));
                }
            };
            match ask {
                Ask::Hello { run, cpu } => {
                    say(&format!("greeted by the run {run}"));
                    let answer = match self.hello(&lines, cpu) {
                        Ok(far) => Answer::Hello(Box::new(far)),
                        Err(error) => Answer::Refused { reason: error.to_string() },
                    };
                    let _ = wire::send(lines.stream(), &answer);
                    if let Some(before) = self.lobby.greeted(&run, lines)
                        && self.is_last(&before, say)
                    {
                        return Ok(Served::Complete);
                    }
                }
                Ask::Trial(trial) if self.trials < self.limits.trials => {
                    self.trials += 1;
                    // Nobody else's until it is over.
                    let _ = self.lobby.hold(&trial.run, self.limits.trial + lobby::HELD);
                    if let Err(why) = self.trial(&mut lines, &trial) {
                        say(&format!(
                            "trial {} ({}): {why}",
                            self.trials,
                            trial.case.escape_debug()
                        ));
                    }
                    // A run that goes on keeps the far end from when its trial is over.
                    let _ = self.lobby.hold(&trial.run, lobby::HELD);
                }
                Ask::Trial(_) => {
                    let reason = format!("{} trials are all that it serves", self.limits.trials);
                    let _ = wire::send(lines.stream(), &Answer::Refused { reason });
                }
            }
        }
    }

    /// Takes note that a run is over; whether it is the last.
    fn is_last(&mut self, run: &str, say: &dyn Fn(&str)) -> bool {
        let trials = self.trials - self.trials_before;
        let strangers = count(self.lobby.turned_away() as usize, "stranger");
        say(&format!("the run {run} is over: {trials} trials; {strangers} turned away"));
        self.trials_before = self.trials;
        self.lobby.count_anew();
        // A dry run is none.
        self.limits.until == Until::RunOver && trials > 0
    }

    fn trial(&mut self, lines: &mut Lines, ask: &TrialAsk) -> Result<(), String> {
        let clock = self.clock(self.cpu).map_err(|error| error.to_string())?;
        let ticks_per_second = clock.ticks_per_second;
        let (setup, lobby, longest) = (self.setup, &*self.lobby, self.limits.trial);
        far_trial::play(&Here { setup, lobby, ticks_per_second, longest }, lines, ask)
    }

    /// The clock of a CPU.
    fn clock(&mut self, cpu: u32) -> io::Result<&ClockReading> {
        if !self.clocks.contains_key(&cpu) {
            let found = clocks::of_cpus(&[cpu].into(), self.setup).map_err(io::Error::other)?;
            let found = found.and_then(|mut all| all.pop());
            self.clocks.insert(cpu, found.ok_or_else(|| sys::failure("it was interrupted"))?);
        }
        self.clocks.get(&cpu).ok_or_else(|| sys::failure("its clock is not known"))
    }

    /// How fast a process is woken here, as the switch yardstick tells it: for the near end to see whether
    /// this host changed.
    fn level(&self, cpu: u32, clock: &ClockReading) -> Option<Reading> {
        let yardstick = Yardstick {
            class: YardstickClass::Switch,
            case: LEVEL_CASE.to_owned(),
            cpus: vec![cpu],
            operations: 0,
            reference: None,
            gone: None,
        };
        let clocks = [clock.clone()];
        let level_ns = yardstick::speed_ns(yardstick, self.setup, &clocks)?;
        Some(Reading::known("load", "load.switch", format!("{:.2} µs", level_ns / 1e3)))
    }

    fn hello(&mut self, lines: &Lines, cpu: Option<u32>) -> io::Result<FarHost> {
        let cpus = sys::allowed_cpus()?;
        let cpu = cpu.unwrap_or(self.cpu);
        if !cpus.contains(&cpu) {
            let all: Vec<String> = cpus.iter().map(u32::to_string).collect();
            return Err(sys::failure(format!("it may not use CPU {cpu}, only {}", all.join(", "))));
        }
        self.cpu = cpu;
        let clock = self.clock(cpu)?.clone();
        let mut host = hopcost_machine::fingerprint(&Root::default(), &[cpu]);
        host.readings.extend(net::readings(lines.local()?.ip()));
        host.readings.extend(self.level(cpu, &clock));
        let description = hopcost_probe::worker::description();
        Ok(FarHost {
            protocol: protocol::VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("HOPCOST_COMMIT").to_owned(),
            checksum: self.checksum.clone(),
            mechanisms: description
                .mechanisms
                .into_iter()
                .map(|known| (known.name, known.revision, known.unavailable))
                .collect(),
            cpus,
            cpu,
            clock,
            host,
            strangers: self.lobby.turned_away(),
        })
    }
}
