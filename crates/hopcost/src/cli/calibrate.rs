//! `hopcost calibrate`: the quiet levels of this machine's yardsticks.

use std::time::{Duration, Instant};

use hopcost_machine::{Root, busy_ns};
use hopcost_model::plan::Plan;
use hopcost_model::raw::{Reference, Yardstick};
use hopcost_model::units;
use hopcost_plan::{Ask, Yardsticks};
use hopcost_probe::interrupt;
use hopcost_view::number;
use serde_json::json;

use super::exit::{self, usage};
use super::host;
use super::output::{self, Format};
use crate::run::clocks;
use crate::run::reference::{self, Machine, References};
use crate::run::runtimes::Runtimes;
use crate::run::setup::Setup;
use crate::run::worker::Program;
use crate::run::yardstick;

/// What has every class of yardsticks on every pair of CPUs that a plan would use.
const CASES: [&str; 4] = [
    "call/multiply",
    "call/syscall",
    "roundtrip/pipe?payload=64&boundary=process&wait=block&place=same-cpu,smt,same-llc,cross-llc,cross-node",
    "roundtrip/flag?payload=0&boundary=process&wait=spin&place=smt,same-llc,cross-llc,cross-node",
];

/// Arguments of `calibrate`.
#[derive(clap::Args)]
pub struct Args {
    /// How long to read them (20s)
    #[arg(long, value_name = "TIME", default_value = "20s")]
    budget: String,
    /// CPUs: the caller's and the callee's
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    cpus: Vec<u32>,
    /// Print what is stored, and measure nothing
    #[arg(long, conflicts_with = "budget")]
    show: bool,
    /// How to print it (text, json)
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// The least time in which readings say anything of the machine.
const BUDGET_MIN_NS: u64 = 1_000_000_000;

/// How long the CPUs are watched before anything is read.
const WATCHED: Duration = Duration::from_millis(500);
/// Share of a CPU that others may use meanwhile: one tick of /proc/stat in `WATCHED` is 2 %.
const OTHERS_MAX: f64 = 0.1;

/// A yardstick with its level as it is now and as it was before.
struct Row {
    yardstick: Yardstick,
    previous: Option<Reference>,
}

/// Reads all yardsticks for a while, stores their quiet levels and prints them.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    if !matches!(args.format, Format::Text | Format::Json) {
        return Err(usage("calibrate prints text or json"));
    }
    let budget_ns =
        units::parse_duration_ns(&args.budget).map_err(|e| usage(format!("--budget: {e}")))?;
    if !args.show && budget_ns < BUDGET_MIN_NS {
        return Err(usage(
            "--budget: want 1s or more, so that one moment is not taken for the machine",
        ));
    }
    let setup = Setup::new("calibrate", Program::own()?, Runtimes::new(Vec::new()));
    let setup = setup.map_err(usage)?;
    let plan = plan(&args.cpus)?;
    let Yardsticks { all: mut yardsticks, .. } = yardstick::of_plan(&plan, &setup);
    let before = host::fingerprint(&plan);
    let references = References::of_user(Machine::of(&before));
    let mut references = references.map_err(|error| usage(format!("{error:#}")))?;
    let previous: Vec<Option<Reference>> =
        yardsticks.iter().map(|one| references.of(one).cloned()).collect();
    if args.show {
        for (yardstick, known) in yardsticks.iter_mut().zip(previous) {
            yardstick.reference = known;
        }
        let rows = yardsticks.into_iter().map(|yardstick| Row { yardstick, previous: None });
        return print(&rows.collect::<Vec<_>>(), args.format).map(|()| exit::OK);
    }
    // What cannot be stored in the end is not read in the first place.
    references.put(&[]).map_err(|error| usage(format!("{error:#}")))?;
    ensure_quiet(&plan.cpus)?;
    let Some(clocks) = clocks::calibrate(&plan, &setup)? else { return Ok(exit::INTERRUPTED) };
    let patience = Duration::from_nanos(budget_ns);
    let Some(readings) = yardstick::readings(&yardsticks, &setup, &clocks, patience) else {
        return Ok(exit::INTERRUPTED);
    };
    let mut lost = Vec::new();
    for (yardstick, (read, readings_ns)) in yardsticks.iter_mut().zip(readings) {
        *yardstick = read;
        yardstick.reference = reference::learn(&readings_ns, reference::CALIBRATED);
        if yardstick.reference.is_none() {
            let why = yardstick.gone.clone();
            let why = why.unwrap_or_else(|| format!("{} readings are too few", readings_ns.len()));
            lost.push(format!("{}: {why}", yardstick.case));
        }
    }
    ensure_quiet(&plan.cpus)?;
    references.put(&yardsticks)?;
    let rows = yardsticks.into_iter().zip(previous);
    let rows: Vec<Row> = rows.map(|(yardstick, previous)| Row { yardstick, previous }).collect();
    print(&rows, args.format)?;
    for line in &lost {
        output::say(&format!("hopcost: no level of {line}"));
    }
    Ok(if lost.is_empty() { exit::OK } else { exit::ERROR })
}

/// Refuses to calibrate while others use the CPUs: every later run would be put in relation to
/// what they made of this one.
fn ensure_quiet(cpus: &[u32]) -> anyhow::Result<()> {
    let before = busy_ns(&Root::default(), cpus);
    interrupt::sleep_until("watch", Instant::now() + WATCHED)?;
    let after = busy_ns(&Root::default(), cpus);
    for ((cpu, before), after) in cpus.iter().zip(before).zip(after) {
        let used = after.zip(before).map_or(0, |(after, before)| after.saturating_sub(before));
        let share = used as f64 / WATCHED.as_nanos() as f64;
        if share > OTHERS_MAX {
            anyhow::bail!(
                "CPU {cpu} is {} busy with other work: calibrate when it is quiet",
                number::share(share.min(1.0))
            );
        }
    }
    Ok(())
}

/// The plan of a run of these cases on these CPUs.
fn plan(cpus: &[u32]) -> anyhow::Result<Plan> {
    let selectors = CASES.iter().map(|case| case.to_string()).collect();
    let ask = Ask { selectors, cpus: cpus.to_vec(), ..Ask::default() };
    let rust = hopcost_probe::worker::mechanisms();
    hopcost_plan::plan(&ask, rust, &Vec::new, &host::machine(cpus)?).map_err(usage)
}

fn print(rows: &[Row], format: Format) -> anyhow::Result<()> {
    let text = match format {
        Format::Json => {
            let rows = rows.iter().map(|row| {
                let Yardstick { class, case, cpus, reference, .. } = &row.yardstick;
                json!({ "class": class, "case": case, "cpus": cpus, "reference": reference,
                        "previous": row.previous })
            });
            format!("{:#}\n", json!({ "yardsticks": rows.collect::<Vec<_>>() }))
        }
        _ => table(rows),
    };
    output::write(text.as_bytes(), None)
}

fn table(rows: &[Row]) -> String {
    let mut text =
        format!("{:8} {:8} {:>10} {:>8} {:>10}\n", "class", "CPUs", "level", "±", "before");
    for Row { yardstick, previous } in rows {
        let cpus: Vec<String> = yardstick.cpus.iter().map(u32::to_string).collect();
        let level = |reference: &Option<Reference>| match reference {
            Some(reference) => number::time(reference.operation_ns, 4),
            None => "–".to_owned(),
        };
        let error = match &yardstick.reference {
            Some(reference) => format!("{:.2} %", reference.log_error * 100.0),
            None => "–".to_owned(),
        };
        text.push_str(&format!(
            "{:8} {:8} {:>10} {error:>8} {:>10}\n",
            yardstick.class.word(),
            cpus.join(","),
            level(&yardstick.reference),
            level(previous),
        ));
    }
    text
}
