//! What a trial's workers handed over, checked against what they say and against
//! what can be seen from outside, and put into the trial's row.

use std::fs::File;
use std::io::{Read, Seek};

use hopcost_model::case::{Ack, Role};
use hopcost_model::protocol::{EndCounters, Phase, Stamp};
use hopcost_model::raw::RawTrial;

use super::plausible::{self, Cover, Measure, Origin};
use super::spec::{Counts, Failure, TrialSpec};
use super::workers::{Ran, TrialWorkers, unexpected};
use crate::run::pace;

/// What a phase is held against; nothing where virtual time passes at any speed, nor where
/// no clock is looked at.
fn measure(spec: &TrialSpec<'_>, ran: &Ran) -> Option<Measure> {
    let Counts::Fitted(clocks) = spec.counts else { return None };
    (!spec.case.has_virtual_clock()).then(|| Measure {
        outside_ns: ran.outside_ns,
        ticks_per_ns: pace::ticks_per_ns(spec.case, clocks.caller),
    })
}

/// So many batches of `batch` operations each: what they took, in ticks of the caller's clock.
/// Its samples before are forgotten.
pub fn batches(
    workers: &mut TrialWorkers<'_>,
    batches: u64,
    batch: u64,
) -> Result<Vec<u64>, Failure> {
    let samples = &mut workers.all[0].samples;
    samples.set_len(0)?;
    samples.rewind()?;
    let stamp = Stamp::Batch { n: batch };
    let ran = workers.phase(Phase::Measure, batches * batch, stamp, None)?;
    let caller = ran.ends.first().ok_or_else(|| unexpected("run"))?;
    ticks(&mut workers.all[0].samples, caller.samples, "caller")
}

/// Exchanges or calls: one end has stamped, and its samples are durations.
pub fn exchanges(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    stamp: Stamp,
    ran: Ran,
) -> Result<(), Failure> {
    let spec = workers.spec;
    let caller = ran.ends.first().ok_or_else(|| unexpected("run"))?;
    let ticks = ticks(&mut workers.all[0].samples, caller.samples, "caller")?;
    // Losing every exchange is an outcome; saying nothing is not.
    if ticks.is_empty() && caller.lost == 0 {
        return Err("the caller's worker handed over no samples".into());
    }
    let mut wall_ns = ran.wall_ns;
    if let Some(phase) = measure(spec, &ran).filter(|_| caller.lost == 0) {
        let origin = if spec.workers.has_foreign() { Origin::Foreign } else { Origin::Native };
        let waited_ns = ran.waited_ns;
        match plausible::durations(phase, stamp, caller, &ticks, origin, waited_ns)? {
            Cover::Whole => {}
            // The worker may not have been running yet, and so know nothing of it.
            Cover::Stalled => wall_ns = ran.outside_ns,
        }
    }
    trial.operations = caller.count;
    trial.samples_taken = caller.samples;
    trial.samples_max_ticks = caller.max_ticks;
    trial.samples = pace::thin(&ticks, spec.shape.samples_max as usize, stamp, spec.seed);
    finish(trial, ran);
    trial.wall_ns = wall_ns;
    Ok(())
}

/// Wake-ups: both ends have stamped, and a sample is what lies between the two
/// stamps once the clocks' offset is taken out.
pub fn wakes(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    ran: Ran,
) -> Result<(), Failure> {
    let spec = workers.spec;
    let [caller, callee] = ran.ends.as_slice() else { return Err(unexpected("run")) };
    let (sent, woken) = match workers.all.as_mut_slice() {
        [both] => {
            let all =
                ticks(&mut both.samples, caller.samples.saturating_add(callee.samples), "worker")?;
            let (sent, woken) = all.split_at((caller.samples as usize).min(all.len()));
            (sent.to_vec(), woken.to_vec())
        }
        [first, second, ..] => (
            ticks(&mut first.samples, caller.samples, "caller")?,
            ticks(&mut second.samples, callee.samples, "callee")?,
        ),
        [] => return Err(unexpected("run")),
    };
    plausible::stamps([caller, callee], &sent, &woken)?;
    let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
    let mut ticks = Vec::with_capacity(sent.len());
    for (number, (sent, woken)) in sent.iter().zip(&woken).enumerate() {
        let between = i128::from(*woken) - i128::from(*sent) - i128::from(gate.offset_ticks);
        if between < -i128::from(gate.bound_ticks) {
            return Err(Failure::Reason(format!(
                "one-way times refused: wake-up {number} came {} ticks before it was sent, \
                 further than the bound of ±{} ticks",
                -between, gate.bound_ticks
            )));
        }
        trial.negative_samples += u64::from(between < 0);
        ticks.push(u64::try_from(between.max(0)).unwrap_or(u64::MAX));
    }
    if let Some(phase) = measure(spec, &ran) {
        let span = woken[woken.len() - 1].abs_diff(sent[0]);
        // The offset of two clocks says nothing of how fast they run.
        phase.holds(span.saturating_sub(gate.offset_ticks.unsigned_abs()), "the stamps cover")?;
    }
    trial.operations = ticks.len() as u64;
    each(trial, &ticks, spec);
    finish(trial, ran);
    Ok(())
}

/// Messages of a stream: every sender has stamped its own, unless nothing is
/// acknowledged.
pub fn messages(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    ran: Ran,
) -> Result<(), Failure> {
    let spec = workers.spec;
    let of = |role: Role| ran.ends.iter().filter(move |end| end.role == role);
    let flows = spec.case.flows.unwrap_or(1) as usize;
    if of(Role::Caller).count() != flows || of(Role::Callee).count() != flows {
        return Err(unexpected("run"));
    }
    let payload = u64::from(spec.case.payload_bytes.unwrap_or(0));
    plausible::flows(measure(spec, &ran), &ran.ends, payload, spec.messages_max())?;
    let expected: u64 = of(Role::Caller).map(|end| end.samples).sum();
    let ticks = ticks(&mut workers.all[0].samples, expected, "senders")?;
    if spec.case.ack != Some(Ack::None) && ticks.is_empty() {
        return Err("the senders handed over no samples".into());
    }
    trial.operations = of(Role::Caller).map(|end| end.count).sum();
    each(trial, &ticks, spec);
    let moving_ns = match measure(spec, &ran) {
        Some(phase) => {
            let ticks = span_ticks(of(Role::Callee));
            phase.holds(ticks, "the flows cover")?;
            Some((ticks as f64 / phase.ticks_per_ns) as u64)
        }
        None => None,
    };
    finish(trial, ran);
    // A worker's own time begins before its flows do, by as long as their threads took to start.
    trial.wall_ns = moving_ns.unwrap_or(trial.wall_ns);
    Ok(())
}

/// From the first byte that any of these receivers had to the last byte of any.
fn span_ticks<'a>(receivers: impl Iterator<Item = &'a EndCounters> + Clone) -> u64 {
    let first = receivers.clone().map(|end| end.first_tick).min().unwrap_or(0);
    let last = receivers.map(|end| end.first_tick.saturating_add(end.elapsed_ticks)).max();
    last.unwrap_or(0).saturating_sub(first)
}

/// Keeps samples of single operations.
fn each(trial: &mut RawTrial, ticks: &[u64], spec: &TrialSpec<'_>) {
    trial.samples_taken = ticks.len() as u64;
    trial.samples_max_ticks = ticks.iter().copied().max().unwrap_or(0);
    trial.samples = pace::thin(ticks, spec.shape.samples_max as usize, Stamp::Each, spec.seed);
}

fn finish(trial: &mut RawTrial, ran: Ran) {
    trial.wall_ns = ran.wall_ns;
    trial.cpu_ns = ran.process_cpu_ns;
    trial.ends = ran.ends;
    trial.threads = ran.threads;
}

/// The ticks that a worker promised. A lying worker may promise more than it
/// wrote, or write more than it promised.
fn ticks(file: &mut File, promised: u64, whose: &str) -> Result<Vec<u64>, Failure> {
    file.rewind()?;
    let mut bytes = Vec::new();
    Read::by_ref(file)
        .take(promised.saturating_mul(8).saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 != promised.saturating_mul(8) {
        return Err(Failure::Reason(format!(
            "the worker of the {whose} promised {promised} samples and handed over {} bytes instead of 8 each",
            bytes.len()
        )));
    }
    Ok(bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap_or_default()))
        .collect())
}
