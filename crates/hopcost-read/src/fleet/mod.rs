//! A fleet from its index: hosts beside each other, which of them lie off, what these have in common, pairs, and
//! two fleets host by host.

mod compare;
mod groups;
mod measured;
mod outliers;
mod pairs;
mod slow;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hopcost_model::fleet::{IndexedFile, RawFleet, RawHost};
use hopcost_model::results::{
    AgentCost, FleetAbout, FleetHost, FleetReport, HostValue, MissingValue,
};
use hopcost_stats::sample::median;

use measured::Case;

pub use compare::of_fleets;

/// Makes the report of a fleet. Ratios off 1 by no more than the share `margin` are of no interest.
pub fn report(raw: &RawFleet, margin: f64) -> FleetReport {
    let files = measured::files(raw);
    let cases = measured::cases(raw, &files.of_hosts);
    let mut found = outliers::found(&cases, raw, margin);
    let mut hosts: Vec<FleetHost> = raw
        .hosts
        .iter()
        .zip(&files.of_hosts)
        .map(|(host, file)| about_host(raw, host, *file))
        .collect();
    for (at, (case, placed)) in cases.iter().zip(&mut found.placed).enumerate() {
        for (measured, value) in case.hosts.iter().zip(placed.drain(..)) {
            hosts[measured.host].values.push(HostValue { case: at as u32, ..value });
        }
    }
    missing(raw, &files.of_hosts, &cases, &mut hosts);
    let members = groups::Members::of(raw, &files.of_hosts);
    let (groups, groups_compared) = groups::compared(&members, &cases, margin);
    let slow = slow::found(&members, &found.outliers, raw);
    let confounded = groups::confounded(&members, &groups, &slow);
    let mut remarks = files.remarks;
    remarks.extend(found.remarks);
    remarks.extend(raw.left_out.iter().cloned());
    FleetReport {
        schema: hopcost_model::SCHEMA.to_owned(),
        about: about(raw, margin),
        hosts,
        cases: found.cases,
        rule: found.rule,
        outliers: found.outliers,
        groups,
        groups_compared,
        of_slow: slow,
        confounded,
        pairs: pairs::cases(raw, &files.of_pairs, margin),
        missing_pairs: files.failed_pairs,
        agents: agents(raw),
        remarks,
    }
}

fn about(raw: &RawFleet, margin: f64) -> FleetAbout {
    let word = |key: &str| raw.about.get(key).cloned().unwrap_or_default();
    let counted = |states: &mut dyn Iterator<Item = &String>| {
        let mut by_state: BTreeMap<String, u32> = BTreeMap::new();
        states.for_each(|state| *by_state.entry(state.clone()).or_default() += 1);
        by_state
    };
    // Of several attempts the one that was done counts, or the last.
    let tasks = |is_pair: bool| {
        let tasks = raw.tasks.iter().filter(|task| task.b.is_some() == is_pair);
        counted(&mut measured::best(tasks).values().map(|(task, _)| &task.state))
    };
    FleetAbout {
        id: word("id"),
        created: word("created"),
        suite: word("suite"),
        engine: word("engine"),
        hopcost: word("hopcost"),
        status: word("status"),
        hosts: counted(&mut raw.hosts.iter().map(|host| &host.state)),
        host_tasks: tasks(false),
        pair_tasks: tasks(true),
        margin,
    }
}

fn fact(file: Option<&IndexedFile>, key: &str) -> Option<String> {
    let (_, value) = file?.facts.iter().find(|(known, _)| &**known == key)?;
    Some(value.to_string())
}

fn about_host(raw: &RawFleet, host: &RawHost, file: Option<usize>) -> FleetHost {
    let file = file.map(|file| &raw.files[file]);
    let of = |key: &str| fact(file, key);
    FleetHost {
        name: host.name.clone(),
        state: host.state.clone(),
        reason: host.reason.clone(),
        labels: host.labels.clone(),
        cpu: of("cpu.model"),
        kernel: of("kernel.release"),
        hypervisor: of("virt.hypervisor"),
        clock_off_s: host.clock_off_s,
        file: file.map(|file| file.file.clone()),
        values: Vec::new(),
        missing: Vec::new(),
    }
}

/// Why hosts have no values: what their last task says, or their file, or the case itself.
fn missing(raw: &RawFleet, files: &[Option<usize>], cases: &[Case], hosts: &mut [FleetHost]) {
    let names: BTreeMap<&str, usize> =
        raw.hosts.iter().enumerate().map(|(at, host)| (host.name.as_str(), at)).collect();
    // The last try says it.
    for task in raw.tasks.iter().rev().filter(|task| task.b.is_none()) {
        let Some(host) = names.get(task.a.as_str()).map(|at| &mut hosts[*at]) else { continue };
        let unreadable = task.file.and_then(|file| raw.files[file].error.as_ref());
        let says = unreadable.map(|error| format!("its run file cannot be read: {error}"));
        let reason = task.reason.as_deref().unwrap_or("no reason is given");
        let failed = match task.state.as_str() {
            "failed" => Some(format!("measuring it failed: {reason}")),
            "skipped" => Some(format!("it was not measured: {reason}")),
            _ => None,
        };
        if host.file.is_none() && host.reason.is_none() {
            host.reason = failed.or(says);
        }
    }
    let known: std::collections::BTreeSet<usize> = cases.iter().map(|case| case.index).collect();
    for (host, file) in hosts.iter_mut().zip(files) {
        let Some(file) = file.map(|file| &raw.files[file]) else { continue };
        let without = file.estimates.iter().filter(|of| of.value().is_none());
        let without = without.filter(|of| of.statistic.is_empty() || known.contains(&of.case));
        for estimate in without {
            let has =
                host.values.iter().any(|value| cases[value.case as usize].index == estimate.case);
            let reason = match estimate.skip.as_deref() {
                Some(skip) => skip,
                None if estimate.point.is_some() => "invalid, by the findings of its run",
                None => "no value",
            };
            if !has && host.missing.iter().all(|one| one.case != raw.cases[estimate.case]) {
                let case = raw.cases[estimate.case].clone();
                host.missing.push(MissingValue { case, reason: reason.to_owned() });
            }
        }
    }
}

fn agents(raw: &RawFleet) -> AgentCost {
    let of = |at: usize| {
        let values: Vec<f64> = raw.hosts.iter().filter_map(|host| host.agent[at]).collect();
        median(&values)
    };
    let n_hosts = raw.hosts.iter().filter(|host| host.agent.iter().any(Option::is_some)).count();
    AgentCost {
        n_hosts: n_hosts as u32,
        cpu_percent: of(0),
        wakeups_per_s: of(1),
        frozen_cpu_percent: of(2),
        frozen_wakeups_per_s: of(3),
    }
}
