//! What this process may do and how it is watched: limits, seccomp, tracing,
//! scheduling. The workers inherit all of it.

use super::{Found, Readings, Seen, human_bytes};
use crate::root::Unreadable;

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    limits(seen, out);
    security(seen, out);
    let no_perf = "kernel without perf events";
    let paranoid = seen.text("/proc/sys/kernel/perf_event_paranoid", no_perf);
    out.put("security", "perf.paranoid", paranoid);
    sched(seen, out);
}

#[derive(Clone, Copy)]
enum Unit {
    Count,
    Bytes,
}

fn limits(seen: &Seen, out: &mut Readings) {
    const LIMITS: &[(&str, &str, Unit)] = &[
        ("limits.nofile", "Max open files", Unit::Count),
        ("limits.memlock", "Max locked memory", Unit::Bytes),
        ("limits.msgqueue", "Max msgqueue size", Unit::Bytes),
        ("limits.rtprio", "Max realtime priority", Unit::Count),
        ("limits.nproc", "Max processes", Unit::Count),
    ];
    let text = seen.text("/proc/self/limits", "/proc/self/limits does not exist");
    for (key, row, unit) in LIMITS {
        let found = text.clone().and_then(|text| {
            limit(&text, row, *unit).ok_or_else(|| format!("/proc/self/limits has no `{row}`"))
        });
        out.put("limits", *key, found);
    }
}

/// Soft limit, and the hard one where it differs.
fn limit(text: &str, row: &str, unit: Unit) -> Option<String> {
    let rest = text.lines().find_map(|line| line.strip_prefix(row))?;
    let mut words = rest.split_whitespace();
    let mut spell = || -> Option<String> {
        let word = words.next()?;
        if word == "unlimited" {
            return Some(word.to_owned());
        }
        let number: u64 = word.parse().ok()?;
        Some(match unit {
            Unit::Count => number.to_string(),
            Unit::Bytes => human_bytes(number),
        })
    };
    let (soft, hard) = (spell()?, spell()?);
    Some(if soft == hard { soft } else { format!("{soft}, can be raised to {hard}") })
}

fn security(seen: &Seen, out: &mut Readings) {
    let section = "security";
    let status = seen.text("/proc/self/status", "/proc/self/status does not exist");
    let field = |name: &str, missing: &str| -> Found {
        let text = status.clone()?;
        status_field(&text, name).map(str::to_owned).ok_or_else(|| missing.to_owned())
    };
    let seccomp = field("Seccomp:", "kernel without seccomp").map(|mode| match mode.as_str() {
        "0" => "off".to_owned(),
        "1" => "strict".to_owned(),
        "2" => match field("Seccomp_filters:", "") {
            Ok(count) if count == "1" => "1 filter on every system call".to_owned(),
            Ok(count) => format!("{count} filters on every system call"),
            Err(_) => "filtered, number of filters not told".to_owned(),
        },
        other => other.to_owned(),
    });
    out.put(section, "security.seccomp", seccomp);
    let privileges = field("NoNewPrivs:", "kernel before 4.10 does not tell");
    let word = |text: String| match text.as_str() {
        "0" => "off".to_owned(),
        "1" => "on".to_owned(),
        _ => text,
    };
    out.put(section, "security.no_new_privs", privileges.map(word));
    let tracer = field("TracerPid:", "/proc/self/status does not tell").map(|pid| {
        if pid == "0" {
            return "none".to_owned();
        }
        match seen.root.text(&format!("/proc/{pid}/comm")) {
            Ok(name) => format!("{name} (pid {pid})"),
            Err(_) => format!("pid {pid}"),
        }
    });
    out.put(section, "security.tracer", tracer);
    let no_ring = "kernel before 6.6 or without io_uring: no switch";
    let ring = seen.text("/proc/sys/kernel/io_uring_disabled", no_ring).map(|switch| match switch
        .as_str()
    {
        "0" => "no".to_owned(),
        "1" => "for users outside of its group".to_owned(),
        "2" => "for all".to_owned(),
        _ => switch,
    });
    out.put(section, "security.io_uring_disabled", ring);
}

/// A field of /proc/self/status; the name with its colon.
pub(super) fn status_field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?.trim();
    (!value.is_empty()).then_some(value)
}

fn sched(seen: &Seen, out: &mut Readings) {
    let section = "sched";
    out.put(section, "sched.policy", policy(seen));
    let no_groups = "kernel without CONFIG_SCHED_AUTOGROUP";
    let autogroup = seen.switch("/proc/sys/kernel/sched_autogroup_enabled", no_groups);
    out.put(section, "sched.autogroup", autogroup);
    out.put(section, "sched.rt_runtime", rt_runtime(seen));
    out.put(section, "sched.base_slice", base_slice(seen));
}

/// Policy, nice value and real-time priority of this process.
fn policy(seen: &Seen) -> Found {
    const PATH: &str = "/proc/self/stat";
    let text = seen.text(PATH, "/proc/self/stat does not exist")?;
    parse_policy(&text).ok_or_else(|| Unreadable::strange(PATH, &text).to_string())
}

fn parse_policy(stat: &str) -> Option<String> {
    // The second field, the name in brackets, may itself hold brackets and
    // spaces; the third follows the last bracket. Numbering is that of proc(5).
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    let nice: i32 = field(19)?.parse().ok()?;
    let priority: u32 = field(40)?.parse().ok()?;
    Some(match field(41)?.parse::<u32>().ok()? {
        0 => format!("other, nice {nice}"),
        1 => format!("fifo, priority {priority}"),
        2 => format!("round-robin, priority {priority}"),
        3 => format!("batch, nice {nice}"),
        5 => "idle".to_owned(),
        6 => "deadline".to_owned(),
        7 => format!("ext, nice {nice}"),
        other => format!("policy {other}"),
    })
}

fn rt_runtime(seen: &Seen) -> Found {
    let read = |name: &str| {
        let missing = "this kernel does not limit real-time tasks, or does not tell";
        seen.text(&format!("/proc/sys/kernel/{name}"), missing)
    };
    match read("sched_rt_runtime_us")?.as_str() {
        "-1" => Ok("unlimited".into()),
        runtime => Ok(format!("{runtime} us in each {} us", read("sched_rt_period_us")?)),
    }
}

/// The slice that the fair scheduler grants: of the system (debugfs), else of
/// this process.
fn base_slice(seen: &Seen) -> Found {
    let us = |ns: u64| format!("{} us", ns as f64 / 1000.0);
    if let Ok(ns) = seen.root.number::<u64>("/sys/kernel/debug/sched/base_slice_ns") {
        return Ok(us(ns));
    }
    let missing = "needs root and debugfs, and this kernel has no /proc/self/sched";
    let text = seen.text("/proc/self/sched", missing)?;
    let slice = text.lines().find_map(|line| line.strip_prefix("se.slice"));
    let slice = slice.and_then(|rest| rest.trim_start().strip_prefix(':')?.trim().parse().ok());
    slice
        .map(|ns| format!("{} (of this process)", us(ns)))
        .ok_or_else(|| "/proc/self/sched has no se.slice (kernel before 6.6)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_name_the_hard_one_where_it_differs() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max open files            1024                 1048576              files     \n\
                    Max locked memory         8388608              8388608              bytes     \n\
                    Max realtime priority     0                    0                    \n\
                    Max msgqueue size         x                    1                    bytes\n";
        let files = limit(text, "Max open files", Unit::Count);
        assert_eq!(files.as_deref(), Some("1024, can be raised to 1048576"));
        assert_eq!(limit(text, "Max locked memory", Unit::Bytes).as_deref(), Some("8 MiB"));
        assert_eq!(limit(text, "Max realtime priority", Unit::Count).as_deref(), Some("0"));
        assert_eq!(limit(text, "Max msgqueue size", Unit::Bytes), None);
        assert_eq!(limit(text, "Max processes", Unit::Count), None);
    }

    #[test]
    fn the_policy_survives_a_hostile_name() {
        let stat = |tail: &str| format!("1 (a) R 0 (b) R {tail}");
        let numbers = |nice: i32, priority: u32, policy: u32| {
            let mut fields = vec!["0".to_owned(); 49];
            fields[19 - 4] = nice.to_string();
            fields[40 - 4] = priority.to_string();
            fields[41 - 4] = policy.to_string();
            stat(&fields.join(" "))
        };
        assert_eq!(parse_policy(&numbers(-5, 0, 0)).as_deref(), Some("other, nice -5"));
        assert_eq!(parse_policy(&numbers(0, 10, 1)).as_deref(), Some("fifo, priority 10"));
        assert_eq!(parse_policy(&stat("1 2 3")), None);
        assert_eq!(parse_policy("no bracket"), None);
    }
}
