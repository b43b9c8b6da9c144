//! The quiet levels of the yardsticks on this machine, and how far identical runs lie apart here: a
//! file in the user's data directory, believed only where nobody else can have written it.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hopcost_file::Runs;
use hopcost_model::host::Host;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::raw::{Reference, Yardstick, YardstickClass};
use hopcost_probe::folder::Folder;
use hopcost_stats::{compare, quiet};
use serde::{Deserialize, Serialize};

use crate::about;

/// What such a level was learnt from that no run taught.
pub const CALIBRATED: &str = "calibrate";
/// The most that such a file may hold.
const BYTES_MAX: u64 = 1 << 20;

/// What makes levels comparable: on another processor, kernel or hypervisor they are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    cpu_model: String,
    kernel_release: String,
    hypervisor: String,
}

impl Machine {
    /// That of a host.
    pub fn of(host: &Host) -> Self {
        let read = |key: &str| host.get(key).unwrap_or("unknown").to_owned();
        Self {
            cpu_model: read("cpu.model"),
            kernel_release: read("kernel.release"),
            hypervisor: read("virt.hypervisor"),
        }
    }

    /// The name of its file: a hash (FNV-1a, 64 bits) of what it is.
    fn file_name(&self) -> OsString {
        let parts = [&self.cpu_model, &self.kernel_release, &self.hypervisor];
        let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
        format!("{}.json", about::hash(bytes)).into()
    }
}

/// What an operation of a yardstick can take, on any machine.
const OPERATIONS_NS: std::ops::RangeInclusive<f64> = 0.001..=1e9;

/// A level as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Level {
    case: String,
    cpus: Vec<u32>,
    revision: u32,
    reference: Reference,
}

impl Level {
    fn is_sound(&self) -> bool {
        let Reference { operation_ns, log_error, .. } = self.reference;
        OPERATIONS_NS.contains(&operation_ns) && (0.0..=1.0).contains(&log_error)
    }
    fn is_of(&self, yardstick: &Yardstick) -> bool {
        self.case == yardstick.case
            && self.cpus == yardstick.cpus
            && self.revision == revision(yardstick)
    }
}

/// How far identical runs lie apart, for cases of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The class of the yardstick beside their trials; none of cases that have none.
    pub class: Option<YardstickClass>,
    /// Standard deviation, from run to run, of the logarithm of a case's value as the ladder has it.
    pub log_sd: f64,
    /// Degrees of freedom behind it: identical runs less one, summed over sets of runs. Cases of one run
    /// add nothing to it, because they share the run.
    pub freedom: f64,
}

impl Spread {
    fn is_sound(&self) -> bool {
        (1e-9..=10.0).contains(&self.log_sd) && (SPREAD_FREEDOM_MIN..=1e6).contains(&self.freedom)
    }
}

/// The least degrees of freedom that tell a spread: below, the t distribution is another one.
pub const SPREAD_FREEDOM_MIN: f64 = 3.0;

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    machine: Machine,
    levels: Vec<Level>,
    #[serde(default)]
    spreads: Vec<Spread>,
}

/// The revision of what a yardstick plays; its numbers do not compare with those of another.
fn revision(yardstick: &Yardstick) -> u32 {
    let name = yardstick.case.split(['/', '?']).nth(1).unwrap_or_default();
    hopcost_probe::mechanism::find(name).map_or(0, |row| Mechanism::of(&row.facts).revision)
}

/// The levels that are stored for a machine.
#[derive(Debug)]
pub struct References {
    folder: PathBuf,
    stored: Stored,
}

impl References {
    /// Those of this user for a machine; none where there is no file. An error says in a line
    /// why the file cannot be used.
    pub fn of_user(machine: Machine) -> anyhow::Result<Self> {
        let runs = Runs::of_user()?;
        Self::open(&runs.directory().with_file_name("machine"), machine)
    }

    fn open(folder: &Path, machine: Machine) -> anyhow::Result<Self> {
        let stored = read(folder, &machine).with_context(|| {
            format!("the machine's levels in {} are not believed", folder.display())
        })?;
        let none = || Stored { machine, levels: Vec::new(), spreads: Vec::new() };
        Ok(Self { folder: folder.to_owned(), stored: stored.unwrap_or_else(none) })
    }

    /// How far identical runs lie apart on this machine, for cases of a class.
    pub fn spread(&self, class: Option<YardstickClass>) -> Option<compare::Spread> {
        let found = self.stored.spreads.iter().find(|spread| spread.class == class)?;
        Some(compare::Spread { log_sd: found.log_sd, freedom: found.freedom })
    }

    /// Takes spreads in place of those of the same classes, and stores them.
    #[allow(dead_code)]
    pub fn put_spreads(&mut self, spreads: &[Spread]) -> anyhow::Result<()> {
        anyhow::ensure!(spreads.iter().all(Spread::is_sound), "too few runs to tell their spread");
        self.stored.spreads.retain(|old| spreads.iter().all(|new| new.class != old.class));
        self.stored.spreads.extend_from_slice(spreads);
        self.store()
    }

    /// The level of a yardstick.
    pub fn of(&self, yardstick: &Yardstick) -> Option<&Reference> {
        let level = self.stored.levels.iter().find(|level| level.is_of(yardstick))?;
        Some(&level.reference)
    }

    /// Takes the references of yardsticks in place of those of the same ones, and stores them.
    pub fn put(&mut self, yardsticks: &[Yardstick]) -> anyhow::Result<()> {
        for yardstick in yardsticks {
            let Some(reference) = yardstick.reference.clone() else { continue };
            self.stored
                .levels
                .retain(|level| level.case != yardstick.case || level.cpus != yardstick.cpus);
            self.stored.levels.push(Level {
                case: yardstick.case.clone(),
                cpus: yardstick.cpus.clone(),
                revision: revision(yardstick),
                reference,
            });
        }
        self.store()
    }

    fn store(&self) -> anyhow::Result<()> {
        let doing = || format!("storing the machine's levels in {}", self.folder.display());
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
    anyhow::ensure!(stored.levels.iter().all(Level::is_sound), "a level is no time with an error");
    anyhow::ensure!(
        stored.spreads.iter().all(Spread::is_sound),
        "a spread is no deviation of runs"
    );
    Ok(Some(stored))
}

/// The quiet level of readings in time order, where there are enough of them.
pub fn learn(readings_ns: &[f64], learnt_from: &str) -> Option<Reference> {
    let quiet::QuietLevel { level, log_error } = quiet::quiet_level(readings_ns)?;
    Some(Reference {
        operation_ns: level,
        log_error,
        readings: readings_ns.len() as u64,
        learnt_from: learnt_from.to_owned(),
    })
}

/// A run that meets the machine so much faster than its quiet level shows that the level was
/// not quiet; less may be luck.
const QUIETER: f64 = 1.1;
/// And by more than so many standard errors of both.
const ERRORS: f64 = 3.0;

/// Whether the level that a run found is to be taken: where none is known, or one so far above
/// it that it was learnt from a machine that was not quiet. Not of `wake`, which other work
/// makes faster too: it keeps the CPU awake.
pub fn teaches(class: YardstickClass, found: &Reference, known: Option<&Reference>) -> bool {
    known.is_none_or(|known| {
        let errors = ERRORS * found.log_error.hypot(known.log_error);
        let faster = (known.operation_ns / found.operation_ns).ln();
        class != YardstickClass::Wake && faster > errors.max(QUIETER.ln())
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn machine(model: &str) -> Machine {
        Machine { cpu_model: model.into(), kernel_release: "6.1".into(), hypervisor: "none".into() }
    }

    fn yardstick(cpus: &[u32], operation_ns: f64) -> Yardstick {
        Yardstick {
            class: YardstickClass::Syscall,
            case: "call/syscall".into(),
            cpus: cpus.to_vec(),
            operations: 9,
            reference: learn(&[operation_ns; 20], "calibrate"),
            gone: None,
        }
    }

    fn level_ns(references: &References, cpus: &[u32]) -> Option<f64> {
        references.of(&yardstick(cpus, 1.0)).map(|reference| reference.operation_ns)
    }

    #[test]
    fn levels_are_stored_by_machine_case_and_cpus_and_replaced() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hopcost/machine");
        let mut references = References::open(&folder, machine("a")).unwrap();
        assert_eq!(level_ns(&references, &[0]), None);
        references.put(&[yardstick(&[0], 90.0), yardstick(&[1], 95.0)]).unwrap();
        references.put(&[yardstick(&[0], 80.0)]).unwrap();
        let references = References::open(&folder, machine("a")).unwrap();
        assert_eq!(level_ns(&references, &[0]), Some(80.0));
        assert_eq!(level_ns(&references, &[1]), Some(95.0));
        assert_eq!(level_ns(&references, &[2]), None);
        let other = References::open(&folder, machine("b")).unwrap();
        assert_eq!(level_ns(&other, &[0]), None);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let file = folder.join(machine("a").file_name());
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    }

    #[test]
    fn spreads_are_stored_by_class_beside_the_levels() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("machine");
        let spread = |class, log_sd, freedom| Spread { class, log_sd, freedom };
        let switch = Some(YardstickClass::Switch);
        let mut references = References::open(&folder, machine("a")).unwrap();
        assert_eq!(references.spread(switch), None);
        references.put(&[yardstick(&[0], 90.0)]).unwrap();
        references.put_spreads(&[spread(switch, 0.1, 4.0), spread(None, 0.2, 5.0)]).unwrap();
        references.put_spreads(&[spread(switch, 0.02, 9.0)]).unwrap();
        assert!(references.put_spreads(&[spread(switch, 0.02, 1.0)]).is_err(), "two runs");
        references.put(&[yardstick(&[1], 90.0)]).unwrap();
        let references = References::open(&folder, machine("a")).unwrap();
        let found = references.spread(switch).unwrap();
        assert_eq!(
            (found.log_sd.to_bits(), found.freedom.to_bits()),
            (0.02f64.to_bits(), 9f64.to_bits())
        );
        assert!(references.spread(None).is_some());
        assert_eq!(references.spread(Some(YardstickClass::Line)), None);
        assert_eq!(level_ns(&references, &[0]), Some(90.0));
        let file = folder.join(machine("a").file_name());
        let text = fs::read_to_string(&file).unwrap().replace("0.02", "-0.02");
        fs::write(&file, text).unwrap();
        let line = format!("{:#}", References::open(&folder, machine("a")).unwrap_err());
        assert!(line.contains("no deviation of runs"), "{line}");
    }

    #[test]
    fn what_others_may_have_written_or_nobody_could_have_measured_is_refused_in_a_line() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("machine");
        let mut references = References::open(&folder, machine("a")).unwrap();
        references.put(&[yardstick(&[0], 90.0)]).unwrap();
        let file = folder.join(machine("a").file_name());
        let good = fs::read_to_string(&file).unwrap();
        let refused = |why: &str| {
            let line = format!("{:#}", References::open(&folder, machine("a")).unwrap_err());
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

    #[test]
    fn a_level_of_a_machine_that_was_not_quiet_is_corrected_and_luck_corrects_nothing() {
        let level = |operation_ns: f64, log_error: f64| Reference {
            operation_ns,
            log_error,
            readings: 24,
            learnt_from: "run".into(),
        };
        let of = |class, found_ns, error| {
            teaches(class, &level(found_ns, 0.01), Some(&level(3724.0, error)))
        };
        assert!(of(YardstickClass::Switch, 2150.0, 0.04));
        assert!(!of(YardstickClass::Switch, 3450.0, 0.001), "8 % may be luck");
        assert!(!of(YardstickClass::Switch, 2900.0, 0.1), "its own error explains it");
        assert!(!of(YardstickClass::Switch, 6000.0, 0.001), "a slower run was not quiet");
        assert!(!of(YardstickClass::Wake, 2150.0, 0.04), "a busy CPU is awake");
        assert!(teaches(YardstickClass::Wake, &level(2150.0, 0.01), None));
    }
}
