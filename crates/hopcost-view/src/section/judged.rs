//! Which claims hold: a line a claim, its verdict first, those that do not hold before those that do.

use hopcost_model::results::{Judged, JudgedClaim, Results, Ruling};
use hopcost_model::text::count;

use super::model::{Block, Cell, Medium, Rows, Section, says, words};

/// The verdicts, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    Section::of("judged", blocks(results.judged.as_ref()?))
}

/// How many claims there are of each verdict, and each with its reason.
pub(super) fn blocks(judged: &Judged) -> Vec<Block> {
    let mut claims: Vec<&JudgedClaim> = judged.claims.iter().collect();
    claims.sort_by_key(|claim| std::cmp::Reverse(claim.verdict));
    let table = Rows::of(&claims)
        .column(words("verdict"), |claim| Cell::text(word(claim.verdict)))
        .column(words("claim"), |claim| Cell::code(claim.id.clone()))
        .column(words("sentence"), |claim| Cell::text(claim.sentence.clone()))
        .column(words("why").fold(1), |claim| Cell::text(claim.because.clone()))
        .table();
    let answers = judged.questions.iter().flat_map(|question| {
        [
            Block::Heading(format!("{} {}", question.id, question.asks)),
            says(question.answer.clone()),
        ]
    });
    let summary = says(summary(judged));
    [summary].into_iter().chain(answers).chain([table]).collect()
}

fn word(verdict: Option<Ruling>) -> &'static str {
    verdict.map_or("not checkable", |verdict| match verdict {
        Ruling::CannotTell => "cannot tell",
        other => other.word(),
    })
}

/// `61 claims: 20 hold, 9 fail, 7 depend, 20 cannot be told, 5 are not checkable.`
fn summary(judged: &Judged) -> String {
    let of = |verdict| judged.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let verb = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{}: {}, {}, {}, {} cannot be told, {} not checkable.",
        count(judged.claims.len(), "claim"),
        verb(of(Some(Ruling::Holds)), "holds", "hold"),
        verb(of(Some(Ruling::Fails)), "fails", "fail"),
        verb(of(Some(Ruling::Depends)), "depends", "depend"),
        of(Some(Ruling::CannotTell)),
        verb(of(None), "is", "are"),
    )
}
