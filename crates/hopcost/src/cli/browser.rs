//! `--open`: a page in the user's browser.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::output;

/// How long a command may take to fail: one that goes on is the browser.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens a page by the commands of $BROWSER (separated by colons, `%s` for the page), or else by
/// xdg-open(1). That nothing opens it is a line and no failure, since the page is written.
pub fn open(page: &Path) {
    let page = page.canonicalize().unwrap_or_else(|_| page.to_owned());
    let named = std::env::var("BROWSER").ok().filter(|list| !list.trim().is_empty());
    let list = named.as_deref().unwrap_or("xdg-open");
    if !list.split(':').any(|command| opens(command, &page)) {
        output::say(&format!(
            "hopcost: {} did not open the page; open it yourself, or set BROWSER to a command that can",
            if named.is_some() { format!("BROWSER={list}") } else { list.to_owned() }
        ));
    }
}

fn opens(command: &str, page: &Path) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut opener = Command::new(program);
    let mut is_named = false;
    for word in words {
        is_named |= word == "%s";
        opener.arg(if word == "%s" { page.as_os_str() } else { word.as_ref() });
    }
    if !is_named {
        opener.arg(page);
    }
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own, so that the browser outlives a Ctrl-C here.
    let Ok(mut child) = opener.process_group(0).spawn() else { return false };
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            _ => return true,
        }
    }
}
