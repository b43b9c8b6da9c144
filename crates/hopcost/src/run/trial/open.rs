//! From a crew to a stage: links opened, workers spawned, every end attached.
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
use super::stage::{Casting, GRACE, Seated, Stage, Watch, deadline_ms, unexpected};
use super::{Failure, Order};
use crate::run::worker::{Launch, Program, Worker};

/// What a worker is spawned with.
struct Hire {
    /// Which end's runtime and case it is given.
    role: Role,
    fds: Vec<OwnedFd>,
    seats: Vec<Seat>,
}

impl Hire {
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
pub fn open<'a>(order: &Order<'a>) -> Result<(Stage<'a>, Vec<String>), Failure> {
    let deadline_ms = deadline_ms(order);
    let mut opening = Opened {
        order,
        deadline_ms,
        meeting: None,
        stage: Stage {
            workers: Vec::new(),
            casts: Vec::new(),
            watch: watch(order)?,
            samples: Vec::new(),
            deadline: Instant::now() + Duration::from_millis(deadline_ms) + GRACE,
            interrupt: order.interrupt,
        },
        pin_errors: Vec::new(),
    };
    if order.case.workload == Workload::Wake && order.case.two_processes() {
        opening.meeting = Some(meeting_memory()?);
    }
    if order.crew.two_workers() {
        opening.two_workers()?
    } else {
        opening.one_worker()?
    }
    Ok((opening.stage, opening.pin_errors))
}

/// Who runs the sentinel of this order's trial.
fn watch(order: &Order<'_>) -> Result<Watch, Failure> {
    if !order.crew.has_foreign() || order.exactly.is_some() {
        return Ok(Watch::Ends(if order.cpus.0 == order.cpus.1 { 1 } else { 2 }));
    }
    let mut cpus = vec![order.cpus.0];
    if order.case.two_ends() && order.cpus.1 != order.cpus.0 {
        cpus.push(order.cpus.1);
    }
    let worker = Worker::spawn(order.crew.native, Vec::new(), 0)?;
    Ok(Watch::Beside(Box::new(worker), cpus))
}

struct Opened<'o, 'a> {
    order: &'o Order<'a>,
    deadline_ms: u64,
    meeting: Option<OwnedFd>,
    stage: Stage<'a>,
    pin_errors: Vec<String>,
}

impl Opened<'_, '_> {
    fn cpu(&self, role: Role) -> Option<u32> {
        match role {
            Role::Caller => self.order.cpus.0,
            Role::Callee => self.order.cpus.1,
        }
    }

    /// One worker plays every end and makes the links itself.
    fn one_worker(&mut self) -> Result<(), Failure> {
        let case = self.order.case;
        let flows = case.flows.unwrap_or(1);
        let mut both = Hire::of(Role::Caller);
        for flow in 0..flows {
            both.seat(Role::Caller, flow, self.cpu(Role::Caller), None);
        }
        if case.two_ends() {
            for flow in 0..flows {
                both.seat(Role::Callee, flow, self.cpu(Role::Callee), None);
            }
        }
        let attach = self.hire(both)?;
        self.stage.send(0, &attach, ATTACHING)?;
        self.take_attached(0)?;
        Ok(())
    }

    /// Each end has a worker of its own.
    fn two_workers(&mut self) -> Result<(), Failure> {
        let by_address = |role| self.order.crew.part(role).link == LinkSource::Address;
        match (by_address(Role::Caller), by_address(Role::Callee)) {
            (false, false) => self.over_descriptors(),
            (true, false) => self.over_address(Role::Caller, Role::Callee),
            (false, true) | (true, true) => self.over_address(Role::Callee, Role::Caller),
        }
    }

    fn over_descriptors(&mut self) -> Result<(), Failure> {
        let (mut caller, mut callee) = (Hire::of(Role::Caller), Hire::of(Role::Callee));
        for flow in 0..self.order.case.flows.unwrap_or(1) {
            let row = self.order.crew.link.ok_or_else(|| unexpected("open"))?;
            let case = &self.order.crew.part(Role::Caller).case;
            let link = (row.open)(&Opening { case, scratch: self.order.scratch })
                .map_err(|e| Failure::Reason(format!("opening the link: {e}")))?;
            let (half, other) = (caller.inherits(link.caller), callee.inherits(link.callee));
            caller.seat(Role::Caller, flow, self.cpu(Role::Caller), Some(half));
            callee.seat(Role::Callee, flow, self.cpu(Role::Callee), Some(other));
        }
        // The callee first, so that the caller's worker, which is the one that
        // waits for nobody, is not spawned into a half-open link.
        let attach_callee = self.hire(callee)?;
        let attach_caller = self.hire(caller)?;
        for (at, command) in [&attach_caller, &attach_callee].into_iter().enumerate() {
            self.stage.send(at, command, ATTACHING)?;
        }
        let replies = self.stage.replies(2, ATTACHING)?;
        for (at, reply) in replies.into_iter().enumerate() {
            self.attached(at, reply)?;
        }
        Ok(())
    }

    /// `first` offers an address; the other end gets the connected socket, or connects.
    fn over_address(&mut self, first: Role, other: Role) -> Result<(), Failure> {
        let carrier = match self.order.crew.cast.carrier.as_deref() {
            // A WebSocket's handshake goes over a TCP connection.
            Some("websocket") => "tcp",
            Some(carrier) => carrier,
            None => return Err(unexpected("open")),
        };
        let token = token();
        let offer = Offer {
            carrier: carrier.to_owned(),
            directory: self.order.scratch.display().to_string(),
            token: token.clone(),
        };
        let mut offering = Hire::of(first);
        let link = LinkHalf { offer: Some(offer), ..LinkHalf::default() };
        offering.seat(first, 0, self.cpu(first), Some(link));
        let attach = self.hire(offering)?;
        self.stage.send(0, &attach, ATTACHING)?;
        let address = self.take_attached(0)?.ok_or_else(|| {
            Failure::Reason(format!("the {first}'s worker offers no address to connect to"))
        })?;
        let mut connecting = Hire::of(other);
        let link = if self.order.crew.part(other).link == LinkSource::Address {
            dial::check(carrier, &address, self.order.scratch)?;
            let connect = Connect { carrier: carrier.to_owned(), address, token };
            LinkHalf { connect: Some(connect), ..LinkHalf::default() }
        } else {
            let socket = dial::connect(carrier, &address, &token, self.order.scratch)?;
            connecting.inherits(Half::of_fds([socket]))
        };
        connecting.seat(other, 0, self.cpu(other), Some(link));
        let attach = self.hire(connecting)?;
        // Workers stand with the caller's first.
        let (meets, attaches) = if first == Role::Caller { (0, 1) } else { (1, 0) };
        self.stage.send(meets, &Command::Meet, "meeting")?;
        self.stage.send(attaches, &attach, ATTACHING)?;
        let mut replies = self.stage.replies(2, ATTACHING)?;
        if replies.swap_remove(meets) != Reply::Met {
            return Err(unexpected("meet"));
        }
        let attached = replies.swap_remove(0);
        self.attached(attaches, attached)?;
        Ok(())
    }

    /// Spawns a worker; gives back what it is to be told.
    fn hire(&mut self, mut hire: Hire) -> Result<Command, Failure> {
        let order = self.order;
        let part = order.crew.part(hire.role);
        let samples = File::from(sys::memfd("hopcost-samples", 0)?);
        let stamps = hire
            .seats
            .iter()
            .any(|seat| seat.role == Role::Caller || order.case.workload == Workload::Wake);
        let samples_fd =
            if stamps { Some(hire.lend(OwnedFd::from(samples.try_clone()?))?) } else { None };
        let meeting_fd = match &self.meeting {
            Some(fd) => Some(hire.lend(fd.try_clone()?)?),
            None => None,
        };
        let attach = Command::Attach {
            case: part.case.id(),
            seats: hire.seats.clone(),
            samples_fd,
            meeting_fd,
            // Whoever types takes longer.
            deadline_ms: match order.transcript {
                None => self.deadline_ms,
                Some(_) => self.deadline_ms.max(600_000),
            },
            // What is written down is to be typed by somebody else, whose child it is then.
            parent: order.transcript.is_none().then(std::process::id),
            scratch: Some(order.scratch.display().to_string()),
            trial: order.number,
        };
        let foreign = order.crew.foreign(hire.role);
        let mut worker = match foreign {
            None => Worker::spawn(order.crew.native, hire.fds, order.padding)?,
            Some(ready) => {
                let launch = Launch {
                    deadline_ms: self.deadline_ms,
                    cpus: cpus_of(&hire.seats),
                    fifo: match order.case.sched {
                        Sched::Other => None,
                        Sched::Fifo(priority) => Some(priority),
                    },
                };
                Worker::launch(&ready.program, &launch, hire.fds, order.padding)?
            }
        };
        if let Some(transcript) = order.transcript {
            let name = match (order.crew.two_workers(), hire.role) {
                (false, _) => "worker",
                (true, Role::Caller) => "caller",
                (true, Role::Callee) => "callee",
            };
            let program = foreign.map_or(order.crew.native, |ready| &ready.program);
            let started = typed(hire.role, program, &hire.seats, samples_fd);
            transcript.borrow_mut().push_str(&format!("{name} $ {started}\n"));
            worker.write_down(name, transcript);
        }
        let seats = hire.seats.iter().map(|seat| Seated {
            role: seat.role,
            pid: worker.id(),
            tid: 0,
            cpu: seat.cpu,
        });
        let rate = foreign.map_or(1e9, |ready| ready.description.clock.ticks_per_second);
        let casting =
            Casting { native: foreign.is_none(), tick_ns: 1e9 / rate, seats: seats.collect() };
        let at = if hire.role == Role::Caller { 0 } else { self.stage.workers.len() };
        self.stage.workers.insert(at, worker);
        self.stage.casts.insert(at, casting);
        self.stage.samples.insert(at, samples);
        Ok(attach)
    }

    /// The reply to `attach` of the worker that was spawned alone; the address it offers.
    fn take_attached(&mut self, at: usize) -> Result<Option<String>, Failure> {
        let reply = self.stage.replies(1, ATTACHING)?.pop().ok_or_else(|| unexpected("attach"))?;
        self.attached(at, reply)
    }

    /// Takes in who has attached where, and pins the threads of other runtimes.
    fn attached(&mut self, at: usize, reply: Reply) -> Result<Option<String>, Failure> {
        let Reply::Attached { seats: attached, .. } = reply else {
            return Err(unexpected("attach"));
        };
        let who = self.stage.name(at);
        let casting = &mut self.stage.casts[at];
        let roles = attached.iter().map(|seat| seat.role);
        if !roles.eq(casting.seats.iter().map(|seat| seat.role)) {
            return Err(Failure::Reason(format!("{who} has not attached the ends it was told to")));
        }
        let worker = self.stage.workers[at].id();
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
