//! What is particular to a stream: throughput at the receivers, sends that were
//! copied after all, and how many messages were in flight.

use hopcost_model::{
    Ack, AckSize, Case, Estimate, Mechanism, Quiet, RawTrial, Workload, ZeroCopySends, document,
};
use hopcost_stats::sample::median;

use crate::estimate::over_trials;
use crate::format;
use crate::run::Run;
use crate::trial::Rates;
use crate::trials::PerTrial;
use crate::yardstick::Basis;

document! {
    /// What is particular to a stream. Its estimates are of the message latency: from
    /// the sender's first call for a message to its acknowledgement, by the
    /// sender's clock; `null` without acknowledgements.
    pub struct StreamResult {
        /// What the path really is, in a few words (`MSG_ZEROCOPY (copied)`).
        pub label: String,
        /// Bytes of a message.
        pub message_bytes: u32,
        /// Bytes of one of its fields.
        pub field_bytes: u32,
        /// Fields of a message.
        pub fields: u32,
        /// Flows.
        pub flows: u32,
        /// Acknowledgement.
        pub ack: String,
        /// All flows together, from the first byte of any to the last byte of any, by
        /// the receivers' clock; gigabits (10⁹ bits) of message a second.
        pub aggregate_gbps: Option<Estimate>,
        /// A flow alone: median over the flows of a trial.
        pub per_flow_gbps: Option<Estimate>,
        /// Messages a second, all flows: median over trials.
        pub messages_per_s: Option<f64>,
        /// Share of the zero-copy sends that the kernel copied, 0 to 1; `null` if there were none.
        pub copied_share: Option<f64>,
        /// Messages that the acknowledgement lets be in flight, a flow.
        pub window: Option<u64>,
    }
}

/// The result of a case's measured trials; `None` unless they are streams.
pub fn result(
    run: &Run,
    case: &Case,
    trials: &[&RawTrial],
    per_trial: &[PerTrial],
) -> Option<StreamResult> {
    if case.workload != Workload::Stream || trials.is_empty() {
        return None;
    }
    let basis = run.doubt(trials[0].case).map(|doubt| doubt.basis);
    let over = |of: fn(&Rates) -> f64| -> Option<Estimate> {
        let own = per_trial.iter().filter_map(|trial| Some((of(&trial.rates?), trial.slower)));
        let own: Vec<(f64, f64)> = own.collect();
        let times = |factor: f64| {
            let values = own.iter().map(|(rate, slower)| rate * slower / factor);
            over_trials(values.collect())
        };
        let quiet = basis.and_then(Basis::of_quiet).map(times);
        let quiet =
            quiet.and_then(|of| Some(Quiet { point: of.point?, low: of.low, high: of.high }));
        let met = own.iter().map(|(rate, _)| *rate).collect();
        (!own.is_empty()).then(|| Estimate { quiet, ..over_trials(met) })
    };
    let rates = per_trial.iter().filter_map(|trial| trial.rates);
    let copied_share = copied_share(trials);
    let fields = case.fields.unwrap_or(1).max(1);
    let message_bytes = case.payload_bytes.unwrap_or(0);
    Some(StreamResult {
        label: run.labelled(case, label(case, run.facts(case), copied_share)),
        message_bytes,
        field_bytes: message_bytes / fields,
        fields,
        flows: case.flows.unwrap_or(1),
        ack: case.ack.map_or(String::new(), |ack| match case.ack_size {
            AckSize::Number => ack.to_string(),
            AckSize::Field => format!("{ack} with a field"),
        }),
        aggregate_gbps: over(|rates| rates.aggregate_gbps),
        per_flow_gbps: over(|rates| rates.per_flow_gbps),
        messages_per_s: median(rates.map(|rates| rates.messages_per_s)),
        copied_share,
        window: case.ack.and_then(Ack::window),
    })
}

/// Sends without a copy over all trials and ends; `None` if there were to be none.
pub fn zero_copy(trials: &[&RawTrial]) -> Option<ZeroCopySends> {
    let mut seen = trials.iter().flat_map(|trial| &trial.ends).filter_map(|end| end.zero_copy);
    let first = seen.next()?;
    Some(seen.fold(first, |sum, more| ZeroCopySends {
        completed: sum.completed.saturating_add(more.completed),
        copied: sum.copied.saturating_add(more.copied),
    }))
}

/// The share of sends without a copy that the kernel copied; `None` where there are none.
pub fn copied_share(trials: &[&RawTrial]) -> Option<f64> {
    let sends = zero_copy(trials).filter(|sends| sends.completed > 0)?;
    Some((sends.copied as f64 / sends.completed as f64).min(1.0))
}

/// The mechanism's name, or that of its flag with what became of it; then its
/// parameters where they are not the default (all of them where the default is
/// not known).
fn label(case: &Case, facts: Option<&Mechanism>, copied_share: Option<f64>) -> String {
    let mut label = match facts.and_then(|facts| facts.own.as_ref()?.no_copy.as_ref()) {
        Some(flag) => format!("{flag}{}", fate(copied_share)),
        None => format::mechanism(case),
    };
    for (key, value) in &case.parameters {
        let default = facts.and_then(|facts| facts.parameter(key)).map(|p| &p.default);
        if default != Some(value) {
            label.push_str(&format!(" {key}={value}"));
        }
    }
    label
}

fn fate(copied_share: Option<f64>) -> String {
    match copied_share {
        None => " (copies not known)".to_owned(),
        Some(share) if share >= 1.0 => " (copied)".to_owned(),
        Some(share) if share > 0.0 => format!(" ({} copied)", format::percent(share)),
        Some(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::Statistic;

    use super::*;
    use crate::testing::{Builder, MECHANISMS, STREAM, STREAM_TWO_FLOWS, noisy, read};

    #[test]
    fn a_stream_has_throughput_and_latency() {
        // 3000 ns a message of 2048 bytes: 5.46 Gbit/s.
        let raw = Builder::new()
            .case(STREAM, 8, |_, t| t.stream(1, 1000, 2048, &[3000; 1000], 3_000_000))
            .build();
        let result = read(&raw).results[0].clone();
        let stream = result.stream.unwrap();
        let gbps = 2048.0 * 8.0 / 3000.0;
        assert!((stream.aggregate_gbps.unwrap().point.unwrap() - gbps).abs() < 1e-9);
        assert!((stream.per_flow_gbps.unwrap().point.unwrap() - gbps).abs() < 1e-9);
        assert!((stream.messages_per_s.unwrap() - 1e9 / 3000.0).abs() < 1e-3);
        assert_eq!((stream.window, stream.fields, stream.field_bytes), (Some(1), 8, 256));
        assert_eq!((stream.flows, stream.ack.as_str()), (1, "per-message"));
        assert_eq!(result.estimates.unwrap().get(Statistic::P50).unwrap().point, Some(3000.0));
        assert_eq!(stream.copied_share, None);
    }

    #[test]
    fn flows_add_up_and_a_late_flow_stretches_the_whole() {
        let raw = Builder::new()
            .case(STREAM_TWO_FLOWS, 8, |_, t| {
                t.stream(2, 1000, 2048, &[3000; 2000], 3_000_000);
                // The second flow begins when the first ends.
                t.raw.ends[3].first_tick = t.raw.ends[2].first_tick + 3_000_000;
            })
            .build();
        let stream = read(&raw).results[0].stream.clone().unwrap();
        let gbps = 2048.0 * 8.0 / 3000.0;
        assert!((stream.per_flow_gbps.unwrap().point.unwrap() - gbps).abs() < 1e-9);
        assert!((stream.aggregate_gbps.unwrap().point.unwrap() - gbps).abs() < 1e-9, "not twice");
    }

    #[test]
    fn copies_are_counted_over_all_trials() {
        let label = |copied: [u64; 2]| {
            let id = STREAM.replace("tcp-sendmsg", "tcp-zerocopy");
            let raw = Builder::new()
                .case(&id, 8, |round, t| {
                    t.stream(1, 1000, 2048, &noisy(1000, round), 3_000_000);
                    let copied = copied[(round % 2) as usize];
                    t.raw.ends[0].zero_copy = Some(ZeroCopySends { completed: 1000, copied });
                })
                .build();
            let stream = read(&raw).results[0].stream.clone().unwrap();
            (stream.label, stream.copied_share)
        };
        assert_eq!(label([1000, 1000]), ("MSG_ZEROCOPY (copied)".to_owned(), Some(1.0)));
        assert_eq!(label([1000, 460]), ("MSG_ZEROCOPY (73 % copied)".to_owned(), Some(0.73)));
        assert_eq!(label([0, 0]), ("MSG_ZEROCOPY".to_owned(), Some(0.0)));
    }

    #[test]
    fn what_is_not_the_default_is_said_and_nothing_that_was_copied_is_called_without_a_copy() {
        let labelled = |mechanism: &str, parameters: &str, copied: Option<f64>| {
            let keys =
                "payload=64&fields=8&flows=1&ack=none&boundary=process&place=free&wait=block";
            let case: Case = format!("stream/{mechanism}?{keys}{parameters}").parse().unwrap();
            label(&case, MECHANISMS.iter().find(|known| known.name == mechanism), copied)
        };
        for (mechanism, parameters, copied, expected) in [
            ("tcp-send", "&more=off&nodelay=off", None, "tcp-send"),
            ("tcp-send", "&more=off&nodelay=on", None, "tcp-send nodelay=on"),
            // No facts: all of them.
            ("vm-readv", "&x=1", None, "vm-readv x=1"),
            ("tcp-uring-zc", "", Some(1.0), "SENDMSG_ZC (copied)"),
            ("tcp-zerocopy", "", Some(0.9999), "MSG_ZEROCOPY (100 % copied)"),
            ("tcp-zerocopy", "", Some(1e-6), "MSG_ZEROCOPY (0.00 % copied)"),
            ("tcp-zerocopy", "", None, "MSG_ZEROCOPY (copies not known)"),
        ] {
            assert_eq!(labelled(mechanism, parameters, copied), expected);
        }
    }
}
