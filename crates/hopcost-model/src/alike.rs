//! Which cases a multiple may be of.

use crate::axis::{Axis, Value};
use crate::case::{Case, Workload};

/// Bytes up to which the message of a wake-up is none: a pipe or socket cannot wake without one
/// byte, a notifier has none.
const BARE_BYTES: u64 = 1;

impl Case {
    /// The axes on which it has to agree with another for a multiple to mean something.
    fn axes_alike(&self) -> impl Iterator<Item = &'static Axis> {
        self.workload.spec().alike.iter().filter_map(|key| Axis::of_key(key))
    }

    /// Whether a multiple of another case means something, as far as their parts tell.
    pub fn is_alike(&self, other: &Case) -> bool {
        let value = |axis: &Axis, case: &Case| match axis.get(case) {
            // No payload is as good as one of 0 bytes.
            None => Value::Number(0),
            Some(Value::Number(0..=BARE_BYTES))
                if axis.key == "payload" && case.workload == Workload::Wake =>
            {
                Value::Number(0)
            }
            Some(value) => value,
        };
        self.workload == other.workload
            && self.axes_alike().all(|axis| value(axis, self) == value(axis, other))
    }

    /// Whether it is another case but for the boundary, the size, the place and whatever else
    /// two cases have to have in common: where that is the baseline, it is the baseline of those
    /// cases that it is alike to, of those of its own boundary first.
    pub fn is_of_kind(&self, other: &Case) -> bool {
        let mut like = Case { boundary: self.boundary, ..other.clone() };
        for axis in self.axes_alike() {
            if let Some(value) = axis.get(self) {
                axis.set(&mut like, &value);
            }
        }
        like == *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Placement;

    fn case(id: &str) -> Case {
        id.parse().unwrap()
    }

    #[test]
    fn wake_ups_without_a_message_are_alike() {
        let of = |mechanism: &str, payload: u32, gap: u32| {
            let sides = "boundary=process&place=same-llc&wait=block";
            case(&format!("wake/{mechanism}?payload={payload}&gap={gap}&{sides}"))
        };
        assert!(of("eventfd", 0, 1000).is_alike(&of("pipe", 1, 1000)));
        assert!(!of("eventfd", 0, 1000).is_alike(&of("pipe", 2, 1000)));
        assert!(!of("eventfd", 0, 1000).is_alike(&of("pipe", 1, 2000)));
        let elsewhere = Case { placement: Some(Placement::Free), ..of("pipe", 1, 1000) };
        assert!(!of("eventfd", 0, 1000).is_alike(&elsewhere));
        let roundtrip = "roundtrip/pipe?payload=1&boundary=process&place=same-llc&wait=block";
        assert!(!case(roundtrip).is_alike(&case(&roundtrip.replace("=1&", "=0&"))));
    }

    #[test]
    fn a_kind_is_of_every_size_gap_and_number_of_flows() {
        let stream = "stream/tcp-send?payload=64&fields=8&flows=1&ack=none&boundary=process\
                      &place=free&wait=block&more=off";
        for (from, to, kind) in [
            ("payload=64", "payload=128", true),
            ("flows=1", "flows=4", true),
            ("ack=none", "ack=window:2", true),
            ("more=off", "more=on", false),
            ("tcp-send", "tcp-sendmsg", false),
            ("place=free", "place=same-cpu", true),
            ("boundary=process", "boundary=thread", true),
            ("wait=block", "wait=epoll", false),
        ] {
            let other = case(&stream.replace(from, to));
            assert_eq!(other.is_of_kind(&case(stream)), kind, "{to}");
        }
    }
}
