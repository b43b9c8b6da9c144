//! A fleet: its cases, the hosts that lie off and what these have in common, groups, pairs, and what was not measured.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::finding::Validity;
use hopcost_model::results::{
    Estimate, FleetCase, FleetHost, FleetReport, HostValue, Off, Outlier, PairRow, PairedCase,
    SlowFact,
};
use hopcost_model::text::count;

use super::comparison::{beside, times};
use super::model::{
    Block, Cell, Document, Form, Frame, Rows, Scale, Section, Table, Tone, Unit, Value, estimates,
    facts, note, notes, numbers, says, words,
};
use super::shapes::{About, grid};
use crate::chart::model::Chart;
use crate::number;

/// How much of each a medium has room for.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    cases: usize,
    rows: usize,
    pairs: usize,
    /// Whether each host has a row.
    hosts: bool,
    /// Whether squares are drawn.
    page: bool,
}

/// What fits on a screen.
pub(crate) const SCREEN: Room = Room { cases: 8, rows: 4, pairs: 3, hosts: false, page: false };
/// All of it, as text.
pub(crate) const WHOLE: Room =
    Room { cases: usize::MAX, rows: usize::MAX, pairs: 20, hosts: true, page: false };
/// All of it, as a page.
pub(crate) const PAGE: Room =
    Room { cases: usize::MAX, rows: 200, pairs: 20, hosts: true, page: true };

/// Squares that a page draws.
const SQUARES_MAX: usize = 4;
/// Labels of a host in one cell.
const LABELS_MAX: usize = 3;
/// Seconds from which a clock is told to be off.
const CLOCK_OFF_S: f64 = 60.0;
/// Names in a sentence.
const NAMED_MAX: usize = 5;

/// The report of a fleet.
pub(crate) fn document(found: &FleetReport, room: Room) -> Document {
    let mut head: Vec<Block> = head(found).into_iter().map(says).collect();
    head.push(about(found));
    let sections = [
        Section::of("fleet-cases", cases(found, room)),
        Section::of("fleet-outliers", outliers(found, room)),
        Section::of("fleet-slow", slow(found, room)),
        Section::of("fleet-groups", groups(found, room)),
        Section::of("fleet-pairs", pairs(found, room)),
        Section::of("fleet-missing", missing(found, room)),
        Section::of("fleet-hosts", hosts(found, room)),
        Section::of("fleet-rule", rule(found)),
    ];
    if !room.hosts {
        head.pop();
    }
    let mut sections: Vec<Section> = sections.into_iter().flatten().collect();
    if !room.hosts {
        // A screen has no room for what can be read once.
        let is_lead = |block: &Block| matches!(block, Block::Text(Tone::Lead, _));
        sections.iter_mut().for_each(|section| section.blocks.retain(|block| !is_lead(block)));
    }
    Document { title: title(found), head, sections, ..Document::default() }
}

fn title(found: &FleetReport) -> String {
    let about = &found.about;
    let by = if about.engine.is_empty() { "" } else { " by " };
    let hosts = format!("{}{by}{}", count(found.hosts.len(), "host"), about.engine);
    let fleet = format!("fleet {}", about.id);
    let parts = ["hopcost", &fleet, &about.suite, &hosts, &about.status];
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

/// `96 ready, 2 unreachable`, the usual word first.
fn states(of: &BTreeMap<String, u32>, first: &str) -> String {
    let mut states: Vec<(&String, &u32)> = of.iter().collect();
    states.sort_by_key(|(state, _)| state.as_str() != first);
    states.iter().map(|(state, n)| format!("{n} {state}")).collect::<Vec<_>>().join(", ")
}

fn head(found: &FleetReport) -> Vec<String> {
    let about = &found.about;
    if found.hosts.is_empty() {
        return vec!["The fleet has no host yet.".to_owned()];
    }
    let mut said = vec![format!("Hosts: {}.", states(&about.hosts, "ready"))];
    for (what, tasks) in
        [("Runs of hosts", &about.host_tasks), ("Runs of pairs", &about.pair_tasks)]
    {
        if !tasks.is_empty() {
            said.push(format!("{what}: {}.", states(tasks, "done")));
        }
    }
    let told = |side: Off| -> usize {
        let mut names: Vec<&String> =
            found.outliers.iter().filter(|of| of.off == side).map(|of| &of.host).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let mut line = said.join(" ");
    if found.rule.is_some() {
        let (slower, faster) = (told(Off::Slower), told(Off::Faster));
        line.push_str(&format!(
            " Off the others by more than {} %: {} slower, {faster} faster.",
            number::plain(about.margin * 100.0, 2),
            count(slower, "host"),
        ));
    }
    vec![line]
}

fn about(found: &FleetReport) -> Block {
    let about = &found.about;
    facts([
        ("fleet", Cell::code(&about.id)),
        ("created", Cell::text(&about.created)),
        ("suite", Cell::text(&about.suite)),
        ("engine", Cell::text(&about.engine)),
        ("hopcost", Cell::text(&about.hopcost)),
        ("status", Cell::text(&about.status)),
    ])
}

/// What all cases have in common that have it at all, which their names leave out.
fn common<'a>(cases: impl Iterator<Item = &'a str>) -> String {
    let keys = |case: &'a str| case.split_once('?').map_or("", |(_, keys)| keys).split('&');
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut n: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, value) in cases.flat_map(keys).filter_map(|key| key.split_once('=')) {
        values.entry(key).or_default().insert(value);
        *n.entry(key).or_default() += 1;
    }
    let one = |(key, values): (&str, BTreeSet<&str>)| match (values.len(), n[key]) {
        (1, 2..) => Some(format!("{key}={}", values.into_iter().collect::<String>())),
        _ => None,
    };
    format!("?{}", values.into_iter().filter_map(one).collect::<Vec<_>>().join("&"))
}

/// The same of the cases of hosts.
fn common_of(found: &FleetReport) -> String {
    common(found.cases.iter().map(|case| case.case.as_str()))
}

/// How far off, without an interval.
fn off(ratio: f64) -> Cell {
    let cell = times(ratio, None);
    match cell.value {
        Value::Sorted(text, key) => Value::Sorted(text.replace(" [–]", ""), key).into(),
        _ => cell,
    }
}

fn measured(value: f64, ends: Option<(f64, f64)>, n: u32, unit: &str) -> Cell {
    let estimate = Estimate {
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        level: ends.map(|_| 0.95),
        ..Estimate::exact(value, n, String::new())
    };
    let scale = if unit == "ns" { Scale::Time } else { Scale::Named(unit.to_owned()) };
    Cell::estimate(Some(&estimate), scale)
}

/// `and 3 more`, where there are more than fit.
fn more(all: usize, shown: usize, what: &str) -> Option<Block> {
    let left = all.saturating_sub(shown);
    (left > 0)
        .then(|| note(format!("And {}: --details has them.", count(left, &format!("more {what}")))))
}

fn cases(found: &FleetReport, room: Room) -> Vec<Block> {
    let mut cases: Vec<&FleetCase> = found.cases.iter().collect();
    if room.cases < cases.len() {
        // Those in which hosts lie off go first.
        cases.sort_by_key(|case| std::cmp::Reverse(case.n_slower + case.n_faster));
        cases.truncate(room.cases);
    }
    let common = common_of(found);
    let some = |n: u32| if n == 0 { Cell::none() } else { Cell::whole(u64::from(n)) };
    let table = Rows::of(&cases)
        .column(words("of"), |case| Cell::code(beside(&case.case, &common)))
        .column(numbers("hosts").fold(4), |case| Cell::whole(u64::from(case.n_hosts)))
        .column(estimates("median"), |case| {
            measured(case.median, case.low.zip(case.high), case.n_hosts, &case.unit)
        })
        .column(numbers("spread").fold(3), |case| Cell::maybe(case.spread, Unit::Share))
        .column(numbers("slowest").fold(2), |case| {
            let ratio = number::plain(case.slowest_ratio, 3);
            Value::Sorted(format!("×{ratio} {}", case.slowest), case.slowest_ratio).into()
        })
        .column(numbers("slower"), |case| some(case.n_slower))
        .column(numbers("faster").fold(1), |case| some(case.n_faster));
    let mut blocks = vec![table.table()];
    blocks.extend(more(found.cases.len(), cases.len(), "case"));
    if common.len() > 1 && cases.len() > 1 {
        blocks
            .push(note(format!("Where nothing else is said: {}.", common[1..].replace('&', ", "))));
    }
    blocks
}

fn outliers(found: &FleetReport, room: Room) -> Vec<Block> {
    let shown = &found.outliers[..found.outliers.len().min(room.rows)];
    let common = common_of(found);
    let table = Rows::of(shown)
        .column(words("host"), |of| Cell::text(&of.host))
        .column(words("is"), |of| Cell::text(of.off.word()))
        .column(numbers("by [interval]"), |of| times(of.ratio, of.low.zip(of.high)))
        .column(words("its run").fold(2), |of| Cell::text(of.validity.map_or("", Validity::word)))
        .column(words("in"), |of: &Outlier| {
            let case = found.cases.get(of.case as usize);
            Cell::code(case.map_or(String::new(), |case| beside(&case.case, &common)))
        })
        .column(numbers("distance").fold(1), |of| Cell::number(of.score.abs(), Unit::Plain(3)));
    let mut blocks = vec![table.table()];
    blocks.extend(more(found.outliers.len(), shown.len(), "value"));
    if shown.is_empty() { Vec::new() } else { blocks }
}

fn slow(found: &FleetReport, room: Room) -> Vec<Block> {
    let shown = found.of_slow.iter().take(room.rows);
    let mut said: Vec<String> = shown.map(sentence).collect();
    said.extend(found.confounded.iter().cloned());
    if said.is_empty() { Vec::new() } else { vec![Block::List(said)] }
}

/// `All 4 slow hosts have kernel.release 6.1.9; of the 96 others none has.`
fn sentence(fact: &SlowFact) -> String {
    let slow = match fact.n_slow_with == fact.n_slow {
        true => format!("All {} slow hosts have", fact.n_slow),
        false => format!("{} of {} slow hosts have", fact.n_slow_with, fact.n_slow),
    };
    let others = match fact.n_others_with {
        0 => "none has".to_owned(),
        1 => "1 has".to_owned(),
        n => format!("{n} have"),
    };
    format!(
        "{slow} {} {}; of the {} others {others} (error {}).",
        fact.key,
        fact.value,
        fact.n_others,
        error(fact.error)
    )
}

/// An error of a test, which nobody needs exactly.
fn error(error: f64) -> String {
    if error < 1e-4 { "<0.0001".to_owned() } else { number::plain(error, 2) }
}

fn groups(found: &FleetReport, room: Room) -> Vec<Block> {
    if found.groups_compared == 0 {
        return Vec::new();
    }
    let told: Vec<_> = found.groups.iter().filter(|group| group.off.is_some()).collect();
    let margin = number::plain(found.about.margin * 100.0, 2);
    let compared = count(found.groups_compared as usize, "comparison");
    let shown = &told[..told.len().min(room.rows)];
    let common = common_of(found);
    let table = Rows::of(shown)
        .column(words("hosts with"), |of| Cell::text(format!("{} {}", of.key, of.value)))
        .column(numbers("are"), |of| Cell::text(format!("{} of {}", of.n, of.n + of.n_others)))
        .column(words("and"), |of| Cell::text(of.off.map_or("", Off::word)))
        .column(numbers("by [interval]"), |of| times(of.ratio, of.low.zip(of.high)))
        .column(words("in"), |of| {
            let case = found.cases.get(of.case as usize);
            Cell::code(case.map_or(String::new(), |case| beside(&case.case, &common)))
        })
        .column(numbers("error").fold(1), |of| Cell::text(error(of.error)));
    let mut blocks = vec![table.table()];
    blocks.extend(more(told.len(), shown.len(), "group"));
    if told.is_empty() {
        blocks = vec![says(format!("No group differs by more than {margin} % in {compared}."))];
    }
    blocks
}

/// Near ends by far ends. The darker a cell, the slower: of a rate, the less.
fn square(case: &PairedCase, at: usize) -> Option<Chart> {
    let matrix = &case.matrix;
    let (power, unit) = if case.is_rate { (1.0, case.unit.as_str()) } else { (1e-3, "µs") };
    let row = |(name, row): (&String, &Vec<Option<f64>>)| {
        let cells = row.iter().map(|value| Cell::maybe(value.map(|of| of * power), Unit::Plain(3)));
        std::iter::once(Cell::text(name.clone())).chain(cells).collect()
    };
    let names = matrix.names.iter().map(|name| numbers(name));
    let table = Table {
        columns: std::iter::once(words(&format!("from {}", matrix.by))).chain(names).collect(),
        rows: matrix.names.iter().zip(&matrix.cells).map(row).collect(),
        form: Form::Matrix,
    };
    let about = About {
        id: format!("plot-pairs-{at}"),
        title: format!("{}, {unit}", case.case),
        says: format!(
            "{} between every two of {} in {unit}: the near end in the rows, the far end in the \
             columns.",
            case.statistic, matrix.by
        ),
    };
    grid(about, &table, &format!("to {}", matrix.by), case.is_rate)
}

fn pairs(found: &FleetReport, room: Room) -> Vec<Block> {
    let common = common(found.pairs.iter().map(|of| of.case.as_str()));
    let mut blocks = Vec::new();
    for (at, case) in found.pairs.iter().enumerate() {
        let median = measured(case.median, None, case.pairs.len() as u32, &case.unit);
        let median = median.value.shown().map_or(String::new(), |shown| shown.amount());
        let of =
            if found.pairs.len() > 1 { beside(&case.case, &common) } else { case.case.clone() };
        blocks.push(Block::Heading(format!(
            "{of}: median {median} of {}",
            count(case.pairs.len(), "pair")
        )));
        if room.page && at < SQUARES_MAX {
            let chart = square(case, at);
            blocks.extend(chart.map(|chart| Block::Charts(vec![chart], Frame::Bare)));
        }
        blocks.extend(worst(case, room, found.about.margin));
    }
    blocks
}

/// The pairs told to lie off, the slowest first, and the hosts that are slow over all of theirs.
fn worst(case: &PairedCase, room: Room, margin: f64) -> Vec<Block> {
    let mut pairs: Vec<_> = case.pairs.iter().filter(|of| of.off.is_some()).collect();
    pairs.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let told = pairs.len();
    pairs.truncate(room.pairs);
    let table = Rows::of(&pairs)
        .column(words("pair"), |of| Cell::text(format!("{} to {}", of.a, of.b)))
        .column(numbers("off the median"), |of| off(of.ratio))
        .column(estimates("value"), |of| measured(of.value, of.low.zip(of.high), 1, &case.unit));
    let mut blocks = vec![match case.threshold {
        _ if told > 0 => table.table(),
        Some(scales) => note(format!(
            "No pair is more than {} scales and {} % off the median.",
            number::plain(scales, 3),
            number::plain(margin * 100.0, 2)
        )),
        None => note("Fewer than 8 pairs: no rule tells which lie off.".to_owned()),
    }];
    blocks.extend(more(told, pairs.len(), "pair"));
    let row = |of: &PairRow| {
        let by = number::plain(of.ratio, 3);
        format!("{} (×{by}, {} of {})", of.host, of.n_slower, count(of.n as usize, "pair"))
    };
    let slow = case.rows.iter().filter(|row| 2 * row.n_slower > row.n);
    let rows: Vec<String> = slow.take(NAMED_MAX).map(row).collect();
    if !rows.is_empty() {
        blocks.push(note(format!("Slower in most of their pairs: {}.", rows.join(", "))));
    }
    blocks
}

/// Hosts without a run, each with its reason; on a screen those of one reason together.
fn missing(found: &FleetReport, room: Room) -> Vec<Block> {
    let is_missing = |host: &&FleetHost| host.state != "ready" || host.reason.is_some();
    let missing: Vec<&FleetHost> = found.hosts.iter().filter(is_missing).collect();
    let why = |host: &FleetHost| host.reason.clone().unwrap_or("no reason is given".to_owned());
    let mut blocks = Vec::new();
    if room.hosts {
        let table = Rows::of(&missing)
            .column(words("host"), |host| Cell::text(&host.name))
            .column(words("state"), |host| Cell::text(&host.state))
            .column(words("why"), |host| Cell::text(why(host)));
        blocks.push(table.table());
    } else {
        let mut alike: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
        for host in &missing {
            alike.entry((host.state.clone(), why(host))).or_default().push(&host.name);
        }
        let mut alike: Vec<_> = alike.into_iter().collect();
        alike.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
        let shown = &alike[..alike.len().min(room.rows)];
        let table = Rows::of(shown)
            .column(numbers("hosts"), |(_, hosts)| Cell::whole(hosts.len() as u64))
            .column(words("state"), |((state, _), _)| Cell::text(state))
            .column(words("such as"), |(_, hosts)| Cell::text(hosts[0]))
            .column(words("why"), |((_, why), _)| Cell::text(why));
        blocks.push(table.lines());
        blocks.extend(more(alike.len(), shown.len(), "reason"));
    }
    if missing.is_empty() {
        blocks.clear();
    }
    blocks.extend(found.missing_pairs.iter().cloned().map(note));
    blocks
}

fn hosts(found: &FleetReport, room: Room) -> Vec<Block> {
    if !room.hosts {
        return Vec::new();
    }
    let common = common_of(found);
    let worst = |host: &FleetHost| -> Option<HostValue> {
        let far = |of: &&HostValue| (of.off.is_some(), of.ratio.ln().abs());
        let order = |a: &&HostValue, b: &&HostValue| {
            let ((a_off, a_far), (b_off, b_far)) = (far(a), far(b));
            a_off.cmp(&b_off).then(a_far.total_cmp(&b_far))
        };
        host.values.iter().max_by(order).cloned()
    };
    let cases_off =
        |host: &FleetHost| host.values.iter().filter(|value| value.off.is_some()).count();
    let table = Rows::of(&found.hosts)
        .column(words("host"), |host| Cell::text(&host.name))
        .column(words("state"), |host| Cell::text(&host.state))
        .column(numbers("cases off"), |host| match cases_off(host) {
            0 => Cell::none(),
            n => Cell::whole(n as u64),
        })
        .column(numbers("farthest"), |host| worst(host).map_or(Cell::none(), |of| off(of.ratio)))
        .column(words("in"), |host| {
            let case = worst(host).and_then(|of| found.cases.get(of.case as usize));
            Cell::code(case.map_or(String::new(), |case| beside(&case.case, &common)))
        })
        .column(words("kernel"), |host| Cell::text(host.kernel.as_deref().unwrap_or("")))
        .column(words("labels"), |host| {
            let labels = host.labels.iter().take(LABELS_MAX);
            Cell::text(
                labels.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", "),
            )
        });
    vec![table.table()]
}

fn rule(found: &FleetReport) -> Vec<Block> {
    let mut said = Vec::new();
    if let Some(rule) = &found.rule {
        let (least, most) =
            (number::plain(rule.threshold_min, 3), number::plain(rule.threshold_max, 3));
        let scales = if least == most { least } else { format!("{least} to {most}") };
        said.push(format!(
            "A host lies off that is more than {scales} scales (Qn of logarithms) and {} % off the median. Of fleets of {} \
             and {} without outliers at most {} % have any host told if logarithms spread normally (simulated); with a \
             heavier tail (Student's t of 5) and no margin a fleet has {} on average.",
            number::plain(found.about.margin * 100.0, 2),
            count(rule.n_hosts as usize, "host"),
            count(rule.n_cases as usize, "case"),
            number::plain(rule.false_alarms * 100.0, 1),
            number::plain(rule.false_alarms_heavy, 2),
        ));
    }
    said.extend(agents(found));
    let clocks: Vec<String> = found
        .hosts
        .iter()
        .filter_map(|host| Some((host, host.clock_off_s.filter(|off| off.abs() > CLOCK_OFF_S)?)))
        .map(|(host, off): (&FleetHost, f64)| {
            format!("{} by {}", host.name, number::expected((off.abs() * 1e9) as u64))
        })
        .collect();
    if !clocks.is_empty() {
        let named = clocks.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let more = clocks.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        said.push(format!("Clocks off the driver's by more than a minute: {named}{more}."));
    }
    said.extend(found.remarks.iter().cloned());
    notes(said).collect()
}

fn agents(found: &FleetReport) -> Option<String> {
    let agents = &found.agents;
    let part = |cpu: Option<f64>, wakeups: Option<f64>, when: &str| {
        Some(format!(
            "{when} {} % CPU and {} wake-ups a second",
            number::plain(cpu?, 2),
            number::plain(wakeups?, 2)
        ))
    };
    let parts: Vec<String> = [
        part(agents.cpu_percent, agents.wakeups_per_s, "at work"),
        part(agents.frozen_cpu_percent, agents.frozen_wakeups_per_s, "while a trial runs"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let hosts = count(agents.n_hosts as usize, "host");
    (!parts.is_empty()).then(|| format!("Agents took {} (medians over {hosts}).", parts.join(", ")))
}
