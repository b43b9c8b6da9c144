//! Types that are stored or printed, which keep their comments.

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
        impl $crate::document::Document for $name {
            const ABOUT: &'static str = concat!($($about),*);
            const FIELDS: &'static [$crate::document::Field] = &[$($crate::document::Field {
                key: stringify!($key),
                kind: stringify!($kind),
                help: concat!($($help),*),
            }),*];
        }
        $crate::document! { $($others)* }
    };
}
