//! A seat: one attached end on one thread.

use std::io;
use std::sync::mpsc;

use hopcost_model::case::{Case, Role, Sched};
use hopcost_model::protocol::{Attached, EndCounters, Phase, Stamp};

use super::counters::{Snapshot, Time};
use super::lines;
use crate::clock;
use crate::endpoint::Endpoint;
use crate::registry::Row;
use crate::shape::{Attaching, Half};
use crate::sys;

/// What a seat is given to start with.
pub struct Start {
    /// The mechanism.
    pub row: &'static Row,
    /// The case.
    pub case: Case,
    /// Which end.
    pub role: Role,
    /// CPU to pin to.
    pub cpu: Option<u32>,
    /// This end's half of the link.
    pub half: Half,
    /// The trial's number.
    pub trial: u32,
    /// Whose time passes.
    pub time: Time,
}

/// An attached end; belongs to the thread that attached it.
pub struct Seat {
    endpoint: Box<dyn Endpoint>,
    role: Role,
    cpu: Option<u32>,
    time: Time,
}

impl Seat {
    /// Pins the calling thread, sets its scheduling policy and attaches.
    pub fn take(start: Start) -> io::Result<(Self, Attached)> {
        let pin_error = start.cpu.and_then(|cpu| sys::pin(cpu).err()).map(|e| e.to_string());
        if let Sched::Fifo(priority) = start.case.sched {
            sys::set_fifo(priority)?;
        }
        let attaching = Attaching {
            case: &start.case,
            role: start.role,
            budget_ticks: start.case.spin_budget_ns.map_or(0, clock::rough_ticks),
            trial: start.trial,
        };
        let endpoint = (start.row.attach)(start.half, &attaching)
            .map_err(|e| sys::context(e, &format!("attaching the {}", start.role)))?;
        let attached = Attached {
            role: start.role,
            tid: sys::thread_id(),
            cpu: sys::current_cpu(),
            pin_error,
        };
        Ok((Self { endpoint, role: start.role, cpu: start.cpu, time: start.time }, attached))
    }

    /// Runs a phase; samples, if any are kept, are appended to `out`'s place.
    pub fn run(
        &mut self,
        phase: Phase,
        count: u64,
        stamp: Stamp,
        out: &mut [u64],
    ) -> io::Result<EndCounters> {
        let before = Snapshot::take(self.time);
        let stamped = self.endpoint.run(count, stamp, out)?;
        let samples =
            if phase == Phase::Measure { stamped.samples.min(out.len() as u64) } else { 0 };
        Ok(before.since(self.role, stamped, samples, self.cpu))
    }
}

/// The second seat of a worker, on a thread of its own.
pub struct ThreadSeat {
    orders: mpsc::Sender<(Phase, u64, Stamp)>,
    done: mpsc::Receiver<EndCounters>,
    attached: mpsc::Receiver<Attached>,
}

impl ThreadSeat {
    /// Starts the thread, which attaches at once; collect with [`Self::attached`]
    /// after attaching the first seat, because both do so at the same time.
    pub fn start(start: Start) -> io::Result<Self> {
        let (orders, orders_in) = mpsc::channel::<(Phase, u64, Stamp)>();
        let (done_out, done) = mpsc::channel();
        let (attached_out, attached) = mpsc::channel();
        std::thread::Builder::new().name("hopcost-seat".into()).spawn(move || {
            let mut seat = match Seat::take(start) {
                Ok((seat, attached)) => {
                    let _ = attached_out.send(attached);
                    seat
                }
                Err(error) => lines::give_up(&error.to_string()),
            };
            while let Ok((phase, count, stamp)) = orders_in.recv() {
                match seat.run(phase, count, stamp, &mut []) {
                    Ok(counters) => drop(done_out.send(counters)),
                    Err(error) => lines::give_up(&format!("{}: {error}", seat.role)),
                }
            }
        })?;
        Ok(Self { orders, done, attached })
    }

    /// What became of it.
    pub fn attached(&self) -> io::Result<Attached> {
        self.attached.recv().map_err(|_| sys::failure("the second seat's thread ended"))
    }
    /// Tells it to run a phase.
    pub fn order(&self, phase: Phase, count: u64, stamp: Stamp) {
        // A send fails only if the thread is gone, and then the process is on its way out.
        let _ = self.orders.send((phase, count, stamp));
    }
    /// Waits for the phase to end.
    pub fn collect(&self) -> io::Result<EndCounters> {
        self.done.recv().map_err(|_| sys::failure("the second seat's thread ended"))
    }
}
