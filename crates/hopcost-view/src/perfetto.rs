//! The events of traced phases as trace event JSON of Chrome, which ui.perfetto.dev opens: of each case
//! the first phase that has any, with a track for each end and one for each CPU.

use std::collections::BTreeMap;

use hopcost_model::raw::RawRun;
use hopcost_model::trace::{Trace, TraceKind, TraceThread};
use serde_json::{Value, json};

/// The tracks of CPUs stand below those of the ends.
const CPU_TRACKS: u32 = 16;

/// The document; `None` where nothing was traced.
pub fn trace(raw: &RawRun) -> Option<String> {
    let mut all = Vec::new();
    for (index, planned) in (0..).zip(&raw.plan.cases) {
        let mut own = raw.trials.iter().filter(|trial| trial.case == index);
        if let Some(trace) = own.find_map(|trial| trial.trace.as_ref()) {
            of_case(&mut all, index + 1, &planned.id(), trace);
        }
    }
    (!all.is_empty())
        .then(|| json!({"displayTimeUnit": "ns", "traceEvents": all}).to_string() + "\n")
}

fn of_case(out: &mut Vec<Value>, pid: u32, name: &str, trace: &Trace) {
    let named = |what: &str, tid: u32, name: &str| json!({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}});
    out.push(named("process_name", 0, name));
    out.push(named("thread_name", 1, "caller"));
    out.push(named("thread_name", 2, "callee"));
    let slice = |tid: u32, name: String, from_ns: u64, to_ns: u64| json!({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": from_ns as f64 / 1e3, "dur": to_ns.saturating_sub(from_ns) as f64 / 1e3});
    let instant = |tid: u32, name: String, at_ns: u64| json!({"ph": "i", "s": "t", "name": name, "pid": pid, "tid": tid, "ts": at_ns as f64 / 1e3});
    let mut begun: BTreeMap<(u32, &str), (u64, u32)> = BTreeMap::new();
    let mut running: BTreeMap<u32, (u64, TraceThread)> = BTreeMap::new();
    for event in &trace.events {
        let cpu = CPU_TRACKS + event.cpu;
        running.entry(event.cpu).or_insert_with(|| {
            out.push(named("thread_name", cpu, &format!("CPU {}", event.cpu)));
            (event.at_ns, event.thread)
        });
        let tid = match event.kind {
            TraceKind::SyscallEnter(_) | TraceKind::SyscallExit(_) | TraceKind::Stamp(_) => {
                track(event.thread)
            }
            _ => Some(cpu),
        };
        match (edge(event.kind), tid) {
            (Edge::Begins(what, number), Some(tid)) => {
                begun.insert((tid, what), (event.at_ns, number));
            }
            (Edge::Ends(what), Some(tid)) => {
                if let Some((from_ns, number)) = begun.remove(&(tid, what)) {
                    out.push(slice(tid, format!("{what} {number}"), from_ns, event.at_ns));
                }
            }
            (Edge::Switches(to), _) => {
                // What has begun on a CPU without an end does not last from one thread to the next.
                begun.retain(|(tid, _), _| *tid != cpu);
                if let Some((from_ns, ran)) = running.insert(event.cpu, (event.at_ns, to)) {
                    out.push(slice(cpu, thread(ran), from_ns, event.at_ns));
                }
            }
            (Edge::Is(name), tid) => out.push(instant(tid.unwrap_or(cpu), name, event.at_ns)),
            // A system call of another task: what it does there is not the ends'.
            (Edge::Begins(..) | Edge::Ends(_), None) => {}
        }
    }
    let last_ns = trace.events.last().map_or(0, |event| event.at_ns);
    for (cpu, (from_ns, ran)) in running {
        out.push(slice(CPU_TRACKS + cpu, thread(ran), from_ns, last_ns));
    }
}

/// What an event is on its track.
enum Edge {
    Begins(&'static str, u32),
    Ends(&'static str),
    Switches(TraceThread),
    Is(String),
}

/// By the words of the glossary, or else by the kernel's name for it.
fn edge(kind: TraceKind) -> Edge {
    const CALL: &str = "system call";
    const SOFTIRQ: &str = "softirq";
    const INTERRUPT: &str = "interrupt";
    const IDLE: &str = "idle state";
    let of = |what: &str, who| Edge::Is(format!("{what}: {}", thread(who)));
    let packet = |what: &str, bytes: u32| Edge::Is(format!("{what}: {bytes} bytes"));
    match kind {
        TraceKind::Stamp(number) => Edge::Is(format!("stamp {number}")),
        TraceKind::SyscallEnter(number) => Edge::Begins(CALL, number),
        TraceKind::SyscallExit(_) => Edge::Ends(CALL),
        TraceKind::SoftirqEntry(vector) => Edge::Begins(SOFTIRQ, vector),
        TraceKind::SoftirqExit(_) => Edge::Ends(SOFTIRQ),
        TraceKind::IrqEntry(number) => Edge::Begins(INTERRUPT, number),
        TraceKind::IrqExit(_) => Edge::Ends(INTERRUPT),
        TraceKind::IdleEnter { state } => Edge::Begins(IDLE, state),
        TraceKind::IdleExit => Edge::Ends(IDLE),
        TraceKind::Switch { to, .. } => Edge::Switches(to),
        TraceKind::Waking(who) => of("sched_waking", who),
        TraceKind::Wakeup(who) => of("sched_wakeup", who),
        TraceKind::IpiSend { to_cpu } => Edge::Is(format!("IPI to CPU {to_cpu}")),
        TraceKind::RescheduleEntry => Edge::Is("reschedule_entry".to_owned()),
        TraceKind::RescheduleExit => Edge::Is("reschedule_exit".to_owned()),
        TraceKind::NetDevQueue { bytes } => packet("net_dev_queue", bytes),
        TraceKind::NetifReceive { bytes } => packet("netif_receive_skb", bytes),
        TraceKind::TimerExpire => Edge::Is("timer".to_owned()),
        TraceKind::Migrate { who, to_cpu } => {
            Edge::Is(format!("migration: {} to CPU {to_cpu}", thread(who)))
        }
    }
}

/// The track of an end.
fn track(thread: TraceThread) -> Option<u32> {
    match thread {
        TraceThread::Caller => Some(1),
        TraceThread::Callee => Some(2),
        TraceThread::Idle | TraceThread::Other(_) => None,
    }
}

fn thread(thread: TraceThread) -> String {
    match thread {
        TraceThread::Caller => "caller".to_owned(),
        TraceThread::Callee => "callee".to_owned(),
        TraceThread::Idle => "idle".to_owned(),
        TraceThread::Other(id) => format!("another task ({id})"),
    }
}
