//! `hopcost selftest`: cases of which it is known what has to come out, through the whole of hopcost.

mod answers;
mod measuring;

use std::ffi::OsString;
use std::time::Instant;

use hopcost_model::plan::Plan;
use hopcost_model::text::count;
use hopcost_plan::Ask;
use hopcost_probe::orphans::Orphans;
use serde_json::json;

use super::exit::{self, usage};
use super::host;
use super::output::{self, Format};
use crate::run::{ensure_descriptors, scratch};

use answers::{Answer, Found, RUNS, Run};
use measuring::Measuring;

/// Arguments of `selftest`.
#[derive(clap::Args)]
pub struct Args {
    /// Which answers to look at; all where nothing is said
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// How to print it: text or json
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// CPUs: the caller's and the callee's
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    cpus: Vec<u32>,
}

/// Operations of which the system calls are counted.
const COUNTED: u64 = 200;

/// An answer and what was found.
struct Told {
    name: &'static str,
    known: &'static str,
    found: Found,
}

/// Measures what has a known answer, and says which came out.
pub fn run(args: &Args, words: &[OsString]) -> anyhow::Result<u8> {
    let orphans = Orphans::adopt()?;
    if !matches!(args.format, Format::Text | Format::Json) {
        return Err(usage("selftest prints text or json"));
    }
    let names = || RUNS.iter().flat_map(|run| run.answers).map(|answer| answer.name);
    if let Some(unknown) = args.names.iter().find(|name| names().all(|known| known != *name)) {
        let all: Vec<&str> = names().collect();
        return Err(usage(format!(
            "no answer is known by `{unknown}`; there are {}",
            all.join(", ")
        )));
    }
    ensure_descriptors().map_err(usage)?;
    scratch::sweep().iter().for_each(|line| output::say(&format!("hopcost: {line}")));
    let begun = Instant::now();
    let measuring = Measuring::new(words)?;
    let told = known(args, &measuring)?;
    drop(orphans);
    let Some(told) = told else { return Ok(exit::INTERRUPTED) };
    let document = print(args.format, &told, begun.elapsed().as_secs_f64());
    output::write(document.as_bytes(), None)?;
    let is_wrong = told.iter().any(|told| matches!(told.found, Found::Wrong(_)));
    Ok(if is_wrong { exit::ERROR } else { exit::OK })
}

/// Measures the cases of the known answers; none where the user interrupted.
fn known(args: &Args, measuring: &Measuring) -> anyhow::Result<Option<Vec<Told>>> {
    let mut told = Vec::new();
    for run in RUNS {
        let is_wanted =
            |answer: &&Answer| args.names.is_empty() || args.names.iter().any(|n| n == answer.name);
        let wanted: Vec<&Answer> = run.answers.iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            continue;
        }
        let Some(results) = measuring.results(plan(args, run, &wanted)?)? else { return Ok(None) };
        told.extend(wanted.iter().map(|answer| {
            let (name, known) = (answer.name, answer.known);
            Told { name, known, found: (answer.judge)(&results).unwrap_or_else(|why| why) }
        }));
    }
    Ok(Some(told))
}

fn plan(args: &Args, run: &Run, answers: &[&Answer]) -> anyhow::Result<Plan> {
    let cases = answers.iter().flat_map(|answer| answer.cases);
    let ask = Ask {
        selectors: cases.map(|case| (*case).to_owned()).collect(),
        rounds: Some(run.rounds),
        measure_ns: Some(run.measure_ns),
        seed: 1,
        cpus: args.cpus.clone(),
        ..Ask::default()
    };
    let rust = hopcost_probe::worker::mechanisms();
    let machine = host::machine(&args.cpus)?;
    let mut plan = hopcost_plan::plan(&ask, rust, &Vec::new, &machine).map_err(usage)?;
    plan.trial.counted_operations = COUNTED;
    Ok(plan)
}

fn print(format: Format, told: &[Told], took_s: f64) -> String {
    let n = |word: &str| told.iter().filter(|told| told.found.word() == word).count();
    let (passed, failed, not_here) = (n("pass"), n("FAIL"), n("skip"));
    if format == Format::Json {
        let answers = told.iter().map(|Told { name, known, found }| {
            json!({ "name": name, "known": known, "verdict": found.word().to_lowercase(), "found": found.text() })
        });
        let document = json!({
            "answers": answers.collect::<Vec<_>>(),
            "passed": passed, "failed": failed, "skipped": not_here, "took_s": took_s,
        });
        return format!("{document:#}\n");
    }
    let mut text = String::new();
    for Told { name, known, found } in told {
        text.push_str(&format!("{}  {name:12} {} (known: {known})\n", found.word(), found.text()));
    }
    text.push_str(&format!("{} of {}", passed, count(told.len(), "known answer")));
    text.push_str(&format!(
        " came out, {failed} did not, {not_here} cannot be had here; {took_s:.0} s\n"
    ));
    text
}

#[cfg(test)]
mod tests {
    use hopcost_model::case::Role;
    use hopcost_model::host::Host;
    use hopcost_model::protocol::{ClockReading, EndCounters, Stamp};
    use hopcost_model::raw::{RawRun, RawTrial};
    use hopcost_model::results::Results;

    use crate::about;

    use super::*;

    const ARGS: Args = Args { names: Vec::new(), format: Format::Text, cpus: Vec::new() };

    /// What a run says in which each trial of each case has these samples, in nanoseconds.
    fn results(run: &Run, samples: &[u32]) -> Results {
        let answers: Vec<&Answer> = run.answers.iter().collect();
        let plan = plan(&ARGS, run, &answers).unwrap();
        let trial = |case: u32, round: u32| RawTrial {
            case,
            round,
            stamp: Some(Stamp::Each),
            samples: samples.to_vec(),
            samples_taken: samples.len() as u64,
            operations: samples.len() as u64,
            ends: vec![EndCounters::empty(Role::Caller)],
            ..RawTrial::empty()
        };
        let cases = 0..plan.cases.len() as u32;
        let trials = cases.flat_map(|case| (0..run.rounds).map(move |round| trial(case, round)));
        let trials = if samples.is_empty() { Vec::new() } else { trials.collect() };
        let raw = RawRun {
            about: about::run(Vec::new(), None),
            host_before: Host::default(),
            host_after: None,
            clocks: vec![ClockReading::of_rate("rust", "tsc", 1e9)],
            clocks_after: Vec::new(),
            yardsticks: Vec::new(),
            workers: Vec::new(),
            accounting: Vec::new(),
            trials,
            plan,
        };
        super::super::report::results(&raw)
    }

    #[test]
    fn no_answer_comes_out_of_what_is_something_else() {
        for run in RUNS {
            for samples in [&[][..], &[3000; 300], &[1000, 9000, 2_500_000].repeat(100)] {
                let results = results(run, samples);
                for answer in run.answers {
                    let judged = (answer.judge)(&results).unwrap_or_else(|why| why);
                    assert_ne!(judged.word(), "pass", "{} of {samples:?}: {judged:?}", answer.name);
                }
            }
        }
    }

    #[test]
    fn no_two_answers_have_a_name_in_common() {
        let all: Vec<&str> = RUNS.iter().flat_map(|run| run.answers).map(|a| a.name).collect();
        let mut once = all.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), all.len(), "{all:?}");
    }
}
