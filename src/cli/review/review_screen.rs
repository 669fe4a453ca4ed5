//! The review on the screen, for every kind of difference, and what a person wrote in it.

use crate::app::App;
use crate::cli::command_line::review_args::ReviewArgs;
use crate::cli::report::{self, CliError, print, print_foreign, warn};
use crate::cli::screen;
use crate::cli::startup::start;
use crate::repl::keymap;
use crate::ui::clipboard::Clipboard;
use crate::ui::picture::PictureDisplay;
use crate::ui::review::{
    BlameFn, Review, ReviewChecks, ReviewContext, ReviewItem, ReviewOutcome, ReviewPane, SavedReview, TABLE,
    accepted, markdown, value,
};
use crate::ui::{full_screen, term};
use std::path::PathBuf;

/// Shows the pane. Returns `None` when there is no screen and the review was printed instead.
pub(in crate::cli) fn shown(
    args: &ReviewArgs,
    app: &App,
    review: Review,
    memory: PathBuf,
    blame: BlameFn,
    checks: Option<ReviewChecks<'_>>,
) -> Result<Option<(Review, ReviewOutcome)>, CliError> {
    let settings = app.config.settings();
    let linear = args.linear || settings.ui.linear;
    let base = if linear { None } else { term::BaseMode::enter_any().ok() };
    let Some(base) = base else {
        if args.output.is_some() || args.json {
            return Err(CliError::usage(
                "`--output` and `--json` write your decisions, and nobody can decide without a terminal",
            )
            .hint("leave them out to print the review"));
        }
        print_foreign(&sentences(&review))?;
        return Ok(None);
    };
    let variable = |name: &str| std::env::var(name).ok();
    let (theme, depth) = screen::theme_of_screen(app)?;
    let keys = keymap(&app.config, "review", TABLE).map_err(CliError::usage)?;
    let display = PictureDisplay::of(settings.ui.pictures, depth, variable);
    let cache = start::paths()?.cache;
    let desk = ReviewContext {
        theme,
        keys,
        editor: settings.conversation.editor.clone(),
        outbox: SavedReview::load(&memory).outbox,
        memory: Some(memory),
        blame,
        display,
        checks,
        copy: Box::new(move |text| {
            let board = Clipboard::new(|name| std::env::var(name).ok(), &cache);
            board.copy(text).map_or_else(|e| format!("not copied: {e}"), |copied| copied.words())
        }),
    };
    let mut pane = ReviewPane::new(review, desk);
    full_screen::run(&mut pane).map_err(|e| CliError::new(format!("the terminal failed: {e}")))?;
    // It may have come late.
    screen::keep_background();
    drop(base);
    let outcome = pane.outcome;
    Ok(Some((pane.into_review(), outcome)))
}

/// The whole review as numbered sentences with their lines.
fn sentences(review: &Review) -> String {
    let stops: Vec<ReviewItem> = review.stops();
    let mut out = String::new();
    for (n, stop) in stops.iter().enumerate() {
        out.push_str(&review.sentence(n, stops.len(), *stop));
        out.push('\n');
        for line in review.spoken(*stop) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

/// Writes the result of the review of a patch: the accepted part to `--output`, if given, and the comments and
/// decisions to standard output.
pub(in crate::cli) fn leave(
    args: &ReviewArgs,
    review: &Review,
    outcome: ReviewOutcome,
) -> Result<u8, CliError> {
    if let (Some(file), ReviewOutcome::Apply { .. }) = (&args.output, outcome) {
        let (bytes, left) = accepted(&review.files);
        std::fs::write(file, bytes)
            .map_err(|e| CliError::new(format!("`{}` was not written: {e}", file.display())))?;
        warn(&format!("the accepted hunks are in {}", file.display()));
        if !left.is_empty() {
            warn(&format!("left out of the patch (not text): {}", left.join(", ")));
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&value(review)).unwrap_or_default();
        print(&(text + "\n"))?;
    } else {
        print_foreign(&markdown(review))?;
    }
    Ok(report::DONE)
}
