//! Who plays what: which mechanism each end of a case plays, where it takes its
//! link from, and whose link that is.
//!
//! - Both ends of one runtime play the mechanism that the case names.
//! - Ends of two runtimes meet over a *carrier*. An end whose runtime has the
//!   mechanism plays it. An end whose runtime has not plays the carrier of the
//!   other's. Either must say `peers: any`: it speaks the carrier's bytes.

use hopcost_model::{
    Boundary, Case, Description, Ends, LinkSource, Mechanism, Peers, Runtime, Runtimes, Workload,
};

/// What each end of a case plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Roles {
    pub ends: Ends<RoleAssignment>,
    /// The mechanism of hopcost whose link the ends share; `None` where the worker
    /// makes the link itself. Then both ends are of one runtime and one worker
    /// plays both.
    pub carrier: Option<String>,
}

/// What one end plays.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleAssignment {
    /// Where it takes the link from in this case: [`LinkSource::Own`] also where the
    /// ends are threads of one process, or there is but one end.
    pub link: LinkSource,
    /// The case as this end gets it: with the mechanism that it plays, and
    /// with exactly the parameters that its runtime declares of that mechanism.
    pub case: Case,
}

/// Assigns the roles of a case, or says why it cannot be played. `find` gives the
/// description of a runtime, `None` where there is none; Rust's is asked for only
/// where the other end is of another runtime. Whether the mechanisms have what the
/// case asks of them is not looked at.
pub fn assign<'d>(
    case: &Case,
    find: &dyn Fn(&Runtime) -> Option<&'d Description>,
) -> Result<Roles, String> {
    let Runtimes { caller, callee } = &case.runtimes;
    let described =
        |runtime| find(runtime).ok_or_else(|| format!("there is no runtime {runtime} here"));
    if case.runtimes.are_rust() {
        let link = if case.two_processes() { LinkSource::Descriptors } else { LinkSource::Own };
        let one = RoleAssignment { link, case: case.clone() };
        let carrier = case.two_processes().then(|| case.mechanism.clone());
        return Ok(Roles { ends: Ends::both(one), carrier });
    }
    if !case.runtimes.are_mixed() {
        let row = described(caller)?.mechanism(case.mechanism_name());
        let row = row.ok_or_else(|| lacks(caller, &case.mechanism))?;
        usable(caller, row)?;
        let link = if case.two_processes() { row.link } else { LinkSource::Own };
        let one = assignment(case, row, link);
        let carrier = (link != LinkSource::Own).then(|| row.carrier().to_owned());
        return Ok(Roles { ends: Ends::both(one), carrier });
    }
    if !case.workload.has_two_ends() {
        return Err(format!(
            "a call has one end, so one runtime; use runtime={caller} or runtime={callee}"
        ));
    }
    if case.boundary != Boundary::Process {
        return Err(format!(
            "{caller} and {callee} are two processes, so boundary=process and not {}",
            case.boundary
        ));
    }
    if case.workload == Workload::Load && case.runtimes.any(Runtime::RUST) {
        return Err(
            "a load is stamped by one clock, and Rust's is not that of other runtimes; want \
                    both ends in rust, or neither"
                .to_owned(),
        );
    }
    mixed(case, [described(caller)?, described(callee)?])
}

fn lacks(runtime: &Runtime, mechanism: &str) -> String {
    format!("{runtime} has no mechanism {mechanism}")
}

/// Ends of two runtimes.
fn mixed(case: &Case, [caller, callee]: [&Description; 2]) -> Result<Roles, String> {
    let Runtimes { caller: first, callee: second } = &case.runtimes;
    let name = case.mechanism_name();
    // The end that has not the mechanism plays what the other's goes over.
    let carried = |own: &Mechanism, runtime: &Runtime, other: &Runtime| {
        meets(own, runtime)?;
        let carrier = own.carrier();
        let described = if other == first { caller } else { callee };
        described.mechanism(carrier).ok_or_else(|| match carrier == own.name {
            true => lacks(other, carrier),
            false => format!(
                "{other} has neither {} nor {carrier}, which {runtime}'s goes over",
                own.name
            ),
        })
    };
    let (caller_row, callee_row) = match (caller.mechanism(name), callee.mechanism(name)) {
        (Some(caller), Some(callee)) => (caller, callee),
        (Some(own), None) => (own, carried(own, first, second)?),
        (None, Some(own)) => (carried(own, second, first)?, own),
        (None, None) => {
            return Err(format!("neither {first} nor {second} has a mechanism {}", case.mechanism));
        }
    };
    for (runtime, row) in [(first, caller_row), (second, callee_row)] {
        meets(row, runtime)?;
        usable(runtime, row)?;
    }
    let (one, other) = (caller_row.carrier(), callee_row.carrier());
    let own = [caller_row, callee_row].map(|row| row.link == LinkSource::Own);
    if one != other || own[0] != own[1] {
        return Err(format!(
            "{first}'s {} goes over {one} and {second}'s {} over {other}, so they cannot meet",
            caller_row.name, callee_row.name
        ));
    }
    let part = |row: &Mechanism| assignment(case, row, row.link);
    let ends = Ends { caller: part(caller_row), callee: part(callee_row) };
    Ok(Roles { ends, carrier: Some(one.to_owned()) })
}

/// Whether a mechanism's ends may be of two runtimes.
fn meets(row: &Mechanism, runtime: &Runtime) -> Result<(), String> {
    match row.peers {
        Peers::Own => Err(format!("{runtime}'s {} stays inside one runtime", row.name)),
        Peers::Any => Ok(()),
    }
}

/// Whether a mechanism can be used here; what a case asks of it is not looked at.
fn usable(runtime: &Runtime, row: &Mechanism) -> Result<(), String> {
    match &row.unavailable {
        Some(reason) => Err(format!("{runtime}'s {} is not available here: {reason}", row.name)),
        None => Ok(()),
    }
}

fn assignment(case: &Case, row: &Mechanism, link: LinkSource) -> RoleAssignment {
    let parameters = row.parameters.iter().map(|parameter| {
        let said = case.parameters.get(&parameter.name);
        (parameter.name.clone(), said.unwrap_or(&parameter.default).clone())
    });
    let told =
        Case { mechanism: row.name.clone(), parameters: parameters.collect(), ..case.clone() };
    RoleAssignment { link, case: told }
}
