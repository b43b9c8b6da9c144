//! What a trial's workers handed over, checked against what they say and against
//! what can be seen from outside, and put into the trial's row.

use std::fs::File;
use std::io::{Read, Seek};

use hopcost_model::case::{Ack, Role};
use hopcost_model::protocol::{EndCounters, Phase, Stamp};
use hopcost_model::raw::{RawLoad, RawTrial};
use hopcost_probe::workload::{lateness, schedule};
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
    forget(workers)?;
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
    let stamps = stamps(workers, &ran.ends)?;
    let [sent, woken] = stamps.as_slice() else { return Err(unexpected("run")) };
    plausible::stamps([caller, callee], sent, woken)?;
    let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
    let mut ticks = Vec::with_capacity(sent.len());
    for (number, (sent, woken)) in sent.iter().zip(woken).enumerate() {
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

/// Forgets what the workers have handed over so far.
pub fn forget(workers: &mut TrialWorkers<'_>) -> Result<(), Failure> {
    for one in &mut workers.all {
        one.samples.set_len(0)?;
        one.samples.rewind()?;
    }
    Ok(())
}

/// The stamps of each end, or of one that stamps round trips what each took.
pub fn stamps(
    workers: &mut TrialWorkers<'_>,
    ends: &[EndCounters],
) -> Result<Vec<Vec<u64>>, Failure> {
    let (mut ends, mut all, last) = (ends.iter(), Vec::new(), workers.all.len() - 1);
    for (at, one) in workers.all.iter_mut().enumerate() {
        let counts: Vec<u64> = ends.by_ref().take(one.seats.len()).map(|end| end.samples).collect();
        let whose = match at {
            0 if last == 0 => "worker",
            at if at < last => "caller",
            _ => "callee",
        };
        let promised = counts.iter().copied().fold(0, u64::saturating_add);
        let of_worker = ticks(&mut one.samples, promised, whose)?;
        let mut rest = of_worker.as_slice();
        for count in counts {
            let (of_end, others) = rest.split_at(rest.len().min(count as usize));
            all.push(of_end.to_vec());
            rest = others;
        }
    }
    Ok(all)
}

/// How exactly the generators of a load kept their schedules without a channel, the latest of
/// them; their stamps are forgotten.
pub fn generator(workers: &mut TrialWorkers<'_>, ran: Ran) -> Result<RawLoad, Failure> {
    let spec = workers.spec;
    let stamps = stamps(workers, &ran.ends)?;
    forget(workers)?;
    let mut load = RawLoad {
        offered: 0,
        delivered: 0,
        intended_ticks: 0,
        sent_ticks: 0,
        received_ticks: 0,
        generator_messages: 0,
        generator_lag_p99_ticks: 0,
        generator_lag_last_ticks: 0,
        lags: Vec::new(),
        gaps: Vec::new(),
        own_lags: None,
    };
    let callers = ran.ends.iter().filter(|end| end.role == Role::Caller);
    for ((sender, caller), stamps) in (0..).zip(callers).zip(&stamps) {
        let offsets = schedule::offsets(spec.case, spec.schedule(), sender, caller.samples);
        let late = |(stamp, offset): (&u64, &u64)| {
            lateness::ticks(*stamp).saturating_sub(caller.first_tick.saturating_add(*offset))
        };
        let mut lags: Vec<u64> = stamps.iter().zip(&offsets).map(late).collect();
        let last = lags.last().copied().unwrap_or(0);
        lags.sort_unstable();
        let p99 = lags.get(lags.len().saturating_sub(1) * 99 / 100).copied().unwrap_or(0);
        load.generator_messages = load.generator_messages.saturating_add(caller.samples);
        load.generator_lag_p99_ticks = load.generator_lag_p99_ticks.max(p99);
        load.generator_lag_last_ticks = load.generator_lag_last_ticks.max(last);
    }
    Ok(load)
}

/// A message of a load that came, in ticks: when it was to be sent, how long after that it was,
/// how much of this is the sender's own, and how long after that it came.
struct Came {
    intended: u64,
    lag: u64,
    own: u64,
    response: u64,
}

/// Messages of a load: a sample is received minus intended, once the clocks' offset is taken out.
pub fn responses(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    load: &mut RawLoad,
    ran: Ran,
) -> Result<(), Failure> {
    let spec = workers.spec;
    let stamps = stamps(workers, &ran.ends)?;
    let all = ran.ends.split_last().zip(stamps.split_last());
    let Some(((callee, callers), (received, words))) = all else { return Err(unexpected("run")) };
    let sent: Vec<Vec<u64>> =
        words.iter().map(|words| words.iter().copied().map(lateness::begun).collect()).collect();
    // A build of hopcost that does not say which messages it came late to counts them all the same.
    let tells =
        |(caller, words): (&EndCounters, &Vec<u64>)| lateness::late_sends(words) == caller.overruns;
    let tells = callers.iter().zip(words).all(tells);
    if callers.len() != spec.case.senders as usize || callee.role != Role::Callee {
        return Err(unexpected("run"));
    }
    let received_of = plausible::messages(callers, callee, &sent, received)?;
    let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
    let begin = callers.iter().map(|caller| caller.first_tick).min().unwrap_or(0);
    let mut came = Vec::with_capacity(received.len());
    for (sender, (((caller, words), sent), received)) in
        (0..).zip(callers.iter().zip(words).zip(&sent).zip(received_of))
    {
        let after = caller.first_tick - begin;
        let offsets = schedule::offsets(spec.case, spec.schedule(), sender, caller.samples);
        load.offered += sent.len() as u64;
        let last = offsets.last().copied().unwrap_or(0).saturating_add(after);
        load.intended_ticks = load.intended_ticks.max(last);
        let own = lateness::own_ticks(caller.first_tick, &offsets, words);
        for (number, (((offset, own), sent), received)) in
            offsets.iter().zip(own).zip(sent).zip(received).enumerate()
        {
            if *sent == 0 {
                continue;
            }
            let Some(lag) = sent.checked_sub(caller.first_tick.saturating_add(*offset)) else {
                return Err(format!("message {number} was sent before its time").into());
            };
            load.sent_ticks = load.sent_ticks.max(sent.saturating_sub(begin));
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
            let (intended, response) = (offset.saturating_add(after), lag.saturating_add(service));
            came.push(Came { intended, lag, own, response });
        }
    }
    // Those of each sender are in order.
    came.sort_by_key(|message| message.intended);
    let until = came.iter().map(|message| message.intended.saturating_add(message.response));
    load.received_ticks = until.max().ok_or("no message came")?;
    load.delivered = came.len() as u64;
    if let Some(phase) = measure(spec, &ran) {
        phase.holds(load.sent_ticks, "the stamps cover")?;
    }
    trial.operations = load.delivered;
    let responses: Vec<u64> = came.iter().map(|message| message.response).collect();
    each(trial, &responses, spec);
    load.own_lags = tells.then(Vec::new);
    let mut before = 0;
    for at in kept(came.len(), spec.shape.samples_max as usize, spec.seed) {
        let Came { intended, lag, own, .. } = came[at];
        let short = |ticks: u64| u32::try_from(ticks).unwrap_or(u32::MAX);
        load.lags.push(short(lag));
        load.gaps.push(short(intended - before));
        load.own_lags.iter_mut().for_each(|all| all.push(short(own)));
        before = intended;
    }
    finish(trial, ran);
    // What a sender has dropped never came either, but it was not lost.
    if let Some((callee, callers)) = trial.ends.split_last_mut() {
        let dropped = callers.iter().map(|end| end.samples.saturating_sub(end.count)).sum();
        callee.lost = callee.lost.saturating_sub(dropped);
    }
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
