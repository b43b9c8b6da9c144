//! What a trial's workers handed over, checked against what they say and against
//! what can be seen from outside, and put into the trial's row.

use std::fs::File;
use std::io::{Read, Seek};

use hopcost_model::case::{Ack, Role};
use hopcost_model::protocol::{EndCounters, Phase, Stamp};
use hopcost_model::raw::{RawLoad, RawTrial};
use hopcost_probe::workload::schedule;
use hopcost_stats::thinning::kept;

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
    let [sent, woken] = both(workers, [caller, callee])?;
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

/// The stamps of the caller and of the callee.
fn both(
    workers: &mut TrialWorkers<'_>,
    [caller, callee]: [&EndCounters; 2],
) -> Result<[Vec<u64>; 2], Failure> {
    Ok(match workers.all.as_mut_slice() {
        [both] => {
            let all =
                ticks(&mut both.samples, caller.samples.saturating_add(callee.samples), "worker")?;
            let (sent, received) = all.split_at((caller.samples as usize).min(all.len()));
            [sent.to_vec(), received.to_vec()]
        }
        [first, second, ..] => [
            ticks(&mut first.samples, caller.samples, "caller")?,
            ticks(&mut second.samples, callee.samples, "callee")?,
        ],
        [] => return Err(unexpected("run")),
    })
}

/// How exactly the generator of a load kept its schedule without a channel; its stamps are
/// forgotten.
pub fn generator(workers: &mut TrialWorkers<'_>, ran: Ran) -> Result<RawLoad, Failure> {
    let spec = workers.spec;
    let caller = ran.ends.first().ok_or_else(|| unexpected("run"))?;
    let samples = &mut workers.all[0].samples;
    let stamps = ticks(samples, caller.samples, "caller")?;
    samples.set_len(0)?;
    samples.rewind()?;
    let offsets = schedule::offsets(spec.case, spec.schedule(), caller.samples);
    let late = |(stamp, offset): (&u64, &u64)| {
        stamp.saturating_sub(caller.first_tick.saturating_add(*offset))
    };
    let mut lags: Vec<u64> = stamps.iter().zip(&offsets).map(late).collect();
    let last = lags.last().copied().unwrap_or(0);
    lags.sort_unstable();
    let p99 = lags.len().saturating_sub(1) * 99 / 100;
    Ok(RawLoad {
        offered: 0,
        delivered: 0,
        intended_ticks: 0,
        sent_ticks: 0,
        received_ticks: 0,
        generator_messages: caller.samples,
        generator_lag_p99_ticks: lags.get(p99).copied().unwrap_or(0),
        generator_lag_last_ticks: last,
        lags: Vec::new(),
        gaps: Vec::new(),
    })
}

/// Messages of a load: a sample is received minus intended, once the clocks' offset is taken out.
pub fn responses(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    load: &mut RawLoad,
    ran: Ran,
) -> Result<(), Failure> {
    let spec = workers.spec;
    let [caller, callee] = ran.ends.as_slice() else { return Err(unexpected("run")) };
    let [sent, received] = both(workers, [caller, callee])?;
    let offsets = schedule::offsets(spec.case, spec.schedule(), caller.samples);
    plausible::messages([caller, callee], &sent, &received)?;
    let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
    let begin = caller.first_tick;
    // (intended, lag, response) of each that came.
    let mut triples = Vec::with_capacity(received.len());
    for (number, ((offset, sent), received)) in offsets.iter().zip(&sent).zip(&received).enumerate()
    {
        if *sent == 0 {
            continue;
        }
        let Some(lag) = sent.checked_sub(begin.saturating_add(*offset)) else {
            return Err(format!("message {number} was sent before its time").into());
        };
        if *received == 0 {
            continue;
        }
        let service = i128::from(*received) - i128::from(*sent) - i128::from(gate.offset_ticks);
        if service < -i128::from(gate.bound_ticks) {
            return Err(Failure::Reason(format!(
                "one-way times refused: message {number} came {} ticks before it was sent, \
                 further than the bound of ±{} ticks",
                -service, gate.bound_ticks
            )));
        }
        trial.negative_samples += u64::from(service < 0);
        let service = u64::try_from(service.max(0)).unwrap_or(u64::MAX);
        triples.push((*offset, lag, lag.saturating_add(service)));
    }
    let Some((offset, _, response)) = triples.last() else {
        return Err("no message came".into());
    };
    load.received_ticks = offset.saturating_add(*response);
    let last = sent.iter().max().copied().unwrap_or(0);
    load.sent_ticks = last.saturating_sub(begin);
    load.intended_ticks = offsets.last().copied().unwrap_or(0);
    (load.offered, load.delivered) = (sent.len() as u64, triples.len() as u64);
    if let Some(phase) = measure(spec, &ran) {
        phase.holds(load.sent_ticks, "the stamps cover")?;
    }
    trial.operations = load.delivered;
    let responses: Vec<u64> = triples.iter().map(|triple| triple.2).collect();
    each(trial, &responses, spec);
    let mut before = 0;
    for at in kept(triples.len(), spec.shape.samples_max as usize, spec.seed) {
        let (offset, lag, _) = triples[at];
        load.lags.push(u32::try_from(lag).unwrap_or(u32::MAX));
        load.gaps.push(u32::try_from(offset - before).unwrap_or(u32::MAX));
        before = offset;
    }
    finish(trial, ran);
    // What the sender has dropped never came either, but it was not lost.
    let dropped = trial.ends[0].samples.saturating_sub(trial.ends[0].count);
    trial.ends[1].lost = trial.ends[1].lost.saturating_sub(dropped);
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
