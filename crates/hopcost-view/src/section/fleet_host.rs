//! A host of a fleet on a page of its own.

use hopcost_model::results::{FleetHost, FleetReport, HostValue, Off};
use hopcost_model::text::count;

use super::comparison::beside;
use super::fleet::{common_of, measured, off};
use super::model::{
    Block, Cell, Document, Rows, Section, Tone, Unit, Value, estimates, facts, numbers, says,
    verdicts, words,
};
use crate::number;

/// The page of one host.
pub(crate) fn document(found: &FleetReport, host: &FleetHost) -> Document {
    let mut head = vec![says(match host.values.iter().filter(|of| of.off.is_some()).count() {
        0 if host.values.is_empty() => "Nothing of this host was measured.".to_owned(),
        0 => "This host lies off the others in no case.".to_owned(),
        n => format!("This host lies off the others in {}.", count(n, "case")),
    })];
    if let Some(reason) = &host.reason {
        head.push(Block::Text(Tone::Alert, format!("{}: {reason}", host.state)));
    }
    head.push(facts([
        ("fleet", Cell::code(&found.about.id)),
        ("run file", Cell::code(host.file.as_deref().unwrap_or(""))),
    ]));
    let case = |of: &HostValue| found.cases.get(of.case as usize);
    let common = common_of(found);
    let table = Rows::of(&host.values)
        .column(words("of"), |of| {
            Cell::code(case(of).map_or(String::new(), |case| beside(&case.case, &common)))
        })
        .column(estimates("value"), |of| {
            measured(of.value, of.low.zip(of.high), 1, case(of).map_or("", |case| &case.unit))
        })
        .column(numbers("off the median"), |of| off(of.ratio))
        .column(numbers("distance"), |of| Cell::maybe(of.score, Unit::Plain(3)))
        .column(words("is"), |of| Cell::text(of.off.map_or("", Off::word)))
        .column(verdicts(), |of| Cell::validity(of.validity));
    let without = Rows::of(&host.missing)
        .column(words("without a value"), |of| Cell::code(beside(&of.case, &common)))
        .column(words("why"), |of| Cell::text(&of.reason));
    let text = |text: &Option<String>| Cell::text(text.as_deref().unwrap_or(""));
    let clock =
        host.clock_off_s.map(|off| format!("{} s behind the driver's", number::plain(off, 3)));
    let mut known = vec![
        ("state".to_owned(), Cell::text(&host.state)),
        ("processor".to_owned(), text(&host.cpu)),
        ("kernel".to_owned(), text(&host.kernel)),
        ("hypervisor".to_owned(), text(&host.hypervisor)),
        ("clock".to_owned(), text(&clock)),
    ];
    known
        .extend(host.labels.iter().map(|(key, value)| (format!("label {key}"), Cell::text(value))));
    known.retain(|(_, cell)| !cell.is_empty());
    let back = Value::Link("all hosts".to_owned(), "../index.html".to_owned());
    known.push(("the fleet".to_owned(), back.into()));
    let sections = [
        Section::of("fleet-values", [table.table(), without.table()]),
        Section::of("fleet-facts", [Block::Facts(known)]),
    ];
    let sections = sections.into_iter().flatten().collect();
    Document {
        title: format!("hopcost · host {}", host.name),
        head,
        sections,
        ..Document::default()
    }
}
