//! What a trial's workers handed over, held against what they say of it and against what can be
//! seen from outside, and put into the trial's row: in one pass, whatever the workload.

use std::fs::File;
use std::io::{Read, Seek};

use anyhow::{Context, Error, Result, ensure};
use hopcost_model::{
    Ack, EndCounters, GateReading, Phase, PhaseLength, RawLoad, RawTrial, Role, Stamp,
};
use hopcost_probe::workload::{lateness, schedule};
use hopcost_read::plausible::{FOREIGN_UNCOVERED_NS, Measure, UNCOVERED_NS, durations};
use hopcost_stats::thinning::kept;

use super::spec::TrialSpec;
use super::workers::{Ran, TrialWorkers, unexpected};
use crate::run::pace;

/// What a phase is held against; nothing where virtual time passes at any speed, nor where
/// no clock is looked at.
fn measure(spec: &TrialSpec<'_>, ran: &Ran) -> Option<Measure> {
    let clock = spec.clock?;
    (!spec.case.has_virtual_clock()).then(|| Measure {
        outside_ns: ran.outside_ns,
        ticks_per_ns: pace::ticks_per_ns(&spec.case, clock),
    })
}

/// Forgets what the workers have handed over so far.
pub fn forget(workers: &mut TrialWorkers<'_>) -> Result<()> {
    for one in &mut workers.all {
        one.samples.set_len(0)?;
        one.samples.rewind()?;
    }
    Ok(())
}

/// So many batches of `batch` operations each: what they took, in ticks of the caller's clock.
/// Its samples before are forgotten.
pub fn batches(workers: &mut TrialWorkers<'_>, batches: u64, batch: u64) -> Result<Vec<u64>> {
    forget(workers)?;
    let stamp = Stamp::Batch { n: batch };
    let ran = workers.phase(Phase::Measure, batches * batch, stamp, None)?;
    stamps(workers, &ran.ends)?.into_iter().next().ok_or_else(|| unexpected("run"))
}

/// The stamps of each end, or of one that stamps round trips what each took.
pub fn stamps(workers: &mut TrialWorkers<'_>, ends: &[EndCounters]) -> Result<Vec<Vec<u64>>> {
    let (mut ends, mut all) = (ends.iter(), Vec::new());
    for at in 0..workers.all.len() {
        let who = workers.name(at);
        let one = &mut workers.all[at];
        let counts: Vec<u64> = ends.by_ref().take(one.seats.len()).map(|end| end.samples).collect();
        let promised = counts.iter().copied().fold(0, u64::saturating_add);
        let of_worker = ticks(&mut one.samples, promised, who)?;
        let mut rest = of_worker.as_slice();
        for count in counts {
            let (of_end, others) = rest.split_at(rest.len().min(count as usize));
            all.push(of_end.to_vec());
            rest = others;
        }
    }
    Ok(all)
}

/// The ticks that a worker promised. A lying worker may promise more than it
/// wrote, or write more than it promised.
fn ticks(file: &mut File, promised: u64, who: &str) -> Result<Vec<u64>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    Read::by_ref(file)
        .take(promised.saturating_mul(8).saturating_add(1))
        .read_to_end(&mut bytes)?;
    let got = bytes.len();
    ensure!(
        got as u64 == promised.saturating_mul(8),
        "{who} promised {promised} samples and handed over {got} bytes instead of 8 each"
    );
    let (ticks, _) = bytes.as_chunks::<8>();
    Ok(ticks.iter().map(|ticks| u64::from_le_bytes(*ticks)).collect())
}

/// Puts what the measured phase of a trial brought into its row, if it can be true.
pub fn measured(workers: &mut TrialWorkers<'_>, trial: &mut RawTrial, ran: Ran) -> Result<()> {
    let stamps = stamps(workers, &ran.ends)?;
    let spec = &workers.spec;
    let said = Said { spec, phase: measure(spec, &ran), stamps, ran };
    match spec.case.workload.spec().length {
        PhaseLength::Fitted | PhaseLength::FittedOrAsked => said.exchanges(trial),
        PhaseLength::Paced => said.wakes(trial),
        PhaseLength::Timed => said.messages(trial),
        PhaseLength::Scheduled => said.responses(trial),
    }
}

const BACKWARDS: &str = "an end's own stamps run backwards";

/// What the measured phase brought, and what it is held against.
struct Said<'t, 'a> {
    spec: &'t TrialSpec<'a>,
    phase: Option<Measure>,
    /// Of each end.
    stamps: Vec<Vec<u64>>,
    ran: Ran,
}

impl Said<'_, '_> {
    /// Refuses more ticks than the phase took.
    fn holds(&self, ticks: u64, what: &str) -> Result<()> {
        let held = self.phase.map_or(Ok(()), |phase| phase.holds(ticks, what));
        held.map_err(Error::msg)
    }

    /// Exchanges or calls: one end has stamped, and its samples are durations.
    fn exchanges(mut self, trial: &mut RawTrial) -> Result<()> {
        let first = self.ran.ends.first().zip(self.stamps.first());
        let (caller, ticks) = first.ok_or_else(|| unexpected("run"))?;
        // Losing every exchange is an outcome; saying nothing is not.
        let says = !ticks.is_empty() || caller.lost > 0;
        ensure!(says, "the caller's worker handed over no samples");
        trial.operations = caller.count;
        if let Some(phase) = self.phase.filter(|_| caller.lost == 0) {
            let is_foreign = self.spec.workers.has_foreign();
            let besides_ns = if is_foreign { FOREIGN_UNCOVERED_NS } else { UNCOVERED_NS };
            let stamp = trial.stamp.unwrap_or(Stamp::Each);
            let besides = (besides_ns, self.ran.waited_ns);
            let window = self.spec.case.window;
            if !durations(phase, stamp, caller, ticks, window, besides).map_err(Error::msg)? {
                // The worker may not have been running yet, and so know nothing of it.
                self.ran.wall_ns = self.ran.outside_ns;
            }
        }
        let ticks = self.stamps.swap_remove(0);
        self.put(trial, &ticks);
        Ok(())
    }

    /// Wake-ups: both ends have stamped, and a sample is what lies between the two
    /// stamps once the clocks' offset is taken out.
    fn wakes(mut self, trial: &mut RawTrial) -> Result<()> {
        let ([_, _], [sent, woken]) = (self.ran.ends.as_slice(), self.stamps.as_slice()) else {
            return Err(unexpected("run"));
        };
        let counted = self.ran.ends.iter().all(|end| end.count == end.samples);
        ensure!(
            counted && sent.len() == woken.len() && !sent.is_empty(),
            "the sender handed over {} stamps and the receiver {}",
            sent.len(),
            woken.len()
        );
        ensure!(sent.is_sorted() && woken.is_sorted(), BACKWARDS);
        let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
        let mut ticks = Vec::with_capacity(sent.len());
        for (number, both) in sent.iter().copied().zip(woken.iter().copied()).enumerate() {
            ticks.push(one_way(trial, &gate, both, &format!("wake-up {number}"))?);
        }
        let span = woken[woken.len() - 1].abs_diff(sent[0]);
        // The offset of two clocks says nothing of how fast they run.
        let own = span.saturating_sub(gate.offset_ticks.unsigned_abs());
        self.holds(own, "the stamps cover")?;
        trial.operations = ticks.len() as u64;
        let between = sent.windows(2).map(|two| two[1] - two[0]);
        self.ran.ends[0].max_ticks = between.max().unwrap_or(0);
        self.put(trial, &ticks);
        Ok(())
    }

    /// Messages of a load: a sample is received minus intended, once the clocks' offset is taken out.
    fn responses(self, trial: &mut RawTrial) -> Result<()> {
        let spec = self.spec;
        let all = self.ran.ends.split_last().zip(self.stamps.split_last());
        let Some(((callee, callers), (received, words))) = all else {
            return Err(unexpected("run"));
        };
        let begun = |words: &Vec<u64>| words.iter().copied().map(lateness::ticks).collect();
        let sent: Vec<Vec<u64>> = words.iter().map(begun).collect();
        // A build of hopcost that does not say which messages it came late to counts them all the same.
        let tells = |(caller, words): (&EndCounters, &Vec<u64>)| {
            lateness::late_sends(words) == caller.overruns
        };
        let tells = callers.iter().zip(words).all(tells);
        let are_all = callers.len() == spec.case.senders as usize && callee.role == Role::Callee;
        ensure!(are_all, unexpected("run"));
        let received_of = by_sender(callers, callee, &sent, received)?;
        let gate = *trial.gates.first().ok_or_else(|| unexpected("gate"))?;
        let mut load = trial.load.take().unwrap_or_default();
        let begin = callers.iter().map(|caller| caller.first_tick).min().unwrap_or(0);
        let mut came = Vec::with_capacity(received.len());
        for (sender, (((caller, words), sent), received)) in
            (0..).zip(callers.iter().zip(words).zip(&sent).zip(received_of))
        {
            let after = caller.first_tick - begin;
            let offsets = schedule::offsets(&spec.case, spec.schedule(), sender, caller.samples);
            load.offered += sent.len() as u64;
            let last = offsets.last().copied().unwrap_or(0).saturating_add(after);
            load.intended_ticks = load.intended_ticks.max(last);
            let own = lateness::own_ticks(caller.first_tick, &offsets, words);
            for (number, (((offset, own), sent), received)) in
                offsets.iter().zip(own).zip(sent).zip(received).enumerate()
            {
                let lag = sent.checked_sub(caller.first_tick.saturating_add(*offset));
                let early = || format!("message {number} was sent before its time");
                let lag = lag.with_context(early)?;
                load.sent_ticks = load.sent_ticks.max(sent.saturating_sub(begin));
                if *received == 0 {
                    continue;
                }
                let what = format!("message {number}");
                let service = one_way(trial, &gate, (*sent, *received), &what)?;
                let intended = offset.saturating_add(after);
                came.push(Came { intended, lag, own, response: lag.saturating_add(service) });
            }
        }
        // Those of each sender are in order.
        came.sort_by_key(|message| message.intended);
        let until = came.iter().map(|message| message.intended.saturating_add(message.response));
        load.received_ticks = until.max().context("no message came")?;
        load.delivered = came.len() as u64;
        self.holds(load.sent_ticks, "the stamps cover")?;
        load.own_lags = tells.then(Vec::new);
        let mut before = 0;
        for at in kept(came.len(), spec.shape.samples_max as usize, spec.seed) {
            let Came { intended, lag, own, .. } = came[at];
            load.lags.push(lag);
            load.gaps.push(intended - before);
            load.own_lags.iter_mut().for_each(|all| all.push(own));
            before = intended;
        }
        trial.operations = load.delivered;
        trial.load = Some(load);
        let responses: Vec<u64> = came.iter().map(|message| message.response).collect();
        self.put(trial, &responses);
        Ok(())
    }

    /// Messages of a stream: every sender has stamped its own, unless nothing is
    /// acknowledged.
    fn messages(mut self, trial: &mut RawTrial) -> Result<()> {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            self.ran.ends.iter().partition(|end| end.role == Role::Caller);
        let flows = self.spec.case.flows.unwrap_or(1) as usize;
        ensure!(senders.len() == flows && receivers.len() == flows, unexpected("run"));
        agree(&self, &senders, &receivers)?;
        let ticks = self.stamps[..flows].concat();
        let says = self.spec.case.ack == Some(Ack::None) || !ticks.is_empty();
        ensure!(says, "the senders handed over no samples");
        trial.operations = senders.iter().map(|end| end.count).sum();
        if let Some(phase) = self.phase {
            // From the first byte that any receiver had to the last byte of any: a worker's own time
            // begins before its flows do, by as long as their threads took to start.
            let first = receivers.iter().map(|end| end.first_tick).min().unwrap_or(0);
            let last = receivers.iter().map(|end| end.first_tick.saturating_add(end.elapsed_ticks));
            let moving = last.max().unwrap_or(0).saturating_sub(first);
            self.holds(moving, "the flows cover")?;
            self.ran.wall_ns = (moving as f64 / phase.ticks_per_ns) as u64;
        }
        self.put(trial, &ticks);
        Ok(())
    }

    /// Puts it into the trial's row, with as many of its samples as are kept.
    fn put(self, trial: &mut RawTrial, ticks: &[u64]) {
        let (spec, stamp) = (self.spec, trial.stamp.unwrap_or(Stamp::Each));
        trial.samples_taken = ticks.len() as u64;
        trial.samples_max_ticks = ticks.iter().copied().max().unwrap_or(0);
        trial.samples = pace::thin(ticks, spec.shape.samples_max as usize, stamp, spec.seed);
        trial.wall_ns = self.ran.wall_ns;
        trial.cpu_ns = self.ran.process_cpu_ns;
        trial.ends = self.ran.ends;
        trial.threads = self.ran.threads;
        trial.stopped = self.ran.stopped;
    }
}

/// What lies between two stamps of two clocks once their offset is taken out, and refuses what
/// came before it was sent.
fn one_way(
    trial: &mut RawTrial,
    gate: &GateReading,
    (sent, received): (u64, u64),
    what: &str,
) -> Result<u64> {
    let between = i128::from(received) - i128::from(sent) - i128::from(gate.offset_ticks);
    ensure!(
        between >= -i128::from(gate.bound_ticks),
        "one-way times refused: {what} came {} ticks before it was sent, further than the bound of \
         ±{} ticks",
        -between,
        gate.bound_ticks
    );
    trial.negative_samples += u64::from(between < 0);
    Ok(u64::try_from(between.max(0)).unwrap_or(u64::MAX))
}

/// How exactly the generators of a load kept their schedules without a channel, the latest of
/// them; their stamps are forgotten.
pub fn generator(workers: &mut TrialWorkers<'_>, ran: Ran) -> Result<RawLoad> {
    let stamps = stamps(workers, &ran.ends)?;
    forget(workers)?;
    let spec = &workers.spec;
    let mut load = RawLoad::default();
    let callers = ran.ends.iter().filter(|end| end.role == Role::Caller);
    for ((sender, caller), stamps) in (0..).zip(callers).zip(&stamps) {
        let offsets = schedule::offsets(&spec.case, spec.schedule(), sender, caller.samples);
        let late = |(stamp, offset): (&u64, &u64)| {
            lateness::ticks(*stamp).saturating_sub(caller.first_tick.saturating_add(*offset))
        };
        let mut lags: Vec<u64> = stamps.iter().zip(&offsets).map(late).collect();
        lags.sort_unstable();
        let p99 = lags.get(lags.len().saturating_sub(1) * 99 / 100).copied().unwrap_or(0);
        load.generator_lag_p99_ticks = load.generator_lag_p99_ticks.max(p99);
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

/// The receiver's stamps, those of each sender apart, if all ends of a load speak of the same
/// messages, and each in order; 0 stands for a message that did not come.
fn by_sender<'a>(
    callers: &[EndCounters],
    callee: &EndCounters,
    sent: &[Vec<u64>],
    received: &'a [u64],
) -> Result<Vec<&'a [u64]>> {
    let in_order = |stamps: &[u64]| stamps.iter().filter(|stamp| **stamp > 0).is_sorted();
    let came = received.iter().filter(|stamp| **stamp > 0).count() as u64;
    let offered = sent.iter().map(Vec::len).sum::<usize>();
    let mut agree =
        offered == received.len() && (callee.count, callee.lost) == (came, offered as u64 - came);
    let (mut rest, mut all) = (received, Vec::new());
    for (caller, sent) in callers.iter().zip(sent) {
        let (received, others) = rest.split_at(rest.len().min(sent.len()));
        agree &= !sent.is_empty() && caller.count == sent.len() as u64;
        ensure!(!agree || in_order(sent) && in_order(received), BACKWARDS);
        all.push(received);
        rest = others;
    }
    ensure!(
        agree,
        "the senders handed over {offered} stamps and the receiver {}, {came} of them of messages",
        received.len()
    );
    Ok(all)
}

/// Whether both ends of every flow speak of the same messages, no more than were asked for, each of
/// the payload's bytes, and none that took longer than the phase.
fn agree(said: &Said<'_, '_>, senders: &[&EndCounters], receivers: &[&EndCounters]) -> Result<()> {
    for (sender, receiver) in senders.iter().zip(receivers) {
        let of = |end: &EndCounters| (end.flow, end.count, end.bytes);
        let ((flow, sent, sent_bytes), (_, had, had_bytes)) = (of(sender), of(receiver));
        ensure!(
            of(sender) == of(receiver),
            "flow {flow}: the sender sent {sent} messages ({sent_bytes} bytes), the receiver had \
             {had} ({had_bytes} bytes)"
        );
    }
    let payload = u64::from(said.spec.case.payload_bytes.unwrap_or(0));
    let most = said.spec.messages_max();
    for end in senders.iter().chain(receivers) {
        let who = format!("the {} of flow {}", end.role, end.flow);
        let EndCounters { count, bytes, elapsed_ticks, .. } = **end;
        ensure!(
            count <= most && bytes == count.saturating_mul(payload),
            "{who} says {count} messages of {payload} bytes and {bytes} bytes in all, of at most \
             {most} messages"
        );
        said.holds(elapsed_ticks, &format!("{who} says that it took"))?;
    }
    let all_moved = senders.iter().all(|end| end.count > 0);
    ensure!(all_moved, "a flow moved no message within its time");
    Ok(())
}
