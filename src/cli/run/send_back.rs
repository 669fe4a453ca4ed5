//! `s` at the apply question: the person's review and text become a message, and the program continues with it in the same
//! view.

use super::execute::EndedRun;
use super::plan::ProgramPlan;
use super::resume::argument;
use crate::agent::{MessageReceiver, MessageUse};
use crate::app::App;
use crate::cli::changes::apply_question;
use crate::cli::report::{CliError, UNDO, print_foreign, warn};
use crate::cli::startup::start;
use crate::config::WrapSetting;
use crate::repl::{send_back_review, unsent_review};
use crate::text::visible;
use crate::ui::clipboard::Clipboard;
use crate::ui::prose::{self, ProseIndent, ProseWidth};
use crate::ui::{line_ui, review, term};
use crate::workspace::{View, Workspace};
use ratatui::text::Span;
use tokio::runtime::Runtime;

/// How the program starts again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextStart {
    /// With these arguments, in place of the person's.
    Resumed(Vec<String>),
    /// As before: the person passes the message on.
    Plain,
}

/// Asks what the message is, besides the review. Nothing has changed when it returns `None`. The base mode must hold.
pub(super) fn compose(
    app: &App,
    (workspace, view): (&Workspace, &View),
    receiver: &MessageReceiver,
    runtime: &Runtime,
) -> Result<Option<String>, CliError> {
    let program = visible::name(&receiver.program);
    let unsent = unsent_review(workspace, view).map_err(CliError::new)?;
    let summary = unsent.as_deref().and_then(review::summary);
    let (message, message_use) = match receiver.resumes {
        true => ("message to", MessageUse::Sent),
        false => ("message that you paste into", MessageUse::Copied),
    };
    let question = match &summary {
        Some(summary) => format!("{message} {program}, with your {summary}"),
        None => format!("{message} {program}"),
    };
    let review_alone = "send the review without more text";
    let choices = summary.iter().map(|_| review_alone.to_string()).collect();
    let asked = runtime.block_on(apply_question::ask_for_message(app, (&question, message_use), choices))?;
    let Some(typed) = asked.map(|text| text.trim().to_string()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let ended = send_back_review(workspace, view, UNDO).map_err(CliError::new)?;
    for line in ended.steps.iter().flat_map(|(_, step)| &step.lines) {
        warn(&visible::guard(line));
    }
    let reviewed = ended.outbox.as_deref().and_then(review::message);
    Ok(Some(match reviewed {
        Some(reviewed) if summary.is_some() && typed == review_alone => reviewed,
        Some(reviewed) => format!("{reviewed}\n{typed}\n"),
        // Never the first thing in an argument: it may look like an option or a command of the program.
        None => format!("About your changes: {typed}"),
    }))
}

/// The arguments with which the program continues with `message`; `None` where it cannot be given one.
pub(super) fn resumed_words(
    app: &App,
    (plan, ran): (&ProgramPlan, &EndedRun),
    message: &str,
) -> Option<Vec<String>> {
    let preset = plan.preset.as_ref()?;
    let session = match (plan.own_home(app), &ran.state) {
        (Some(home), Some(state)) => preset.session_in(&state.written, home),
        _ => None,
    };
    preset.resumed(&plan.words, session.as_deref(), message)
}

/// How the program continues with `message`. Where it cannot get it by itself, the person can copy it; `None` if the person
/// does not want to start the program then.
pub(super) fn prepare(
    app: &App,
    (plan, ran): (&ProgramPlan, &EndedRun),
    message: &str,
) -> Result<Option<NextStart>, CliError> {
    let program = visible::name(plan.name());
    if let Some(words) = resumed_words(app, (plan, ran), message) {
        warn(&format!("{program} continues with your message"));
        return Ok(Some(NextStart::Resumed(words)));
    }
    let text = argument(message);
    let cache = start::paths()?.cache;
    let clipboard = Clipboard::new(|name| std::env::var(name).ok(), &cache);
    let copied = clipboard.copy(&text);
    // What is in the clipboard need not be copied from the screen, where unbroken lines are cut inside words.
    let shown = if copied.is_ok() { at_words(text.trim_end()) } else { text.trim_end().to_string() };
    print_foreign(&format!("\n{shown}\n\n"))?;
    let copied = copied.map_or_else(|e| format!("not copied: {e}"), |copied| copied.words());
    warn(&format!("the preset {program} has no arguments that start it with a message; {copied}"));
    let answer = line_ui::consent_alone(&format!("Enter starts {program} again, Ctrl-C goes back: "));
    Ok(answer.map(|_| NextStart::Plain))
}

/// The message as it is shown: prose is broken at words, the lines of a fenced block are not.
fn at_words(text: &str) -> String {
    let width = ProseWidth::new(usize::from(term::size().0), WrapSetting::Words);
    let mut fence: Option<&str> = None;
    let lines = text.split('\n').flat_map(|line| {
        let ticks = line.len() - line.trim_start_matches('`').len();
        let is_code = fence.is_some() || ticks >= 3;
        match fence {
            Some(opened) if line == opened => fence = None,
            None if ticks >= 3 => fence = line.get(..ticks),
            _ => {}
        }
        let columns = if is_code { ProseWidth::unbroken(width.columns) } else { width };
        prose::lines(ProseIndent::default(), prose::of_spans([Span::raw(line.to_string())]), columns)
    });
    lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n")
}
