//! What the command line knows of a subcommand.

use std::ffi::OsString;

/// A subcommand: the type of its arguments, whose comment is what its help begins with.
pub trait Subcommand: clap::Args {
    const NAME: &'static str;
    /// Whether only programs call it.
    const IS_HIDDEN: bool = false;
    /// Its budget where none is given.
    const BUDGET: Option<&'static str> = None;
    /// The axes that its short help shows. Elsewhere a case spells them.
    const AXES: &'static [&'static str] = &[];

    /// Does it, and returns the exit code.
    fn run(&self, called: &Called) -> anyhow::Result<u8>;
}

/// How a subcommand was called, and the definition of all of them.
pub struct Called {
    /// The words of the command line, which are stored with what is measured.
    pub words: Vec<OsString>,
    /// The definition of the command line.
    pub command: fn() -> clap::Command,
}
