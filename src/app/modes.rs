//! The modes that the settings permit, and those that Shift+Tab goes through.

use crate::config::{Config, ConfigProblem};
use crate::permission::Mode;

/// The modes of a list. A name that is no mode is a doubt about a permission only where the list is one.
fn read(config: &mut Config, key: &str, is_permission: bool) -> Vec<Mode> {
    let mut modes = Vec::new();
    for (name, origin) in config.list(key).to_vec() {
        match Mode::parse(&name) {
            Some(mode) => modes.push(mode),
            None if is_permission => {
                config.add_permission_problem(ConfigProblem::of_value(
                    &origin,
                    format!("`{key}`: unknown mode `{name}`"),
                ));
            }
            None => {
                let words = format!("`{key}`: unknown mode `{name}`");
                let problem = ConfigProblem::of_value(&origin, words);
                config.problems.push(ConfigProblem { hint: None, permission: false, ..problem });
            }
        }
    }
    modes
}

/// Without the setting, all of them. A list without one mode that is known permits reading and no more.
pub(super) fn permitted(config: &mut Config) -> Vec<Mode> {
    let is_set = !config.list("permission.modes").is_empty();
    match read(config, "permission.modes", true) {
        modes if !is_set => Mode::ALL.into_iter().chain(modes).collect(),
        modes if modes.is_empty() => vec![Mode::None, Mode::Read],
        modes => modes,
    }
}

pub(super) fn cycle(config: &mut Config) -> Vec<Mode> {
    read(config, "modes", false)
}
