//! Control groups: how much CPU time this process may use, and which CPUs.

use hopcost_model::raw::Throttling;

use super::seen::{Found, Seen, because};
use crate::root::{Root, Unreadable};

/// Directories of the own group and its ancestors in the hierarchy that has the CPU controller, the own
/// first, up to and including that where the hierarchy is mounted: never empty.
fn groups(root: &Root) -> Result<Vec<String>, String> {
    let read = |path: &str| root.text(path).map_err(because("kernel without cgroups"));
    let (groups, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
    let has = |list: &str| list.split(',').any(|name| name == "cpu");
    // A controller that a v1 hierarchy has is not in v2, so v1 is asked first.
    let v1 = group_path(&groups, has).zip(mount(&mounts, "cgroup", has));
    let v2 = || {
        let unified = group_path(&groups, |list| list.is_empty());
        unified.zip(mount(&mounts, "cgroup2", |_| true))
    };
    let (group, (inner, mount)) = v1.or_else(v2).ok_or("no cgroup file system is mounted")?;
    // Where only part of the hierarchy is mounted (containers without a
    // cgroup namespace), paths are relative to that part.
    let inner = inner.trim_end_matches('/');
    let below = match group.strip_prefix(inner) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ => return Err("own control group lies outside of what is mounted here".into()),
    };
    if below.split('/').any(|part| part == "..") {
        return Err("own control group lies outside of this cgroup namespace".into());
    }
    let mut below = below.trim_end_matches('/');
    let mut dirs = Vec::new();
    while !below.is_empty() {
        dirs.push(format!("{mount}{below}"));
        below = below.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    dirs.push(mount);
    Ok(dirs)
}

/// The path of the line `id:controllers:path` whose controllers fit.
fn group_path(groups: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        (fits(controllers) && path.starts_with('/')).then(|| path.to_owned())
    })
}

/// Which part is mounted where, of the first mount of this type whose options fit.
fn mount(mounts: &str, kind: &str, fits: impl Fn(&str) -> bool) -> Option<(String, String)> {
    mounts.lines().find_map(|line| {
        // ID parent dev root mount options … - type source super-options (proc(5))
        let (head, tail) = line.split_once(" - ")?;
        let mut head = head.split(' ').skip(3);
        let (inner, mount) = (head.next()?, head.next()?);
        let mut tail = tail.split(' ');
        let (found, _source) = (tail.next()?, tail.next()?);
        let options = tail.next().unwrap_or_default();
        (found == kind && fits(options)).then(|| (inner.to_owned(), mount.to_owned()))
    })
}

/// The tightest limit of the own group and its ancestors, in percent of one CPU.
pub(super) fn quota(seen: &Seen) -> Found {
    let groups = groups(seen.root)?;
    let limits = groups.iter().map(|dir| limit(seen.root, dir));
    // The root of v2 has no such file.
    let is_there =
        |limit: &Result<_, Unreadable>| !limit.as_ref().is_err_and(|error| error.is_missing);
    let limits: Vec<Option<(u64, u64)>> = limits.filter(is_there).collect::<Result<_, _>>()?;
    let tightest = limits.iter().flatten().min_by(|(q, p), (quota, period)| {
        (u128::from(*q) * u128::from(*period)).cmp(&(u128::from(*quota) * u128::from(*p)))
    });
    match tightest {
        Some((quota, period)) => {
            let percent = *quota as f64 / *period as f64 * 100.0;
            Ok(format!("{percent:.0} % of one CPU ({quota} us in each {period} us)"))
        }
        None if !limits.is_empty() => Ok("none".to_owned()),
        None if groups.len() == 1 => Ok("none (root control group)".to_owned()),
        None => Err("the cpu controller is not enabled for this control group".into()),
    }
}

/// Quota and period in microseconds, in v2 `max 100000` or `50000 100000`.
fn limit(root: &Root, dir: &str) -> Result<Option<(u64, u64)>, Unreadable> {
    let path = format!("{dir}/cpu.max");
    let text = match root.text(&path) {
        Err(error) if error.is_missing => return limit_v1(root, dir),
        text => text?,
    };
    let strange = || Unreadable::strange(&path, &text);
    let (quota, period) = text.split_once(' ').ok_or_else(strange)?;
    if quota == "max" {
        return Ok(None);
    }
    match (quota.parse(), period.parse()) {
        (Ok(quota), Ok(period)) if period > 0 => Ok(Some((quota, period))),
        _ => Err(strange()),
    }
}

fn limit_v1(root: &Root, dir: &str) -> Result<Option<(u64, u64)>, Unreadable> {
    let quota: i64 = root.number(&format!("{dir}/cpu.cfs_quota_us"))?;
    // -1 stands for no limit.
    let Ok(quota) = u64::try_from(quota) else { return Ok(None) };
    let path = format!("{dir}/cpu.cfs_period_us");
    match root.number(&path)? {
        0 => Err(Unreadable::strange(&path, "0")),
        period => Ok(Some((quota, period))),
    }
}

/// How often the own group was throttled, and for how long in all.
pub(super) fn throttled(seen: &Seen) -> Result<Throttling, String> {
    let own = throttled_groups(seen.root).into_iter().next().flatten();
    own.ok_or_else(|| "the own control group counts no throttling".to_owned())
}

/// What a cpu.stat counts of throttling; v2 in microseconds, v1 in nanoseconds.
fn throttling(text: &str) -> Option<Throttling> {
    let field = |name: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(name));
        rest.and_then(|rest| rest.trim().parse::<u64>().ok())
    };
    let ns = field("throttled_usec ").and_then(|us| us.checked_mul(1_000));
    Some(Throttling {
        times: field("nr_throttled ")?,
        ns: ns.or_else(|| field("throttled_time "))?,
    })
}

/// The same of the own group and of each of its ancestors, which throttle it too.
pub(crate) fn throttled_groups(root: &Root) -> Vec<Option<Throttling>> {
    let stat = |dir: &String| throttling(&root.text(&format!("{dir}/cpu.stat")).ok()?);
    groups(root).unwrap_or_default().iter().map(stat).collect()
}
