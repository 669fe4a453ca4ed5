//! `/review`, and the report that the agent is sent of it.

use super::apply::{ReviewApply, accepted_changes, apply_review, memory_of, review_of};
use super::blame::{blamed, turn_numbers};
use super::decided::end_decisions;
use super::plain;
use crate::agent::{TurnStart, pending_words};
use crate::audit::AuditKind;
use crate::conversation::{Note, Part};
use crate::repl::commands::changes::{apply_label, paths};
use crate::repl::commands::checks::check_env;
use crate::repl::commands::conversation::sessions::show_last_turn;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::pending_elsewhere::{lines_about_others, short_lines_about_others};
use crate::tools::{CheckBoard, ToolContext, UnmetCheck, passed_checks, passed_words};
use crate::ui::review::{
    Review, ReviewChecks, ReviewContext, ReviewOpenedFrom, ReviewOutcome, ReviewPane, SavedReview, TABLE,
};
use crate::ui::{full_screen, line_ui, review};
use crate::workspace::{LargeLoss, PassedCheck, ShownChanges, TransactionLabel, View, Workspace};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Shows what is pending at these paths. The person may want to begin a turn with what came of it.
pub(in crate::repl::commands) fn review(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    open(context, rest, ReviewOpenedFrom::Prompt)
}

/// Shows all that is pending. Without an application the apply question follows again.
pub(in crate::repl) fn review_from_question(context: &mut CommandContext<'_>) -> CommandFollowUp {
    open(context, "", ReviewOpenedFrom::ApplyQuestion).unwrap_or_else(|stop| {
        stop.tell(&context.output);
        CommandFollowUp::Nothing
    })
}

fn open(context: &mut CommandContext<'_>, rest: &str, opened_from: ReviewOpenedFrom) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let only = paths(&workspace, rest)?;
    let (shown, mut review) = review_of(&workspace, &view, &only)
        .map_err(|e| format!("cannot read the pending changes: {e}"))?
        .ok_or_else(|| CommandStop::note("nothing is pending"))?;
    review.task.opened_from = opened_from;
    let env = check_env(context, &workspace, &view);
    let (review, outcome) = match context.output.is_linear() {
        true => {
            lines_about_others(context).iter().for_each(|line| context.output.note(line));
            // A mistake in the keys is reported here, too.
            context.output.keymap("review", TABLE);
            plain::run(&context.output, review, &memory_of(&view))
        }
        false => on_screen(context, review, (&view, env.as_ref()))?,
    };
    let start = match outcome {
        ReviewOutcome::Left if opened_from == ReviewOpenedFrom::ApplyQuestion => {
            return Ok(CommandFollowUp::ApplyQuestion);
        }
        ReviewOutcome::Left => {
            if review.tally() != (0, 0) || review.visible_comments().next().is_some() {
                context.output.hint("your decisions and comments are saved; /review continues");
            }
            None
        }
        ReviewOutcome::Apply { tell } => {
            apply_decisions(context, (&workspace, env.as_ref()), (shown, &review), tell)
        }
    };
    let left = context.conversation.pending();
    // The turn that follows says it at its end.
    if left.total() > 0 && start.is_none() {
        context.output.note(&pending_words(left));
    }
    Ok(start.map_or(CommandFollowUp::Nothing, CommandFollowUp::TurnWithReport))
}

fn on_screen(
    context: &CommandContext<'_>,
    review: Review,
    (view, env): (&View, Option<&Arc<ToolContext>>),
) -> Result<(Review, ReviewOutcome), CommandStop> {
    let output = &context.output;
    let turns = turn_numbers(context.conversation.messages(), view);
    let (blaming, board) = (view.clone(), output.clipboard());
    let desk = ReviewContext {
        theme: output.theme.clone(),
        keys: output.keymap("review", TABLE),
        editor: context.app.config.settings().conversation.editor.clone(),
        memory: Some(memory_of(view)),
        outbox: SavedReview::load(&memory_of(view)).outbox,
        blame: Arc::new(move |path| blamed(&blaming, path, &turns)),
        display: output.display(),
        copy: Box::new(move |text| {
            board.copy(text).map_or_else(|e| format!("not copied: {e}"), |copied| copied.words())
        }),
        checks: env.and_then(|env| review_checks(context, env)),
    };
    let mut review = review;
    review.footer.advice = context.in_review.clone();
    let others = short_lines_about_others(context);
    if !others.is_empty() {
        review.say_also(&others.join("; "));
    }
    let mut pane = ReviewPane::new(review, desk);
    full_screen::run(&mut pane).map_err(|e| {
        CommandStop::with_hint(format!("the terminal failed: {e}"), "your decisions are saved")
    })?;
    // Some terminals drop rows of the usual screen while another one is shown: xterm when it becomes higher and then lower.
    // The question that follows is about the answer, and at the prompt the person reads on there.
    if pane.was_resized {
        show_last_turn(context);
    }
    let outcome = pane.outcome;
    Ok((pane.into_review(), outcome))
}

/// The checks of the pending changes, for the review of them.
fn review_checks(context: &CommandContext<'_>, env: &Arc<ToolContext>) -> Option<ReviewChecks<'static>> {
    Some(ReviewChecks {
        board: CheckBoard::new(env, context.runtime.handle().clone())?,
        selection: Box::new(accepted_changes),
        output: context.output.check_output(&env.workspace, &env.checks),
    })
}

/// The checks that passed on exactly what is accepted; or why nothing is applied.
fn passed_on(
    env: Option<&Arc<ToolContext>>,
    shown: &ShownChanges,
    review: &Review,
) -> Result<Vec<PassedCheck>, UnmetCheck> {
    let Some(env) = env else { return Ok(Vec::new()) };
    passed_checks(env, shown.view(), (shown.set(), &accepted_changes(review)))
}

/// Carries the decisions out; what comes back is the turn in which the agent learns of them.
fn apply_decisions(
    context: &CommandContext<'_>,
    (workspace, env): (&Workspace, Option<&Arc<ToolContext>>),
    (shown, review): (ShownChanges, &Review),
    tell: bool,
) -> Option<TurnStart> {
    let confirm = |losses: &[LargeLoss]| {
        line_ui::confirm_losses(losses, &|path: &Path| workspace.shortened(path), line_ui::consent)
    };
    if !context.can_save("nothing was applied; your decisions are saved") {
        return None;
    }
    let checks = match passed_on(env, &shown, review) {
        Ok(checks) => checks,
        Err(e) => {
            context
                .output
                .error(&e.to_string(), Some("your decisions are saved; t in /review runs the checks"));
            return None;
        }
    };
    let view = shown.view().clone();
    let label = TransactionLabel { checks: checks.clone(), ..apply_label(&view, "/review") };
    let run = |apply: ReviewApply<'_>| context.with_apply_progress(&view, apply);
    let carried = apply_review(workspace, (shown, review), (confirm, run), label, "/undo");
    for (kind, mut report) in carried.steps {
        if kind == AuditKind::Apply && report.done {
            report.lines.extend(passed_words(&checks));
        }
        context.record(kind, "/review", report);
    }
    match carried.outbox {
        Some(report) if tell => {
            let part = report_part(report);
            if let Some(note) = part.as_note() {
                context.output.note(&format!("sent to the agent: {}", note.headline()));
            }
            Some(TurnStart::Say(vec![part]))
        }
        Some(_) => {
            context.output.note(super::SENT_LATER);
            None
        }
        None => None,
    }
}

/// The report of a review as a part of a message, with the same in short for the person.
pub(in crate::repl) fn report_part(report: String) -> Part {
    let brief = review::summary(&report).unwrap_or_default();
    Part::Note(Note::Review { report, brief })
}

/// The question about the changes is over: what was decided and commented in its review and not carried out goes with the
/// next message.
pub(in crate::repl) fn end_review(context: &CommandContext<'_>) {
    let Some((workspace, view)) = context.conversation.viewed() else { return };
    if let Err(e) = end_decisions(&workspace, &view) {
        tracing::warn!("the state of the review was not saved: {e}");
    }
}

/// What the agent has still to be sent, for the next message.
pub(in crate::repl) fn unsent_report(context: &CommandContext<'_>) -> Option<String> {
    let (_, view) = context.conversation.viewed()?;
    SavedReview::load(&memory_of(&view)).outbox
}

/// A report that was sent is to be sent again, before what has come since.
pub(in crate::repl::commands) fn report_is_unsent(view: &View, report: String) -> io::Result<()> {
    let file = memory_of(view);
    SavedReview::load(&file).with_report_first(report).save(&file)
}

pub(in crate::repl) fn report_was_sent(context: &CommandContext<'_>) {
    let Some((_, view)) = context.conversation.viewed() else { return };
    let file = memory_of(&view);
    let mut memory = SavedReview::load(&file);
    if memory.outbox.take().is_some()
        && let Err(e) = memory.save(&file)
    {
        tracing::warn!("the state of the review was not saved: {e}");
    }
}
