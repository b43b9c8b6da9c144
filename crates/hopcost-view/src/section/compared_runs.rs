//! Stored runs compared with others: a document of its own.

use hopcost_model::text::count;
use hopcost_read::results::{Compared, ComparedRun, RunComparison};

use super::along;
use super::comparison::{framed, margin, name, name_beside, sentence, shifts, table, undecided};
use super::model::{Block, Document, Medium, Section, Tone, notes};
use crate::chart::model::Chart;
use crate::names::capitalised;

/// Names that a line lists.
const NAMED_MAX: usize = 4;

/// A comparison as a document.
pub fn document(found: &RunComparison, medium: Medium) -> Document {
    let none = found
        .compared
        .is_empty()
        .then(|| Block::Text(Tone::Alert, "No case was measured on both sides.".to_owned()));
    let unit = if found.hosts.is_some() { "hosts" } else { "runs" };
    let shared = format!("?{}", shared(&found.compared).join("&"));
    let blocks = match &found.along {
        Some(along) => along::blocks(found, along),
        None => {
            let table = table(&found.compared, &shared, unit);
            [table].into_iter().chain(notes(said(found))).collect()
        }
    };
    let charts = framed(charts(found), medium).and_then(|of| Section::of("shifts", [of]));
    let what = match &found.hosts {
        _ if found.along.is_some() => along::title(found),
        Some(hosts) => format!("{} before and after", count(hosts.n_hosts as usize, "host")),
        None => {
            let (other, baseline) = (found.other.len(), found.baseline.len());
            format!("{} against {baseline}", count(other, "run"))
        }
    };
    Document {
        title: format!("hopcost · comparison · {what} · {}", margin(found.margin)),
        head: none.into_iter().chain(blocks).collect(),
        sections: charts.into_iter().collect(),
        ..Document::default()
    }
}

/// Each case in a sentence to paste.
pub(crate) fn sentences(found: &RunComparison) -> Vec<String> {
    if let Some(along) = &found.along {
        return vec![along::sentence(found, along)];
    }
    let besides = format!("{}; {}", against(found), margin(found.margin));
    let shared = format!("?{}", shared(&found.compared).join("&"));
    let one = |of: &Compared| {
        let like = match found.compared.len() {
            _ if of.case != of.baseline => &of.baseline,
            1 => &of.case,
            _ => &shared,
        };
        let name = name(&of.case, like);
        let base = match of.case == of.baseline {
            true => "in the baseline".to_owned(),
            false => name_beside(&of.baseline, &of.case, &name),
        };
        sentence(of, &name, &base, &besides)
    };
    found.compared.iter().map(one).collect()
}

/// The ratio along an axis, or the shift of each decile.
pub(crate) fn charts(found: &RunComparison) -> Vec<Chart> {
    match &found.along {
        Some(along) => along::charts(found, along),
        None => shifts(&found.compared),
    }
}

/// The keys that all cases have in common, where there are several.
fn shared(compared: &[Compared]) -> Vec<String> {
    let keys = |of: &Compared| -> Vec<String> {
        let keys = of.case.split_once('?').map_or("", |(_, keys)| keys);
        keys.split('&').map(str::to_owned).collect()
    };
    let [first, rest @ ..] = compared else { return Vec::new() };
    let in_all = |key: &String| rest.iter().all(|of| keys(of).contains(key));
    keys(first).into_iter().filter(|key| !rest.is_empty() && in_all(key)).collect()
}

fn said(found: &RunComparison) -> Vec<String> {
    let mut said = vec![format!("{}.", capitalised(&against(found)))];
    let shared = shared(&found.compared);
    if !shared.is_empty() {
        said.push(format!("All cases: {}.", shared.join(", ")));
    }
    said.extend(found.differences.iter().map(|one| {
        let (a, b) = (one.baseline.join(", "), one.other.join(", "));
        format!("Across {}: {} was {a} and is {b}.", one.across.word(), one.what)
    }));
    let unit = if found.hosts.is_some() { "hosts" } else { "runs a side" };
    said.extend(undecided(&found.compared, found.margin, |more| format!("{more} {unit}")));
    let hosts = found.hosts.as_ref();
    for (side, cases, hosts) in [
        ("the baseline", &found.only_baseline, hosts.map(|of| &of.only_baseline)),
        ("the other side", &found.only_other, hosts.map(|of| &of.only_other)),
    ] {
        if !cases.is_empty() {
            said.push(format!("Only in {side}: {}.", listed(cases)));
        }
        if let Some(hosts) = hosts.filter(|hosts| !hosts.is_empty()) {
            let n = count(hosts.len(), "host");
            said.push(format!("{n} measured only in {side}: {}.", listed(hosts)));
        }
    }
    said.extend(found.remarks.iter().cloned());
    said
}

/// A few names, and how many more.
fn listed(names: &[String]) -> String {
    let named = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn against(found: &RunComparison) -> String {
    let what = if found.hosts.is_some() { "fleet" } else { "run" };
    let side = |runs: &[ComparedRun]| match runs {
        [one] => format!("{what} {}", one.id),
        [first, .., last] => format!("{}, {} to {}", count(runs.len(), "run"), first.id, last.id),
        [] => "nothing".to_owned(),
    };
    format!("baseline: {}; against it: {}", side(&found.baseline), side(&found.other))
}
