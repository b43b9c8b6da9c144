//! Whether a file may be believed: only the caller and root have a say in what it is, as
//! sshd's StrictModes asks of a user's keys.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hopcost_probe::sys;

/// Symbolic links that are followed at most, as path_resolution(7) has it.
const LINKS_MAX: u32 = 40;
/// Bytes of a text that is read whole at most.
const TEXT_MAX: u64 = 1 << 16;

/// Whether a worker's folder may hold what others put there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Additions {
    /// They may, where the sticky bit keeps them from what is not theirs.
    ByAnyone,
    /// They may not: a program takes more from its folder than its own file.
    ByOwner,
}

/// Refuses a file, with reason and remedy, if someone other than the caller and root owns or
/// may write it or anything on the way to it.
///
/// Every component is looked at as the kernel resolves it, links and their targets included,
/// so that nobody can lead the path elsewhere after this has returned.
pub fn file(path: &Path) -> Result<()> {
    resolved(path, |path, found| {
        let what = if found.file_type().is_fifo() { "a FIFO" } else { "no regular file" };
        ensure!(found.is_file(), "{} is {what}", path.display());
        Ok(())
    })
}

/// The same for a folder from which a program is loaded: nobody else may put anything in it.
pub fn folder(path: &Path) -> Result<()> {
    resolved(path, |path, found| judge(path, found, Additions::ByOwner))
}

/// Judges everything on the way to what a path leads to, and `last` that itself.
fn resolved(path: &Path, last: impl Fn(&Path, &Metadata) -> Result<()>) -> Result<()> {
    let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
    let mut left = reversed(&path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    judge(&at, &look(&at)?, Additions::ByAnyone)?;
    while let Some(name) = left.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        if left.is_empty() {
            judge(&at, &look(&at)?, Additions::ByOwner)?;
        }
        at.push(name);
        let found = look(&at)?;
        judge(&at, &found, Additions::ByAnyone)?;
        if found.is_symlink() {
            links += 1;
            let target = at.read_link().with_context(|| at.display().to_string())?;
            ensure!(links <= LINKS_MAX, "{}: too many symbolic links", path.display());
            at.pop();
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            left.extend(reversed(&target));
        } else if left.is_empty() {
            last(&path, &found)?;
        }
    }
    Ok(())
}

/// The text of a file that may be believed.
pub fn text(path: &Path) -> Result<String> {
    file(path)?;
    let (mut text, shown) = (String::new(), path.display());
    let read = File::open(path).and_then(|file| file.take(TEXT_MAX + 1).read_to_string(&mut text));
    let bytes = read.with_context(|| shown.to_string())? as u64;
    ensure!(bytes <= TEXT_MAX, "{shown} has more than {TEXT_MAX} bytes");
    Ok(text)
}

/// The components of a path, the first one last.
fn reversed(path: &Path) -> Vec<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
        _ => None,
    };
    path.components().rev().filter_map(named).collect()
}

fn look(path: &Path) -> Result<Metadata> {
    path.symlink_metadata().with_context(|| path.display().to_string())
}

fn judge(path: &Path, found: &Metadata, additions: Additions) -> Result<()> {
    let (shown, user, owner) = (path.display(), sys::user_id(), found.uid());
    ensure!(
        owner == user || owner == 0,
        "not trusted: {shown} belongs to user {owner}; run hopcost as that user, or take it over (chown)"
    );
    let by_group = found.mode() & 0o020 != 0
        && (!is_ours_alone(found.gid(), user) || sys::has_access_list(path));
    let by_others = found.mode() & 0o002 != 0;
    let sticky = found.is_dir() && found.mode() & 0o1000 != 0;
    let kept = sticky && additions == Additions::ByAnyone;
    match (by_group || by_others) && !found.is_symlink() && !kept {
        false => Ok(()),
        true if sticky => bail!(
            "not trusted: other users may put files into {shown}; move the worker to a folder of its own"
        ),
        true => bail!(
            "not trusted: other users may write {shown}; take that from them (chmod go-w {shown})"
        ),
    }
}

/// Whether nobody but a user and root is in a group: many systems give every user a group of
/// their own and let it write. A group that these files do not tell of may hold anybody.
fn is_ours_alone(group: u32, user: u32) -> bool {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    alone_by(&read("/etc/group"), &read("/etc/passwd"), group, user)
}

/// The same by the text of group(5) and passwd(5).
fn alone_by(groups: &str, users: &str, group: u32, user: u32) -> bool {
    let numbers = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        Some((
            fields.first()?.to_string(),
            fields.get(2)?.parse().ok()?,
            fields.get(3)?.to_string(),
        ))
    };
    let users: Vec<(String, u32, String)> = users.lines().filter_map(numbers).collect();
    let ours = |id: u32| id == user || id == 0;
    let has_it = |of: &str| of.parse() == Ok(group);
    let is_ours = |name: &str| users.iter().any(|(known, id, _)| known == name && ours(*id));
    let entries: Vec<_> =
        groups.lines().filter_map(numbers).filter(|(_, id, _)| *id == group).collect();
    let mut members = entries.iter().flat_map(|(.., members)| members.split(',').map(str::trim));
    !entries.is_empty()
        && members.all(|name| name.is_empty() || is_ours(name))
        && users.iter().all(|(_, id, primary)| ours(*id) || !has_it(primary))
}

#[cfg(test)]
mod tests {
    use super::alone_by;

    #[test]
    fn a_group_of_ones_own_has_nobody_else() {
        let users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n\
                     bob:x:1001:1001::/home/bob:/bin/sh\neve:x:1002:50::/home/eve:/bin/sh\n";
        let groups = "root:x:0:\nstaff:x:50:\nann:x:1000:\nwheel:x:10:root,ann\n\
                      team:x:60:ann,bob\nbob:x:1001:\nfar:x:70:someone-in-ldap\n";
        let alone = |group| alone_by(groups, users, group, 1000);
        assert!(alone(1000) && alone(10) && alone(0));
        assert!(!alone(60), "bob is in it");
        assert!(!alone(1001), "it is bob's");
        assert!(!alone(50), "it is eve's first group");
        assert!(!alone(70) && !alone(4711), "nobody here knows who is in it");
    }
}
