//! A recommendation in every format but JSON.

use hopcost_model::results::Advice;

use crate::section::advice::{screen, whole};
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What fits one screen.
    Screen,
    Whole,
}

pub fn text(advice: &Advice, extent: Extent, style: &TextStyle) -> String {
    let document = match extent {
        Extent::Screen => screen(advice),
        Extent::Whole => whole(advice),
    };
    terminal::document(&document, style)
}

pub fn markdown(advice: &Advice) -> String {
    markdown::document(&whole(advice))
}

/// As one HTML file.
pub fn html(advice: &Advice) -> String {
    let document = whole(advice);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

#[cfg(test)]
mod tests {
    use hopcost_model::advise::{AdviceRequest, Objective, Permission};
    use hopcost_model::case::{Boundary, Placement};
    use hopcost_model::results::{
        Advice, Answer, Basis, Estimate, Excluded, RankedCandidate, Regret, Standing,
    };

    use super::*;

    fn ranked(name: &str, ns: f64, standing: Standing) -> RankedCandidate {
        let exact = Estimate::exact(ns, 9, String::new());
        let objective = Estimate { low: Some(0.98 * ns), high: Some(1.02 * ns), ..exact };
        let worse = ns - 12_000.0;
        let regret = Regret { point: worse, low: Some(worse - 300.0), high: Some(worse + 300.0) };
        RankedCandidate {
            case: format!("load/{name}?payload=4096"),
            name: name.to_owned(),
            objective,
            p99: None,
            cpu_ns_per_message: Some(5_000.0),
            cpus: Some(0.1),
            standing,
            ratio: None,
            regret: (standing != Standing::First).then_some(regret),
            says: format!("what {name} costs"),
            needs: Vec::new(),
            doubts: Vec::new(),
        }
    }

    fn advice(candidates: u32, excluded: u32) -> Advice {
        let request = AdviceRequest {
            payload_bytes: 4096,
            rate: Some(20_000),
            senders: 1,
            p99_ns: Some(50_000),
            boundary: Boundary::Process,
            placement: Some(Placement::SameLlc),
            runtimes: "rust".to_owned(),
            spinning: Permission::Allowed,
            loss: Permission::RuledOut,
            cpu_budget: None,
            objective: Objective::P99,
        };
        let others = (1..candidates).map(|at| {
            ranked(&format!("other-{at}"), 12_000.0 + 1_000.0 * f64::from(at), Standing::Worse)
        });
        let out = |at| Excluded {
            name: format!("out-{at}"),
            cases: Vec::new(),
            kind: "messages may be lost".to_owned(),
            reason: format!("messages may be lost (out-{at})"),
        };
        Advice {
            schema: "hopcost/1".to_owned(),
            request,
            run: "test".to_owned(),
            answer: Answer::Recommended,
            says: "Use pipe: p99 of a response 12.0 µs [11.8, 12.2]".to_owned(),
            basis: Basis::OpenLoop,
            remarks: vec!["A remark.".to_owned()],
            ranked: [ranked("pipe", 12_000.0, Standing::First)].into_iter().chain(others).collect(),
            ruled_out: (0..excluded).map(out).collect(),
            undecided: Vec::new(),
            commands: vec!["hopcost advise".to_owned(), "hopcost run pipe".to_owned()],
        }
    }

    #[test]
    fn the_first_line_is_the_recommendation_and_all_of_it_fits_a_screen() {
        let screen = text(&advice(20, 30), Extent::Screen, &TextStyle::plain(80));
        assert!(screen.starts_with("Use pipe: p99 of a response 12.0"), "{screen}");
        assert!(screen.lines().count() <= 24, "{screen}");
        for said in [
            "Messages of 4 KiB between processes, on two CPUs (same-llc)",
            "20k messages a second. By p99",
            "other-1",
            "15 more rank below",
            "what other-1 costs",
            "Ruled out (each with its numbers: --details):",
            "messages may be lost: out-0; out-1; out-2; out-3 and 26 more",
            "Measure again: hopcost advise",
        ] {
            assert!(
                screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(said),
                "{said}: {screen}"
            );
        }
        assert!(!screen.contains("other-9"), "{screen}");
    }

    #[test]
    fn a_document_has_every_candidate() {
        let all = advice(20, 30);
        let details = text(&all, Extent::Whole, &TextStyle::plain(80));
        for document in [markdown(&all), html(&all), details] {
            assert!(document.contains("other-19") && document.contains("(out-29)"), "{document}");
            assert!(!document.contains("more rank below"));
        }
    }
}
