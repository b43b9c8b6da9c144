//! A mechanism with its wait as a candidate: what was measured of it, and whether that meets a
//! request.

use hopcost_model::advise::{AdviceRequest, Objective, Part, Permission};
use hopcost_model::case::{Case, Placement, Workload};
use hopcost_model::finding::{Code, Finding, Severity, Validity};
use hopcost_model::group::grouped;
use hopcost_model::mechanism::{Here, Mechanism};
use hopcost_model::plan::Plan;
use hopcost_model::results::{Basis, CaseResult, Estimate, Estimates, Results, Statistic, Status};

use super::words::{self, MATTERS};
use crate::format;

/// What was measured of a case, or why it was not.
pub struct Row<'a> {
    /// Its place in the plan.
    pub index: u32,
    /// What was found.
    pub result: &'a CaseResult,
    /// Why it was not to be measured.
    skip: Option<&'a str>,
}

/// A mechanism with its wait.
pub struct Candidate<'a> {
    /// Its round trip.
    pub case: Case,
    /// What it is called among the others.
    pub name: String,
    /// What it needs that not every mechanism needs.
    pub needs: Vec<String>,
    here: Here,
    closed: Option<Row<'a>>,
    open: Option<Row<'a>>,
}

/// What became of a candidate.
pub enum State<'a> {
    /// It was measured and meets the request.
    Meets(Measured<'a>),
    /// The interval holds the limit.
    MayMeet(Measured<'a>, Reason),
    /// It was measured and misses the limit.
    Misses(Measured<'a>, Reason),
    /// It does not meet the request.
    Out(Reason),
    /// There is no number, or too few trials.
    Unknown(Reason),
    /// The number is not what its label says.
    Invalid(Reason),
}

/// Why a candidate is no answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// In a few words that others have in common with it.
    pub kind: String,
    /// With the evidence.
    pub says: String,
}

impl Reason {
    fn of(kind: impl Into<String>, says: String) -> Self {
        Self { kind: kind.into(), says }
    }
}

/// What stands before the evidence is the kind.
impl From<String> for Reason {
    fn from(says: String) -> Self {
        let kind = says.split([':', ';', '(']).next().unwrap_or_default();
        Self { kind: kind.trim_end().to_owned(), says }
    }
}

impl<'a> State<'a> {
    /// Its numbers, where they count.
    pub fn measured(&self) -> Option<&Measured<'a>> {
        match self {
            State::Meets(of) | State::MayMeet(of, _) | State::Misses(of, _) => Some(of),
            _ => None,
        }
    }
}

/// The numbers of a candidate.
pub struct Measured<'a> {
    pub candidate: &'a Candidate<'a>,
    /// The case by which it is ranked.
    pub row: &'a CaseResult,
    /// What it is ranked by.
    pub objective: Estimate,
    /// The 99th percentile.
    pub p99: Option<Estimate>,
    /// CPU time of both ends over messages, of round trips.
    pub cpu_ns: Option<f64>,
    /// CPUs at the rate.
    pub cpus: Option<f64>,
}

/// What answers a request among the cases of a plan, each mechanism with each wait once.
pub fn candidates<'a>(
    plan: &'a Plan,
    results: &'a Results,
    rust: &[Mechanism],
    request: &AdviceRequest,
) -> Vec<Candidate<'a>> {
    let rows = (0..).zip(plan.cases.iter().zip(&results.results));
    let asked: Vec<(Case, Part, Row)> = rows
        .filter_map(|(index, (planned, result))| {
            let case = planned.known()?;
            let part = request.part(case)?;
            let row = Row { index, result, skip: planned.skip.as_deref() };
            let closed =
                Case { workload: Workload::Roundtrip, rate: None, senders: 1, ..case.clone() };
            Some((closed, part, row))
        })
        .collect();
    let placement = request.placement.or_else(|| usual(asked.iter().map(|(case, ..)| case)));
    let there = asked.into_iter().filter(|(case, ..)| case.placement == placement);
    let groups = grouped(there, |(case, ..)| case.clone());
    let cases: Vec<Case> = groups.iter().map(|(case, _)| case.clone()).collect();
    let candidate = |(case, rows): (Case, Vec<(Case, Part, Row<'a>)>)| {
        let mechanism = rust.iter().find(|known| known.name == case.mechanism_name());
        let mut one = Candidate {
            name: words::name(&case, &cases),
            needs: words::needs(&case, mechanism),
            here: mechanism.map_or_else(Here::default, |mechanism| mechanism.here),
            case,
            closed: None,
            open: None,
        };
        for (_, part, row) in rows {
            match part {
                Part::ClosedLoop => one.closed = Some(row),
                Part::OpenLoop => one.open = Some(row),
            }
        }
        one
    };
    groups.into_iter().map(candidate).collect()
}

/// Where most cases have their ends; of as many, on two CPUs.
fn usual<'c>(cases: impl Iterator<Item = &'c Case>) -> Option<Placement> {
    let groups = grouped(cases.filter_map(|case| case.placement), |place| *place);
    let most = groups.into_iter().max_by_key(|(place, all)| (all.len(), place.is_two_cpu()));
    most.map(|(place, _)| place)
}

impl<'a> Candidate<'a> {
    pub fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        [&self.closed, &self.open].into_iter().flatten()
    }

    /// Whether none of its cases was to be measured.
    pub fn is_skipped(&self) -> bool {
        self.rows().all(|row| row.skip.is_some())
    }

    /// Whether it was measured at the rate.
    pub fn is_loaded(&self) -> bool {
        self.open.as_ref().is_some_and(|row| row.result.status == Status::Measured)
    }

    /// Whether its round trip was.
    pub fn is_timed(&self) -> bool {
        self.closed.as_ref().is_some_and(|row| row.result.status == Status::Measured)
    }

    /// Why it was not measured at the rate, where its round trip was.
    pub fn why_unloaded(&self) -> Option<String> {
        self.open.as_ref()?.result.reason.clone().filter(|_| self.is_timed())
    }

    /// The worst of what makes its number wrong; that the sender was late before that a rate was
    /// missed.
    pub fn invalid(&self, basis: Basis) -> Option<&'a Finding> {
        let findings = &self.row(basis)?.result.findings;
        let mut wrong = findings.iter().filter(|found| found.severity == Severity::Invalid);
        let first = wrong.clone().find(|found| !is_missed(found));
        first.or_else(|| wrong.next())
    }

    fn row(&self, basis: Basis) -> Option<&Row<'a>> {
        match basis {
            Basis::ClosedLoop => self.closed.as_ref(),
            Basis::OpenLoop | Basis::Saturation => self.open.as_ref(),
        }
    }

    /// Whether it meets a request.
    pub fn state(&'a self, basis: Basis, request: &AdviceRequest) -> State<'a> {
        if let Some(reason) = request.rules_out(&self.case, &self.here) {
            return State::Out(reason.into());
        }
        let Some(row) = self.row(basis) else {
            return State::Unknown("it was not measured so".to_owned().into());
        };
        if let Some(skip) = row.skip {
            return State::Out(skip.to_owned().into());
        }
        let result = row.result;
        if result.status != Status::Measured {
            return State::Unknown(result.reason.clone().unwrap_or_default().into());
        }
        if let Some(reason) = self.lost(result, request) {
            return State::Out(Reason::of("messages were lost", reason));
        }
        if let Some(found) = self.invalid(basis) {
            return match is_missed(found) {
                true if basis == Basis::Saturation => self.measured(row.result, basis, request),
                true => State::Out(Reason::of("does not carry the rate", found.evidence.clone())),
                false => State::Invalid(words::finding(found).into()),
            };
        }
        if result.validity == Some(Validity::Invalid) {
            return State::Invalid("the run is invalid".to_owned().into());
        }
        self.measured(row.result, basis, request)
    }

    fn lost(&self, result: &CaseResult, request: &AdviceRequest) -> Option<String> {
        let share = result.load.as_ref().map_or(0.0, |load| load.lost_share);
        let is_lost = share > 0.0 || result.lost > 0;
        (is_lost && request.loss == Permission::RuledOut).then(|| match share > 0.0 {
            true => format!("{} of the messages were lost", format::percent(share)),
            false => format!("{} lost", format::count(result.lost as usize, "exchange")),
        })
    }

    fn measured(&'a self, row: &'a CaseResult, basis: Basis, request: &AdviceRequest) -> State<'a> {
        let closed = self.closed.as_ref().map(|closed| closed.result);
        let cpu_ns = closed.and_then(|closed| closed.cpu_ns_per_message);
        let cpus = cpu_ns.and_then(|cpu_ns| request.cpus(&self.case, cpu_ns));
        if let Some((cpus, budget)) = cpus.zip(request.cpu_budget).filter(|(a, b)| a > b) {
            let says = format!("{} CPU > {budget}", words::cpus(cpus));
            return State::Out(Reason::of(format!("CPU > {budget}"), says));
        }
        let gap_ns = request.rate.map(|rate| 1e9 / f64::from(rate));
        let spin_ns = self.case.spin_budget_ns.map(|ns| ns as f64);
        if let (Basis::ClosedLoop, Some((gap, spin))) = (basis, gap_ns.zip(spin_ns))
            && spin < gap
        {
            let (spin, gap) = (format::ns(spin), format::ns(gap));
            return State::Unknown(Reason::from(format!(
                "it spins for {spin} and then sleeps, and a message comes every {gap}: a round trip \
                 does not show what waking takes then"
            )));
        }
        let p99 = row.estimates.as_ref().and_then(p99);
        let objective = match objective(row, p99.as_ref(), cpu_ns, cpus, request) {
            Ok(objective) => objective,
            Err(reason) => return State::Unknown(reason.into()),
        };
        let of = Measured { candidate: self, row, objective, p99, cpu_ns, cpus };
        let Some(limit_ns) = request.p99_ns.filter(|_| basis != Basis::Saturation) else {
            return State::Meets(of);
        };
        let known = of.p99.as_ref().filter(|p99| p99.point.is_some());
        let Some(p99) = known else { return State::Unknown(words::no_p99(row).into()) };
        let limit = limit_ns as f64;
        let reason = |sign: &str| {
            let limit = format::ns(limit);
            let says = format!("p99 {} {sign} {limit}", words::interval(p99));
            Reason::of(format!("p99 {sign} {limit}"), says)
        };
        match () {
            () if p99.low.is_some_and(|low| low > limit) => {
                let reason = reason(">");
                State::Misses(of, reason)
            }
            () if p99.high.is_some_and(|high| high <= limit) => State::Meets(of),
            () => {
                let reason = reason("may be over");
                State::MayMeet(of, reason)
            }
        }
    }
}

/// The 99th percentile. An interval that reaches beyond the largest sample by more than matters is
/// none: it is the spread of a few trials, drawn out to where nothing was seen.
fn p99(estimates: &Estimates) -> Option<Estimate> {
    let p99 = estimates.get(Statistic::P99)?.clone();
    let largest = estimates.exact(Statistic::Max);
    let is_drawn_out =
        p99.high.zip(largest).is_some_and(|(high, largest)| high > (1.0 + MATTERS) * largest);
    if !is_drawn_out {
        return Some(p99);
    }
    let why = format!("{}: too few for an interval", format::count(p99.n_trials as usize, "trial"));
    Some(Estimate { low: None, high: None, insufficient: Some(why), ..p99 })
}

/// What a candidate is ranked by, or why that is not known.
fn objective(
    row: &CaseResult,
    p99: Option<&Estimate>,
    cpu_ns: Option<f64>,
    cpus: Option<f64>,
    request: &AdviceRequest,
) -> Result<Estimate, String> {
    let exact = |value: Option<f64>| {
        value.map(|value| Estimate::exact(value, row.n_trials, "CPU time".to_owned()))
    };
    let found = match request.objective {
        Objective::P50 => {
            row.estimates.as_ref().and_then(|found| Some(found.headline()?.1)).cloned()
        }
        Objective::P99 => p99.cloned(),
        Objective::Cpu => exact(cpus.or(cpu_ns)),
        Objective::Throughput => row.load.as_ref().map(|load| load.received_per_s.clone()),
    };
    let found = found.filter(|found| found.point.is_some_and(|point| point > 0.0));
    found.ok_or_else(|| match request.objective {
        Objective::P99 => words::no_p99(row),
        objective => format!("its {} is not known", objective.word()),
    })
}

/// Whether a finding says no more than that the channel carries less than was offered.
fn is_missed(found: &Finding) -> bool {
    found.code == Code::RateMissed
}
