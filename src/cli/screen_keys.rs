//! What is wrong with the keys of the screens in the settings, before a screen opens.

use crate::config::Config;
use crate::repl::keymap;
use crate::ui::keymap::KeyBinding;
use crate::ui::{pager, picker, review, run_page, scratchpads, transcript, viewer};

/// The first mistake of each screen.
pub(super) fn errors(config: &Config) -> Vec<String> {
    let found = [
        error(config, "review", review::TABLE),
        error(config, "transcript", transcript::KEYS),
        error(config, "viewer", viewer::KEYS),
        error(config, "pager", pager::KEYS),
        error(config, "picker", picker::KEYS),
        error(config, "scratchpads", scratchpads::KEYS),
        error(config, "run", run_page::KEYS),
    ];
    found.into_iter().flatten().collect()
}

fn error<A: Copy + PartialEq>(
    config: &Config,
    screen: &str,
    table: &'static [KeyBinding<A>],
) -> Option<String> {
    keymap(config, screen, table).err().map(|e| e.to_string())
}
