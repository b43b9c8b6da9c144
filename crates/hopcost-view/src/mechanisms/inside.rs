//! What the number of a mechanism contains besides the mechanism, and what not.

use hopcost_model::case::Workload;
use hopcost_model::mechanism::{Mechanism, Shape};

use crate::section::model::{Block, Cell, facts};

/// What `touch` says of a payload.
const TOUCH: &str = "By default (touch=verify) that is every byte; with touch=write all are written \
    and eight compared, with touch=none eight of each. It is timed in every trial and shown, not \
    subtracted.";

/// In one paragraph, for all mechanisms.
pub(super) const ALL: &str = "Besides what stands as between two stamps, the number of a round trip contains that each end writes its \
    message and compares the other's; that of a message of a stream the receiver's comparing alone; that of a wake-up neither. \
    By default (touch=verify) every byte is written and compared. A notifier with a payload is shared memory and the notification together.";

/// For one of hopcost's own mechanisms that carries messages.
pub(super) fn inside(mechanism: &Mechanism) -> Vec<Block> {
    let Some(payload) = mechanism.payload.filter(|_| mechanism.shape() != Shape::Call) else {
        return Vec::new();
    };
    let has = |workload| mechanism.workloads.contains(&workload);
    let when =
        |condition: bool, text: String| Cell::text(if condition { text } else { String::new() });
    let name = &mechanism.name;
    let bare = if payload.default == 0 { "payload=0 (the default)" } else { "payload=0" };
    let known = [
        (
            "Round trip",
            when(
                has(Workload::Roundtrip),
                format!(
                    "the steps between two stamps, above; and at each end writing its message and comparing \
                     the other's, four passes over the payload. {TOUCH}"
                ),
            ),
        ),
        (
            "Wake-up",
            when(
                has(Workload::Wake),
                "from just before the notification until the receiver's wait has returned; the payload is \
                 written before and compared after"
                    .to_owned(),
            ),
        ),
        (
            "Load",
            when(
                has(Workload::Load),
                "from when the message was to be sent until the receiver has it; the payload is written \
                 before and compared after, so that a message that waits for another waits for that too"
                    .to_owned(),
            ),
        ),
        (
            "Stream",
            when(
                has(Workload::Stream),
                format!(
                    "a message's latency contains that the receiver compares it, and not that the fields are \
                     written, which is before; the throughput contains both. {TOUCH}"
                ),
            ),
        ),
        (
            "With a payload",
            when(
                mechanism.shape() == Shape::Notifier,
                format!(
                    "only the notification goes by {name}; the message lies in memory that both ends share. \
                     The number is that of shared memory and {name} together; {bare} is {name} alone"
                ),
            ),
        ),
        ("In every sample", Cell::text("reading the clock; what that costs is printed and not subtracted")),
        (
            "Not inside",
            Cell::text("starting the processes, opening and connecting, the first use of the buffers, the warm-up"),
        ),
    ];
    vec![Block::Heading("What the number contains".into()), facts(known)]
}
