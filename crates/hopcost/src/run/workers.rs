//! Who plays the ends of a case: which workers, which mechanisms, whose link.

use hopcost_model::case::{Case, Role, Runtime};
use hopcost_model::describe::WarmUp;
use hopcost_plan::{RoleAssignment, Roles, assign};
use hopcost_probe::mechanism;
use hopcost_probe::registry::Row;

use super::runtimes::{Ready, Runtimes};

/// The workers of a case.
pub struct Workers<'a> {
    /// What each end plays.
    pub roles: Roles,
    /// What opens the link, where hopcost does.
    pub link: Option<&'static Row>,
    caller: Option<&'a Ready>,
    callee: Option<&'a Ready>,
}

impl<'a> Workers<'a> {
    /// Finds everybody that a case needs, or says who is missing.
    pub fn assemble(case: &Case, runtimes: &'a Runtimes) -> Result<Self, String> {
        let ready = |runtime: &Runtime| match runtime.is_rust() {
            true => Ok(None),
            false => runtimes.ready(runtime).map(Some),
        };
        let (caller, callee) = (ready(&case.runtimes.caller)?, ready(&case.runtimes.callee)?);
        let roles = assign(case, &|runtime| runtimes.description(runtime))?;
        // A mechanism of Rust carries a test engine's argument, which is no part of its name.
        let row = |name: &str| {
            let name = name.split(':').next().unwrap_or(name);
            mechanism::find(name).ok_or_else(|| format!("no mechanism `{name}` in this build"))
        };
        if case.runtimes.are_rust() {
            row(&case.mechanism)?;
        }
        let link = roles.carrier.as_deref().map(row).transpose()?;
        Ok(Self { roles, link, caller, callee })
    }

    /// The worker of an end; `None` where it is the one inside this binary.
    pub fn foreign(&self, role: Role) -> Option<&'a Ready> {
        match role {
            Role::Caller => self.caller,
            Role::Callee => self.callee,
        }
    }

    /// What an end plays.
    pub fn assignment(&self, role: Role) -> &RoleAssignment {
        self.roles.of(role)
    }

    /// Whether an end is of another runtime than Rust.
    pub fn has_foreign(&self) -> bool {
        self.caller.is_some() || self.callee.is_some()
    }

    /// Whether each end has a worker of its own.
    pub fn two_workers(&self) -> bool {
        self.roles.carrier.is_some()
    }

    /// Whether an end compiles while it runs.
    pub fn warms_up_until_steady(&self) -> bool {
        [self.caller, self.callee]
            .into_iter()
            .flatten()
            .any(|ready| ready.description.warm_up == WarmUp::UntilSteady)
    }
}
