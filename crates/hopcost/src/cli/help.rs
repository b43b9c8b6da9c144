//! What the help of a command shows: options under headings, and in `-h` those that most need.

use clap::{Arg, Command};
use hopcost_model::axis::Axis;

/// Options that had another name once, which is still taken.
pub const OLD_NAMES: [(&str, &str); 4] = [
    ("duration", "budget"),
    ("placement", "place"),
    ("isolation", "boundary"),
    ("optimise", "sort"),
];

/// Budgets of the commands that have one by default.
const BUDGETS: [(&str, &str); 4] =
    [("compare", "20s"), ("advise", "60s"), ("explain", "30s"), ("judge", "10m")];

/// The budget of a command where none is given.
pub fn budget(command: &str) -> Option<&'static str> {
    BUDGETS.iter().find(|(name, _)| *name == command).map(|(_, budget)| *budget)
}

/// Options under headings; the others come first.
const HEADINGS: [(&str, &str); 4] = [
    ("Time", "rounds until budget measure operations seed runs"),
    ("Output", "format details sentence percentiles output html plots perfetto out group dry_run"),
    ("Two hosts and fleets", "peer peer_address agent lease"),
    ("Advanced", "cpus worker resume"),
];
/// Options beside those of the last two headings that `--help` alone shows.
const RARE: &str = "table across summary strict baseline measure operations seed sentence \
                    percentiles output plots perfetto group dry_run boundary runs statistic margin \
                    sort";
/// Axes that the short help of a command shows. Elsewhere a case spells them.
const USUAL: [(&str, &str); 2] =
    [("run", "payload place wait runtime"), ("advise", "payload rate runtime")];
/// Options up to which a command needs neither.
const FEW: usize = 14;

/// The command with its options in order.
pub fn shaped(command: Command) -> Command {
    command.mut_subcommands(|sub| {
        let usual = USUAL.iter().find(|(name, _)| *name == sub.get_name());
        let usual = usual.map_or("", |(_, axes)| axes);
        let is_long = sub.get_arguments().count() > FEW;
        let sub_name = sub.get_name().to_owned();
        let has = |list: &str, name: &str| list.split(' ').any(|word| word == name);
        sub.mut_args(|arg| {
            let name = arg.get_id().to_string();
            let heading = HEADINGS.iter().position(|(_, names)| has(names, &name));
            let is_rare = heading.is_some_and(|at| at > 1)
                || has(RARE, &name)
                || Axis::of_key(&name).is_some() && !has(usual, &name);
            let arg = match budget(sub_name.as_str()).filter(|_| name == "budget") {
                Some(default) => brief(arg, &format!(" [default: {default}]")),
                None => brief(arg, ""),
            };
            let arg = arg.hide_short_help(is_long && is_rare);
            match heading.filter(|_| is_long) {
                Some(at) => arg.help_heading(HEADINGS[at].0),
                None => arg,
            }
        })
    })
}

/// The short help is the first part of the long one; both end with the default.
fn brief(arg: Arg, default: &str) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let end = [". ", "; "].into_iter().filter_map(|end| help.find(end)).min();
    match end.filter(|_| arg.get_long_help().is_none()) {
        Some(end) => {
            arg.help(format!("{}{default}", &help[..end])).long_help(format!("{help}{default}"))
        }
        None => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    /// The short helps of a command and of those below it.
    fn helps(command: &mut Command) -> Vec<(String, String)> {
        let name = command.get_bin_name().unwrap_or("hopcost").to_owned();
        let mut all = vec![(name, command.render_help().to_string())];
        let shown = command.get_subcommands_mut().filter(|sub| !sub.is_hide_set());
        all.extend(shown.flat_map(helps));
        all
    }

    #[test]
    fn a_short_help_has_25_lines_at_most() {
        let mut command = command().term_width(100);
        command.build();
        for (name, help) in helps(&mut command) {
            assert!(help.lines().count() <= 25, "{name}: {}\n{help}", help.lines().count());
        }
        let help = command.render_help().to_string();
        assert!(help.lines().next().is_some_and(|line| line.contains("no arguments")), "{help}");
    }
}
