//! Questions of a subcommand in the pane of the shell: the apply question at the end of a program, with the same rows, keys
//! and guards, and the message that the program gets. There is no conversation.

use crate::agent::{
    ApplyQuestionContext, ApplyQuestionPlace, CommandLineQuestion, MessageQueue, MessageUse, PromptAsker,
    TurnDecision, TurnEvent, UserPrompt, ask_about_pending,
};
use crate::app::App;
use crate::audit::AuditKind;
use crate::cli::report::CliError;
use crate::cli::screen;
use crate::permission::{Mode, ModeCell};
use crate::repl::reviewed_decision;
use crate::session::Scratchpads;
use crate::tools::{JobRegistry, ToolContext, UserReply};

use crate::ui::paste::PasteStore;
use crate::ui::turn_pane::{self, TurnDisplay, TurnPaneSettings, TurnPaneStatus};
use crate::ui::{LinkFinder, Notifier, NotifyMethod};
use crate::workspace::Workspace;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Asks what becomes of everything that is pending in the view of `workspace`, and does it. `by` is what the audit log says
/// of it. The base mode must hold ([`crate::ui::term::BaseMode`]). Esc, Ctrl-C and the end of the terminal leave it pending.
pub(in crate::cli) async fn ask(
    app: &App,
    (workspace, home): (&Workspace, Option<&Workspace>),
    asked: CommandLineQuestion,
    by: &str,
) -> Result<TurnDecision, CliError> {
    let label = &asked.label;
    let log = |kind: AuditKind, report: &str| match &label.program {
        Some(program) => app.gate.log_program_decision(kind, by, program, report),
        None => app.gate.log_decision(kind, by, None, report),
    };
    let record = |kind: AuditKind, report: &str| match log(kind, report) {
        Ok(()) => {
            let failures = app.mounts.stores.push_all().into_iter();
            failures.map(|why| format!("not saved to the store: {why}")).collect()
        }
        Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
    };
    // Nothing is approved by the mode: protected files are asked about one by one, as in ask mode.
    let mode = ModeCell::new(Mode::Ask);
    let place = ApplyQuestionPlace::CommandLine(Box::new(asked.clone()));
    let env = check_env(app, workspace);
    let env = env.as_ref();
    // Ctrl-C closes the question, or stops the apply.
    let stop = &CancellationToken::new();
    with_pane(app, &mode, stop, async |events| {
        let reviewed = reviewed_decision;
        let context = ApplyQuestionContext {
            workspace,
            home,
            mode: &mode,
            env,
            place,
            reviewed,
            stop,
            record: &record,
        };
        ask_about_pending(context, &events).await
    })
    .await
}

/// What checks of this view run with: as in a conversation, not with what a program was given in addition. The view is that
/// of `workspace`: this process has its lock, and a second view of the same changes would wait for it.
pub(in crate::cli) fn check_env(app: &App, workspace: &Workspace) -> Option<Arc<ToolContext>> {
    let name = workspace.view()?.dir().file_name()?.to_str()?.to_string();
    let env = app.env(Arc::new(Scratchpads::in_memory()), &name);
    Some(Arc::new(ToolContext { workspace: workspace.clone(), ..env.for_child() }))
}

/// Asks for a message, or one of `choices`. `None` where the person gives none. The base mode must hold.
pub(in crate::cli) async fn ask_for_message(
    app: &App,
    (question, message_use): (&str, MessageUse),
    choices: Vec<String>,
) -> Result<Option<String>, CliError> {
    let question = question.to_string();
    let asking = async |events: UnboundedSender<TurnEvent>| {
        let (reply, answer) = oneshot::channel();
        let asked = UserPrompt { asker: PromptAsker::Placet(message_use), question, choices, reply };
        match events.send(TurnEvent::Enquiry(asked)) {
            Ok(()) => answer.await.ok(),
            Err(_) => None,
        }
    };
    Ok(match with_pane(app, &ModeCell::new(Mode::Ask), &CancellationToken::new(), asking).await? {
        Some(UserReply::Words(words)) => Some(words),
        _ => None,
    })
}

/// Shows the questions that `asking` sends, until it returns. `stop` is cancelled when the person stops. The base mode must
/// hold.
pub(in crate::cli) async fn with_pane<T>(
    app: &App,
    mode: &ModeCell,
    stop: &CancellationToken,
    asking: impl AsyncFnOnce(UnboundedSender<TurnEvent>) -> T,
) -> Result<T, CliError> {
    let ui = &app.config.settings().ui;
    let settings = TurnPaneSettings {
        theme: screen::theme(app)?.0,
        facts: TurnPaneStatus {
            questions_only: true,
            display: TurnDisplay { motion: false, ..TurnDisplay::of(ui) },
            ..TurnPaneStatus::default()
        },
        mode: mode.clone(),
        modes: vec![Mode::Ask],
        draft: String::new(),
        queue: MessageQueue::default(),
        drafts: None,
        pastes: PasteStore::default(),
        notifier: Notifier::new(NotifyMethod::Off, false),
        links: LinkFinder::none(),
        // Nothing runs in the background of a command line.
        jobs: JobRegistry::default(),
        check_output: screen::check_output(app, &app.workspace)?,
    };
    let (events, inbox) = unbounded_channel();
    // The pane ends with the last sender, which `asking` drops.
    let asking = asking(events);
    Ok(if ui.linear {
        tokio::join!(asking, turn_pane::run_linear(settings, inbox, stop.clone())).0
    } else {
        tokio::join!(asking, turn_pane::run(settings, inbox, stop.clone())).0
    })
}
