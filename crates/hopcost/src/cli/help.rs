//! What the help of a command shows: options under headings, and in `-h` those that most need.

use clap::{Arg, Command};
use hopcost_model::Axis;

/// Options under headings; the others come first.
const HEADINGS: [(&str, &str); 4] = [
    ("Time", "rounds budget measure operations seed runs interval progress"),
    ("Output", "format details sentence percentiles output html plots out dry_run"),
    ("Two hosts", "peer peer_address"),
    ("Advanced", "cpus worker resume"),
];
/// Options beside those of the last two headings that `--help` alone shows.
const RARE: &str = "table across summary measure operations seed sentence percentiles \
                    output plots dry_run boundary statistic sort interval progress";
/// Options up to which a command needs neither.
const FEW: usize = 14;

/// The axes that the short help of a command shows; elsewhere a case spells them.
const AXES: [(&str, &str); 2] =
    [("run", "payload place wait runtime"), ("advise", "payload rate runtime")];

/// A subcommand with its options in order.
pub fn ordered(command: Command) -> Command {
    let axes = AXES.iter().find(|(name, _)| *name == command.get_name());
    let axes = axes.map_or("", |(_, axes)| axes);
    let is_long = command.get_arguments().count() > FEW;
    let has = |list: &str, name: &str| list.split(' ').any(|word| word == name);
    command.mut_args(|arg| {
        let name = arg.get_id().to_string();
        let heading = HEADINGS.iter().position(|(_, names)| has(names, &name));
        let is_rare = heading.is_some_and(|at| at > 1)
            || has(RARE, &name)
            || Axis::of_key(&name).is_some() && !has(axes, &name);
        let heading = heading.filter(|_| is_long).map(|at| HEADINGS[at].0);
        brief(arg).hide_short_help(is_long && is_rare).help_heading(heading)
    })
}

/// The short help is the first part of the long one.
fn brief(arg: Arg) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let end = [". ", "; "].into_iter().filter_map(|end| help.find(end)).min();
    match end.filter(|_| arg.get_long_help().is_none()) {
        Some(end) => arg.help(help[..end].to_owned()).long_help(help),
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
