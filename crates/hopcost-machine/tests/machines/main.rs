//! What hopcost reads of whole machines, recorded and made up.

mod counted;
mod fingerprint;
mod one_way;
mod topology;
mod tree;
