//! What the yardsticks take on this machine when it is quiet: a floor under what runs have met, in a
//! file in the user's data directory, believed only where nobody else can have written it.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use hopcost_file::Runs;
use hopcost_model::{Case, Host, Plan, Reference, Yardstick, YardstickClass};
use hopcost_probe::folder::Folder;
use hopcost_read::results::YardstickLevel;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::about;

/// The most that such a file may hold.
const BYTES_MAX: u64 = 1 << 20;
/// Undisturbed trials, and runs that had some, without which a speed is no reference yet.
const TRIALS_MIN: u64 = 12;
const RUNS_MIN: u64 = 2;
/// What an operation of a yardstick can take, on any machine.
const OPERATIONS_NS: std::ops::RangeInclusive<f64> = 0.001..=1e9;

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

    /// The name of its file: a hash of what it is.
    fn file_name(&self) -> OsString {
        format!("{}.json", about::hash(self.0.join("\0").as_bytes())).into()
    }
}

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
    fn is_of(&self, case: &str, cpus: &[u32], rested: bool) -> bool {
        (self.case.as_str(), &*self.cpus, self.rested) == (case, cpus, rested)
    }
    fn is_known(&self) -> bool {
        self.reference.trials >= TRIALS_MIN && self.reference.runs >= RUNS_MIN
    }
}

/// The speeds of a machine, which is named in their file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    machine: Machine,
    floors: Vec<Floor>,
}

/// The revision of what a yardstick plays; its numbers do not compare with those of another.
fn revision(case: &str) -> u32 {
    let name = case.split(['/', '?']).nth(1).unwrap_or_default();
    hopcost_probe::mechanism::find(name).map_or(0, |row| row.facts().revision)
}

/// Whether a speed is of CPUs that idled before, in a run whose trials `rest`. A wake-up of a CPU that
/// idled for long can take twice as long: guest and hypervisor adapt how long they poll before they
/// halt it (Documentation/virt/kvm/halt-polling.rst).
fn is_rested(class: YardstickClass, rest: bool) -> bool {
    class == YardstickClass::Wake && rest
}

/// Fills in the quiet speeds that enough runs have taught of this user's machine.
pub fn look_up(machine: &Machine, rest: bool, yardsticks: &mut [Yardstick]) -> anyhow::Result<()> {
    if yardsticks.iter().all(|one| one.reference.is_some()) {
        return Ok(());
    }
    let floors = read(&folder()?, machine)?;
    for one in yardsticks.iter_mut().filter(|one| one.reference.is_none()) {
        one.reference = find(&floors, one, rest).cloned();
    }
    Ok(())
}

fn find<'a>(floors: &'a [Floor], of: &Yardstick, rest: bool) -> Option<&'a Reference> {
    let rested = is_rested(of.class, rest);
    let found = floors.iter().find(|floor| floor.is_of(&of.case, &of.cpus, rested))?;
    found.is_known().then_some(&found.reference)
}

/// What a round trip between two CPUs of this user's machine takes in a run of a plan, where that is
/// known: the level of a yardstick is that of a pipe, which most others exceed by a fifth.
pub fn two_cpus_ns(machine: &Machine, plan: &Plan) -> Option<u64> {
    let floors = read(&folder().ok()?, machine).ok()?;
    let rest = hopcost_plan::rests(plan);
    let is_it =
        |of: &&Floor| of.class == YardstickClass::Wake && of.rested == rest && of.is_known();
    Some((1.2 * floors.iter().find(is_it)?.reference.operation_ns) as u64)
}

/// Stores for the runs that follow what a run teaches of this user's machine.
pub fn learn(machine: &Machine, rest: bool, levels: &[YardstickLevel]) -> anyhow::Result<()> {
    let folder = folder()?;
    let before = read(&folder, machine)?;
    let mut floors = before.clone();
    teach(&mut floors, rest, levels);
    if floors == before { Ok(()) } else { store(&folder, machine, floors) }
}

fn teach(floors: &mut Vec<Floor>, rest: bool, levels: &[YardstickLevel]) {
    for level in levels {
        // A simulated host is not this machine.
        if level.case.parse::<Case>().is_ok_and(|case| case.has_virtual_clock()) {
            continue;
        }
        let rested = is_rested(level.class, rest);
        let at = floors.iter().position(|floor| floor.is_of(&level.case, &level.cpus, rested));
        let known = at.map(|at| floors.swap_remove(at).reference);
        floors.extend(level.learnt(known).map(|reference| Floor {
            class: level.class,
            case: level.case.clone(),
            cpus: level.cpus.clone(),
            rested,
            revision: revision(&level.case),
            reference,
        }));
    }
    floors.sort_by(|a, b| (a.class, &a.cpus).cmp(&(b.class, &b.cpus)));
}

/// Where this user's speeds are.
pub fn folder() -> anyhow::Result<PathBuf> {
    Ok(Runs::of_user()?.directory().with_file_name("machine"))
}

fn store(path: &Path, machine: &Machine, floors: Vec<Floor>) -> anyhow::Result<()> {
    store_file(path, &machine.file_name(), &Stored { machine: machine.clone(), floors })
}

/// Puts a document into a file of such a folder.
pub fn store_file(path: &Path, name: &OsStr, document: &impl Serialize) -> anyhow::Result<()> {
    let store = || -> anyhow::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let text = serde_json::to_string_pretty(document)?;
        Ok(Folder::open(path)?.replace(name, text.as_bytes())?)
    };
    store().with_context(|| format!("storing the machine's quiet speeds in {}", path.display()))
}

/// The document in a file of such a folder, which is this user's alone; `None` where there is no file.
pub fn read_file<T: DeserializeOwned>(path: &Path, name: &OsStr) -> anyhow::Result<Option<T>> {
    let file = match Folder::open(path).and_then(|folder| folder.file(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= BYTES_MAX, "the file is larger than 1 MiB");
    Ok(Some(serde_json::from_str(&text)?))
}

/// What is stored for a machine and can still be compared; nothing where there is no file. An error
/// says in a line why the file cannot be used.
fn read(path: &Path, machine: &Machine) -> anyhow::Result<Vec<Floor>> {
    let read = || -> anyhow::Result<Vec<Floor>> {
        let stored = read_file::<Stored>(path, &machine.file_name())?;
        let Some(Stored { machine: its, mut floors }) = stored else { return Ok(Vec::new()) };
        ensure!(its == *machine, "the file is of another machine");
        let is_time = |of: &Reference| {
            OPERATIONS_NS.contains(&of.operation_ns) && (0.0..=1.0).contains(&of.log_error)
        };
        let are_times = floors.iter().all(|floor| is_time(&floor.reference));
        ensure!(are_times, "a speed is not a time with an error");
        floors.retain(|floor| floor.revision == revision(&floor.case));
        Ok(floors)
    };
    read().with_context(|| {
        format!("the machine's quiet speeds in {} are not believed", path.display())
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use hopcost_read::results::Speed;

    use super::*;

    /// What so many undisturbed trials of a run say of the time and its error.
    fn taught(run: usize, (operation_ns, log_error, trials): (f64, f64, u64)) -> Reference {
        let learnt_from = format!("run-{run}");
        Reference { operation_ns, log_error, trials, runs: 1, learnt_from, ..Reference::default() }
    }

    fn level(class: YardstickClass, taught: Option<Reference>) -> YardstickLevel {
        let (case, cpus) = ("call/syscall".into(), vec![0]);
        YardstickLevel { class, case, cpus, taught, ..YardstickLevel::default() }
    }

    /// The run that the reference of a class is from, and its time.
    fn of(floors: &[Floor], class: YardstickClass, rest: bool) -> Option<(String, f64)> {
        let (case, cpus) = ("call/syscall".into(), vec![0]);
        let of = Yardstick { class, case, cpus, operations: 9, reference: None, gone: None };
        let found = find(floors, &of, rest)?;
        Some((found.learnt_from.clone(), found.operation_ns))
    }

    /// What is known after runs of these times, errors and trials.
    fn floors(class: YardstickClass, runs: &[(f64, f64, u64)]) -> Vec<Floor> {
        let mut floors = Vec::new();
        for (run, time) in runs.iter().enumerate() {
            teach(&mut floors, false, &[level(class, Some(taught(run, *time)))]);
        }
        floors
    }

    fn after(class: YardstickClass, runs: &[(f64, f64, u64)]) -> Option<(String, f64)> {
        of(&floors(class, runs), class, false)
    }

    const KNOWN: [(f64, f64, u64); 2] = [(100.0, 0.001, 20); 2];

    #[test]
    fn two_runs_with_twelve_trials_make_a_reference_which_faster_ones_alone_replace() {
        let exact = |ns: f64| (ns, 0.001, 20);
        let and = |third| [&KNOWN[..], &[third]].concat();
        for (runs, from, why) in [
            (vec![(100.0, 0.001, 40)], None, "one run"),
            (vec![(100.0, 0.001, 6), (100.0, 0.001, 5)], None, "eleven trials"),
            (vec![(100.0, 0.001, 6), (100.0, 0.001, 6)], Some(0), "twelve"),
            (and(exact(97.0)), Some(2), "faster replaces at once"),
            (and(exact(98.5)), Some(0), "1.5 % may be luck"),
            (and((90.0, 0.05, 20)), Some(0), "its own error explains it"),
            // Learnt beside other work, 1.9 times too slow: one quiet run corrects it.
            (vec![exact(190.0), exact(190.0), (101.0, 0.01, 24)], Some(2), "poisoned"),
        ] {
            for &class in YardstickClass::ALL {
                let from = from.map(|run: usize| (format!("run-{run}"), runs[run].0));
                assert_eq!(after(class, &runs), from, "{class:?}: {why}");
            }
        }
        // A slower run was not quiet; but the speed of a line is the distance of its CPUs.
        let slower = and(exact(110.0));
        assert!(after(YardstickClass::Switch, &slower).is_some());
        let far = [exact(60.0), exact(60.0), exact(110.0)];
        assert_eq!(after(YardstickClass::Line, &far), None);
    }

    #[test]
    fn a_wrong_reference_goes_even_where_a_run_teaches_no_other() {
        let class = YardstickClass::Switch;
        let mut floors = floors(class, &KNOWN);
        teach(&mut floors, false, &[level(class, None)]);
        assert!(of(&floors, class, false).is_some(), "a run that teaches nothing changes nothing");
        let wrong = YardstickLevel { speed: Speed::Wrong, ..level(class, None) };
        teach(&mut floors, false, &[wrong]);
        assert!(floors.is_empty());
    }

    #[test]
    fn another_pair_of_cpus_begins_anew() {
        let runs = |distance_ns| {
            let mut floors = Vec::new();
            for (run, at) in [60.0, 60.0, distance_ns].into_iter().enumerate() {
                let of_run = taught(run, (100.0, 0.001, 20));
                let of_run = Reference { distance_ns: Some(at), ..of_run };
                teach(&mut floors, false, &[level(YardstickClass::Wake, Some(of_run))]);
            }
            floors[0].reference.runs
        };
        assert_eq!((runs(85.0), runs(95.0), runs(39.0)), (3, 1, 1));
    }

    #[test]
    fn wake_ups_of_cpus_that_idled_have_a_speed_of_their_own() {
        for class in [YardstickClass::Switch, YardstickClass::Wake] {
            let floors = floors(class, &KNOWN);
            assert_eq!(of(&floors, class, true).is_some(), class != YardstickClass::Wake);
        }
    }

    #[test]
    fn what_others_may_have_written_or_nobody_could_have_measured_is_refused_in_a_line() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("hopcost/machine");
        let machine = Machine(vec!["a".into()]);
        let mut floors = Vec::new();
        let of_run = taught(1, (90.0, 0.001, 20));
        teach(&mut floors, false, &[level(YardstickClass::Syscall, Some(of_run))]);
        store(&folder, &machine, floors.clone()).unwrap();
        assert_eq!(read(&folder, &machine).unwrap(), floors);
        assert_eq!(read(&folder, &Machine(Vec::new())).unwrap(), []);
        let file = folder.join(machine.file_name());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        let good = fs::read_to_string(&file).unwrap();
        let refused = |why: &str| {
            let line = format!("{:#}", read(&folder, &machine).unwrap_err());
            assert!(line.contains(why) && !line.contains('\n'), "{why}: {line}");
        };
        for (path, open, closed) in [(&file, 0o622, 0o600), (&folder, 0o770, 0o700)] {
            fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
            refused("others may write to it");
            fs::set_permissions(path, Permissions::from_mode(closed)).unwrap();
        }
        for (bad, why) in [
            (good.replace("90.0", "-90.0"), "not a time with an error"),
            (good.replace("\"a\"", "\"b\""), "of another machine"),
            (good[..good.len() / 2].to_owned(), "EOF"),
            (" ".repeat((1 << 20) + 1), "larger than 1 MiB"),
        ] {
            fs::write(&file, bad).unwrap();
            refused(why);
        }
    }
}
