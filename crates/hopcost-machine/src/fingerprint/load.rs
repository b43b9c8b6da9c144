//! What changes by itself: load, pressure, counters. Keys start with `load.` or
//! `stat.`.

use super::process::status_field;
use super::{Found, Readings, Seen};
use crate::accounting::Accounting;
use crate::root::Unreadable;
use crate::topology::CPU_DIR;

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let section = "load";
    let load = load(seen);
    let part = |pick: fn(&Load) -> &String| load.as_ref().map(pick).cloned().map_err(Clone::clone);
    out.put(section, "load.1", part(|load| &load.averages[0]));
    out.put(section, "load.5", part(|load| &load.averages[1]));
    out.put(section, "load.15", part(|load| &load.averages[2]));
    out.put(section, "load.runnable", part(|load| &load.runnable));
    out.put(section, "load.cpu_pressure", pressure(seen));
    out.put(section, "stat.uptime_s", uptime(seen));
    let status = seen.text("/proc/self/status", "/proc/self/status does not exist");
    let pid = status.and_then(|text| {
        let pid = status_field(&text, "Pid:").map(str::to_owned);
        pid.ok_or_else(|| "/proc/self/status does not tell".to_owned())
    });
    out.put(section, "stat.pid", pid);
    let accounting = Accounting::read(seen.root).map_err(|e| e.to_string());
    for cpu in &seen.cpus {
        let steal = accounting.as_ref().map_err(Clone::clone).and_then(|accounting| {
            let times = accounting.cpus.get(cpu);
            let ms = times.map(|times| (times.steal_ns / 1_000_000).to_string());
            ms.ok_or_else(|| format!("/proc/stat has no steal counter for cpu{cpu}"))
        });
        out.put(section, format!("stat.cpu{cpu}.steal_ms"), steal);
        let missing = "no thermal counters (usual in virtual machines; only Intel has them)";
        let path = format!("{CPU_DIR}/cpu{cpu}/thermal_throttle/core_throttle_count");
        out.put(section, format!("stat.cpu{cpu}.thermal_throttles"), seen.text(&path, missing));
    }
}

struct Load {
    /// Over 1, 5 and 15 minutes.
    averages: [String; 3],
    /// Tasks that run or want to, this process included.
    runnable: String,
}

fn load(seen: &Seen) -> Result<Load, String> {
    const PATH: &str = "/proc/loadavg";
    let text = seen.text(PATH, "/proc/loadavg does not exist")?;
    parse_load(&text).ok_or_else(|| Unreadable::strange(PATH, &text).to_string())
}

fn parse_load(text: &str) -> Option<Load> {
    let mut words = text.split_whitespace();
    let mut average = || {
        let word = words.next()?;
        word.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0)?;
        Some(word.to_owned())
    };
    let averages = [average()?, average()?, average()?];
    let (runnable, all) = words.next()?.split_once('/')?;
    runnable.parse::<u64>().ok()?;
    all.parse::<u64>().ok()?;
    Some(Load { averages, runnable: runnable.to_owned() })
}

/// The share of the last ten seconds in which some task waited for a CPU.
fn pressure(seen: &Seen) -> Found {
    const PATH: &str = "/proc/pressure/cpu";
    let text = seen.text(PATH, "kernel without pressure information (psi=1 would enable it)")?;
    let share = text.lines().find_map(|line| line.strip_prefix("some avg10="));
    let share = share.and_then(|rest| rest.split_whitespace().next());
    let share = share.filter(|word| word.parse::<f64>().is_ok());
    share
        .map(|share| format!("{share} % of 10 s"))
        .ok_or_else(|| Unreadable::strange(PATH, &text).to_string())
}

fn uptime(seen: &Seen) -> Found {
    const PATH: &str = "/proc/uptime";
    let text = seen.text(PATH, "/proc/uptime does not exist")?;
    let whole = text.split('.').next().filter(|word| word.parse::<u64>().is_ok());
    whole.map(str::to_owned).ok_or_else(|| Unreadable::strange(PATH, &text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_line_is_taken_whole_or_not_at_all() {
        let load = parse_load("0.17 0.15 0.08 4/97 6768").unwrap();
        assert_eq!(load.averages, ["0.17", "0.15", "0.08"]);
        assert_eq!(load.runnable, "4");
        for garbage in ["", "0.1 0.2", "a b c 1/2 3", "0.1 0.2 0.3 12 4", "NaN 0 0 1/2 3"] {
            assert!(parse_load(garbage).is_none(), "{garbage}");
        }
    }
}
