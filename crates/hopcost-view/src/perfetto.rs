//! The events of traced phases as trace event JSON of Chrome, which ui.perfetto.dev opens: of each case
//! the first phase that has any, with a track for each end and one for each CPU.

use std::collections::BTreeMap;

use hopcost_model::raw::RawRun;
use hopcost_model::trace::{Trace, TraceEvent, TraceKind, TraceThread};
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
    let mut calls: BTreeMap<u32, (u64, u32)> = BTreeMap::new();
    let mut running: BTreeMap<u32, (u64, TraceThread)> = BTreeMap::new();
    for event in &trace.events {
        let cpu = CPU_TRACKS + event.cpu;
        running.entry(event.cpu).or_insert_with(|| {
            out.push(named("thread_name", cpu, &format!("CPU {}", event.cpu)));
            (event.at_ns, event.thread)
        });
        match (event.kind, track(event.thread)) {
            (TraceKind::SyscallEnter(number), Some(tid)) => {
                calls.insert(tid, (event.at_ns, number));
            }
            (TraceKind::SyscallExit(_), Some(tid)) => {
                if let Some((from_ns, number)) = calls.remove(&tid) {
                    out.push(slice(tid, format!("system call {number}"), from_ns, event.at_ns));
                }
            }
            (TraceKind::Switch { to, .. }, _) => {
                if let Some((from_ns, ran)) = running.insert(event.cpu, (event.at_ns, to)) {
                    out.push(slice(cpu, thread(ran), from_ns, event.at_ns));
                }
            }
            _ => {
                let tid = match event.kind {
                    TraceKind::Stamp(_) => track(event.thread).unwrap_or(cpu),
                    _ => cpu,
                };
                out.push(instant(pid, tid, event));
            }
        }
    }
    let last_ns = trace.events.last().map_or(0, |event| event.at_ns);
    for (cpu, (from_ns, ran)) in running {
        out.push(slice(CPU_TRACKS + cpu, thread(ran), from_ns, last_ns));
    }
}

fn instant(pid: u32, tid: u32, event: &TraceEvent) -> Value {
    let name = format!("{:?}", event.kind);
    json!({"ph": "i", "s": "t", "name": name, "pid": pid, "tid": tid, "ts": event.at_ns as f64 / 1e3})
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
        TraceThread::Other(id) => format!("thread {id}"),
    }
}
