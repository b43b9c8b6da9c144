#![forbid(unsafe_code)]
//! The words of hopcost (GLOSSARY.md) as types, shared by every stage of the
//! pipeline. This crate does no I/O, reads no clock and computes no statistic.

pub mod axis;
pub mod case;
pub mod columns;
pub mod describe;
pub mod finding;
pub mod fleet;
pub mod group;
pub mod host;
pub mod mechanism;
pub mod parallel;
pub mod plan;
pub mod protocol;
pub mod raw;
pub mod results;
mod spelling;
pub mod text;
pub mod trace;
pub mod units;
pub mod workload;

/// The name and major version of the JSON documents hopcost prints.
pub const SCHEMA: &str = "hopcost/2";

/// A field of a type that is stored or printed.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name, with its unit where it has one.
    pub key: &'static str,
    /// Its type as the source writes it.
    pub kind: &'static str,
    /// Its comment.
    pub help: &'static str,
}

/// A type that is stored or printed. Its comments are its documentation.
pub trait Document: serde::Serialize {
    /// Its own comment.
    const ABOUT: &'static str;
    /// Its fields, in order.
    const FIELDS: &'static [Field];
}

/// Derives the serialisation that stored or printed types carry, and keeps their comments.
#[doc(hidden)]
#[macro_export]
macro_rules! document {
    () => {};
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($body:tt)* } $($others:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        $(#[$meta])*
        $vis enum $name { $($body)* }
        $crate::document! { $($others)* }
    };
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:tt)*)])*
        $(#[serde($($with:tt)*)])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $help:literal])*
                $(#[serde($($of_field:tt)*)])*
                pub $key:ident: $kind:ty,
            )*
        }
        $($others:tt)*
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[derive($($derived)*)])*
        $(#[serde($($with)*)])*
        $vis struct $name {
            $($(#[doc = $help])* $(#[serde($($of_field)*)])* pub $key: $kind,)*
        }
        impl $crate::Document for $name {
            const ABOUT: &'static str = concat!($($about),*);
            const FIELDS: &'static [$crate::Field] = &[$($crate::Field {
                key: stringify!($key),
                kind: stringify!($kind),
                help: concat!($($help),*),
            }),*];
        }
        $crate::document! { $($others)* }
    };
}
