//! The modes that the settings permit, and those that Shift+Tab goes through.

use crate::config::{Config, ConfigProblem, SettingTexts};
use crate::permission::Mode;

/// The modes of the list at `key`. An unknown name is a doubt about a permission only where the list is one.
fn read(config: &mut Config, key: &str, listed: &SettingTexts, is_permission: bool) -> Vec<Mode> {
    let mut modes = Vec::new();
    for (name, origin) in listed.with_origins() {
        match Mode::parse(name) {
            Some(mode) => modes.push(mode),
            None if is_permission => {
                config.add_permission_problem(ConfigProblem::of_value(
                    origin,
                    format!("`{key}`: unknown mode `{name}`"),
                ));
            }
            None => {
                let words = format!("`{key}`: unknown mode `{name}`");
                let problem = ConfigProblem::of_value(origin, words);
                config.problems.push(ConfigProblem { hint: None, permission: false, ..problem });
            }
        }
    }
    modes
}

/// Without the setting, all of them. A list without one mode that is known permits reading and no more.
pub(super) fn permitted(config: &mut Config) -> Vec<Mode> {
    let listed = config.settings().guard.permission_modes.clone();
    let is_set = !listed.is_empty();
    match read(config, "permission.modes", &listed, true) {
        modes if !is_set => Mode::ALL.into_iter().chain(modes).collect(),
        modes if modes.is_empty() => vec![Mode::None, Mode::Read],
        modes => modes,
    }
}

/// The mode in which a conversation starts. A default must not prevent a start: where the settings do not permit it,
/// the next stricter mode is used.
pub(super) fn first(config: &Config, permitted: &[Mode]) -> Mode {
    let mode = Mode::parse(&config.settings().conversation.mode).unwrap_or(Mode::Read);
    let stricter = || permitted.iter().copied().filter(|permitted| *permitted <= mode).max();
    match config.has_default_mode() {
        true => stricter().unwrap_or(mode),
        false => mode,
    }
}

pub(super) fn cycle(config: &mut Config) -> Vec<Mode> {
    let listed = config.settings().conversation.modes.clone();
    read(config, "modes", &listed, false)
}
