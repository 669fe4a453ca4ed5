//! What a slash command may use, and what it can ask of the shell.

use super::conversation::{ShellConversation, add_closing_line};
use super::directory_change::ShellDirectory;
use super::error::{ReplError, UserError};
use super::message::custom_prompt::CustomPrompt;
use super::output::{ShellOutput, is_interactive};
use super::prompt::UnfinishedLine;
use super::user_context::UserContext;
use crate::agent::{Agent, AppliedOverview, ApplyQuestionPlace, ApprovalReply, SingleCall, TurnStart};
use crate::audit::AuditKind;
use crate::config::AppliedSetting;
use crate::conversation::{CallId, CallInput, CallResult, SessionId, ToolCall};
use crate::serve::changes::UserReport;
use crate::session::{DATABASE_LOCKED, DatabaseWait, ScratchpadError, SessionError, SessionStore};
use crate::tools::{CallSummary, ToolError};
use crate::ui::apply_progress::with_apply_progress;
use crate::ui::term;
use crate::ui::turn_pane::{AppliedSpace, applied_lines};
use crate::workspace::{View, Workspace, WorkspaceError};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// What a command works with. The prompt, the queue and the drafts are the shell's own.
pub(crate) struct CommandContext<'r> {
    pub(super) app: &'r UserContext<'r>,
    pub(super) runtime: &'r Runtime,
    pub(super) output: ShellOutput<'r>,
    pub(super) conversation: ShellConversation<'r>,
    pub(super) directory: ShellDirectory,
    /// The table of commands, for `/help`: its function is in the table, so it cannot name the table itself.
    pub(super) commands: &'static [SlashCommand],
    /// What the tour tells the person to do in a review.
    pub(super) in_review: Option<String>,
    /// Gets what stops the work that Ctrl-C is to stop, and `None` when that has ended.
    pub(super) on_turn: Box<dyn Fn(Option<CancellationToken>)>,
}

/// A row of the table of commands.
pub struct SlashCommand {
    pub name: &'static str,
    pub arguments: &'static str,
    pub help: &'static str,
    /// Words that complete the argument.
    pub words: fn() -> Vec<String>,
    pub(super) run: CommandFunction,
}

pub(super) type CommandFunction = fn(&mut CommandContext<'_>, &str) -> SlashCommandResult;
pub(super) type SlashCommandResult = Result<CommandFollowUp, CommandStop>;

/// What the shell is to do after a command.
pub(crate) enum CommandFollowUp {
    Nothing,
    Turn(TurnStart),
    /// A turn in which the agent is sent the report of the review, which is forgotten after it.
    TurnWithReport(TurnStart),
    /// The review that the apply question opened was left: the question is asked again.
    ApplyQuestion,
    /// The apply question about everything that is pending.
    AskAboutPending,
    /// A message that a command makes.
    Prompt(Box<CustomPrompt>),
    /// The next line begins as this.
    EditLine(UnfinishedLine),
    /// The prompt has not heard of the theme yet.
    ChangeTheme,
    Quit(u8),
}

/// Why a command ends early.
pub(crate) enum CommandStop {
    /// The person chose nothing.
    Cancelled,
    /// There is nothing to do, which is no mistake.
    Note(String),
    Failed {
        message: String,
        hint: Option<String>,
    },
}

impl CommandStop {
    pub(super) fn note(text: impl Into<String>) -> CommandStop {
        CommandStop::Note(text.into())
    }

    pub(super) fn error(message: impl Into<String>) -> CommandStop {
        CommandStop::Failed { message: message.into(), hint: None }
    }

    pub(super) fn with_hint(message: impl Into<String>, hint: impl Into<String>) -> CommandStop {
        CommandStop::Failed { message: message.into(), hint: Some(hint.into()) }
    }

    /// The same with this hint, where it has none.
    pub(super) fn or_hint(self, or: String) -> CommandStop {
        match self {
            CommandStop::Failed { message, hint } => {
                CommandStop::Failed { message, hint: Some(hint.unwrap_or(or)) }
            }
            other => other,
        }
    }

    pub(super) fn tell(&self, output: &ShellOutput<'_>) {
        match self {
            CommandStop::Cancelled => {}
            CommandStop::Note(text) => output.note(text),
            CommandStop::Failed { message, hint } => output.error(message, hint.as_deref()),
        }
    }
}

impl From<String> for CommandStop {
    fn from(message: String) -> CommandStop {
        CommandStop::error(message)
    }
}

impl From<SessionError> for CommandStop {
    fn from(error: SessionError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

impl From<ScratchpadError> for CommandStop {
    fn from(error: ScratchpadError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

impl From<WorkspaceError> for CommandStop {
    fn from(error: WorkspaceError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

impl From<ReplError> for CommandStop {
    fn from(error: ReplError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

impl From<UserError> for CommandStop {
    fn from(error: UserError) -> CommandStop {
        CommandStop::Failed { message: error.message, hint: error.hint }
    }
}

impl From<ToolError> for CommandStop {
    fn from(error: ToolError) -> CommandStop {
        CommandStop::Failed { message: error.message, hint: error.hint.map(|hint| hint.to_string()) }
    }
}

impl CommandContext<'_> {
    /// Gives the agent the messages of a resumed conversation that it still lacks.
    pub(super) fn finish_resume(&mut self) -> Result<(), ReplError> {
        let Some(coming) = self.conversation.coming.take() else { return Ok(()) };
        let loaded = coming.take()?;
        let Some(agent) = &mut self.conversation.agent else { return Ok(()) };
        for note in agent.resume(loaded)? {
            self.output.note(&note);
        }
        Ok(())
    }

    /// Where sessions are stored.
    pub(super) fn store(&self) -> Result<SessionStore, CommandStop> {
        self.conversation.store.clone().ok_or_else(|| CommandStop::note("conversations are not saved"))
    }

    /// The session of this conversation, and where it is stored.
    pub(super) fn saved(&self) -> Result<(SessionStore, SessionId), CommandStop> {
        let session = self.conversation.session();
        let session = session.ok_or_else(|| CommandStop::note("nothing is saved yet"))?;
        Ok((session.store().clone(), session.id().clone()))
    }

    /// What the person sees of the workspace; without a view there is nothing to do or to say.
    pub(super) fn viewed(&self) -> Result<(Workspace, View), CommandStop> {
        self.conversation.viewed().ok_or(CommandStop::Cancelled)
    }

    /// Writes down what was done, and tells it.
    pub(super) fn record(&self, kind: AuditKind, by: &str, report: UserReport) {
        if report.done {
            let session = self.conversation.session().map(|session| session.id().to_string());
            let tools = &self.app.tools;
            if let Err(e) = tools.interceptors.log_decision(kind, by, session, &report.lines.join("\n")) {
                self.output.error(&format!("this is not recorded in the audit log: {e}"), Some(&e.hint()));
            }
            for why in tools.mounts.push_all() {
                self.output.error(&format!("not saved to the store: {why}"), None);
            }
            if let (Some(agent), Some(line)) = (&self.conversation.agent, report.lines.first()) {
                add_closing_line(agent, line);
            }
        }
        let applied = report.applied;
        self.output.report(report);
        if let Some(id) = applied {
            self.show_applied(id);
        }
    }

    /// Shows what a transaction changed, which was just applied, where nothing else shows it any more. Line by line it was
    /// read before it was applied.
    fn show_applied(&self, id: u64) {
        let shown = self.app.config.settings().ui.applied;
        if shown == AppliedSetting::Line || self.output.is_linear() || !is_interactive() {
            return;
        }
        let Some((workspace, view)) = self.conversation.viewed() else { return };
        let Ok(Some(entry)) = view.journal().entry(id) else { return };
        let applied = AppliedOverview::of(&entry, (&view, &workspace), &ApplyQuestionPlace::Conversation);
        let (columns, rows) = term::size();
        let space = AppliedSpace::new(columns.into(), rows.into());
        self.output.print(&applied_lines(&applied, shown, &self.output.theme, space));
    }

    /// Runs `work`, an apply or an undo in `view`, and shows how far it is. Ctrl-C stops it before the first file changes.
    pub(super) fn with_apply_progress<T>(&self, view: &View, work: impl FnOnce() -> T) -> T {
        let stop = CancellationToken::new();
        (self.on_turn)(Some(stop.clone()));
        let done = term::with_interrupt_key(|| {
            with_apply_progress(view.apply_progress(), &|| stop.is_cancelled(), work)
        });
        (self.on_turn)(None);
        done
    }

    /// Waits for `work`, until Ctrl-C. In the mode of the shell that is a key, which nobody reads here.
    pub(super) fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let stop = CancellationToken::new();
        (self.on_turn)(Some(stop.clone()));
        let waiting = async {
            tokio::select! {
                biased;
                () = stop.cancelled() => None,
                done = work => Some(done),
            }
        };
        let done = term::with_interrupt_key(|| self.runtime.block_on(waiting));
        (self.on_turn)(None);
        done
    }

    /// True if the conversation can be saved. Otherwise waits for the program that has the database locked; false, with
    /// a sentence that ends with `undone`, if it does not unlock it.
    pub(super) fn can_save(&self, undone: &str) -> bool {
        let Some(store) = self.conversation.store.as_ref().filter(|store| !store.can_write()) else {
            return true;
        };
        let never = CancellationToken::new();
        match self.until_stopped(store.until_writable(&never, |words| self.output.note(words))) {
            Some(DatabaseWait::Free) => true,
            None | Some(DatabaseWait::Stopped) => {
                self.output.note(&format!("stopped: {undone}"));
                false
            }
            Some(DatabaseWait::TimedOut) => {
                self.output.error(DATABASE_LOCKED, Some(undone));
                false
            }
        }
    }

    /// One call of one of placet's own tools, through the gate of every call, as if the model had called.
    pub(super) fn call_for_person(
        &self,
        agent: &Agent,
        (id, tool): (&str, &str),
        input: serde_json::Value,
        reply: ApprovalReply,
    ) -> (CallResult, Option<CallSummary>) {
        let call = ToolCall { id: CallId::new(id), name: tool.into(), input: CallInput::Object(input) };
        let (registry, env) = (Arc::new(self.app.tools.registry.for_person()), Arc::clone(agent.env()));
        let policy = Arc::clone(self.app.policy);
        let cancel = CancellationToken::new();
        let (origin, runtime) = (agent.call_origin(), self.runtime);
        (self.on_turn)(Some(cancel.clone()));
        let single = SingleCall { registry, env, policy, origin, call, reply, cancel };
        let calling = single.run(|words| self.output.note(words));
        let answer = term::with_interrupt_key(|| runtime.block_on(calling));
        (self.on_turn)(None);
        answer
    }
}
