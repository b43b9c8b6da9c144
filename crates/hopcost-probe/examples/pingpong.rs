//! Runs one mechanism between two threads, so that `strace -f -c` can count its
//! system calls: those of one round trip are the difference between the counts
//! of N and 2N round trips, divided by N.
//!
//! ```text
//! cargo build -p hopcost-probe --example pingpong
//! strace -f -c -o n.txt target/debug/examples/pingpong pipe block 10000
//! ```
//!
//! Arguments: mechanism, wait, round trips, then optionally bytes per message
//! (the mechanism's default otherwise) and `same-cpu` or `two-cpus` (the
//! scheduler decides otherwise). Prints the mean of a round trip in ticks, which
//! is no measurement: nothing was warmed up or checked.

use std::error::Error;
use std::io;

use hopcost_model::case::{Case, Role};
use hopcost_model::mechanism::Payload;
use hopcost_model::protocol::Stamp;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::workload::{Order, Stamped};
use hopcost_probe::{clock, mechanism, sys};

const USAGE: &str = "pingpong MECHANISM WAIT COUNT [BYTES [same-cpu|two-cpus]]";

fn case(row: &Row, wait: &str, bytes: Option<&String>) -> Result<Case, Box<dyn Error>> {
    let default = match row.facts.payload {
        Payload::Bytes { default, .. } => default.to_string(),
        Payload::None => return Err("a call has no second end".into()),
    };
    let payload = bytes.cloned().unwrap_or(default);
    let mut id = format!(
        "roundtrip/{}?payload={payload}&boundary=thread&place=free&wait={wait}&spin=20000",
        row.facts.name
    );
    for parameter in row.facts.parameters {
        let value = std::env::var(parameter.name).unwrap_or(parameter.default.to_owned());
        id.push_str(&format!("&{}={value}", parameter.name));
    }
    Ok(id.parse()?)
}

fn run_end(
    row: &Row,
    half: Half,
    case: &Case,
    role: Role,
    cpu: Option<u32>,
    count: u64,
) -> io::Result<Stamped> {
    if let Some(cpu) = cpu {
        sys::pin(cpu)?;
    }
    let budget_ticks = clock::rough_ticks(case.spin_budget_ns.unwrap_or(0));
    let attaching = Attaching { case, role, budget_ticks, trial: 0, flow: 0, meeting: None };
    let mut end = (row.attach)(half, &attaching)?;
    end.run(&Order::of(count, Stamp::Each), &mut [])
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, wait, count, rest @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let row = mechanism::find(name).ok_or_else(|| format!("no mechanism `{name}`"))?;
    (row.facts.available)()?;
    let case = case(row, wait, rest.first())?;
    let count: u64 = count.parse()?;
    let allowed = sys::allowed_cpus()?;
    let cpus = match rest.get(1).map(String::as_str) {
        None => [None, None],
        Some("same-cpu") => [allowed.first().copied(); 2],
        Some("two-cpus") => [allowed.first().copied(), allowed.get(1).copied()],
        Some(_) => return Err(USAGE.into()),
    };
    let scratch = std::env::temp_dir().join(format!("hopcost-pingpong-{}", std::process::id()));
    std::fs::create_dir(&scratch)?;
    let link = (row.open)(&Opening { case: &case, scratch: &scratch });
    let outcome = link.and_then(|link| {
        std::thread::scope(|scope| {
            let callee =
                scope.spawn(|| run_end(row, link.callee, &case, Role::Callee, cpus[1], count));
            let caller = run_end(row, link.caller, &case, Role::Caller, cpus[0], count);
            if let Err(error) = &caller {
                // The callee may wait for ever: there is no supervisor here.
                eprintln!("the caller: {error}");
                std::process::exit(1);
            }
            let callee = callee.join().map_err(|_| sys::failure("the callee panicked"))?;
            caller.and_then(|seen| callee.map(|_| seen))
        })
    });
    let left: Vec<_> = std::fs::read_dir(&scratch)?.collect();
    std::fs::remove_dir_all(&scratch)?;
    let seen = outcome?;
    println!("{} {wait}: {} ticks a round trip", name, seen.elapsed_ticks / count.max(1));
    if left.is_empty() { Ok(()) } else { Err(format!("left in the scratch: {left:?}").into()) }
}
