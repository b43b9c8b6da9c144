//! What clocks, kernels and CPUs do not do.

use crate::finding::{Cited, Finding, shown};
use crate::prose::Prose;
use crate::read::Cell;
use crate::role::{Counter, Role, is_in};
use crate::sheet::{Column, Sheet};
use crate::unit::Dimension;

/// A timer that a cost may be: its period, by what share a cost may lie above it, how many periods
/// are looked at, and what it is. A timer that counts in ticks is up to 4 ms late.
const TIMERS: [(f64, f64, u32, &str); 5] = [
    (200e6, 0.05, 1, "the retransmission timer of TCP (200 ms): segments were lost, or never sent"),
    (
        40e6,
        0.1,
        3,
        "the delayed acknowledgement of TCP (40 ms), which a sender with Nagle's algorithm waits for: set TCP_NODELAY or write the message at once",
    ),
    (10e6, 0.03, 1, SLEEP),
    (4e6, 0.03, 1, SLEEP),
    (1e6, 0.03, 1, SLEEP),
];
const SLEEP: &str =
    "a tick of the scheduler (1, 4 or 10 ms), or a sleep: what is timed is the wait";
/// How much faster another row must be for the wait to be avoidable.
const FASTER: f64 = 10.0;
/// Cells without which it is chance.
const CELLS_MIN: usize = 3;

/// Costs that are a timer's, whatever was set.
pub fn timer(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let is_time = |column: &&Column| column.dimension() == Some(Dimension::Time);
    let costs = sheet.having(Role::is_typical).filter(is_time);
    let of = |column: &Column| -> Vec<Finding> {
        let values: Vec<(usize, f64)> =
            sheet.rows().filter_map(|row| Some((row, column.at(row)?.value))).collect();
        let fastest = values.iter().map(|(_, ns)| *ns).fold(f64::MAX, f64::min);
        let at = |(period_ns, above, k, why): (f64, f64, u32, &'static str)| {
            let ns = period_ns * f64::from(k);
            let near = values.iter().filter(|(_, v)| (ns..ns * (1.0 + above)).contains(v));
            let near: Vec<usize> = near.map(|(row, _)| *row).collect();
            let mut settings: Vec<_> = near.iter().map(|row| sheet.setting(*row)).collect();
            settings.sort();
            settings.dedup();
            let found = near.len() >= CELLS_MIN && settings.len() > 1 && fastest * FASTER < ns;
            found.then(|| Finding {
                check: "timer",
                cells: near.iter().map(|row| Cited::cell(sheet, column, *row)).collect(),
                arithmetic: format!(
                    "{} rows are at {} × {} ms or up to {} % above, whatever {}; others take {} µs",
                    near.len(),
                    k,
                    period_ns / 1e6,
                    above * 100.0,
                    sheet.set().map(|c| c.head.as_str()).collect::<Vec<_>>().join(" and "),
                    shown(fastest / 1e3)
                ),
                explanation: why,
            })
        };
        let periods = |(ns, above, most, why): &(f64, f64, u32, &'static str)| {
            let one = (*ns, *above, *why);
            (1..=*most).map(move |k| (one.0, one.1, k, one.2))
        };
        let timers = TIMERS.iter().flat_map(periods);
        timers.filter_map(at).collect()
    };
    costs.flat_map(of).collect()
}

/// Mechanisms by which the kernel carries a message.
const KERNEL: &str = "pipe fifo socket sockets socketpair udp tcp websocket websockets uds mq";
/// Mechanisms that put the waiting end to sleep.
const BLOCKING: &str = "condvar futex semaphore eventfd signal pipe fifo socket sockets socketpair udp tcp \
    websocket websockets uds mq";
/// What waits without sleeping, or hands nothing over.
const AWAKE: &str = "spin spinning busy poll polling uncontended lock unlock call inline byte send sendto write \
    throughput per submit amortized amortised batched batch";
/// What goes there and back.
const ROUND_TRIP: &str = "rtt trip trips ping pong echo roundtrip pingpong";
/// What says that a message was waited for.
const WAITED: &str = "latency latencies delay rtt trip trips ping pong echo roundtrip pingpong";
/// What is between two CPUs.
const ACROSS: &str = "core cores cpus cross process processes thread threads";

/// The least that each costs: words that name it, and why.
const FLOORS: [(f64, &[&str], &str); 3] = [
    (
        1000.0,
        &[BLOCKING, ROUND_TRIP],
        "two wake-ups take more than a microsecond: something else was timed (a send alone, messages in flight), or the unit is wrong",
    ),
    (
        100.0,
        &[KERNEL, WAITED],
        "two system calls take more than 100 ns: this is the inverse of a throughput, or the unit is wrong",
    ),
    (
        20.0,
        &[ACROSS, ROUND_TRIP],
        "a cache line does not go to another CPU and back in 20 ns: the two ends were one, or the loop was optimised away, or the unit is wrong",
    ),
];
/// Instructions that a CPU completes in a cycle at the most.
const PER_CYCLE_MAX: f64 = 8.0;

/// Costs below what a machine can do.
pub fn floor(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_cost = |column: &&Column| column.dimension() == Some(Dimension::Time);
    for column in sheet.having(Role::is_typical).filter(is_cost) {
        for row in sheet.rows() {
            let said = [&sheet.names[row], &column.head, &sheet.title].map(|text| words(text));
            let said = said.concat();
            let has = |list: &str| said.iter().any(|word| is_in(list, word));
            let Some(cost) = column.at(row).filter(|cost| cost.value > 0.0 && !has(AWAKE)) else {
                continue;
            };
            let below = |(ns, lists, _): &&(f64, &[&str], &str)| {
                cost.span.high < *ns && lists.iter().all(|list| has(list))
            };
            if let Some((ns, _, why)) = FLOORS.iter().rev().find(below) {
                found.push(Finding {
                    check: "floor",
                    cells: vec![Cited::cell(sheet, column, row)],
                    arithmetic: format!("{} ns < {ns} ns", shown(cost.value)),
                    explanation: why,
                });
            }
        }
    }
    let counter = |counter| sheet.only(|role| role == Role::Counter(counter));
    let Some((done, cycles)) = counter(Counter::Instructions).zip(counter(Counter::Cycles)) else {
        return found;
    };
    for row in sheet.rows() {
        if let (Some(a), Some(b)) = (done.at(row), cycles.at(row))
            && b.value > 0.0
            && a.value / b.value > PER_CYCLE_MAX
        {
            found.push(Finding {
                check: "floor",
                cells: [done, cycles].map(|column| Cited::cell(sheet, column, row)).into(),
                arithmetic: format!("{} instructions a cycle", shown(a.value / b.value)),
                explanation: "no CPU completes more than eight: the two were not counted over the same time",
            });
        }
    }
    found
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
}

/// Misses of other rows beside which none is not believed.
const MISSES_MIN: f64 = 1000.0;

/// Zeros that stand for what was not counted or was rounded away.
pub fn zero(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |column: &Column, rows: Vec<usize>, arithmetic: String, explanation| {
        if !rows.is_empty() {
            let cells = rows.iter().map(|row| Cited::cell(sheet, column, *row)).collect();
            found.push(Finding { check: "zero", cells, arithmetic, explanation });
        }
    };
    let zeros = |column: &Column| -> Vec<usize> {
        sheet.rows().filter(|row| column.at(*row).is_some_and(|n| n.value == 0.0)).collect()
    };
    for column in sheet.having(|role| matches!(role, Role::Counter(_))) {
        let refused = |cell: &Cell| cell.text.starts_with("<not ");
        let most = column.numbers.iter().flatten().map(|n| n.value).fold(0.0, f64::max);
        let counted = match column.is.role {
            Role::Counter(Counter::Cycles | Counter::Instructions) => true,
            Role::Counter(Counter::Misses) => most >= MISSES_MIN || most == 0.0,
            _ => false,
        };
        if counted || column.cells.iter().any(refused) {
            let text = format!("0 {} in a run that took time, others up to {most}", column.head);
            let why = "the counter was not available (a virtual machine, perf_event_paranoid) or not running: 0 is no measurement";
            say(column, zeros(column), text, why);
        }
    }
    let rate = sheet.only(|role| role == Role::Throughput);
    let cost = sheet.having(Role::is_typical).next();
    if let Some((rate, cost)) = rate.zip(cost) {
        let done = |row: &usize| cost.at(*row).is_some_and(|n| n.value > 0.0);
        let rows: Vec<usize> = zeros(rate).into_iter().filter(done).collect();
        let text = format!("0 beside {} > 0: the digits printed do not hold it", cost.head);
        say(rate, rows, text, "rounded away: print it in a smaller unit, and take no ratio of it");
    }
    found
}

/// Rows that make a column that does not vary.
const ALIKE_MIN: usize = 4;
/// Digits that do not agree by chance.
const DIGITS_MIN: usize = 3;
/// By how much another column must vary.
const VARIES: f64 = 1.5;

/// Columns that do not vary although others do. As many context switches as operations, though,
/// are what one expects.
pub fn constant(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let ratio = |column: &Column| {
        let values = column.numbers.iter().flatten().map(|number| number.value);
        let high = values.clone().fold(0.0, f64::max);
        let low = values.fold(f64::MAX, f64::min);
        if low > 0.0 { high / low } else { 1.0 }
    };
    let measured = |role: Role| match role {
        Role::Counter(counter) => counter != Counter::Switches,
        role => role.is_measured(),
    };
    let of = |column: &Column| {
        let numbers = || column.numbers.iter().flatten();
        let digits = numbers().map(|number| number.digits).min()?;
        let beside = |role| measured(role) || matches!(role, Role::Quantile(_) | Role::Max);
        let varies = sheet.having(beside).map(ratio).fold(1.0, f64::max);
        let found = numbers().count() >= ALIKE_MIN
            && digits >= DIGITS_MIN
            && numbers().all(|number| number.value > 0.0)
            && ratio(column) == 1.0
            && varies >= VARIES;
        found.then(|| Finding {
            check: "constant",
            cells: sheet.rows().map(|row| Cited::cell(sheet, column, row)).collect(),
            arithmetic: format!(
                "the same in {} rows, while another measured column varies by a factor of {}",
                numbers().count(),
                shown(varies)
            ),
            explanation: "a value was copied from row to row, or stands for the whole run",
        })
    };
    sheet.having(measured).filter_map(of).collect()
}

/// Context switches an operation above which the operation does not make them.
const SWITCHES_MAX: f64 = 20.0;

/// Context switches of each operation.
pub fn switches(sheet: &Sheet, _: &Prose) -> Vec<Finding> {
    let switches = sheet.only(|role| role == Role::Counter(Counter::Switches));
    let Some((switches, count)) = switches.zip(sheet.only(|role| role == Role::Count)) else {
        return Vec::new();
    };
    let each = |row: usize| Some((row, switches.at(row)?.value / count.at(row)?.value));
    let many =
        sheet.rows().filter_map(each).filter(|(_, each)| *each > SWITCHES_MAX && each.is_finite());
    let finding = |(row, each): (usize, f64)| Finding {
        check: "switches",
        cells: [switches, count].map(|column| Cited::cell(sheet, column, row)).into(),
        arithmetic: format!("{} context switches an operation", shown(each)),
        explanation: "an operation by two ends makes few: the counter is of other work too, or the number of operations is another",
    };
    many.map(finding).collect()
}
