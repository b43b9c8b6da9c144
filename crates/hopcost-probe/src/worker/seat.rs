//! A seat: one attached end on one thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};

use hopcost_model::{
    Attach, Attached, Case, EndCounters, Phase, PhaseSpec, Sched, Workload, protocol,
};

use super::counters::{Snapshot, Time};
use super::events::{CALL, Events, KERNEL, STREAM};
use super::lines;
use crate::registry::Row;
use crate::shape::{Attaching, Half};
use crate::sys::{self, Doing};
use crate::transport::tcp_socket::Connections;
use crate::workload::Endpoint;

/// What the seats of a trial have in common.
pub struct Common {
    pub row: &'static Row,
    pub case: Case,
    /// The memory in which the two ends of a `wake` or a `load` meet.
    pub meeting: Option<OwnedFd>,
    /// Whose time passes.
    pub time: Time,
    /// Everything else, but for the seats.
    pub asked: Box<Attach>,
}

/// An end that is to be attached, and its half of the link.
type End = (protocol::Seat, Half);

/// An attached end; belongs to the thread that attached it.
pub struct Seat {
    pub endpoint: Box<dyn Endpoint>,
    end: protocol::Seat,
    time: Time,
    /// What is counted while it is measured; opened before any phase, because opening takes long.
    measured: Option<Events>,
    /// Ids of the threads that its mechanism has started for it.
    helpers: Vec<u32>,
    /// Its TCP connections.
    tcp: Option<Connections>,
    /// Whether there is a phase in which system calls are counted.
    two_ends: bool,
}

impl Seat {
    /// Pins the calling thread, sets its scheduling policy and attaches.
    pub fn take((end, half): End, common: Arc<Common>) -> io::Result<(Self, Attached)> {
        let Common { row, case, time, asked, .. } = &*common;
        let pin_error = end.cpu.and_then(|cpu| sys::pin(cpu).err()).map(|e| e.to_string());
        if let Sched::Fifo(priority) = case.sched {
            sys::set_scheduler(libc::SCHED_FIFO, priority).doing(sys::FIFO_NEEDS)?;
        }
        let attaching = Attaching {
            trial: asked.trial,
            flow: end.flow,
            meeting: common.meeting.as_ref(),
            schedule: asked.schedule,
            ..Attaching::new(case, end.role)
        };
        let tcp = Connections::of(&half, asked.deadline_ms);
        let attached = row.attach(half, &attaching);
        let endpoint = attached.doing(format_args!("attaching the {}", end.role))?;
        let helpers = attaching.helpers.into_inner();
        let attached = Attached {
            role: end.role,
            tid: sys::thread_id(),
            cpu: sys::current_cpu(),
            pid: None,
            offers: None,
            pin_error,
            helpers: helpers.clone(),
        };
        let set = match case.workload {
            _ if *time == Time::Virtual => None,
            Workload::Stream => Some(STREAM),
            Workload::Call => Some(CALL),
            // Even a counter that is off costs something at every context switch.
            _ => None,
        };
        let measured = set.map(|set| Events::of_caller(set, &helpers));
        let (time, two_ends) = (*time, case.two_ends());
        Ok((Self { endpoint, end, time, measured, helpers, tcp, two_ends }, attached))
    }

    /// Runs a phase; samples go into `out` as far as it reaches.
    pub fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<EndCounters> {
        // Open only for this phase: while it is, every system call of the machine is slower.
        let mut system_calls =
            (spec.phase == Phase::Count && self.two_ends && self.time == Time::Real)
                .then(|| Events::of_caller(KERNEL, &self.helpers));
        // Threads that a call starts and waits for are gone when it returns, and count as the process's.
        let whose = if self.two_ends { libc::RUSAGE_THREAD } else { libc::RUSAGE_SELF };
        let before = Snapshot::take(self.time, whose);
        let mut events = match spec.phase {
            Phase::Measure => self.measured.as_mut(),
            Phase::Count => system_calls.as_mut(),
            Phase::Pilot | Phase::WarmUp => None,
        };
        if let Some(events) = &events {
            events.start()?;
        }
        let stamped = match (self.endpoint.run(spec, out), &mut self.tcp) {
            (Err(error), Some(tcp)) => return Err(tcp.explain(error)),
            (stamped, _) => stamped?,
        };
        if let Some(events) = &events {
            events.stop()?;
        }
        // Where a phase keeps none, there is no room for any.
        let samples = stamped.samples.min(out.len() as u64);
        let counters = before.since(&self.end, stamped, samples);
        let events = events.as_mut().map_or(Vec::new(), |events| events.read());
        let tcp = self.tcp.as_mut().and_then(Connections::read);
        Ok(EndCounters { events, tcp, ..counters })
    }
}

/// The commands to a seat on a thread of its own.
type Duty = Box<dyn FnOnce(&mut Seat) -> io::Result<()> + Send>;

/// A seat of a worker on a thread of its own.
pub struct ThreadSeat {
    duties: mpsc::Sender<Duty>,
    /// What comes of attaching, which it does at once, because all seats do so at the same time.
    pub attached: mpsc::Receiver<Attached>,
}

impl ThreadSeat {
    /// Starts the thread.
    pub fn start(end: End, common: Arc<Common>) -> io::Result<Self> {
        let (duties, duties_in) = mpsc::channel::<Duty>();
        let (attached_out, attached) = mpsc::channel();
        std::thread::Builder::new().name("hopcost-seat".into()).spawn(move || {
            let taken = Seat::take(end, common);
            let (mut seat, attached) = taken.unwrap_or_else(|error| lines::give_up(&error));
            let _ = attached_out.send(attached);
            while let Ok(duty) = duties_in.recv() {
                if let Err(error) = duty(&mut seat) {
                    lines::give_up(&sys::context(error, seat.end.role));
                }
            }
        })?;
        Ok(Self { duties, attached })
    }

    /// Has it do something; what comes of it is awaited with [`awaited`].
    pub fn tell<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Seat) -> io::Result<T> + Send + 'static,
    ) -> mpsc::Receiver<T> {
        let (out, result) = mpsc::channel();
        // A send fails only if the thread is gone, and then the process is on its way out.
        let _ = self.duties.send(Box::new(move |seat| {
            let _ = out.send(work(seat)?);
            Ok(())
        }));
        result
    }
}

/// What came of something that another seat's thread does.
pub fn awaited<T>(result: &mpsc::Receiver<T>) -> io::Result<T> {
    result.recv().map_err(|_| sys::failure("a seat's thread ended"))
}
