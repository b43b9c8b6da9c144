//! A traced phase cut into its hops, and each hop into consecutive segments that add up to it.
//!
//! At every moment a message is at one place ([`Place`]), which is on the CPU of one end. An event moves it to
//! another place, or does not ([`next`]). The time from one event to the next belongs to the place before, or to
//! what keeps that CPU from it: a softirq, an interrupt, another task.

use std::collections::BTreeMap;

use hopcost_model::text::count;
use hopcost_model::{Leg, Role, Segment, SegmentKind, Trace, TraceEvent, TraceKind, TraceThread};

/// What a phase was cut into.
#[derive(Debug, Default, PartialEq)]
pub struct Cut {
    /// The hops whose events show who had the message, in time order.
    pub hops: Vec<Hop>,
    /// The others by the reason.
    pub left_out: BTreeMap<String, u64>,
}

/// A round trip, or one way forth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hop {
    /// From the caller's stamp to its next, or to the callee's.
    pub total_ns: u64,
    /// Its segments; their times add up to the total.
    pub parts: BTreeMap<Segment, Part>,
}

/// A segment of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// All its pieces together.
    pub ns: u64,
    /// Events that were written within it, on the CPU that the message waited for.
    pub events: u32,
    /// When its first piece began, from the stamp.
    pub begins_ns: u64,
}

/// Where a message is. The sender is the caller on the way forth, the callee on the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// The sender is in user space and has not sent it yet.
    #[default]
    User,
    /// In a system call of the sender, which may be the one that sends.
    Send,
    /// The kernel wakes the receiver.
    WakeUp,
    /// An interrupt is on its way to the receiver's CPU.
    Ipi,
    /// The receiver is runnable on its CPU, which does not run it yet.
    IdleExit,
    /// The receiver is runnable on the sender's CPU, and the sender still in its call.
    Handed,
    /// The same, and the sender in user space again.
    HandedUser,
    /// The CPU is on its way to the receiver.
    Switch,
    /// The receiver runs, in the kernel.
    Receive,
    /// The receiver of the last way is in user space with the message, or in a call by which it fetches it.
    Home,
}

/// What an event means for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    SenderEnters,
    SenderExits,
    Waking,
    /// The receiver is runnable, seen on its CPU.
    RunnableThere,
    /// The same, seen on another.
    Runnable,
    IpiSent,
    IpiTaken,
    IdleLeft,
    ReceiverIn,
    ReceiverOut,
    ReceiverExits,
}

/// Whether both ends share a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cpus {
    One,
    Two,
}

/// The table: where an event moves a message to; `None` where it leaves it.
fn next(place: Place, step: Step, cpus: Cpus) -> Option<Place> {
    use Place::{Handed, HandedUser, Home, IdleExit, Ipi, Receive, Send, Switch, User, WakeUp};
    use Step::{
        IdleLeft, IpiSent, IpiTaken, ReceiverExits, ReceiverIn, ReceiverOut, Runnable,
        RunnableThere, SenderEnters, SenderExits, Waking,
    };
    Some(match (place, step, cpus) {
        (User, SenderEnters, _) => Send,
        (Send, SenderExits, _) => User,
        (User | Send, Waking, _) => WakeUp,
        (WakeUp, Runnable | RunnableThere, Cpus::One) => Handed,
        (WakeUp | Handed | Switch, SenderExits, Cpus::One) => HandedUser,
        (HandedUser, SenderEnters, Cpus::One) => Switch,
        (WakeUp | IdleExit, IpiSent, Cpus::Two) => Ipi,
        // Without an interrupt or an event of it, the other CPU knows it at the latest by the end of the call.
        (WakeUp, Runnable | SenderExits, Cpus::Two) => IdleExit,
        (WakeUp | Ipi, RunnableThere | IpiTaken, Cpus::Two) => IdleExit,
        (WakeUp | Ipi | IdleExit, IdleLeft, Cpus::Two) => Switch,
        (User | Send, ReceiverIn, Cpus::One) => Receive,
        (User | Send | Home, _, _) => return None,
        (_, ReceiverIn, _) => Receive,
        (Receive, ReceiverOut, _) => Switch,
        (Receive, ReceiverExits, _) => User,
        // It has run without an event that says when it began.
        (WakeUp | Ipi | IdleExit | Switch, ReceiverExits, Cpus::Two) => User,
        _ => return None,
    })
}

impl Place {
    /// What a segment here is called, where nothing keeps the CPU from it.
    fn kind(self) -> SegmentKind {
        match self {
            Place::User | Place::HandedUser | Place::Home => SegmentKind::User,
            Place::Send | Place::Handed => SegmentKind::Send,
            Place::WakeUp => SegmentKind::WakeUp,
            Place::Ipi => SegmentKind::Ipi,
            Place::IdleExit => SegmentKind::IdleExit,
            Place::Switch => SegmentKind::Switch,
            Place::Receive => SegmentKind::Receive,
        }
    }
}

/// The end that a thread is.
fn role(thread: TraceThread) -> Option<Role> {
    match thread {
        TraceThread::Caller => Some(Role::Caller),
        TraceThread::Callee => Some(Role::Callee),
        _ => None,
    }
}

/// Of a thing for each end, that of one.
fn at(end: Role) -> usize {
    usize::from(end == Role::Callee)
}

/// What a CPU is doing.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    interrupts: u32,
    softirqs: u32,
    /// Since it was last given to a thread.
    runs: Option<TraceThread>,
}

impl Cpu {
    fn take(&mut self, event: &TraceEvent) {
        match event.kind {
            TraceKind::IrqEntry(_) => self.interrupts += 1,
            TraceKind::IrqExit(_) => self.interrupts = self.interrupts.saturating_sub(1),
            TraceKind::SoftirqEntry(_) => self.softirqs += 1,
            TraceKind::SoftirqExit(_) => self.softirqs = self.softirqs.saturating_sub(1),
            // Neither lasts from one thread to the next.
            TraceKind::Switch { to, .. } => {
                *self = Cpu { runs: Some(to), ..Cpu::default() };
            }
            // Kernels of guests may have no event of the switch out of idling.
            TraceKind::SyscallEnter(_) | TraceKind::SyscallExit(_) => {
                self.runs = Some(event.thread);
            }
            _ => {}
        }
    }
}

/// Cuts a traced phase into hops, of which this is the last way: where it is the way forth, the callee's
/// stamp ends a hop.
pub fn cut(trace: &Trace, last: Leg) -> Cut {
    let mut cut = Cut::default();
    let events = &trace.events;
    let begun = |event: &TraceEvent| stamp(event).filter(|(end, _)| *end == Role::Caller);
    let stamps = || events.iter().filter_map(begun).map(|(_, number)| number);
    let n = stamps().count() as u64;
    // Where there is but one stamp an operation, it ends a hop and begins the next.
    let begins = stamps().min().unwrap_or(0);
    let few = "the phase has fewer than two stamps of the caller";
    if let Some(reason) = broken(trace).or((n < 2).then(|| few.to_owned())) {
        cut.left_out.insert(reason, trace.operations.max(1));
        return cut;
    }
    let first = |end: Role| events.iter().find(|event| role(event.thread) == Some(end));
    let cpus = [Role::Caller, Role::Callee].map(|end| first(end).map(|event| event.cpu));
    let mut state = State { cpus, is_in_call: [false; 2], woken: [None; 2], all: BTreeMap::new() };
    let mut open: Option<Open> = None;
    for event in events {
        if let Some(hop) = &mut open {
            hop.take(event, &state);
        }
        state.take(event);
        let Some((end, number)) = stamp(event) else { continue };
        let is_begin = end == Role::Caller && number == begins;
        let is_end = end == receiver(last);
        if !is_begin && !is_end {
            continue;
        }
        let early = Err("the stamps of the two ends do not alternate");
        match open.take().map(|hop| if is_end { hop.close() } else { early }) {
            None => {}
            Some(Ok(hop)) => cut.hops.push(hop),
            Some(Err(reason)) => *cut.left_out.entry(reason.to_owned()).or_default() += 1,
        }
        let at_ns = event.at_ns;
        open = is_begin.then(|| Open { from_ns: at_ns, last_ns: at_ns, last, ..Open::default() });
    }
    cut
}

/// Why a phase cannot be explained, if it cannot.
fn broken(trace: &Trace) -> Option<String> {
    match trace.lost {
        0 if trace.events.is_sorted_by_key(|event| event.at_ns) => None,
        0 => Some("the events are not in time order".to_owned()),
        lost => Some(format!(
            "{} of the phase lost, because the buffers were full: other work on these CPUs, or too long a gap",
            count(lost as usize, "event")
        )),
    }
}

/// The end that a stamp is of, and its number.
fn stamp(event: &TraceEvent) -> Option<(Role, u8)> {
    match event.kind {
        TraceKind::Stamp(number) => Some((role(event.thread)?, number)),
        _ => None,
    }
}

/// Who gets a message that is on this way.
fn receiver(leg: Leg) -> Role {
    match leg {
        Leg::Forth => Role::Callee,
        Leg::Back => Role::Caller,
    }
}

/// What is known beside the hop.
struct State {
    /// Where each end is or was last.
    cpus: [Option<u32>; 2],
    is_in_call: [bool; 2],
    /// How far each end is on its way to its CPU since it was woken, whatever for; there it is `Receive`.
    woken: [Option<Place>; 2],
    all: BTreeMap<u32, Cpu>,
}

impl State {
    fn take(&mut self, event: &TraceEvent) {
        for end in [Role::Caller, Role::Callee] {
            let (place, step) = (self.woken[at(end)], meaning(event, self, end));
            self.woken[at(end)] = match (place, step) {
                (_, Some(Step::Waking)) => Some(Place::WakeUp),
                (_, Some(Step::ReceiverIn)) => Some(Place::Receive),
                (_, Some(Step::ReceiverOut | Step::ReceiverExits)) => None,
                (Some(place), Some(step)) => next(place, step, self.cpus()).or(Some(place)),
                _ => place,
            };
        }
        let (ran, cpu) = match event.kind {
            TraceKind::Switch { to, .. } => (role(to), event.cpu),
            TraceKind::Migrate { who, to_cpu } => (role(who), to_cpu),
            _ => (role(event.thread), event.cpu),
        };
        if let Some(end) = ran {
            self.cpus[at(end)] = Some(cpu);
        }
        if let Some(end) = role(event.thread) {
            match event.kind {
                TraceKind::SyscallEnter(_) => self.is_in_call[at(end)] = true,
                TraceKind::SyscallExit(_) => self.is_in_call[at(end)] = false,
                _ => {}
            }
        }
        self.all.entry(event.cpu).or_default().take(event);
    }

    fn cpu(&self, end: Role) -> Option<u32> {
        self.cpus[at(end)]
    }

    fn cpus(&self) -> Cpus {
        match self.cpu(Role::Caller) == self.cpu(Role::Callee) {
            true => Cpus::One,
            false => Cpus::Two,
        }
    }
}

/// What an event means for a message between two ends.
fn meaning(event: &TraceEvent, state: &State, receiver: Role) -> Option<Step> {
    let is_there = Some(event.cpu) == state.cpu(receiver);
    let is = |thread: TraceThread, end: Role| role(thread) == Some(end);
    Some(match event.kind {
        TraceKind::SyscallEnter(_) if is(event.thread, receiver.other()) => Step::SenderEnters,
        TraceKind::SyscallExit(_) if is(event.thread, receiver.other()) => Step::SenderExits,
        TraceKind::SyscallExit(_) if is(event.thread, receiver) => Step::ReceiverExits,
        TraceKind::Waking(thread) if is(thread, receiver) => Step::Waking,
        TraceKind::Wakeup(thread) if is(thread, receiver) && is_there => Step::RunnableThere,
        TraceKind::Wakeup(thread) if is(thread, receiver) => Step::Runnable,
        TraceKind::IpiSend { to_cpu } if Some(to_cpu) == state.cpu(receiver) => Step::IpiSent,
        TraceKind::RescheduleEntry if is_there => Step::IpiTaken,
        TraceKind::IdleExit if is_there => Step::IdleLeft,
        TraceKind::Switch { to, .. } if is(to, receiver) => Step::ReceiverIn,
        TraceKind::Switch { from, .. } if is(from, receiver) => Step::ReceiverOut,
        _ => return None,
    })
}

/// Where a message is that its sender has yet to send.
fn unsent(state: &State, sender: Role) -> Place {
    if state.is_in_call[at(sender)] { Place::Send } else { Place::User }
}

/// A hop whose end has not come.
#[derive(Default)]
struct Open {
    from_ns: u64,
    last_ns: u64,
    /// The way that it is on: forth at first.
    leg: Leg,
    /// The way after which the hop is over.
    last: Leg,
    place: Place,
    hop: Hop,
    /// 1 where the event before is written while the message waits.
    written: u32,
    /// What belongs to the sender's call so far, which may turn out to be another than the one that sends.
    call: Part,
    /// The same of the call before, which has woken nobody.
    before: Option<Part>,
    /// The last piece, where a segment of the sender has it.
    piece: Option<Part>,
    /// The caller was at home, and the callee has done nothing but run since.
    had_reply: bool,
    contradiction: Option<&'static str>,
}

impl Open {
    fn sender(&self) -> Role {
        self.receiver().other()
    }

    fn receiver(&self) -> Role {
        receiver(self.leg)
    }

    /// The end on whose CPU the message waits.
    fn end(&self, cpus: Cpus) -> Role {
        match (self.place, cpus) {
            (Place::Ipi | Place::IdleExit | Place::Receive | Place::Home, _) => self.receiver(),
            (Place::Switch, Cpus::Two) => self.receiver(),
            _ => self.sender(),
        }
    }

    /// The segment that the time since the event before belongs to.
    fn segment(&self, state: &State) -> Segment {
        let end = self.end(state.cpus());
        let cpu = state.cpu(end).and_then(|cpu| state.all.get(&cpu)).copied().unwrap_or_default();
        let kind = match self.place {
            Place::WakeUp => SegmentKind::WakeUp,
            _ if cpu.interrupts > 0 => SegmentKind::Interrupt,
            _ if cpu.softirqs > 0 => SegmentKind::Softirq,
            _ if matches!(cpu.runs, Some(TraceThread::Other(_))) => SegmentKind::OtherTask,
            // The sender's timer has taken the CPU from who has the message.
            Place::Receive | Place::Home if cpu.runs.and_then(role) == Some(end.other()) => {
                SegmentKind::OtherTask
            }
            Place::Home if state.is_in_call[at(end)] => SegmentKind::Receive,
            // It has sent it and sleeps; who is to be woken is not yet.
            Place::User | Place::Send if cpu.runs == Some(TraceThread::Idle) => SegmentKind::Queue,
            place => place.kind(),
        };
        Segment { leg: self.leg, end, kind }
    }

    /// Gives the time up to an event to its segment, and moves on; `state` is that before the event.
    fn take(&mut self, event: &TraceEvent, state: &State) {
        let segment = self.segment(state);
        let piece = Part {
            ns: event.at_ns - self.last_ns,
            events: self.written,
            begins_ns: self.last_ns - self.from_ns,
        };
        add(&mut self.hop.parts, segment, piece);
        if self.place == Place::Send && segment.kind == SegmentKind::Send {
            let begins_ns = if self.call.ns > 0 { self.call.begins_ns } else { piece.begins_ns };
            let (ns, events) = (self.call.ns + piece.ns, self.call.events + piece.events);
            self.call = Part { ns, events, begins_ns };
        }
        if segment.kind == SegmentKind::Queue {
            // The last call that was over is the one that sent it.
            self.before = None;
        }
        self.piece = (segment.kind == self.place.kind()).then_some(piece);
        self.last_ns = event.at_ns;
        self.hop.total_ns = event.at_ns - self.from_ns;
        self.step(event, state);
        // What writes an event takes its time after it has read the clock.
        let waits = [segment.end, self.end(state.cpus())].map(|end| state.cpu(end));
        let is_stamp = matches!(event.kind, TraceKind::Stamp(_));
        self.written = u32::from(!is_stamp && waits.contains(&Some(event.cpu)));
    }

    fn step(&mut self, event: &TraceEvent, state: &State) {
        if let TraceKind::Waking(thread) = event.kind {
            let woken = role(thread);
            let is_unsent = matches!(self.place, Place::User | Place::Send);
            // One thread of a library may wake another of its end.
            let is_own = role(event.thread) == woken;
            if woken == Some(Role::Caller) && woken == Some(self.sender()) && is_unsent && !is_own {
                self.contradiction = Some("the callee was not asleep when the message came");
            }
            // Who was home had not fetched a message but been run in between.
            if self.place == Place::Home && woken == Some(Role::Callee) {
                (self.leg, self.place) = (Leg::Forth, Place::WakeUp);
                return;
            }
        }
        if self.place == Place::Home {
            // Likewise, if the callee goes on; if it sleeps again at once, it was woken too early and ran in vain.
            if matches!(event.kind, TraceKind::Switch { to: TraceThread::Callee, .. })
                && state.cpus() == Cpus::One
                && self.last == Leg::Back
            {
                self.place = unsent(state, Role::Callee);
                self.call = Part::default();
                self.had_reply = true;
            }
            return;
        }
        if let TraceKind::Switch { to, .. } = event.kind
            && role(to) == Some(self.sender())
            && self.place == Place::Receive
            && state.cpus() == Cpus::One
        {
            // The receiver was woken before the message was sent, and has found nothing; who has sent one
            // way has nothing more to send.
            if self.last == Leg::Back {
                self.place = unsent(state, self.sender());
            }
            return;
        }
        let Some(step) = meaning(event, state, self.receiver()) else { return };
        if std::mem::take(&mut self.had_reply) && step == Step::ReceiverIn {
            let (end, kind) = (Role::Caller, SegmentKind::OtherTask);
            let call = std::mem::take(&mut self.call);
            self.rename(call, SegmentKind::Send, Segment { leg: Leg::Back, end, kind });
            self.place = Place::Home;
            return;
        }
        let Some(place) = next(self.place, step, state.cpus()) else { return };
        let mut place = place;
        let call = std::mem::take(&mut self.call);
        let received = Segment { leg: Leg::Forth, end: Role::Callee, kind: SegmentKind::Receive };
        let switch = Segment { leg: self.leg, end: self.sender(), kind: SegmentKind::Switch };
        let before = match (self.place, step) {
            (Place::Send, Step::SenderExits) => {
                // A thread that is woken before the message is sent takes it without being woken again.
                let woken = state.woken[at(self.receiver())].filter(|_| state.cpus() == Cpus::Two);
                place = woken.unwrap_or(place);
                self.before.replace(call)
            }
            (Place::User | Place::Send, Step::Waking) => self.before.take(),
            _ => None,
        };
        // Of the callee's calls that wake nobody all but the last belong to what it receives.
        if let Some(before) = before.filter(|_| self.leg == Leg::Back) {
            self.rename(before, SegmentKind::Send, received);
        }
        match (self.place, step) {
            // A call in which the sender is switched out is the one in which it sleeps.
            (Place::Send, Step::ReceiverIn) => self.rename(call, SegmentKind::Send, switch),
            // The receiver takes the CPU from the sender, which does nothing more until then.
            (Place::Handed | Place::HandedUser, Step::ReceiverIn) => {
                self.rename(self.piece.unwrap_or_default(), self.place.kind(), switch);
            }
            _ => {}
        }
        if step == Step::ReceiverExits && self.place != Place::Receive {
            self.unite();
        }
        (self.leg, self.place) = match (self.leg, step) {
            (leg, Step::ReceiverExits) if leg == self.last => (leg, Place::Home),
            (Leg::Forth, Step::ReceiverExits) => {
                self.before = None;
                (Leg::Back, Place::User)
            }
            (leg, ..) => (leg, place),
        };
    }

    /// Makes one segment of those between which no event has told how long each was.
    fn unite(&mut self) {
        let to = Segment { leg: self.leg, end: self.receiver(), kind: SegmentKind::Unseparated };
        let of = |kind| Segment { kind, ..to };
        let mut from =
            vec![of(SegmentKind::Ipi), of(SegmentKind::IdleExit), of(SegmentKind::Switch)];
        if self.place == Place::WakeUp {
            from.push(Segment { end: self.sender(), ..of(SegmentKind::WakeUp) });
        }
        for segment in from {
            if let Some(part) = self.hop.parts.remove(&segment) {
                add(&mut self.hop.parts, to, part);
            }
        }
    }

    /// Moves a part of what the sender did to another segment.
    fn rename(&mut self, moved: Part, from: SegmentKind, to: Segment) {
        let from = Segment { leg: self.leg, end: self.sender(), kind: from };
        if let Some(part) = self.hop.parts.get_mut(&from) {
            part.ns -= moved.ns;
            part.events -= moved.events;
            if part.ns == 0 && part.events == 0 {
                self.hop.parts.remove(&from);
            }
            add(&mut self.hop.parts, to, moved);
        }
    }

    /// The hop, or why its events do not show who had the message.
    fn close(self) -> Result<Hop, &'static str> {
        match (self.contradiction, self.leg, self.place) {
            (Some(reason), ..) => Err(reason),
            (_, leg, Place::Home) if leg == self.last => Ok(self.hop),
            (_, Leg::Forth, _) => Err("no event shows that the callee got the message"),
            (_, Leg::Back, _) => Err("no event shows that the caller got the reply"),
        }
    }
}

/// Adds a piece to a segment.
fn add(parts: &mut BTreeMap<Segment, Part>, segment: Segment, piece: Part) {
    let part = parts.entry(segment).or_insert(Part { ns: 0, events: 0, ..piece });
    part.ns = part.ns.saturating_add(piece.ns);
    part.events += piece.events;
    part.begins_ns = part.begins_ns.min(piece.begins_ns);
}
