//! The beginning of a trial: links opened, workers spawned, every end attached.
//!
//! hopcost opens a link of descriptors and hands each end its half. An end that
//! cannot inherit descriptors offers an address instead; then hopcost connects to it
//! and hands the connected socket to the other end, or, where that cannot inherit
//! either, tells it the address.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hopcost_model::case::{Role, Sched, Workload};
use hopcost_model::mechanism::LinkSource;
use hopcost_model::protocol::{Attached, Command, Connect, LinkHalf, Offer, Reply, Seat};
use hopcost_probe::meeting;
use hopcost_probe::shape::{Half, Opening};
use hopcost_probe::sys;

use super::dial;
use super::snapshot::Seated;
use super::spec::{Failure, TrialSpec};
use super::workers::{Casting, GRACE, TrialWorkers, Watch, unexpected};
use crate::run::worker::{Launch, Program, Worker};

/// What a worker is spawned with.
struct WorkerSpec {
    /// Which end's runtime and case it is given.
    role: Role,
    fds: Vec<OwnedFd>,
    seats: Vec<Seat>,
}

impl WorkerSpec {
    fn of(role: Role) -> Self {
        Self { role, fds: Vec::new(), seats: Vec::new() }
    }
    fn seat(&mut self, role: Role, flow: u32, cpu: Option<u32>, link: Option<LinkHalf>) {
        self.seats.push(Seat { role, flow, cpu, link });
    }
    fn inherits(&mut self, half: Half) -> LinkHalf {
        let fds = half.fds.iter().map(AsRawFd::as_raw_fd).collect();
        self.fds.extend(half.fds);
        LinkHalf { fds, names: half.names, ..LinkHalf::default() }
    }
    /// Has the worker inherit a descriptor; its number there is its number here.
    fn lend(&mut self, fd: OwnedFd) -> std::io::Result<i32> {
        let number = fd.as_raw_fd();
        self.fds.push(fd);
        Ok(number)
    }
}

/// Memory for the two ends of a `wake` to meet in.
fn meeting_memory() -> Result<OwnedFd, Failure> {
    Ok(sys::memfd("hopcost-meeting", meeting::BYTES as u64)?)
}

/// Opens the links, spawns the workers and has them attach. Comes back with the
/// reasons for which ends could not be pinned.
pub fn open<'a>(spec: &'a TrialSpec<'a>) -> Result<(TrialWorkers<'a>, Vec<String>), Failure> {
    let deadline_ms = spec.deadline_ms();
    let mut opening = Opened {
        spec,
        deadline_ms,
        meeting: None,
        workers: TrialWorkers {
            all: Vec::new(),
            casts: Vec::new(),
            watch: watch(spec)?,
            samples: Vec::new(),
            deadline: Instant::now() + Duration::from_millis(deadline_ms) + GRACE,
            spec,
        },
        pin_errors: Vec::new(),
    };
    if spec.case.workload == Workload::Wake && spec.case.two_processes() {
        opening.meeting = Some(meeting_memory()?);
    }
    if spec.workers.two_workers() {
        opening.two_workers()?
    } else {
        opening.one_worker()?
    }
    Ok((opening.workers, opening.pin_errors))
}

/// Who runs the sentinel of a trial.
fn watch(spec: &TrialSpec<'_>) -> Result<Watch, Failure> {
    if !spec.workers.has_foreign() || spec.is_exact() {
        return Ok(Watch::Ends(if spec.cpus.0 == spec.cpus.1 { 1 } else { 2 }));
    }
    let mut cpus = vec![spec.cpus.0];
    if spec.case.two_ends() && spec.cpus.1 != spec.cpus.0 {
        cpus.push(spec.cpus.1);
    }
    let worker = Worker::spawn(&spec.setup.native, Vec::new(), 0)?;
    Ok(Watch::Beside(Box::new(worker), cpus))
}

struct Opened<'o, 'a> {
    spec: &'o TrialSpec<'a>,
    deadline_ms: u64,
    meeting: Option<OwnedFd>,
    workers: TrialWorkers<'a>,
    pin_errors: Vec<String>,
}

impl Opened<'_, '_> {
    fn cpu(&self, role: Role) -> Option<u32> {
        match role {
            Role::Caller => self.spec.cpus.0,
            Role::Callee => self.spec.cpus.1,
        }
    }

    /// One worker plays every end and makes the links itself.
    fn one_worker(&mut self) -> Result<(), Failure> {
        let case = self.spec.case;
        let flows = case.flows.unwrap_or(1);
        let mut both = WorkerSpec::of(Role::Caller);
        for flow in 0..flows {
            both.seat(Role::Caller, flow, self.cpu(Role::Caller), None);
        }
        if case.two_ends() {
            for flow in 0..flows {
                both.seat(Role::Callee, flow, self.cpu(Role::Callee), None);
            }
        }
        let attach = self.start(both)?;
        self.workers.all[0].send(&attach);
        self.take_attached(0)?;
        Ok(())
    }

    /// Each end has a worker of its own.
    fn two_workers(&mut self) -> Result<(), Failure> {
        let by_address = |role| self.spec.workers.part(role).link == LinkSource::Address;
        match (by_address(Role::Caller), by_address(Role::Callee)) {
            (false, false) => self.over_descriptors(),
            (true, false) => self.over_address(Role::Caller, Role::Callee),
            (false, true) | (true, true) => self.over_address(Role::Callee, Role::Caller),
        }
    }

    fn over_descriptors(&mut self) -> Result<(), Failure> {
        let (mut caller, mut callee) = (WorkerSpec::of(Role::Caller), WorkerSpec::of(Role::Callee));
        for flow in 0..self.spec.case.flows.unwrap_or(1) {
            let row = self.spec.workers.link.ok_or_else(|| unexpected("open"))?;
            let case = &self.spec.workers.part(Role::Caller).case;
            let link = (row.open)(&Opening { case, scratch: self.spec.setup.scratch.path() })
                .map_err(|e| Failure::Reason(format!("opening the link: {e}")))?;
            let (half, other) = (caller.inherits(link.caller), callee.inherits(link.callee));
            caller.seat(Role::Caller, flow, self.cpu(Role::Caller), Some(half));
            callee.seat(Role::Callee, flow, self.cpu(Role::Callee), Some(other));
        }
        // The callee first, so that the caller's worker, which is the one that
        // waits for nobody, is not spawned into a half-open link.
        let attach_callee = self.start(callee)?;
        let attach_caller = self.start(caller)?;
        for (at, command) in [&attach_caller, &attach_callee].into_iter().enumerate() {
            self.workers.all[at].send(command);
        }
        let replies = self.workers.replies(2, ATTACHING)?;
        for (at, reply) in replies.into_iter().enumerate() {
            self.attached(at, reply)?;
        }
        Ok(())
    }

    /// `first` offers an address; the other end gets the connected socket, or connects.
    fn over_address(&mut self, first: Role, other: Role) -> Result<(), Failure> {
        let link = self.spec.workers.link.and_then(|row| row.facts.address);
        let carrier = link.ok_or_else(|| unexpected("open"))?;
        let token = token();
        let offer = Offer {
            carrier: carrier.to_owned(),
            directory: self.spec.setup.scratch.path().display().to_string(),
            token: token.clone(),
        };
        let mut offering = WorkerSpec::of(first);
        let link = LinkHalf { offer: Some(offer), ..LinkHalf::default() };
        offering.seat(first, 0, self.cpu(first), Some(link));
        let attach = self.start(offering)?;
        self.workers.all[0].send(&attach);
        let address = self.take_attached(0)?.ok_or_else(|| {
            Failure::Reason(format!("the {first}'s worker offers no address to connect to"))
        })?;
        let mut connecting = WorkerSpec::of(other);
        let link = if self.spec.workers.part(other).link == LinkSource::Address {
            dial::check(carrier, &address, self.spec.setup.scratch.path())?;
            let connect = Connect { carrier: carrier.to_owned(), address, token };
            LinkHalf { connect: Some(connect), ..LinkHalf::default() }
        } else {
            let socket = dial::connect(carrier, &address, &token, self.spec.setup.scratch.path())?;
            connecting.inherits(Half::of_fds([socket]))
        };
        connecting.seat(other, 0, self.cpu(other), Some(link));
        let attach = self.start(connecting)?;
        // Workers stand with the caller's first.
        let (meets, attaches) = if first == Role::Caller { (0, 1) } else { (1, 0) };
        self.workers.all[meets].send(&Command::Meet);
        self.workers.all[attaches].send(&attach);
        let mut replies = self.workers.replies(2, ATTACHING)?;
        if replies.swap_remove(meets) != Reply::Met {
            return Err(unexpected("meet"));
        }
        let attached = replies.swap_remove(0);
        self.attached(attaches, attached)?;
        Ok(())
    }

    /// Spawns a worker; gives back what it is to be told.
    fn start(&mut self, mut worker_spec: WorkerSpec) -> Result<Command, Failure> {
        let spec = self.spec;
        let part = spec.workers.part(worker_spec.role);
        let samples = File::from(sys::memfd("hopcost-samples", 0)?);
        let stamps = worker_spec
            .seats
            .iter()
            .any(|seat| seat.role == Role::Caller || spec.case.workload == Workload::Wake);
        let samples_fd = if stamps {
            Some(worker_spec.lend(OwnedFd::from(samples.try_clone()?))?)
        } else {
            None
        };
        let meeting_fd = match &self.meeting {
            Some(fd) => Some(worker_spec.lend(fd.try_clone()?)?),
            None => None,
        };
        let attach = Command::Attach {
            case: part.case.id(),
            seats: worker_spec.seats.clone(),
            samples_fd,
            meeting_fd,
            // Whoever types takes longer.
            deadline_ms: match spec.transcript {
                None => self.deadline_ms,
                Some(_) => self.deadline_ms.max(600_000),
            },
            // What is written down is to be typed by somebody else, whose child it is then.
            parent: spec.transcript.is_none().then(std::process::id),
            scratch: Some(spec.setup.scratch.path().display().to_string()),
            trial: spec.number,
        };
        let foreign = spec.workers.foreign(worker_spec.role);
        let mut worker = match foreign {
            None => Worker::spawn(&spec.setup.native, worker_spec.fds, spec.padding)?,
            Some(ready) => {
                let launch = Launch {
                    deadline_ms: self.deadline_ms,
                    cpus: cpus_of(&worker_spec.seats),
                    fifo: match spec.case.sched {
                        Sched::Other => None,
                        Sched::Fifo(priority) => Some(priority),
                    },
                };
                Worker::launch(&ready.program, &launch, worker_spec.fds, spec.padding)?
            }
        };
        if let Some(transcript) = spec.transcript {
            let name = match (spec.workers.two_workers(), worker_spec.role) {
                (false, _) => "worker",
                (true, Role::Caller) => "caller",
                (true, Role::Callee) => "callee",
            };
            let program = foreign.map_or(&spec.setup.native, |ready| &ready.program);
            let started = typed(worker_spec.role, program, &worker_spec.seats, samples_fd);
            transcript.borrow_mut().push_str(&format!("{name} $ {started}\n"));
            worker.write_down(name, transcript);
        }
        let seats = worker_spec.seats.iter().map(|seat| Seated {
            role: seat.role,
            pid: worker.id(),
            tid: 0,
            cpu: seat.cpu,
        });
        let rate = foreign.map_or(1e9, |ready| ready.description.clock.ticks_per_second);
        let casting =
            Casting { native: foreign.is_none(), ticks_per_ns: rate / 1e9, seats: seats.collect() };
        let at = if worker_spec.role == Role::Caller { 0 } else { self.workers.all.len() };
        self.workers.all.insert(at, worker);
        self.workers.casts.insert(at, casting);
        self.workers.samples.insert(at, samples);
        Ok(attach)
    }

    /// The reply to `attach` of the worker that was spawned alone; the address it offers.
    fn take_attached(&mut self, at: usize) -> Result<Option<String>, Failure> {
        let reply =
            self.workers.replies(1, ATTACHING)?.pop().ok_or_else(|| unexpected("attach"))?;
        self.attached(at, reply)
    }

    /// Takes in who has attached where, and pins the threads of other runtimes.
    fn attached(&mut self, at: usize, reply: Reply) -> Result<Option<String>, Failure> {
        let Reply::Attached { seats: attached, .. } = reply else {
            return Err(unexpected("attach"));
        };
        let who = self.workers.name(at);
        let casting = &mut self.workers.casts[at];
        let roles = attached.iter().map(|seat| seat.role);
        if !roles.eq(casting.seats.iter().map(|seat| seat.role)) {
            return Err(Failure::Reason(format!("{who} has not attached the ends it was told to")));
        }
        let worker = self.workers.all[at].id();
        for (seat, said) in casting.seats.iter_mut().zip(&attached) {
            seat.tid = said.tid;
            if !casting.native {
                seated(seat, said, worker)
                    .map_err(|why| Failure::Reason(format!("{who}, attaching: {why}")))?;
                if let Err(error) = pin(seat, worker) {
                    self.pin_errors.push(format!("{}: {error}", said.role));
                }
            }
            let error = said.pin_error.as_ref();
            self.pin_errors.extend(error.map(|error| format!("{}: {error}", said.role)));
        }
        Ok(attached.into_iter().find_map(|seat| seat.offers))
    }
}

const ATTACHING: &str = "attaching";

/// The command that starts a worker with the descriptors it is told of, as a shell
/// takes it. A pipe's are FIFOs; a socket that hopcost has connected, no shell can open.
fn typed(role: Role, program: &Program, seats: &[Seat], samples_fd: Option<i32>) -> String {
    let mut line = program.command_line();
    for link in seats.iter().filter_map(|seat| seat.link.as_ref()) {
        let (incoming, outgoing) = match role {
            Role::Caller => ("back", "there"),
            Role::Callee => ("there", "back"),
        };
        match link.fds.as_slice() {
            [read, write] => line.push_str(&format!(" {read}<>{incoming} {write}<>{outgoing}")),
            fds => {
                for fd in fds {
                    line.push_str(&format!(" {fd}<>SOCKET"));
                }
            }
        }
    }
    if let Some(fd) = samples_fd {
        line.push_str(&format!(" {fd}>samples"));
    }
    line
}

/// The CPUs that a worker's seats are for.
fn cpus_of(seats: &[Seat]) -> Vec<u32> {
    let mut cpus: Vec<u32> = seats.iter().filter_map(|seat| seat.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Takes over what a worker says of an end, if it is one of its own threads.
fn seated(seat: &mut Seated, said: &Attached, worker: u32) -> Result<(), String> {
    let pid = said.pid.unwrap_or(worker);
    // A process that the worker started is in its process group, which dies with the trial.
    let group = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.get(stat.rfind(')')? + 2..)?;
        fields.split_whitespace().nth(2)?.parse::<u32>().ok()
    };
    if pid != worker && group(pid) != Some(worker) {
        return Err(format!("process {pid} is none of its own"));
    }
    let there = |tid: u32| std::path::Path::new(&format!("/proc/{pid}/task/{tid}")).exists();
    if said.tid != 0 && !there(said.tid) {
        return Err(format!("there is no thread {} in process {pid}", said.tid));
    }
    (seat.pid, seat.tid) = (pid, said.tid);
    Ok(())
}

/// Pins an end: its thread, or all threads of a process of its own.
fn pin(seat: &Seated, worker: u32) -> std::io::Result<()> {
    let Some(cpu) = seat.cpu else { return Ok(()) };
    if seat.pid != worker {
        for tid in crate::run::threads::Process::look(seat.pid).threads.keys() {
            sys::confine(*tid, &[cpu])?;
        }
    } else if seat.tid != 0 {
        sys::confine(seat.tid, &[cpu])?;
    }
    Ok(())
}

/// What only the other end of a link knows.
fn token() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", random(), random())
}
