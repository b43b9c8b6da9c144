//! What the yardsticks take on this machine when it is quiet: a floor under what runs have met, in a
//! file in the user's data directory, believed only where nobody else can have written it.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_file::Runs;
use hopcost_model::case::Case;
use hopcost_model::host::Host;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::raw::{Reference, Yardstick, YardstickClass};
use hopcost_model::results::{QuietSpeed, Speed, YardstickLevel};
use hopcost_probe::folder::Folder;
use hopcost_stats::yardstick::is_other_pair;
use serde::{Deserialize, Serialize};

use crate::about;

/// The most that such a file may hold.
const BYTES_MAX: u64 = 1 << 20;
/// Undisturbed trials, and runs that had some, without which a speed is no reference yet.
const TRIALS_MIN: u64 = 12;
const RUNS_MIN: u64 = 2;
/// A run is faster than the floor by more than luck from so many standard errors of both on, and
/// from this share on.
const ERRORS: f64 = 3.0;
const FASTER: f64 = 1.02;

/// What makes speeds comparable: on another processor, microcode, kernel or hypervisor, or between
/// other limits of the frequency, they are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine(Vec<String>);

impl Machine {
    /// That of a host.
    pub fn of(host: &Host) -> Self {
        let keys = ["cpu.model", "cpu.microcode", "kernel.release", "virt.hypervisor", "cpu.turbo"];
        let limits = host.readings.iter().filter(|of| of.key.ends_with(".frequency_limits"));
        // Of one CPU, because each run looks at others.
        let limits = limits.min_by_key(|of| of.key.len()).and_then(|of| of.value.as_deref());
        let read = keys.iter().map(|key| host.get(key)).chain([limits]);
        Self(read.map(|value| value.unwrap_or("unknown").to_owned()).collect())
    }

    /// The name of its file: a hash (FNV-1a, 64 bits) of what it is.
    fn file_name(&self) -> OsString {
        let bytes = self.0.iter().flat_map(|part| part.bytes().chain([0]));
        format!("{}.json", about::hash(bytes)).into()
    }
}

/// What an operation of a yardstick can take, on any machine.
const OPERATIONS_NS: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// A speed as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Floor {
    class: YardstickClass,
    case: String,
    cpus: Vec<u32>,
    /// Whether its CPUs idled before each trial, where that makes another speed of it.
    #[serde(default)]
    rested: bool,
    revision: u32,
    reference: Reference,
}

impl Floor {
    fn is_sound(&self) -> bool {
        let Reference { operation_ns, log_error, .. } = self.reference;
        OPERATIONS_NS.contains(&operation_ns) && (0.0..=1.0).contains(&log_error)
    }
    fn is_of(&self, case: &str, cpus: &[u32], rested: bool) -> bool {
        let is_same = (self.case.as_str(), &*self.cpus, self.rested) == (case, cpus, rested);
        is_same && self.revision == revision(case)
    }
    fn is_known(&self) -> bool {
        self.reference.trials >= TRIALS_MIN && self.reference.runs >= RUNS_MIN
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    machine: Machine,
    floors: Vec<Floor>,
}

/// The revision of what a yardstick plays; its numbers do not compare with those of another.
fn revision(case: &str) -> u32 {
    let name = case.split(['/', '?']).nth(1).unwrap_or_default();
    hopcost_probe::mechanism::find(name).map_or(0, |row| Mechanism::of(&row.facts).revision)
}

/// Whether the CPUs of a run idle before each of its trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    Dense,
    Rested,
}

/// The speeds that are stored for a machine.
#[derive(Debug)]
pub struct References {
    folder: PathBuf,
    stored: Stored,
    spacing: Spacing,
}

impl Spacing {
    pub fn of(plan: &Plan) -> Self {
        if hopcost_plan::rests(plan) { Self::Rested } else { Self::Dense }
    }
}

impl References {
    /// Those of this user for a machine and a run of this spacing; none where there is no file. An
    /// error says in a line why the file cannot be used.
    pub fn of_user(machine: Machine, spacing: Spacing) -> anyhow::Result<Self> {
        Self::open(&folder()?, machine, spacing)
    }

    fn open(folder: &Path, machine: Machine, spacing: Spacing) -> anyhow::Result<Self> {
        let stored = read(folder, &machine).with_context(|| {
            format!("the machine's quiet speeds in {} are not believed", folder.display())
        })?;
        let none = || Stored { machine, floors: Vec::new() };
        Ok(Self { folder: folder.to_owned(), stored: stored.unwrap_or_else(none), spacing })
    }

    /// A wake-up of a CPU that idled for long can take twice as long: guest and hypervisor
    /// adapt how long they poll before they halt it (Documentation/virt/kvm/halt-polling.rst).
    fn is_rested(&self, class: YardstickClass) -> bool {
        class == YardstickClass::Wake && self.spacing == Spacing::Rested
    }

    /// The quiet speed of a yardstick, once runs enough have taught it.
    pub fn of(&self, yardstick: &Yardstick) -> Option<&Reference> {
        let rested = self.is_rested(yardstick.class);
        let is_it = |floor: &&Floor| floor.is_of(&yardstick.case, &yardstick.cpus, rested);
        let floor = self.stored.floors.iter().find(is_it)?;
        floor.is_known().then_some(&floor.reference)
    }

    /// All of them, those that are not known well enough yet included.
    pub fn all(&self) -> Vec<QuietSpeed> {
        let speed = |floor: &Floor| QuietSpeed {
            class: floor.class,
            cpus: floor.cpus.clone(),
            is_known: floor.is_known(),
            reference: floor.reference.clone(),
        };
        self.stored.floors.iter().map(speed).collect()
    }

    /// Learns what a run teaches, and stores it where that is something.
    pub fn learn(&mut self, levels: &[YardstickLevel]) -> anyhow::Result<()> {
        let before = self.stored.floors.clone();
        for level in levels {
            // A simulated host is not this machine.
            if level.case.parse::<Case>().is_ok_and(|case| case.has_virtual_clock()) {
                continue;
            }
            let rested = self.is_rested(level.class);
            let floors = &mut self.stored.floors;
            let at = floors.iter().position(|floor| floor.is_of(&level.case, &level.cpus, rested));
            let known = at.map(|at| floors.swap_remove(at).reference);
            let reference = learnt(known, level);
            floors.retain(|floor| {
                (&floor.case, &floor.cpus, floor.rested) != (&level.case, &level.cpus, rested)
            });
            floors.extend(reference.map(|reference| Floor {
                class: level.class,
                case: level.case.clone(),
                cpus: level.cpus.clone(),
                rested,
                revision: revision(&level.case),
                reference,
            }));
        }
        self.stored.floors.sort_by(|a, b| (a.class, &a.cpus).cmp(&(b.class, &b.cpus)));
        if self.stored.floors == before { Ok(()) } else { self.store() }
    }

    fn store(&self) -> anyhow::Result<()> {
        let doing = || format!("storing the machine's quiet speeds in {}", self.folder.display());
        let make = || -> anyhow::Result<()> {
            if let Some(parent) = self.folder.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let text = serde_json::to_string_pretty(&self.stored)?;
            let folder = Folder::open(&self.folder)?;
            folder.replace(&self.stored.machine.file_name(), text.as_bytes())?;
            Ok(())
        };
        make().with_context(doing)
    }
}

/// Where this user's speeds are.
fn folder() -> anyhow::Result<PathBuf> {
    Ok(Runs::of_user()?.directory().with_file_name("machine"))
}

/// Drops what is stored of every machine; says whether there was anything.
pub fn forget() -> anyhow::Result<bool> {
    let folder = folder()?;
    match std::fs::remove_dir_all(&folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("removing {}", folder.display())),
    }
}

/// What is known of a yardstick after a run: what is faster replaces it at once, and what is
/// slower or less exact never does, unless the CPUs are another pair.
fn learnt(known: Option<Reference>, level: &YardstickLevel) -> Option<Reference> {
    let (known, taught) = match (known, &level.taught) {
        (Some(known), Some(taught)) => (known, taught),
        (known, None) => return known.filter(|_| level.speed != Speed::Wrong),
        (None, Some(taught)) => return Some(taught.clone()),
    };
    let faster = known.operation_ns / taught.operation_ns;
    let is_other = match level.class {
        YardstickClass::Line => faster < 1.0 && is_other_pair(1.0, faster),
        _ => known.distance_ns.zip(taught.distance_ns).is_some_and(|(a, b)| is_other_pair(a, b)),
    };
    let luck = ERRORS * taught.log_error.hypot(known.log_error);
    let is_faster = faster.ln() > luck.max(FASTER.ln());
    if is_other || (level.speed == Speed::Wrong && !is_faster) {
        return Some(taught.clone());
    }
    let (trials, runs) = (known.trials + taught.trials, known.runs + 1);
    let distance_ns = known.distance_ns.or(taught.distance_ns);
    let kept = if is_faster { taught.clone() } else { known };
    Some(Reference { trials, runs, distance_ns, ..kept })
}

/// What is stored for a machine, if anything is.
fn read(folder: &Path, machine: &Machine) -> anyhow::Result<Option<Stored>> {
    let missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let folder = match Folder::open(folder) {
        Err(error) if missing(&error) => return Ok(None),
        other => other?,
    };
    let file = match folder.file(&machine.file_name()) {
        Err(error) if missing(&error) => return Ok(None),
        other => other?,
    };
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    anyhow::ensure!(text.len() as u64 <= BYTES_MAX, "the file is larger than 1 MiB");
    let stored: Stored = serde_json::from_str(&text)?;
    anyhow::ensure!(stored.machine == *machine, "the file is of another machine");
    anyhow::ensure!(stored.floors.iter().all(Floor::is_sound), "a speed is no time with an error");
    Ok(Some(stored))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use hopcost_model::host::Reading;

    use super::*;

    fn machine(model: &str) -> Machine {
        Machine(vec![model.into()])
    }

    /// What so many undisturbed trials of a run say.
    fn reference(run: &str, operation_ns: f64, log_error: f64, trials: u64) -> Reference {
        Reference {
            operation_ns,
            log_error,
            trials,
            runs: 1,
            learnt_from: run.into(),
            learnt_on: "2026-11-20T20:15:30Z".into(),
            distance_ns: None,
        }
    }

    fn level(class: YardstickClass, taught: Option<Reference>) -> YardstickLevel {
        YardstickLevel {
            class,
            case: "call/syscall".into(),
            cpus: vec![0],
            reference: None,
            speed: Speed::Unknown,
            slower: None,
            own_ns: 1.0,
            p50_ns: 1.0,
            p5_ns: 1.0,
            p95_ns: 1.0,
            readings: 40,
            reliability: None,
            taught,
        }
    }

    fn yardstick() -> Yardstick {
        Yardstick {
            class: YardstickClass::Syscall,
            case: "call/syscall".into(),
            cpus: vec![0],
            operations: 9,
            reference: None,
            gone: None,
        }
    }

    fn of(references: &References) -> Option<(String, f64)> {
        let found = references.of(&yardstick())?;
        Some((found.learnt_from.clone(), found.operation_ns))
    }

    /// What is known after runs of these speeds, errors and trials.
    fn after(class: YardstickClass, runs: &[(f64, f64, u64)]) -> Option<(String, f64)> {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hopcost/machine");
        let mut references = References::open(&folder, machine("a"), Spacing::Dense).unwrap();
        for (run, (ns, error, trials)) in runs.iter().enumerate() {
            let taught = reference(&format!("run-{run}"), *ns, *error, *trials);
            references.learn(&[level(class, Some(taught))]).unwrap();
        }
        let references = References::open(&folder, machine("a"), Spacing::Dense).unwrap();
        assert_eq!(of(&References::open(&folder, machine("b"), Spacing::Dense).unwrap()), None);
        of(&references)
    }

    #[test]
    fn two_runs_with_twelve_trials_make_a_reference() {
        let class = YardstickClass::Switch;
        let from = |run: u32, ns: f64| Some((format!("run-{run}"), ns));
        assert_eq!(after(class, &[(100.0, 0.001, 40)]), None, "one run");
        assert_eq!(after(class, &[(100.0, 0.001, 6), (100.0, 0.001, 5)]), None, "eleven trials");
        assert_eq!(after(class, &[(100.0, 0.001, 6), (100.0, 0.001, 6)]), from(0, 100.0));
    }

    #[test]
    fn faster_replaces_at_once_and_slower_or_luck_never_does() {
        for class in YardstickClass::ALL {
            let from = |run: u32, ns: f64| Some((format!("run-{run}"), ns));
            let exact = |ns: f64| (ns, 0.001, 20);
            let two = [exact(100.0), exact(100.0)];
            let and = |third| after(class, &[two[0], two[1], third]);
            assert_eq!(and(exact(97.0)), from(2, 97.0), "{class:?}");
            assert_eq!(and(exact(98.5)), from(0, 100.0), "1.5 % may be luck");
            assert_eq!(and((90.0, 0.05, 20)), from(0, 100.0), "its own error explains it");
            assert_eq!(and(exact(140.0)), from(0, 100.0), "a slower run was not quiet");
        }
        // A reference learnt beside other work, 1.9 times too slow: one quiet run corrects it.
        let poisoned = [(20_690.0, 0.0025, 24), (20_700.0, 0.0025, 24), (11_000.0, 0.01, 24)];
        let corrected = after(YardstickClass::Wake, &poisoned).unwrap();
        assert_eq!(corrected, ("run-2".to_owned(), 11_000.0));
    }

    #[test]
    fn a_wrong_reference_goes_even_where_a_run_teaches_no_other() {
        let home = tempfile::tempdir().unwrap();
        let mut references =
            References::open(&home.path().join("m"), machine("a"), Spacing::Dense).unwrap();
        let class = YardstickClass::Switch;
        for run in ["1", "2"] {
            let taught = Some(reference(run, 100.0, 0.001, 20));
            references.learn(&[level(class, taught)]).unwrap();
        }
        references.learn(&[level(class, None)]).unwrap();
        assert!(of(&references).is_some(), "a run that teaches nothing changes nothing");
        let wrong = YardstickLevel { speed: Speed::Wrong, ..level(class, None) };
        references.learn(&[wrong]).unwrap();
        assert_eq!((of(&references), references.all().len()), (None, 0));
    }

    #[test]
    fn another_pair_of_cpus_begins_anew() {
        let far = |distance_ns| {
            let home = tempfile::tempdir().unwrap();
            let mut references =
                References::open(&home.path().join("m"), machine("a"), Spacing::Dense).unwrap();
            for (run, at) in [("1", 60.0), ("2", 60.0), ("3", distance_ns)] {
                let taught =
                    Reference { distance_ns: Some(at), ..reference(run, 100.0, 0.001, 20) };
                references.learn(&[level(YardstickClass::Wake, Some(taught))]).unwrap();
            }
            references.all()[0].reference.runs
        };
        assert_eq!((far(85.0), far(95.0), far(39.0)), (3, 1, 1));
        let slower = [(60.0, 0.001, 20), (60.0, 0.001, 20), (110.0, 0.001, 20)];
        assert_eq!(after(YardstickClass::Line, &slower), None, "its own speed is the distance");
    }

    #[test]
    fn wake_ups_of_cpus_that_idled_have_a_speed_of_their_own() {
        let known = |class| {
            let home = tempfile::tempdir().unwrap();
            for (run, spacing) in [("1", Spacing::Dense), ("2", Spacing::Dense)] {
                let taught = Some(reference(run, 100.0, 0.001, 20));
                let opened = References::open(home.path(), machine("a"), spacing);
                opened.unwrap().learn(&[level(class, taught)]).unwrap();
            }
            let rested = References::open(home.path(), machine("a"), Spacing::Rested).unwrap();
            let yardstick = Yardstick { class, ..yardstick() };
            rested.of(&yardstick).is_some()
        };
        assert!(known(YardstickClass::Switch));
        assert!(!known(YardstickClass::Wake));
    }

    #[test]
    fn a_machine_is_another_with_other_microcode_kernel_limits_or_hypervisor() {
        let host = |change: Option<&str>| {
            let keys = [
                "cpu.model",
                "cpu.microcode",
                "kernel.release",
                "virt.hypervisor",
                "cpu.turbo",
                "cpu0.frequency_limits",
            ];
            let value = |key: &str| if Some(key) == change { "other" } else { "as before" };
            let reading = |key: &&str| Reading::known("test", key, value(key).to_owned());
            Machine::of(&Host { readings: keys.iter().map(reading).collect() })
        };
        let known = host(None);
        for key in ["cpu.microcode", "kernel.release", "virt.hypervisor", "cpu0.frequency_limits"] {
            assert_ne!(host(Some(key)).file_name(), known.file_name(), "{key}");
        }
        assert_eq!(host(Some("load.1")), known);
    }

    #[test]
    fn what_others_may_have_written_or_nobody_could_have_measured_is_refused_in_a_line() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("machine");
        let mut references = References::open(&folder, machine("a"), Spacing::Dense).unwrap();
        let taught = Some(reference("1", 90.0, 0.001, 20));
        references.learn(&[level(YardstickClass::Syscall, taught)]).unwrap();
        let file = folder.join(machine("a").file_name());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        let good = fs::read_to_string(&file).unwrap();
        let refused = |why: &str| {
            let line = format!(
                "{:#}",
                References::open(&folder, machine("a"), Spacing::Dense).unwrap_err()
            );
            assert!(line.contains(why) && !line.contains('\n'), "{why}: {line}");
        };
        fs::set_permissions(&file, Permissions::from_mode(0o622)).unwrap();
        refused("others may write to it");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o770)).unwrap();
        refused("others may write to it");
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        for (bad, why) in [
            (good.replace("90.0", "-90.0"), "no time with an error"),
            (good.replace("\"a\"", "\"b\""), "of another machine"),
            (good[..good.len() / 2].to_owned(), "EOF"),
            (" ".repeat((1 << 20) + 1), "larger than 1 MiB"),
        ] {
            fs::write(&file, bad).unwrap();
            refused(why);
        }
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        refused("are not believed");
    }
}
