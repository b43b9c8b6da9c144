#![forbid(unsafe_code)]
//! `hopcost`: what it costs to hand a message across a boundary.

mod about;
mod cli;
mod run;

fn main() -> std::process::ExitCode {
    cli::main()
}
