//! The kernel: settings from its command line, preemption; and what it does to this process.

use super::seen::{Found, Seen};

/// Parameters of the command line that change what communication costs; `*` stands for any rest of a
/// name.
const PARAMETERS: &str = include_str!("parameters.txt");

pub(super) fn cmdline(seen: &Seen) -> Found {
    seen.root.text_or_empty("/proc/cmdline").map_err(String::from)
}

/// The parameters that matter, in their order. What follows `--` is for init,
/// and what is not in the lists stays out: it may hold names and secrets.
pub(super) fn relevant(cmdline: &str) -> String {
    // The kernel takes - and _ in names for the same.
    let parameters = PARAMETERS.replace('-', "_");
    let matters = |word: &&str| {
        let name = word.split('=').next().unwrap_or(word).trim_matches('"');
        let name = name.replace('-', "_");
        parameters.split_whitespace().any(|known| match known.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == known,
        })
    };
    let kept: Vec<&str> =
        words(cmdline).into_iter().take_while(|word| *word != "--").filter(matters).collect();
    if kept.is_empty() { "none that matters".to_owned() } else { kept.join(" ") }
}

/// Splits at white space outside double quotes, as the kernel does.
fn words(cmdline: &str) -> Vec<&str> {
    let mut quoted = false;
    cmdline
        .split(|c: char| {
            quoted ^= c == '"';
            c.is_whitespace() && !quoted
        })
        .filter(|word| !word.is_empty())
        .collect()
}

pub(super) fn preempt(seen: &Seen) -> Found {
    let version = seen.text("/proc/sys/kernel/version", "/proc is not mounted")?;
    let cmdline = cmdline(seen).unwrap_or_default();
    let now = seen.root.text("/sys/kernel/debug/sched/preempt").ok();
    let now = now.as_deref().and_then(bracketed);
    let asked = words(&cmdline).into_iter().rev().find_map(|word| word.strip_prefix("preempt="));
    Ok(preempt_model(&version, now, asked))
}

/// `version` as in /proc/sys/kernel/version, `now` from debugfs, `asked` from
/// the command line.
fn preempt_model(version: &str, now: Option<&str>, asked: Option<&str>) -> String {
    // The date follows the words that describe the build.
    let word = version.split_whitespace().find(|word| word.starts_with("PREEMPT"));
    match (word, now, asked) {
        (Some("PREEMPT_RT"), ..) => "full with real-time locks (PREEMPT_RT)".into(),
        (Some("PREEMPT_DYNAMIC"), Some(now), _) => format!("{now} (PREEMPT_DYNAMIC)"),
        (Some("PREEMPT_DYNAMIC"), None, Some(asked)) => {
            format!("{asked} by the command line (PREEMPT_DYNAMIC)")
        }
        (Some("PREEMPT_DYNAMIC"), None, None) => {
            "PREEMPT_DYNAMIC, mode not readable (needs root and debugfs)".into()
        }
        (Some("PREEMPT"), ..) => "full (PREEMPT)".into(),
        (Some("PREEMPT_LAZY"), ..) => "lazy (PREEMPT_LAZY)".into(),
        (Some(other), ..) => other.to_owned(),
        (None, ..) => "none or voluntary".into(),
    }
}

/// The word in brackets: `always [madvise] never` gives `madvise`.
pub(super) fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word)
}

/// A switch as files of the kernel hold it.
pub(super) fn switch(text: &str) -> Option<String> {
    let word = match text {
        "1" | "Y" => "on",
        "0" | "N" => "off",
        _ => return None,
    };
    Some(word.to_owned())
}

/// The load over one minute.
pub(super) fn load(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let is_load = word.parse::<f64>().is_ok_and(|load| load.is_finite() && load >= 0.0);
    is_load.then(|| word.to_owned())
}

/// A field of /proc/self/status.
fn status(seen: &Seen, name: &str, missing: &str) -> Found {
    let text = seen.text("/proc/self/status", "")?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    let value = rest.map(str::trim).filter(|value| !value.is_empty());
    value.map(str::to_owned).ok_or_else(|| missing.to_owned())
}

pub(super) fn seccomp(seen: &Seen) -> Found {
    let mode = status(seen, "Seccomp:", "kernel without seccomp")?;
    Ok(match (mode.as_str(), status(seen, "Seccomp_filters:", "")) {
        ("0", _) => "off".to_owned(),
        ("1", _) => "strict".to_owned(),
        ("2", Ok(count)) if count == "1" => "1 filter on every system call".to_owned(),
        ("2", Ok(count)) => format!("{count} filters on every system call"),
        ("2", Err(_)) => "filtered, number of filters unknown".to_owned(),
        _ => mode,
    })
}

pub(super) fn tracer(seen: &Seen) -> Found {
    let pid = status(seen, "TracerPid:", "/proc/self/status does not say")?;
    if pid == "0" {
        return Ok("none".to_owned());
    }
    let name = seen.root.text(&format!("/proc/{pid}/comm"));
    Ok(name.map_or(format!("pid {pid}"), |name| format!("{name} (pid {pid})")))
}

/// Variables that make the dynamic linker load a library into every program (ld.so(8)).
const PRELOADS: [&str; 2] = ["LD_PRELOAD", "LD_AUDIT"];
/// The file that does so for every user.
const PRELOADED: &str = "/etc/ld.so.preload";
/// Characters of one that a reading holds at most.
const PRELOAD_CHARS_MAX: usize = 200;

/// Libraries that are loaded before those a program asks for; workers inherit the variables.
pub(super) fn preload(seen: &Seen) -> Found {
    let environment = seen.root.bytes("/proc/self/environ")?;
    let environment = String::from_utf8_lossy(&environment);
    let mut found: Vec<String> = environment
        .split('\0')
        .filter_map(|variable| variable.split_once('='))
        .filter(|(name, value)| PRELOADS.contains(name) && !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    found.extend(seen.root.text(PRELOADED).ok().map(|names| format!("{PRELOADED}: {names}")));
    if found.is_empty() {
        return Ok("none".to_owned());
    }
    Ok(found.join(", ").chars().take(PRELOAD_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_that_matter_are_kept() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 quiet isolcpus=managed_irq,2-3 nohz-full=2-3 \
                    intel_idle.max_cstate=1 password=x dyndbg=\"file a.c +p; tsc=off\" threadirqs \
                    -- idle=poll --token abc";
        assert_eq!(
            relevant(line),
            "isolcpus=managed_irq,2-3 nohz-full=2-3 intel_idle.max_cstate=1 threadirqs"
        );
        assert_eq!(relevant("root=/dev/vda quiet"), "none that matters");
        assert_eq!(relevant(""), "none that matters");
        assert_eq!(relevant("idle=\"unclosed quote"), "idle=\"unclosed quote");
    }

    #[test]
    fn the_preemption_model_is_claimed_only_where_known() {
        let dynamic = "#1 SMP PREEMPT_DYNAMIC Mon Nov 11 2025";
        assert_eq!(preempt_model(dynamic, Some("full"), Some("none")), "full (PREEMPT_DYNAMIC)");
        let asked = preempt_model(dynamic, None, Some("none"));
        assert_eq!(asked, "none by the command line (PREEMPT_DYNAMIC)");
        assert!(preempt_model(dynamic, None, None).contains("not readable"));
        assert!(preempt_model("#1 SMP PREEMPT_RT Mon", None, None).contains("real-time"));
        assert_eq!(preempt_model("#1 SMP PREEMPT Mon", None, None), "full (PREEMPT)");
        assert_eq!(preempt_model("#1 SMP Mon", None, None), "none or voluntary");
    }
}
