//! `server:TIME`: a receiver that takes TIME for each message, one after the other, in virtual
//! time: it is known what its response to a `load` has to be (M/D/1 under exponential arrivals).
//! With `stall=100ms` it stands still for the first 100 ms of each second. With `late=own` the
//! sender leaves the wait for every 50th message 1 ms late, with `late=send` that message's send
//! takes 1 ms.

use std::io;
use std::iter::Peekable;
use std::sync::mpsc::{IntoIter, Sender, channel};

use hopcost_model::Role;

use super::time_ns;
use crate::clock::{Clock, Virtual};
use crate::party::Party;
use crate::shape::{Attaching, Half, Link, Opening};
use crate::sys::ensure;
use crate::transport::peer_closed;
use crate::workload::Endpoint;
use crate::workload::load;

const SECOND_NS: u64 = 1_000_000_000;
/// Which messages make the sender late, and for how long.
const LATE_EVERY: u64 = 50;
const LATE_NS: u64 = 1_000_000;

/// A message: its number, and when it was sent.
type Message = (u64, u64);

/// What comes from a sender.
type Queue = Peekable<IntoIter<Message>>;

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let ends = (0..opening.case.senders).map(|_| channel::<Message>());
    let ends = ends.map(|(sender, receiver)| (sender, receiver.into_iter().peekable()));
    let (senders, queues): (Vec<_>, Vec<Queue>) = ends.unzip();
    Ok(Link { caller: Half::of_locals(senders), callee: Half::of_locals([queues]) })
}

/// Attaches an end.
pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let service_ns = time_ns(attaching.case.argument()).unwrap_or(0);
    let end = match attaching.role {
        Role::Caller => End::Client(half.take_local()?),
        Role::Callee => End::Server(half.take_local()?),
    };
    let stall_ns = if attaching.parameter("stall") == "100ms" { SECOND_NS / 10 } else { 0 };
    let [late_own, late_send] = ["own", "send"].map(|how| attaching.parameter("late") == how);
    load::end::<_, Virtual>(Served { end, service_ns, stall_ns, late_own, late_send }, attaching)
}

enum End {
    Client(Sender<Message>),
    Server(Vec<Queue>),
}

struct Served {
    end: End,
    service_ns: u64,
    stall_ns: u64,
    /// What makes every 50th message's sender late: it leaves its wait so, or its send takes long.
    late_own: bool,
    late_send: bool,
}

impl Served {
    /// Takes a message that was sent then; the time passes until it is done.
    fn serve(&self, sent_ns: u64) {
        Virtual::reach(sent_ns);
        let (now_ns, _) = Virtual::stamp();
        let stands_ns = self.stall_ns.saturating_sub(now_ns % SECOND_NS);
        Virtual::reach(now_ns + stands_ns + self.service_ns);
    }
}

impl Party for Served {
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T> {
        let End::Client(end) = &self.end else { return Err(peer_closed()) };
        let value = before();
        let (now_ns, _) = Virtual::stamp();
        end.send((sequence, now_ns)).map_err(|_| peer_closed())?;
        if sequence.is_multiple_of(LATE_EVERY) && self.late_send {
            Virtual::reach(now_ns + LATE_NS);
        }
        if (sequence + 1).is_multiple_of(LATE_EVERY) && self.late_own {
            Virtual::oversleep(LATE_NS);
        }
        Ok(value)
    }
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T> {
        let number = self.receive_numbered(1)?;
        ensure!(number == sequence, "message {number} came instead of {sequence}");
        Ok(then())
    }
    /// Serves that of those at the heads which was sent first.
    fn receive_numbered(&mut self, awaited: u64) -> io::Result<u64> {
        let End::Server(queues) = &mut self.end else { return Err(peer_closed()) };
        let mut first: Option<(u64, usize)> = None;
        for (at, queue) in queues.iter_mut().enumerate().filter(|(at, _)| awaited >> at & 1 == 1) {
            let (_, sent_ns) = queue.peek().ok_or_else(peer_closed)?;
            let head = (*sent_ns, at);
            first = Some(first.map_or(head, |one| one.min(head)));
        }
        let (sent_ns, at) = first.ok_or_else(peer_closed)?;
        let (number, _) = queues[at].next().ok_or_else(peer_closed)?;
        self.serve(sent_ns);
        Ok(number)
    }
}
