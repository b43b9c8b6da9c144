//! What the mechanisms of `stream` share: fields and the sets they come in, and
//! the socket that most of them end in.

use hopcost_model::case::{AckSize, Case};

pub mod fields;
pub mod sockets;

/// Fields that a message may have: what one call takes (IOV_MAX).
pub const FIELDS_MAX: usize = 1024;

/// Refuses a longer acknowledgement where an end acknowledges with the message's number alone.
pub fn number_alone(case: &Case) -> Result<(), String> {
    match case.ack_size {
        AckSize::Number => Ok(()),
        AckSize::Field => {
            Err("it acknowledges with the message's number alone; use ack-size=8".to_owned())
        }
    }
}
