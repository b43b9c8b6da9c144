//! What is known of the mechanisms, of hopcost's own and of other runtimes' alike.

mod brief;
mod inside;
mod json;

use hopcost_model::case::{Runtime, WaitKind, Workload};
use hopcost_model::describe::{Description, RuntimeFacts};
use hopcost_model::group::grouped;
use hopcost_model::mechanism::{Facts, Mechanism, Peers, PerOperation, Senders, Shape, WaitFacts};

use crate::section::model::{
    Block, Cell, Document, Rows, Section, facts, notes, numbers, repeated, says, words,
};
use crate::style::TextStyle;
use crate::{markdown, text};

/// How to show mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For the terminal.
    Text(TextStyle),
    Json,
    Markdown,
}

/// Where no worker was found at all.
const NONE: &str = "Other runtimes: none was found; `hopcost worker install all` builds them (in a \
    copy of hopcost's source scripts/setup workers does, and installs what they need).";

/// A mechanism of the binary, asked whether it can be used here, which may open and
/// close something in the kernel.
fn asked(facts: &Facts) -> Mechanism {
    Mechanism { unavailable: (facts.available)().err(), ..Mechanism::of(facts) }
}

/// All mechanisms but the hidden ones by family, in the order given, with
/// whether each can be used here, and below them what other runtimes have. On a terminal
/// in brief, a line each.
pub fn list(mechanisms: &[&Facts], runtimes: &[RuntimeFacts], format: Format) -> String {
    let shown = mechanisms.iter().filter(|facts| !facts.hidden);
    let shown: Vec<Mechanism> = shown.map(|facts| asked(facts)).collect();
    match format {
        Format::Json => return json::list(&shown, runtimes),
        Format::Text(style) => {
            let mut document = brief::list(&shown, runtimes, &style);
            document.head.extend(runtimes.is_empty().then(|| says(NONE)));
            return text::document(&document, &style);
        }
        Format::Markdown => {}
    }
    let here = shown.iter().filter(|mechanism| mechanism.unavailable.is_none()).count();
    let here = match here == shown.len() {
        true => "all available here.".to_owned(),
        false => format!("{here} available here, the others not for the reasons given."),
    };
    let head = vec![table(&shown), says(format!("{} mechanisms, {here}", shown.len()))];
    let others = Section {
        id: "runtimes".to_owned(),
        title: "Other runtimes".into(),
        blocks: others(&shown, runtimes),
    };
    markdown::document(&Document { head, sections: vec![others], ..Document::default() })
}

/// What is known of one mechanism: of Rust's, and of what other runtimes have by this name, on a
/// terminal in a line each unless one is asked for. `None` if nobody who is asked for has it.
pub fn show(
    name: &str,
    facts: Option<&Facts>,
    runtimes: &[RuntimeFacts],
    only: Option<&Runtime>,
    format: Format,
) -> Option<String> {
    let asked_for = |runtime: &Runtime| only.is_none_or(|only| only == runtime);
    let own = facts.filter(|_| asked_for(&Runtime::RUST)).map(asked);
    let found =
        |facts: &'_ RuntimeFacts| Some((facts.runtime.to_string(), facts.mechanism(name)?.clone()));
    let of = runtimes.iter().filter(|facts| asked_for(&facts.runtime));
    let rows: Vec<(String, Mechanism)> = of.filter_map(found).collect();
    if own.is_none() && rows.is_empty() {
        return None;
    }
    if format == Format::Json {
        return Some(json::show(own.as_ref(), &rows));
    }
    let mut blocks = Vec::new();
    match &own {
        Some(own) => {
            let brief = only.is_none() && matches!(format, Format::Text(_));
            blocks.extend(described(own, if brief { Depth::Brief } else { Depth::Full }));
            blocks.extend(inside::inside(own));
        }
        None if only.is_none() => blocks.push(says("Not in Rust.")),
        None => {}
    }
    match (&own, format) {
        (Some(_), Format::Text(_)) if !rows.is_empty() => {
            blocks.push(Block::Heading("In other runtimes".into()));
            blocks.push(facts_of(&rows));
            blocks.push(says(format!("One of them in full: hopcost show {name} --runtime NAME")));
        }
        _ => {
            for (runtime, mechanism) in &rows {
                blocks.push(Block::Heading(format!("In {runtime}")));
                blocks.extend(described(mechanism, Depth::Full));
            }
        }
    }
    let carried = carried(name, runtimes);
    if !carried.is_empty() && only.is_none() {
        blocks.push(says(format!("Goes over it: {}.", carried.join(", "))));
    }
    let sections = vec![Section { id: "mechanism".to_owned(), title: name.to_owned(), blocks }];
    Some(written(&Document { sections, ..Document::default() }, format))
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
pub fn reference(mechanisms: &[&Facts]) -> String {
    let shown = mechanisms.iter().filter(|facts| !facts.hidden);
    let shown: Vec<Mechanism> = shown.map(|facts| Mechanism::of(facts)).collect();
    let section = |mechanism: &Mechanism| Section {
        id: "mechanism".to_owned(),
        title: mechanism.name.clone(),
        blocks: described(mechanism, Depth::Full),
    };
    let sections = by_family(&shown).map(section).collect();
    let head = vec![says(inside::ALL), table(&shown)];
    markdown::document(&Document { head, sections, ..Document::default() })
}

fn written(document: &Document, format: Format) -> String {
    match format {
        Format::Text(style) => text::document(document, &style),
        _ => markdown::document(document),
    }
}

fn by_family(mechanisms: &[Mechanism]) -> impl Iterator<Item = &Mechanism> {
    let families = grouped(mechanisms, |mechanism| &mechanism.family);
    families.into_iter().flat_map(|(_, members)| members)
}

/// One row a mechanism.
fn table(mechanisms: &[Mechanism]) -> Block {
    let rows: Vec<&Mechanism> = by_family(mechanisms).collect();
    let calls = |mechanism: &Mechanism| {
        let own = mechanism.own.as_ref()?;
        own.call_system_calls.or(own.waits.first().map(|wait| wait.system_calls))
    };
    Rows::of(&rows)
        .column(repeated("family"), |row| Cell::text(&row.family))
        .column(words("mechanism"), |row| Cell::code(&row.name))
        .column(words("about"), |row| Cell::text(&row.words.about))
        .column(words("shape").fold(5), |row| Cell::text(row.shape().word()))
        .column(words("boundaries").fold(4), |row| Cell::text(boundaries(row)))
        .column(words("waits").fold(3), |row| Cell::text(waits(row)))
        .column(numbers("payload").fold(2), |row| Cell::text(payload(row)))
        .column(numbers("system calls").fold(1), |row| {
            Cell::text(calls(row).map_or(String::new(), count))
        })
        .column(words("here").fold(1), |row| Cell::text(unavailable(row)))
        .table()
}

/// What runtimes have, and what none of these is called.
fn others(mechanisms: &[Mechanism], runtimes: &[RuntimeFacts]) -> Vec<Block> {
    if runtimes.is_empty() {
        return vec![says(NONE)];
    }
    let is_shared = |row: &&Mechanism| mechanisms.iter().any(|own| own.name == row.name);
    let all = |facts: &'_ RuntimeFacts| facts.state.clone().map_or(Vec::new(), |d| d.mechanisms);
    let table = Rows::of(runtimes)
        .column(words("runtime"), |facts| Cell::text(facts.runtime.word()))
        .column(words("made of"), |facts| Cell::text(made_of_or_absent(facts)))
        .column(words("has of the above"), |facts| {
            let all = all(facts);
            let names: Vec<&str> =
                all.iter().filter(is_shared).map(|row| row.name.as_str()).collect();
            Cell::text(names.join(", "))
        });
    let besides = |facts: &RuntimeFacts| {
        let own = all(facts).into_iter().filter(|row| !is_shared(&row));
        own.map(|row| (facts.runtime.to_string(), row)).collect::<Vec<_>>()
    };
    let besides: Vec<(String, Mechanism)> = runtimes.iter().flat_map(besides).collect();
    let own = Rows::of(&besides)
        .column(repeated("runtime"), |(runtime, _)| Cell::text(runtime.clone()))
        .column(words("has besides"), |(_, row)| Cell::code(&row.name))
        .column(words("about"), |(_, row)| Cell::text(&row.words.about))
        .column(words("here").fold(1), |(_, row)| Cell::text(unavailable(row)));
    vec![table.table(), own.table()]
}

/// Workers of other runtimes: what each is made of, or why it is absent, and where it was found.
pub fn workers(found: &[(RuntimeFacts, String)], style: &TextStyle) -> String {
    let table = Rows::of(found)
        .column(words("runtime"), |(facts, _)| Cell::text(facts.runtime.word()))
        .column(words("made of"), |(facts, _)| Cell::text(made_of_or_absent(facts)))
        .column(words("found in").fold(1), |(_, place)| Cell::text(place));
    let mut head = vec![table.table()];
    if found.is_empty() {
        head.push(says(NONE));
    }
    text::document(&Document { head, ..Document::default() }, style)
}

fn made_of_or_absent(facts: &RuntimeFacts) -> String {
    match &facts.state {
        Ok(described) => made_of(described),
        Err(reason) => format!("absent: {reason}"),
    }
}

/// What goes over a mechanism in other runtimes, and is not called so: `tcp-asyncio
/// in python`.
fn carried(name: &str, runtimes: &[RuntimeFacts]) -> Vec<String> {
    let mut carried = Vec::new();
    for facts in runtimes {
        let all = facts.state.iter().flat_map(|described| &described.mechanisms);
        for row in all.filter(|row| row.carrier.as_deref() == Some(name) && row.name != name) {
            carried.push(format!("{} in {}", row.name, facts.runtime));
        }
    }
    carried
}

/// What it is made of: the language first, then libraries.
fn made_of(described: &Description) -> String {
    let part = |(name, version): (&String, &String)| match *name == described.runtime {
        // The version says itself what it is of (`GCC 12.2.0`).
        true if version.contains(char::is_alphabetic) => version.clone(),
        _ => format!("{name} {version}"),
    };
    let (language, others): (Vec<_>, Vec<_>) =
        described.libraries.iter().partition(|(name, _)| **name == described.runtime);
    let parts: Vec<String> = language.into_iter().chain(others).map(part).collect();
    if parts.is_empty() { format!("worker {}", described.version) } else { parts.join(", ") }
}

/// How much is said of a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// All but the reasons for the counts of waits that are not the default.
    Brief,
    Full,
}

/// What is said of a mechanism.
fn described(mechanism: &Mechanism, depth: Depth) -> Vec<Block> {
    let kind = match (mechanism.shape().word(), mechanism.family.as_str()) {
        (shape, "") => shape.to_owned(),
        (shape, family) if shape == family => family.to_owned(),
        (shape, family) => format!("{family}, {shape}"),
    };
    let here = unavailable(mechanism);
    let here = if here.is_empty() { here } else { format!("; {here}") };
    let mut blocks = vec![
        says(mechanism.words.about.clone()),
        says(format!("{kind}{here}.")),
        facts(known(mechanism)),
    ];
    let counted = mechanism.own.iter().flat_map(|own| &own.waits).collect::<Vec<_>>();
    if !counted.is_empty() {
        let operation = operation(mechanism);
        blocks.push(says(format!(
            "In one {operation}, both ends together and both waiting this way:"
        )));
        blocks.push(counts(&counted));
        let explained = if depth == Depth::Brief { &counted[..1] } else { &counted };
        blocks.extend(notes(reasons(explained)));
        if explained.len() < counted.len() {
            let name = &mechanism.name;
            blocks.extend(notes([format!("of the others: hopcost show {name} --runtime rust")]));
        }
    }
    blocks
}

/// Its facts: name and text.
fn known(mechanism: &Mechanism) -> Vec<(&'static str, Cell)> {
    let own = mechanism.own.as_ref();
    let calls = own.and_then(|own| own.call_system_calls).map(|calls| {
        let reason = calls.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("{} in one call{reason}", count(calls))
    });
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
    let waits = match waits(mechanism) {
        waits if waits.is_empty() => waits,
        waits => format!("{waits} ({})", default_wait(mechanism)),
    };
    // Of hopcost's own it is said once for all (`inside`).
    let touched = match mechanism.payload {
        Some(_) if own.is_none() && mechanism.shape() != Shape::Call => {
            "; every byte is written and compared"
        }
        _ => "",
    };
    let mut known = vec![
        ("What crosses", Cell::text(&mechanism.words.crosses)),
        ("Who copies", Cell::text(&mechanism.words.copies)),
        ("Who wakes", Cell::text(&mechanism.words.wakes)),
        ("Between two stamps", Cell::text(&mechanism.words.between_stamps)),
        ("Limits", Cell::text(&mechanism.words.limits)),
        ("Senders", Cell::text(senders(mechanism))),
        ("Workloads", Cell::text(joined(&mechanism.workloads, |workload| workload.word()))),
        ("Boundaries", Cell::text(boundaries(mechanism))),
        ("Payload", Cell::text(format!("{}{touched}", payload(mechanism)))),
        ("Waits", Cell::text(waits)),
        ("System calls", Cell::text(calls.or(told).unwrap_or_default())),
        ("The other end", Cell::text(peers)),
    ];
    for parameter in &mechanism.parameters {
        let about = if parameter.about.is_empty() { "" } else { ": " };
        let values = parameter.values.join(", ");
        known.push((
            "Parameter",
            Cell::text(format!(
                "{}{about}{}; one of {values}; {} by default",
                parameter.name, parameter.about, parameter.default
            )),
        ));
    }
    let sources: Vec<Cell> = mechanism.words.sources.iter().map(Cell::text).collect();
    known.push(("See", Cell::several(sources)));
    known
}

/// Which wait is the default: the first, unless the ends share a CPU and it spins there.
fn default_wait(mechanism: &Mechanism) -> String {
    let mut waits = mechanism.waits.iter();
    let spins = |wait: &&WaitKind| matches!(wait, WaitKind::Spin | WaitKind::SpinThenBlock);
    match (waits.clone().next().filter(spins), waits.find(|wait| !spins(wait))) {
        (Some(_), Some(other)) => {
            format!("the first is the default, but {other} where both ends share a CPU")
        }
        _ => "the first is the default".to_owned(),
    }
}

/// The counts by wait.
fn counts(waits: &[&WaitFacts]) -> Block {
    Rows::of(waits)
        .column(words("wait"), |facts| Cell::code(facts.wait.word()))
        .column(numbers("system calls"), |facts| Cell::text(count(facts.system_calls)))
        .column(numbers("switches, one CPU"), |facts| Cell::text(count(facts.switches_one_cpu)))
        .column(numbers("switches, two CPUs"), |facts| Cell::text(count(facts.switches_two_cpus)))
        .table()
}

/// Why counts are ranges: which, for which waits, and the reason; each reason once.
fn reasons(waits: &[&WaitFacts]) -> Vec<String> {
    let places = waits.iter().flat_map(|facts| {
        let counts = [
            ("system calls", facts.system_calls),
            ("switches on one CPU", facts.switches_one_cpu),
            ("switches on two CPUs", facts.switches_two_cpus),
        ];
        let wait = facts.wait.word();
        counts.into_iter().filter_map(move |(what, count)| Some((count.reason()?, what, wait)))
    });
    let by_reason = grouped(places, |(reason, ..)| *reason);
    let sentence = |(reason, places): (&str, Vec<(&str, &str, &str)>)| {
        let of = |(what, places): (&str, Vec<(&str, &str, &str)>)| {
            let waits: Vec<&str> = places.into_iter().map(|(.., wait)| wait).collect();
            format!("{what} of {}", waits.join(", "))
        };
        let places: Vec<String> =
            grouped(places, |(_, what, _)| *what).into_iter().map(of).collect();
        format!("{}: {reason}", places.join("; "))
    };
    by_reason.into_iter().map(sentence).collect()
}

fn count(count: PerOperation) -> String {
    match count {
        PerOperation::Exactly(n) => n.to_string(),
        PerOperation::Between(low, high, _) if high.is_infinite() => format!("{low} or more"),
        PerOperation::Between(low, high, _) => format!("{low} to {high}"),
    }
}

/// What one operation is called.
fn operation(mechanism: &Mechanism) -> &'static str {
    // The counts are of the first of these that the mechanism takes part in.
    let order = [Workload::Roundtrip, Workload::Stream, Workload::Wake];
    let found = order.into_iter().find(|workload| mechanism.workloads.contains(workload));
    found.unwrap_or(Workload::Call).spec().operation
}

fn unavailable(mechanism: &Mechanism) -> String {
    let reason = mechanism.unavailable.as_ref();
    reason.map_or(String::new(), |reason| format!("not available here: {reason}"))
}

fn joined<T: Copy>(all: &[T], word: impl Fn(T) -> &'static str) -> String {
    all.iter().map(|&item| word(item)).collect::<Vec<_>>().join(", ")
}

/// Whether several ends may send over one link; nothing of what takes no loads.
fn senders(mechanism: &Mechanism) -> String {
    if mechanism.own.is_none() || !mechanism.workloads.contains(&Workload::Load) {
        return String::new();
    }
    match mechanism.here.senders {
        Senders::One(why) => format!("one: {why}"),
        Senders::Several { share, whole_bytes } => {
            format!("several may share {share}, for messages of 8 to {whole_bytes} bytes")
        }
    }
}

fn boundaries(mechanism: &Mechanism) -> String {
    joined(&mechanism.boundaries, |boundary| boundary.word())
}

/// The waits, the default first.
fn waits(mechanism: &Mechanism) -> String {
    joined(&mechanism.waits, |wait| wait.word())
}

fn payload(mechanism: &Mechanism) -> String {
    let Some(range) = mechanism.payload else { return "none".to_owned() };
    let most = match hopcost_model::units::format_size(u64::from(range.max)) {
        text if text.ends_with('B') => text,
        text => format!("{text} bytes"),
    };
    format!("{} to {most}, {} by default", range.min, range.default)
}
