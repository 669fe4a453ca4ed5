//! `/tree` and `/fork`: the branches of this conversation, and a new session that begins like it.
//!
//! Going to a branch changes what the model is sent, and no file.

use super::command_table::CommandFollowUp;
use super::session::{first_words, when};
use super::{Shell, pickers};
use crate::agent::Agent;
use crate::conversation::{Message, SessionId};
use crate::session::{BranchPosition, BranchTree, SessionBranch, SessionStore};
use crate::text::{sanitize, width};
use ratatui::text::Line;

/// Cells of what a branch began with.
const WORDS: usize = 50;

pub(super) fn tree(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some((store, id)) = saved(shell) else {
        shell.note("nothing is saved yet");
        return None;
    };
    let tree = match store.tree(&id) {
        Ok(tree) if tree.branches.is_empty() => {
            shell.note("no messages yet");
            return None;
        }
        Ok(tree) => tree,
        Err(e) => {
            shell.error(&e.to_string(), None);
            return None;
        }
    };
    let wanted = match rest {
        "" if tree.branches.len() > 1 && pickers::is_interactive() && !shell.is_linear() => {
            shell.pick_branch(&tree)?
        }
        "" => {
            shell.say_lines(lines(&tree).into_iter().map(Line::raw));
            shell.hint("/tree N opens a branch; /rewind starts one");
            return None;
        }
        number => number.to_string(),
    };
    match tree.branches.iter().find(|branch| branch.number.to_string() == wanted) {
        Some(branch) => shell.go_to(branch),
        None => shell.error(&format!("no branch {wanted}"), Some("/tree lists them")),
    }
    None
}

/// `/fork [N]`: a session of its own from here, or from before the turn that `/rewind` numbers so.
pub(super) fn fork(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some((store, id)) = saved(shell) else {
        shell.note("nothing is saved yet");
        return None;
    };
    let messages = shell.conversation.agent.as_ref().map_or(&[][..], |a| a.transcript().messages());
    let begins = |(at, message): (usize, &Message)| matches!(message, Message::User { .. }).then_some(at);
    let turns: Vec<usize> = messages.iter().enumerate().filter_map(begins).collect();
    let until = match rest {
        "" => Some(messages.len()),
        number => number
            .parse::<usize>()
            .ok()
            .filter(|n| *n >= 1)
            .and_then(|n| turns.len().checked_sub(n))
            .and_then(|n| turns.get(n).copied()),
    };
    let Some(until) = until.filter(|until| *until > 0) else {
        let why = if rest.is_empty() { "no messages yet".into() } else { format!("no turn before {rest}") };
        shell.error(&why, Some("/rewind lists the turns"));
        return None;
    };
    let pending = shell.pending();
    let forked = store
        .find(id.as_str())
        .and_then(|row| store.fork(&row, until, shell.app.cwd()))
        .and_then(|fork| store.find(fork.as_str()));
    match forked {
        Ok(row) => {
            if shell.change_to(&row) {
                shell.note(&format!("the earlier session is unchanged; /resume {id} opens it"));
                if pending > 0 {
                    shell.note(&format!("its pending changes ({pending}) stay with it"));
                }
            }
        }
        Err(e) => shell.error(&format!("this conversation cannot be forked: {e}"), None),
    }
    None
}

/// The session of this conversation, where there is one.
pub(super) fn saved(shell: &Shell<'_>) -> Option<(SessionStore, SessionId)> {
    let session = shell.conversation.agent.as_ref().and_then(Agent::session)?;
    Some((session.store().clone(), session.id().clone()))
}

impl Shell<'_> {
    fn go_to(&mut self, branch: &SessionBranch) {
        if branch.here == Some(BranchPosition::AtItsEnd) {
            return self.note("the conversation is already there");
        }
        let Some(agent) = &mut self.conversation.agent else { return };
        match agent.go_to(branch.tip) {
            Ok(notes) => {
                notes.iter().for_each(|note| self.note(note));
                self.note(&format!(
                    "the conversation is at the end of branch {}; no file was changed, and the agent reads files again before it edits them",
                    branch.number
                ));
            }
            Err(e) => self.error(&format!("the conversation could not be moved there: {e}"), None),
        }
    }
}

/// A line for each branch: `*` where the conversation is, its number, and what it began with.
pub(super) fn lines(tree: &BranchTree) -> Vec<String> {
    tree.branches
        .iter()
        .map(|branch| format!("{} {:>3}  {}", mark(branch), branch.number, words(branch)))
        .collect()
}

fn mark(branch: &SessionBranch) -> char {
    if branch.here.is_some() { '*' } else { ' ' }
}

pub(super) fn words(branch: &SessionBranch) -> String {
    // A deeper indent would leave no columns for the words.
    let indent = "  ".repeat(branch.depth.min(10));
    let said = first_words(&branch.said);
    let said = said.lines().next().unwrap_or_default();
    let said = width::cut(&sanitize::line(said), WORDS).to_string();
    let s = if branch.turns == 1 { "" } else { "s" };
    let from = match branch.after {
        0 => String::new(),
        after => format!(" after turn {after}"),
    };
    let here = match branch.here {
        Some(BranchPosition::After(turn)) => format!(", you are after turn {turn}"),
        Some(BranchPosition::AtItsEnd) | None => String::new(),
    };
    format!("{indent}{said}  ({} turn{s}{from}, {}{here})", branch.turns, when(branch.at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Note, Part};

    #[test]
    fn a_branch_hangs_below_the_one_it_parts_from_and_hostile_words_are_plain() {
        let branch = |number, depth, after, said: &str, here| SessionBranch {
            number,
            depth,
            after,
            turns: number,
            said: vec![Part::Note(Note::GoesOn), Part::text(said)],
            here,
            ..SessionBranch::default()
        };
        let tree = BranchTree {
            branches: vec![
                branch(1, 0, 0, "first\nmore", Some(BranchPosition::After(1))),
                branch(2, 1, 1, "\u{1b}[31mred", None),
            ],
        };
        let day = when(0);
        assert_eq!(
            lines(&tree),
            [
                format!("*   1  first  (1 turn, {day}, you are after turn 1)"),
                format!("    2    ␛[31mred  (2 turns after turn 1, {day})"),
            ]
        );
    }
}
