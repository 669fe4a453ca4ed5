//! `/taint`: how high what this conversation has seen is classified, and starting again below that.

use super::command_table::CommandFollowUp;
use super::prompt::PromptEditor;
use super::{ReplError, Shell, commands};
use crate::permission::{ClassificationLevel, Policy};
use std::sync::PoisonError;

pub(super) fn run(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    match rest {
        "" => show(shell),
        "reset" if shell.conversation.agent.is_none() => shell.note("no conversation yet"),
        // The question needs the prompt, which comes next.
        "reset" => shell.resetting = true,
        other => shell.error(&format!("unknown argument `{other}` of /taint"), Some("/taint, /taint reset")),
    }
    None
}

fn with<T>(shell: &Shell<'_>, look: impl FnOnce(&Policy) -> T) -> T {
    look(&shell.app.policy().lock().unwrap_or_else(PoisonError::into_inner))
}

fn show(shell: &Shell<'_>) {
    let (off, level, ceiling) = with(shell, |policy| {
        (policy.labels().is_off(), policy.taint().load(), policy.labels().provider_ceiling())
    });
    if off {
        shell.note("no paths are classified");
        shell.hint("set `classification.paths` in your settings");
        return;
    }
    shell.note(&format!("session level: {level}; this provider may receive up to {ceiling}"));
    if level > ClassificationLevel::Public {
        shell.hint(
            "the level rises with the files that are read and never falls; /taint reset starts a new conversation",
        );
    }
}

impl Shell<'_> {
    /// What the prompt shows of it: nothing while it is PUBLIC.
    pub(super) fn level(&self) -> ClassificationLevel {
        with(
            self,
            |policy| {
                if policy.labels().is_off() { ClassificationLevel::Public } else { policy.taint().load() }
            },
        )
    }

    pub(super) fn reset_taint(&mut self, prompter: &mut PromptEditor) -> Result<(), ReplError> {
        let level = self.level();
        let answer = prompter.ask_word(&format!(
            "This conversation is {level}. Type `reset` to start a new conversation, Enter to stay: "
        ));
        if answer.trim() != "reset" {
            self.note("nothing was changed");
            return Ok(());
        }
        commands::new(self, "");
        Ok(())
    }
}
