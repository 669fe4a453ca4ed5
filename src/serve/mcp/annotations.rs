//! The annotations of a tool: hints about its effects. With them, codex and Claude Code decide whether to call a tool without
//! a question, and whether to call it at all in their read-only modes.
//!
//! They are true for the mode that is served: in ask mode nothing reaches the workspace before a person applies it.

use super::transaction;
use crate::permission::Mode;
use rmcp::model::ToolAnnotations;

/// What a call of a tool can do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolEffect {
    Reads,
    /// Files of the workspace, or more than is known.
    Writes,
    Runs,
    /// Pending changes are gone: a change that is too large for undo cannot be restored.
    Discards,
    /// What is pending becomes real, or what was applied is reverted.
    Applies,
    /// Pages of the web; nothing is changed here.
    Fetches,
}

impl ToolEffect {
    /// By the native tool that rules about the tool name. A tool that has no such name is judged by the most it could do.
    fn of(native: &str) -> ToolEffect {
        match native {
            "read_file" | "list_directory" | "find_files" | "search_contents" | transaction::CHANGES => {
                ToolEffect::Reads
            }
            transaction::DISCARD => ToolEffect::Discards,
            transaction::APPLY | transaction::UNDO => ToolEffect::Applies,
            "run_command" => ToolEffect::Runs,
            "fetch_url" | "search_web" => ToolEffect::Fetches,
            _ => ToolEffect::Writes,
        }
    }
}

/// The annotations of the tool that rules call `native`. `has_network` is true where a command can reach hosts, `applies`
/// where clients may apply what is pending.
pub(super) fn of(native: &str, mode: Mode, has_network: bool, applies: bool) -> ToolAnnotations {
    let effect = ToolEffect::of(native);
    let reads_only = match effect {
        ToolEffect::Reads | ToolEffect::Fetches => true,
        // Everything that the command changes is discarded.
        ToolEffect::Runs => mode <= Mode::Read,
        ToolEffect::Writes | ToolEffect::Discards | ToolEffect::Applies => false,
    };
    let destroys = match effect {
        ToolEffect::Discards => true,
        ToolEffect::Applies => applies || mode > Mode::Ask,
        // What waits for a person destroys nothing.
        _ => !reads_only && mode > Mode::Ask,
    };
    let is_open = effect == ToolEffect::Fetches || effect == ToolEffect::Runs && has_network;
    ToolAnnotations::new().read_only(reads_only).destructive(destroys).open_world(is_open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_true_for_the_mode() {
        let hints = |native: &str, mode, network| {
            let found = of(native, mode, network, false);
            let hint = |hint: Option<bool>| hint.unwrap();
            (hint(found.read_only_hint), hint(found.destructive_hint), hint(found.open_world_hint))
        };
        for mode in Mode::ALL {
            assert_eq!(hints("read_file", mode, true), (true, false, false));
        }
        assert_eq!(hints("fetch_url", Mode::Ask, false), (true, false, true));
        assert_eq!(hints("write_file", Mode::Read, false), (false, false, false));
        assert_eq!(hints("write_file", Mode::Ask, false), (false, false, false));
        assert_eq!(hints("write_file", Mode::Write, false), (false, true, false));
        assert_eq!(hints("run_command", Mode::Read, false), (true, false, false));
        assert_eq!(hints("run_command", Mode::Ask, true), (false, false, true));
        assert_eq!(hints("run_command", Mode::Unrestricted, true), (false, true, true));
        assert_eq!(hints("changes", Mode::Ask, false), (true, false, false));
        assert_eq!(hints("discard", Mode::Ask, false), (false, true, false));
        assert_eq!(hints("undo", Mode::Ask, false), (false, false, false));
        assert_eq!(hints("undo", Mode::Write, false), (false, true, false));
        assert_eq!(of("undo", Mode::Ask, false, true).destructive_hint, Some(true));
        assert_eq!(of("apply", Mode::Ask, false, true).destructive_hint, Some(true));
        assert_eq!(hints("a tool that nobody knows", Mode::Write, false), (false, true, false));
    }
}
