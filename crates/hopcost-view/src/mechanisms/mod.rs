//! What is known of the mechanisms, of hopcost's own and of other runtimes' alike.

use hopcost_model::group::grouped;
use hopcost_model::{
    Description, Mechanism, Peers, PerOperation, RuntimeFacts, SCHEMA, Shape, WaitFacts, Workload,
};
use serde_json::{Value, json};

use crate::section::model::{
    Block, Cell, Document, Rows, Section, facts, notes, numbers, repeated, says, words,
};

/// Where no worker was found at all.
const NONE: &str = "Other runtimes: none was found; `hopcost worker install all` builds them (in a \
    copy of hopcost's source scripts/setup workers does, and installs what they need).";

/// What the number of every mechanism that carries messages contains.
const CONTAINS: &str = "A round trip also contains that each end writes its message and compares \
                        the other's. A message of a stream contains the receiver's comparing \
                        alone, a wake-up neither. By default (touch=verify) every byte is written \
                        and compared. A notifier with a payload is shared memory and the \
                        notification together. Every sample contains a reading of the clock; \
                        starting processes, connecting and the warm-up are outside.";

/// A mechanism of the binary, asked whether it can be used here, which may open and
/// close something in the kernel.
fn asked(facts: &Mechanism) -> Mechanism {
    Mechanism { unavailable: (facts.here.available)().err(), ..facts.clone() }
}

/// All mechanisms but the hidden ones, with whether each can be used here.
fn listed(mechanisms: &[Mechanism]) -> Vec<Mechanism> {
    mechanisms.iter().filter(|facts| !facts.hidden()).map(asked).collect()
}

/// Those by family, a line each, and what other runtimes have besides.
pub fn list(mechanisms: &[Mechanism], runtimes: &[RuntimeFacts]) -> Document {
    let shown = listed(mechanisms);
    let here: Vec<&RuntimeFacts> = runtimes.iter().filter(|facts| facts.state.is_ok()).collect();
    let mut below: Vec<String> = own_of(&shown, &here).into_iter().collect();
    let absent = runtimes.iter().filter(|facts| facts.state.is_err());
    let absent: Vec<String> = absent.map(|facts| facts.runtime.to_string()).collect();
    if !absent.is_empty() {
        below.push(format!("Absent: {}; `hopcost worker list` says why.", absent.join(", ")));
    }
    let available = shown.iter().filter(|mechanism| mechanism.unavailable.is_none()).count();
    below.push(format!(
        "{} mechanisms, {available} can be measured here. `hopcost show NAME` describes one.",
        shown.len()
    ));
    let mut head = vec![table(&shown)];
    head.extend(notes(below));
    head.extend(runtimes.is_empty().then(|| says(NONE)));
    Document { head, ..Document::default() }
}

/// The same for programs.
pub fn json(mechanisms: &[Mechanism], runtimes: &[RuntimeFacts]) -> String {
    let runtime = |of: &RuntimeFacts| match &of.state {
        Ok(described) => json!(described),
        Err(why) => json!({ "runtime": of.runtime.word(), "absent": why }),
    };
    let runtimes: Vec<Value> = runtimes.iter().map(runtime).collect();
    let shown = listed(mechanisms);
    let json = json!({ "schema": SCHEMA, "mechanisms": shown, "runtimes": runtimes });
    format!("{json:#}\n")
}

/// What a runtime has and Rust has not.
fn own<'a>(
    runtime: &'a RuntimeFacts,
    mechanisms: &'a [Mechanism],
) -> impl Iterator<Item = &'a Mechanism> {
    let all = runtime.state.iter().flat_map(|described| &described.mechanisms);
    all.filter(|row| !mechanisms.iter().any(|own| own.name == row.name))
}

/// One row per mechanism.
fn table(mechanisms: &[Mechanism]) -> Block {
    let groups = grouped(mechanisms, |mechanism| &mechanism.family);
    let rows: Vec<&Mechanism> = groups.into_iter().flat_map(|(_, members)| members).collect();
    Rows::of(&rows)
        .column(repeated("group"), |row| Cell::text(&row.family))
        .column(words("mechanism"), |row| Cell::code(&row.name))
        .column(words("what it is"), |row| match &row.unavailable {
            None => Cell::text(&row.words.about),
            Some(reason) => Cell::text(format!("not here: {reason}")),
        })
        .lines()
}

/// What runtimes have and Rust has not, in a sentence.
fn own_of(mechanisms: &[Mechanism], here: &[&RuntimeFacts]) -> Option<String> {
    let of = |facts: &&RuntimeFacts| {
        let named = |row: &Mechanism| match &row.unavailable {
            None => row.name.clone(),
            Some(_) => format!("{} (not here)", row.name),
        };
        let named: Vec<String> = own(facts, mechanisms).map(named).collect();
        (!named.is_empty()).then(|| format!("{}: {}", facts.runtime, named.join(", ")))
    };
    let all: Vec<String> = here.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("Runtimes' own: {}.", all.join("; ")))
}

/// What is known of one mechanism: of Rust's in full, or else of the first runtime's that has it, and of
/// what other runtimes have by this name in a line each. `None` if no runtime has it.
pub fn show(name: &str, facts: Option<&Mechanism>, runtimes: &[RuntimeFacts]) -> Option<Document> {
    let of = runtimes.iter();
    let rows = of.filter_map(|of| Some((of.runtime.to_string(), of.mechanism(name)?.clone())));
    let rows: Vec<(String, Mechanism)> = rows.collect();
    let own = facts.map(asked);
    let first = own.as_ref().or(rows.first().map(|(_, row)| row))?;
    let mut blocks = described(first);
    let carries = first.payload.is_some() && first.shape() != Shape::Call;
    blocks.extend((own.is_some() && carries).then(|| says(CONTAINS)));
    if !rows.is_empty() {
        let whose = if own.is_some() { "In other runtimes" } else { "Not in Rust, but in" };
        blocks.extend([Block::Heading(whose.to_owned()), facts_of(&rows)]);
    }
    Some(Document { sections: vec![titled(name, blocks)], ..Document::default() })
}

fn titled(name: &str, blocks: Vec<Block>) -> Section {
    Section { id: "mechanism".to_owned(), title: name.to_owned(), blocks }
}

/// What each runtime has, or why not here.
fn facts_of(rows: &[(String, Mechanism)]) -> Block {
    facts(rows.iter().map(|(runtime, row)| {
        let text = [row.words.about.clone(), unavailable(row)];
        let text = text.into_iter().filter(|text| !text.is_empty());
        (runtime.as_str(), Cell::text(text.collect::<Vec<_>>().join("; ")))
    }))
}

/// The reference page of all mechanisms but the hidden ones: a table, then a
/// section for each. It does not depend on the machine.
pub fn reference(mechanisms: &[Mechanism]) -> String {
    let mut shown = mechanisms.to_vec();
    shown.retain(|mechanism| !mechanism.hidden());
    let section = |mechanism: &Mechanism| titled(&mechanism.name, described(mechanism));
    let families = grouped(&shown, |mechanism| &mechanism.family);
    let sections = families.into_iter().flat_map(|(_, members)| members).map(section).collect();
    let head = vec![says(CONTAINS), table(&shown)];
    Document { head, sections, ..Document::default() }.markdown()
}

/// Workers of other runtimes: what each is made of, or why it is absent, and where it was found.
pub fn workers(found: &[(RuntimeFacts, String)]) -> Document {
    let table = Rows::of(found)
        .column(words("runtime"), |(facts, _)| Cell::text(facts.runtime.word()))
        .column(words("made of"), |(facts, _)| match &facts.state {
            Ok(described) => Cell::text(made_of(described)),
            Err(reason) => Cell::text(format!("absent: {reason}")),
        })
        .column(words("found in").fold(1), |(_, place)| Cell::text(place));
    let mut head = vec![table.table()];
    head.extend(found.is_empty().then(|| says(NONE)));
    Document { head, ..Document::default() }
}

/// What it is made of.
fn made_of(described: &Description) -> String {
    let parts = described.libraries.iter().map(|(name, version)| format!("{name} {version}"));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { format!("worker {}", described.version) } else { parts.join(", ") }
}

/// The paragraphs, facts and counts of a mechanism.
fn described(mechanism: &Mechanism) -> Vec<Block> {
    let kind = match (mechanism.shape().word(), mechanism.family.as_str()) {
        (shape, "") => shape.to_owned(),
        (shape, family) if family.starts_with(shape) => shape.to_owned(),
        (shape, family) => format!("{family}, {shape}"),
    };
    let here = unavailable(mechanism);
    let here = if here.is_empty() { here } else { format!("; {here}") };
    let mut blocks = vec![
        says(mechanism.words.about.clone()),
        says(format!("{kind}{here}.")),
        facts(known(mechanism)),
    ];
    let counted = mechanism.own.as_ref().map_or(&[][..], |own| &own.waits);
    if !counted.is_empty() {
        // The counts are of the first of these that the mechanism takes part in.
        let order = [Workload::Roundtrip, Workload::Stream, Workload::Wake];
        let found = order.into_iter().find(|workload| mechanism.workloads.contains(workload));
        let operation = found.unwrap_or(Workload::Call).spec().operation;
        blocks.push(says(format!(
            "In one {operation}, both ends together and both waiting this way:"
        )));
        blocks.push(counts(counted));
    }
    blocks
}

/// Its facts: name and text.
fn known(mechanism: &Mechanism) -> Vec<(&'static str, Cell)> {
    let own = mechanism.own.as_ref();
    let calls = own.and_then(|own| own.call_system_calls);
    let calls = calls.map(|calls| format!("{} in one call", count(calls)));
    let told = mechanism.system_calls.map(|calls| match calls.min == calls.max {
        true => format!("{} in one operation", calls.min),
        false => format!("{} to {} in one operation", calls.min, calls.max),
    });
    let peers = match (own, mechanism.peers, &mechanism.carrier) {
        (Some(_), ..) => String::new(),
        (_, Peers::Own, _) => "of this runtime too".to_owned(),
        (_, Peers::Any, None) => "may be of any runtime".to_owned(),
        (_, Peers::Any, Some(carrier)) => format!("may be of any runtime, and plays {carrier}"),
    };
    let mut known = vec![
        ("What crosses", Cell::text(&mechanism.words.crosses)),
        ("Who copies", Cell::text(&mechanism.words.copies)),
        ("Who wakes", Cell::text(&mechanism.words.wakes)),
        ("Between two stamps", Cell::text(&mechanism.words.between_stamps)),
        ("Limits", Cell::text(&mechanism.words.limits)),
        ("Workloads", Cell::text(joined(&mechanism.workloads, |workload| workload.word()))),
        ("Boundaries", Cell::text(joined(&mechanism.boundaries, |boundary| boundary.word()))),
        ("Payload", Cell::text(payload(mechanism))),
        ("Waits, usual first", Cell::text(joined(&mechanism.waits, |wait| wait.word()))),
        ("Axes of its own", Cell::text(mechanism.here.axes.join(", "))),
        ("System calls", Cell::text(calls.or(told).unwrap_or_default())),
        ("The other end", Cell::text(peers)),
    ];
    known.extend(mechanism.parameters.iter().map(|of| {
        let about = if of.about.is_empty() { "" } else { ": " };
        let (name, values) = (&of.name, of.values.join(", "));
        let text = format!("{name}{about}{}; one of {values}; {} by default", of.about, of.default);
        ("Parameter", Cell::text(text))
    }));
    known.extend(mechanism.words.sources.iter().map(|source| ("See", Cell::text(source))));
    known
}

/// The counts by wait.
fn counts(waits: &[WaitFacts]) -> Block {
    Rows::of(waits)
        .column(words("wait"), |facts| Cell::code(facts.wait.word()))
        .column(numbers("system calls"), |facts| Cell::text(count(facts.system_calls)))
        .column(numbers("switches, one CPU"), |facts| Cell::text(count(facts.switches_one_cpu)))
        .column(numbers("switches, two CPUs"), |facts| Cell::text(count(facts.switches_two_cpus)))
        .table()
}

fn count(count: PerOperation) -> String {
    match (count.least, count.most) {
        (least, _) if count.is_exact() => least.to_string(),
        (least, f64::INFINITY) => format!("{least} or more"),
        (least, most) => format!("{least} to {most}"),
    }
}

fn unavailable(mechanism: &Mechanism) -> String {
    let reason = mechanism.unavailable.as_ref();
    reason.map_or(String::new(), |reason| format!("not available here: {reason}"))
}

fn joined<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    all.iter().map(|&item| word(item)).collect::<Vec<_>>().join(", ")
}

fn payload(mechanism: &Mechanism) -> String {
    let Some(range) = mechanism.payload else { return "none".to_owned() };
    let most = hopcost_model::text::bytes(range.max);
    format!("{} to {most}, {} by default", range.min, range.default)
}
