//! Installs workers of other runtimes from the sources inside the binary, where `search` finds
//! them. A worker is built in the folder that it stays in, since some builds keep its path, and
//! is installed when a link is renamed to lead there: before that, nothing has changed.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use super::runtimes::Runtimes;

/// A source of a worker.
pub struct File {
    /// Whose, which is the name of its runtime.
    pub worker: &'static str,
    /// Where in its folder.
    pub path: &'static str,
    mode: u32,
    bytes: &'static [u8],
}

/// The sources of all workers, without what is built of them (build.rs).
pub const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/workers.rs"));

/// Where builds lie, in the folder of workers.
const BUILDS: &str = ".built";
/// Exit code of `build` where the language is not here.
const NO_LANGUAGE: i32 = 3;

/// The workers that this binary carries.
pub fn carried() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES.iter().map(|file| file.worker).collect();
    names.dedup();
    names
}

/// Whether a worker measures a library, and is no language.
pub fn is_library(name: &str) -> bool {
    FILES.iter().any(|file| file.worker == name && file.path.starts_with(".."))
}

/// Builds a worker in this user's data folder and puts it in the place of the one before: where `search`
/// finds it, and what its build said, where it had to do without something.
pub fn install(name: &str, say: &mut dyn FnMut(&str)) -> anyhow::Result<(PathBuf, String)> {
    let data = hopcost_file::data_folder().context("neither XDG_DATA_HOME nor HOME is set")?;
    let workers = data.join("hopcost/workers");
    let (place, builds) = (workers.join(name), workers.join(BUILDS));
    ensure!(
        place.is_symlink() || !place.exists(),
        "{} was not installed by hopcost; move it away first",
        place.display()
    );
    folder(&builds).with_context(|| format!("cannot make {}", builds.display()))?;
    let lock = fs::File::open(&builds)?;
    lock.try_lock().context("another hopcost is installing workers")?;
    // Of two folders the one that is not in use.
    let [first, second] = [1, 2].map(|n| format!("{name}-{n}"));
    let is_second = fs::read_link(&place).is_ok_and(|to| to.ends_with(&second));
    let (new, old) = if is_second { (first, second) } else { (second, first) };
    let build = builds.join(&new);
    let _ = fs::remove_dir_all(&build);
    let said = built(name, &build, say).and_then(|said| {
        let link = builds.join(format!("{name}.link"));
        let _ = fs::remove_file(&link);
        let linked =
            symlink(Path::new(BUILDS).join(&new), &link).and_then(|()| fs::rename(&link, &place));
        linked.with_context(|| format!("cannot put it into {}", place.display()))?;
        Ok(said)
    });
    let _ = fs::remove_dir_all(if said.is_ok() { builds.join(old) } else { build });
    said.map(|said| (place, said))
}

/// Makes a folder that nobody else may write to, and those above it.
fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// Writes a worker's sources and builds them; what it says where it is well.
fn built(name: &str, build: &Path, say: &mut dyn FnMut(&str)) -> anyhow::Result<String> {
    for file in FILES.iter().filter(|file| file.worker == name) {
        let path = build.join(file.path);
        write(&path, file).with_context(|| format!("cannot write {}", path.display()))?;
    }
    // Before the build, which may leave processes behind.
    let runtimes = Runtimes::new(vec![build.to_owned()]);
    // Files that others may write are not trusted, whatever the user's umask is.
    let output = Command::new("/bin/sh")
        .args(["-c", "umask 022; exec ./build 2>&1"])
        .current_dir(build)
        .env("HOPCOST_WITHOUT_PACKAGES", "yes")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start /bin/sh")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    match output.status.code() {
        Some(0) => {}
        Some(NO_LANGUAGE) => bail!("{last}"),
        code => {
            said.lines().for_each(say);
            let ended = code.map_or("was killed".to_owned(), |code| format!("ended with {code}"));
            bail!("its build {ended}: {last}");
        }
    }
    let found = runtimes.named().next().context("it is not found where it was built")?;
    if let Err(why) = &found.state {
        bail!("it was built but cannot be used: {why}");
    }
    let without = said.lines().filter(|line| line.contains("without"));
    Ok(without.collect::<Vec<_>>().join("; "))
}

fn write(path: &Path, file: &File) -> io::Result<()> {
    path.parent().map_or(Ok(()), folder)?;
    fs::write(path, file.bytes)?;
    fs::set_permissions(path, Permissions::from_mode(file.mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_every_tracked_file_of_the_workers_and_no_other() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workers");
        let listed = Command::new("git").args(["ls-files", "."]).current_dir(&root).output();
        let Some(listed) = listed.ok().filter(|output| output.status.success()) else {
            eprintln!("NOT CHECKED: this is no git checkout");
            return;
        };
        let listed = String::from_utf8(listed.stdout).unwrap();
        let has_manifest = |folder: &Path| folder.join("worker.toml").exists();
        let of_worker = |path: &&str| root.join(path).ancestors().any(has_manifest);
        let mut tracked: Vec<&str> = listed.lines().filter(of_worker).collect();
        let folder =
            |name| if is_library(name) { format!("middleware/{name}") } else { name.into() };
        let shared = |file: &&File| file.path.starts_with("..");
        let place = |file: &File| match file.path.strip_prefix("../") {
            Some(path) => format!("middleware/{path}"),
            None => format!("{}/{}", folder(file.worker), file.path),
        };
        let mut carried: Vec<String> =
            FILES.iter().filter(|file| !shared(file)).map(place).collect();
        carried.sort();
        tracked.sort_unstable();
        assert_eq!(carried, tracked, "untracked files, or build.rs has to be run again");
        for file in FILES {
            let path = root.join(place(file));
            assert_eq!(fs::read(&path).unwrap(), file.bytes, "{}", path.display());
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o100, file.mode & 0o100, "{}", path.display());
        }
        assert_eq!(super::carried()[..5], ["cpp", "go", "java", "node", "python"]);
        for (library, core) in [("redis", "../core/src/lib.rs"), ("zeromq", "../core-c/build-c")] {
            let has = |file: &File| (file.worker, file.path) == (library, core);
            assert!(FILES.iter().any(has), "{library} without {core}");
        }
    }
}
