//! The beginning of a trial: links opened, workers spawned, every end attached.
//!
//! hopcost opens a link of descriptors and hands each end its half. An end that
//! cannot inherit descriptors offers an address instead; then hopcost connects to it
//! and hands the connected socket to the other end, or, where that cannot inherit
//! either, tells it the address.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hopcost_model::{
    Attach, Boundary, Command, Connect, LinkHalf, LinkSource, Offer, Part, Reply, Role, Sched,
    Seat, Workload,
};
use hopcost_probe::orphans::Launch;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::{interrupt, meeting, namespace, sys};

use super::snapshot::{Other, Seated, confine};
use super::spec::{TOKEN, TrialSpec};
use super::workers::{TrialWorker, TrialWorkers, unexpected};
use crate::run::peer::link;
use crate::run::peer::near::Peer;
use crate::run::worker::Worker;

/// Time that the control plane grants beyond the workers' own deadline.
const GRACE: Duration = Duration::from_millis(500);

/// Longer than any run: workers that live for one die with their parent.
const RUN_MAX_MS: u64 = 30 * 24 * 3_600_000;

/// What a worker is spawned with.
struct WorkerSpec {
    /// Which end's runtime and case it is given.
    role: Role,
    fds: Vec<OwnedFd>,
    seats: Vec<Seat>,
    /// The far host's, where it is there.
    far: Option<Worker>,
}

impl WorkerSpec {
    fn of(role: Role) -> Self {
        Self { role, fds: Vec::new(), seats: Vec::new(), far: None }
    }
    fn inherits(&mut self, half: Half) -> LinkHalf {
        let fds = half.fds.iter().map(AsRawFd::as_raw_fd).collect();
        self.fds.extend(half.fds);
        LinkHalf { fds, names: half.names, ..LinkHalf::default() }
    }
    /// Has the worker inherit a descriptor; its number there is its number here.
    fn lend(&mut self, fd: Option<OwnedFd>) -> Option<i32> {
        let number = fd.as_ref().map(AsRawFd::as_raw_fd);
        self.fds.extend(fd);
        number
    }
}

/// Opens the links, spawns the workers and has them attach.
pub fn open<'a>(spec: &TrialSpec<'a>) -> Result<TrialWorkers<'a>> {
    let stamps = spec.case.workload.is_stamped_by(Role::Callee);
    let meets = stamps && spec.case.two_processes() && !spec.workers.has_foreign();
    let meeting_bytes = meeting::BYTES as u64 * u64::from(spec.case.senders);
    let meeting = || sys::memfd("hopcost-meeting", meeting_bytes);
    let mut workers = TrialWorkers {
        spec: spec.clone(),
        all: Vec::new(),
        meeting: meets.then(meeting).transpose()?,
        deadline: Instant::now() + Duration::from_millis(spec.deadline_ms()) + GRACE,
        pin_errors: Vec::new(),
        scratch: spec.workers.has_foreign().then(|| spec.setup.scratch.of_trial()).transpose()?,
    };
    let by_address = |role| spec.workers.roles.ends.of(role).link == LinkSource::Address;
    match (by_address(Role::Caller), by_address(Role::Callee)) {
        _ if spec.case.boundary == Boundary::Host => workers.over_hosts()?,
        _ if !spec.workers.two_workers() => workers.one_worker()?,
        _ if spec.workers.link.is_none() => workers.over_names()?,
        (false, false) => workers.over_descriptors()?,
        (true, false) => workers.over_address(Role::Caller)?,
        (false, true) | (true, true) => workers.over_address(Role::Callee)?,
    }
    Ok(workers)
}

impl TrialWorkers<'_> {
    /// Where names of this trial go.
    fn scratch(&self) -> PathBuf {
        let own = self.scratch.as_ref().map(|own| own.path.as_path());
        own.unwrap_or(&self.spec.setup.scratch.path).to_owned()
    }

    fn seat(&self, role: Role, flow: u32, link: Option<LinkHalf>) -> Seat {
        let cpu = match role {
            Role::Callee => self.spec.cpus.1,
            // The flows of a stream share their CPU.
            Role::Caller if flow >= self.spec.case.senders => self.spec.cpus.0,
            Role::Caller => self.spec.cpus_asked().get(flow as usize).copied().flatten(),
        };
        Seat { role, flow, cpu, link }
    }

    /// One worker plays every end and makes the links itself.
    fn one_worker(&mut self) -> Result<()> {
        let flows = self.spec.case.flows.unwrap_or(1);
        let mut both = WorkerSpec::of(Role::Caller);
        let callers = flows.max(self.spec.case.senders);
        both.seats.extend((0..callers).map(|flow| self.seat(Role::Caller, flow, None)));
        if self.spec.case.two_ends() {
            both.seats.extend((0..flows).map(|flow| self.seat(Role::Callee, flow, None)));
        }
        self.start(both)?;
        self.first_attached().map(drop)
    }

    /// Each end has a worker of its own. They meet by a name in `scratch`, which the callee makes.
    fn over_names(&mut self) -> Result<()> {
        for role in [Role::Callee, Role::Caller] {
            let mut one = WorkerSpec::of(role);
            one.seats.push(self.seat(role, 0, None));
            self.start(one)?;
            self.first_attached()?;
        }
        Ok(())
    }

    /// Each end has a worker of its own, which inherits its half of the link.
    fn over_descriptors(&mut self) -> Result<()> {
        let mut callee = WorkerSpec::of(Role::Callee);
        // One but for a load of several senders.
        let mut callers: Vec<WorkerSpec> =
            (0..self.spec.case.senders).map(|_| WorkerSpec::of(Role::Caller)).collect();
        for flow in 0..self.spec.case.flows.unwrap_or(1) {
            let row = self.spec.workers.link.ok_or_else(|| unexpected("open"))?;
            let case = &self.spec.workers.roles.ends.of(Role::Caller).case;
            let opening = Opening { case, scratch: &self.spec.setup.scratch.path };
            let (halves, other) = row.open_for_all(&opening).context("opening the link")?;
            let other = callee.inherits(other);
            callee.seats.push(self.seat(Role::Callee, flow, Some(other)));
            for ((sender, half), caller) in (flow..).zip(halves).zip(&mut callers) {
                let half = caller.inherits(half);
                caller.seats.push(self.seat(Role::Caller, sender, Some(half)));
            }
        }
        // The callee first, so that the caller's worker, which is the one that
        // waits for nobody, is not spawned into a half-open link.
        self.start(callee)?;
        callers.into_iter().try_for_each(|caller| self.start(caller))?;
        self.all_attached()
    }

    /// The callee's worker is on another host, whose worker it is to everything here.
    fn over_hosts(&mut self) -> Result<()> {
        let spec = &self.spec.clone();
        let (Some(peer), Some(row)) = (spec.peer(), spec.workers.link) else {
            bail!("boundary=host needs another host (--peer)");
        };
        let opened = self.far_links(peer, row);
        peer.note_opened(opened.is_ok());
        self.start(opened?)?;
        self.all_attached()
    }

    /// The far host's worker listens, and hopcost connects: the caller's worker, which inherits the links.
    fn far_links(&mut self, peer: &Peer, row: &Row) -> Result<WorkerSpec> {
        let spec = &self.spec.clone();
        let patience = Duration::from_millis(spec.deadline_ms());
        let far = peer.take(patience).context(FAR)?;
        // It may have taken a while to start again.
        self.allow(patience + GRACE);
        let flows = spec.case.flows.unwrap_or(1);
        let tokens = (0..flows).map(|_| token()).collect::<Result<Vec<String>>>()?;
        let mut callee = WorkerSpec::of(Role::Callee);
        callee.far = Some(far);
        for (flow, token) in (0..).zip(&tokens) {
            let (carrier, token) = (link::carrier(row).to_owned(), token.clone());
            let offer = Some(Offer { carrier, directory: String::new(), token });
            let link = LinkHalf { offer, ..LinkHalf::default() };
            callee.seats.push(self.seat(Role::Callee, flow, Some(link)));
        }
        self.start(callee)?;
        let offered = self.first_attached()?.unwrap_or_default();
        let address = peer.link_address(&offered).context(FAR)?;
        self.all[0].worker.send(&Command::Meet);
        let mut caller = WorkerSpec::of(Role::Caller);
        for (flow, token) in (0..).zip(&tokens) {
            let half = link::dial(row, &spec.case, address, token)
                .with_context(|| format!("opening the link to {address}"))?;
            let half = caller.inherits(half);
            caller.seats.push(self.seat(Role::Caller, flow, Some(half)));
        }
        Ok(caller)
    }

    /// Takes in the replies of workers that were all given their links.
    fn all_attached(&mut self) -> Result<()> {
        for (at, reply) in self.replies(self.all.len(), ATTACHING)?.into_iter().enumerate() {
            self.attached(at, reply)?;
        }
        Ok(())
    }

    /// `first` offers an address; the other end gets the connected socket, or connects.
    fn over_address(&mut self, first: Role) -> Result<()> {
        let (other, scratch) = (first.other(), &self.scratch());
        let link = self.spec.workers.link.and_then(|row| row.facts().here.address.as_ref());
        let carrier = link.ok_or_else(|| unexpected("open"))?;
        let mut token = token()?;
        let offer = Offer {
            carrier: carrier.to_owned(),
            directory: scratch.display().to_string(),
            token: token.clone(),
        };
        if self.spec.spoil == Some(TOKEN) {
            token = token.chars().rev().collect();
        }
        let mut offering = WorkerSpec::of(first);
        let link = LinkHalf { offer: Some(offer), ..LinkHalf::default() };
        offering.seats.push(self.seat(first, 0, Some(link)));
        self.start(offering)?;
        let no_address = || format!("the {first}'s worker offers no address to connect to");
        let address = self.first_attached()?.with_context(no_address)?;
        let mut connecting = WorkerSpec::of(other);
        let link = if self.spec.workers.roles.ends.of(other).link == LinkSource::Address {
            check_address(carrier, &address, scratch)?;
            let connect = Connect { carrier: carrier.to_owned(), address, token };
            LinkHalf { connect: Some(connect), ..LinkHalf::default() }
        } else {
            let socket = dial(carrier, &address, &token, scratch)?;
            connecting.inherits(Half::of_fds([socket]))
        };
        connecting.seats.push(self.seat(other, 0, Some(link)));
        self.start(connecting)?;
        // Workers stand with the caller's first.
        let (meets, attaches) = if first == Role::Caller { (0, 1) } else { (1, 0) };
        self.all[meets].worker.send(&Command::Meet);
        let mut replies = self.replies(2, ATTACHING)?;
        ensure!(replies.swap_remove(meets) == Reply::Met, unexpected("meet"));
        self.attached(attaches, replies.swap_remove(0)).map(drop)
    }

    /// Spawns a worker and has it attach.
    fn start(&mut self, mut wanted: WorkerSpec) -> Result<()> {
        let spec = &self.spec.clone();
        let samples = File::from(sys::memfd("hopcost-samples", 0)?);
        let workload = spec.case.workload;
        let stamps = wanted.seats.iter().any(|seat| workload.is_stamped_by(seat.role));
        let inherited = stamps.then(|| samples.try_clone()).transpose()?.map(OwnedFd::from);
        let samples_fd = wanted.lend(inherited);
        let meeting = self.meeting.as_ref().map(OwnedFd::try_clone).transpose()?;
        let deadline_ms = spec.deadline_ms();
        let foreign = spec.workers.foreign(wanted.role);
        let sends = foreign.filter(|_| workload == Workload::Load && wanted.role == Role::Caller);
        let schedule = sends.map(|_| sys::memfd("hopcost-schedule", 0)).transpose()?;
        let schedule_fd = wanted.lend(schedule.as_ref().map(OwnedFd::try_clone).transpose()?);
        let case = &spec.workers.roles.ends.of(wanted.role).case;
        let attach = Command::Attach(Box::new(Attach {
            case: case.id(),
            part: foreign.map(|_| Box::new(Part::of(case))),
            seats: wanted.seats.clone(),
            samples_fd,
            meeting_fd: wanted.lend(meeting),
            deadline_ms: if spec.for_run { RUN_MAX_MS } else { deadline_ms },
            parent: Some(std::process::id()),
            scratch: Some(self.scratch().display().to_string()),
            prefix: self.scratch.as_ref().map(|scratch| scratch.prefix.clone()),
            spoil: spec.spoil.filter(|number| *number != TOKEN),
            trial: spec.number,
            schedule: (workload == Workload::Load).then(|| spec.schedule()),
            schedule_fd,
        }));
        let mut worker = match foreign {
            None => match wanted.far.take() {
                Some(far) => far,
                None => Worker::spawn(&spec.setup.native, wanted.fds, spec.padding)?,
            },
            Some(ready) => {
                let cpus: BTreeSet<u32> = wanted.seats.iter().filter_map(|seat| seat.cpu).collect();
                let launch = Launch {
                    deadline_ms,
                    cpus: cpus.into_iter().collect(),
                    fifo: match spec.case.sched {
                        Sched::Other => None,
                        Sched::Fifo(priority) => Some(priority),
                    },
                };
                Worker::launch(&ready.program, launch, wanted.fds, spec.padding)?
            }
        };
        if let Some(transcript) = spec.transcript {
            let name = if spec.workers.two_workers() { wanted.role.word() } else { "worker" };
            worker.write_down(name, transcript);
        }
        worker.send(&attach);
        let seats = wanted.seats.iter();
        let seats = seats.map(|seat| Seated::new(seat.role, worker.id(), seat.cpu)).collect();
        let rate = foreign.map(|ready| ready.description.clock.ticks_per_second);
        let foreign_ticks_per_ns = rate.map(|rate| rate / 1e9);
        let before = self.all.iter().filter(|one| one.seats[0].role == Role::Caller).count();
        let at = if wanted.role == Role::Caller { before } else { self.all.len() };
        let (others, schedule) = (Vec::new(), schedule.map(File::from));
        let one = TrialWorker { worker, foreign_ticks_per_ns, seats, others, samples, schedule };
        self.all.insert(at, one);
        Ok(())
    }

    /// The reply to `attach` of the worker that was spawned first; the address it offers.
    fn first_attached(&mut self) -> Result<Option<String>> {
        let reply = self.replies(1, ATTACHING)?.pop().ok_or_else(|| unexpected("attach"))?;
        self.attached(0, reply)
    }

    /// Takes in who has attached where, and pins the threads of other runtimes.
    fn attached(&mut self, at: usize, reply: Reply) -> Result<Option<String>> {
        let Reply::Attached { seats: attached, .. } = reply else {
            return Err(unexpected("attach"));
        };
        let who = self.name(at);
        let one = &mut self.all[at];
        let roles = attached.iter().map(|seat| seat.role);
        let are_those = roles.eq(one.seats.iter().map(|seat| seat.role));
        ensure!(are_those, "{who} attached other ends than it was asked for");
        let worker = one.worker.id();
        let is_foreign = one.foreign_ticks_per_ns.is_some();
        for (seat, said) in one.seats.iter_mut().zip(&attached) {
            (seat.tid, seat.helpers) = (said.tid, said.helpers.clone());
            if is_foreign {
                seat.take(said, worker).with_context(|| format!("{who}, attaching"))?;
            }
        }
        for (seat, said) in one.seats.iter().zip(&attached) {
            let failed = is_foreign.then(|| seat.pin(one.has_process(seat)).err()).flatten();
            let error = failed.map(|error| error.to_string()).or(said.pin_error.clone());
            self.pin_errors.extend(error.map(|error| format!("{}: {error}", said.role)));
        }
        if is_foreign {
            one.others = Other::of(worker, &one.seats);
            let cpus = others_cpus(&self.spec);
            for other in one.others.iter().filter(|_| !cpus.is_empty()) {
                let failed = confine(other.pid, &cpus).err();
                self.pin_errors.extend(failed.map(|error| format!("{}: {error}", other.name)));
            }
        }
        Ok(attached.into_iter().find_map(|seat| seat.offers))
    }
}

/// Where processes go that are no end's: to the callee's CPU, unless the mechanism's parameter
/// `broker` has another value. None where the placement is free.
fn others_cpus(spec: &TrialSpec<'_>) -> Vec<u32> {
    let (caller, callee) = spec.cpus;
    match spec.case.parameters.get("broker").map(String::as_str) {
        Some("caller") => caller.into_iter().collect(),
        Some("free") => sys::allowed_cpus().unwrap_or_default(),
        _ => callee.into_iter().collect(),
    }
}

const ATTACHING: &str = "attaching";
const FAR: &str = "the far host";

/// What only the other end of a link knows.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// Connects to an address that an end has offered, on behalf of an end that inherits the connected socket, and
/// shows the token.
fn dial(carrier: &str, address: &str, token: &str, scratch: &Path) -> Result<OwnedFd> {
    check_address(carrier, address, scratch)?;
    let until = Instant::now() + namespace::PATIENCE;
    let dial = || -> Result<OwnedFd> {
        let socket = match carrier {
            "tcp" => {
                let address: SocketAddr = address.parse()?;
                interrupt::connect(&address, until, |_| Ok(()))?
            }
            "udp" => {
                let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
                socket.connect(address)?;
                socket.into()
            }
            _ => interrupt::connect_unix(Path::new(address), until)?.into(),
        };
        sys::send(&socket, token.as_bytes(), 0)?;
        Ok(socket)
    };
    dial().with_context(|| format!("connecting to {address}"))
}

/// Refuses addresses that are not on loopback or in the scratch directory.
fn check_address(carrier: &str, address: &str, scratch: &Path) -> Result<()> {
    let is_ours = |at: SocketAddr| at.ip().is_loopback() && at.port() != 0;
    let path = Path::new(address);
    match carrier {
        "tcp" | "udp" if address.parse().is_ok_and(is_ours) => Ok(()),
        "unix-stream" if path.parent() == Some(scratch) && path.is_absolute() => Ok(()),
        "tcp" | "udp" | "unix-stream" => bail!(
            "it offers the address `{}`, which is not on loopback or in the directory it was given",
            address.escape_debug()
        ),
        _ => bail!("{carrier} has no addresses to connect to"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_the_scratch_directory_are_connected_to() {
        let scratch = Path::new("/tmp/scratch");
        let ok = |carrier, address| check_address(carrier, address, scratch).is_ok();
        assert!(ok("tcp", "127.0.0.1:80") && ok("udp", "127.0.0.1:9"));
        assert!(ok("unix-stream", "/tmp/scratch/x"));
        assert!(!ok("tcp", "10.0.0.1:80") && !ok("tcp", "127.0.0.1:0") && !ok("udp", "x"));
        assert!(!ok("unix-stream", "/tmp/x") && !ok("unix-stream", "/tmp/scratch/../x"));
        assert!(!ok("pipe", "127.0.0.1:80"));
    }
}
