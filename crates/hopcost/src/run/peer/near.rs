//! The near end: starts the worker of the far host, knows that host, and lends the worker to trials.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use hopcost_model::protocol;
use hopcost_model::{Command, Description, FarHost, Reading, Reply};

use super::net;
use crate::run::worker::{ReplyError, Worker};

/// How long a far host may take to say what it is: ssh connects, a clock is looked at.
const START: Duration = Duration::from_secs(20);
/// How long its worker may take to say that a trial is over, or why it ends.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Trials in a row that it does not open before it is given up.
const IN_VAIN_MAX: u32 = 3;

/// The command that starts the worker of a far host, and what that is asked for.
pub struct Wanted {
    /// A shell runs it.
    pub command: String,
    /// Where the far host is reached, if it is not to say so itself.
    pub address: Option<SocketAddr>,
    /// The CPU of its end.
    pub cpu: Option<u32>,
}

/// A far host that is known.
pub struct Peer {
    wanted: Wanted,
    /// The hopcost there, and that host, as they were when the run began.
    pub description: Description,
    pub far: FarHost,
    /// Where it is reached, and the address of this host that faces it.
    address: SocketAddr,
    local: IpAddr,
    /// Between trials; a trial that fails ends it.
    worker: RefCell<Option<Worker>>,
    in_vain: Cell<u32>,
}

impl Peer {
    /// Starts the far worker, within a run's budget.
    pub fn start(wanted: Wanted, budget: Option<Duration>) -> Result<Self> {
        let until = Instant::now() + budget.map_or(START, |budget| budget.min(START));
        let (worker, description, far) = started(&wanted, until)?;
        let is_possible =
            far.cpus.contains(&far.cpu) && (1e3..1e12).contains(&far.clock.ticks_per_second);
        let told = far.address.parse().ok().map(|address| SocketAddr::new(address, 0));
        let address = wanted.address.or(told).filter(|_| is_possible);
        let address = address.context("its description is impossible")?;
        let reaching = || format!("reaching {} (--peer-address names another)", address.ip());
        let local = net::local_address_to(address).with_context(reaching)?;
        let (worker, in_vain) = (RefCell::new(Some(worker)), Cell::new(0));
        Ok(Self { wanted, description, far, address, local, worker, in_vain })
    }

    /// The process of that command while no trial has its worker.
    pub fn pid(&self) -> Option<u32> {
        self.worker.borrow().as_ref().map(Worker::id)
    }

    /// Whether it has not answered for so long that the rest of a run is not for now.
    pub fn is_lost(&self) -> bool {
        self.in_vain.get() >= IN_VAIN_MAX
    }

    /// Takes note whether the links of a trial could be opened.
    pub fn note_opened(&self, is_open: bool) {
        self.in_vain.set(if is_open { 0 } else { self.in_vain.get() + 1 });
    }

    /// The far worker for a trial, started again within `patience` where the one before has ended.
    pub fn take(&self, patience: Duration) -> Result<Worker> {
        if let Some(mut worker) = self.worker.take()
            && worker.is_alive()
        {
            return Ok(worker);
        }
        let until = Instant::now() + patience.min(START);
        let (worker, _, far) = started(&self.wanted, until)?;
        let is_known = |key: &str| far.host.get(key) == self.far.host.get(key);
        let is_same = far.checksum == self.far.checksum && is_known("kernel.boot_id");
        ensure!(is_same, "this is not the far host with which the run began");
        Ok(worker)
    }

    /// Takes the worker back once a trial has told it to stop.
    pub fn give_back(&self, mut worker: Worker) {
        if worker.reply(Instant::now() + LAST_WORDS) == Ok(Reply::Stopped) {
            self.worker.replace(Some(worker));
        }
    }

    /// Where a link of a trial is reached that the far end offers.
    pub fn link_address(&self, offer: &str) -> Result<SocketAddr> {
        let offered = offer.parse::<SocketAddr>().ok().filter(|offered| offered.port() != 0);
        let offered = offered.context("the far end offers no address to connect to")?;
        let mut address = self.address;
        address.set_port(offered.port());
        Ok(address)
    }

    /// What both ends know of each other now: this end's interface, and all that the far host says.
    pub fn readings(&self) -> Result<Vec<Reading>> {
        let mut worker = self.take(START)?;
        let far = host(&mut worker, &self.wanted, Instant::now() + START)?;
        self.worker.replace(Some(worker));
        Ok(self.readings_of(&far))
    }

    /// The same of what it said before.
    pub fn readings_of(&self, far: &FarHost) -> Vec<Reading> {
        let reading = |key: &str, value| Reading::known("peer", key, value);
        let version = &self.description.version;
        let mut all = net::readings(self.local);
        all.push(reading("peer.address", self.address.ip().to_string()));
        all.push(reading("peer.hopcost", format!("{version} ({})", far.commit)));
        all.extend(far.checksum.clone().map(|checksum| reading("peer.checksum", checksum)));
        all.push(reading("peer.cpu", far.cpu.to_string()));
        // By names of their own.
        all.extend(far.host.readings.iter().map(|reading| Reading {
            section: format!("peer.{}", reading.section),
            key: format!("peer.{}", reading.key),
            ..reading.clone()
        }));
        all
    }
}

/// The worker that the command starts, if it is this hopcost's, and its host.
fn started(wanted: &Wanted, until: Instant) -> Result<(Worker, Description, FarHost)> {
    let mut worker = Worker::of_far_host(&wanted.command)?;
    let Reply::Described(found) = ask(&mut worker, &Command::Describe, until)? else {
        bail!("its reply does not answer `describe`");
    };
    let found: Description = serde_json::from_value(found)?;
    let (runtime, its, own) = (found.runtime.escape_debug(), found.protocol, protocol::VERSION);
    ensure!(found.is_rust(), "it is a worker of {runtime} and not `hopcost worker`");
    ensure!(
        its == own,
        "it speaks version {its} of the worker protocol, this is version {own}: use the same hopcost on \
         both hosts"
    );
    let far = host(&mut worker, wanted, until)?;
    Ok((worker, found, far))
}

/// What the far host is.
fn host(worker: &mut Worker, wanted: &Wanted, until: Instant) -> Result<FarHost> {
    let command = Command::Host {
        cpu: wanted.cpu,
        address: wanted.address.map(|address| address.ip().to_string()),
        network: net::namespace(),
    };
    match ask(worker, &command, until)? {
        Reply::Host(far) => Ok(*far),
        _ => bail!("its reply does not answer `host`"),
    }
}

/// Asks between trials.
fn ask(worker: &mut Worker, command: &Command, until: Instant) -> Result<Reply> {
    worker.ask(command, until).map_err(|error| match error {
        ReplyError::Closed => {
            worker.leave(LAST_WORDS);
            anyhow!("it {}", worker.epitaph())
        }
        ReplyError::Deadline => {
            let said = worker.last_line().map(|line| format!(" (it said: {line})"));
            anyhow!(
                "it did not answer in time{}; it can ask for no password here, so log in by a key (ssh \
                 -o BatchMode=yes)",
                said.unwrap_or_default()
            )
        }
        error => error.into(),
    })
}
