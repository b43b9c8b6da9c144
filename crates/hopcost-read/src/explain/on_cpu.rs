//! A traced phase as the CPU time of each end, by what the end does.
//!
//! The messages of a stream are under way one behind the other, so that no event belongs to one of them: the time
//! for which each end has its CPU is summed over the phase.

use std::collections::BTreeMap;

use hopcost_model::case::Role;
use hopcost_model::results::{Leg, Segment, SegmentKind};
use hopcost_model::system_call::SystemCall;
use hopcost_model::trace::{Trace, TraceEvent, TraceKind, TraceThread};

use super::cut::{Cpu, Hop, Part, add, at, role};

/// The CPU time of both ends in a phase.
#[derive(Debug, Default)]
pub struct OnCpu {
    /// All of it, with its segments, which add up to it.
    pub hop: Hop,
    /// Switches away from each end.
    pub switches: [u64; 2],
}

/// Sums a phase of ends that were built for this target.
pub fn summed(trace: &Trace, target: &str) -> OnCpu {
    let mut all = OnCpu::default();
    let begin_ns = trace.events.first().map_or(0, |event| event.at_ns);
    let mut cpus: BTreeMap<u32, Track> = BTreeMap::new();
    let mut calls = [Role::Caller, Role::Callee].map(|end| begun_in(trace, end));
    for event in &trace.events {
        let track = cpus.entry(event.cpu).or_insert_with(|| Track::from(begin_ns, event.thread));
        if let Some(end) = track.cpu.runs.and_then(role) {
            let call = calls[at(end)].map(|number| SystemCall::of(number, target));
            let ns = event.at_ns - track.since_ns;
            // Of several CPUs together.
            all.hop.total_ns = all.hop.total_ns.saturating_add(ns);
            let piece = Part { ns, events: track.written, begins_ns: 0 };
            add(&mut all.hop.parts, track.segment(end, call, event), piece);
        }
        match event.kind {
            TraceKind::SyscallEnter(number) => {
                role(event.thread).into_iter().for_each(|end| calls[at(end)] = Some(number));
            }
            TraceKind::SyscallExit(_) => {
                role(event.thread).into_iter().for_each(|end| calls[at(end)] = None);
            }
            TraceKind::Switch { from, .. } => {
                role(from).into_iter().for_each(|end| all.switches[at(end)] += 1);
            }
            _ => {}
        }
        track.take(event);
    }
    all.hop.parts.retain(|_, part| part.ns > 0);
    line_up(&mut all.hop.parts);
    all
}

/// The call that an end is in when the phase begins, which then ends before another begins.
fn begun_in(trace: &Trace, end: Role) -> Option<u32> {
    let own = trace.events.iter().filter(|event| role(event.thread) == Some(end));
    own.map(|event| event.kind).find_map(|kind| match kind {
        TraceKind::SyscallEnter(_) => Some(None),
        TraceKind::SyscallExit(number) => Some(Some(number)),
        _ => None,
    })?
}

/// Puts the segments of each end one after another, the longest first, and the caller's before the callee's.
fn line_up(parts: &mut BTreeMap<Segment, Part>) {
    let mut order: Vec<(&Segment, &mut Part)> = parts.iter_mut().collect();
    order.sort_by_key(|(segment, part)| (segment.end, std::cmp::Reverse(part.ns)));
    let mut begins_ns = 0;
    for (_, part) in order {
        part.begins_ns = begins_ns;
        begins_ns = begins_ns.saturating_add(part.ns);
    }
}

/// A CPU since its last event.
struct Track {
    cpu: Cpu,
    since_ns: u64,
    /// 1 where that event is one that the kernel writes.
    written: u32,
    /// Since sched_waking: what follows is the wake-up, with the IPI that it sends.
    wakes: bool,
}

impl Track {
    fn from(since_ns: u64, runs: TraceThread) -> Self {
        let cpu = Cpu { runs: Some(runs), ..Cpu::default() };
        Self { cpu, since_ns, written: 0, wakes: false }
    }

    fn take(&mut self, event: &TraceEvent) {
        self.since_ns = event.at_ns;
        self.written = u32::from(!matches!(event.kind, TraceKind::Stamp(_)));
        self.wakes = match event.kind {
            TraceKind::IpiSend { .. } => self.wakes,
            kind => matches!(kind, TraceKind::Waking(_)),
        };
        self.cpu.take(event);
    }

    /// What an end, which may be in a call, does here up to an event.
    fn segment(&self, end: Role, call: Option<SystemCall>, until: &TraceEvent) -> Segment {
        let is_left =
            matches!(until.kind, TraceKind::Switch { from, .. } if role(from) == Some(end));
        let (kind, call) = match call {
            _ if self.wakes => (SegmentKind::WakeUp, None),
            _ if self.cpu.interrupts > 0 => (SegmentKind::Interrupt, None),
            _ if self.cpu.softirqs > 0 => (SegmentKind::Softirq, None),
            Some(_) if is_left => (SegmentKind::Switch, call),
            Some(_) => (SegmentKind::SystemCall, call),
            None => (SegmentKind::User, None),
        };
        Segment { leg: Leg::Forth, end, kind, call }
    }
}
