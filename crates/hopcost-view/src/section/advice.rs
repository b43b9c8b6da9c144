//! Which mechanism to use: the recommendation, what else there is and what that costs, and why the
//! rest is no answer.

use hopcost_model::advise::{AdviceRequest, Objective};
use hopcost_model::case::Placement;
use hopcost_model::group::grouped;
use hopcost_model::results::{
    Advice, Answer, Basis, Estimate, Excluded, RankedCandidate, Results, Standing,
};
use hopcost_model::text::count;

use super::answer::between;
use super::model::{
    Block, Cell, Document, Form, Medium, Rows, Scale, Section, Tone, Unit, estimates, note, notes,
    numbers, paste, says, words,
};
use crate::number;

/// How much a medium has room for.
struct Room {
    ranked: usize,
    sentences: usize,
    excluded: usize,
    /// Whether columns that do not fit go below their row, or away.
    form: Form,
}

const SCREEN: Room = Room { ranked: 5, sentences: 2, excluded: 4, form: Form::Brief };
/// Names in a line of what is ruled out.
const NAMED_MAX: usize = 4;
const MOST: usize = usize::MAX;
const WHOLE: Room = Room { ranked: MOST, sentences: MOST, excluded: MOST, form: Form::Columns };

pub(crate) fn screen(advice: &Advice) -> Document {
    document(advice, &SCREEN)
}

pub(crate) fn whole(advice: &Advice) -> Document {
    document(advice, &WHOLE)
}

/// The advice, where other sections follow.
pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let advice = results.advice.as_ref()?;
    Section::of(
        "advice",
        [says(advice.says.clone() + ".")].into_iter().chain(blocks(advice, &WHOLE)),
    )
}

fn document(advice: &Advice, room: &Room) -> Document {
    let title = format!("{}.", advice.says.trim_end_matches('.'));
    Document { title, head: blocks(advice, room), ..Document::default() }
}

fn blocks(advice: &Advice, room: &Room) -> Vec<Block> {
    let mut blocks = vec![note(setting(advice))];
    let ranked = advice.ranked.get(..room.ranked).unwrap_or(&advice.ranked);
    if advice.ranked.len() > 1 {
        blocks.push(table(ranked, advice, room.form));
        let is_doubted = ranked.iter().any(|of| !of.doubts.is_empty());
        blocks.extend(is_doubted.then(|| note("(!: numbers that may mislead)".to_owned())));
        let left = advice.ranked.len() - ranked.len();
        blocks.extend((left > 0).then(|| note(format!("{left} more rank below these."))));
    }
    blocks.extend(notes(advice.remarks.iter().cloned()));
    let others = advice.ranked.iter().filter(|of| of.standing != Standing::First);
    let others = others.take(room.sentences).map(|of| format!("{}: {}.", of.name, of.says));
    blocks.extend(listed("", others.collect(), 0));
    blocks.extend(excluded("Ruled out", &advice.ruled_out, room));
    blocks.extend(excluded("Not known", &advice.undecided, room));
    let names = ["Measure again", "The first alone"];
    blocks.extend(names.into_iter().zip(&advice.commands).map(|(name, line)| paste(name, line)));
    blocks
}

/// What was asked, and what the answer rests on.
fn setting(advice: &Advice) -> String {
    let request = &advice.request;
    let ends = match request.runtimes.as_str() {
        "rust" => String::new(),
        runtimes => format!(" in {runtimes}"),
    };
    let place = request.placement.map_or(String::new(), |place| match place {
        Placement::SameCpu => ", on one CPU".to_owned(),
        Placement::Free => ", not pinned".to_owned(),
        two => format!(", on two CPUs ({two})"),
    });
    let basis = match advice.basis {
        Basis::ClosedLoop => "round trips, one at a time".to_owned(),
        Basis::OpenLoop => request.rate_words().unwrap_or_default(),
        Basis::Saturation => "messages as fast as they are carried".to_owned(),
    };
    let candidates = advice.ranked.len();
    format!(
        "Messages of {} between {}{ends}{place}: {basis}. By {}; {}. Run {}.",
        number::bytes(request.payload_bytes),
        between(request.boundary),
        by(request),
        match (candidates, advice.answer) {
            (0, _) => "nothing is ranked".to_owned(),
            (1, Answer::Recommended) => "1 candidate meets the request".to_owned(),
            (n, Answer::Recommended) => format!("{n} candidates meet the request"),
            (n, _) => format!("{} ranked", count(n, "candidate")),
        },
        advice.run,
    )
}

fn by(request: &AdviceRequest) -> &'static str {
    match request.objective {
        Objective::Cpu => "CPU time",
        objective => objective.word(),
    }
}

fn table(ranked: &[RankedCandidate], advice: &Advice, form: Form) -> Block {
    let request = &advice.request;
    let (scale, power) = match request.objective {
        Objective::P50 | Objective::P99 => (Scale::Time, Scale::Difference),
        Objective::Cpu if request.rate.is_none() => (Scale::Time, Scale::Difference),
        Objective::Cpu => (Scale::Named("CPU".to_owned()), Scale::Named("CPU".to_owned())),
        Objective::Throughput => (Scale::Named("/s".to_owned()), Scale::Named("/s".to_owned())),
    };
    let regret = |of: &RankedCandidate| {
        let found = of.regret?;
        let worse = Estimate::exact(found.point, of.objective.n_trials, String::new());
        Some(Estimate { low: found.low, high: found.high, ..worse })
    };
    let is_p99 = request.objective == Objective::P99;
    let rows = Rows::of(ranked)
        .column(words("mechanism"), |of| {
            Cell::text(if of.doubts.is_empty() {
                of.name.clone()
            } else {
                format!("! {}", of.name)
            })
        })
        .column(numbers(by(request)), |of| Cell::brief(Some(&of.objective), scale.clone(), ""))
        .column_if(!is_p99, numbers("p99").fold(2), |of| {
            Cell::brief(of.p99.as_ref(), Scale::Time, "")
        })
        .column(numbers("CPU").fold(1), |of| Cell::maybe(of.cpus, Unit::Plain(2)))
        .column(numbers("CPU time a message").fold(3), |of| {
            Cell::maybe(of.cpu_ns_per_message, Unit::Time(3))
        })
        .column(estimates("worse by").fold(1), |of| {
            Cell::estimate(regret(of).as_ref(), power.clone())
        });
    match form {
        Form::Brief => rows.brief(),
        _ => rows.table(),
    }
}

fn excluded(what: &str, all: &[Excluded], room: &Room) -> Vec<Block> {
    if room.form != Form::Brief {
        let line = |of: &Excluded| format!("{}: {}", of.name, of.reason.trim_end_matches('.'));
        return listed(what, all.iter().map(line).collect(), 0);
    }
    let line = |(kind, of): (&String, Vec<&Excluded>)| {
        let names: Vec<&str> = of.iter().take(NAMED_MAX).map(|of| of.name.as_str()).collect();
        let more = match of.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{kind}: {}{more}", names.join("; "))
    };
    let kinds = grouped(all.iter(), |of| &of.kind);
    let more = kinds.len().saturating_sub(room.excluded);
    let shown = kinds.into_iter().take(room.excluded).map(line).collect();
    listed(&format!("{what} (each with its numbers: --details)"), shown, more)
}

/// Sentences under a word, and how many more there are.
fn listed(what: &str, mut lines: Vec<String>, more: usize) -> Vec<Block> {
    if lines.is_empty() {
        return Vec::new();
    }
    if more > 0 {
        lines.push(format!("and {}", count(more, "other reason")));
    }
    let head = (!what.is_empty()).then(|| Block::Text(Tone::Plain, format!("{what}:")));
    head.into_iter().chain([Block::List(lines)]).collect()
}
