use std::io::Write;
use std::process::{Command, Stdio};

/// What a program in Python prints that reads this.
///
/// # Errors
/// What it complains of.
pub(crate) fn python(program: &str, input: &str) -> Result<String, String> {
    let mut python = Command::new("python3");
    let pipes = python.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = pipes.stderr(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Complains where markup is no XML, but for what only HTML may: a declaration, elements without an end,
/// scripts and styles, attributes without a value.
pub(crate) fn well_formed(markup: &str) -> Result<(), String> {
    python(include_str!("well_formed.py"), markup).map(drop)
}
