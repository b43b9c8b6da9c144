//! What hopcost reads of whole machines, recorded and made up.

mod accounting;
mod fingerprint;
mod topology;
mod tree;
