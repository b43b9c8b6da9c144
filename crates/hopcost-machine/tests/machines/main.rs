//! What hopcost reads of whole machines, recorded and made up.

mod counted;
mod fingerprint;
mod topology;
mod tree;
