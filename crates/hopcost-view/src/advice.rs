//! Which mechanism to use.

use hopcost_model::Placement;
use hopcost_read::advice::{Advice, Candidate, Fit};
use hopcost_read::results::Estimate;

use crate::answer::{Answer, Content};
use crate::number;
use crate::section::model::{
    Cell, Document, Interval, Rows, Scale, Unit, note, numbers, paste, words,
};
use crate::section::{Headline, Medium, between};

/// Rows that a screen has room for: of what may be used, and of what may not.
const LEFT_MAX: usize = 10;
const OUT_MAX: usize = 8;

impl Content for Advice {
    fn name(&self) -> String {
        "advice".to_owned()
    }

    fn answer(&self) -> Answer {
        Answer::of_advice(self)
    }

    fn document(&self, _: Medium, whole: bool) -> Document {
        document(self, whole)
    }
}

/// The candidates; of many some, unless `whole`.
fn document(advice: &Advice, whole: bool) -> Document {
    let (left, out): (Vec<&Candidate>, Vec<&Candidate>) =
        advice.candidates.iter().partition(|of| of.fit != Fit::Outside);
    let most = |most: usize| if whole { usize::MAX } else { most };
    let shown = left.iter().take(most(LEFT_MAX)).chain(out.iter().take(most(OUT_MAX)));
    let shown: Vec<&Candidate> = shown.copied().collect();
    // Candidates are compared by what was measured.
    let measured =
        |of: &Option<Estimate>| Cell::measured(of.as_ref(), Scale::Time, Interval::Fitting).raw();
    let table = Rows::of(&shown)
        .column(words("mechanism"), |of| Cell::text(of.name.as_str()))
        .column(words(""), |of| Cell::text(if of.overlaps { "=" } else { "" }))
        .column(numbers("p50"), |of| measured(&of.p50))
        .column(numbers("p99").fold(1), |of| measured(&of.p99))
        .column(numbers("CPU/msg").fold(2), |of| Cell::maybe(of.cpu_ns_per_message, Unit::Time(2)))
        .column(words("why not"), |of| Cell::text(of.reason.clone().unwrap_or_default()));
    let table = if whole { table.table() } else { table.lines() };
    let more = advice.candidates.len() - shown.len();
    let is_level = shown.iter().any(|of| of.overlaps);
    let notes = [
        is_level.then(|| "= its interval overlaps that of the first (95 %).".to_owned()),
        (more > 0).then(|| format!("{more} more with --details.")),
    ];
    let mut says = advice.says.iter().cloned();
    let title = says.next().unwrap_or_default();
    let below = notes.into_iter().flatten().chain(advice.notes.iter().cloned()).map(note);
    let last = paste(format!("Run {}, measured by", advice.run), advice.command.as_str());
    let blocks = [note(setting(advice)), table].into_iter().chain(below).chain([last]);
    Headline { title, says: says.collect(), ..Headline::default() }
        .document(blocks.collect(), Vec::new())
}

/// What was asked.
fn setting(advice: &Advice) -> String {
    let request = &advice.request;
    let runtimes = match request.runtimes.as_str() {
        "rust" => String::new(),
        runtimes => format!(" in {runtimes}"),
    };
    let place = match request.placement {
        Some(Placement::SameCpu) => ", one CPU".to_owned(),
        Some(place) if place.is_two_cpu() => format!(", two CPUs ({place})"),
        place => place.map_or(String::new(), |place| format!(", {place}")),
    };
    format!(
        "Messages of {} between {}{runtimes}{place}: {}.",
        number::bytes(request.payload_bytes),
        between(request.boundary),
        request.what(),
    )
}

#[cfg(test)]
mod tests {
    use hopcost_model::Boundary;
    use hopcost_read::results::AdviceRequest;

    use super::*;
    use crate::style::TextStyle;

    fn candidate(name: String, fit: Fit) -> Candidate {
        let exact = Estimate::exact(12_000.0, 9);
        let out = fit == Fit::Outside;
        Candidate {
            case: format!("roundtrip/{name}?payload=4096"),
            fit,
            p50: (!out).then_some(Estimate { low: Some(11_800.0), high: Some(12_200.0), ..exact }),
            p99: None,
            cpu_ns_per_message: Some(5_000.0),
            overlaps: name == "left-1",
            reason: out.then(|| format!("may lose messages ({name})")),
            name,
        }
    }

    #[test]
    fn the_first_line_is_the_recommendation_and_a_screen_has_the_rest() {
        let left = (0..20).map(|at| candidate(format!("left-{at}"), Fit::Inside));
        let out = (0..30).map(|at| candidate(format!("out-{at}"), Fit::Outside));
        let advice = Advice {
            request: AdviceRequest {
                payload_bytes: 4096,
                rate: Some(20_000.into()),
                boundary: Boundary::Process,
                placement: Some(Placement::SameCpu),
                runtimes: "rust".to_owned(),
                ..AdviceRequest::default()
            },
            says: vec!["Use pipe: p99 of a response 12.0 µs.".to_owned()],
            candidates: left.chain(out).collect(),
            command: "hopcost run pipe".to_owned(),
            ..Advice::default()
        };
        let style = TextStyle::plain(80);
        let screen = document(&advice, false).text(&style);
        assert!(screen.starts_with("Use pipe: p99 of a response 12.0 µs.\n"), "{screen}");
        assert!(screen.lines().count() <= 25, "{screen}");
        for said in [
            "Messages of 4 KiB between processes, one CPU: 20k messages per second.",
            "left-1 ",
            "= its interval",
            "may lose messages (out-7)",
            "32 more with --details",
        ] {
            assert!(screen.contains(said), "{said}: {screen}");
        }
        let whole = document(&advice, true).html();
        assert!(whole.contains("left-19") && whole.contains("(out-29)"), "{whole}");
    }
}
