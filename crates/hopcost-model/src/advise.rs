//! What a mechanism is to be recommended for, and what of that a case alone tells.

use crate::axis::{Axis, RATE_MAX};
use crate::case::{Boundary, Case, Placement, Role, Workload};
use crate::document;
use crate::mechanism::{Here, Loss};
use crate::units::format_number;

document! {
    /// What is asked of a mechanism.
    pub struct AdviceRequest {
        /// Bytes of a message.
        pub payload_bytes: u32,
        /// Messages a second; `null` where one is sent after the other has been answered.
        pub rate: Option<u32>,
        /// Ends that send them, which share the rate and the receiver.
        #[serde(default = "one")]
        pub senders: u32,
        /// The most that the 99th percentile may be.
        pub p99_ns: Option<u64>,
        /// What has to separate the ends.
        pub boundary: Boundary,
        /// Where the ends run; `null`: where most of a stored run's cases have them.
        pub placement: Option<Placement>,
        /// What the ends are written in, spelled as in a case.
        pub runtimes: String,
        /// Whether an end may spin while it waits.
        pub spinning: Permission,
        /// Whether messages may be lost.
        pub loss: Permission,
        /// CPUs that waiting and handing over may take at this rate.
        pub cpu_budget: Option<f64>,
        /// What is to be least, or greatest.
        pub objective: Objective,
    }
}

fn one() -> u32 {
    1
}

document! {
    /// Whether something is acceptable.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Permission {
        /// It is.
        Allowed,
        /// What does it is ruled out.
        RuledOut,
    }
}

document! {
    /// What a mechanism is ranked by.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Objective {
        /// The median.
        P50,
        /// The 99th percentile.
        P99,
        /// CPU time of both ends: at the rate, or of a message.
        Cpu,
        /// Messages a second at most.
        Throughput,
    }
}

impl Objective {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Objective::P50 => "p50",
            Objective::P99 => "p99",
            Objective::Cpu => "cpu",
            Objective::Throughput => "throughput",
        }
    }
}

/// What of a request a measured case answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Round trips, one after the other.
    ClosedLoop,
    /// Messages at the rate of the request, or as many as there can be.
    OpenLoop,
}

impl AdviceRequest {
    /// The rate at which messages are offered; `None` where round trips answer the request.
    pub fn offered(&self) -> Option<u32> {
        match self.objective {
            Objective::Throughput => Some(RATE_MAX),
            _ => self.rate,
        }
    }

    /// What of the request a case answers, wherever its ends run; `None` of any other case.
    pub fn part(&self, case: &Case) -> Option<Part> {
        let is_asked = case.payload_bytes == Some(self.payload_bytes)
            && case.boundary == self.boundary
            && case.runtimes.to_string() == self.runtimes
            && Axis::unusual(case).all(|(axis, _)| axis.key == "senders");
        let is_offered = case.rate == self.offered() && case.senders == self.senders;
        match case.workload {
            Workload::Roundtrip if is_asked => Some(Part::ClosedLoop),
            Workload::Load if is_asked && is_offered => Some(Part::OpenLoop),
            _ => None,
        }
    }

    /// Why a case of a mechanism is no answer, whatever is measured of it.
    pub fn rules_out(&self, case: &Case, mechanism: &Here) -> Option<String> {
        let sent = Case { senders: self.senders, ..case.clone() };
        if let Some(reason) = mechanism.senders.lack(&sent) {
            return Some(reason);
        }
        let spins = [Role::Caller, Role::Callee].map(|role| case.wait(role).spins());
        if self.spinning == Permission::RuledOut && spins.contains(&true) {
            return Some("spins".to_owned());
        }
        if self.loss == Permission::RuledOut && mechanism.loss == Loss::Possible {
            return Some("messages may be lost (--loss yes allows it)".to_owned());
        }
        let budget = self.cpu_budget.filter(|budget| *budget < 1.0)?;
        case.wait(Role::Callee).spins_for_ever().then(|| format!("spins: 1.0 CPU > {budget}"))
    }

    /// CPUs that a message of so much CPU time takes at the rate: a receiver that spins takes one
    /// whole, one that spins first takes its budget of each message at most.
    pub fn cpus(&self, case: &Case, cpu_ns_per_message: f64) -> Option<f64> {
        let rate = f64::from(self.rate?);
        let wait = case.wait(Role::Callee);
        if wait.spins_for_ever() {
            return Some(1.0);
        }
        let spun_ns = case.spin_budget_ns.filter(|_| wait.spins()).unwrap_or(0);
        let spun = (rate * spun_ns as f64 / 1e9).min(1.0);
        let all = f64::from(self.senders.saturating_add(1));
        Some((rate * cpu_ns_per_message / 1e9 + spun).min(all))
    }

    /// `20k messages a second`, `20k messages a second of 4 senders`
    pub fn rate_words(&self) -> Option<String> {
        let rate = format_number(self.rate?.into());
        Some(match self.senders {
            1 => format!("{rate} messages a second"),
            senders => format!("{rate} messages a second of {senders} senders"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Senders;

    fn request() -> AdviceRequest {
        AdviceRequest {
            payload_bytes: 64,
            rate: Some(20_000),
            senders: 1,
            p99_ns: None,
            boundary: Boundary::Process,
            placement: None,
            runtimes: "rust".to_owned(),
            spinning: Permission::Allowed,
            loss: Permission::RuledOut,
            cpu_budget: None,
            objective: Objective::P99,
        }
    }

    fn case(wait: &str) -> Case {
        format!("roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait={wait}")
            .parse()
            .unwrap()
    }

    #[test]
    fn a_case_answers_only_what_is_asked() {
        let asked = request();
        assert_eq!(asked.part(&case("block")), Some(Part::ClosedLoop));
        let load = "load/pipe?payload=64&rate=20000&boundary=process&place=same-llc&wait=block";
        let part = |id: &str| asked.part(&id.parse().unwrap());
        assert_eq!(part(load), Some(Part::OpenLoop));
        for (from, to) in [
            ("payload=64", "payload=65"),
            ("rate=20000", "rate=10000"),
            ("process", "thread"),
            ("wait=block", "wait=block&arrivals=constant"),
            ("wait=block", "wait=block&runtime=python"),
            ("wait=block", "wait=block&touch=none"),
            ("wait=block", "wait=block&senders=4"),
        ] {
            assert_eq!(part(&load.replace(from, to)), None, "{to}");
        }
        let four = AdviceRequest { senders: 4, ..request() };
        let part = |id: &str| four.part(&id.parse().unwrap());
        assert_eq!(part(load), None);
        assert_eq!(part(&format!("{load}&senders=4")), Some(Part::OpenLoop));
        assert_eq!(four.part(&case("block")), Some(Part::ClosedLoop));
    }

    #[test]
    fn what_waiting_burns_follows_from_the_wait_and_the_rate() {
        let asked = request();
        let cpus = |id: &str| asked.cpus(&case(id), 5_000.0).unwrap();
        assert!((cpus("block") - 0.1).abs() < 1e-12);
        assert!((cpus("spin-then-block&spin=20000") - 0.5).abs() < 1e-12);
        assert!((cpus("spin-then-block&spin=90000") - 1.1).abs() < 1e-12);
        assert_eq!((cpus("spin"), cpus("spin:block")), (1.0, 0.1));
        assert_eq!(AdviceRequest { rate: None, ..asked }.cpus(&case("block"), 5_000.0), None);
    }

    #[test]
    fn a_case_alone_is_ruled_out_by_its_wait_and_its_losses() {
        let out = |request: &AdviceRequest, wait: &str| {
            request.rules_out(&case(wait), &Here::default()).unwrap_or_default()
        };
        let frugal = AdviceRequest { cpu_budget: Some(0.2), ..request() };
        assert_eq!(out(&frugal, "spin"), "spins: 1.0 CPU > 0.2");
        assert_eq!(out(&frugal, "spin-then-block&spin=20000"), "");
        let calm = AdviceRequest { spinning: Permission::RuledOut, ..request() };
        assert_eq!(out(&calm, "spin-then-block&spin=20000"), "spins");
        assert_eq!((out(&calm, "block"), out(&request(), "spin")), (String::new(), String::new()));
        let with = |request: &AdviceRequest, here: &Here| {
            request.rules_out(&case("block"), here).unwrap_or_default()
        };
        let lossy = Here { loss: Loss::Possible, ..Here::default() };
        assert!(with(&request(), &lossy).contains("lost"));
        let four = AdviceRequest { senders: 4, ..request() };
        assert!(with(&four, &Here::default()).starts_with("has one sender: "));
        let of = |whole_bytes| Here {
            senders: Senders::Several { share: "the pipe", whole_bytes },
            ..Here::default()
        };
        assert_eq!(with(&four, &of(4096)), "");
        assert!(with(&four, &of(32)).contains("messages of 32 bytes at most"));
    }
}
