//! `/tree` and `/fork`: the branches of this conversation, and a new session that begins like it.
//!
//! Going to a branch changes what the model is sent, and no file.

use super::sessions::change_to;
use crate::conversation::Message;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::repl::titles::{first_words, when};
use crate::session::{BranchPosition, BranchTree, SessionBranch};
use crate::text::{sanitize, width};
use crate::ui::picker::{PickerFeed, PickerItem};

/// Cells of what a branch began with.
const WORDS: usize = 50;

pub(in crate::repl::commands) fn tree(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (store, id) = context.saved()?;
    let tree = store.tree(&id)?;
    if tree.branches.is_empty() {
        return Err(CommandStop::note("no messages yet"));
    }
    let wanted = match rest {
        "" if tree.branches.len() > 1 && is_interactive() && !context.output.is_linear() => {
            pick(context, &tree).ok_or(CommandStop::Cancelled)?
        }
        "" => {
            context.output.say_plain(lines(&tree));
            context.output.hint("/tree N opens a branch; /rewind starts one");
            return Ok(CommandFollowUp::Nothing);
        }
        number => number.to_string(),
    };
    match tree.branches.iter().find(|branch| branch.number.to_string() == wanted) {
        Some(branch) => go_to(context, branch),
        None => Err(CommandStop::with_hint(format!("no branch {wanted}"), "/tree lists them")),
    }
}

/// A branch's number.
fn pick(context: &CommandContext<'_>, tree: &BranchTree) -> Option<String> {
    let item = |branch: &SessionBranch| {
        let note = if branch.here.is_some() { "* you are here" } else { "" };
        PickerItem::new(words(branch), note).with_value(branch.number.to_string())
    };
    let feed = PickerFeed::of(tree.branches.iter().map(item).collect());
    context.output.pick_one(context.output.picker("Branches", feed))
}

fn go_to(context: &mut CommandContext<'_>, branch: &SessionBranch) -> SlashCommandResult {
    if branch.here == Some(BranchPosition::AtItsEnd) {
        return Err(CommandStop::note("the conversation is already there"));
    }
    let Some(agent) = &mut context.conversation.agent else { return Ok(CommandFollowUp::Nothing) };
    let notes = agent.go_to(branch.tip);
    let notes = notes.map_err(|e| format!("the conversation could not be moved there: {e}"))?;
    notes.iter().for_each(|note| context.output.note(note));
    context.output.note(&format!(
        "the conversation is at the end of branch {}; no file was changed, and the agent reads files again before it edits them",
        branch.number
    ));
    Ok(CommandFollowUp::Nothing)
}

/// `/fork [N]`: a session of its own from here, or from before the turn that `/rewind` numbers so.
pub(in crate::repl::commands) fn fork(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (store, id) = context.saved()?;
    let messages = context.conversation.messages();
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
        return Err(CommandStop::with_hint(why, "/rewind lists the turns"));
    };
    let pending = context.conversation.pending();
    let forked = store
        .find(id.as_str())
        .and_then(|row| store.fork(&row, until, context.app.cwd()))
        .and_then(|fork| store.find(fork.as_str()));
    let row = forked.map_err(|e| format!("this conversation cannot be forked: {e}"))?;
    change_to(context, &row)?;
    context.output.note(&format!("the earlier session is unchanged; /resume {id} opens it"));
    if pending.total() > 0 {
        context.output.note(&format!("its pending changes to {pending} stay with it"));
    }
    Ok(CommandFollowUp::Nothing)
}

/// A line for each branch: `*` where the conversation is, its number, and what it began with.
fn lines(tree: &BranchTree) -> Vec<String> {
    tree.branches
        .iter()
        .map(|branch| format!("{} {:>3}  {}", mark(branch), branch.number, words(branch)))
        .collect()
}

fn mark(branch: &SessionBranch) -> char {
    if branch.here.is_some() { '*' } else { ' ' }
}

fn words(branch: &SessionBranch) -> String {
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
