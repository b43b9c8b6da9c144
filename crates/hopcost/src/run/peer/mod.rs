//! Two hosts: the near end plans, measures and stores; the far end (`hopcost serve`) plays the callee of
//! each trial, by the worker inside its own binary.
//!
//! One TCP port carries everything. Whoever connects proves by HMAC over both ends' nonces that it knows
//! the key ([`key`]), and only then is anything else read ([`wire`]). A trial is one such connection: it
//! asks for the trial, opens the connections that the ends will use over the same port with a token that
//! holds for this trial alone, and from then on carries the worker protocol, so that the far end's worker
//! is to the near end's supervisor like any other ([`near`], [`relay`]). Where the connection ends, the far end ends its
//! worker.

pub mod far;
mod far_trial;
pub mod key;
mod lobby;
pub mod near;
pub mod net;
pub mod relay;
pub mod wire;
