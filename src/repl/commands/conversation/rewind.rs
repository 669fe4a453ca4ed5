//! `/rewind`: back to before a turn, with its files, its words, or both. What it would do is shown first.

use super::rewind_picker;
use super::rewind_turn::{RewindScope, RewindTurn};
use crate::audit::AuditKind;
use crate::repl::commands::changes::label;
use crate::repl::commands::review;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::{ShellOutput, is_interactive};
use crate::repl::prompt::UnfinishedLine;
use crate::serve::changes::{figures, undo_entries};
use crate::text::{sanitize, visible, width};
use crate::ui::review::summary;
use crate::workspace::{ChangeCount, JournalEntry, View, Workspace};
use std::path::Path;

/// What the journal and the audit log call it.
pub(in crate::repl::commands) const REWIND: &str = "/rewind";

/// Lists the turns, or goes back to before the N-th from the end.
pub(in crate::repl::commands) fn rewind(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    // The conversation's own: an earlier session's turns are not in it.
    let view = context.conversation.own_workspace().and_then(Workspace::view).cloned();
    let view = view.ok_or_else(|| CommandStop::note("no messages yet"))?;
    let turns = RewindTurn::all(context.conversation.messages(), &view);
    if turns.is_empty() {
        return Err(CommandStop::note("no messages yet"));
    }
    let mut words = rest.split_whitespace();
    let (number, what, others) = (words.next(), words.next(), words.next() == Some("rest"));
    let Some(number) = number else {
        if !is_interactive() || context.output.is_linear() {
            list_turns(&context.output, &view, &turns);
            return Ok(CommandFollowUp::Nothing);
        }
        return rewind_to_chosen(context, &view, turns);
    };
    let from = number.parse::<usize>().ok().filter(|n| *n >= 1).and_then(|n| turns.len().checked_sub(n));
    let missing = || CommandStop::with_hint(format!("no turn {number}"), "/rewind lists the turns");
    let from = from.ok_or_else(missing)?;
    let what = match what {
        Some("files") => RewindScope::Files,
        Some("conversation") => RewindScope::Conversation,
        Some("both") => RewindScope::Both,
        _ => {
            let these = turns.get(from..).unwrap_or_default();
            list_turns(&context.output, &view, these);
            let shown = |path: &Path| visible::path(&context.app.workspace.shortened(path));
            let rows = view.undone_git_rows(&RewindTurn::entries_of(these), &shown);
            context.output.say_plain(rows.into_iter().map(|row| format!("     undone in {row}")));
            return Err(CommandStop::with_hint(
                "choose what to rewind with these turns",
                format!("/rewind {number} files, /rewind {number} conversation or /rewind {number} both"),
            ));
        }
    };
    rewind_to(context, &view, turns.into_iter().skip(from).collect(), what, others)
}

/// The person chooses the turn from a list. The message of that turn becomes the next line, to be edited and sent.
fn rewind_to_chosen(
    context: &mut CommandContext<'_>,
    view: &View,
    turns: Vec<RewindTurn>,
) -> SlashCommandResult {
    let chosen = rewind_picker::choose(context, view, &turns);
    let (from, what) = chosen.ok_or(CommandStop::Cancelled)?;
    let before = context.conversation.messages().len();
    let typed = turns.get(from).map(|turn| turn.typed.clone()).unwrap_or_default();
    let followed = rewind_to(context, view, turns.into_iter().skip(from).collect(), what, false)?;
    match context.conversation.messages().len() < before {
        true => Ok(CommandFollowUp::EditLine(UnfinishedLine::new(typed))),
        false => Ok(followed),
    }
}

/// The report of a review left the conversation with its message: it goes with the next one. The turn before made the
/// changes that it is about, so the agent understands it there.
fn send_again(context: &CommandContext<'_>, view: &View, report: String) {
    let brief = summary(&report).unwrap_or_default();
    match review::report_is_unsent(view, report) {
        Ok(()) => {
            let then = "its decisions and comments go with your next message";
            context.output.note(&format!("{brief}: {then}"));
        }
        Err(e) => {
            let why = format!("the report of the review is not sent again: {e}");
            context.output.error(&why, Some("/tree shows the branch with the report"));
        }
    }
}

fn list_turns(output: &ShellOutput<'_>, view: &View, turns: &[RewindTurn]) {
    let line = |(back, turn): (usize, &RewindTurn)| {
        let (files, added, removed) = figures(view, &turn.entries);
        let count = ChangeCount::of_entries(&turn.entries);
        let figures = match files {
            0 => count.to_string(),
            _ => format!("{count} +{added} -{removed}"),
        };
        let said = width::cut(&sanitize::line(&turn.said), 60);
        format!("{:>3}  {said}  ({figures})", back + 1)
    };
    output.say_plain(turns.iter().rev().enumerate().take(20).map(line));
    output.hint("/rewind N files|conversation|both rewinds to before that turn");
}

fn rewind_to(
    context: &mut CommandContext<'_>,
    view: &View,
    turns: Vec<RewindTurn>,
    what: RewindScope,
    rest: bool,
) -> SlashCommandResult {
    let Some(first) = turns.first() else { return Ok(CommandFollowUp::Nothing) };
    let (index, report) = (first.index, first.report.clone());
    let entries: Vec<JournalEntry> = turns.into_iter().flat_map(|t| t.entries).collect();
    if what != RewindScope::Conversation && !entries.is_empty() {
        let workspace = context.app.workspace;
        let again = (rest, "/rewind N files|both rest");
        let shown = |path: &Path| workspace.shortened(path);
        let report = context.with_apply_progress(view, || {
            undo_entries(view, entries, None, again, &label(view, REWIND), &shown)
        });
        let done = report.done;
        context.record(AuditKind::Undo, REWIND, report);
        if !done {
            // Words and files go back together or not at all.
            return Ok(CommandFollowUp::Nothing);
        }
    }
    if what != RewindScope::Files
        && let Some(agent) = &mut context.conversation.agent
    {
        agent.rewind(index).map_err(|e| format!("the conversation could not be rewound: {e}"))?;
        context.output.note("the conversation is rewound to before that turn; /tree shows the branch that you left, and the agent reads files again before it edits them");
        if let Some(report) = report {
            send_again(context, view, report);
        }
    }
    Ok(CommandFollowUp::Nothing)
}
