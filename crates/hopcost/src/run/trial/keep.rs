//! What a trial's workers handed over, checked against what they say and against
//! what can be seen from outside, and put into the trial's row.

use std::fs::File;
use std::io::{Read, Seek};

use hopcost_model::case::{Ack, Role};
use hopcost_model::protocol::{EndCounters, EventReading, Stamp};
use hopcost_model::raw::RawTrial;

use super::stage::{Ran, Stage, unexpected};
use super::{Failure, MESSAGES_MAX, Order};
use crate::run::pace;

/// What a phase may take besides its samples.
const SLACK_NS: f64 = 20e6;
/// The same of a worker of another runtime, which may have to collect or to compile
/// between the command and the first operation.
const FOREIGN_SLACK_NS: f64 = 200e6;

/// Exchanges or calls: one end has stamped, and its samples are durations.
pub fn exchanges(
    stage: &mut Stage<'_>,
    order: &Order<'_>,
    trial: &mut RawTrial,
    stamp: Stamp,
    ran: Ran,
) -> Result<(), Failure> {
    let caller = ran.ends.first().ok_or_else(|| unexpected("run"))?;
    let ticks = ticks(&mut stage.samples[0], caller.samples, "caller")?;
    // Losing every exchange is an outcome; saying nothing is not.
    if ticks.is_empty() && caller.lost == 0 {
        return Err(Failure::Reason("the caller's worker handed over no samples".into()));
    }
    trial.operations = caller.count;
    trial.samples_taken = caller.samples;
    trial.samples_max_ticks = caller.max_ticks;
    // Virtual time passes at any speed, and a trial of given counts may run
    // under a tracer that stretches it, with a clock whose rate was not measured.
    if !order.case.has_virtual_clock() && order.exactly.is_none() && caller.lost == 0 {
        let ticks_per_ns = pace::ticks_per_ns(order.case, order.clock);
        let slack_ns = if order.crew.has_foreign() { FOREIGN_SLACK_NS } else { SLACK_NS };
        pace::plausible(ticks_per_ns, stamp, caller, &ticks, ran.outside_ns, slack_ns)
            .map_err(Failure::Reason)?;
    }
    trial.samples = pace::thin(&ticks, order.shape.samples_max as usize, stamp, order.seed);
    finish(trial, ran);
    Ok(())
}

/// Wake-ups: both ends have stamped, and a sample is what lies between the two
/// stamps once the clocks' offset is taken out.
pub fn wakes(
    stage: &mut Stage<'_>,
    order: &Order<'_>,
    trial: &mut RawTrial,
    ran: Ran,
) -> Result<(), Failure> {
    let [caller, callee] = ran.ends.as_slice() else { return Err(unexpected("run")) };
    let (sent, woken) = match stage.samples.as_mut_slice() {
        [both] => {
            let all = ticks(both, caller.samples.saturating_add(callee.samples), "worker")?;
            let (sent, woken) = all.split_at((caller.samples as usize).min(all.len()));
            (sent.to_vec(), woken.to_vec())
        }
        [first, second, ..] => {
            (ticks(first, caller.samples, "caller")?, ticks(second, callee.samples, "callee")?)
        }
        [] => return Err(unexpected("run")),
    };
    if [caller.count, callee.count] != [caller.samples, callee.samples]
        || sent.len() != woken.len()
        || sent.is_empty()
    {
        return Err(Failure::Reason(format!(
            "the sender handed over {} stamps and the receiver {}",
            sent.len(),
            woken.len()
        )));
    }
    if !sent.is_sorted() || !woken.is_sorted() {
        return Err(Failure::Reason("an end's own stamps run backwards".into()));
    }
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
    if order.exactly.is_none() {
        let span = woken[woken.len() - 1].abs_diff(sent[0]);
        let outside = ran.outside_ns as f64 * pace::ticks_per_ns(order.case, order.clock);
        // The offset of two clocks says nothing of how fast they run.
        let span = span.saturating_sub(gate.offset_ticks.unsigned_abs());
        if span as f64 > outside * 1.001 + 1e6 {
            return Err(Failure::Reason(
                "the stamps cover more time than the phase took, seen from outside".into(),
            ));
        }
    }
    trial.operations = ticks.len() as u64;
    trial.samples_taken = trial.operations;
    trial.samples_max_ticks = ticks.iter().copied().max().unwrap_or(0);
    trial.samples = pace::thin(&ticks, order.shape.samples_max as usize, Stamp::Each, order.seed);
    finish(trial, ran);
    Ok(())
}

/// Messages of a stream: every sender has stamped its own, unless nothing is
/// acknowledged.
pub fn messages(
    stage: &mut Stage<'_>,
    order: &Order<'_>,
    trial: &mut RawTrial,
    ran: Ran,
) -> Result<(), Failure> {
    let of = |role: Role| ran.ends.iter().filter(move |end| end.role == role);
    for (sender, receiver) in of(Role::Caller).zip(of(Role::Callee)) {
        if (sender.flow, sender.count, sender.bytes)
            != (receiver.flow, receiver.count, receiver.bytes)
        {
            return Err(Failure::Reason(format!(
                "flow {}: the sender sent {} messages ({} bytes), the receiver had {} ({} bytes)",
                sender.flow, sender.count, sender.bytes, receiver.count, receiver.bytes
            )));
        }
    }
    let payload = u64::from(order.case.payload_bytes.unwrap_or(0));
    let most = order.exactly.map_or(order.shape.operations.unwrap_or(MESSAGES_MAX), |e| e.measure);
    for end in &ran.ends {
        if end.count > most || end.bytes != end.count.saturating_mul(payload) {
            return Err(Failure::Reason(format!(
                "the {} of flow {} says {} messages of {payload} bytes and {} bytes in all, of at \
                 most {most} messages",
                end.role, end.flow, end.count, end.bytes
            )));
        }
    }
    let flows = order.case.flows.unwrap_or(1) as usize;
    if of(Role::Caller).count() != flows || of(Role::Callee).count() != flows {
        return Err(unexpected("run"));
    }
    if of(Role::Caller).any(|end| end.count == 0) {
        return Err(Failure::Reason("a flow moved no message within its time".into()));
    }
    let expected: u64 = of(Role::Caller).map(|end| end.samples).sum();
    let ticks = ticks(&mut stage.samples[0], expected, "senders")?;
    if order.case.ack != Some(Ack::None) && ticks.is_empty() {
        return Err(Failure::Reason("the senders handed over no samples".into()));
    }
    let outside = ran.outside_ns as f64 * pace::ticks_per_ns(order.case, order.clock);
    if order.exactly.is_none() {
        for end in &ran.ends {
            if end.elapsed_ticks as f64 > outside * 1.001 + 1e6 {
                return Err(Failure::Reason(format!(
                    "the {} of flow {} says that it took longer than the phase did, seen from outside",
                    end.role, end.flow
                )));
            }
        }
    }
    trial.operations = of(Role::Caller).map(|end| end.count).sum();
    trial.samples_taken = expected;
    trial.samples_max_ticks = ticks.iter().copied().max().unwrap_or(0);
    trial.samples = pace::thin(&ticks, order.shape.samples_max as usize, Stamp::Each, order.seed);
    finish(trial, ran);
    Ok(())
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

/// The events of all ends added up: a number that one end lacks is lacking.
pub fn together(ends: Vec<EndCounters>) -> Vec<EventReading> {
    let mut all: Vec<EventReading> = Vec::new();
    for reading in ends.into_iter().flat_map(|end| end.events) {
        match all.iter_mut().find(|sum| sum.event == reading.event) {
            None => all.push(reading),
            Some(sum) => {
                sum.value = sum.value.zip(reading.value).map(|(a, b)| a.saturating_add(b));
                sum.enabled_ns = sum.enabled_ns.saturating_add(reading.enabled_ns);
                sum.running_ns = sum.running_ns.saturating_add(reading.running_ns);
                sum.unavailable = sum.unavailable.take().or(reading.unavailable);
            }
        }
    }
    all
}
