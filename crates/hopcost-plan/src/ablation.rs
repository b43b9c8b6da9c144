//! What takes a round trip apart where the kernel's events are not recorded: cases that do a part of its
//! work stand beside it in every round, and the parts are differences between them.
//!
//! A pipe is what the parts are known of: its calls can be made in one thread, where nobody sleeps. What
//! another mechanism takes more than a pipe at its place is one part.

use hopcost_model::case::{Boundary, Case, Placement, Sched, Workload};
use hopcost_model::plan::{
    AblationBounds, AblationOf, AblationPart, AblationPlan, AblationTerm, ExplanationPlan, Plan,
    PlannedCase, Question,
};

use crate::error::{Origin, PlanError};

/// What a pipe takes without a reader; more cannot be written and read in one thread.
const PIPE_MAX: u32 = 65_536;

/// The cases of a plan, each once.
struct Cases<'a> {
    cases: Vec<Case>,
    /// The one case that a selector selects.
    select: &'a dyn Fn(&str) -> Result<Case, PlanError>,
}

impl Cases<'_> {
    /// The place of a case, which is added where it is not there.
    fn place(&mut self, case: Case) -> u32 {
        let known = self.cases.iter().position(|one| *one == case);
        let at = known.unwrap_or_else(|| {
            self.cases.push(case);
            self.cases.len() - 1
        });
        at as u32
    }

    fn selected(&mut self, selector: &str) -> Result<u32, PlanError> {
        let case = (self.select)(selector)?;
        Ok(self.place(case))
    }
}

/// The plan with the cases that take its own ones apart; `select` finds the one case of a selector.
///
/// # Errors
/// A case that cannot be taken apart, and a part that cannot be measured here.
pub fn ablation(
    whole: Plan,
    tail: Option<f64>,
    asked: AblationPlan,
    select: &dyn Fn(&str) -> Result<Case, PlanError>,
) -> Result<Plan, PlanError> {
    let own: Vec<Case> = whole.live_cases().cloned().collect();
    let mut cases = Cases { cases: own.clone(), select };
    let of = (0..).zip(&own).map(|(place, case)| apart(place, case, &mut cases));
    let of = of.collect::<Result<Vec<AblationOf>, PlanError>>()?;
    let known = |case| PlannedCase { case: Ok(case), skip: None };
    let ablation = Some(AblationPlan { cases: of, ..asked });
    let mut plan = Plan { cases: cases.cases.into_iter().map(known).collect(), ..whole };
    plan.trial.traced_operations = None;
    plan.question = Some(Question::Explanation(ExplanationPlan { tail, ablation }));
    Ok(plan)
}

/// A sum of terms: how many times which case.
type Sum<'a> = &'a [(i32, u32)];

fn sum(terms: Sum) -> Vec<AblationTerm> {
    terms.iter().map(|(times, case)| AblationTerm { times: *times, case: *case }).collect()
}

fn part(what: &str, terms: Sum) -> AblationPart {
    AblationPart { what: what.to_owned(), sum: sum(terms) }
}

/// The parts of a case.
fn apart(own: u32, case: &Case, cases: &mut Cases) -> Result<AblationOf, PlanError> {
    let refuse = |why: &str| Err(Origin::selector(&case.id()).error(why));
    if case.workload != Workload::Roundtrip {
        return refuse("only round trips are taken apart by other cases (--ablation)");
    }
    let payload = case.payload_bytes.unwrap_or(0).max(1);
    if payload > PIPE_MAX {
        return refuse("in one thread a pipe takes 64 KiB: want a payload up to that");
    }
    let boundary = match case.boundary {
        Boundary::Thread => Boundary::Thread,
        _ => Boundary::Process,
    };
    let sched = match case.sched {
        Sched::Other => String::new(),
        sched => format!("&sched={sched}"),
    };
    let ends = |place: Placement| format!("boundary={boundary}&place={place}{sched}");
    let of_pipe =
        |place: Placement| format!("roundtrip/pipe?payload={payload}&wait=block&{}", ends(place));
    let place = case.placement.unwrap_or(Placement::SameCpu);
    let pipe = cases.selected(&of_pipe(place))?;
    let one_cpu = cases.selected(&of_pipe(Placement::SameCpu))?;
    let inline = cases.selected(&format!("call/pipe-inline?payload={payload}"))?;
    let byte = cases.selected("call/pipe-inline?payload=1")?;
    let call = cases.selected("call/syscall")?;
    let yields = format!("roundtrip/flag?payload=0&wait=yield&{}", ends(Placement::SameCpu));
    let switch = cases.selected(&yields)?;
    let yielded = cases.selected("call/sched-yield")?;

    let mut parts = vec![
        part("entering and leaving 4 system calls", &[(4, call)]),
        part("write and read of a byte, nobody asleep", &[(2, byte), (-4, call)]),
    ];
    if inline != byte {
        let what = format!("the other {} bytes: made, copied, compared", payload - 1);
        parts.push(part(&what, &[(2, inline), (-2, byte)]));
    }
    parts.push(part("2 switches", &[(1, switch), (-2, yielded)]));
    let rest = [(1, one_cpu), (-2, inline), (-1, switch), (2, yielded)];
    parts.push(part("2 wake-ups, going to sleep, colder caches", &rest));
    if pipe != one_cpu {
        parts.push(part("another CPU: IPIs, idle exits, caches", &[(1, pipe), (-1, one_cpu)]));
    }
    if own != pipe {
        parts.push(part("its own paths, beyond a blocking pipe's", &[(1, own), (-1, pipe)]));
    }
    let bounds = match pipe == one_cpu {
        true => bounds(own, pipe, inline, switch, yielded),
        // There an end works while the other is woken: what is done is not what is waited for.
        false => Vec::new(),
    };
    Ok(AblationOf { case: own, parts, bounds })
}

/// The same calls in one thread are the least that the paths take, and two bare switches the least of what
/// is between them; of either, the other leaves the most.
fn bounds(own: u32, pipe: u32, inline: u32, switch: u32, yielded: u32) -> Vec<AblationBounds> {
    let beyond: &[(i32, u32)] = if own == pipe { &[] } else { &[(1, own), (-1, pipe)] };
    let of = |what: &str, least: Vec<AblationTerm>, most: Vec<AblationTerm>| AblationBounds {
        what: what.to_owned(),
        least,
        most,
    };
    vec![
        of(
            "user space and the send and receive paths",
            sum(&[&[(2, inline)], beyond].concat()),
            sum(&[(1, own), (-1, switch), (2, yielded)]),
        ),
        of(
            "waking and switching",
            sum(&[(1, switch), (-2, yielded)]),
            sum(&[(1, pipe), (-2, inline)]),
        ),
    ]
}
