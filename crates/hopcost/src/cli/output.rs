//! Where documents go: stdout or a file, all of it or nothing.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use hopcost_model::text::escaped;
use hopcost_view::mechanisms;
use hopcost_view::text::{Charset, Color, TextStyle};

use super::{Format, usage};

/// Writes a document to a file (by a rename, so that a reader sees the old one
/// or the new one) or to stdout.
pub fn write(document: &[u8], file: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = file else {
        let mut out = io::stdout().lock();
        out.write_all(document).and_then(|()| out.flush()).context("writing to stdout")?;
        return Ok(());
    };
    let write = || -> io::Result<()> {
        // A device or a pipe cannot be renamed over.
        if path.exists() && !path.is_file() {
            return fs::write(path, document);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let result = fs::File::create(&part)
            .and_then(|mut file| file.write_all(document).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&part, path));
        if result.is_err() {
            let _ = fs::remove_file(&part);
        }
        result
    };
    if path.is_dir() {
        return Err(usage(format!("cannot write {}: it is a directory", path.display())));
    }
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// The longest line of our own on stderr: a hostile argument is quoted in part.
const LINE_MAX: usize = 700;

/// Says something on stderr, on one line and without control characters. That
/// nobody can read it changes nothing.
pub fn say(text: &str) {
    let kept: String = text.chars().take(LINE_MAX).collect();
    let mut line = escaped(&kept.replace('\n', " "));
    if text.chars().nth(LINE_MAX).is_some() {
        line.push('…');
    }
    let _ = writeln!(io::stderr(), "{line}");
}

/// How to show mechanisms.
pub fn mechanism_format(format: Format) -> anyhow::Result<mechanisms::Format> {
    match format {
        Format::Text => Ok(mechanisms::Format::Text(style())),
        Format::Json => Ok(mechanisms::Format::Json),
        Format::Md => Ok(mechanisms::Format::Markdown),
        Format::Csv | Format::Html => Err(usage("mechanisms are printed as text, json or md")),
    }
}

/// Whether an error is that nobody reads our output any more, which is no
/// failure of ours (`hopcost list | head -1`).
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// The style for what goes to stdout: colour and width of the terminal, if it
/// is one; 100 columns without colour if it is not.
pub fn style() -> TextStyle {
    let terminal = io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse::<usize>().ok());
    let width = columns
        .or_else(|| {
            let (terminal_size::Width(width), _) =
                terminal.then(terminal_size::terminal_size).flatten()?;
            Some(usize::from(width))
        })
        .unwrap_or(100)
        .clamp(80, 100);
    TextStyle {
        width,
        color: if terminal && !set("NO_COLOR") && !dumb { Color::Ansi } else { Color::Plain },
        charset: if utf8() { Charset::Unicode } else { Charset::Ascii },
    }
}

/// Whether the locale says UTF-8 (locale(7): LC_ALL, LC_CTYPE, LANG).
fn utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// A path as a word for a POSIX shell.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+~".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
