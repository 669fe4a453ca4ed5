//! The question at the end of a turn, asked by a subcommand: the same rows, keys and guards as in the shell, without a
//! conversation.

use super::report::CliError;
use super::screen;
use crate::agent::{ApplyQuestionContext, ApplyQuestionPlace, MessageQueue, TurnDecision, ask_about_pending};
use crate::app::App;
use crate::audit::AuditKind;
use crate::permission::{Mode, ModeCell};
use crate::tools::ToolContext;
use crate::ui::paste::PasteStore;
use crate::ui::turn_pane::{self, TurnPaneSettings, TurnPaneStatus};
use crate::ui::{LinkFinder, Notifier, NotifyMethod};
use crate::workspace::TransactionLabel;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// Asks what becomes of everything that is pending in the view of `env`, and does it. `label` is what the journal says of
/// it, `by` what the audit log does. The base mode must hold ([`crate::ui::term::BaseMode`]). Esc, Ctrl-C and the end of the terminal leave it pending.
pub(super) async fn ask(
    app: &App,
    env: &ToolContext,
    label: TransactionLabel,
    by: &str,
) -> Result<TurnDecision, CliError> {
    let ui = &app.config.settings().ui;
    let record = |kind: AuditKind, report: &str| match app.gate.log_decision(kind, by, None, report) {
        Ok(()) => {
            let failures = env.mounts.push_all().into_iter();
            failures.map(|why| format!("not saved to the store: {why}")).collect()
        }
        Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
    };
    // Nothing is approved by the mode: protected files are asked about one by one, as in ask mode.
    let mode = ModeCell::new(Mode::Ask);
    let settings = TurnPaneSettings {
        theme: screen::theme(app)?.0,
        facts: TurnPaneStatus { questions_only: true, wrap: ui.wrap, ..TurnPaneStatus::default() },
        mode: mode.clone(),
        modes: vec![Mode::Ask],
        draft: String::new(),
        queue: MessageQueue::default(),
        drafts: None,
        pastes: PasteStore::default(),
        notifier: Notifier::new(NotifyMethod::Off, false),
        links: LinkFinder::none(),
    };
    let (events, inbox) = unbounded_channel();
    let place = ApplyQuestionPlace::CommandLine(Box::new(label));
    let asking = async {
        let context = ApplyQuestionContext { workspace: &env.workspace, mode: &mode, place, record: &record };
        let decision = ask_about_pending(context, &events).await;
        // The pane ends with the last sender.
        drop(events);
        decision
    };
    // Nothing runs that could be stopped: Ctrl-C closes the question.
    let stop = CancellationToken::new();
    Ok(if ui.linear {
        tokio::join!(asking, turn_pane::run_linear(settings, inbox, stop)).0
    } else {
        tokio::join!(asking, turn_pane::run(settings, inbox, stop)).0
    })
}
