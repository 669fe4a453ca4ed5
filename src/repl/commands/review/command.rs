//! `/review`, and the report that the agent is sent of it.

use super::apply::{apply_review, memory_of, review_of};
use super::blame::{blamed, turn_numbers};
use super::plain;
use crate::agent::TurnStart;
use crate::conversation::Part;
use crate::repl::commands::changes::{label, paths};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::pending_elsewhere::pending_elsewhere;
use crate::text::count;
use crate::ui::review::{Review, ReviewContext, ReviewOutcome, ReviewPane, SavedReview, TABLE};
use crate::ui::{full_screen, line_ui};
use crate::workspace::{LargeLoss, View, Workspace};
use std::path::Path;
use std::sync::Arc;

/// Shows what is pending at these paths. The person may want to begin a turn with what came of it.
pub(in crate::repl::commands) fn review(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let only = paths(&workspace, rest)?;
    let review = review_of(&workspace, &view, &only)
        .map_err(|e| format!("cannot read the pending changes: {e}"))?
        .ok_or_else(|| CommandStop::note("nothing is pending"))?;
    let (review, outcome) = match context.output.is_linear() {
        true => {
            if let Some(elsewhere) = pending_elsewhere(context) {
                context.output.note(&elsewhere.line);
            }
            // A mistake in the keys is reported here, too.
            context.output.keymap("review", TABLE);
            plain::run(&context.output, review, &memory_of(&view))
        }
        false => on_screen(context, review, &view)?,
    };
    let start = match outcome {
        ReviewOutcome::Left => {
            if review.tally() != (0, 0) || review.visible_comments().next().is_some() {
                context.output.hint("your decisions and comments are saved; /review continues");
            }
            None
        }
        ReviewOutcome::Apply { tell } => apply_decisions(context, &workspace, &view, &review, tell),
    };
    if let left @ 1.. = context.conversation.pending() {
        context.output.note(&format!("{} still pending", count::of(left, "change")));
    }
    Ok(start.map_or(CommandFollowUp::Nothing, CommandFollowUp::TurnWithReport))
}

fn on_screen(
    context: &CommandContext<'_>,
    review: Review,
    view: &View,
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
    };
    let mut review = review;
    if let Some(elsewhere) = pending_elsewhere(context) {
        review.say(elsewhere.line);
    }
    let mut pane = ReviewPane::new(review, desk);
    full_screen::run(&mut pane).map_err(|e| {
        CommandStop::with_hint(format!("the terminal failed: {e}"), "your decisions are saved")
    })?;
    let outcome = pane.outcome;
    Ok((pane.into_review(), outcome))
}

/// Carries the decisions out; what comes back is the turn in which the agent learns of them.
fn apply_decisions(
    context: &CommandContext<'_>,
    workspace: &Workspace,
    view: &View,
    review: &Review,
    tell: bool,
) -> Option<TurnStart> {
    let confirm = |losses: &[LargeLoss]| {
        line_ui::confirm_losses(losses, &|path: &Path| workspace.shortened(path), line_ui::consent)
    };
    let carried = match apply_review(workspace, view, review, confirm, label(view, "/review")) {
        Ok(carried) => carried,
        Err(e) => {
            let why = format!("nothing was applied: cannot read the pending changes: {e}");
            context.output.error(&why, None);
            return None;
        }
    };
    for (kind, report) in carried.steps {
        context.record(kind, "/review", report);
    }
    match carried.outbox {
        Some(report) if tell => Some(TurnStart::Say(vec![Part::text(&report)])),
        Some(_) => {
            context.output.note("your rejections and comments will be sent with your next message");
            None
        }
        None => None,
    }
}

/// What the agent has still to be sent, for the next message.
pub(in crate::repl) fn unsent_report(context: &CommandContext<'_>) -> Option<String> {
    let (_, view) = context.conversation.viewed()?;
    SavedReview::load(&memory_of(&view)).outbox
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
